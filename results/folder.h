// SPDX-License-Identifier: Apache-2.0
// results/folder.h - the folder of a run's results.
#ifndef RESULTS_FOLDER_H
#define RESULTS_FOLDER_H

#include "world/error.h"

SIM_C_BEGIN

// Whether results may be put there: it does not exist, is empty, or holds the summary.json of an
// earlier run, or what one that was killed left. SIM_ERR_EXISTS: something else is there, or
// scenario_file (what is to be run) lies in it. Touches nothing.
SIM_MUST_CHECK sim_err_t results_folder_check(const char *folder,
                                              const char *scenario_file,
                                              world_error_t *error);

SIM_C_END

#endif // RESULTS_FOLDER_H
