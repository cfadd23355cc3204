// SPDX-License-Identifier: Apache-2.0
// results/observe.h - what is written down while a simulation runs: series.csv, events.csv,
// captures.
//
// Observers listen and sample; they change no result and no digest.
#ifndef RESULTS_OBSERVE_H
#define RESULTS_OBSERVE_H

#include "results/results.h"

SIM_C_BEGIN

typedef struct results_observers results_observers_t;

// Opens the files in folder (which has a folder captures/ where the scenario has captures) and
// attaches to the world, before its run. folder NULL: no files, only what the summary tells.
SIM_MUST_CHECK sim_err_t results_observers_create(const world_t *world,
                                                  const char *folder,
                                                  results_observers_t **observers,
                                                  world_error_t *error);

// After the run: completes and closes the files, fills the counts of rows and frames in results,
// and where pauses began.
// Frees also on failure; the message is that of the first file that is not whole.
SIM_MUST_CHECK sim_err_t results_observers_close(results_observers_t *observers,
                                                 results_t *results,
                                                 world_error_t *error);

SIM_C_END

#endif // RESULTS_OBSERVE_H
