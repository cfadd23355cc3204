// SPDX-License-Identifier: Apache-2.0
// apps/serving/move.c - KV data of a request from its prefill node to its decode node
// (docs/models/serving.md).
//
// Flow f goes from GPU f x tp / flows of the prefill node to GPU f x tp / flows of the decode node;
// there are as many flows as the larger node has GPUs. The GPUs of a node share its NICs in order.
#include "apps/serving/serving.h"

typedef struct move {
    app__mc_link_t link; // among the moves of its node that have not ended
    app__serving_job_t *job;
    app__serving_moved_fn fn;
    uint64_t from; // units
    uint64_t to;
    uint32_t left; // flows that have not ended
    bool failed;
    sim_time_t began_ps;
} move_t;

#define KV_AREA (UINT64_C(1) << 60)

uint32_t app__serving_gpu_of(const app__serving_node_t *node, uint32_t flow)
{
    return (uint32_t)(flow * node->gpus.count / node->serving->flows);
}

uint64_t app__serving_address(const app__serving_node_t *node, uint32_t gpu)
{
    const uint64_t app = node->serving->app.index % 16u;
    return KV_AREA + (app * APP__SERVING_GPUS_MAX + gpu) * APP__SERVING_GPU_BYTES;
}

uint32_t app__serving_nic_of(const app__serving_node_t *node, uint32_t flow)
{
    return app__serving_nic_of_gpu(node, app__serving_gpu_of(node, flow));
}

uint32_t app__serving_nic_of_gpu(const app__serving_node_t *node, uint32_t gpu)
{
    return (uint32_t)((uint64_t)gpu * node->nics / node->gpus.count);
}

// Returns the bytes of the units before `units`, in one flow.
static uint64_t bytes_of(const app__serving_t *serving, uint64_t units)
{
    return (uint64_t)((sim_wide_t)units * serving->flow_unit_bytes / serving->served.sizes.layers);
}

static void end_move(move_t *move)
{
    app__serving_job_t *const job = move->job;
    app__serving_node_t *const node = job->node;
    const app__serving_t *const serving = node->serving;
    const bool good = !move->failed;
    if (good) {
        const uint64_t bytes = bytes_of(serving, move->to) - bytes_of(serving, move->from);
        node->counters.sent_bytes += bytes * serving->flows;
        for (uint32_t f = 0; f < serving->flows; f++) {
            node->nic_sent[app__serving_nic_of(node, f)] += bytes;
        }
        app__serving_note_operation(node,
                                    APP__SERVING_DID_SEND,
                                    move->began_ps,
                                    job->peer,
                                    bytes * serving->flows);
    }
    const app__serving_moved_fn fn = move->fn;
    app__mc_chain_remove(&node->moves, &move->link);
    sim_free(move);
    fn(job, good);
}

void app__serving_count_received(app__serving_node_t *node, uint64_t units)
{
    const uint64_t bytes = bytes_of(node->serving, units);
    node->counters.received_bytes += bytes * node->serving->flows;
    for (uint32_t f = 0; f < node->serving->flows; f++) {
        node->nic_received[app__serving_nic_of(node, f)] += bytes;
    }
}

// -- by WRITEs

static void flow_done(void *ctx, bool good)
{
    move_t *const move = ctx;
    move->failed = move->failed || !good;
    if (--move->left == 0) {
        end_move(move);
    }
}

static void move_by_writes(move_t *move)
{
    app__serving_node_t *const node = move->job->node;
    const app__serving_t *const serving = node->serving;
    const app__serving_node_t *const peer = &serving->nodes[move->job->peer];
    const uint64_t from = serving->stage_at[move->job->number] + bytes_of(serving, move->from);
    const uint64_t bytes = bytes_of(serving, move->to) - bytes_of(serving, move->from);
    move->left = serving->flows;
    for (uint32_t f = 0; f < serving->flows; f++) {
        app__serving_wire_write(node, peer, f, from, bytes, flow_done, move);
    }
}

// -- by Mooncake's engine

static void batch_done(app_mooncake_batch_id_t batch_id, void *ctx)
{
    move_t *const move = ctx;
    app_mooncake_t *const engine = move->job->node->engine;
    const app__mc_batch_t *const batch = engine->batches[(uint64_t)batch_id & UINT32_MAX];
    for (uint64_t i = 0; i < batch->count; i++) {
        move->failed = move->failed || batch->tasks[i]->status != APP_MOONCAKE_COMPLETED;
    }
    const int freed = app_mooncake_free_batch_id(engine, batch_id);
    SIM_CHECK(freed == SIM_OK);
    end_move(move);
}

static void segment_found(app_mooncake_segment_id_t id, void *ctx)
{
    move_t *const move = ctx;
    const app__serving_job_t *const job = move->job;
    const app__serving_t *const serving = job->node->serving;
    const app__serving_node_t *const peer = &serving->nodes[job->peer];
    const uint64_t at = serving->stage_at[job->number];
    const uint64_t from = at + bytes_of(serving, move->from);
    const uint64_t bytes = at + bytes_of(serving, move->to) - from;
    app_mooncake_batch_id_t batch_id = -1;
    if (id >= 0) {
        app_mooncake_request_t *const requests = sim_alloc_array(serving->flows, sizeof(*requests));
        for (uint32_t f = 0; f < serving->flows; f++) {
            requests[f] = (app_mooncake_request_t){
                .opcode = APP_MOONCAKE_WRITE,
                .source = app__serving_address(job->node, app__serving_gpu_of(job->node, f)) + from,
                .target_id = id,
                .target_offset = app__serving_address(peer, app__serving_gpu_of(peer, f)) + from,
                .length = bytes,
            };
        }
        batch_id = app_mooncake_submit(job->node->engine, requests, serving->flows);
        sim_free(requests);
    }
    if (batch_id < 0) {
        move->failed = true;
        end_move(move);
        return;
    }
    (void)app_mooncake_on_transfers(job->node->engine, batch_id, batch_done, move);
}

void app__serving_move(app__serving_job_t *job,
                       uint64_t from,
                       uint64_t to,
                       app__serving_moved_fn fn)
{
    const app__serving_t *const serving = job->node->serving;
    move_t *const move = sim_alloc(sizeof(*move));
    *move = (move_t){
        .job = job,
        .fn = fn,
        .from = from,
        .to = to,
        .began_ps = job->node->node->now_ps,
    };
    app__mc_chain_add(&job->node->moves, &move->link);
    if (bytes_of(serving, from) == bytes_of(serving, to)) {
        end_move(move);
    } else if (serving->wire != NULL) {
        move_by_writes(move);
    } else {
        const app_mooncake_t *const peer = serving->nodes[job->peer].engine;
        app_mooncake_get_segment_id(job->node->engine,
                                    app_mooncake_name(peer),
                                    segment_found,
                                    move);
    }
}

void app__serving_moves_fini(app__serving_node_t *node)
{
    app__mc_link_t *link = node->moves.oldest;
    while (link != NULL) {
        move_t *const move = SIM_CONTAINER_OF(link, move_t, link);
        link = link->newer;
        sim_free(move);
    }
}
