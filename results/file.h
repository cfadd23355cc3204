// SPDX-License-Identifier: Apache-2.0
// results/file.h - output files whose errors are never lost.
//
// The first error sticks, later writes are left out, and closing reports it with the file's name.
#ifndef RESULTS_FILE_H
#define RESULTS_FILE_H

#include "world/error.h"

SIM_C_BEGIN

typedef struct results_file results_file_t;

// Creates or truncates. On success *file is the caller's until results_file_close.
SIM_MUST_CHECK sim_err_t results_file_open(const char *path,
                                           results_file_t **file,
                                           world_error_t *error);
// On a descriptor that is open, which closes with the file; name is for messages.
results_file_t *results_file_on(int descriptor, const char *name);
void results_file_print(results_file_t *file, const char *format, ...) SIM_PRINTF(2, 3);
void results_file_put(results_file_t *file, const char *text);
void results_file_put_char(results_file_t *file, char one);
void results_file_put_u64(results_file_t *file, uint64_t value);
// Nanoseconds, exactly: three decimals where they are not zero.
void results_file_put_ns(results_file_t *file, sim_time_t time_ps);
// A cell of a CSV file: quoted where it must be (RFC 4180).
void results_file_put_csv(results_file_t *file, const char *text);
// Writes what is left and frees. SIM_ERR_IO with "PATH: cannot write: reason" if anything failed.
SIM_MUST_CHECK sim_err_t results_file_close(results_file_t *file, world_error_t *error);
// FOLDER/NAME from its opening to its closing: all that put writes of it.
typedef void (*results_put_fn)(results_file_t *file, const void *what);
SIM_MUST_CHECK sim_err_t results_file_write(const char *folder,
                                            const char *name,
                                            results_put_fn put,
                                            const void *what,
                                            world_error_t *error);

SIM_C_END

#endif // RESULTS_FILE_H
