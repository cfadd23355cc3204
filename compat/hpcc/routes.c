// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/routes.c - shortest paths with the next hops in the order of ns-3 programs.
//
// ns-3 programs that keep neighbours in maps by address find later-made switches first, because
// those lie lower in memory. Equal paths come in the order in which the search found their next
// nodes. Each leaf has its own such order, so each leaf is searched separately. Page:
// docs/models/hpcc-compat.md.
#include <stdlib.h>
#include <string.h>

#include "compat/hpcc/hpcc_internal.h"
#include "net/leaves.h"
#include "net/nodes.h"
#include "net/ports.h"

typedef struct search {
    const net_t *net;
    const bool *link_up;
    uint32_t *distance; // by node index; UINT32_MAX: not reached
    uint32_t *position; // position in the queue, by node index
    net_node_t **queue;
    uint32_t *ports;   // of one switch; scratch
    uint32_t **orders; // ports by node index, last neighbour first
} search_t;

typedef struct neighbour {
    uint32_t node_index;
    uint32_t port;
} neighbour_t;

static int compare_neighbours(const void *a, const void *b)
{
    const neighbour_t *const x = a;
    const neighbour_t *const y = b;
    return 2 * SIM_COMPARE(y->node_index, x->node_index) + SIM_COMPARE(x->port, y->port);
}

static uint32_t *last_neighbour_first(const net_node_t *node)
{
    neighbour_t *const sorted = sim_alloc_array(node->port_count + 1, sizeof(*sorted));
    uint32_t *const ports = sim_alloc_array(node->port_count + 1, sizeof(*ports));
    for (uint32_t p = 0; p < node->port_count; p++) {
        sorted[p] = (neighbour_t){net_neighbour(node, p)->sim.index, p};
    }
    qsort(sorted, node->port_count, sizeof(*sorted), compare_neighbours);
    for (uint32_t p = 0; p < node->port_count; p++) {
        ports[p] = sorted[p].port;
    }
    sim_free(sorted);
    return ports;
}

static void order_by_position(const search_t *search, const net_node_t *node, uint32_t count)
{
    uint32_t *const ports = search->ports;
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t port = ports[i];
        const uint32_t position = search->position[net_neighbour(node, port)->sim.index];
        uint32_t j = i;
        while (j > 0 && search->position[net_neighbour(node, ports[j - 1])->sim.index] > position) {
            ports[j] = ports[j - 1];
            j--;
        }
        ports[j] = port;
    }
}

// -- the search

static void measure_distances(search_t *search, net_node_t *leaf)
{
    memset(search->distance, 0xff, net_node_count(search->net) * sizeof(*search->distance));
    size_t head = 0;
    size_t tail = 0;
    search->distance[leaf->sim.index] = 0;
    search->position[leaf->sim.index] = 0;
    search->queue[tail++] = leaf;
    while (head < tail) {
        const net_node_t *const node = search->queue[head++];
        const uint32_t *const order = search->orders[node->sim.index];
        for (uint32_t i = 0; i < node->port_count; i++) {
            const uint32_t p = order[i];
            net_node_t *const next = net_neighbour(node, p);
            if (next->forward != NULL && search->link_up[net_link_of(node, p)] &&
                search->distance[next->sim.index] == UINT32_MAX) {
                search->distance[next->sim.index] = search->distance[node->sim.index] + 1;
                search->position[next->sim.index] = (uint32_t)tail;
                search->queue[tail++] = next;
            }
        }
    }
}

static void add_hops(search_t *search, net_node_t *node, uint32_t leaf, net_routes_t *routes)
{
    const uint32_t distance = search->distance[node->sim.index];
    uint32_t count = 0;
    for (uint32_t p = 0; p < node->port_count && distance != UINT32_MAX; p++) {
        const net_node_t *const next = net_neighbour(node, p);
        if (next->forward != NULL && search->link_up[net_link_of(node, p)] &&
            search->distance[next->sim.index] + 1 == distance) {
            search->ports[count++] = p;
        }
    }
    SIM_CHECK(count <= node->port_count);
    order_by_position(search, node, count);
    if (count > 0) {
        net_routes_set(routes, node, leaf, search->ports, count);
    }
}

static void search_ordered(const net_t *net, const bool *link_up, net_routes_t *routes)
{
    search_t search = {
        .net = net,
        .link_up = link_up,
        .distance = sim_alloc_array(net_node_count(net) + 1, sizeof(uint32_t)),
        .position = sim_alloc_array(net_node_count(net) + 1, sizeof(uint32_t)),
        .queue = sim_alloc_array(net_node_count(net) + 1, sizeof(net_node_t *)),
        .ports = sim_alloc_array(SIM_PORTS_PER_NODE_MAX, sizeof(uint32_t)),
        .orders = sim_alloc_array(net_node_count(net) + 1, sizeof(uint32_t *)),
    };
    for (size_t i = 0; i < net_node_count(net); i++) {
        search.orders[i] = last_neighbour_first(net_node_at(net, i));
    }
    for (uint32_t leaf = 0; leaf < net_leaf_count(net); leaf++) {
        measure_distances(&search, net_leaf_at(net, leaf));
        for (size_t i = 0; i < net_node_count(net); i++) {
            if (net_node_at(net, i)->forward != NULL) {
                add_hops(&search, net_node_at(net, i), leaf, routes);
            }
        }
    }
    sim_free_each(search.orders, net_node_count(net));
    SIM_FREE_ALL(search.orders, search.position, search.distance, search.queue, search.ports);
}

const net_routes_ops_t compat__hpcc_routes = {.name = "hpcc", .search = search_ordered};
