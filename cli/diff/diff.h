// SPDX-License-Identifier: Apache-2.0
// cli/diff/diff.h - `rocesim diff`: prints what differs between two result folders, and from when.
#ifndef CLI_DIFF_DIFF_H
#define CLI_DIFF_DIFF_H

#include "cli/diff/events.h"

// Prints the parameters and numbers that differ, the flows whose completion time moved most, and
// the first row in which events.csv or series.csv differ. If the parameters agree and the digests
// do not, it prints the first event that differs. If all that agrees, it prints the first differing
// row of another CSV file. A file that only one folder has, or that cannot be read, is a
// difference. Sets *same if only wall_ values differ.
SIM_MUST_CHECK sim_err_t cli_diff(const cli_diff_side_t *a, const cli_diff_side_t *b, FILE *out,
                                  bool *same, world_error_t *error);

#endif // CLI_DIFF_DIFF_H
