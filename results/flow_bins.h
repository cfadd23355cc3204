// SPDX-License-Identifier: Apache-2.0
// results/flow_bins.h - completion times and slowdowns of flows, by size: of a run, of a traffic
// entry.
#ifndef RESULTS_FLOW_BINS_H
#define RESULTS_FLOW_BINS_H

#include "apps/app.h"
#include "kernel/statistics.h"

#include <jansson.h>

SIM_C_BEGIN

#define RESULTS_SIZE_BINS 5u
#define RESULTS_SLOWDOWN_ONE UINT64_C(1000000) // slowdowns are kept in millionths

// Flows of one range of sizes.
typedef struct results_size_bin {
    const char *name; // "10-100KB"
    uint64_t bytes_max;
    uint64_t count;
    uint64_t completed;
    sim_sample_set_t fct_ps;
    sim_sample_set_t slowdown; // millionths
} results_size_bin_t;

typedef struct results_flow_bins {
    uint64_t failed;
    uint64_t delivered_bytes;   // of all flows, unfinished ones too, failed ones not
    sim_sample_set_t rates_bps; // of each flow that began and has not failed: delivered / its time
    double rate_sum;            // of rates_bps
    double rate_squares;
    results_size_bin_t all;
    results_size_bin_t bins[RESULTS_SIZE_BINS];
} results_flow_bins_t;

// name: of all flows together; not copied.
void results_flow_bins_init(results_flow_bins_t *flows, const char *name);
void results_flow_bins_fini(results_flow_bins_t *flows);
void results_flow_bins_add(results_flow_bins_t *flows, const app_flow_result_t *flow);

// What the flow had delivered when the run ended at end_ps, and at which rate.
void results_flow_bins_add_progress(results_flow_bins_t *flows,
                                    const app_flow_result_t *flow,
                                    sim_time_t end_ps);
// Jain's index of the rates, (sum)^2 / (count x sum of squares): 1 where all are equal; NAN: none.
double results_flow_bins_fairness(const results_flow_bins_t *flows);

// Slowdown in millionths: (end - start) / ideal, rounded down. The flow must be finished.
uint64_t results_flow_slowdown(const app_flow_result_t *flow);

// mean, p50, p90, p99, max of completion times (us) or of slowdowns; nulls where none completed.
json_t *results_bin_fct_json(results_size_bin_t *bin);
json_t *results_bin_slowdown_json(results_size_bin_t *bin);
// A list of size, count, completed, fct_us, slowdown.
json_t *results_flow_bins_json(results_flow_bins_t *flows);

SIM_C_END

#endif // RESULTS_FLOW_BINS_H
