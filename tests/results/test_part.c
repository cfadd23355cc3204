// SPDX-License-Identifier: Apache-2.0
// tests/results/test_part.c - reports of applications and NICs as JSON and on a terminal.
//
// Goal: nested objects, lists, 64-bit integers, reals and strings arrive in JSON with their units;
// a person sees the rows that are shown, and of many NICs their sum.
// Method: a table with a row of each kind, over structs made here.
// Not pinned: what applications and NICs tell.
#include "results/report/part.h"
#include "tests/check_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cache {
    uint64_t hits;
    uint64_t used_bytes_max;
    double share;
    const char *policy;
    sim_report_list_t fct_ns;
    sim_percentiles_t latency_us;
} cache_t;

#define CACHE_ROW(name_, kind_, unit_, ...)                                             \
    {                                                                                   \
#name_, SIM_REPORT_##kind_, unit_, "of it", .offset = offsetof(cache_t, name_), \
                                                    __VA_ARGS__                         \
    }
static const sim_report_row_t cache_rows[] = {
    CACHE_ROW(hits, U64, "", .shown = true),
    CACHE_ROW(used_bytes_max, U64, "bytes", .shown = true),
    CACHE_ROW(share, REAL, "", .shown = true),
    CACHE_ROW(policy, STRING, "", .shown = false),
    CACHE_ROW(fct_ns, LIST, "ns", .of = SIM_REPORT_U64, .shown = true),
    CACHE_ROW(latency_us, OBJECT, "us", .table = &sim_report_percentiles, .shown = true),
};
static const sim_report_table_t cache_table = {.rows = cache_rows,
                                               .count = SIM_COUNT_OF(cache_rows),
                                               .bytes = sizeof(cache_t)};

static const uint64_t fct_ns[] = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

static cache_t cache_of(uint64_t hits, uint64_t used_bytes_max, double share)
{
    sim_sample_set_t set;
    sim_sample_set_init(&set);
    sim_sample_set_add(&set, 2 * SIM_PS_PER_US);
    const cache_t cache = {hits,
                           used_bytes_max,
                           share,
                           "lru",
                           {fct_ns, SIM_COUNT_OF(fct_ns)},
                           sim_percentiles(&set, SIM_PS_PER_US)};
    sim_sample_set_fini(&set);
    return cache;
}

START_TEST(json)
{
    const cache_t cache = cache_of(UINT64_MAX, 4096, (double)NAN);
    json_t *const object = json_object();
    json_t *const units = json_object();
    results_part_json(&cache_table, &cache, object, units);
    char *const text = json_dumps(object, JSON_COMPACT);
    ck_assert_str_eq(text,
                     "{\"hits\":\"18446744073709551615\",\"used_bytes_max\":4096,\"share\":null,"
                     "\"policy\":\"lru\",\"fct_ns\":[5,6,7,8,9,10,11,12,13,14],"
                     "\"latency_us\":{\"count\":1,\"mean\":2.0,\"min\":2.0,\"p50\":2.0,\"p90\":2.0,"
                     "\"p99\":2.0,\"p999\":2.0,\"max\":2.0}}");
    char *const unit_text = json_dumps(units, JSON_COMPACT);
    ck_assert_str_eq(unit_text,
                     "{\"used_bytes_max\":\"bytes\",\"fct_ns\":\"ns\",\"latency_us\":\"us\"}");
    free(text);
    free(unit_text);
    json_decref(object);
    json_decref(units);
}
END_TEST

// Captures the output of a print function in a buffer.
#define PRINTED(buffer, ...)                                     \
    do {                                                         \
        FILE *const out = fmemopen(buffer, sizeof(buffer), "w"); \
        ck_assert_ptr_nonnull(out);                              \
        __VA_ARGS__;                                             \
        ck_assert_int_eq(fclose(out), 0);                        \
    } while (0)

START_TEST(terminal)
{
    const cache_t cache = cache_of(7, 4096, 0.25);
    char text[512] = "";
    PRINTED(text, results_part_print(&cache_table, &cache, out, 40));
    ck_assert_str_eq(text, ", hits 7, used_bytes_max 4.096 KB, share 0.25\n"
                           "            fct_ns: 5, 6, 7, 8, 9, 10, 11, 12, ...\n"
                           "            latency_us: mean 2, p50 2, p99 2, max 2");
}
END_TEST

START_TEST(nics_are_added_up)
{
    const cache_t caches[] = {cache_of(7, 4096, 0.25), cache_of(8, 5000, (double)NAN),
                              cache_of(9, 1, 0.75)};
    const sim_report_part_t parts[] = {{&cache_table, &caches[0]},
                                       {&cache_table, &caches[1]},
                                       {&cache_table, &caches[2]}};
    char text[512] = "";
    PRINTED(text, results_part_print_sum("cache", parts, SIM_COUNT_OF(parts), out));
    ck_assert_str_eq(text, "\n            cache: hits 24, used_bytes_max 5.000 KB, share 0.5\n"
                           "            cache.latency_us: mean 2, p50 2, p99 2, max 2");
}
END_TEST

START_TEST(reference)
{
    char text[2048] = "";
    PRINTED(text, results_part_markdown(&cache_table, "cache.", out));
    ck_assert_ptr_nonnull(strstr(text, "| `cache.used_bytes_max` | bytes | of it |\n"));
    ck_assert_ptr_nonnull(strstr(text, "| `cache.fct_ns[]` | ns | of it |\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "| `cache.latency_us` | us | of it; a distribution (below) |\n"));
}
END_TEST

CHECK_MAIN(CHECK_TEST(json), CHECK_TEST(terminal), CHECK_TEST(nics_are_added_up),
           CHECK_TEST(reference))
