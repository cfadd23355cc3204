// SPDX-License-Identifier: Apache-2.0
// cli/sweep/points.h - the points of a sweep: every variant with every combination of the grid.
#ifndef CLI_SWEEP_POINTS_H
#define CLI_SWEEP_POINTS_H

#include "cli/sweep/sweep.h"

// Makes the points, and keeps the settings of the command line that are none of their parameters.
SIM_MUST_CHECK sim_err_t cli_sweep_make_points(cli_sweep_t *sweep, const cli_args_t *args,
                                               const world_tree_t *root, world_error_t *error);
void cli_sweep_point_fini(cli_sweep_point_t *point, size_t parameter_count);
// Returns the value of a key of the file: that of its short form, if this form is wanted.
const world_tree_t *cli_sweep_value(const cli_sweep_t *sweep, const world_tree_t *root,
                                    const char *key);
// Returns "PATH=VALUE", freed with sim_free, or NULL with an error.
char *cli_sweep_setting(const world_tree_entry_t *entry, world_error_t *error);
// Fails: the sweep has more runs than CLI_SWEEP_RUNS_MAX.
sim_err_t cli_sweep_too_many(const world_tree_t *tree, world_error_t *error);

#endif // CLI_SWEEP_POINTS_H
