// SPDX-License-Identifier: Apache-2.0
// apps/herd/series.h - counters of HERD by interval of time and by size, for its report.
//
// Each client and worker counts for itself, in events of its machine; the report adds up.
#ifndef APPS_HERD_SERIES_H
#define APPS_HERD_SERIES_H

#include "kernel/base.h"

typedef struct app__herd_bin {
    uint64_t done; // answers seen by a client, or posted by a worker
    uint64_t gets; // the next five are counted by clients
    uint64_t hits;
    uint64_t answer_bytes;
    sim_time_t latency_ps; // sum over the answers
    sim_time_t latency_max_ps;
    uint64_t turns; // this and the next three are counted by workers
    uint64_t queue;
    sim_time_t busy_ps;
    uint64_t pcie_bytes;
} app__herd_bin_t;

typedef struct app__herd_bins {
    app__herd_bin_t *items;
    size_t count;
    size_t capacity;
} app__herd_bins_t;

// Returns the interval that contains a time since the beginning, creating intervals up to it.
app__herd_bin_t *app__herd_bin_at(app__herd_bins_t *bins, sim_time_t since_ps, sim_time_t every_ps);
void app__herd_bins_add(app__herd_bins_t *sum, const app__herd_bins_t *bins);
void app__herd_bins_fini(app__herd_bins_t *bins);

// Number of occurrences of each number.
typedef struct app__herd_counts {
    uint64_t *items; // by number
    size_t count;
    size_t capacity;
} app__herd_counts_t;

void app__herd_counts_grow(app__herd_counts_t *counts, uint32_t number);
static inline void app__herd_count(app__herd_counts_t *counts, uint32_t number)
{
    if (SIM_UNLIKELY(number >= counts->count)) {
        app__herd_counts_grow(counts, number);
    }
    counts->items[number]++;
}
void app__herd_counts_add(app__herd_counts_t *sum, const app__herd_counts_t *counts);
void app__herd_counts_fini(app__herd_counts_t *counts);

#endif // APPS_HERD_SERIES_H
