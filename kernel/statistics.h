// SPDX-License-Identifier: Apache-2.0
// kernel/statistics.h - exact percentiles of integers.
#ifndef KERNEL_STATISTICS_H
#define KERNEL_STATISTICS_H

#include "kernel/base.h"

SIM_C_BEGIN

// Keeps every value added; percentiles are exact (nearest rank: the smallest value such that at
// least p of all values are not above it). 8 bytes per value up to 65536 of them; of more, the
// differences of sorted values: 1 to 3 bytes each where there are millions. Not to be copied by
// assignment.
typedef struct sim_sample_set {
    uint64_t *values; // added since the last run was made
    size_t held;      // of them
    size_t capacity;
    size_t count; // of all values
    bool sorted;  // values
    uint64_t sum_low;
    uint64_t sum_high;
    struct sim_sample_run *runs;
    size_t run_count;
    size_t run_capacity;
} sim_sample_set_t;

void sim_sample_set_init(sim_sample_set_t *set);
void sim_sample_set_fini(sim_sample_set_t *set);
void sim_sample_set_add(sim_sample_set_t *set, uint64_t value);
// Adds all values of another set.
void sim_sample_set_add_all(sim_sample_set_t *set, const sim_sample_set_t *from);
// numerator/denominator in [0, 1]; 0 gives the minimum. An empty set gives 0. Sorts once.
uint64_t sim_sample_set_percentile(sim_sample_set_t *set, uint64_t numerator, uint64_t denominator);
double sim_sample_set_mean(const sim_sample_set_t *set);  // 0 when empty
uint64_t sim_sample_set_max(const sim_sample_set_t *set); // 0 when empty

SIM_C_END

#endif // KERNEL_STATISTICS_H
