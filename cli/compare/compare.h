// SPDX-License-Identifier: Apache-2.0
// cli/compare/compare.h - `rocesim compare`: results of many runs as one table, for people or as
// CSV.
//
// compare_runs.c reads folders: what they ran with, which differ in their seed alone.
// compare_rows.c turns a summary into rows; a row has a value per run. compare_spread.c is the
// statistics over seeds, compare.c prints.
#ifndef CLI_COMPARE_COMPARE_H
#define CLI_COMPARE_COMPARE_H

#include "world/error.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#define CLI_COMPARE_COLUMNS_MAX 16u // of the table for people
#define CLI_COMPARE_RUNS_MAX 10000u
#define CLI_COMPARE_NONE ((double)NAN) // a value that is not there

typedef struct cli_compare_options {
    bool seeds;      // runs that differ in their seed alone make one column
    bool csv;        // else a table for people
    const char *app; // flows of that traffic entry only: its kind or its number; NULL: all
} cli_compare_options_t;

// SIM_ERR_INVALID: a folder holds no results, no such traffic; SIM_ERR_RANGE: too many columns.
SIM_MUST_CHECK sim_err_t cli_compare(const char *const *folders,
                                     size_t count,
                                     const cli_compare_options_t *options,
                                     FILE *out,
                                     world_error_t *error);

// -- between the files of compare

typedef enum cli_compare_unit {
    CLI_COMPARE_TEXT,
    CLI_COMPARE_COUNT,
    CLI_COMPARE_BYTES,
    CLI_COMPARE_PS,
    CLI_COMPARE_US,
    CLI_COMPARE_RATIO,
    CLI_COMPARE_SHARE, // 0 to 1
    CLI_COMPARE_REAL,
} cli_compare_unit_t;

typedef struct cli_compare_row {
    char *key;   // column of the CSV
    char *label; // row of the table; NULL: only in the CSV
    cli_compare_unit_t unit;
    bool parameter; // of the scenario: shown where runs differ
    double *values; // by run; NAN: the run has none
    char **texts;   // the same of texts; NULL: none
} cli_compare_row_t;

typedef struct cli_compare_run {
    const char *folder;
    char *name;
    uint64_t seed;
    uint64_t tie_seed;
    char *setup;   // every parameter but the seeds: equal texts are equal scenarios
    size_t column; // that the run belongs to
} cli_compare_run_t;

typedef struct cli_compare_column {
    char *name;
    size_t *runs; // in the order given
    size_t count;
    size_t capacity;
} cli_compare_column_t;

typedef struct cli_compare_table {
    const cli_compare_options_t *options;
    cli_compare_run_t *runs;
    size_t run_count;
    cli_compare_column_t *columns;
    size_t column_count;
    cli_compare_row_t *rows;
    size_t row_count;
    size_t row_capacity;
    size_t cursor; // where the next row of a run is expected
} cli_compare_table_t;

// The row of that key, made behind the last one asked for if there is none. label may be NULL.
cli_compare_row_t *cli__compare_row(cli_compare_table_t *table,
                                    cli_compare_unit_t unit,
                                    const char *key,
                                    const char *label);
void cli__compare_put(cli_compare_row_t *row, size_t run, double value);
void cli__compare_put_text(cli_compare_row_t *row, size_t run, const char *text);
// All rows that a summary fills.
SIM_MUST_CHECK sim_err_t cli__compare_take(cli_compare_table_t *table,
                                           size_t run,
                                           const json_t *summary,
                                           world_error_t *error);
// Follows "flows.slowdown.p99"; NULL if it is not there.
const json_t *cli__compare_find(const json_t *object, const char *path);

// Names, parameters, summaries, columns. Free with cli__compare_close, also on error.
SIM_MUST_CHECK sim_err_t cli__compare_open(cli_compare_table_t *table,
                                           const char *const *folders,
                                           size_t count,
                                           world_error_t *error);
void cli__compare_close(cli_compare_table_t *table);

// Of the values of a column, or of the differences to another column's runs of the same seed.
typedef struct cli_spread {
    size_t count;
    double mean;
    double deviation; // standard deviation of one value (n - 1); 0 of less than two
    double half;      // of the 95 % interval of the mean (Student's t); INFINITY of less than two
} cli_spread_t;

cli_spread_t cli__spread(const double *values, size_t count);
cli_spread_t cli__compare_spread(const cli_compare_table_t *table,
                                 const cli_compare_row_t *row,
                                 size_t column);
// Pairs runs by their seeds: the same seed is the same traffic.
cli_spread_t cli__compare_difference(const cli_compare_table_t *table,
                                     const cli_compare_row_t *row,
                                     size_t column,
                                     size_t base);
// Whether the 95 % interval leaves 0 out.
bool cli__spread_is_not_zero(const cli_spread_t *spread);

#endif // CLI_COMPARE_COMPARE_H
