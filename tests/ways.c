// SPDX-License-Identifier: Apache-2.0
// tests/ways.c - the plain ways of tests/ways.h: what keeps a switch or a window from the fast one.
#include "tests/ways.h"

#include "net/nodes.h"

// Adds a channel, without messages, between two neighbours of a node, so that nodes have no two
// colours.
static void add_odd_cycle(const world_t *world)
{
    net_node_t *const hub = net_link_at(world->net, 0).a;
    net_node_t *neighbours[2] = {NULL, NULL};
    uint32_t found = 0;
    for (uint32_t p = 0; p < hub->port_count && found < 2; p++) {
        net_node_t *const other = hub->ports[p].peer->node;
        if (found == 0 || other != neighbours[0]) {
            neighbours[found++] = other;
        }
    }
    SIM_CHECK(found == 2);
    (void)sim_channel_create(world->sim, &neighbours[0]->sim, &neighbours[1]->sim,
                             SIM_PORTS_PER_NODE_MAX - 1, SIM_PS_PER_MS);
}

static void hear(const net_trace_t *trace, void *ctx)
{
    (void)trace;
    (void)ctx;
}

static void listen_to_all(net_node_t *node)
{
    for (uint32_t p = 0; p < node->port_count; p++) {
        net_port_listen(&node->ports[p], NET_TRACE_TX, hear, NULL);
    }
}

void way_go(const world_t *world, way_t way)
{
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        net_node_t *const node = net_node_at(world->net, i);
        node->route_mask &= way == WAY_WITHOUT_ROUTES ? 0 : UINT8_MAX;
        node->one_by_one |= way == WAY_ONE_BY_ONE;
        if (way == WAY_HEARD) {
            listen_to_all(node);
        }
    }
    if (way == WAY_ODD_CYCLE) {
        add_odd_cycle(world);
    }
}
