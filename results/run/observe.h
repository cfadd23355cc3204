// SPDX-License-Identifier: Apache-2.0
// results/run/observe.h - the files that are written while a simulation runs: series.csv,
// events.csv and captures.
//
// Observers listen and sample; they change no result and no digest.
#ifndef RESULTS_RUN_OBSERVE_H
#define RESULTS_RUN_OBSERVE_H

#include "kernel/buffer.h"
#include "results/results.h"

SIM_C_BEGIN

typedef struct results_observers results_observers_t;

// Opens the files in folder (which has a folder captures/ where the scenario has captures) and
// attaches to the world, before its run. folder NULL: no files, only the values of the summary.
SIM_MUST_CHECK sim_err_t results_observers_create(const world_t *world, const char *folder,
                                                  results_observers_t **observers,
                                                  world_error_t *error);

// Completes and closes the files after the run. Fills in results the counts of rows and frames and
// the roots of pauses. Frees the observers also on failure, whose message is that of the first
// incomplete file.
SIM_MUST_CHECK sim_err_t results_observers_close(results_observers_t *observers, results_t *results,
                                                 world_error_t *error);

// Append what this rank observed (kernel/ranks.h); take what another rank left.
void results__observers_leave(const results_observers_t *observers, sim_buffer_t *bytes);
void results__observers_take(results_observers_t *observers, sim_reader_t *bytes);

SIM_C_END

#endif // RESULTS_RUN_OBSERVE_H
