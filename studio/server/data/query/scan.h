// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/scan.h - reads one table of several runs block by block, with a filter.
//
// The columns are those of all runs, followed by `run` and `run_name`. A filter is a list of
// conditions that must all hold, a range of time, and an expression. Blocks whose least and
// greatest values cannot match are not read.
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
    char *result; // result folder
    char *index;  // index folder
} studio_source_t;

typedef struct studio_sources {
    studio_source_t *sources;
    size_t count;
    size_t capacity;
} studio_sources_t;

void studio_sources_add(studio_sources_t *sources, int64_t run, const char *name,
                        const char *result, const char *index);
void studio_sources_fini(studio_sources_t *sources);

typedef struct studio_scan_column {
    const char *name;
    const char *unit;
    const char *help;
    studio_type_t type;
} studio_scan_column_t;

typedef struct studio_scan studio_scan_t;

// Opens the table in each run that has it; SIM_ERR_UNKNOWN if none has. sources must outlive the
// scan.
SIM_MUST_CHECK sim_err_t studio_scan_open(const studio_sources_t *sources, const char *table,
                                          studio_scan_t **scan, studio_place_error_t *error);
void studio_scan_close(studio_scan_t *scan); // NULL is allowed

size_t studio_scan_column_count(const studio_scan_t *scan);
const studio_scan_column_t *studio_scan_column(const studio_scan_t *scan, size_t column);
// Returns the index of a column; studio_scan_column_count if there is none of that name.
size_t studio_scan_find(const studio_scan_t *scan, const char *name);
size_t studio_scan_table_count(const studio_scan_t *scan);
// Returns the number of rows in all tables together.
uint64_t studio_scan_rows(const studio_scan_t *scan);

// Adds conditions before the first block: [{column, op, value}, {any: [...]}]; NULL: none. An error
// has the column of the expression.
SIM_MUST_CHECK sim_err_t studio_scan_filter(studio_scan_t *scan, const json_t *conditions,
                                            studio_place_error_t *error);
SIM_MUST_CHECK sim_err_t studio_scan_where(studio_scan_t *scan, const char *expression,
                                           studio_place_error_t *error);
// Limits time_ns (events, series, packets), or selects flows alive in the range. NAN: open end.
SIM_MUST_CHECK sim_err_t studio_scan_range(studio_scan_t *scan, double from_ns, double to_ns,
                                           studio_place_error_t *error);

// The matching rows of a block: their positions in it, in order. A count of 0 is the end.
typedef struct studio_found {
    size_t table;
    size_t block;
    uint64_t first_row; // number of the block's first row in its table
    const uint32_t *rows;
    size_t count;
} studio_found_t;
bool studio_scan_next(studio_scan_t *scan, studio_found_t *found);
void studio_scan_rewind(studio_scan_t *scan);
// Returns the values of `count` found rows from the index `from` on.
void studio_scan_values(studio_scan_t *scan, const studio_found_t *found, size_t column,
                        size_t from, size_t count, studio_slot_t *out);
studio_cell_t studio_scan_cell(const studio_scan_t *scan, size_t table, uint64_t row,
                               size_t column);

#endif // STUDIO_SERVER_DATA_QUERY_SCAN_H
