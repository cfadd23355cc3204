// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_statistics.c - percentiles, means and maxima of kernel/statistics.h.
//
// Goal: percentiles are the nearest rank's by definition, for any count, order and fraction.
// Method: brute force on the definition (count the values not above each candidate) over random
// sets with many ties; extremes whose products and sums exceed 64 bits.
// Not pinned: how it sorts.
#include "kernel/statistics.h"

#include "kernel/random.h"
#include "tests/check_main.h"

#include <stdlib.h>

// Returns the smallest value such that at least numerator/denominator of all values are not above
// it.
static uint64_t brute_percentile(const uint64_t *values, size_t count, uint64_t numerator,
                                 uint64_t denominator)
{
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < count; ++i) {
        sim_wide_t not_above = 0;
        for (size_t j = 0; j < count; ++j) {
            not_above += values[j] <= values[i] ? 1U : 0U;
        }
        if (not_above * denominator >= (sim_wide_t)numerator * count && values[i] < best) {
            best = values[i];
        }
    }
    return best;
}

START_TEST(percentiles_are_nearest_rank)
{
    static const uint64_t fractions[][2] = {{0, 1},
                                            {1, 1},
                                            {1, 2},
                                            {9, 10},
                                            {99, 100},
                                            {999, 1000},
                                            {1, 3},
                                            {2, 3},
                                            {1, UINT64_MAX},
                                            {UINT64_MAX - 1, UINT64_MAX},
                                            {UINT64_MAX, UINT64_MAX}};
    sim_random_t random;
    sim_random_init(&random, 1, 0, "percentiles");
    uint64_t values[64];
    for (size_t count = 1; count <= SIM_COUNT_OF(values); ++count) {
        sim_sample_set_t set;
        sim_sample_set_init(&set);
        const uint64_t range = count % 3 == 0 ? UINT64_MAX : count; // many ties, or none
        for (size_t i = 0; i < count; ++i) {
            values[i] = sim_random_below(&random, range);
            sim_sample_set_add(&set, values[i]);
        }
        for (size_t i = 0; i < SIM_COUNT_OF(fractions); ++i) {
            const uint64_t expected =
                brute_percentile(values, count, fractions[i][0], fractions[i][1]);
            ck_assert_uint_eq(sim_sample_set_percentile(&set, fractions[i][0], fractions[i][1]),
                              expected);
        }
        for (uint64_t rank = 0; rank <= 2 * count; ++rank) {
            ck_assert_uint_eq(sim_sample_set_percentile(&set, rank, 2 * count),
                              brute_percentile(values, count, rank, 2 * count));
        }
        sim_sample_set_fini(&set);
    }
}
END_TEST

START_TEST(values_may_come_between_questions)
{
    sim_sample_set_t set;
    sim_sample_set_init(&set);
    for (uint64_t i = 0; i < 1000; ++i) {
        sim_sample_set_add(&set, 2000 - i); // falling: never in order
        ck_assert_uint_eq(sim_sample_set_percentile(&set, 0, 1), 2000 - i);
        ck_assert_uint_eq(sim_sample_set_percentile(&set, 1, 1), 2000);
        ck_assert_uint_eq(sim_sample_set_max(&set), 2000);
        ck_assert_uint_eq(set.count, i + 1);
    }
    sim_sample_set_add(&set, 5000);
    ck_assert_uint_eq(sim_sample_set_max(&set), 5000);
    sim_sample_set_add(&set, 1);
    ck_assert_uint_eq(sim_sample_set_max(&set), 5000);
    ck_assert_uint_eq(sim_sample_set_percentile(&set, 0, 1), 1);
    sim_sample_set_fini(&set);
    ck_assert_uint_eq(set.count, 0);
    ck_assert_uint_eq(sim_sample_set_max(&set), 0);
}
END_TEST

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

// Beyond 65536 values, values are kept as differences: of any size, also if percentiles are asked
// for in between.
START_TEST(many_values_are_as_exact_as_few)
{
    const size_t count = 400000;
    uint64_t *const values = sim_alloc_array(count, sizeof(*values));
    for (int kind = 0; kind < 3; ++kind) {
        sim_random_t random;
        sim_random_init(&random, (uint64_t)kind, 0, "many");
        const uint64_t range = kind == 0 ? UINT64_MAX : kind == 1 ? 1000 : UINT64_C(1000000000);
        sim_sample_set_t parts[2];
        sim_sample_set_init(&parts[0]);
        sim_sample_set_init(&parts[1]);
        sim_wide_t sum = 0;
        for (size_t i = 0; i < count; ++i) {
            values[i] = sim_random_below(&random, range);
            sum += values[i];
            sim_sample_set_add(&parts[i % 3 == 0], values[i]);
            if (i % 90001 == 0) {
                (void)sim_sample_set_percentile(&parts[1], 1, 2);
            }
        }
        qsort(values, count, sizeof(*values), compare);
        sim_sample_set_add_all(&parts[0], &parts[1]);
        ck_assert_uint_eq(parts[0].count, count);
        ck_assert_uint_eq(sim_sample_set_max(&parts[0]), values[count - 1]);
        for (uint64_t rank = 1; rank <= count; rank += rank < 10000 || rank > 390000 ? 1 : 4093) {
            ck_assert_uint_eq(sim_sample_set_percentile(&parts[0], rank, count), values[rank - 1]);
        }
        ck_assert_double_eq(sim_sample_set_mean(&parts[0]), (double)sum / (double)count);
        ck_assert_uint_eq(sim_sample_set_max(&parts[0]), values[count - 1]);
        sim_sample_set_fini(&parts[0]);
        sim_sample_set_fini(&parts[1]);
    }
    sim_free(values);
}
END_TEST

START_TEST(empty_set_gives_zero)
{
    sim_sample_set_t set;
    sim_sample_set_init(&set);
    ck_assert_uint_eq(sim_sample_set_percentile(&set, 99, 100), 0);
    ck_assert_uint_eq(sim_sample_set_max(&set), 0);
    ck_assert_double_eq(sim_sample_set_mean(&set), 0.0);
    sim_sample_set_fini(&set);
}
END_TEST

START_TEST(mean_is_exact_and_knows_no_order)
{
    sim_sample_set_t set;
    sim_sample_set_init(&set);
    // A sum in doubles would lose the ones, and 64 bits would wrap.
    for (int i = 0; i < 4; ++i) {
        sim_sample_set_add(&set, UINT64_MAX);
        sim_sample_set_add(&set, 1);
    }
    ck_assert_double_eq(sim_sample_set_mean(&set), 9223372036854775808.0); // 2^63
    (void)sim_sample_set_percentile(&set, 1, 2);                           // sorts
    ck_assert_double_eq(sim_sample_set_mean(&set), 9223372036854775808.0);
    sim_sample_set_fini(&set);

    sim_sample_set_init(&set);
    for (uint64_t i = 1; i <= 100000; ++i) {
        sim_sample_set_add(&set, i * 7919 % 100003);
    }
    double forwards = sim_sample_set_mean(&set);
    (void)sim_sample_set_percentile(&set, 1, 2);
    ck_assert_double_eq(sim_sample_set_mean(&set), forwards);
    sim_sample_set_fini(&set);
}
END_TEST

START_TEST(many_values_of_a_permutation)
{
    enum { COUNT = 100000 };
    sim_sample_set_t set;
    sim_sample_set_init(&set);
    for (uint64_t i = 0; i < COUNT; ++i) {
        sim_sample_set_add(&set, i * 40503 % COUNT); // 40503 and COUNT have no common divisor
    }
    for (uint64_t p = 1; p <= 1000; ++p) {
        ck_assert_uint_eq(sim_sample_set_percentile(&set, p, 1000), p * (COUNT / 1000) - 1);
    }
    ck_assert_double_eq(sim_sample_set_mean(&set), (COUNT - 1) / 2.0);
    sim_sample_set_fini(&set);
}
END_TEST

START_TEST(percentile_above_one_is_a_bug)
{
    sim_sample_set_t set;
    sim_sample_set_init(&set);
    (void)sim_sample_set_percentile(&set, 3, 2);
}
END_TEST

CHECK_MAIN(CHECK_TEST(percentiles_are_nearest_rank), CHECK_TEST(values_may_come_between_questions),
           CHECK_TEST(empty_set_gives_zero), CHECK_TEST(mean_is_exact_and_knows_no_order),
           CHECK_TEST(many_values_of_a_permutation), CHECK_TEST(many_values_are_as_exact_as_few),
           CHECK_SIGNAL(percentile_above_one_is_a_bug, SIGABRT))
