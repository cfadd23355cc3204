// SPDX-License-Identifier: Apache-2.0
// results/folder.h - the folder of a run's results.
#ifndef RESULTS_FOLDER_H
#define RESULTS_FOLDER_H

#include "world/error.h"

SIM_C_BEGIN

// Checks that results may be put there: the folder does not exist, is empty, or holds the
// summary.json of an earlier run or the remains of a killed one. SIM_ERR_EXISTS: something else is
// there, or scenario_file, which is to be run, lies in it. Passes a folder that another run has
// locked, since that run may be moving its files. Changes nothing.
SIM_MUST_CHECK sim_err_t results_folder_check(const char *folder, const char *scenario_file,
                                              world_error_t *error);

// Makes the folder with its parents. SIM_ERR_IO: that fails, or files cannot be made in it.
SIM_MUST_CHECK sim_err_t results_folder_make(const char *folder, world_error_t *error);

SIM_C_END

#endif // RESULTS_FOLDER_H
