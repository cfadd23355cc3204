// SPDX-License-Identifier: Apache-2.0
// results/file.h - output files whose errors are never lost.
//
// After the first error nothing more is written, and closing reports that error with the file's
// name.
#ifndef RESULTS_FILE_H
#define RESULTS_FILE_H

#include "world/error.h"

SIM_C_BEGIN

typedef struct results_file results_file_t;

// Creates or truncates a file. On success *file is the caller's until results_file_close.
SIM_MUST_CHECK sim_err_t results_file_open(const char *path, results_file_t **file,
                                           world_error_t *error);
// Makes a file of an open descriptor, which is closed with the file. Messages use `name`.
results_file_t *results_file_on(int descriptor, const char *name);
void results_file_print(results_file_t *file, const char *format, ...) SIM_PRINTF(2, 3);
void results_file_put(results_file_t *file, const char *text);
void results_file_put_char(results_file_t *file, char one);
void results_file_put_u64(results_file_t *file, uint64_t value);
// Writes value / 10^decimals with all its decimals, of which there are at most 9.
void results_file_put_decimal(results_file_t *file, uint64_t value, unsigned decimals);
// Writes a time as exact nanoseconds, with three decimals where they are not zero.
void results_file_put_ns(results_file_t *file, sim_time_t time_ps);
// Writes a cell of a CSV file, quoted where RFC 4180 asks for it.
void results_file_put_csv(results_file_t *file, const char *text);
// Writes what is buffered, closes and frees. SIM_ERR_IO with "PATH: cannot write: reason" if any
// write failed.
SIM_MUST_CHECK sim_err_t results_file_close(results_file_t *file, world_error_t *error);
// Writes FOLDER/NAME: opens it, calls put, and closes it.
typedef void (*results_put_fn)(results_file_t *file, const void *what);
SIM_MUST_CHECK sim_err_t results_file_write(const char *folder, const char *name,
                                            results_put_fn put, const void *what,
                                            world_error_t *error);

SIM_C_END

#endif // RESULTS_FILE_H
