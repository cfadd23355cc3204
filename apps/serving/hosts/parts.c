// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/parts.c - the KV data of a prompt that one host of a prefill node sends
// (docs/models/serving.md).
//
// A host has its layers, in the heads of its GPUs. The flows of a prompt go from GPU f x tp / flows
// of its stage to GPU f x decode-tp / flows of each stage of the decode node that has some of these
// layers. The KV data of T tokens in the layers [a, b) has the bytes of the units T x a to T x b of
// a flow: those of all layers add up to the whole, however they are divided.
#include "apps/serving/hosts/part.h"

#include "apps/serving/hosts/members.h"
#include "apps/serving/job.h"
#include "apps/serving/transfers/kv_transfer.h"

// Layers that a stage of the decode node shares with a host.
typedef struct overlap {
    uint64_t first;
    uint64_t count;
} overlap_t;

static overlap_t overlap_of(const app__serving_part_t *part, uint32_t stage)
{
    const app__serving_place_t *const own = &part->node->place;
    const app__serving_t *const serving = part->node->serving;
    const uint64_t layers = serving->served.sizes.layers;
    const uint64_t stages = part->sent_count;
    const uint64_t begin = app__serving_first_layer(layers, stages, stage);
    const uint64_t end = app__serving_first_layer(layers, stages, (uint64_t)stage + 1);
    const uint64_t own_end = own->first_layer + own->layers;
    const uint64_t first = SIM_MAX(begin, own->first_layer);
    const uint64_t last = SIM_MIN(end, own_end);
    return (overlap_t){first, last > first ? last - first : 0};
}

void app__serving_part_init(app__serving_part_t *part, app__serving_node_t *node, uint32_t number,
                            uint32_t peer)
{
    *part = (app__serving_part_t){
        .node = node,
        .number = number,
        .peer = peer,
        .target = app__serving_request(node->serving, number)->prompt_tokens,
        .sent_count = node->serving->nodes[peer].place.stages,
    };
    part->sent = sim_alloc_array(part->sent_count, sizeof(*part->sent));
}

void app__serving_part_fini(app__serving_part_t *part)
{
    sim_free(part->sent);
}

void app__serving_part_skip(app__serving_part_t *part, uint64_t tokens)
{
    for (uint32_t t = 0; t < part->sent_count; t++) {
        part->sent[t] = tokens * overlap_of(part, t).count;
    }
}

// Returns the units that are computed in the layers of a stage of the decode node, and may be sent.
static uint64_t produced(const app__serving_part_t *part, const overlap_t *overlap)
{
    const bool whole = part->node->serving->config.kv == APP__SERVING_WHOLE;
    const uint64_t before = overlap->first - part->node->place.first_layer;
    uint64_t done = part->open_done > before ? part->open_done - before : 0;
    done = SIM_MIN(done, overlap->count);
    return whole && part->computed < part->target
               ? 0
               : part->computed * overlap->count + part->open * done;
}

bool app__serving_part_ended(const app__serving_part_t *part)
{
    bool all = true;
    for (uint32_t t = 0; t < part->sent_count && all; t++) {
        all = part->sent[t] == part->target * overlap_of(part, t).count;
    }
    return part->under_way == 0 && part->computed == part->target && (all || part->failed);
}

static void destroy(app__serving_part_t *part)
{
    sim_list_remove(&part->node->parts, &part->link);
    app__serving_part_fini(part);
    sim_free(part);
}

// Goes on when something of a part has ended: it may have been the last transfer.
static void settle(app__serving_part_t *part)
{
    if (part->node->lost) {
        return;
    }
    if (part->job != NULL) {
        app__serving_job_sent(part->job);
        return;
    }
    if (part->dropped && part->under_way == 0) {
        destroy(part);
    } else if (!part->dropped && app__serving_part_ended(part)) {
        app__serving_send_to_host(part->node, part->node->place.leader, APP__SERVING_PART_SENT,
                                  part->number, part->failed ? 1 : 0);
        destroy(part);
    }
}

static void moved(void *ctx, uint64_t bytes, bool good)
{
    app__serving_part_t *const part = ctx;
    part->node->counters.sent_bytes += bytes;
    part->under_way--;
    part->failed = part->failed || !good;
    settle(part);
}

// Sends bytes [from, to) of each flow to the hosts of a stage of the decode node.
static void send(app__serving_part_t *part, uint32_t stage, uint64_t from, uint64_t to)
{
    app__serving_node_t *const node = part->node;
    const app__serving_t *const serving = node->serving;
    const app__serving_node_t *const peer = &serving->nodes[part->peer];
    const uint32_t flows = serving->flows;
    uint32_t flow = 0;
    while (flow < flows) {
        const uint32_t first = flow;
        const uint32_t own = app__serving_rank_of(node, flow, flows);
        const uint32_t other = app__serving_rank_of(peer, flow, flows);
        while (flow < flows && app__serving_rank_of(node, flow, flows) == own &&
               app__serving_rank_of(peer, flow, flows) == other) {
            flow++;
        }
        if (own != node->place.rank) {
            continue;
        }
        const app__serving_transfer_t transfer = {
            .node = node,
            .peer = app__serving_host_of(serving, part->peer, stage * peer->place.tp_hosts + other),
            .offset = serving->stage_at[part->number % serving->requests.count] + from,
            .bytes = to - from,
            .first_flow = first,
            .flow_count = flow - first,
            .fn = moved,
            .ctx = part,
        };
        part->under_way++;
        app__serving_move(&transfer);
    }
}

void app__serving_part_send(app__serving_part_t *part)
{
    if (!part->granted || part->failed || part->dropped) {
        return;
    }
    part->under_way++; // a transfer without bytes may end at once
    for (uint32_t t = 0; t < part->sent_count; t++) {
        const overlap_t overlap = overlap_of(part, t);
        const uint64_t units = produced(part, &overlap);
        if (units > part->sent[t]) {
            const uint64_t first = part->target * overlap.first;
            const uint64_t from =
                app__serving_unit_bytes(part->node->serving, first + part->sent[t]);
            const uint64_t to = app__serving_unit_bytes(part->node->serving, first + units);
            part->sent[t] = units;
            send(part, t, from, to);
        }
    }
    part->under_way--;
}

// -- parts of hosts that do not lead

static app__serving_part_t *part_of(const app__serving_node_t *node, uint32_t number)
{
    app__serving_part_t *part = SIM_LIST_FIRST(&node->parts, app__serving_part_t, link);
    while (part != NULL && part->number != number) {
        part = SIM_LIST_NEXT(part, app__serving_part_t, link);
    }
    return part;
}

// Returns the part of a request's share of a step; NULL: it was dropped.
static app__serving_part_t *part_in(const app__serving_node_t *node,
                                    const app__serving_share_t *share)
{
    return share->job != NULL ? app__serving_part_of_job(share->job) : part_of(node, share->number);
}

void app__serving_part_layers(app__serving_node_t *node, const app__serving_share_t *share,
                              uint64_t layers)
{
    app__serving_part_t *const part = part_in(node, share);
    if (part != NULL) {
        part->open = share->tokens;
        part->open_done = layers;
        app__serving_part_send(part);
        settle(part);
    }
}

void app__serving_part_stepped(app__serving_node_t *node, const app__serving_share_t *share,
                               bool sends)
{
    app__serving_part_t *const part = part_in(node, share);
    if (part == NULL) {
        return;
    }
    part->open = 0;
    part->open_done = 0;
    part->computed += share->tokens;
    if (sends) {
        app__serving_part_send(part);
        settle(part);
    }
}

void app__serving_parts_prepare(app__serving_node_t *node, const app__serving_step_t *step)
{
    for (size_t i = 0; i < step->share_count; i++) {
        const app__serving_share_t *const share = &step->shares[i];
        if (!share->sends || part_of(node, share->number) != NULL) {
            continue;
        }
        app__serving_part_t *const part = sim_alloc(sizeof(*part));
        app__serving_part_init(part, node, share->number, share->peer);
        part->computed = share->before;
        part->granted = share->granted;
        sim_list_push_last(&node->parts, &part->link);
    }
}

void app__serving_part_granted(app__serving_node_t *node, uint32_t number)
{
    app__serving_part_t *const part = part_of(node, number);
    if (part != NULL) {
        part->granted = true;
        app__serving_part_send(part);
        settle(part);
    }
}

void app__serving_part_drop(app__serving_node_t *node, uint32_t number)
{
    app__serving_part_t *const part = part_of(node, number);
    if (part != NULL) {
        part->dropped = true;
        settle(part);
    }
}

void app__serving_parts_fini(app__serving_node_t *node)
{
    while (node->parts.first != NULL) {
        destroy(SIM_LIST_FIRST(&node->parts, app__serving_part_t, link));
    }
}
