// SPDX-License-Identifier: Apache-2.0
// apps/workload/domains.c - finds NVLink domains: GPUs that an NVSwitch joins.
//
// A GPU is a host with NICs of unequal rates, of which the fastest leads to an NVSwitch: a switch
// that joins hosts and nothing else. SimAI's topologies are of this form.
#include "apps/workload/domains.h"
#include "apps/workload/places.h"
#include "apps/workload/rank.h"

#include <stdlib.h>

// A port of a host, and where its link leads.
typedef struct way {
    const net_node_t *host;
    const net_node_t *to;
    uint32_t port;
} way_t;

struct app__domains {
    way_t *ways; // of the GPUs to their NVSwitches, by host
    size_t count;
};

static int compare_pointers(const void *a, const void *b)
{
    const uintptr_t one = (uintptr_t)a;
    const uintptr_t two = (uintptr_t)b;
    return one < two ? -1 : one > two;
}

static int compare_ways(const void *a, const void *b)
{
    const way_t *const one = a;
    const way_t *const two = b;
    const int hosts = compare_pointers(one->host, two->host);
    return hosts != 0 ? hosts : one->port < two->port ? -1 : one->port > two->port;
}

static int compare_nodes(const void *a, const void *b)
{
    return compare_pointers(*(const net_node_t *const *)a, *(const net_node_t *const *)b);
}

static uint64_t rate_of(const net_node_t *host, uint32_t nic)
{
    return nic_rate_bps(nic_at(host, nic));
}

uint32_t app__fastest_nic(const net_node_t *host)
{
    const uint32_t nics = nic_count(host);
    uint32_t fastest = 0;
    bool unequal = false;
    for (uint32_t i = 1; i < nics; i++) {
        unequal = unequal || rate_of(host, i) != rate_of(host, 0);
        fastest = rate_of(host, i) > rate_of(host, fastest) ? i : fastest;
    }
    return unequal ? fastest : APP__NO_PORT;
}

// Returns the switches that are linked to other switches, sorted.
static const net_node_t **find_trunks(const net_t *net, size_t *count)
{
    const size_t links = net_link_count(net);
    const net_node_t **const nodes = sim_alloc_array(2 * links + 1, sizeof(*nodes));
    *count = 0;
    for (size_t i = 0; i < links; i++) {
        const net_link_ends_t link = net_link_ends(net, i);
        if (net_kind_of(net, link.a) != NET_NODE_HOST &&
            net_kind_of(net, link.b) != NET_NODE_HOST) {
            nodes[(*count)++] = net_node_at(net, link.a);
            nodes[(*count)++] = net_node_at(net, link.b);
        }
    }
    qsort((void *)nodes, *count, sizeof(*nodes), compare_nodes);
    return nodes;
}

app__domains_t *app__domains_create(const net_t *net)
{
    app__domains_t *const domains = sim_alloc(sizeof(*domains));
    const size_t links = net_link_count(net);
    size_t trunk_count = 0;
    const net_node_t **const trunks = find_trunks(net, &trunk_count);
    domains->ways = sim_alloc_array(2 * links + 1, sizeof(*domains->ways));
    for (size_t i = 0; i < links; i++) {
        const net_link_t link = net_link_at(net, i);
        for (int end = 0; end < 2; end++) {
            const way_t way = {.host = end == 0 ? link.a : link.b,
                               .to = end == 0 ? link.b : link.a,
                               .port = end == 0 ? link.a_port : link.b_port};
            if (way.host->kind == NET_NODE_HOST && way.to->kind != NET_NODE_HOST &&
                app__fastest_nic(way.host) == way.port &&
                bsearch(&way.to, (void *)trunks, trunk_count, sizeof(way.to), compare_nodes) ==
                    NULL) {
                domains->ways[domains->count++] = way;
            }
        }
    }
    sim_free((void *)trunks);
    qsort(domains->ways, domains->count, sizeof(*domains->ways), compare_ways);
    return domains;
}

void app__domains_destroy(app__domains_t *domains)
{
    if (domains != NULL) {
        sim_free(domains->ways);
        sim_free(domains);
    }
}

const net_node_t *app__domain_of(const app__domains_t *domains, const net_node_t *host,
                                 uint32_t *port)
{
    size_t low = 0;
    size_t high = domains->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const way_t *const way = &domains->ways[middle];
        const int order = compare_pointers(way->host, host);
        if (order == 0) {
            *port = way->port;
            return way->to;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    *port = APP__NO_PORT;
    return NULL;
}

uint32_t app__port_to(const app__rank_t *rank, const app__rank_t *peer, uint32_t nic)
{
    const bool gpu = rank->domain_port != APP__NO_PORT;
    if (gpu && rank->domain == peer->domain) {
        return rank->port_first + rank->domain_port;
    }
    if (rank->direct || peer->direct) {
        uint32_t own = 0;
        uint32_t other = 0;
        app__direct_ports(rank, peer, &own, &other);
        return own;
    }
    const uint32_t rails = rank->port_count - (gpu && rank->port_count > 1 ? 1 : 0);
    const uint32_t index = nic % rails;
    return rank->port_first + index + (rails < rank->port_count && index >= rank->domain_port);
}
