// SPDX-License-Identifier: Apache-2.0
// cli/file.h - output files whose errors are never lost.
//
// The first error sticks, later writes are left out, and closing reports it with the file's name.
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include "cli/error.h"

typedef struct cli_file cli_file_t;

// Creates or truncates. On success *file is the caller's until cli_file_close.
SIM_MUST_CHECK sim_err_t cli_file_open(const char *path, cli_file_t **file, cli_error_t *error);
void cli_file_print(cli_file_t *file, const char *format, ...) SIM_PRINTF(2, 3);
void cli_file_put(cli_file_t *file, const char *text);
void cli_file_put_u64(cli_file_t *file, uint64_t value);
// Nanoseconds, exactly: three decimals where they are not zero.
void cli_file_put_ns(cli_file_t *file, sim_time_t time_ps);
// A cell of a CSV file: quoted where it must be (RFC 4180).
void cli_file_put_csv(cli_file_t *file, const char *text);
// Writes what is left and frees. SIM_ERR_IO with "PATH: cannot write: reason" if anything failed.
SIM_MUST_CHECK sim_err_t cli_file_close(cli_file_t *file, cli_error_t *error);

#endif // CLI_FILE_H
