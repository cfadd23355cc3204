// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/model.c - the table of models.
//
// Sources: the models' papers and published configurations. gpt-13b is the one of the workload
// generator AICB: an MLP of 4 h, and `other` makes its parameters those of AICB's file for tensor
// parallelism 8 (8 x 1,624,309,760 fp32 gradients). GPT models share one matrix between embedding
// and head; vocabularies are padded to a multiple of 128 x 8.
#include "apps/workload/training/model.h"

#include <string.h>

// clang-format off
const app__model_t app__models[APP__MODEL_COUNT] = {
    {.name = "gpt3-5b", .layers = 24, .hidden = 4096, .heads = 32, .kv_heads = 32, .ffn = 16384, .vocab = 51200},
    {.name = "gpt-7b", .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 32, .ffn = 11008, .vocab = 32000, .gated = true, .untied = true},
    {.name = "gpt-13b", .layers = 40, .hidden = 5120, .heads = 32, .kv_heads = 32, .ffn = 20480, .vocab = 51200, .other = 149422080},
    {.name = "llama-13b", .layers = 40, .hidden = 5120, .heads = 40, .kv_heads = 40, .ffn = 13824, .vocab = 32000, .gated = true, .untied = true},
    {.name = "gpt3-20b", .layers = 44, .hidden = 6144, .heads = 48, .kv_heads = 48, .ffn = 24576, .vocab = 51200},
    {.name = "gpt-22b", .layers = 48, .hidden = 6144, .heads = 64, .kv_heads = 64, .ffn = 24576, .vocab = 51200},
    {.name = "llama-65b", .layers = 80, .hidden = 8192, .heads = 64, .kv_heads = 64, .ffn = 22016, .vocab = 32000, .gated = true, .untied = true},
    {.name = "llama-70b", .layers = 80, .hidden = 8192, .heads = 64, .kv_heads = 8, .ffn = 28672, .vocab = 32000, .gated = true, .untied = true},
    {.name = "llama3-70b", .layers = 80, .hidden = 8192, .heads = 64, .kv_heads = 8, .ffn = 28672, .vocab = 128256, .gated = true, .untied = true},
    {.name = "gpt-175b", .layers = 96, .hidden = 12288, .heads = 96, .kv_heads = 96, .ffn = 49152, .vocab = 51200},
    {.name = "nemotron-340b", .layers = 96, .hidden = 18432, .heads = 96, .kv_heads = 8, .ffn = 73728, .vocab = 256000, .untied = true},
    {.name = "llama3-405b", .layers = 126, .hidden = 16384, .heads = 128, .kv_heads = 8, .ffn = 53248, .vocab = 128256, .gated = true, .untied = true},
    {.name = "mixtral-8x7b", .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 8, .ffn = 14336, .vocab = 32000, .experts = 8, .top_k = 2, .expert_ffn = 14336, .gated = true, .untied = true},
    {.name = "mixtral-8x22b", .layers = 56, .hidden = 6144, .heads = 48, .kv_heads = 8, .ffn = 16384, .vocab = 32768, .experts = 8, .top_k = 2, .expert_ffn = 16384, .gated = true, .untied = true},
    // Its attention has compressed keys and values: 7168 x 1536 + 1536 x 24576 + 7168 x 576 +
    // 512 x 32768 + 16384 x 7168 parameters.
    {.name = "deepseek-v3", .layers = 61, .hidden = 7168, .heads = 128, .kv_heads = 128, .ffn = 18432, .vocab = 129280, .experts = 256, .top_k = 8, .expert_ffn = 2048, .shared_experts = 1, .dense_layers = 3, .attention = 187105280, .gated = true, .untied = true},
};
// clang-format on
// clang-format on

uint64_t app__model_attention(const app__model_t *model)
{
    if (model->attention > 0) {
        return model->attention;
    }
    // Queries and the output have the whole width; keys and values have kv_heads of the heads.
    const uint64_t width = model->hidden / model->heads;
    return 2 * model->hidden * model->hidden + 2 * model->hidden * model->kv_heads * width;
}

uint64_t app__model_mlp(const app__model_t *model)
{
    return (model->gated ? 3 : 2) * model->hidden * model->ffn;
}

uint64_t app__model_expert(const app__model_t *model)
{
    return (model->gated ? 3 : 2) * model->hidden * model->expert_ffn;
}

uint64_t app__model_embedding(const app__model_t *model)
{
    return model->vocab * model->hidden;
}

bool app__model_has_experts(const app__model_t *model, uint64_t index)
{
    return model->experts > 0 && index >= model->dense_layers;
}

uint64_t app__model_parameters(const app__model_t *model)
{
    uint64_t count = (model->untied ? 2 : 1) * app__model_embedding(model) + model->other;
    for (uint64_t i = 0; i < model->layers; i++) {
        count += app__model_attention(model);
        count += app__model_has_experts(model, i)
                     ? (model->experts + model->shared_experts) * app__model_expert(model)
                     : app__model_mlp(model);
    }
    return count;
}
