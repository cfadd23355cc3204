// SPDX-License-Identifier: Apache-2.0
// cli/compare/compare.h - `rocesim compare`: prints the results of many runs as one table, for
// people or as CSV. results/comparison.h computes the table.
#ifndef CLI_COMPARE_COMPARE_H
#define CLI_COMPARE_COMPARE_H

#include "results/comparison.h"

#include <stdio.h>

#define CLI_COMPARE_COLUMNS_MAX 16u // of the table for people

typedef results_comparison_options_t cli_compare_options_t;

// Returns SIM_ERR_INVALID if a folder holds no results or no run has such traffic, SIM_ERR_RANGE if
// the table would have more than CLI_COMPARE_COLUMNS_MAX columns.
SIM_MUST_CHECK sim_err_t cli_compare(const char *const *folders, size_t count,
                                     const cli_compare_options_t *options, FILE *out,
                                     world_error_t *error);

#endif // CLI_COMPARE_COMPARE_H
