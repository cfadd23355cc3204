// SPDX-License-Identifier: Apache-2.0
// apps/serving/transfers/kv_transfer.c - transfers of KV data between nodes
// (docs/models/serving.md).
//
// A transfer between GPUs has as many flows as the larger host has GPUs: flow f uses GPU
// f x GPUs / flows at each end; or it has some of the flows between two groups of GPUs. A transfer
// of host memory, to or from storage nodes, has a flow for each NIC that its node has for storage.
// GPUs share the other NICs of their host in order.
#include "apps/serving/transfers/kv_transfer.h"

#include "apps/mooncake_memory.h"
#include "apps/serving/transfers/node_channels.h"

typedef struct move {
    sim_link_t link; // among the moves of its node that have not ended
    app__serving_transfer_t transfer;
    uint32_t flows;
    uint32_t left; // flows that have not ended
    bool failed;
    sim_time_t began_ps;
} move_t;

#define KV_AREA (UINT64_C(1) << 60)

uint64_t app__serving_address(const app__serving_node_t *node, uint32_t place)
{
    const uint64_t app = node->serving->app.index % 16u;
    return KV_AREA + (app * (APP__SERVING_HOST + 1u) + place) * APP__SERVING_PLACE_BYTES;
}

uint32_t app__serving_nic_of_gpu(const app__serving_node_t *node, uint32_t gpu)
{
    const uint64_t nics = node->nics - node->storage_nics;
    return (uint32_t)(gpu * nics / node->place.gpus);
}

uint32_t app__serving_rank_of(const app__serving_node_t *node, uint32_t flow, uint32_t flows)
{
    return (uint32_t)(flow * node->gpus.count / flows) / node->place.gpus;
}

uint32_t app__serving_flows(const app__serving_transfer_t *transfer)
{
    const app__serving_node_t *const node = transfer->node;
    if (transfer->host) {
        return node->storage_nics > 0 ? node->storage_nics : node->nics;
    }
    const uint32_t peer = node->serving->nodes[transfer->peer].place.gpus;
    return transfer->flow_count > 0 ? transfer->flow_count : SIM_MAX(node->place.gpus, peer);
}

app__serving_end_t app__serving_end(const app__serving_transfer_t *transfer,
                                    const app__serving_node_t *node, uint32_t flow, uint32_t flows)
{
    if (transfer->host) {
        const uint32_t nics = node->storage_nics > 0 ? node->storage_nics : node->nics;
        return (app__serving_end_t){
            .node = node,
            .nic = node->nics - nics + (uint32_t)((uint64_t)flow * nics / flows),
            .place = APP__SERVING_HOST,
        };
    }
    const uint32_t all = node->serving->flows;
    const uint64_t gpu = transfer->flow_count > 0 ? (transfer->first_flow + flow) *
                                                        node->gpus.count / all % node->place.gpus
                                                  : (uint64_t)flow * node->place.gpus / flows;
    return (app__serving_end_t){
        .node = node,
        .nic = app__serving_nic_of_gpu(node, (uint32_t)gpu),
        .place = (uint32_t)gpu,
    };
}

static void count_bytes(const move_t *move)
{
    const app__serving_transfer_t *const transfer = &move->transfer;
    app__serving_node_t *const node = transfer->node;
    const app__serving_node_t *const peer = &node->serving->nodes[transfer->peer];
    for (uint32_t f = 0; f < move->flows; f++) {
        const uint32_t nic = app__serving_end(transfer, node, f, move->flows).nic;
        const uint32_t peer_nic =
            peer->first_nic + app__serving_end(transfer, peer, f, move->flows).nic;
        if (transfer->reads) {
            node->nic_received[nic] += transfer->bytes;
            node->read_from[peer_nic] += transfer->bytes;
        } else {
            node->nic_sent[nic] += transfer->bytes;
            node->written_to[peer_nic] += transfer->bytes;
        }
    }
    if (transfer->unlisted) {
        return;
    }
    app__serving_note_operation(node,
                                transfer->reads ? APP__SERVING_DID_READ : APP__SERVING_DID_SEND,
                                move->began_ps, transfer->peer, transfer->bytes * move->flows);
}

static void end_move(move_t *move)
{
    const app__serving_transfer_t transfer = move->transfer;
    const bool good = !move->failed;
    if (good) {
        count_bytes(move);
    }
    sim_list_remove(&transfer.node->moves, &move->link);
    const uint64_t moved_bytes = transfer.bytes * move->flows;
    sim_free(move);
    transfer.fn(transfer.ctx, good ? moved_bytes : 0, good);
}

// -- by verbs

static void flow_done(void *ctx, bool good)
{
    move_t *const move = ctx;
    move->failed = move->failed || !good;
    if (--move->left == 0) {
        end_move(move);
    }
}

static void move_by_verbs(move_t *move)
{
    const app__serving_transfer_t *const transfer = &move->transfer;
    const app__serving_node_t *const peer = &transfer->node->serving->nodes[transfer->peer];
    const uint32_t flows = move->flows;
    move->left = flows;
    for (uint32_t f = 0; f < flows; f++) {
        const app__serving_end_t from = app__serving_end(transfer, transfer->node, f, flows);
        const app__serving_end_t to = app__serving_end(transfer, peer, f, flows);
        app__serving_post_flow(&from, &to, transfer, flow_done, move);
    }
}

// -- by Mooncake's engine

static void batch_done(app_mooncake_batch_id_t batch_id, void *ctx)
{
    move_t *const move = ctx;
    app_mooncake_t *const engine = move->transfer.node->engine;
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
    const app__serving_transfer_t *const transfer = &move->transfer;
    app__serving_node_t *const node = transfer->node;
    const app__serving_node_t *const peer = &node->serving->nodes[transfer->peer];
    app_mooncake_batch_id_t batch_id = -1;
    if (id >= 0) {
        app_mooncake_request_t *const requests = sim_alloc_array(move->flows, sizeof(*requests));
        for (uint32_t f = 0; f < move->flows; f++) {
            const app__serving_end_t from = app__serving_end(transfer, node, f, move->flows);
            const app__serving_end_t to = app__serving_end(transfer, peer, f, move->flows);
            requests[f] = (app_mooncake_request_t){
                .opcode = transfer->reads ? APP_MOONCAKE_READ : APP_MOONCAKE_WRITE,
                .source = app__serving_address(node, from.place) + transfer->offset,
                .target_id = id,
                .target_offset = app__serving_address(peer, to.place) + transfer->offset,
                .length = transfer->bytes,
            };
        }
        batch_id = app_mooncake_submit(node->engine, requests, move->flows);
        sim_free(requests);
    }
    if (batch_id < 0) {
        move->failed = true;
        end_move(move);
        return;
    }
    (void)app_mooncake_on_transfers(node->engine, batch_id, batch_done, move);
}

void app__serving_move(const app__serving_transfer_t *transfer)
{
    app__serving_node_t *const node = transfer->node;
    move_t *const move = sim_alloc(sizeof(*move));
    *move = (move_t){
        .transfer = *transfer,
        .flows = app__serving_flows(transfer),
        .began_ps = node->node->now_ps,
    };
    sim_list_push_last(&node->moves, &move->link);
    if (transfer->bytes == 0) {
        end_move(move);
    } else if (transfer->notice > 0 || node->serving->config.transport == APP__SERVING_WRITES) {
        move_by_verbs(move);
    } else {
        const app_mooncake_t *const peer = node->serving->nodes[transfer->peer].engine;
        app_mooncake_get_segment_id(node->engine, app_mooncake_name(peer), segment_found, move);
    }
}

void app__serving_moves_fini(app__serving_node_t *node)
{
    move_t *move = NULL;
    while ((move = SIM_LIST_POP(&node->moves, move_t, link)) != NULL) {
        sim_free(move);
    }
}
