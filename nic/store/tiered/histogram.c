// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/histogram.c - buckets that grow with the values in them
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/histogram.h"

#include <math.h>
#include <string.h>

#define BUCKET_MASK ((UINT64_C(1) << NIC_HISTOGRAM_BITS) - 1)

static uint32_t bucket_of(uint64_t value)
{
    if (value <= BUCKET_MASK) {
        return (uint32_t)value;
    }
    const uint32_t shift = 63u - (uint32_t)__builtin_clzll(value) - NIC_HISTOGRAM_BITS;
    return ((shift + 1) << NIC_HISTOGRAM_BITS) + (uint32_t)(value >> shift & BUCKET_MASK);
}

// Returns the middle of a bucket.
static uint64_t value_of(uint32_t bucket)
{
    if (bucket <= BUCKET_MASK) {
        return bucket;
    }
    const uint32_t shift = (bucket >> NIC_HISTOGRAM_BITS) - 1;
    const uint64_t low = ((bucket & BUCKET_MASK) | (BUCKET_MASK + 1)) << shift;
    return low + ((UINT64_C(1) << shift) >> 1);
}

void nic_histogram_add(nic_histogram_t *histogram, uint64_t value)
{
    if (histogram->counts == NULL) {
        histogram->counts = sim_alloc_array(NIC_HISTOGRAM_BUCKETS, sizeof(*histogram->counts));
        histogram->least = UINT64_MAX;
    }
    histogram->counts[bucket_of(value)]++;
    histogram->count++;
    histogram->sum += value;
    histogram->least = SIM_MIN(value, histogram->least);
    histogram->most = SIM_MAX(value, histogram->most);
}

void nic_histogram_clear(nic_histogram_t *histogram)
{
    nic_histogram_fini(histogram);
}

void nic_histogram_fini(nic_histogram_t *histogram)
{
    sim_free(histogram->counts);
    memset(histogram, 0, sizeof(*histogram));
}

uint64_t nic_histogram_percentile(const nic_histogram_t *histogram, uint64_t numerator,
                                  uint64_t denominator)
{
    if (histogram->count == 0) {
        return 0;
    }
    const uint64_t wanted = (histogram->count * numerator + denominator - 1) / denominator;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < NIC_HISTOGRAM_BUCKETS; i++) {
        sum += histogram->counts[i];
        if (sum >= wanted && sum != 0) {
            const uint64_t value = value_of(i);
            const uint64_t above = SIM_MAX(histogram->least, value);
            return SIM_MIN(histogram->most, above);
        }
    }
    return histogram->most;
}

sim_percentiles_t nic_histogram_percentiles(const nic_histogram_t *histogram, uint64_t one)
{
    if (histogram->count == 0) {
        const double none = (double)NAN;
        return (sim_percentiles_t){0, none, none, none, none, none, none, none};
    }
    const double unit = (double)one;
    return (sim_percentiles_t){
        .count = histogram->count,
        .mean = (double)histogram->sum / (double)histogram->count / unit,
        .min = (double)histogram->least / unit,
        .p50 = (double)nic_histogram_percentile(histogram, 50, 100) / unit,
        .p90 = (double)nic_histogram_percentile(histogram, 90, 100) / unit,
        .p99 = (double)nic_histogram_percentile(histogram, 99, 100) / unit,
        .p999 = (double)nic_histogram_percentile(histogram, 999, 1000) / unit,
        .max = (double)histogram->most / unit,
    };
}
