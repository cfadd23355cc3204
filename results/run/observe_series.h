// SPDX-License-Identifier: Apache-2.0
// results/run/observe_series.h - series.csv: the metrics that `observe` asks for, sampled or on
// change.
#ifndef RESULTS_RUN_OBSERVE_SERIES_H
#define RESULTS_RUN_OBSERVE_SERIES_H

#include "kernel/buffer.h"
#include "results/results.h"

SIM_C_BEGIN

typedef struct results_series_writer results_series_writer_t;

// Opens FOLDER/series.csv and attaches to the world, before its run. *writer is NULL where the
// scenario has no series; also on failure.
SIM_MUST_CHECK sim_err_t results_series_writer_create(const world_t *world, const char *folder,
                                                      results_series_writer_t **writer,
                                                      world_error_t *error);

// Completes, closes and frees the file after the run, or instead of it with results NULL. results
// gets the numbers of rows and a note for each series without any.
SIM_MUST_CHECK sim_err_t results_series_writer_close(results_series_writer_t *writer,
                                                     results_t *results, world_error_t *error);

// Append what this rank observed (kernel/ranks.h); take what another rank left.
void results__series_leave(const results_series_writer_t *writer, sim_buffer_t *bytes);
void results__series_take(results_series_writer_t *writer, sim_reader_t *bytes);

SIM_C_END

#endif // RESULTS_RUN_OBSERVE_SERIES_H
