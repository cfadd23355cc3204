// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/results/test_json_text.c - JSON written as text is what jansson writes.
//
// Goal: results_json_text writes the same bytes as a tree that jansson prints with JSON_COMPACT.
// Method: every byte that needs an escape, UTF-8, nested and empty objects and lists; both ways.
// Not pinned: numbers (added as text), bytes that are not UTF-8, how the text grows.
#include "results/tables/json_text.h"
#include "tests/check_main.h"

#include <jansson.h>

START_TEST(strings_are_escaped_as_jansson_does)
{
    char all[0x80 + sizeof("\xc3\xa9\xe2\x82\xac")] = "";
    for (int byte = 1; byte < 0x80; byte++) {
        all[byte - 1] = (char)byte;
    }
    strcat(all, "\xc3\xa9\xe2\x82\xac"); // two and three bytes of UTF-8
    json_t *const list = json_pack("[ssO]", all, "", json_true());
    char *const expected = json_dumps(list, JSON_COMPACT);
    results_json_text_t json = {0};
    results_json_text_begin(&json, NULL, '[');
    results_json_text_add(&json, NULL, all);
    results_json_text_add_part(&json, NULL, all, 0);
    results_json_text_add_raw(&json, NULL, "true");
    results_json_text_end(&json, ']');
    char *const text = results_json_text_finish(&json);
    ck_assert_uint_eq(strlen(text), strlen(expected) + 1);
    ck_assert_int_eq(text[strlen(expected)], '\n');
    ck_assert_mem_eq(text, expected, strlen(expected));
    sim_free(text);
    free(expected);
    json_decref(list);
}
END_TEST

START_TEST(values_are_separated_at_every_depth)
{
    results_json_text_t json = {0};
    results_json_text_begin(&json, NULL, '{');
    results_json_text_add(&json, "a", "1");
    results_json_text_begin(&json, "empty", '{');
    results_json_text_end(&json, '}');
    results_json_text_begin(&json, "list", '[');
    results_json_text_begin(&json, NULL, '[');
    results_json_text_end(&json, ']');
    results_json_text_add(&json, NULL, "x");
    results_json_text_end(&json, ']');
    results_json_text_add_raw(&json, "b", "2");
    results_json_text_end(&json, '}');
    char *const text = results_json_text_finish(&json);
    ck_assert_str_eq(text, "{\"a\":\"1\",\"empty\":{},\"list\":[[],\"x\"],\"b\":2}\n");
    sim_free(text);
}
END_TEST

START_TEST(an_open_object_is_a_bug)
{
    results_json_text_t json = {0};
    results_json_text_begin(&json, NULL, '{');
    results_json_text_finish(&json);
}
END_TEST

CHECK_MAIN(CHECK_TEST(strings_are_escaped_as_jansson_does),
           CHECK_TEST(values_are_separated_at_every_depth),
           CHECK_SIGNAL(an_open_object_is_a_bug, SIGABRT))
