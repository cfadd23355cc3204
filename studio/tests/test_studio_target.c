// SPDX-License-Identifier: Apache-2.0
// studio/tests/test_studio_target.c - targets, routes, ranges, host names and orders.
//
// Goal: unambiguous inputs are read, ambiguous ones refused; an order makes the runs it names.
// Method: inputs written by hand. Not pinned: HTTP itself, which libmicrohttpd reads.
#include "studio/server/http/target.h"
#include "studio/server/library/order.h"

#include "tests/check_main.h"

START_TEST(target_is_taken_apart)
{
    studio_target_t target;
    ck_assert(studio_target_parse("/api/v1/runs/7/files/a%20b/c?x=1&y=%E5%AD%A6+%2B&x=2", &target));
    ck_assert_uint_eq(target.segment_count, 7);
    ck_assert_str_eq(target.segments[5], "a b");
    ck_assert_str_eq(studio_target_value(&target, "y", 0), "\xe5\xad\xa6 +");
    ck_assert_str_eq(studio_target_value(&target, "x", 1), "2");
    ck_assert_ptr_null(studio_target_value(&target, "x", 2));
    const char *const route = "/api/v1/runs/{run}/files/{path...}";
    ck_assert(studio_target_matches(&target, route));
    ck_assert(!studio_target_matches(&target, "/api/v1/runs/{run}"));
    ck_assert(!studio_target_matches(&target, "/api/v1/runs/{run}/files/a/b/c/d/{path...}"));
    char *const path = studio_target_segment(&target, route, "path");
    ck_assert_str_eq(path, "a b/c");
    sim_free(path);
    studio_target_fini(&target);
}
END_TEST

START_TEST(target_with_two_readings_is_refused)
{
    static const char *const bad[] = {
        "",          "x",        "/a//b",    "/a/",         "/./a",        "/a/..",
        "/%2e%2e/a", "/a%2fb",   "/a%5cb",   "/a%00b",      "/a%",         "/a%4",
        "/a%zz",     "/a\xff",   "/a%c0%af", "/a%ed%a0%80", "/a%0d%0aX:y", "/a#b",
        "/a?x=%00",  "/a?x=%ff", "/a?=1",    "/a?x=%1",     "/a%7f",       "/a%f5%80%80%80",
    };
    studio_target_t target;
    for (size_t i = 0; i < SIM_COUNT_OF(bad); i++) {
        ck_assert_msg(!studio_target_parse(bad[i], &target), "%s", bad[i]);
    }
    ck_assert(studio_target_parse("/?", &target));
    studio_target_fini(&target);
}
END_TEST

START_TEST(range_lies_inside)
{
    static const struct {
        const char *text;
        studio_range_kind_t kind;
        uint64_t first;
        uint64_t count;
    } cases[] = {
        {"bytes=0-9", STUDIO_RANGE_PART, 0, 10},
        {"bytes=90-", STUDIO_RANGE_PART, 90, 10},
        {"bytes=-5", STUDIO_RANGE_PART, 95, 5},
        {"bytes=-500", STUDIO_RANGE_PART, 0, 100},
        {"bytes=50-500", STUDIO_RANGE_PART, 50, 50},
        {"bytes=100-", STUDIO_RANGE_NONE, 0, 0},
        {"bytes=-0", STUDIO_RANGE_NONE, 0, 0},
        {"bytes=9-1", STUDIO_RANGE_WHOLE, 0, 100},
        {"bytes=0-1,5-6", STUDIO_RANGE_WHOLE, 0, 100},
        {"lines=1-2", STUDIO_RANGE_WHOLE, 0, 100},
        {"bytes=99999999999999999999-", STUDIO_RANGE_WHOLE, 0, 100},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        uint64_t first = 0;
        uint64_t count = 0;
        ck_assert_int_eq(studio_range_parse(cases[i].text, 100, &first, &count), cases[i].kind);
        if (cases[i].kind != STUDIO_RANGE_NONE) {
            ck_assert_uint_eq(first, cases[i].first);
            ck_assert_uint_eq(count, cases[i].count);
        }
    }
}
END_TEST

START_TEST(host_is_ours)
{
    ck_assert(studio_host_allowed("localhost", NULL));
    ck_assert(studio_host_allowed("127.0.0.1:8080", NULL));
    ck_assert(studio_host_allowed("[::1]:8080", NULL));
    ck_assert(studio_host_allowed("Lab.example:443", "other,lab.example"));
    ck_assert(!studio_host_allowed("lab.example", NULL));
    ck_assert(!studio_host_allowed("lab", "lab.example"));
    ck_assert(!studio_host_allowed("localhost.evil.example", NULL));
    ck_assert(!studio_host_allowed("127.0.0.1.evil.example", NULL));
    ck_assert(!studio_host_allowed("localhost:80@evil", NULL));
    ck_assert(!studio_host_allowed("", "lab"));
    ck_assert(!studio_host_allowed("[::1", NULL));
}
END_TEST

START_TEST(order_is_expanded)
{
    sim_message_t message;
    json_t *const order = json_loads("{\"set\": [\"a=1\"], \"grid\": {\"b\": [1, 2.5], \"c\": "
                                     "[\"x\", true]}, \"seeds\": [7, 8]}",
                                     0, NULL);
    json_t *const runs =
        studio_order_expand(json_object_get(order, "set"), json_object_get(order, "grid"),
                            json_object_get(order, "seeds"), 8, &message);
    ck_assert_ptr_nonnull(runs);
    ck_assert_uint_eq(json_array_size(runs), 8);
    char *const text = json_dumps(json_array_get(runs, 5), JSON_COMPACT);
    ck_assert_str_eq(text, "[\"a=1\",\"b=2.5\",\"c=x\",\"seed=8\"]");
    free(text);
    json_decref(runs);
    ck_assert_ptr_null(studio_order_expand(NULL, json_object_get(order, "grid"),
                                           json_object_get(order, "seeds"), 7, &message));
    json_decref(order);
}
END_TEST

// An order that would make a run twice, or override a setting silently, is refused.
START_TEST(order_has_each_run_once)
{
    static const struct {
        const char *order;
        const char *says; // NULL: it is good
    } cases[] = {
        {"{\"seeds\": [1, 2, 1]}", "seed: the value 1 is given twice"},
        {"{\"grid\": {\"b\": [1, 2]}, \"seeds\": [1, 2]}", NULL},
        {"{\"grid\": {\"b\": [\"1\", 1]}}", "b: the value 1 is given twice"},
        {"{\"grid\": {\"seed\": [1, 2]}, \"seeds\": [3]}", "the parameter 'seed'"},
        {"{\"set\": [\"seed=4\"], \"seeds\": [3]}", "the parameter 'seed'"},
        {"{\"set\": [\"seed=4\"]}", NULL},
        {"{\"grid\": {\"seed\": [1, 2]}, \"seeds\": []}", NULL},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        sim_message_t message = {.text = ""};
        json_t *const order = json_loads(cases[i].order, 0, NULL);
        json_t *const runs =
            studio_order_expand(json_object_get(order, "set"), json_object_get(order, "grid"),
                                json_object_get(order, "seeds"), 8, &message);
        ck_assert_msg((runs != NULL) == (cases[i].says == NULL), "%zu: %s", i, message.text);
        ck_assert_msg(cases[i].says == NULL || strstr(message.text, cases[i].says) != NULL,
                      "%zu: %s", i, message.text);
        json_decref(runs);
        json_decref(order);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(target_is_taken_apart), CHECK_TEST(target_with_two_readings_is_refused),
           CHECK_TEST(range_lies_inside), CHECK_TEST(host_is_ours), CHECK_TEST(order_is_expanded),
           CHECK_TEST(order_has_each_run_once))
