// SPDX-License-Identifier: Apache-2.0
// tests/kernel/test_attribute_list.c - profiles by rate: what is accepted, printed, refused.
//
// Goal: rows are read exactly, in any spelling of blanks and units, print as text that reads back
// the same, and anything else is refused with a message that says what was expected, leaving the
// field as it was.
// Method: a table of texts with what they mean, and one of texts with the start of their message.
// Not pinned: priorities and weights (test_attribute.c).
#include "kernel/attribute.h"

#include "tests/check_main.h"

static const sim_attr_t attr = {
    .path = "x.profiles",
    .type = SIM_ATTR_PROFILES,
    .default_text = "[]",
};
static const sim_attr_table_t table = {"x", "node", sizeof(sim_profiles_t), &attr, 1};

#define G UINT64_C(1000000000)

static const struct {
    const char *text;
    const char *printed;
    sim_profiles_t profiles;
} good[] = {
    {"[]", "[]", {0}},
    {" [ ] ", "[]", {0}},
    {"[100Gbps 400KB 1600KB 0.2]",
     "[100Gbps 400KB 1600KB 0.2]",
     {1, {{100 * G, 400000, 1600000, {1, 5}}}}},
    {"[ 25Gbps\t1KiB   2KiB 50% ,100Gbps 0 0 1]",
     "[25Gbps 1KiB 2KiB 0.5, 100Gbps 0 0 1]",
     {2, {{25 * G, 1024, 2048, {1, 2}}, {100 * G, 0, 0, {1, 1}}}}},
    {"[1Gbps 1 1 0, 2Gbps 1 1 0, 3Gbps 1 1 0, 4Gbps 1 1 0, 5Gbps 1 1 0, 6Gbps 1 1 0, 7Gbps 1 1 0, "
     "8Gbps 1 2 1/3]",
     NULL,
     {8,
      {{1 * G, 1, 1, {0, 1}},
       {2 * G, 1, 1, {0, 1}},
       {3 * G, 1, 1, {0, 1}},
       {4 * G, 1, 1, {0, 1}},
       {5 * G, 1, 1, {0, 1}},
       {6 * G, 1, 1, {0, 1}},
       {7 * G, 1, 1, {0, 1}},
       {8 * G, 1, 2, {1, 3}}}}},
};

static void assert_equal(const sim_profiles_t *found, const sim_profiles_t *expected)
{
    ck_assert_uint_eq(found->count, expected->count);
    for (uint32_t i = 0; i < SIM_PROFILES_MAX; i++) {
        ck_assert_uint_eq(found->rows[i].rate_bps, expected->rows[i].rate_bps);
        ck_assert_uint_eq(found->rows[i].low_bytes, expected->rows[i].low_bytes);
        ck_assert_uint_eq(found->rows[i].high_bytes, expected->rows[i].high_bytes);
        if (i < expected->count) {
            ck_assert_uint_eq(found->rows[i].probability.num * expected->rows[i].probability.den,
                              expected->rows[i].probability.num * found->rows[i].probability.den);
        }
    }
}

START_TEST(rows_are_read_and_printed)
{
    sim_profiles_t profiles;
    sim_message_t message = {.text = ""};
    memset(&profiles, 0xff, sizeof(profiles));
    ck_assert_int_eq(sim_attr_set(&attr, &profiles, good[_i].text, &message), SIM_OK);
    assert_equal(&profiles, &good[_i].profiles);
    char *const text = sim_attr_get(&attr, &profiles);
    if (good[_i].printed != NULL) {
        ck_assert_str_eq(text, good[_i].printed);
    }
    sim_profiles_t again;
    ck_assert_int_eq(sim_attr_set(&attr, &again, text, &message), SIM_OK);
    assert_equal(&again, &profiles);
    sim_free(text);
}
END_TEST

static const char *const bad[][2] = {
    {"", "\"\" is not a list: expected rows of rate"},
    {"[", "\"[\" is not a list"},
    {"100Gbps 1 1 0", "\"100Gbps 1 1 0\" is not a list"},
    {"[100Gbps 1 1 0", "\"[100Gbps 1 1 0\" is not a list"},
    {"[,]", "\"\" is not a profile: expected rows"},
    {"[100Gbps 1 1]", "\"100Gbps 1 1\" is not a profile"},
    {"[100Gbps 1 1 0 0]", "\"100Gbps 1 1 0 0\" is not a profile"},
    {"[100Gbps 1 1 0 25Gbps 1 1 0]", "\"100Gbps 1 1 0 25Gbps 1 1 0\" is not a profile"},
    {"[100KB 1 1 0]", "\"100KB\""},
    {"[100Gbps 1us 1 0]", "\"1us\""},
    {"[100Gbps 1 1.5 0]", "\"1.5\""},
    {"[100Gbps 1 1 x]", "\"x\""},
    {"[100Gbps 2 1 0]", "\"100Gbps 2 1 0\": expected the first size to be at most the second"},
    {"[100Gbps 1 1 1.1]", "\"100Gbps 1 1 1.1\": expected"},
    {"[100Gbps 1 1 0, 100000Mbps 2 2 0]",
     "\"100000Mbps 2 2 0\" has the rate of an earlier profile"},
    {"[1Gbps 1 1 0, 2Gbps 1 1 0, 3Gbps 1 1 0, 4Gbps 1 1 0, 5Gbps 1 1 0, 6Gbps 1 1 0, 7Gbps 1 1 0, "
     "8Gbps 1 1 0, 9Gbps 1 1 0]",
     "there are too many profiles: expected at most 8"},
};

START_TEST(anything_else_is_refused)
{
    sim_profiles_t profiles;
    sim_attrs_default(&table, &profiles);
    profiles.count = 3;
    sim_message_t message = {.text = ""};
    ck_assert_int_ne(sim_attr_set(&attr, &profiles, bad[_i][0], &message), SIM_OK);
    ck_assert_uint_eq(profiles.count, 3);
    ck_assert_msg(strncmp(message.text, bad[_i][1], strlen(bad[_i][1])) == 0, "%s", message.text);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(rows_are_read_and_printed, 0, (int)SIM_COUNT_OF(good)),
           CHECK_LOOP(anything_else_is_refused, 0, (int)SIM_COUNT_OF(bad)))
