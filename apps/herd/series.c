// SPDX-License-Identifier: Apache-2.0
// apps/herd/series.c - intervals and counts that grow when a new one is used.
#include "apps/herd/series.h"

app__herd_bin_t *app__herd_bin_at(app__herd_bins_t *bins, sim_time_t since_ps, sim_time_t every_ps)
{
    const size_t at = (size_t)(since_ps / every_ps);
    while (bins->count <= at) {
        SIM_APPEND(bins->items, bins->count, bins->capacity, (app__herd_bin_t){0});
    }
    return &bins->items[at];
}

void app__herd_bins_add(app__herd_bins_t *sum, const app__herd_bins_t *bins)
{
    for (size_t i = 0; i < bins->count; i++) {
        const app__herd_bin_t *const from = &bins->items[i];
        app__herd_bin_t *const to = app__herd_bin_at(sum, i, 1);
        to->done += from->done;
        to->gets += from->gets;
        to->hits += from->hits;
        to->answer_bytes += from->answer_bytes;
        to->latency_ps += from->latency_ps;
        if (from->latency_max_ps > to->latency_max_ps) {
            to->latency_max_ps = from->latency_max_ps;
        }
        to->turns += from->turns;
        to->queue += from->queue;
        to->busy_ps += from->busy_ps;
        to->pcie_bytes += from->pcie_bytes;
    }
}

void app__herd_bins_fini(app__herd_bins_t *bins)
{
    sim_free(bins->items);
    *bins = (app__herd_bins_t){0};
}

void app__herd_counts_grow(app__herd_counts_t *counts, uint32_t number)
{
    while (counts->count <= number) {
        SIM_APPEND(counts->items, counts->count, counts->capacity, 0);
    }
}

void app__herd_counts_add(app__herd_counts_t *sum, const app__herd_counts_t *counts)
{
    if (counts->count != 0) {
        app__herd_counts_grow(sum, (uint32_t)counts->count - 1);
    }
    for (size_t i = 0; i < counts->count; i++) {
        sum->items[i] += counts->items[i];
    }
}

void app__herd_counts_fini(app__herd_counts_t *counts)
{
    sim_free(counts->items);
    *counts = (app__herd_counts_t){0};
}
