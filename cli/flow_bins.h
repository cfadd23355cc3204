// SPDX-License-Identifier: Apache-2.0
// cli/flow_bins.h - completion times and slowdowns of flows, by size: of a run, of a traffic entry.
#ifndef CLI_FLOW_BINS_H
#define CLI_FLOW_BINS_H

#include "apps/app.h"
#include "kernel/statistics.h"

#include <jansson.h>

#define CLI_SIZE_BINS 5u
#define CLI_SLOWDOWN_ONE UINT64_C(1000000) // slowdowns are kept in millionths

// Flows of one range of sizes.
typedef struct cli_size_bin {
    const char *name; // "10-100KB"
    uint64_t bytes_max;
    uint64_t count;
    uint64_t completed;
    sim_sample_set_t fct_ps;
    sim_sample_set_t slowdown; // millionths
} cli_size_bin_t;

typedef struct cli_flow_bins {
    cli_size_bin_t all;
    cli_size_bin_t bins[CLI_SIZE_BINS];
} cli_flow_bins_t;

// name: of all flows together; not copied.
void cli_flow_bins_init(cli_flow_bins_t *flows, const char *name);
void cli_flow_bins_fini(cli_flow_bins_t *flows);
void cli_flow_bins_add(cli_flow_bins_t *flows, const app_flow_result_t *flow);

// Slowdown in millionths: (end - start) / ideal, rounded down. The flow must be finished.
uint64_t cli_flow_slowdown(const app_flow_result_t *flow);

// mean, p50, p90, p99, max of completion times (us) or of slowdowns; nulls where none completed.
json_t *cli_bin_fct_json(cli_size_bin_t *bin);
json_t *cli_bin_slowdown_json(cli_size_bin_t *bin);
// A list of size, count, completed, fct_us, slowdown.
json_t *cli_flow_bins_json(cli_flow_bins_t *flows);

#endif // CLI_FLOW_BINS_H
