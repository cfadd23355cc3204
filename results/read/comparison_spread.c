// SPDX-License-Identifier: Apache-2.0
// results/read/comparison_spread.c - mean and spread over seeds, and whether two columns differ.
//
// Student's t for few runs: the 95 % interval of a mean of n values is +- t(n - 1) s / sqrt(n). Two
// columns are compared seed by seed, since the same seed draws the same traffic for both: what the
// draws have in common falls out of the differences.
#include "results/comparison.h"
#include "results/spread.h"

#include <math.h>

// 97.5 % points of Student's distribution with 1 to 30 degrees of freedom.
static const double t_points[] = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
};

static double t_point(size_t freedom)
{
    SIM_CHECK(freedom > 0);
    // Above 30 within 0.002 of the distribution's.
    return freedom <= SIM_COUNT_OF(t_points) ? t_points[freedom - 1] : 1.96 + 2.4 / (double)freedom;
}

results_spread_t results_spread(const double *values, size_t count)
{
    results_spread_t spread = {.count = count, .half = (double)INFINITY};
    for (size_t i = 0; i < count; i++) {
        spread.mean += values[i] / (double)count;
    }
    if (count < 2) {
        return spread;
    }
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += (values[i] - spread.mean) * (values[i] - spread.mean);
    }
    spread.deviation = sqrt(squares / (double)(count - 1));
    spread.half = t_point(count - 1) * spread.deviation / sqrt((double)count);
    return spread;
}

bool results_spread_is_not_zero(const results_spread_t *spread)
{
    return spread->count > 1 && fabs(spread->mean) > spread->half;
}

results_spread_t results_comparison_spread(const results_comparison_table_t *table,
                                           const results_comparison_row_t *row, size_t column)
{
    const results_comparison_column_t *const runs = &table->columns[column];
    double *const values = sim_alloc_array(runs->count + 1, sizeof(*values));
    size_t count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const double value = row->values[runs->runs[i]];
        if (!isnan(value)) {
            values[count++] = value;
        }
    }
    const results_spread_t spread = results_spread(values, count);
    sim_free(values);
    return spread;
}

// Returns the value of the column's run with the same seeds; NAN if there is none.
static double value_of_seed(const results_comparison_table_t *table,
                            const results_comparison_row_t *row, size_t column,
                            const results_comparison_run_t *like)
{
    const results_comparison_column_t *const runs = &table->columns[column];
    for (size_t i = 0; i < runs->count; i++) {
        const results_comparison_run_t *const run = &table->runs[runs->runs[i]];
        if (run->seed == like->seed && run->tie_seed == like->tie_seed) {
            return row->values[runs->runs[i]];
        }
    }
    return RESULTS_COMPARISON_NONE;
}

results_spread_t results_comparison_difference(const results_comparison_table_t *table,
                                               const results_comparison_row_t *row, size_t column,
                                               size_t base)
{
    const results_comparison_column_t *const runs = &table->columns[column];
    double *const differences = sim_alloc_array(runs->count + 1, sizeof(*differences));
    size_t count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const results_comparison_run_t *const run = &table->runs[runs->runs[i]];
        const double difference = row->values[runs->runs[i]] - value_of_seed(table, row, base, run);
        if (!isnan(difference)) {
            differences[count++] = difference;
        }
    }
    const results_spread_t spread = results_spread(differences, count);
    sim_free(differences);
    return spread;
}
