// SPDX-License-Identifier: Apache-2.0
// apps/serving/serving.h - the application serving: a router, prefill nodes and decode nodes with
// continuous batching, and the KV data that moves between them (docs/models/serving.md).
//
// Hosts exchange messages of Mooncake's stations alone. Each member of shared structs is written by
// events of one host.
#ifndef APPS_SERVING_SERVING_H
#define APPS_SERVING_SERVING_H

#include "apps/mooncake_engine.h"
#include "apps/serving/settings.h"

typedef struct app__serving app__serving_t;
typedef struct app__serving_attempt app__serving_attempt_t;
typedef struct app__serving_directory app__serving_directory_t;
typedef struct app__serving_failure app__serving_failure_t;
typedef struct app__serving_job app__serving_job_t;
typedef struct app__serving_jobs app__serving_jobs_t;
typedef struct app__serving_node app__serving_node_t;
typedef struct app__serving_ring app__serving_ring_t;
typedef struct app__serving_router app__serving_router_t;
typedef struct app__serving_channels app__serving_channels_t;

struct app__serving {
    app_t app;                    // first
    app__serving_config_t config; // without strings
    app__served_t served;
    app__requests_t requests;
    app_mooncake_cluster_t *cluster;
    app__serving_router_t *router;
    app__serving_directory_t *directory; // of cached KV data; NULL: none
    app__serving_channels_t *channels;   // of transport writes
    app__serving_attempt_t *attempts;
    app__serving_jobs_t *jobs;
    app__serving_node_t *nodes;
    uint32_t prefill_count;
    uint32_t node_count; // prefill and decode nodes; storage nodes follow them
    uint32_t storage_count;
    uint32_t all_count;    // of nodes
    uint32_t nic_count;    // of all nodes
    uint32_t attempts_max; // how often a request is placed at most
    app__serving_failure_t *failures;
    size_t failure_count;
    size_t failure_capacity;
    uint64_t layer_groups;
    uint64_t host_scale;        // memory of a host divided by that of a flow
    app__step_times_t times[2]; // of prefill and of decode nodes; token_count 0: none
    app__serving_ring_t *rings; // two: of prefill and of decode nodes
    uint32_t flows;             // transfers between GPUs that move KV data of a layer
    uint64_t flow_unit_bytes;   // KV data of a token in all layers, in one flow
    uint64_t *stage_at;         // by request: where its KV data begins in the memory of a flow
    uint64_t stage_bytes;
    uint64_t exchange_at; // where the activations of exchanges lie behind them
};

// Returns the request of an attempt.
static inline const app__request_t *app__serving_request(const app__serving_t *serving,
                                                         uint32_t attempt)
{
    return &serving->requests.items[attempt % serving->requests.count];
}

// Returns the bytes of the units before `units` in one flow to a decode node.
static inline uint64_t app__serving_unit_bytes(const app__serving_t *serving, uint64_t units)
{
    return (uint64_t)((sim_wide_t)units * serving->flow_unit_bytes / serving->served.sizes.layers);
}
// Returns the pages that `tokens` tokens need.
static inline uint64_t app__serving_pages(const app__serving_t *serving, uint64_t tokens)
{
    return (tokens + serving->config.page_tokens - 1) / serving->config.page_tokens;
}

// Says for `rocesim check` how long steps and transfers will take.
void app__serving_describe(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);

#endif // APPS_SERVING_SERVING_H
