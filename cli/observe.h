// SPDX-License-Identifier: Apache-2.0
// cli/observe.h - what is written down while a simulation runs: series.csv, events.csv, captures.
//
// Observers listen and sample; they change no result and no digest.
#ifndef CLI_OBSERVE_H
#define CLI_OBSERVE_H

#include "cli/results.h"

typedef struct cli_observers cli_observers_t;

// Opens the files in folder (which has a folder captures/ where the scenario has captures) and
// attaches to the world, before its run. folder NULL: no files, only what the summary tells.
SIM_MUST_CHECK sim_err_t cli_observers_create(const cli_world_t *world,
                                              const char *folder,
                                              cli_observers_t **observers,
                                              cli_error_t *error);

// After the run: completes and closes the files, fills the counts of rows and frames in results,
// and where pauses began.
// Frees also on failure; the message is that of the first file that is not whole.
SIM_MUST_CHECK sim_err_t cli_observers_close(cli_observers_t *observers,
                                             cli_results_t *results,
                                             cli_error_t *error);

#endif // CLI_OBSERVE_H
