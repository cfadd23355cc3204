// SPDX-License-Identifier: Apache-2.0
// tests/kernel/test_report.c - tables of what parts tell, and the walk over them.
//
// Goal: every kind of row reaches the visitor in the table's order, in objects, lists and parts;
// rows without a value are left out; what a table works out first is freed; paths find numbers.
// Not pinned: how a report looks in a file or on a terminal (tests/results/test_part.c).
#include "kernel/report.h"
#include "tests/check_main.h"

#include <math.h>
#include <string.h>

typedef struct inner {
    uint32_t rounds;
    bool ok;
} inner_t;

static const sim_report_row_t inner_rows[] = {
    {"rounds", SIM_REPORT_U32, "", "how often", .offset = offsetof(inner_t, rounds)},
    {"ok", SIM_REPORT_BOOL, "", "whether", .offset = offsetof(inner_t, ok)},
};
static const sim_report_table_t inner_table = {.rows = inner_rows,
                                               .count = SIM_COUNT_OF(inner_rows),
                                               .bytes = sizeof(inner_t)};

typedef struct outer {
    uint64_t count;
    double mean;
    const char *name;
    inner_t inner;
    sim_report_part_t part;
    sim_report_list_t times;
    sim_report_list_t inners;
    sim_percentiles_t latency;
} outer_t;

static bool get_double_count(const void *object, sim_report_value_t *value)
{
    value->whole = 2 * ((const outer_t *)object)->count;
    return value->whole < 100;
}

static const sim_report_row_t outer_rows[] = {
    {"count", SIM_REPORT_U64, "", "of them", .offset = offsetof(outer_t, count)},
    {"mean", SIM_REPORT_REAL, "us", "of them", .offset = offsetof(outer_t, mean)},
    {"name", SIM_REPORT_STRING, "", "its", .offset = offsetof(outer_t, name)},
    {"inner", SIM_REPORT_OBJECT, "", "a", .offset = offsetof(outer_t, inner),
     .table = &inner_table},
    {"part", SIM_REPORT_PART, "", "any", .offset = offsetof(outer_t, part)},
    {"twice", SIM_REPORT_U64, "", "the count", .get = get_double_count},
    {"times", SIM_REPORT_LIST, "ns", "all", .offset = offsetof(outer_t, times),
     .of = SIM_REPORT_U64},
    {"inners", SIM_REPORT_LIST, "", "all", .offset = offsetof(outer_t, inners),
     .of = SIM_REPORT_OBJECT, .table = &inner_table},
    {"latency_us", SIM_REPORT_OBJECT, "us", "of", .offset = offsetof(outer_t, latency),
     .table = &sim_report_percentiles},
};
static const sim_report_table_t outer_table = {.rows = outer_rows,
                                               .count = SIM_COUNT_OF(outer_rows),
                                               .bytes = sizeof(outer_t)};

typedef struct transcript {
    char text[1024];
} transcript_t;

static void add(transcript_t *transcript, const char *text)
{
    ck_assert_uint_lt(strlen(transcript->text) + strlen(text), sizeof(transcript->text));
    strcat(transcript->text, text); // NOLINT(clang-analyzer-security.insecureAPI.strcpy)
}

static void on_value(const sim_report_row_t *row, sim_report_kind_t kind,
                     const sim_report_value_t *value, void *ctx)
{
    char *text = NULL;
    switch (kind) {
    case SIM_REPORT_U64:
    case SIM_REPORT_U32:
        text = sim_format("%s=%" PRIu64 " ", row->name, value->whole);
        break;
    case SIM_REPORT_REAL:
        text = sim_format("%s=%g ", row->name, value->real);
        break;
    case SIM_REPORT_BOOL:
        text = sim_format("%s=%s ", row->name, value->yes ? "yes" : "no");
        break;
    case SIM_REPORT_STRING:
        text = sim_format("%s=%s ", row->name, value->text != NULL ? value->text : "-");
        break;
    case SIM_REPORT_OBJECT:
    case SIM_REPORT_PART:
    case SIM_REPORT_LIST:
        ck_abort_msg("no value");
    }
    add(ctx, text);
    sim_free(text);
}

static void on_object(const sim_report_row_t *row, void *ctx)
{
    add(ctx, row->name);
    add(ctx, "{ ");
}

static void on_object_end(const sim_report_row_t *row, void *ctx)
{
    (void)row;
    add(ctx, "} ");
}

static void on_list(const sim_report_row_t *row, size_t count, void *ctx)
{
    char *const text = sim_format("%s[%zu: ", row->name, count);
    add(ctx, text);
    sim_free(text);
}

static void on_list_end(const sim_report_row_t *row, void *ctx)
{
    (void)row;
    add(ctx, "] ");
}

static const uint64_t times[] = {7, UINT64_MAX};
static const inner_t inners[] = {{1, true}, {2, false}};

static outer_t example(void)
{
    return (outer_t){.count = 3,
                     .mean = 0.5,
                     .inner = {9, true},
                     .times = {times, 2},
                     .inners = {inners, 2}};
}

START_TEST(walk_in_order)
{
    const outer_t outer = example();
    transcript_t transcript = {""};
    const sim_report_visitor_t visitor = {on_value, on_object,   on_object_end,
                                          on_list,  on_list_end, &transcript};
    sim_report_visit(&outer_table, &outer, &visitor);
    ck_assert_str_eq(transcript.text,
                     "count=3 mean=0.5 name=- inner{ rounds=9 ok=yes } twice=6 "
                     "times[2: times=7 times=18446744073709551615 ] "
                     "inners[2: inners{ rounds=1 ok=yes } inners{ rounds=2 ok=no } ] "
                     "latency_us{ count=0 mean=0 min=0 p50=0 p90=0 p99=0 p999=0 max=0 } ");
}
END_TEST

START_TEST(rows_without_a_value_are_left_out)
{
    outer_t outer = example();
    outer.count = 50; // twice is 100
    outer.part = (sim_report_part_t){&inner_table, &inners[1]};
    double number = 0;
    ck_assert(!sim_report_number(&outer_table, &outer, "twice", &number));
    ck_assert(sim_report_number(&outer_table, &outer, "part.rounds", &number));
    ck_assert_double_eq(number, 2);
    outer.part.table = NULL;
    ck_assert(!sim_report_number(&outer_table, &outer, "part.rounds", &number));
}
END_TEST

START_TEST(paths)
{
    const outer_t outer = example();
    static const struct {
        const char *path;
        double number;
        bool found;
    } cases[] = {
        {"count", 3, true},
        {"mean", 0.5, true},
        {"inner.rounds", 9, true},
        {"inner.ok", 1, true},
        {"times[0]", 7, true},
        {"inners[1].rounds", 2, true},
        {"inners[0].rounds", 1, true},
        {"latency_us.p50", 0, true},
        {"name", 0, false},
        {"inner", 0, false},
        {"rounds", 0, false},
        {"times[2]", 0, false},
        {"count.rounds", 0, false},
        {"coun", 0, false},
        {"", 0, false},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        double number = -1;
        const bool found = sim_report_number(&outer_table, &outer, cases[i].path, &number);
        ck_assert_msg(found == cases[i].found, "%s", cases[i].path);
        ck_assert_double_eq(number, found ? cases[i].number : -1);
    }
}
END_TEST

typedef struct worked_out {
    uint64_t *squares;
    sim_report_list_t list;
} worked_out_t;

static void fill(const void *object, void *into)
{
    const inner_t *const inner = object;
    worked_out_t *const report = into;
    ck_assert_ptr_null(report->squares); // zeroed
    report->squares = sim_alloc_array(inner->rounds, sizeof(*report->squares));
    for (uint64_t i = 0; i < inner->rounds; i++) {
        report->squares[i] = i * i;
    }
    report->list = (sim_report_list_t){report->squares, inner->rounds};
}

static void fini(void *report)
{
    sim_free(((worked_out_t *)report)->squares);
}

START_TEST(worked_out_first)
{
    static const sim_report_row_t rows[] = {
        {"squares", SIM_REPORT_LIST, "", "of numbers", .offset = offsetof(worked_out_t, list),
         .of = SIM_REPORT_U64},
    };
    static const sim_report_table_t table = {.rows = rows,
                                             .count = 1,
                                             .bytes = sizeof(worked_out_t),
                                             .fill = fill,
                                             .fini = fini};
    const inner_t inner = {5, true};
    double number = 0;
    ck_assert(sim_report_number(&table, &inner, "squares[4]", &number));
    ck_assert_double_eq(number, 16);
}
END_TEST

START_TEST(flags_and_arrays)
{
    typedef struct optional {
        uint64_t number;
        bool known;
        const inner_t *items;
        size_t item_count;
    } optional_t;
    static const sim_report_row_t rows[] = {
        {"number", SIM_REPORT_U64, "", "if known", .offset = offsetof(optional_t, number),
         .given = offsetof(optional_t, known)},
        {"items", SIM_REPORT_LIST, "", "if any", .offset = offsetof(optional_t, items),
         .count = offsetof(optional_t, item_count), .of = SIM_REPORT_OBJECT, .table = &inner_table,
         .optional = true},
        {"always", SIM_REPORT_LIST, "", "all", .offset = offsetof(optional_t, items),
         .count = offsetof(optional_t, item_count), .of = SIM_REPORT_OBJECT, .table = &inner_table},
    };
    static const sim_report_table_t table = {.rows = rows,
                                             .count = SIM_COUNT_OF(rows),
                                             .bytes = sizeof(optional_t)};
    optional_t object = {.number = 4};
    transcript_t transcript = {""};
    const sim_report_visitor_t visitor = {on_value, on_object,   on_object_end,
                                          on_list,  on_list_end, &transcript};
    sim_report_visit(&table, &object, &visitor);
    object = (optional_t){4, true, inners, 1};
    sim_report_visit(&table, &object, &visitor);
    ck_assert_str_eq(transcript.text, "always[0: ] number=4 "
                                      "items[1: items{ rounds=1 ok=yes } ] "
                                      "always[1: always{ rounds=1 ok=yes } ] ");
}
END_TEST

START_TEST(percentiles)
{
    sim_sample_set_t set;
    sim_sample_set_init(&set);
    ck_assert(isnan(sim_percentiles(&set, 1).p50));
    for (uint64_t i = 1; i <= 1000; i++) {
        sim_sample_set_add(&set, i * SIM_PS_PER_US);
    }
    const sim_percentiles_t all = sim_percentiles(&set, SIM_PS_PER_US);
    ck_assert_uint_eq(all.count, 1000);
    ck_assert_double_eq(all.mean, 500.5);
    ck_assert_double_eq(all.min, 1);
    ck_assert_double_eq(all.p50, 500);
    ck_assert_double_eq(all.p99, 990);
    ck_assert_double_eq(all.p999, 999);
    ck_assert_double_eq(all.max, 1000);
    sim_sample_set_fini(&set);
}
END_TEST

CHECK_MAIN(CHECK_TEST(walk_in_order), CHECK_TEST(rows_without_a_value_are_left_out),
           CHECK_TEST(paths), CHECK_TEST(worked_out_first), CHECK_TEST(flags_and_arrays),
           CHECK_TEST(percentiles))
