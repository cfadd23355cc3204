// SPDX-License-Identifier: Apache-2.0
// results/folder.h - the folder of a run's results.
#ifndef RESULTS_FOLDER_H
#define RESULTS_FOLDER_H

#include "world/error.h"

// Whether results may be put there: it does not exist, is empty, or holds the summary.json of an
// earlier run. SIM_ERR_EXISTS: something else is there, or scenario_file (what is to be run) lies
// in it. Touches nothing.
SIM_MUST_CHECK sim_err_t results_folder_check(const char *folder,
                                              const char *scenario_file,
                                              world_error_t *error);

// Makes it (and those it is in), removes the results of the earlier run whose summary.json it
// holds, with the captures that run's scenario.yaml names and no other file; with_captures makes
// captures/ too. SIM_ERR_IO: one of them cannot be made or written into, which is known before
// anything is simulated: the folder is bad input.
SIM_MUST_CHECK sim_err_t results_folder_prepare(const char *folder,
                                                bool with_captures,
                                                world_error_t *error);

#endif // RESULTS_FOLDER_H
