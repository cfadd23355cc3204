// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/model.h - sizes of language models: parameters and computation of their
// layers.
//
// A model is a row of matrices: embedding, layers of attention and feed-forward network (MLP), and
// a head. Biases and norms are left out, except where a row says otherwise. Units: elements.
#ifndef APPS_WORKLOAD_TRAINING_MODEL_H
#define APPS_WORKLOAD_TRAINING_MODEL_H

#include "kernel/base.h"

typedef struct app__model {
    const char *name;
    uint64_t layers;
    uint64_t hidden;
    uint64_t heads;
    uint64_t kv_heads; // heads of keys and values; fewer than heads: grouped queries
    uint64_t ffn;      // inner width of a dense MLP
    uint64_t vocab;
    uint64_t experts; // of a layer; 0: all layers are dense
    uint64_t top_k;   // experts that a token uses
    uint64_t expert_ffn;
    uint64_t shared_experts; // that every token uses
    uint64_t dense_layers;   // layers without experts, at the beginning
    uint64_t attention;      // parameters of a layer's attention; 0: from hidden and heads
    uint64_t other;          // parameters beside the matrices
    bool gated;              // an MLP has three matrices (SwiGLU) instead of two
    bool untied;             // the head has a matrix of its own, not that of the embedding
} app__model_t;

// Names for an attribute's choices, "gpt-7b|gpt-13b|...", in the order of app__models.
#define APP__MODEL_NAMES                                                                \
    "gpt3-5b|gpt-7b|gpt-13b|llama-13b|gpt3-20b|gpt-22b|llama-65b|llama-70b|llama3-70b|" \
    "gpt-175b|nemotron-340b|llama3-405b|mixtral-8x7b|mixtral-8x22b|deepseek-v3"
#define APP__MODEL_COUNT 15u
extern const app__model_t app__models[APP__MODEL_COUNT];

// Return the parameters of parts of a model: the attention of a layer, a dense MLP, one expert, the
// matrix of the embedding or of the head, and everything together.
uint64_t app__model_attention(const app__model_t *model);
uint64_t app__model_mlp(const app__model_t *model);
uint64_t app__model_expert(const app__model_t *model);
uint64_t app__model_embedding(const app__model_t *model);
uint64_t app__model_parameters(const app__model_t *model);
// Returns whether layer `index`, from 0, has experts.
bool app__model_has_experts(const app__model_t *model, uint64_t index);

#endif // APPS_WORKLOAD_TRAINING_MODEL_H
