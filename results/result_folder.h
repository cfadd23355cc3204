// SPDX-License-Identifier: Apache-2.0
// results/result_folder.h - what commands that read result folders share: summaries and names of
// runs.
#ifndef RESULTS_RESULT_FOLDER_H
#define RESULTS_RESULT_FOLDER_H

#include "world/error.h"

#include <jansson.h>

SIM_C_BEGIN

// FOLDER/summary.json; the caller owns *summary. The message says where there is none.
SIM_MUST_CHECK sim_err_t results_result_summary(const char *folder,
                                                json_t **summary,
                                                world_error_t *error);

// What people call the run: the last name in the folder's path. Free with sim_free.
char *results_result_name(const char *folder);

// The same for several runs, with as many of the names before it as make them differ
// ("a/dcqcn", "b/dcqcn"); the folders as they are where nothing does. Free each with sim_free.
void results_result_names(const char *const *folders, size_t count, char **names);

SIM_C_END

#endif // RESULTS_RESULT_FOLDER_H
