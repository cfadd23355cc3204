// SPDX-License-Identifier: Apache-2.0
// cli/compare/compare.h - `rocesim compare`: results of many runs as one table, for people or as
// CSV. What it prints is made by results/comparison.h.
#ifndef CLI_COMPARE_COMPARE_H
#define CLI_COMPARE_COMPARE_H

#include "results/comparison.h"

#include <stdio.h>

#define CLI_COMPARE_COLUMNS_MAX 16u // of the table for people

typedef results_comparison_options_t cli_compare_options_t;

// SIM_ERR_INVALID: a folder holds no results, no such traffic; SIM_ERR_RANGE: too many columns.
SIM_MUST_CHECK sim_err_t cli_compare(const char *const *folders,
                                     size_t count,
                                     const cli_compare_options_t *options,
                                     FILE *out,
                                     world_error_t *error);

#endif // CLI_COMPARE_COMPARE_H
