// SPDX-License-Identifier: Apache-2.0
// cli/sweep/direct.h - a sweep of a scenario without a sweep file: the command line has its grid.
#ifndef CLI_SWEEP_DIRECT_H
#define CLI_SWEEP_DIRECT_H

#include "cli/sweep/sweep.h"

// Returns whether the tree of a file is a scenario and no sweep.
bool cli_sweep_is_scenario(const world_tree_t *root);

// Makes the tree of a sweep in the place of the scenario's: each --set with several values is a
// parameter of its grid. The tree belongs to the sweep's document. Refuses a single run.
SIM_MUST_CHECK sim_err_t cli_sweep_of_scenario(const cli_sweep_t *sweep, const cli_args_t *args,
                                               world_tree_t **root, world_error_t *error);

#endif // CLI_SWEEP_DIRECT_H
