// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/gradients.c - collectives of gradients and parameters among replicas of a
// model.
//
// ZeRO 0 reduces gradients to all ranks. ZeRO 1 reduces them to the rank that updates a part of the
// parameters and gathers the parameters after the update; ZeRO 2 reduces them in every microbatch;
// ZeRO 3 also gathers the parameters of a layer whenever the layer computes (Rajbhandari et al.,
// SC 2020). Buckets of layers are reduced in the order in which the backward pass makes them.
#include "apps/workload/training/gradients.h"

// Returns the parameters of a layer without its routed experts, on all tensor-parallel ranks. The
// embedding counts with the first layer, the head with the last one.
static uint64_t layer_parameters(const app__iteration_t *plan, uint64_t layer)
{
    const app__model_t *const model = &plan->model;
    uint64_t count = app__model_attention(model);
    count += app__model_has_experts(model, layer) ? model->shared_experts * app__model_expert(model)
                                                  : app__model_mlp(model);
    if (layer == 0) {
        count += app__model_embedding(model) + model->other;
    }
    // A shared matrix has a copy at the last stage if that is not the first.
    if (layer == model->layers - 1 && (model->untied || plan->pp > 1)) {
        count += app__model_embedding(model);
    }
    return count;
}

// Return the bytes of a layer's gradients or parameters on one rank; of `each` bytes a parameter.
static uint64_t layer_dense_bytes(const app__maker_t *maker, uint64_t layer, uint64_t each)
{
    return layer_parameters(maker->plan, layer) * each / maker->plan->tp;
}

static uint64_t layer_expert_bytes(const app__maker_t *maker, uint64_t layer, uint64_t each)
{
    const app__iteration_t *const plan = maker->plan;
    const app__model_t *const model = &plan->model;
    return app__model_has_experts(model, layer)
               ? app__model_expert(model) * (model->experts / plan->ep) * each / plan->tp
               : 0;
}

// Starts the collectives of a bucket's two parts. Returns the last of them.
static uint32_t start_both(app__maker_t *maker, app__coll_kind_t kind, app__bucket_t bucket,
                           const char *name)
{
    const uint64_t bytes[] = {bucket.dense_bytes, bucket.expert_bytes};
    const app__team_t teams[] = {APP__TEAM_DP, APP__TEAM_DP_EP};
    uint32_t last = APP__NO_CHAIN;
    for (size_t i = 0; i < 2; i++) {
        const uint64_t size = app__team_size(maker->plan, teams[i]);
        const uint32_t op =
            app__maker_start(maker, &(app__collective_t){
                                        .team = teams[i],
                                        .kind = kind,
                                        .bytes = (bytes[i] + size - 1) / size * size,
                                        .name = name,
                                    });
        last = op != APP__NO_CHAIN ? op : last;
    }
    return last;
}

// -- ZeRO 3

void app__maker_fetch(app__maker_t *maker, uint64_t layer)
{
    const app__iteration_t *const plan = maker->plan;
    if (plan->zero < 3) {
        return;
    }
    // With overlap, a layer's parameters come while the layer before it computes.
    const uint32_t last = maker->last;
    maker->last = plan->overlap == APP__OVERLAP_NONE ? last : maker->fetch_after;
    const app__bucket_t bytes = {
        layer_dense_bytes(maker, layer, plan->parameter_bytes),
        layer_expert_bytes(maker, layer, plan->parameter_bytes),
    };
    const uint32_t op = start_both(maker, APP__COLL_ALL_GATHER, bytes, "parameters");
    maker->last = last;
    maker->fetch_after = last;
    app__maker_need(maker, op);
}

// -- gradients

void app__maker_flush(app__maker_t *maker)
{
    const app__iteration_t *const plan = maker->plan;
    const app__coll_kind_t kind = plan->zero == 0 ? APP__COLL_ALL_REDUCE : APP__COLL_REDUCE_SCATTER;
    const bool whole = plan->overlap != APP__OVERLAP_NONE || plan->bucket_bytes == 0;
    while (maker->bucket.dense_bytes + maker->bucket.expert_bytes > 0) {
        app__bucket_t piece = maker->bucket;
        if (!whole && piece.dense_bytes > plan->bucket_bytes) {
            piece.dense_bytes = plan->bucket_bytes;
        }
        if (!whole && piece.expert_bytes > plan->bucket_bytes) {
            piece.expert_bytes = plan->bucket_bytes;
        }
        maker->bucket.dense_bytes -= piece.dense_bytes;
        maker->bucket.expert_bytes -= piece.expert_bytes;
        start_both(maker, kind, piece, "gradients");
    }
}

void app__maker_gradients(app__maker_t *maker, uint64_t layer)
{
    const app__iteration_t *const plan = maker->plan;
    maker->bucket.dense_bytes += layer_dense_bytes(maker, layer, plan->gradient_bytes);
    maker->bucket.expert_bytes += layer_expert_bytes(maker, layer, plan->gradient_bytes);
    const uint64_t bytes = maker->bucket.dense_bytes + maker->bucket.expert_bytes;
    if (plan->overlap != APP__OVERLAP_NONE && plan->bucket_bytes > 0 &&
        bytes >= plan->bucket_bytes) {
        app__maker_flush(maker);
    }
}

// -- parameters after the update

// Starts the collective of layers that were noted, and notes for each of them what brings it.
static void gather_bucket(app__maker_t *maker, app__bucket_t *bucket, const uint64_t *layers,
                          size_t *count)
{
    const uint32_t op = start_both(maker, APP__COLL_ALL_GATHER, *bucket, "parameters");
    for (size_t i = 0; i < *count; i++) {
        maker->gathered[layers[i]] = op;
    }
    *bucket = (app__bucket_t){0};
    *count = 0;
}

void app__maker_gather(app__maker_t *maker)
{
    const app__iteration_t *const plan = maker->plan;
    if (plan->zero == 0 || plan->zero == 3) {
        return;
    }
    uint64_t *const layers = sim_alloc_array(plan->model.layers + 1, sizeof(*layers));
    // The bucket is in bytes of gradients.
    const uint64_t limit = (plan->bucket_bytes * plan->parameter_bytes + plan->gradient_bytes - 1) /
                           plan->gradient_bytes;
    app__bucket_t bucket = {0};
    size_t count = 0;
    for (uint32_t c = 0; c < plan->vpp; c++) {
        const uint64_t chunk = (uint64_t)c * plan->pp + maker->stage;
        const uint64_t end = app__iteration_first_layer(plan, chunk + 1);
        for (uint64_t i = app__iteration_first_layer(plan, chunk); i < end; i++) {
            bucket.dense_bytes += layer_dense_bytes(maker, i, plan->parameter_bytes);
            bucket.expert_bytes += layer_expert_bytes(maker, i, plan->parameter_bytes);
            layers[count++] = i;
            if (limit > 0 && bucket.dense_bytes + bucket.expert_bytes >= limit) {
                gather_bucket(maker, &bucket, layers, &count);
            }
        }
    }
    gather_bucket(maker, &bucket, layers, &count);
    sim_free(layers);
}

void app__maker_gathered(app__maker_t *maker, uint64_t layer)
{
    app__maker_need(maker, maker->gathered[layer]);
    maker->gathered[layer] = APP__NO_CHAIN;
}

void app__maker_update(app__maker_t *maker)
{
    app__maker_flush(maker);
    app__maker_need(maker, maker->data);
    app__maker_compute_ns(maker, (double)maker->plan->update_ns);
    if (maker->plan->overlap != APP__OVERLAP_ALL) {
        app__maker_gather(maker);
        for (uint64_t i = 0; i < maker->plan->model.layers; i++) {
            maker->gathered[i] = APP__NO_CHAIN; // the next iteration waits for all
        }
        app__maker_need(maker, maker->data);
    }
}
