// SPDX-License-Identifier: Apache-2.0
// results/result_folder.h - summaries and names of runs, for commands that read result folders.
#ifndef RESULTS_RESULT_FOLDER_H
#define RESULTS_RESULT_FOLDER_H

#include "world/error.h"

#include <jansson.h>
#include <stdbool.h>

SIM_C_BEGIN

// Reads FOLDER/summary.json. The caller owns *summary. The message names a missing file.
SIM_MUST_CHECK sim_err_t results_result_summary(const char *folder, json_t **summary,
                                                world_error_t *error);

// Returns the name of a run: the last name in the folder's path. Free it with sim_free.
char *results_result_name(const char *folder);

// Fills names with a name for each of several runs: the last names of its path, as many as make all
// of them differ ("a/dcqcn", "b/dcqcn"), or the whole path. Free each with sim_free.
void results_result_names(const char *const *folders, size_t count, char **names);

// Returns whether a folder holds a sweep (docs/formats/sweep.md) and not one run.
bool results_result_is_sweep(const char *folder);

// Lists folders of runs: each of `folders`, or, where one holds a sweep, those of its runs that
// have results, in the order of runs.csv. SIM_ERR_IO or SIM_ERR_INVALID: a folder does not exist,
// or a runs.csv cannot be read. Free each of *runs and *runs itself with sim_free, also on error.
SIM_MUST_CHECK sim_err_t results_result_runs(const char *const *folders, size_t count, char ***runs,
                                             size_t *run_count, world_error_t *error);

SIM_C_END

#endif // RESULTS_RESULT_FOLDER_H
