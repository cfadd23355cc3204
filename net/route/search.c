// SPDX-License-Identifier: Apache-2.0
// net/route/search.c - finds shortest paths between forwarding nodes and keeps all of equal length
// (ECMP).
//
// Interfaces are grouped by the node that they are linked to (a leaf), so a node keeps one entry
// per leaf instead of one per host. A breadth-first search from each leaf gives every node its
// distance; the ports towards neighbours one step nearer are its next hops. Hosts never forward.
//
// 64 leaves are searched at once, with a bit of a word for each, because searches of one network
// visit nearly the same nodes in nearly the same steps (Then et al., The More the Merrier:
// Efficient Multi-Source Graph Traversal, VLDB 2015). Cost: a 64th of leaves x links, plus the
// entries themselves, nodes x leaves. Page: docs/models/topologies.md.
#include <string.h>

#include "net/models_internal.h"
#include "net/network_internal.h"
#include "net/ports.h"
#include "net/routes_internal.h"

#define BATCH NET_HOPS_OF_A_PAGE // leaves that are searched at once
static_assert(BATCH == 64, "each leaf has a bit of a word");

// The links that are up between forwarding nodes. Forwarding nodes are numbered densely here.
typedef struct graph {
    net_node_t **nodes;
    uint32_t *number_of; // by node index; UINT32_MAX: the node does not forward
    uint32_t node_count;
    uint32_t *first; // node n has edges first[n] .. first[n + 1] - 1, in order of their ports
    uint32_t *neighbor;
    uint32_t *port;
} graph_t;

// State of one search. Each bit of a word is a leaf of the batch.
typedef struct search {
    const graph_t *graph;
    uint64_t *seen;     // by node: leaves that reached it so far
    uint64_t *front;    // by node: leaves that reached it in the last step
    uint64_t *next;     // by node: leaves that reach it in this step
    uint64_t *next_hop; // by edge: leaves for which it is on a shortest path
    uint32_t *list;     // nodes with a bit in front
    uint32_t *next_list;
    uint32_t *ports; // of one node; scratch
} search_t;

static void graph_init(graph_t *graph, const net_t *net, const bool *link_up)
{
    size_t port_count = 0;
    graph->nodes = sim_alloc_array(net->node_count + 1, sizeof(*graph->nodes));
    graph->number_of = sim_alloc_array(net->node_count + 1, sizeof(*graph->number_of));
    graph->node_count = 0;
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        graph->number_of[i] = UINT32_MAX;
        if (node != NULL && node->forward != NULL) {
            graph->number_of[i] = graph->node_count;
            graph->nodes[graph->node_count++] = node;
            port_count += node->port_count;
        }
    }
    graph->first = sim_alloc_array(graph->node_count + 1, sizeof(*graph->first));
    graph->neighbor = sim_alloc_array(port_count + 1, sizeof(*graph->neighbor));
    graph->port = sim_alloc_array(port_count + 1, sizeof(*graph->port));
    uint32_t edge = 0;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        const net_node_t *const node = graph->nodes[n];
        graph->first[n] = edge;
        for (uint32_t p = 0; p < node->port_count; p++) {
            const uint32_t peer = graph->number_of[net_neighbour_number(node, p)];
            if (peer != UINT32_MAX && link_up[net_link_of(node, p)]) {
                graph->neighbor[edge] = peer;
                graph->port[edge++] = p;
            }
        }
    }
    graph->first[graph->node_count] = edge;
}

static void graph_fini(graph_t *graph)
{
    SIM_FREE_ALL(graph->nodes, graph->number_of, graph->first, graph->neighbor, graph->port);
}

// Extends the search by one step: finds the nodes reached for the first time and the edges that
// lead to them. Returns how many nodes, in next_list.
static uint32_t step(search_t *search, uint32_t count)
{
    const graph_t *const graph = search->graph;
    uint32_t next_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t n = search->list[i];
        for (uint32_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
            const uint32_t peer = graph->neighbor[e];
            const uint64_t reached = search->front[n] & ~search->seen[peer];
            if (reached != 0) {
                if (search->next[peer] == 0) {
                    search->next_list[next_count++] = peer;
                }
                search->next[peer] |= reached;
            }
        }
    }
    for (uint32_t i = 0; i < next_count; i++) {
        const uint32_t n = search->next_list[i];
        for (uint32_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
            search->next_hop[e] |= search->next[n] & search->front[graph->neighbor[e]];
        }
    }
    return next_count;
}

// Sets seen and next_hop for the leaves first .. first + count - 1.
static void search_run(search_t *search, const net_t *net, uint32_t first, uint32_t count)
{
    const graph_t *const graph = search->graph;
    memset(search->seen, 0, graph->node_count * sizeof(*search->seen));
    memset(search->next_hop, 0, graph->first[graph->node_count] * sizeof(*search->next_hop));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t n = graph->number_of[net->leaves[first + i]->sim.index];
        search->list[i] = n;
        search->seen[n] |= UINT64_C(1) << i; // several leaves may be one node
        search->front[n] |= UINT64_C(1) << i;
    }
    while (count > 0) {
        const uint32_t next_count = step(search, count);
        for (uint32_t i = 0; i < count; i++) {
            search->front[search->list[i]] = 0;
        }
        for (uint32_t i = 0; i < next_count; i++) {
            const uint32_t n = search->next_list[i];
            search->front[n] = search->next[n];
            search->seen[n] |= search->next[n];
            search->next[n] = 0;
        }
        uint32_t *const list = search->list;
        search->list = search->next_list;
        search->next_list = list;
        count = next_count;
    }
}

// Splits the leaves that node n reaches into groups with equal next hops. Returns how many.
static uint32_t group_leaves(const search_t *search, uint32_t n, uint64_t *groups)
{
    const graph_t *const graph = search->graph;
    uint64_t reached = 0;
    for (uint32_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
        reached |= search->next_hop[e];
    }
    uint32_t count = 0;
    if (reached != 0) {
        groups[count++] = reached;
    }
    for (uint32_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
        const uint64_t with = search->next_hop[e];
        const uint32_t before = count;
        for (uint32_t g = 0; with != 0 && g < before; g++) {
            const uint64_t both = groups[g] & with;
            if (both != 0 && both != groups[g]) {
                groups[g] ^= both;
                groups[count++] = both;
            }
        }
    }
    return count;
}

// Fills in the entries of node n for the leaves of the batch. Returns false if it reaches none.
static bool find_hops(const search_t *search, uint32_t n, uint32_t *ports, net_routes_t *routes,
                      net_hop_t *hops)
{
    const graph_t *const graph = search->graph;
    uint64_t groups[BATCH];
    const uint32_t group_count = group_leaves(search, n, groups);
    for (uint32_t g = 0; g < group_count; g++) {
        uint32_t count = 0;
        for (uint32_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
            ports[count] = graph->port[e];
            count += (groups[g] & search->next_hop[e]) != 0;
        }
        const net_hop_t hop = net__routes_intern(routes, ports, count);
        for (uint64_t left = groups[g]; left != 0; left &= left - 1) {
            hops[__builtin_ctzll(left)] = hop;
        }
    }
    return group_count > 0;
}

// -- pages

// The pages of one batch, in an open-addressing hash table by content.
typedef struct pages {
    net_hop_page_t **slots;
    size_t slot_count; // a power of two
} pages_t;

static net_hop_page_t *page_of(const pages_t *pages, const net_hop_t *hops)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < BATCH; i++) {
        hash = sim_mix64(hash ^ hops[i].first ^ (uint64_t)hops[i].count << 32 ^
                         (uint64_t)hops[i].base << 48);
    }
    size_t at = (size_t)hash & (pages->slot_count - 1);
    while (pages->slots[at] != NULL &&
           memcmp(pages->slots[at]->hops, hops, sizeof(pages->slots[at]->hops)) != 0) {
        at = (at + 1) & (pages->slot_count - 1);
    }
    if (pages->slots[at] == NULL) {
        pages->slots[at] = sim_alloc(sizeof(**pages->slots));
        memcpy(pages->slots[at]->hops, hops, sizeof(pages->slots[at]->hops));
    }
    pages->slots[at]->users++;
    return pages->slots[at];
}

// Gives a leaf's entry for itself, which nobody reads, the value of another one. So leaves can
// share pages: in a fat-tree, all of them do.
static void fill_own(const net_t *net, const net_node_t *node, uint32_t first, net_hop_t *hops)
{
    const uint32_t own = net->leaf_of[node->sim.index] - first;
    if (own < BATCH) {
        hops[own] = hops[own == 0 ? 1 : 0];
    }
}

static void search_batch(search_t *search, const net_t *net, uint32_t first, const pages_t *pages,
                         net_routes_t *routes)
{
    const graph_t *const graph = search->graph;
    const uint32_t left = net->leaf_count - first;
    search_run(search, net, first, SIM_MIN(left, BATCH));
    memset(pages->slots, 0, pages->slot_count * sizeof(net_hop_page_t *));
    for (uint32_t n = 0; n < graph->node_count; n++) {
        net_routes_t *const own = &routes[graph->nodes[n]->forwarder];
        net_hop_t hops[BATCH];
        memcpy(hops, net->unreached->hops, sizeof(hops));
        if (find_hops(search, n, search->ports, own, hops)) {
            fill_own(net, graph->nodes[n], first, hops);
            net__hop_page_release(own->pages[first / BATCH]);
            own->pages[first / BATCH] = page_of(pages, hops);
        }
    }
}

static void search_all(const net_t *net, const graph_t *graph, net_routes_t *routes)
{
    search_t search = {
        .graph = graph,
        .seen = sim_alloc_array(graph->node_count + 1, sizeof(uint64_t)),
        .front = sim_alloc_array(graph->node_count + 1, sizeof(uint64_t)),
        .next = sim_alloc_array(graph->node_count + 1, sizeof(uint64_t)),
        .next_hop = sim_alloc_array(graph->first[graph->node_count] + 1, sizeof(uint64_t)),
        .list = sim_alloc_array(graph->node_count + 1, sizeof(uint32_t)),
        .next_list = sim_alloc_array(graph->node_count + 1, sizeof(uint32_t)),
        .ports = sim_alloc_array(SIM_PORTS_PER_NODE_MAX + 1, sizeof(uint32_t)),
    };
    pages_t pages = {.slot_count = 16};
    while (pages.slot_count < 2 * (size_t)graph->node_count) {
        pages.slot_count *= 2;
    }
    pages.slots = sim_alloc_array(pages.slot_count, sizeof(net_hop_page_t *));
    for (uint32_t first = 0; first < net->leaf_count; first += BATCH) {
        search_batch(&search, net, first, &pages, routes);
    }
    SIM_FREE_ALL(pages.slots, search.ports, search.seen, search.front, search.next, search.next_hop,
                 search.list, search.next_list);
}

static void search_shortest(const net_t *net, const bool *link_up, net_routes_t *routes)
{
    graph_t graph;
    graph_init(&graph, net, link_up);
    search_all(net, &graph, routes);
    graph_fini(&graph);
}

const net_routes_ops_t net__routes_shortest = {.name = "shortest", .search = search_shortest};
