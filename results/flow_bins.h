// SPDX-License-Identifier: Apache-2.0
// results/flow_bins.h - completion times and slowdowns of flows by size, for a run or a traffic
// entry.
#ifndef RESULTS_FLOW_BINS_H
#define RESULTS_FLOW_BINS_H

#include "apps/app_results.h"
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

// Initialises empty bins. name stands for all flows together and is not copied.
void results_flow_bins_init(results_flow_bins_t *flows, const char *name);
void results_flow_bins_fini(results_flow_bins_t *flows);
// Adds a flow with its ideal_ps.
void results_flow_bins_add(results_flow_bins_t *flows, const app_flow_result_t *flow);
// Adds the bytes that the flow had delivered when the run ended at end_ps, and its rate.
void results_flow_bins_add_progress(results_flow_bins_t *flows, const app_flow_result_t *flow,
                                    sim_time_t end_ps);
// Returns Jain's index of the rates, (sum)^2 / (count x sum of squares): 1 where all are equal, NAN
// without flows.
double results_flow_bins_fairness(const results_flow_bins_t *flows);

// Returns the slowdown in millionths: (end - start) / ideal, rounded down. The flow must have
// finished, and its ideal_ps be set.
uint64_t results_flow_slowdown(const app_flow_result_t *flow);

// Returns mean, p50, p90, p99 and max of completion times (us), or of slowdowns; nulls where no
// flow completed.
json_t *results_bin_fct_json(results_size_bin_t *bin);
json_t *results_bin_slowdown_json(results_size_bin_t *bin);
// Returns a list with size, count, completed, fct_us and slowdown of each bin.
json_t *results_flow_bins_json(results_flow_bins_t *flows);

SIM_C_END

#endif // RESULTS_FLOW_BINS_H
