// SPDX-License-Identifier: Apache-2.0
// apps/workload/matrices/generate.h - makes sequences of traffic matrices, as kvbench does.
#ifndef APPS_WORKLOAD_MATRICES_GENERATE_H
#define APPS_WORKLOAD_MATRICES_GENERATE_H

#include "apps/workload/matrices/matrices.h"

// Attributes of the generator, which makes patterns as kvbench's does.
typedef struct app__generator {
    uint32_t model; // number in app__kv_models
    uint64_t requests;
    uint64_t batch;
    uint64_t prefill_nodes;
    uint64_t decode_nodes;
    uint64_t per_node;
    uint64_t prefill_tp;
    uint64_t prefill_cp;
    uint64_t decode_tp;
    uint64_t input_mean;
    uint64_t input_scale;
    uint64_t input_min;
    uint64_t input_max;
    uint64_t batch_bytes_max;
    sim_ratio_t hit_rate;
    bool storage;
    uint64_t tflops;
} app__generator_t;

SIM_MUST_CHECK sim_err_t app__patterns_generate(const app__generator_t *generator,
                                                sim_random_t *random, app__patterns_t *patterns,
                                                sim_message_t *message);

#endif // APPS_WORKLOAD_MATRICES_GENERATE_H
