// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/scan.h - one table of several runs, read block by block, with a filter.
//
// The columns are those of all runs together, and `run` and `run_name` behind them. A filter is a
// list of conditions that all hold, a range of time and an expression; blocks whose least and
// greatest values say that nothing in them matches are not read.
#ifndef STUDIO_SERVER_DATA_QUERY_SCAN_H
#define STUDIO_SERVER_DATA_QUERY_SCAN_H

#include "studio/server/data/import/table.h"
#include "studio/server/data/query/expression/expression.h"

#include <jansson.h>

#define STUDIO_RUNS_MAX 500u
#define STUDIO_CONDITIONS_MAX 64u

// A run whose data may be read.
typedef struct studio_source {
    int64_t run;
    char *name;
    char *result; // folder
    char *index;  // folder
} studio_source_t;

typedef struct studio_sources {
    studio_source_t *sources;
    size_t count;
    size_t capacity;
} studio_sources_t;

void studio_sources_add(studio_sources_t *sources,
                        int64_t run,
                        const char *name,
                        const char *result,
                        const char *index);
void studio_sources_fini(studio_sources_t *sources);

typedef struct studio_scan_column {
    const char *name;
    const char *unit;
    const char *help;
    studio_type_t type;
} studio_scan_column_t;

typedef struct studio_scan studio_scan_t;

// Opens the table in each run that has it. SIM_ERR_UNKNOWN: no run has it. sources must outlive it.
SIM_MUST_CHECK sim_err_t studio_scan_open(const studio_sources_t *sources,
                                          const char *table,
                                          studio_scan_t **scan,
                                          studio_place_error_t *error);
void studio_scan_close(studio_scan_t *scan); // NULL is allowed

size_t studio_scan_column_count(const studio_scan_t *scan);
const studio_scan_column_t *studio_scan_column(const studio_scan_t *scan, size_t column);
// studio_scan_column_count: there is none of that name.
size_t studio_scan_find(const studio_scan_t *scan, const char *name);
size_t studio_scan_table_count(const studio_scan_t *scan);
const studio_table_t *studio_scan_table(const studio_scan_t *scan, size_t table);
// Rows of all tables together.
uint64_t studio_scan_rows(const studio_scan_t *scan);

// Filters, before the first block; each call adds. Errors say where: column of the expression.
// conditions: [{column, op, value}, {any: [...]}]; NULL: none.
SIM_MUST_CHECK sim_err_t studio_scan_filter(studio_scan_t *scan,
                                            const json_t *conditions,
                                            studio_place_error_t *error);
SIM_MUST_CHECK sim_err_t studio_scan_where(studio_scan_t *scan,
                                           const char *expression,
                                           studio_place_error_t *error);
// By time_ns (events, series, packets) or the time a flow lives. NAN: open.
SIM_MUST_CHECK sim_err_t studio_scan_range(studio_scan_t *scan,
                                           double from_ns,
                                           double to_ns,
                                           studio_place_error_t *error);

// The rows of the next block with any that match: their places in it, in order. 0: the end.
typedef struct studio_found {
    size_t table;
    size_t block;
    uint64_t first_row; // of the block in its table
    const uint32_t *rows;
    size_t count;
} studio_found_t;
bool studio_scan_next(studio_scan_t *scan, studio_found_t *found);
void studio_scan_rewind(studio_scan_t *scan);
// Values of the rows found: of `count` of them from `from` on.
void studio_scan_values(studio_scan_t *scan,
                        const studio_found_t *found,
                        size_t column,
                        size_t from,
                        size_t count,
                        studio_slot_t *out);
studio_cell_t studio_scan_cell(const studio_scan_t *scan,
                               size_t table,
                               uint64_t row,
                               size_t column);

#endif // STUDIO_SERVER_DATA_QUERY_SCAN_H
