// SPDX-License-Identifier: Apache-2.0
// cli/diff/diff.h - `rocesim diff`: what differs between two result folders, and from when on.
#ifndef CLI_DIFF_DIFF_H
#define CLI_DIFF_DIFF_H

#include "cli/diff/events.h"

// Prints parameters and numbers that differ, the flows whose completion time moved most, and the
// first row in which events.csv or series.csv differ; the first event that does, where parameters
// agree and digests do not; where all that agrees, the first row of another csv file that differs.
// Files that only one folder has, or that cannot be read, are told as differences. *same: nothing
// but wall_ values differs.
SIM_MUST_CHECK sim_err_t cli_diff(const cli_diff_side_t *a,
                                  const cli_diff_side_t *b,
                                  FILE *out,
                                  bool *same,
                                  world_error_t *error);

#endif // CLI_DIFF_DIFF_H
