// SPDX-License-Identifier: Apache-2.0
// results/spread.h - the spread of a comparison's values over seeds.
#ifndef RESULTS_SPREAD_H
#define RESULTS_SPREAD_H

#include "results/comparison.h"

SIM_C_BEGIN

// The spread of a column's values, or of their differences to another column's runs of equal seeds.
typedef struct results_spread {
    size_t count;
    double mean;
    double deviation; // standard deviation of one value (n - 1); 0 of less than two
    double half;      // of the 95 % interval of the mean (Student's t); INFINITY of less than two
} results_spread_t;

results_spread_t results_spread(const double *values, size_t count);
results_spread_t results_comparison_spread(const results_comparison_table_t *table,
                                           const results_comparison_row_t *row, size_t column);
// Returns the spread of the differences to column `base`. Pairs runs by their seeds: runs of one
// seed have the same traffic.
results_spread_t results_comparison_difference(const results_comparison_table_t *table,
                                               const results_comparison_row_t *row, size_t column,
                                               size_t base);
// Returns whether the 95 % interval excludes 0.
bool results_spread_is_not_zero(const results_spread_t *spread);

SIM_C_END

#endif // RESULTS_SPREAD_H
