// SPDX-License-Identifier: Apache-2.0
// cli/csv.h - reads the CSV files of a run back, row by row, a few columns by name.
//
// RFC 4180 as cli/file.h writes it: a header row, LF or CRLF, quotes where needed; no line breaks
// within quotes. Memory is that of one row.
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include "cli/error.h"

#define CLI_CSV_COLUMNS_MAX 16u

typedef struct cli_csv cli_csv_t;

// Opens a file and finds the columns in its header. names must outlive it. SIM_ERR_IO: cannot be
// read; SIM_ERR_INVALID: a column is missing.
SIM_MUST_CHECK sim_err_t cli_csv_open(const char *path,
                                      const char *const *names,
                                      size_t name_count,
                                      cli_csv_t **csv,
                                      cli_error_t *error);
// The next row; *end without one. Cells are valid until the next call.
SIM_MUST_CHECK sim_err_t cli_csv_next(cli_csv_t *csv, bool *end, cli_error_t *error);
void cli_csv_close(cli_csv_t *csv);

// Cell of the column names[index].
const char *cli_csv_text(const cli_csv_t *csv, size_t index);
// The same as a decimal number times `one` (a power of ten up to 10^6), exactly. Further digits are
// an error, as is what is no number.
SIM_MUST_CHECK sim_err_t cli_csv_number(const cli_csv_t *csv,
                                        size_t index,
                                        uint64_t one,
                                        uint64_t *value,
                                        cli_error_t *error);

// The same of a time in nanoseconds, as ps: not before *before_ps, which becomes it, and less than
// 2^62 ps (53 days).
SIM_MUST_CHECK sim_err_t cli_csv_time(const cli_csv_t *csv,
                                      size_t index,
                                      sim_time_t *before_ps,
                                      cli_error_t *error);

#endif // CLI_CSV_H
