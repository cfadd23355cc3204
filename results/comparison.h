// SPDX-License-Identifier: Apache-2.0
// results/comparison.h - the results of many runs as one table. Each row is a field of their
// summaries, or a parameter in which they differ.
//
// comparison_runs.c reads the folders and finds runs that differ only in their seed.
// comparison_rows.c turns a summary into rows; a row has a value per run. comparison_spread.c has
// the statistics over seeds.
#ifndef RESULTS_COMPARISON_H
#define RESULTS_COMPARISON_H

#include "results/warning_kinds.h"
#include "world/error.h"

#include <jansson.h>
#include <math.h>

SIM_C_BEGIN

#define RESULTS_COMPARISON_RUNS_MAX 10000u
#define RESULTS_COMPARISON_NONE ((double)NAN) // a value that is not there

typedef struct results_comparison_options {
    bool seeds;      // runs that differ in their seed alone make one column
    bool csv;        // else a table for people
    const char *app; // flows of that traffic entry only: its kind or its number; NULL: all
} results_comparison_options_t;

typedef enum results_comparison_unit {
    RESULTS_COMPARISON_TEXT,
    RESULTS_COMPARISON_COUNT,
    RESULTS_COMPARISON_BYTES,
    RESULTS_COMPARISON_PS,
    RESULTS_COMPARISON_US,
    RESULTS_COMPARISON_RATIO,
    RESULTS_COMPARISON_SHARE, // 0 to 1
    RESULTS_COMPARISON_REAL,
} results_comparison_unit_t;

typedef struct results_comparison_row {
    char *key;   // column of the CSV
    char *label; // row of the table; NULL: only in the CSV
    results_comparison_unit_t unit;
    bool parameter; // of the scenario: shown where runs differ
    double *values; // by run; NAN: the run has none
    char **texts;   // texts by run; NULL: the run has none
} results_comparison_row_t;

typedef struct results_comparison_run {
    const char *folder;
    char *name;
    uint64_t seed;
    uint64_t tie_seed;
    char *setup;   // every parameter but the seeds: equal texts are equal scenarios
    size_t column; // that the run belongs to
} results_comparison_run_t;

typedef struct results_comparison_column {
    char *name;
    size_t *runs; // in the order given
    size_t count;
    size_t capacity;
} results_comparison_column_t;

typedef struct results_comparison_table {
    const results_comparison_options_t *options;
    results_comparison_run_t *runs;
    size_t run_count;
    results_comparison_column_t *columns;
    size_t column_count;
    results_comparison_row_t *rows;
    size_t row_count;
    size_t row_capacity;
    results_warning_kinds_t warnings;
    size_t cursor; // where the next row of a run is expected
} results_comparison_table_t;

// Returns the row of that key. A new one is made behind the last one asked for. label may be NULL.
results_comparison_row_t *results_comparison_row(results_comparison_table_t *table,
                                                 results_comparison_unit_t unit, const char *key,
                                                 const char *label);
void results_comparison_put_text(results_comparison_row_t *row, size_t run, const char *text);
// Fills the rows of one run from its summary.
SIM_MUST_CHECK sim_err_t results_comparison_take(results_comparison_table_t *table, size_t run,
                                                 const json_t *summary, world_error_t *error);

// Returns the number in a summary that a comparison prints under the key, also where no field of
// summary.json has that path ("nics.wqe_hit_share"); RESULTS_COMPARISON_NONE if there is none.
double results_comparison_number(const json_t *summary, const char *key);
// Returns whether the key is a sum, share or quotient over NICs that comparisons can print.
bool results_comparison_has_nic_key(const char *key);

// Reads the folders and fills the table: names, parameters, summaries, columns. Free it with
// results_comparison_close, also on error.
SIM_MUST_CHECK sim_err_t results_comparison_open(results_comparison_table_t *table,
                                                 const char *const *folders, size_t count,
                                                 world_error_t *error);
void results_comparison_close(results_comparison_table_t *table);

SIM_C_END

#endif // RESULTS_COMPARISON_H
