// SPDX-License-Identifier: Apache-2.0
// results/run/folder_internal.h - what folder.c does for stage.c.
#ifndef RESULTS_RUN_FOLDER_INTERNAL_H
#define RESULTS_RUN_FOLDER_INTERNAL_H

#include "world/error.h"

// A file or folder that runs leave in theirs.
bool results__folder_is_result(const char *name);
// Does what results_folder_check does, also where the folder has a lock.
sim_err_t results__folder_check_content(const char *folder, const char *scenario_file,
                                        world_error_t *error);
sim_err_t results__folder_make(const char *path, world_error_t *error);
sim_err_t results__folder_check_writable(const char *folder, world_error_t *error);
// Removes the results of the earlier run that FOLDER holds, summary.json first, with the captures
// that run's scenario.yaml names and no other file.
sim_err_t results__folder_remove_results(const char *folder, world_error_t *error);

#endif // RESULTS_RUN_FOLDER_INTERNAL_H
