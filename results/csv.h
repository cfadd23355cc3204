// SPDX-License-Identifier: Apache-2.0
// results/csv.h - reads the CSV files of a run back, row by row, a few columns by name.
//
// The format is RFC 4180 as results/file.h writes it: a header row, LF or CRLF at the end of each
// row, quotes where needed, no line breaks within quotes. Only one row is in memory.
#ifndef RESULTS_CSV_H
#define RESULTS_CSV_H

#include "world/error.h"

SIM_C_BEGIN

#define RESULTS_CSV_COLUMNS_MAX 32u

// A cell without its quotes. No zero byte ends it, but text[size] may be written.
typedef struct results_csv_cell {
    char *text;
    size_t size;
} results_csv_cell_t;
// Splits a row without its line end into cells, and takes quotes off in place. row[size] must be
// writable. Returns the number of cells; most + 1 if there are more, or if quotes do not end. All
// that read CSV files split their rows by it.
size_t results_csv_split(char *row, size_t size, results_csv_cell_t *cells, size_t most);

typedef struct results_csv results_csv_t;

// Opens a file and finds the columns in its header. names must outlive it. SIM_ERR_IO: cannot be
// read; SIM_ERR_INVALID: a column is missing, or the file is cut in its header. A name that begins
// with "?" may be missing; its cells are empty then.
SIM_MUST_CHECK sim_err_t results_csv_open(const char *path, const char *const *names,
                                          size_t name_count, results_csv_t **csv,
                                          world_error_t *error);
// Reads the next row; *end becomes true where there is none. Cells are valid until the next call.
SIM_MUST_CHECK sim_err_t results_csv_next(results_csv_t *csv, bool *end, world_error_t *error);
void results_csv_close(results_csv_t *csv);

// Takes a row. An error ends the reading.
typedef sim_err_t (*results_csv_row_fn)(const results_csv_t *csv, void *ctx, world_error_t *error);
// Hands the rows of FOLDER/file to fn. A file that cannot be opened has no rows.
SIM_MUST_CHECK sim_err_t results_csv_rows(const char *folder, const char *file,
                                          const char *const *names, size_t name_count,
                                          results_csv_row_fn fn, void *ctx, world_error_t *error);

// Returns the row's cell in the column names[index].
const char *results_csv_text(const results_csv_t *csv, size_t index);
// Reads the cell as a decimal number times `one` (a power of ten up to 10^6), exactly. A cell that
// is no number or has more digits is an error.
SIM_MUST_CHECK sim_err_t results_csv_number(const results_csv_t *csv, size_t index, uint64_t one,
                                            uint64_t *value, world_error_t *error);

// Reads the cell as a time in nanoseconds and stores it as ps in *before_ps. It must not be before
// *before_ps and must be below 2^62 ps (53 days).
SIM_MUST_CHECK sim_err_t results_csv_time(const results_csv_t *csv, size_t index,
                                          sim_time_t *before_ps, world_error_t *error);

SIM_C_END

#endif // RESULTS_CSV_H
