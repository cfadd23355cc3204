// SPDX-License-Identifier: Apache-2.0
// apps/serving/settings.h - the attributes of `serving`, and the sizes that follow from them
// (docs/models/serving.md).
#ifndef APPS_SERVING_SETTINGS_H
#define APPS_SERVING_SETTINGS_H

#include "apps/mooncake_config.h"
#include "apps/serving/arrivals/requests.h"
#include "apps/serving/steps/served.h"

// The moment at which prefill nodes send KV data.
typedef enum app__serving_kv {
    APP__SERVING_WHOLE, // when the prompt is computed
    APP__SERVING_CHUNK, // after each step
    APP__SERVING_LAYER, // after each group of layers of a step
} app__serving_kv_t;

typedef enum app__serving_transport {
    APP__SERVING_WRITES, // a WRITE per GPU and part
    APP__SERVING_MOONCAKE,
} app__serving_transport_t;

// The event that gives the user the first token.
typedef enum app__serving_first {
    APP__SERVING_FIRST_KV,      // all KV data is at the decode node
    APP__SERVING_FIRST_PREFILL, // the prompt is computed
    APP__SERVING_FIRST_STEP,    // the first step of the decode node
} app__serving_first_t;

typedef enum app__serving_route {
    APP__SERVING_LEAST_LOADED,
    APP__SERVING_ROUND_ROBIN,
    APP__SERVING_RANDOM,
    APP__SERVING_CACHE_AWARE,
} app__serving_route_t;

// The KV data of earlier prompts that a prefill node may use.
typedef enum app__serving_cache {
    APP__SERVING_NO_CACHE,
    APP__SERVING_LOCAL, // the node's own
    APP__SERVING_PEERS, // that of other prefill nodes, too
    APP__SERVING_STORE, // that of storage nodes, too
} app__serving_cache_t;

typedef enum app__serving_path {
    APP__SERVING_DIRECT,    // storage nodes to the prefill node
    APP__SERVING_DUAL,      // or to the decode node first, if its NICs have less to fetch
    APP__SERVING_ALTERNATE, // to both in turns
} app__serving_path_t;

typedef struct app__serving_config {
    char *hosts;
    uint64_t prefill;
    uint64_t decode; // 0: the prefill nodes decode, too
    uint64_t storage;
    uint32_t cache;
    uint32_t cache_policy;
    uint64_t cache_bytes; // of a prefill node; SIM_AUTO: no limit
    uint64_t store_bytes; // of all storage nodes; SIM_AUTO: no limit
    uint64_t storage_nics;
    uint32_t storage_path;
    uint32_t route;
    uint32_t kv;
    uint32_t transport;
    uint32_t first;
    uint64_t layer_groups; // SIM_AUTO: one per layer
    uint32_t experts;      // 0: each node has all; 1: spread over the nodes of a pool
    uint64_t token_budget;
    uint64_t batch;
    bool chunked;
    uint32_t model;
    uint64_t layers; // this and the next seven: SIM_AUTO: the model's
    uint64_t hidden;
    uint64_t heads;
    uint64_t kv_heads;
    uint64_t ffn;
    uint64_t vocab;
    uint64_t kv_rank;
    uint64_t value_bytes;
    uint64_t kv_value_bytes;
    uint64_t tp;
    uint64_t decode_tp; // SIM_AUTO: tp
    uint64_t tp_hosts;
    uint64_t decode_tp_hosts; // SIM_AUTO: tp_hosts
    uint64_t pp;
    uint64_t decode_pp;     // SIM_AUTO: pp
    uint64_t micro_batches; // SIM_AUTO: as many as stages
    sim_ratio_t tflops;
    sim_ratio_t efficiency;
    uint64_t memory_bps;
    sim_ratio_t memory_efficiency;
    sim_time_t step_ps;
    char *times; // file of measured steps; "": none
    char *decode_times;
    uint64_t priority; // of KV data by WRITEs; SIM_AUTO: the NIC's
    uint64_t link_bps; // 0: collectives in a node take no time
    sim_time_t link_ps;
    uint64_t gpu_bytes;
    sim_ratio_t gpu_share;
    uint64_t kv_bytes; // of a node; SIM_AUTO: what the weights leave of its GPUs' memory
    uint64_t page_tokens;
    sim_time_t start_ps;
    uint32_t admission; // 0: all, 1: by goals
    sim_time_t ttft_goal_ps;
    sim_time_t tpot_goal_ps;
    char
        *fail_host; // hosts, each with @TIME where it is not fail_ps, +TIME if it returns; "": none
    sim_time_t fail_ps;
    sim_time_t fail_detect_ps;
    bool log;
    bool operations;
    char *records;
    app__requests_config_t requests;
    app_mooncake_metadata_config_t metadata;
    app_mooncake_config_t engine;
} app__serving_config_t;
extern const sim_attr_table_t app__serving_attrs;

// Fill the served model, and the GPUs of a node in a pool of this number, from the attributes. The
// first returns an error that begins with the attribute's name.
SIM_MUST_CHECK sim_err_t app__serving_model(const app__serving_config_t *config,
                                            app__served_t *served, sim_message_t *message);
typedef struct app__serving_shape {
    uint64_t tp; // GPUs that share a layer
    uint64_t tp_hosts;
    uint64_t stages;
} app__serving_shape_t;
void app__serving_gpus(const app__serving_config_t *config, const app__served_t *served,
                       const app__serving_shape_t *shape, uint64_t nodes, app__gpus_t *gpus);
// Returns the bytes of KV memory of a node; 0: the weights leave no room.
uint64_t app__serving_kv_memory(const app__serving_config_t *config, const app__served_t *served,
                                const app__gpus_t *gpus);

#endif // APPS_SERVING_SETTINGS_H
