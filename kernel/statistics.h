// SPDX-License-Identifier: Apache-2.0
// kernel/statistics.h - exact percentiles of integers.
#ifndef KERNEL_STATISTICS_H
#define KERNEL_STATISTICS_H

#include "kernel/ranks.h"

SIM_C_BEGIN

// A set that keeps every value added, for exact percentiles. Up to 65536 values take 8 bytes each;
// beyond that the set keeps differences of sorted values: 1 to 3 bytes each for millions of values.
// Do not copy it by assignment.
typedef struct sim_sample_set {
    uint64_t *values; // those added since the last run was made
    size_t held;      // how many these are
    size_t capacity;
    size_t count;     // of all values added
    bool sorted;      // `values` is
    uint64_t sum_low; // of all values: the sum modulo 2^64
    uint64_t sum_high;
    struct sim_sample_run *runs;
    size_t run_count;
    size_t run_capacity;
} sim_sample_set_t;

void sim_sample_set_init(sim_sample_set_t *set);
void sim_sample_set_fini(sim_sample_set_t *set);
void sim_sample_set_add(sim_sample_set_t *set, uint64_t value);
// Adds all values of `from`, which keeps them.
void sim_sample_set_add_all(sim_sample_set_t *set, const sim_sample_set_t *from);
// Returns the percentile p = numerator / denominator in [0, 1] by nearest rank: the smallest value
// such that at least p of all values are not above it. p = 0 gives the minimum, an empty set 0.
// Sorts the set once.
uint64_t sim_sample_set_percentile(sim_sample_set_t *set, uint64_t numerator, uint64_t denominator);
double sim_sample_set_mean(const sim_sample_set_t *set);  // 0 when empty
uint64_t sim_sample_set_max(const sim_sample_set_t *set); // 0 when empty

// Carries all values of a set to rank 0, which takes them into an empty set.
void sim_sample_set_carry(sim_sample_set_t *set, sim_carry_t *carry);

SIM_C_END

#endif // KERNEL_STATISTICS_H
