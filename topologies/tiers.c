// SPDX-License-Identifier: Apache-2.0
// topologies/tiers.c - computes the tier of each node: its distance from the hosts.
#include "net/nodes.h"
#include "topologies/builder_internal.h"

uint32_t *topo__tiers(const net_t *net)
{
    const size_t index_count = sim_node_count(net_sim(net));
    const size_t node_count = net_node_count(net);
    uint32_t *const tiers = sim_alloc_array(index_count, sizeof(*tiers));
    const net_node_t **const queue = sim_alloc_array(node_count + 1, sizeof(*queue));
    size_t queued = 0;
    for (size_t i = 0; i < index_count; i++) {
        tiers[i] = TOPO__TIER_NONE;
    }
    for (size_t i = 0; i < node_count; i++) {
        const net_node_t *const node = net_node_at(net, i);
        if (node->kind == NET_NODE_HOST) {
            tiers[node->sim.index] = 0;
            queue[queued++] = node;
        }
    }
    // Breadth-first search from all hosts at once.
    for (size_t i = 0; i < queued; i++) {
        const net_node_t *const node = queue[i];
        for (uint32_t port = 0; port < node->port_count; port++) {
            const net_node_t *const peer = net_neighbour(node, port);
            if (tiers[peer->sim.index] == TOPO__TIER_NONE) {
                tiers[peer->sim.index] = tiers[node->sim.index] + 1;
                queue[queued++] = peer;
            }
        }
    }
    SIM_CHECK(queued <= node_count); // each node is queued at most once
    sim_free(queue);
    return tiers;
}
