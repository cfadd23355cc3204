// SPDX-License-Identifier: Apache-2.0
// apps/serving/transfers/fetch.c - how prefill nodes get KV data of earlier prompts, and how they
// write it to the store (docs/models/serving.md).
//
// Data comes from the node that has most of a prompt's blocks, or from the store, whose nodes hold
// equal parts of each block. A decode node may fetch it for a prefill node. Each further host of an
// instance fetches for its layers.
#include "apps/serving/transfers/cache.h"

#include "apps/serving/hosts/members.h"
#include "apps/serving/messages.h"
#include "apps/serving/transfers/kv_transfer.h"

// Returns the bytes that each flow of a transfer of this number of tokens has, in the layers of a
// host.
static uint64_t flow_bytes(const app__serving_transfer_t *transfer, uint64_t tokens, uint64_t parts)
{
    const app__serving_t *const serving = transfer->node->serving;
    const app__gpus_t *const gpus = &transfer->node->gpus;
    const app__serving_place_t *const place = &transfer->node->place;
    const uint64_t layer_bytes = gpus->kv_token_bytes / serving->served.sizes.layers;
    uint64_t flows = app__serving_flows(transfer) * parts * place->tp_hosts;
    if (!transfer->host) {
        // GPUs that compute with the same heads need the same data.
        const uint64_t shares = app__served_kv_shares(&serving->served);
        flows = SIM_MIN(shares, gpus->count) * (flows / gpus->count);
    }
    return (tokens * layer_bytes * place->layers + flows - 1) / flows;
}

// Moves tokens between a node and all storage nodes, which hold equal parts.
static uint32_t move_stored(app__serving_node_t *node, uint32_t number, uint64_t tokens, bool reads,
                            app__serving_moved_fn fn, void *ctx)
{
    const app__serving_t *const serving = node->serving;
    for (uint32_t s = 0; s < serving->storage_count; s++) {
        app__serving_transfer_t transfer = {
            .node = node,
            .peer = serving->node_count + s,
            .reads = reads,
            .host = true,
            .offset = serving->stage_at[number % serving->requests.count] * serving->host_scale,
            .fn = fn,
            .ctx = ctx,
        };
        transfer.bytes = flow_bytes(&transfer, tokens, serving->storage_count);
        app__serving_move(&transfer);
    }
    return serving->storage_count;
}

// Reads tokens from the host of another node that has the same place in it.
static void read_from(app__serving_node_t *node, uint32_t number, uint64_t tokens, uint32_t leader,
                      app__serving_moved_fn fn, void *ctx)
{
    const app__serving_t *const serving = node->serving;
    app__serving_transfer_t transfer = {
        .node = node,
        .peer = app__serving_host_of(serving, leader, node->place.number),
        .reads = true,
        .offset = serving->stage_at[number % serving->requests.count],
        .fn = fn,
        .ctx = ctx,
    };
    transfer.bytes = flow_bytes(&transfer, tokens, 1);
    app__serving_move(&transfer);
}

static void fetched(void *ctx, uint64_t bytes, bool good)
{
    app__serving_job_t *const job = ctx;
    job->node->counters.fetched_bytes += bytes;
    job->fetch_failed = job->fetch_failed || !good;
    if (--job->under_way == 0) {
        app__serving_fetched(job, !job->fetch_failed);
    }
}

void app__serving_fetch(app__serving_job_t *job)
{
    app__serving_node_t *const node = job->node;
    const app__serving_t *const serving = node->serving;
    if (job->through_decode) {
        const uint64_t words[3] = {job->to_fetch, node->index, 0};
        app__serving_send(serving, node->station, 1 + job->peer, APP__SERVING_FETCH, job->number,
                          words);
        return;
    }
    const bool peer = job->source < serving->node_count;
    job->under_way = (peer ? 1 : serving->storage_count) + node->place.host_count - 1;
    app__serving_send_to_members(node, APP__SERVING_PART_READ,
                                 job->number | (uint64_t)job->source << 32, job->to_fetch);
    if (peer) {
        read_from(node, job->number, job->to_fetch, job->source, fetched, job);
    } else {
        (void)move_stored(node, job->number, job->to_fetch, true, fetched, job);
    }
}

void app__serving_member_fetched(app__serving_node_t *node, uint32_t number, bool failed)
{
    const app__serving_jobs_t *const jobs = &node->serving->jobs[number];
    app__serving_job_t *const job = jobs->prefill != NULL ? jobs->prefill : jobs->decode;
    if (job != NULL) {
        SIM_CHECK(job->under_way > 0);
        fetched(job, 0, !failed);
    }
}

void app__serving_fetch_from_decode(app__serving_job_t *job, bool good)
{
    if (!good) {
        app__serving_fetched(job, false);
        return;
    }
    job->under_way = 1;
    read_from(job->node, job->number, job->to_fetch, job->peer, fetched, job);
}

// -- a node that fetches for another one, or for its leader

typedef struct proxy {
    sim_link_t link;
    app__serving_node_t *node;
    uint32_t number;
    uint32_t prefill; // node
    uint32_t left;
    bool failed;
    bool inside; // for the leader of its own node
} proxy_fetch_t;

static void proxy_done(void *ctx, uint64_t bytes, bool good)
{
    proxy_fetch_t *const proxy = ctx;
    app__serving_node_t *const node = proxy->node;
    node->counters.fetched_bytes += bytes;
    proxy->failed = proxy->failed || !good;
    if (--proxy->left > 0 || node->lost) {
        return;
    }
    const uint64_t words[3] = {proxy->failed ? 1 : 0, 0, 0};
    if (proxy->inside) {
        app__serving_send_to_host(node, proxy->prefill, APP__SERVING_PART_GOT, proxy->number,
                                  words[0]);
    } else {
        app__serving_send(node->serving, node->station, 1 + proxy->prefill, APP__SERVING_FETCHED,
                          proxy->number, words);
    }
    sim_list_remove(&node->proxy_fetches, &proxy->link);
    sim_free(proxy);
}

void app__serving_on_fetch(app__serving_node_t *node, uint32_t number, uint64_t tokens,
                           uint32_t prefill)
{
    proxy_fetch_t *const proxy = sim_alloc(sizeof(*proxy));
    *proxy = (proxy_fetch_t){
        .node = node,
        .number = number,
        .prefill = prefill,
        .left = node->serving->storage_count,
    };
    sim_list_push_last(&node->proxy_fetches, &proxy->link);
    (void)move_stored(node, number, tokens, true, proxy_done, proxy);
}

void app__serving_fetch_part(app__serving_node_t *node, uint32_t number, uint64_t tokens,
                             uint32_t source)
{
    const bool peer = source < node->serving->node_count;
    proxy_fetch_t *const proxy = sim_alloc(sizeof(*proxy));
    *proxy = (proxy_fetch_t){
        .node = node,
        .number = number,
        .prefill = node->place.leader,
        .left = peer ? 1 : node->serving->storage_count,
        .inside = true,
    };
    sim_list_push_last(&node->proxy_fetches, &proxy->link);
    if (peer) {
        read_from(node, number, tokens, source, proxy_done, proxy);
    } else {
        (void)move_stored(node, number, tokens, true, proxy_done, proxy);
    }
}

void app__serving_proxy_fetches_fini(app__serving_node_t *node)
{
    proxy_fetch_t *proxy = NULL;
    while ((proxy = SIM_LIST_POP(&node->proxy_fetches, proxy_fetch_t, link)) != NULL) {
        sim_free(proxy);
    }
}

// -- writing to the store

static void stored(void *ctx, uint64_t bytes, bool good)
{
    app__serving_node_t *const node = ctx;
    (void)good;
    node->counters.stored_bytes += bytes;
}

void app__serving_store(app__serving_job_t *job)
{
    const app__serving_t *const serving = job->node->serving;
    const app__request_t *const request = app__serving_request(serving, job->number);
    const uint64_t blocks = (uint64_t)request->block_count * serving->requests.block_tokens;
    const uint64_t tokens = SIM_MIN(blocks, request->prompt_tokens);
    if (serving->storage_count == 0 || serving->config.cache != APP__SERVING_STORE ||
        tokens <= job->reused) {
        return;
    }
    app__serving_send_to_members(job->node, APP__SERVING_PART_KEEP, job->number,
                                 tokens - job->reused);
    app__serving_store_part(job->node, job->number, tokens - job->reused);
}

void app__serving_store_part(app__serving_node_t *node, uint32_t number, uint64_t tokens)
{
    (void)move_stored(node, number, tokens, false, stored, node);
}
