// SPDX-License-Identifier: Apache-2.0
// apps/serving/steps/served.h - sizes of served models, and the time of one step of a node's GPUs.
//
// A step computes all tokens of a batch once. Its time follows a roofline: the larger of computing
// and of reading memory, plus the collectives of tensor parallelism inside the node and a fixed
// part. docs/models/serving.md
#ifndef APPS_SERVING_STEPS_SERVED_H
#define APPS_SERVING_STEPS_SERVED_H

#include "apps/serving/steps/measured.h"
#include "apps/workload/training/model.h"
#include "kernel/random.h"

#define APP__SERVED_NAMES \
    "llama3-8b|llama3-70b|llama3-405b|gpt-13b|gpt-175b|mixtral-8x7b|mixtral-8x22b|deepseek-v3"

// Sizes of the served model.
typedef struct app__served {
    app__model_t sizes;
    uint64_t kv_rank;         // values of a token and layer with latent attention (MLA); 0: heads
    uint64_t attention_width; // multiplications of a token with one earlier token, in a layer
} app__served_t;

// Fills the sizes of row `index` of APP__SERVED_NAMES.
void app__served_model(uint32_t index, app__served_t *served);

// Returns the values that one token leaves in the KV cache of all layers.
uint64_t app__served_kv_values(const app__served_t *served);
// Returns how many GPUs can hold different parts of a token's KV data: its heads of keys and
// values, or 1 with latent attention, where each GPU holds all of it.
uint64_t app__served_kv_shares(const app__served_t *served);

// GPUs of a node, and the numbers behind the time of a step.
typedef struct app__gpus {
    uint64_t count;     // number of GPUs that share each layer (tensor parallelism)
    uint64_t local;     // number of these GPUs in one host
    double stage_share; // largest share of the layers that a pipeline stage has; 1: no pipeline
    double flops;       // reached by one GPU, per second
    double memory_bytes_per_s;
    double link_bytes_per_s;        // between the GPUs of a node; 0: collectives take no time
    sim_time_t link_ps;             // latency of one collective between them
    sim_time_t step_ps;             // fixed part of a step
    uint64_t value_bytes;           // bytes of a weight
    uint64_t kv_token_bytes;        // KV data of a token in all layers
    const app__step_times_t *times; // measured; NULL: by formula
    uint64_t expert_nodes;          // nodes that the experts are spread over; 1: each node has all
} app__gpus_t;

// The work of a step.
typedef struct app__step_load {
    uint64_t tokens;    // that are computed
    uint64_t sequences; // that get a new token, or a part of their prompt
    uint64_t pairs;     // of a computed token and a token that it attends to
    uint64_t context;   // tokens whose KV data is read
} app__step_load_t;

// Returns the time of a step in all stages, without its collectives on the fabric.
sim_time_t app__served_step_ps(const app__served_t *served, const app__gpus_t *gpus,
                               const app__step_load_t *load);

// Returns the bytes of the weights of a node whose experts are spread over `expert_nodes` nodes.
uint64_t app__served_weight_bytes(const app__served_t *served, uint64_t value_bytes,
                                  uint64_t expert_nodes);

#endif // APPS_SERVING_STEPS_SERVED_H
