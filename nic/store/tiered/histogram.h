// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/histogram.h - a distribution of times in a fixed amount of memory.
//
// Values fall into buckets 1/256 of their size wide: percentiles are exact to 0.4 %, count, sum and
// extremes exact. Adding costs O(1).
#ifndef NIC_STORE_TIERED_HISTOGRAM_H
#define NIC_STORE_TIERED_HISTOGRAM_H

#include "kernel/report.h"

SIM_C_BEGIN

#define NIC_HISTOGRAM_BITS 8u
#define NIC_HISTOGRAM_BUCKETS ((64u - NIC_HISTOGRAM_BITS + 1u) << NIC_HISTOGRAM_BITS)

typedef struct nic_histogram {
    uint64_t *counts; // NULL before the first value
    uint64_t count;
    uint64_t sum;
    uint64_t least;
    uint64_t most;
} nic_histogram_t;

void nic_histogram_add(nic_histogram_t *histogram, uint64_t value);
void nic_histogram_clear(nic_histogram_t *histogram);
void nic_histogram_fini(nic_histogram_t *histogram);
// Returns the percentile numerator/denominator with the precision of a bucket, or 0 without values.
uint64_t nic_histogram_percentile(const nic_histogram_t *histogram, uint64_t numerator,
                                  uint64_t denominator);
// Returns the usual percentiles in units of `one`.
sim_percentiles_t nic_histogram_percentiles(const nic_histogram_t *histogram, uint64_t one);

SIM_C_END

#endif // NIC_STORE_TIERED_HISTOGRAM_H
