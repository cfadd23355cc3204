// SPDX-License-Identifier: Apache-2.0
// kernel/report.h - what a part of a simulation tells about itself at the end.
//
// A part describes its report as a table: a row per value, with its name, kind, unit and a line of
// help. A value is a field of the struct that the table is about, or what a getter makes of it; a
// row may be an object with a table of its own, or a list. summary.json, the summary on the
// terminal, `rocesim compare` and the reference in docs/ are all made from these tables by walking
// them with a visitor; nothing else has to be told of a new row.
//
//     static const sim_report_row_t cache_rows[] = {
//         {"l1_hits", SIM_REPORT_U64, "", "lookups found in L1",
//          .offset = offsetof(cache_t, l1_hits), .shown = true},
//         {"latency_us", SIM_REPORT_OBJECT, "us", "of lookups",
//          .offset = offsetof(cache_t, latency), .table = &sim_report_percentiles},
//     };
//     const sim_report_table_t cache_report = {
//         .rows = cache_rows, .count = SIM_COUNT_OF(cache_rows), .bytes = sizeof(cache_t)};
#ifndef KERNEL_REPORT_H
#define KERNEL_REPORT_H

#include "kernel/statistics.h"

SIM_C_BEGIN

typedef struct sim_report_table sim_report_table_t;

// clang-format off
typedef enum sim_report_kind { // the field at offset
    SIM_REPORT_U64,            // uint64_t
    SIM_REPORT_U32,            // uint32_t
    SIM_REPORT_REAL,           // double; NaN: there is none (null)
    SIM_REPORT_BOOL,           // bool
    SIM_REPORT_STRING,         // const char *; NULL: there is none (null)
    SIM_REPORT_OBJECT,         // a struct, as its table says
    SIM_REPORT_PART,           // sim_report_part_t: an object whose table is known at run time
    SIM_REPORT_LIST,           // sim_report_list_t
} sim_report_kind_t;
// clang-format on

// An object with its table; a NULL table: there is none, and the row is left out.
typedef struct sim_report_part {
    const sim_report_table_t *table;
    const void *object;
} sim_report_part_t;

// count items one behind the other, of the kind that the row names with `of`.
typedef struct sim_report_list {
    const void *items;
    size_t count;
} sim_report_list_t;

// A value that was read; which member counts follows from the row's kind.
typedef struct sim_report_value {
    uint64_t whole; // U64, U32
    double real;
    bool yes; // BOOL
    const char *text;
    sim_report_part_t part; // OBJECT and PART
    sim_report_list_t list;
} sim_report_value_t;

typedef struct sim_report_row {
    const char *name; // snake_case, the unit last: "latency_us"
    sim_report_kind_t kind;
    const char *unit; // "" for plain numbers; of an object, that of the reals inside without one
    const char *help; // one line, ends without a full stop
    size_t offset;    // of the field in the struct that the table is about
    sim_report_kind_t of;            // LIST: what its items are, none of LIST and PART
    const sim_report_table_t *table; // OBJECT, and LIST of OBJECT
    // Instead of offset: reads the value from the struct. False: there is none in this run, and the
    // row is left out. A getter of an OBJECT gives the object's address.
    bool (*get)(const void *object, sim_report_value_t *value);
    bool shown; // to a person, in the summary on the terminal
} sim_report_row_t;

// Where a run tells a counter's total, the sum over all parts that count it. Any member may be
// NULL.
typedef struct sim_total {
    const char *group; // totals of a group stand together, in the order of their table
    const char *field; // of summary.json, by dotted path: "pfc.pause_frames"
    const char *label; // of its row in `rocesim compare`; NULL: only in the comparison's CSV
    const char *line;  // of the summary on the terminal: "PFC"
    const char *words; // what it counts, behind the number in that line: "pauses"
    bool swept;        // a column of sweeps that name no columns
} sim_total_t;

struct sim_report_table {
    const sim_report_row_t *rows;
    size_t count;
    size_t bytes; // of the struct that the rows read
    // Where that struct has to be worked out first: fills it (zeroed before) from the object that
    // was reported. NULL: the rows read the object itself.
    void (*fill)(const void *object, void *report);
    void (*fini)(void *report); // frees what fill took; may be NULL
    size_t object_bytes;        // of the objects that fill reads, where they stand in lists
};

// Hears of rows in the order of the tables. Items of a list come with the list's row.
typedef struct sim_report_visitor {
    void (*value)(const sim_report_row_t *row,
                  sim_report_kind_t kind,
                  const sim_report_value_t *value,
                  void *ctx);
    // An object that is a row, or an item of a list.
    void (*begin_object)(const sim_report_row_t *row, void *ctx);
    void (*end_object)(const sim_report_row_t *row, void *ctx);
    void (*begin_list)(const sim_report_row_t *row, size_t count, void *ctx);
    void (*end_list)(const sim_report_row_t *row, void *ctx);
    void *ctx;
} sim_report_visitor_t;

void sim_report_visit(const sim_report_table_t *table,
                      const void *object,
                      const sim_report_visitor_t *visitor);

// The number under a dotted path ("latency_us.p50", "transport.rounds_max", "fct_ns[3]"); false
// where there is none. Whole numbers, reals and bool.
bool sim_report_number(const sim_report_table_t *table,
                       const void *object,
                       const char *path,
                       double *number);

// A distribution, ready to be reported: count, mean, min, p50, p90, p99, p999, max. Without values
// all but the count are NaN (null).
typedef struct sim_percentiles {
    uint64_t count;
    double mean;
    double min;
    double p50;
    double p90;
    double p99;
    double p999;
    double max;
} sim_percentiles_t;
extern const sim_report_table_t sim_report_percentiles;
// The percentiles of set, each divided by one: SIM_PS_PER_US makes microseconds of picoseconds.
// Sorts the set.
sim_percentiles_t sim_percentiles(sim_sample_set_t *set, uint64_t one);

SIM_C_END

#endif // KERNEL_REPORT_H
