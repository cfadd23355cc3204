// SPDX-License-Identifier: Apache-2.0
// cli/sweep/columns.h - checks the columns, and refuses duplicates.
#ifndef CLI_SWEEP_COLUMNS_H
#define CLI_SWEEP_COLUMNS_H

#include "cli/sweep/sweep.h"

// Fails at the first column of the list (scalars) that is neither a number of summary.json nor one
// that comparisons print. summary: of a run that has just begun; NULL: none.
SIM_MUST_CHECK sim_err_t cli_sweep_check_columns(const world_tree_t *list, const json_t *summary,
                                                 world_error_t *error);
// Builds the scenario and returns the summary that a run of it has before its first event; NULL
// with a message if it cannot be built. Free it with json_decref.
json_t *cli_sweep_begun_summary(const world_scenario_t *scenario, world_error_t *error);
// Fails if the file (root) has a point, seed or column twice, or a parameter that is the seed.
SIM_MUST_CHECK sim_err_t cli_sweep_check_twins(const cli_sweep_t *sweep, const world_tree_t *root,
                                               world_error_t *error);
// Prints a line for each column that has no number in any run, with the names that exist.
void cli_sweep_tell_columns(const cli_sweep_t *sweep, FILE *out);

#endif // CLI_SWEEP_COLUMNS_H
