// SPDX-License-Identifier: Apache-2.0
// kernel/statistics.c - exact percentiles and means of integers.
//
// Sums are integers of 128 bits and turned into a double once, so that a mean does not depend on
// the order in which values came.
#include "kernel/statistics.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 u128;

void sim_sample_set_init(sim_sample_set_t *set)
{
    *set = (sim_sample_set_t){.sorted = true};
}

void sim_sample_set_fini(sim_sample_set_t *set)
{
    sim_free(set->values);
    sim_sample_set_init(set);
}

void sim_sample_set_add(sim_sample_set_t *set, uint64_t value)
{
    if (set->count == set->capacity) {
        SIM_GROW(set->values, set->count, &set->capacity);
    }
    // Values that come in order need no sorting.
    set->sorted = set->count == 0 || (set->sorted && set->values[set->count - 1] <= value);
    set->values[set->count++] = value;
}

static int compare_values(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

uint64_t sim_sample_set_percentile(sim_sample_set_t *set, uint64_t numerator, uint64_t denominator)
{
    SIM_CHECKF(denominator > 0 && numerator <= denominator,
               "percentile %" PRIu64 "/%" PRIu64,
               numerator,
               denominator);
    if (set->count == 0) {
        return 0;
    }
    if (!set->sorted) {
        qsort(set->values, set->count, sizeof(*set->values), compare_values);
        set->sorted = true;
    }
    // Nearest rank: the least rank, from 1, that is at least p times the count.
    const u128 scaled = (u128)numerator * set->count;
    const size_t rank = (size_t)(scaled / denominator) + (scaled % denominator != 0 ? 1U : 0U);
    SIM_CHECK(rank <= set->count);
    return set->values[rank == 0 ? 0 : rank - 1];
}

double sim_sample_set_mean(const sim_sample_set_t *set)
{
    if (set->count == 0) {
        return 0.0;
    }
    u128 sum = 0;
    for (size_t i = 0; i < set->count; ++i) {
        sum += set->values[i];
    }
    return (double)sum / (double)set->count;
}

uint64_t sim_sample_set_max(sim_sample_set_t *set)
{
    if (set->sorted) {
        return set->count == 0 ? 0 : set->values[set->count - 1];
    }
    uint64_t max = 0;
    for (size_t i = 0; i < set->count; ++i) {
        max = set->values[i] > max ? set->values[i] : max;
    }
    return max;
}
