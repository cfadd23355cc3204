// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/ring.c - all-reduces between the hosts that share the layers of a stage, and
// the sizes of activations (docs/models/serving.md).
//
// GPUs of a host reduce over its scale-up links, which the time of a step has. Then GPU g of each
// host reduces its share with GPU g of the others, by the ring of collectives
// (apps/workload/collective/algorithms/ring.c): RDMA WRITEs with immediate values. A group of
// layers has two all-reduces with the activations of all its layers.
#include "apps/serving/hosts/ring.h"

#include "apps/serving/hosts/members.h"
#include "apps/serving/node.h"
#include "apps/serving/transfers/kv_transfer.h"
#include "apps/workload/collective/algorithms/program.h"

// The ring of the hosts of a stage.
struct app__serving_ring {
    app__layout_t layout;
    app__program_t program;
};

#define REDUCES 2u // of a layer: behind the attention and behind the MLP

static void make_ring(app__serving_ring_t *ring, uint32_t hosts)
{
    ring->layout = (app__layout_t){.ranks = hosts, .nodes = hosts, .per_node = 1};
    ring->layout.node = sim_alloc_array(hosts, sizeof(uint32_t));
    ring->layout.local = sim_alloc_array(hosts, sizeof(uint32_t));
    ring->layout.rail = sim_alloc_array(hosts, sizeof(uint32_t));
    ring->layout.order = sim_alloc_array(hosts, sizeof(uint32_t));
    ring->layout.node_first = sim_alloc_array((size_t)hosts + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < hosts; i++) {
        ring->layout.node[i] = i;
        ring->layout.order[i] = i;
        ring->layout.node_first[i + 1] = i + 1;
    }
    ring->program = (app__program_t){
        .algorithm = &app__ring,
        .layout = &ring->layout,
        .ranks = hosts,
        .channels = 1,
        .kind = APP__COLL_ALL_REDUCE,
    };
    app__ring.plan(&ring->program);
}

void app__serving_ring_init(app__serving_t *serving)
{
    serving->rings = sim_alloc_array(2, sizeof(*serving->rings));
    make_ring(&serving->rings[0], serving->nodes[0].place.tp_hosts);
    make_ring(&serving->rings[1], serving->nodes[serving->node_count - 1].place.tp_hosts);
}

void app__serving_ring_fini(app__serving_t *serving)
{
    for (uint32_t i = 0; i < 2 && serving->rings != NULL; i++) {
        app__layout_t *const layout = &serving->rings[i].layout;
        SIM_FREE_ALL(layout->node, layout->local, layout->rail, layout->order, layout->node_first);
    }
    sim_free(serving->rings);
}

static uint64_t activations(const app__serving_node_t *node, uint64_t tokens)
{
    const app__serving_t *const serving = node->serving;
    return tokens * serving->served.sizes.hidden * serving->config.value_bytes;
}

uint64_t app__serving_reduce_bytes(const app__serving_node_t *node, uint64_t tokens,
                                   uint64_t layers)
{
    const uint64_t gpus = node->place.gpus;
    return (activations(node, tokens) * layers + gpus - 1) / gpus;
}

uint64_t app__serving_pass_bytes(const app__serving_node_t *node, uint64_t tokens)
{
    const uint64_t gpus = node->place.gpus;
    return (activations(node, tokens) + gpus - 1) / gpus;
}

static void sent(void *ctx, uint64_t bytes, bool good)
{
    app__serving_node_t *const node = ctx;
    node->counters.tp_bytes += bytes;
    if (!good) {
        app__serving_break(node);
    }
}

// Returns the bytes of the all-reduce under way.
static uint64_t present_bytes(const app__serving_node_t *node)
{
    const app__serving_place_t *const place = &node->place;
    const uint64_t from = place->layers * (node->stage.group - 1) / node->stage.groups;
    const uint64_t to = place->layers * node->stage.group / node->stage.groups;
    return app__serving_reduce_bytes(node, node->stage.now->tokens, to - from);
}

static void send(app__serving_node_t *node, uint32_t rank, uint64_t bytes)
{
    const app__serving_place_t *const place = &node->place;
    const app__serving_transfer_t transfer = {
        .node = node,
        .peer = app__serving_host_of(node->serving, place->leader,
                                     place->stage * place->tp_hosts + rank),
        .unlisted = true,
        .notice = APP__SERVING_REDUCED + 1,
        .offset = node->serving->exchange_at,
        .bytes = bytes > 0 ? bytes : 1,
        .fn = sent,
        .ctx = node,
    };
    app__serving_move(&transfer);
}

// Returns whether the next data of the host before has come, for all GPUs.
static bool has_come(const app__serving_node_t *node)
{
    for (uint32_t g = 0; g < node->place.gpus; g++) {
        if (node->stage.came[APP__SERVING_REDUCED][g] <= node->stage.taken[APP__SERVING_REDUCED]) {
            return false;
        }
    }
    return true;
}

void app__serving_reduce_on(app__serving_node_t *node)
{
    app__serving_place_t *const place = &node->place;
    const app__program_t *const program = &node->serving->rings[node->decodes ? 1 : 0].program;
    const uint32_t steps = app__ring.block(program, place->rank, 0).steps;
    const app__cut_t cut = app__cut(present_bytes(node), program->chunks, 0, false);
    while (node->stage.reduce.left > 0) {
        const app__step_t step =
            app__program_step(program, place->rank, 0, node->stage.reduce.ring_step);
        if ((step.what & APP__STEP_RECV) != 0) {
            if (!has_come(node)) {
                return;
            }
            node->stage.taken[APP__SERVING_REDUCED]++;
        }
        if ((step.what & APP__STEP_SEND) != 0) {
            send(node, step.send_peer,
                 app__cut_bytes(&cut, cut.bytes, 0, step.from_chunk, step.count));
        }
        if (++node->stage.reduce.ring_step == steps) {
            node->stage.reduce.ring_step = 0;
            node->stage.reduce.left--;
        }
    }
    const sim_time_t waited_ps = node->node->now_ps - node->stage.reduce.began_ps;
    node->stage.waited_ps += waited_ps;
    node->stage.reduce.waited_ps += waited_ps;
    app__serving_note_operation(node, APP__SERVING_DID_REDUCE, node->stage.reduce.began_ps,
                                UINT32_MAX, REDUCES * present_bytes(node) * place->gpus);
    app__serving_reduced(node);
}

void app__serving_reduce(app__serving_node_t *node)
{
    node->stage.reduce.left = REDUCES;
    node->stage.reduce.ring_step = 0;
    node->stage.reduce.began_ps = node->node->now_ps;
    app__serving_reduce_on(node);
}
