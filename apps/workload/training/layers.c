// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/layers.c - the forward and backward pass of a layer on one rank.
//
// A layer is an attention block and an MLP or experts. Tensor parallelism puts an all-reduce behind
// each block in both directions; with sequence parallelism, an all-gather before it and a
// reduce-scatter behind it (Korthikanti et al., "Reducing Activation Recomputation in Large
// Transformer Models", MLSys 2023). Experts stand between two all-to-alls. Context parallelism
// gathers keys and values.
#include "apps/workload/training/layers.h"
#include "apps/workload/training/gradients.h"

// Returns the bytes of a microbatch's activations of a layer on one rank.
static uint64_t activations(const app__iteration_t *plan)
{
    return app__iteration_tokens(plan) * plan->model.hidden * plan->activation_bytes;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

// Returns the collective before or behind a block, for one of so many pieces of it.
static app__collective_t tensor_collective(const app__iteration_t *plan, bool before, bool backward,
                                           uint32_t pieces)
{
    const bool shared = plan->sequence_parallel;
    return (app__collective_t){
        .team = APP__TEAM_TP,
        .kind = before   ? APP__COLL_ALL_GATHER
                : shared ? APP__COLL_REDUCE_SCATTER
                         : APP__COLL_ALL_REDUCE,
        .bytes = round_up((activations(plan) + pieces - 1) / pieces, plan->tp),
        .name = backward ? "tp backward" : "tp forward",
    };
}

static void tensor_before(app__maker_t *maker, bool backward)
{
    if (maker->plan->sequence_parallel) {
        const app__collective_t collective = tensor_collective(maker->plan, true, backward, 1);
        app__maker_wait(maker, &collective);
    }
}

static void tensor_behind(app__maker_t *maker, bool backward)
{
    const app__collective_t collective = tensor_collective(maker->plan, false, backward, 1);
    app__maker_wait(maker, &collective);
}

// Products of matrices behind and before collectives of tensor parallelism.
static void products_between(app__maker_t *maker, double flops, bool has_before, bool has_behind,
                             bool backward)
{
    const app__iteration_t *const plan = maker->plan;
    if (plan->tp > 1 && plan->tensor_pieces > 1) {
        const uint32_t pieces = plan->tensor_pieces;
        const app__beside_t before = {
            {tensor_collective(plan, true, backward, pieces)},
            has_before && plan->sequence_parallel ? 1 : 0,
        };
        const app__beside_t behind = {
            {tensor_collective(plan, false, backward, pieces)},
            has_behind ? 1 : 0,
        };
        app__maker_pieces(maker, flops, pieces, &before, &behind);
        return;
    }
    if (has_before) {
        tensor_before(maker, backward);
    }
    app__maker_compute(maker, flops);
    if (has_behind) {
        tensor_behind(maker, backward);
    }
}

// A block without other collectives than those of tensor parallelism.
static void dense_block(app__maker_t *maker, double flops, bool backward)
{
    products_between(maker, flops, true, true, backward);
}

// Gathers the keys and values of all tokens, or reduces their gradients.
static void context(app__maker_t *maker, app__coll_kind_t kind, bool backward)
{
    const app__iteration_t *const plan = maker->plan;
    const app__model_t *const model = &plan->model;
    const uint64_t width = model->kv_heads * (model->hidden / model->heads);
    const uint64_t bytes =
        2 * plan->microbatch * plan->sequence * width * plan->activation_bytes / plan->tp;
    app__maker_wait(maker, &(app__collective_t){
                               .team = APP__TEAM_CP,
                               .kind = kind,
                               .bytes = round_up(bytes, plan->cp),
                               .name = backward ? "cp backward" : "cp forward",
                           });
}

// Returns the FLOPs of the products of queries, keys and values: 2 b s^2 h each.
static double product_flops(const app__iteration_t *plan)
{
    return plan->count_attention
               ? 4.0 * (double)plan->microbatch * (double)plan->sequence * (double)plan->sequence *
                     (double)plan->model.hidden / plan->tp / plan->cp
               : 0;
}

static double matrix_flops(const app__iteration_t *plan, uint64_t parameters)
{
    return 2.0 * (double)parameters * (double)app__iteration_tokens(plan) / plan->tp;
}

static void attention(app__maker_t *maker, bool backward)
{
    const app__iteration_t *const plan = maker->plan;
    const double matrices = matrix_flops(plan, app__model_attention(&plan->model));
    const double products = product_flops(plan);
    const bool again = plan->recompute == APP__RECOMPUTE_SELECTIVE;
    const double flops =
        backward ? 2 * (matrices + products) + (again ? products : 0) : matrices + products;
    if (plan->cp == 1) {
        dense_block(maker, flops, backward);
        return;
    }
    if (plan->tensor_pieces <= 1) {
        tensor_before(maker, backward);
        context(maker, APP__COLL_ALL_GATHER, backward);
        app__maker_compute(maker, flops);
        if (backward) {
            context(maker, APP__COLL_REDUCE_SCATTER, true);
        }
        tensor_behind(maker, backward);
        return;
    }
    // Keys and values are exchanged between the product that makes queries, keys and values and
    // the one that makes the output. The backward pass begins with the latter.
    const double output = matrix_flops(plan, plan->model.hidden * plan->model.hidden);
    const double input = matrices > output ? matrices - output : 0;
    const double scale = backward ? 2 : 1;
    products_between(maker, scale * (backward ? output : input), true, false, backward);
    context(maker, APP__COLL_ALL_GATHER, backward);
    app__maker_compute(maker, scale * products + (backward && again ? products : 0));
    if (backward) {
        context(maker, APP__COLL_REDUCE_SCATTER, true);
    }
    products_between(maker, scale * (backward ? input : output), false, true, backward);
}

// Returns the all-to-all that sends tokens to the ranks of their experts, or back, for one of so
// many pieces of them. Matrices are those of a piece (routing.c).
static app__collective_t route(const app__iteration_t *plan, uint64_t layer, bool back,
                               uint32_t pieces)
{
    const uint64_t bytes = activations(plan) * plan->model.top_k / plan->tp;
    return (app__collective_t){
        .team = APP__TEAM_EP,
        .kind = APP__COLL_ALL_TO_ALL,
        .bytes = round_up((bytes + pieces - 1) / pieces, plan->ep),
        .matrix = plan->matrices == NULL ? NULL : plan->matrices[2 * layer + back],
        .name = back ? "ep combine" : "ep dispatch",
    };
}

// Experts whose tokens come and go in pieces.
static void experts_in_pieces(app__maker_t *maker, uint64_t layer, double flops, bool backward)
{
    const app__iteration_t *const plan = maker->plan;
    const uint32_t pieces = plan->expert_pieces;
    app__beside_t before = {.count = 0};
    app__beside_t behind = {.count = 0};
    if (plan->tp > 1 && plan->sequence_parallel) {
        before.list[before.count++] = tensor_collective(plan, true, backward, pieces);
    }
    if (plan->ep > 1) {
        before.list[before.count++] = route(plan, layer, false, pieces);
        behind.list[behind.count++] = route(plan, layer, true, pieces);
    }
    if (plan->tp > 1) {
        behind.list[behind.count++] = tensor_collective(plan, false, backward, pieces);
    }
    app__maker_pieces(maker, flops, pieces, &before, &behind);
}

// Returns the share of the mean number of tokens that the rank's experts get.
static double load_of(const app__maker_t *maker, uint64_t layer)
{
    const app__iteration_t *const plan = maker->plan;
    const uint32_t column = maker->rank / plan->tp % plan->ep;
    return plan->load == NULL ? 1 : plan->load[layer * plan->ep + column];
}

static void mlp(app__maker_t *maker, uint64_t layer, bool backward)
{
    const app__iteration_t *const plan = maker->plan;
    const app__model_t *const model = &plan->model;
    if (!app__model_has_experts(model, layer)) {
        const double dense = matrix_flops(plan, app__model_mlp(model));
        dense_block(maker, (backward ? 2 : 1) * dense, backward);
        return;
    }
    const uint64_t expert = app__model_expert(model);
    const double routed = matrix_flops(plan, model->top_k * expert) * load_of(maker, layer);
    const double shared = matrix_flops(plan, model->shared_experts * expert);
    const double flops = (backward ? 2 : 1) * (routed + shared);
    if (plan->expert_pieces > 1) {
        experts_in_pieces(maker, layer, flops, backward);
        return;
    }
    const app__collective_t there = route(plan, layer, false, 1);
    const app__collective_t back = route(plan, layer, true, 1);
    tensor_before(maker, backward);
    app__maker_wait(maker, &there);
    app__maker_compute(maker, flops);
    app__maker_wait(maker, &back);
    tensor_behind(maker, backward);
}

void app__maker_forward(app__maker_t *maker, uint64_t layer, bool again)
{
    if (!again) {
        app__maker_fetch(maker, layer);
    }
    attention(maker, false);
    mlp(maker, layer, false);
}

void app__maker_backward(app__maker_t *maker, uint64_t layer)
{
    app__maker_fetch(maker, layer);
    if (maker->plan->recompute == APP__RECOMPUTE_FULL) {
        app__maker_forward(maker, layer, true);
    }
    mlp(maker, layer, true);
    attention(maker, true);
}

void app__maker_head(app__maker_t *maker, bool backward)
{
    const app__iteration_t *const plan = maker->plan;
    const double forward = matrix_flops(plan, app__model_embedding(&plan->model));
    app__maker_compute(maker, (backward ? 2 : 1) * forward);
}
