// SPDX-License-Identifier: Apache-2.0
// cli/observe_series.h - series.csv: what `observe` asks for, sampled or on change.
#ifndef CLI_OBSERVE_SERIES_H
#define CLI_OBSERVE_SERIES_H

#include "cli/results.h"

typedef struct cli_series_writer cli_series_writer_t;

// Opens FOLDER/series.csv and attaches to the world, before its run. *writer is NULL where the
// scenario has no series; also on failure.
SIM_MUST_CHECK sim_err_t cli_series_writer_create(const cli_world_t *world,
                                                  const char *folder,
                                                  cli_series_writer_t **writer,
                                                  cli_error_t *error);

// After the run (or instead of it): completes and closes the file, frees.
SIM_MUST_CHECK sim_err_t cli_series_writer_close(cli_series_writer_t *writer,
                                                 uint64_t *rows,
                                                 uint64_t *rows_left_out,
                                                 cli_error_t *error);

#endif // CLI_OBSERVE_SERIES_H
