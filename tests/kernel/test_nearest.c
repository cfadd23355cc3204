// SPDX-License-Identifier: Apache-2.0
// tests/kernel/test_nearest.c - the name that a mistyped one is told to be near to.
//
// Goal: the nearest of several names is found if a third of its letters at most are other ones.
// Method: edit distances against a plain recursive definition; typical slips of the keyboard.
// Not pinned: which of two equally near names it is.
#include "kernel/attribute.h"

#include <string.h>

#include "tests/check_main.h"

// Returns the restricted Damerau-Levenshtein distance by its recursive definition.
static unsigned plain_distance(const char *a, size_t i, const char *b, size_t j)
{
    if (i == 0 || j == 0) {
        return (unsigned)(i + j);
    }
    unsigned best = plain_distance(a, i - 1, b, j - 1) + (a[i - 1] == b[j - 1] ? 0U : 1U);
    const unsigned without_a = plain_distance(a, i - 1, b, j) + 1;
    const unsigned without_b = plain_distance(a, i, b, j - 1) + 1;
    best = without_a < best ? without_a : best;
    best = without_b < best ? without_b : best;
    if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        const unsigned swapped = plain_distance(a, i - 2, b, j - 2) + 1;
        best = swapped < best ? swapped : best;
    }
    return best;
}

START_TEST(nearest_name_is_within_a_third)
{
    sim_random_t random;
    sim_random_init(&random, 4, 0, "names");
    for (int i = 0; i < 3000; ++i) {
        char words[3][8] = {"", "", ""};
        for (int w = 0; w < 3; ++w) {
            const uint64_t length =
                w == 0 ? 3 + sim_random_below(&random, 4) : 1 + sim_random_below(&random, 6);
            for (uint64_t at = 0; at < length; ++at) {
                words[w][at] = (char)('a' + sim_random_below(&random, 2));
            }
        }
        const char *const names[] = {words[1], words[2]};
        const size_t length = strlen(words[0]);
        const unsigned d1 = plain_distance(words[0], length, words[1], strlen(words[1]));
        const unsigned d2 = plain_distance(words[0], length, words[2], strlen(words[2]));
        const char *expected = d2 < d1 ? words[2] : words[1];
        if ((d2 < d1 ? d2 : d1) > length / 3) {
            expected = NULL;
        }
        ck_assert_ptr_eq(sim_nearest_name(words[0], names, 2), expected);
    }
}
END_TEST

START_TEST(nearest_name_helps_typing)
{
    static const char *const names[] = {"topology", "traffic", "hosts-per-leaf", "seed", "until"};
    static const char *const rows[][2] = {
        {"topolgy", "topology"},
        {"toplogoy", "topology"},
        {"trafic", "traffic"},
        {"hosts_per_leaf", "hosts-per-leaf"},
        {"hostsperleaf", "hosts-per-leaf"},
        {"SEED", "seed"},
        {"sede", "seed"},
        {"untill", "until"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); ++i) {
        ck_assert_pstr_eq(sim_nearest_name(rows[i][0], names, SIM_COUNT_OF(names)), rows[i][1]);
    }
    ck_assert_ptr_null(sim_nearest_name("switch", names, SIM_COUNT_OF(names)));
    ck_assert_ptr_null(sim_nearest_name("", names, SIM_COUNT_OF(names)));
    ck_assert_ptr_null(sim_nearest_name("seed", names, 0));

    // A word longer than any name is near no name and does no harm.
    char longer[5000];
    memset(longer, 's', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    const char *const long_names[] = {longer};
    ck_assert_ptr_null(sim_nearest_name(longer, names, SIM_COUNT_OF(names)));
    ck_assert_ptr_null(sim_nearest_name("seed", long_names, 1));
}
END_TEST

CHECK_MAIN(CHECK_TEST(nearest_name_is_within_a_third), CHECK_TEST(nearest_name_helps_typing))
