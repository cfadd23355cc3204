// SPDX-License-Identifier: Apache-2.0
// apps/workload/matrices/models.h - the models of kvbench's generator, whose caches have 2 bytes a
// value. Its numbers of qwen3-30B and deepseek-r1 are kept as they are there.
#ifndef APPS_WORKLOAD_MATRICES_MODELS_H
#define APPS_WORKLOAD_MATRICES_MODELS_H

#include <stdint.h>

typedef struct app__kv_model {
    const char *name;
    uint64_t hidden;
    uint64_t layers;
    uint64_t heads;
    uint64_t kv_heads;
} app__kv_model_t;

#define APP__KV_MODEL_CHOICES \
    "llama-8b|llama-70b|llama-405b|qwen3-30B|deepseek-r1-distill-llama-70b|deepseek-r1"
#define APP__KV_MODELS 6u
extern const app__kv_model_t app__kv_models[];

#endif // APPS_WORKLOAD_MATRICES_MODELS_H
