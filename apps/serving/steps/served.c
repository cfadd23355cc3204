// SPDX-License-Identifier: Apache-2.0
// apps/serving/steps/served.c - sizes of served models, and the time of one step of a node's GPUs.
//
// Sources: the sizes of apps/workload/training/model.c; Llama 3 8B by "The Llama 3 Herd of Models"
// (arXiv 2407.21783, table 3); the latent attention of DeepSeek-V3 by arXiv 2412.19437, section
// 4.2: 512 compressed values and 64 rotary ones, 128 heads of 192 (keys) and 128 (values). The
// roofline is that of S. Williams et al., CACM 52(4), 2009.
#include "apps/serving/steps/served.h"

#include <string.h>

static const app__model_t llama3_8b = {
    .name = "llama3-8b",
    .layers = 32,
    .hidden = 4096,
    .heads = 32,
    .kv_heads = 8,
    .ffn = 14336,
    .vocab = 128256,
    .gated = true,
    .untied = true,
};

static const char *const names[] = {
    "llama3-8b", "llama3-70b",   "llama3-405b",   "gpt-13b",
    "gpt-175b",  "mixtral-8x7b", "mixtral-8x22b", "deepseek-v3",
};

#define MLA_RANK 576u
#define MLA_WIDTH (128u * (192u + 128u))

void app__served_model(uint32_t index, app__served_t *served)
{
    SIM_CHECK(index < SIM_COUNT_OF(names));
    *served = (app__served_t){.sizes = llama3_8b};
    for (uint32_t i = 0; i < APP__MODEL_COUNT; i++) {
        if (strcmp(app__models[i].name, names[index]) == 0) {
            served->sizes = app__models[i];
        }
    }
    SIM_CHECK(strcmp(served->sizes.name, names[index]) == 0);
    if (strcmp(names[index], "deepseek-v3") == 0) {
        served->kv_rank = MLA_RANK;
        served->attention_width = MLA_WIDTH;
    }
}

uint64_t app__served_kv_values(const app__served_t *served)
{
    const app__model_t *const sizes = &served->sizes;
    const uint64_t each = served->kv_rank > 0
                              ? served->kv_rank
                              : 2 * sizes->kv_heads * (sizes->hidden / sizes->heads);
    return each * sizes->layers;
}

uint64_t app__served_kv_shares(const app__served_t *served)
{
    return served->kv_rank > 0 ? 1 : served->sizes.kv_heads;
}

uint64_t app__served_weight_bytes(const app__served_t *served, uint64_t value_bytes,
                                  uint64_t expert_nodes)
{
    const app__model_t *const sizes = &served->sizes;
    const uint64_t elsewhere = sizes->experts - sizes->experts / expert_nodes;
    uint64_t count = app__model_parameters(sizes);
    for (uint64_t i = 0; i < sizes->layers; i++) {
        count -= app__model_has_experts(sizes, i) ? elsewhere * app__model_expert(sizes) : 0;
    }
    return count * value_bytes;
}

// Returns the weights of all layers: those that each token is multiplied with, or those that a step
// of so many tokens reads, where different tokens use different ones of `experts` experts.
static double layer_weights(const app__model_t *sizes, uint64_t tokens, uint64_t experts)
{
    double sum = 0.0;
    for (uint64_t i = 0; i < sizes->layers; i++) {
        sum += (double)app__model_attention(sizes);
        uint64_t used = sizes->top_k * tokens;
        used = SIM_MIN(experts, used);
        sum += app__model_has_experts(sizes, i)
                   ? (double)(used + sizes->shared_experts) * (double)app__model_expert(sizes)
                   : (double)app__model_mlp(sizes);
    }
    return sum;
}

sim_time_t app__served_step_ps(const app__served_t *served, const app__gpus_t *gpus,
                               const app__step_load_t *load)
{
    if (gpus->times != NULL) {
        const double us = app__step_times_us(gpus->times, load->tokens, load->context);
        return us * 1e6 < 1.0 ? 1 : (sim_time_t)(us * 1e6);
    }
    const app__model_t *const sizes = &served->sizes;
    const double head = (double)app__model_embedding(sizes);
    const double width =
        served->attention_width > 0 ? (double)served->attention_width : 2.0 * (double)sizes->hidden;
    const double flops = 2.0 * (double)load->tokens * layer_weights(sizes, 1, sizes->experts) +
                         2.0 * (double)load->sequences * head +
                         2.0 * width * (double)sizes->layers * (double)load->pairs;
    const double shares = (double)app__served_kv_shares(served);
    const double kv_parts = SIM_MIN(shares, (double)gpus->count);
    const double bytes =
        (layer_weights(sizes, load->tokens, sizes->experts / gpus->expert_nodes) + head) *
            (double)gpus->value_bytes / (double)gpus->count +
        (double)load->context * (double)gpus->kv_token_bytes / kv_parts;
    const double compute_s = flops / ((double)gpus->count * gpus->flops);
    const double memory_s = bytes / gpus->memory_bytes_per_s;
    double time_ps = SIM_MAX(compute_s, memory_s) * 1e12 + (double)gpus->step_ps;
    if (gpus->local > 1 && gpus->link_bytes_per_s > 0.0) {
        // Two all-reduces in each layer; each GPU sends 2 (n - 1) / n of the activations.
        const double sent = 2.0 * (double)(gpus->local - 1) / (double)gpus->local *
                            (double)load->tokens * (double)sizes->hidden *
                            (double)gpus->value_bytes;
        time_ps += 2.0 * (double)sizes->layers *
                   (sent / gpus->link_bytes_per_s * 1e12 + (double)gpus->link_ps);
    }
    return time_ps < 1.0 ? 1 : (sim_time_t)time_ps;
}
