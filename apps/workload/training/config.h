// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/config.h - the attributes of the application `training`, and the plan that
// follows from them.
#ifndef APPS_WORKLOAD_TRAINING_CONFIG_H
#define APPS_WORKLOAD_TRAINING_CONFIG_H

#include "apps/workload/run_options.h"
#include "apps/workload/training/iteration.h"

#include "kernel/attribute.h"

// Sizes are SIM_AUTO where the model decides.
typedef struct app__training_config {
    uint32_t model; // index of app__models
    uint64_t layers;
    uint64_t hidden;
    uint64_t heads;
    uint64_t kv_heads;
    uint64_t ffn;
    uint64_t vocab;
    uint64_t experts;
    uint64_t top_k;
    uint64_t expert_ffn;
    uint64_t tp;
    uint64_t cp;
    uint64_t dp; // SIM_AUTO: as many as there are places
    uint64_t pp;
    uint64_t vpp;
    uint64_t ep;
    uint64_t iterations;
    uint64_t microbatches;
    uint64_t microbatch;
    uint64_t sequence;
    bool sequence_parallel;
    bool attention;
    uint32_t recompute;
    uint32_t overlap;
    uint64_t tensor_overlap;
    uint64_t expert_overlap;
    uint64_t zero;
    uint64_t bucket_bytes;
    uint64_t activation_bytes;
    uint64_t gradient_bytes;
    uint64_t parameter_bytes;
    sim_ratio_t tflops;
    sim_ratio_t mfu;
    sim_time_t update_ps;
    sim_ratio_t jitter;
    char *slow_ranks;
    sim_ratio_t slow_factor;
    sim_ratio_t skew;
    char *routing;
    app__workload_options_t options;
} app__training_config_t;
extern const sim_attr_table_t app__training_attrs;

// Fills a plan for `places` GPUs. The caller frees plan->slow with sim_free; after an error nothing
// is to be freed. Errors name the attribute.
SIM_MUST_CHECK sim_err_t app__training_plan(const app__training_config_t *config, uint64_t places,
                                            app__iteration_t *plan, sim_message_t *message);
// Returns about how many operations the schedule of a plan has.
double app__training_operations(const app__iteration_t *plan);

#endif // APPS_WORKLOAD_TRAINING_CONFIG_H
