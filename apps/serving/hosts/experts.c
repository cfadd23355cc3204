// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/experts.c - experts that are spread over the nodes of a pool: tokens travel to
// the nodes of their experts and back, over the fabric (docs/models/serving.md).
//
// After each group of layers, a node WRITEs the activations of its tokens to all nodes of its pool
// in equal parts, and then READs as much. Experts are balanced, and nodes do not wait for each
// other's steps.
#include "apps/serving/hosts/experts.h"

#include "apps/serving/node.h"
#include "apps/serving/transfers/kv_transfer.h"

bool app__serving_spreads(const app__serving_node_t *node)
{
    return node->gpus.expert_nodes > 1;
}

// Returns the layers with experts among the first `layers` ones.
static uint64_t expert_layers(const app__serving_t *serving, uint64_t layers)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < layers; i++) {
        count += app__model_has_experts(&serving->served.sizes, i);
    }
    return count;
}

uint64_t app__serving_exchange_bytes(const app__serving_t *serving, uint64_t tokens)
{
    const app__model_t *const sizes = &serving->served.sizes;
    return tokens * sizes->top_k * sizes->hidden * serving->config.value_bytes;
}

// Returns the bytes of a flow to each node after the present group of layers.
static uint64_t flow_bytes(const app__serving_node_t *node, uint32_t flows)
{
    const app__serving_t *const serving = node->serving;
    const app__serving_place_t *const place = &node->place;
    const uint64_t first = place->first_layer;
    const uint64_t from = expert_layers(serving, first + place->layers * (node->stage.group - 1) /
                                                             node->stage.groups);
    const uint64_t to =
        expert_layers(serving, first + place->layers * node->stage.group / node->stage.groups);
    // The hosts of a stage share the tokens.
    const uint64_t parts = node->gpus.expert_nodes * flows * place->tp_hosts;
    return (app__serving_exchange_bytes(serving, node->stage.now->tokens) * (to - from) + parts -
            1) /
           parts;
}

static void part_done(void *ctx, uint64_t bytes, bool good);

static void begin(app__serving_node_t *node, bool reads)
{
    const app__serving_t *const serving = node->serving;
    const uint32_t first = node->decodes ? serving->prefill_count : 0;
    const uint32_t count = (uint32_t)node->gpus.expert_nodes;
    node->stage.exchange.reads = reads;
    node->stage.exchange.left = 1; // until all transfers have begun
    for (uint32_t i = 1; i < count; i++) {
        // Each node begins with the one behind it.
        const uint32_t peer = first + (node->place.leader - first + i) % count;
        if (node->lost_peers[peer]) {
            continue;
        }
        app__serving_transfer_t transfer = {
            .node = node,
            .peer = app__serving_host_of(serving, peer, node->place.number),
            .reads = reads,
            .unlisted = true,
            .offset = serving->exchange_at,
            .fn = part_done,
            .ctx = node,
        };
        transfer.bytes = flow_bytes(node, app__serving_flows(&transfer));
        node->stage.exchange.left++;
        app__serving_move(&transfer);
    }
    part_done(node, 0, true);
}

static void part_done(void *ctx, uint64_t bytes, bool good)
{
    app__serving_node_t *const node = ctx;
    node->counters.exchange_bytes += bytes;
    node->counters.exchanges_failed += !good;
    if (--node->stage.exchange.left > 0 || node->lost) {
        return;
    }
    if (!node->stage.exchange.reads) {
        begin(node, true);
        return;
    }
    const sim_time_t waited_ps = node->node->now_ps - node->stage.exchange.began_ps;
    node->stage.waited_ps += waited_ps;
    node->counters.exchange_ps += waited_ps;
    app__serving_note_operation(node, APP__SERVING_DID_EXCHANGE, node->stage.exchange.began_ps,
                                UINT32_MAX,
                                node->counters.exchange_bytes - node->stage.exchange.bytes_before);
    app__serving_exchanged(node);
}

void app__serving_exchange(app__serving_node_t *node)
{
    node->stage.exchange.began_ps = node->node->now_ps;
    node->stage.exchange.bytes_before = node->counters.exchange_bytes;
    begin(node, false);
}
