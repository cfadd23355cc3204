// SPDX-License-Identifier: Apache-2.0
// world/parts/traffic.c - the traffic that a network is expected to carry: every host sends equally
// much to all others, and each node divides what it passes on among all shortest paths.
//
// A breadth-first search from each switch with hosts finds the shortest paths to it. What all other
// nodes send towards it is then summed from far to near, which is Brandes' accumulation (A Faster
// Algorithm for Betweenness Centrality, J. Math. Sociology 25, 2001) with hosts as weights. Large
// networks are searched from SOURCES_MAX switches, evenly chosen.
#include "net/nodes.h"
#include "world/parts/parts_internal.h"

#define SOURCES_MAX 256u

typedef struct search {
    const parts_t *parts;
    uint64_t *hosts;    // by node: hosts linked to it
    uint32_t *distance; // from the switch that is searched from
    uint32_t *order;    // nodes by rising distance
    double *ways;       // number of shortest paths
    double *flow;       // packets that pass
    double *work;       // sum of flow over all searches
} search_t;

static uint32_t search_from(search_t *search, uint32_t source)
{
    const parts_t *const parts = search->parts;
    uint32_t found = 0;
    for (uint32_t i = 0; i < parts->node_count; i++) {
        search->distance[i] = UINT32_MAX;
        search->ways[i] = 0;
        search->flow[i] = (double)search->hosts[i];
    }
    search->distance[source] = 0;
    search->ways[source] = 1;
    search->order[found++] = source;
    for (uint32_t taken = 0; taken < found; taken++) {
        const uint32_t node = search->order[taken];
        for (uint32_t n = parts->first[node]; n < parts->first[node + 1]; n++) {
            const uint32_t other = parts->others[n];
            if (net_kind_of(parts->net, other) == NET_NODE_HOST) {
                continue; // hosts do not forward
            }
            if (search->distance[other] == UINT32_MAX) {
                search->distance[other] = search->distance[node] + 1;
                search->order[found++] = other;
            }
            if (search->distance[other] == search->distance[node] + 1) {
                search->ways[other] += search->ways[node];
            }
        }
    }
    return found;
}

// Sums what passes each node on its way to the source, from far to near.
static void accumulate(search_t *search, uint32_t found, double weight)
{
    const parts_t *const parts = search->parts;
    for (uint32_t i = found; i-- > 0;) {
        const uint32_t node = search->order[i];
        search->work[node] += search->flow[node] * weight;
        for (uint32_t n = parts->first[node]; n < parts->first[node + 1]; n++) {
            const uint32_t other = parts->others[n];
            if (search->distance[other] + 1 == search->distance[node]) {
                search->flow[other] +=
                    search->flow[node] * search->ways[other] / search->ways[node];
            }
        }
    }
}

static void expect_links(const search_t *search, uint32_t found, double weight, double *carried)
{
    const net_t *const net = search->parts->net;
    (void)found;
    for (size_t i = 0; i < net_link_count(net); i++) {
        const uint32_t a = net_link_ends(net, i).a;
        const uint32_t b = net_link_ends(net, i).b;
        const uint32_t far = search->distance[a] > search->distance[b] ? a : b;
        const uint32_t near = far == a ? b : a;
        if (search->distance[far] != UINT32_MAX &&
            search->distance[near] + 1 == search->distance[far]) {
            carried[i] += weight * search->flow[far] * search->ways[near] / search->ways[far];
        }
    }
}

static void run_searches(search_t *search, double *carried)
{
    const parts_t *const parts = search->parts;
    uint32_t *const sources = sim_alloc_array(parts->node_count + 1, sizeof(*sources));
    uint32_t count = 0;
    for (uint32_t i = 0; i < parts->node_count; i++) {
        if (search->hosts[i] > 0) {
            sources[count++] = i;
        }
    }
    const uint32_t used = SIM_MIN(count, SOURCES_MAX);
    for (uint32_t i = 0; i < used; i++) {
        const uint32_t source = sources[(uint64_t)i * count / used];
        const uint32_t found = search_from(search, source);
        const double weight = (double)search->hosts[source];
        accumulate(search, found, weight);
        expect_links(search, found, weight, carried);
    }
    sim_free(sources);
}

// Scales numbers so that their largest is `most`, and nothing is 0.
static void scale(const double *from, uint64_t *to, size_t count, uint64_t most)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = SIM_MAX(from[i], largest);
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = 1 + (largest > 0 ? (uint64_t)(from[i] / largest * (double)most) : 0);
    }
}

#define SCALE UINT64_C(100000)

void parts__expect_traffic(parts_t *parts, uint64_t *traffic)
{
    const uint32_t count = parts->node_count;
    const size_t links = net_link_count(parts->net);
    search_t search = {
        .parts = parts,
        .hosts = sim_alloc_array(count + 1, sizeof(*search.hosts)),
        .distance = sim_alloc_array(count + 1, sizeof(*search.distance)),
        .order = sim_alloc_array(count + 1, sizeof(*search.order)),
        .ways = sim_alloc_array(count + 1, sizeof(*search.ways)),
        .flow = sim_alloc_array(count + 1, sizeof(*search.flow)),
        .work = sim_alloc_array(count + 1, sizeof(*search.work)),
    };
    double *const carried = sim_alloc_array(links + 1, sizeof(*carried));
    for (size_t i = 0; i < links; i++) {
        const net_link_ends_t link = net_link_ends(parts->net, i);
        const bool a = net_kind_of(parts->net, link.a) == NET_NODE_HOST;
        const bool b = net_kind_of(parts->net, link.b) == NET_NODE_HOST;
        search.hosts[link.b] += a && !b;
        search.hosts[link.a] += b && !a;
    }
    run_searches(&search, carried);
    scale(search.work, parts->work, count, SCALE);
    scale(carried, traffic, links, SCALE);
    SIM_FREE_ALL(search.hosts, search.distance, search.order, search.ways, search.flow, search.work,
                 carried);
}
