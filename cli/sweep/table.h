// SPDX-License-Identifier: Apache-2.0
// cli/sweep/table.h - writes the tables of a sweep.
#ifndef CLI_SWEEP_TABLE_H
#define CLI_SWEEP_TABLE_H

#include "cli/sweep/sweep.h"

// Writes DIR/runs.csv and DIR/points.csv, and names empty columns on stderr.
SIM_MUST_CHECK sim_err_t cli_sweep_write(const cli_sweep_t *sweep, world_error_t *error);

#endif // CLI_SWEEP_TABLE_H
