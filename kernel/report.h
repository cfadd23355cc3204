// SPDX-License-Identifier: Apache-2.0
// kernel/report.h - tables of the values that a part of a simulation reports at the end of a run.
//
// A table has a row for each value, with its name, kind, unit and a line of help. The value is a
// field of the struct that the table describes, or comes from a getter; it may be an object with a
// table of its own, or a list. summary.json, the summary on the terminal, `rocesim compare` and the
// reference in docs/ walk these tables with a visitor, so a new row needs no other change.
//
//     static const sim_report_row_t cache_rows[] = {
//         {"l1_hits", SIM_REPORT_U64, "", "lookups found in L1",
//          .offset = offsetof(cache_t, l1_hits), .shown = true},
//         {"latency_us", SIM_REPORT_OBJECT, "us", "time that a lookup takes",
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
    SIM_REPORT_REAL,           // double; NaN: no value (null)
    SIM_REPORT_BOOL,           // bool
    SIM_REPORT_STRING,         // const char *; NULL: no value (null)
    SIM_REPORT_OBJECT,         // a struct, as its table says
    SIM_REPORT_PART,           // sim_report_part_t: an object whose table is known at run time
    SIM_REPORT_LIST,           // sim_report_list_t
} sim_report_kind_t;
// clang-format on

// An object with its table. If the table is NULL there is no object and the row is left out.
typedef struct sim_report_part {
    const sim_report_table_t *table;
    const void *object;
} sim_report_part_t;

// An array of `count` items, of the kind that the row names with `of`.
typedef struct sim_report_list {
    const void *items;
    size_t count;
} sim_report_list_t;

// A value that was read. The row's kind says which member holds it.
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
    const char *unit; // "" for plain numbers; an object's is that of reals inside that have none
    const char *help; // one line, ends without a full stop
    size_t offset;    // of the field in the struct that the table describes
    sim_report_kind_t of;            // LIST: kind of its items; neither LIST nor PART
    const sim_report_table_t *table; // OBJECT, and LIST of OBJECT
    // Reads the value from the struct, instead of offset. False: this run has no such value, and
    // the row is left out. A getter of an OBJECT gives the object's address. May be NULL.
    bool (*get)(const void *object, sim_report_value_t *value);
    bool shown;    // in the summary on the terminal, too
    bool optional; // LIST: without items (NULL) the row is left out
    size_t count;  // LIST whose field is the pointer to its items: offset of their number, a size_t
    size_t given;  // offset of a bool; where it is false, the row is left out. 0: it never is
} sim_report_row_t;

// The places in which a run shows a counter's total, the sum over all parts that count it. Any
// member may be NULL.
typedef struct sim_total {
    const char *group; // totals of a group stand together, in the order of their table
    const char *field; // of summary.json, by dotted path: "pfc.pause_frames"
    const char *label; // of its row in `rocesim compare`; NULL: only in the comparison's CSV
    const char *line;  // of the summary on the terminal: "PFC"
    const char *words; // the words behind the number in that line: "pauses"
    bool swept;        // a column of sweeps that name no columns
    bool rare;         // left out of digests while it is 0, and of the terminal with its line
} sim_total_t;

struct sim_report_table {
    const sim_report_row_t *rows;
    size_t count;
    size_t bytes; // of the struct that the rows read
    // Fills that struct, which is zeroed, from the object being reported, where its values must be
    // computed first. NULL: the rows read the object itself.
    void (*fill)(const void *object, void *report);
    void (*fini)(void *report); // frees what fill allocated; may be NULL
    size_t object_bytes;        // of the objects that fill reads, if they are items of lists
    bool recorded;              // the object is what sim_report_carry made
};

// The calls that sim_report_visit makes, in the order of the tables. An item of a list comes with
// the list's row.
typedef struct sim_report_visitor {
    void (*value)(const sim_report_row_t *row, sim_report_kind_t kind,
                  const sim_report_value_t *value, void *ctx);
    // Enclose an object that is a row or an item of a list.
    void (*begin_object)(const sim_report_row_t *row, void *ctx);
    void (*end_object)(const sim_report_row_t *row, void *ctx);
    void (*begin_list)(const sim_report_row_t *row, size_t count, void *ctx);
    void (*end_list)(const sim_report_row_t *row, void *ctx);
    void *ctx;
} sim_report_visitor_t;

// Walks the table over object, and the tables inside it.
void sim_report_visit(const sim_report_table_t *table, const void *object,
                      const sim_report_visitor_t *visitor);

// Reads the number (whole, real or bool) at a dotted path such as "latency_us.p50" or "fct_ns[3]".
// Returns false, and leaves *number as it is, if there is none.
bool sim_report_number(const sim_report_table_t *table, const void *object, const char *path,
                       double *number);

// Carries a report to rank 0 by value: the rank that ran its object visits it, and rank 0 makes a
// recording of that, which *part names from then on. Visitors see no difference. Returns the
// recording, to be freed with sim_free after its last use; NULL where the report is left. A report
// with a row of the kind PART cannot be carried, which sim_report_can_carry checks.
void *sim_report_carry(sim_report_part_t *part, sim_carry_t *carry);
bool sim_report_can_carry(const sim_report_table_t *table);

// A distribution, ready to be reported. Without values all members but the count are NaN (null).
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
// Returns the percentiles of set, each divided by `one`: SIM_PS_PER_US makes microseconds of
// picoseconds. Sorts the set.
sim_percentiles_t sim_percentiles(sim_sample_set_t *set, uint64_t one);

// A point of a distribution: `percent` of all values are at most `ms`.
typedef struct sim_report_point {
    double percent;
    double ms;
} sim_report_point_t;
extern const sim_report_table_t sim_report_point_table;
typedef struct sim_report_points {
    sim_report_point_t *points; // NULL: no values
    size_t count;
} sim_report_points_t;
// Returns the points of a set of times, from the smallest to the largest. Free `points` with
// sim_free. Sorts the set.
sim_report_points_t sim_report_points(sim_sample_set_t *set_ps);

SIM_C_END

#endif // KERNEL_REPORT_H
