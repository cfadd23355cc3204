// SPDX-License-Identifier: Apache-2.0
// results/totals/flow_bins.c - flows by size: gathered, and as summary.json has them.
#include "results/flow_bins.h"

#include <math.h>

#define PS_PER_US 1e6

static const struct {
    const char *name;
    uint64_t bytes_max;
} bin_limits[RESULTS_SIZE_BINS] = {
    {"0-10KB", 10000},    {"10-100KB", 100000},  {"100KB-1MB", 1000000},
    {"1-10MB", 10000000}, {">10MB", UINT64_MAX},
};

static const struct {
    const char *name;
    uint64_t percent;
} percentiles[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}};

static void bin_init(results_size_bin_t *bin, const char *name, uint64_t bytes_max)
{
    *bin = (results_size_bin_t){.name = name, .bytes_max = bytes_max};
    sim_sample_set_init(&bin->fct_ps);
    sim_sample_set_init(&bin->slowdown);
}

static void bin_fini(results_size_bin_t *bin)
{
    sim_sample_set_fini(&bin->fct_ps);
    sim_sample_set_fini(&bin->slowdown);
}

void results_flow_bins_init(results_flow_bins_t *flows, const char *name)
{
    flows->failed = 0;
    flows->delivered_bytes = 0;
    flows->rate_sum = 0;
    flows->rate_squares = 0;
    sim_sample_set_init(&flows->rates_bps);
    bin_init(&flows->all, name, UINT64_MAX);
    for (size_t i = 0; i < RESULTS_SIZE_BINS; i++) {
        bin_init(&flows->bins[i], bin_limits[i].name, bin_limits[i].bytes_max);
    }
}

void results_flow_bins_fini(results_flow_bins_t *flows)
{
    sim_sample_set_fini(&flows->rates_bps);
    bin_fini(&flows->all);
    for (size_t i = 0; i < RESULTS_SIZE_BINS; i++) {
        bin_fini(&flows->bins[i]);
    }
}

void results_flow_bins_add_progress(results_flow_bins_t *flows, const app_flow_result_t *flow,
                                    sim_time_t end_ps)
{
    if (flow->status != NIC_WC_SUCCESS) {
        flows->failed++;
        return;
    }
    const bool done = flow->end_ps != SIM_TIME_NEVER;
    const uint64_t bytes = done ? flow->bytes : flow->delivered_bytes;
    const sim_time_t until_ps = done ? flow->end_ps : end_ps;
    flows->delivered_bytes += bytes;
    if (flow->start_ps < until_ps) {
        const sim_wide_t exact_bps =
            (sim_wide_t)bytes * 8 * SIM_PS_PER_S / (until_ps - flow->start_ps);
        const uint64_t rate_bps = exact_bps < UINT64_MAX ? (uint64_t)exact_bps : UINT64_MAX;
        sim_sample_set_add(&flows->rates_bps, rate_bps);
        flows->rate_sum += (double)rate_bps;
        flows->rate_squares += (double)rate_bps * (double)rate_bps;
    }
}

double results_flow_bins_fairness(const results_flow_bins_t *flows)
{
    const double squares = flows->rate_squares;
    return squares > 0
               ? flows->rate_sum * flows->rate_sum / ((double)flows->rates_bps.count * squares)
               : (double)NAN;
}

uint64_t results_flow_slowdown(const app_flow_result_t *flow)
{
    SIM_CHECK(flow->end_ps != SIM_TIME_NEVER && flow->end_ps >= flow->start_ps);
    if (flow->ideal_ps == 0) {
        return RESULTS_SLOWDOWN_ONE;
    }
    return (uint64_t)((sim_wide_t)(flow->end_ps - flow->start_ps) * RESULTS_SLOWDOWN_ONE /
                      flow->ideal_ps);
}

static void bin_add(results_size_bin_t *bin, const app_flow_result_t *flow)
{
    bin->count++;
    if (flow->end_ps != SIM_TIME_NEVER && flow->status == NIC_WC_SUCCESS) {
        bin->completed++;
        sim_sample_set_add(&bin->fct_ps, flow->end_ps - flow->start_ps);
        sim_sample_set_add(&bin->slowdown, results_flow_slowdown(flow));
    }
}

void results_flow_bins_add(results_flow_bins_t *flows, const app_flow_result_t *flow)
{
    size_t i = 0;
    while (flow->bytes > flows->bins[i].bytes_max) {
        i++;
    }
    bin_add(&flows->all, flow);
    bin_add(&flows->bins[i], flow);
}

static json_t *distribution(sim_sample_set_t *set, double unit)
{
    json_t *const object = json_object();
    const bool any = set->count > 0;
    const double mean = sim_sample_set_mean(set) / unit;
    json_object_set_new(object, "mean", any ? json_real(mean) : json_null());
    for (size_t i = 0; i < SIM_COUNT_OF(percentiles); i++) {
        const uint64_t value = sim_sample_set_percentile(set, percentiles[i].percent, 100);
        json_object_set_new(object, percentiles[i].name,
                            any ? json_real((double)value / unit) : json_null());
    }
    return object;
}

json_t *results_bin_fct_json(results_size_bin_t *bin)
{
    return distribution(&bin->fct_ps, PS_PER_US);
}

json_t *results_bin_slowdown_json(results_size_bin_t *bin)
{
    return distribution(&bin->slowdown, (double)RESULTS_SLOWDOWN_ONE);
}

json_t *results_flow_bins_json(results_flow_bins_t *flows)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < RESULTS_SIZE_BINS; i++) {
        results_size_bin_t *const bin = &flows->bins[i];
        json_t *const object = json_object();
        json_object_set_new(object, "size", json_string(bin->name));
        json_object_set_new(object, "count", json_integer((json_int_t)bin->count));
        json_object_set_new(object, "completed", json_integer((json_int_t)bin->completed));
        json_object_set_new(object, "fct_us", results_bin_fct_json(bin));
        json_object_set_new(object, "slowdown", results_bin_slowdown_json(bin));
        json_array_append_new(list, object);
    }
    return list;
}
