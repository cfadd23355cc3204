// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/values.h - the numbers of runs' summaries, as columns of the list of runs.
//
// They are stored when a run ends, so that thousands of runs are listed and sorted by any of them
// without reading a file.
#ifndef STUDIO_SERVER_RUNS_VALUES_H
#define STUDIO_SERVER_RUNS_VALUES_H

#include "studio/server/http/route.h"

#define STUDIO_VALUE_COLUMNS_MAX 32u // in one list

// Stores the numbers of result/summary.json in the folder, if there is one. Returns false if the
// database cannot be written.
bool studio_values_keep(studio_t *studio, int64_t run, const char *folder);
// Stores those of the first run behind `after` that has none, as runs of earlier versions have.
// Returns its number; 0 if there is none.
int64_t studio_values_fill(studio_t *studio, int64_t after);

// Adds {values: {name: number}} of the named columns to each run of the list.
void studio_values_add(studio_t *studio, json_t *runs, const json_t *columns);
// Returns the columns that runs of a group have (0: all that the user may see), with the number of
// runs, the smallest and the largest value: [{name, runs, min, max}].
json_t *studio_values_columns(studio_t *studio, const studio_user_t *user, int64_t group);

#endif // STUDIO_SERVER_RUNS_VALUES_H
