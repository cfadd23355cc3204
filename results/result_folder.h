// SPDX-License-Identifier: Apache-2.0
// results/result_folder.h - summaries and names of runs, for commands that read result folders.
#ifndef RESULTS_RESULT_FOLDER_H
#define RESULTS_RESULT_FOLDER_H

#include "world/error.h"

#include <jansson.h>

SIM_C_BEGIN

// Reads FOLDER/summary.json. The caller owns *summary. The message names a missing file.
SIM_MUST_CHECK sim_err_t results_result_summary(const char *folder,
                                                json_t **summary,
                                                world_error_t *error);

// Returns the name of a run: the last name in the folder's path. Free it with sim_free.
char *results_result_name(const char *folder);

// Fills names with a name for each of several runs: the last names of its path, as many as make all
// of them differ ("a/dcqcn", "b/dcqcn"), or the whole path. Free each with sim_free.
void results_result_names(const char *const *folders, size_t count, char **names);

SIM_C_END

#endif // RESULTS_RESULT_FOLDER_H
