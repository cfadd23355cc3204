// SPDX-License-Identifier: Apache-2.0
// results/run/gather_ranks.c - gathers at rank 0 what all ranks know, so that rank 0 writes the
// results of the whole run as one process would.
#include "results/run/gather_ranks.h"
#include "results/span.h"

#include "net/carry.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "nic/carry.h"
#include "world/explain.h"

// -- records

const void *results__port_packed(const net_port_t *port)
{
    const uint64_t number =
        port == NULL ? 0 : 1 + (((uint64_t)port->node->sim.index << 16) | port->index);
    return (const void *)(uintptr_t)number;
}

const net_port_t *results__port_unpacked(const net_t *net, const void *packed)
{
    const uint64_t number = (uintptr_t)packed;
    if (number == 0) {
        return NULL;
    }
    const net_node_t *const node = net_node_at(net, (size_t)((number - 1) >> 16));
    const uint32_t index = (uint32_t)(number - 1) & 0xffff;
    SIM_CHECK(index < node->port_count);
    return net_port_at(node, index);
}

// -- after the run

typedef struct carry {
    world_t *world;
    results_span_t *span;
    results_observers_t *observers;
} carry_t;

static void carry_state(world_t *world, sim_carry_t *carry)
{
    nic_carry(world->net, carry);
    for (size_t i = 0; i < world->app_count; i++) {
        world->apps[i]->ops->carry(world->apps[i], carry);
    }
}

static void take(unsigned rank, const void *bytes, size_t size, void *ctx)
{
    const carry_t *const carry = ctx;
    world_t *const world = carry->world;
    if (rank == 0) {
        return; // this rank itself
    }
    sim_reader_t reader = {bytes, size};
    net_carry_take(world->net, &reader);
    sim_carry_t of_rank = {.rank = rank, .from = &reader};
    carry_state(world, &of_rank);
    results__span_take(carry->span, &reader);
    if (carry->observers != NULL) {
        results__observers_take(carry->observers, &reader);
    }
    world_explain_take(world, &reader);
    SIM_CHECK(reader.left == 0);
}

void results__carry(world_t *world, results_span_t *span, results_observers_t *observers)
{
    const sim_ranks_t *const ranks = sim_ranks(world->sim);
    sim_buffer_t bytes = {0};
    if (ranks->rank > 0) {
        net_carry_leave(world->net, &bytes);
        sim_carry_t of_rank = {.rank = ranks->rank, .to = &bytes};
        carry_state(world, &of_rank);
        results__span_leave(span, &bytes);
        if (observers != NULL) {
            results__observers_leave(observers, &bytes);
        }
        world_explain_leave(world, &bytes);
    }
    carry_t carry = {world, span, observers};
    ranks->ops->collect(ranks->ctx, bytes.bytes, bytes.count, take, &carry);
    sim_free(bytes.bytes);
}

bool results__ranks_agree(const sim_ranks_t *ranks, bool succeeded, unsigned *worst)
{
    sim_ranks_view_t view = {.least = {succeeded ? SIM_RANKS_MAX : ranks->rank}};
    ranks->ops->agree(ranks->ctx, &view);
    *worst = (unsigned)view.least[0];
    return view.least[0] == SIM_RANKS_MAX;
}
