// SPDX-License-Identifier: Apache-2.0
// apps/workload/domains.c - finds NVLink domains: GPUs that NVSwitches join.
//
// The network's description names its NVSwitches (SimAI's topologies, rail-optimised fabrics).
// Where it does not, a GPU is a host with NICs of unequal rates, of which the fastest leads to an
// NVSwitch: a switch that joins hosts and nothing else.
#include "apps/workload/domains.h"
#include "apps/workload/places.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

#include <stdlib.h>
#include <string.h>

// A port of a host, and where its link leads.
typedef struct way {
    const net_node_t *host;
    const net_node_t *to;
    uint32_t port;
} way_t;

struct app__domains {
    way_t *ways; // of the GPUs to their NVSwitches, by host
    size_t count;
    const net_node_t **first; // of each NVSwitch, by node: itself, or a lower one of its domain
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
    if (hosts != 0) {
        return hosts;
    }
    const uint32_t switches[2] = {one->to->sim.index, two->to->sim.index};
    return switches[0] != switches[1] ? (switches[0] < switches[1] ? -1 : 1)
           : one->port < two->port    ? -1
                                      : one->port > two->port;
}

static int compare_nodes(const void *a, const void *b)
{
    return compare_pointers(*(const net_node_t *const *)a, *(const net_node_t *const *)b);
}

static uint64_t rate_of(const net_node_t *host, uint32_t nic)
{
    return nic_rate_bps(nic_at(host, nic));
}

// Returns the NIC of a host that is faster than its others; UINT32_MAX: all have one rate.
static uint32_t fastest_nic(const net_node_t *host)
{
    const uint32_t nics = nic_count(host);
    uint32_t fastest = 0;
    bool unequal = false;
    for (uint32_t i = 1; i < nics; i++) {
        unequal = unequal || rate_of(host, i) != rate_of(host, 0);
        fastest = rate_of(host, i) > rate_of(host, fastest) ? i : fastest;
    }
    return unequal ? fastest : UINT32_MAX;
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

static bool is_guessed(const way_t *way, const net_node_t **trunks, size_t trunk_count)
{
    return fastest_nic(way->host) == way->port &&
           bsearch(&way->to, (void *)trunks, trunk_count, sizeof(way->to), compare_nodes) == NULL;
}

static const net_node_t *first_of(const app__domains_t *domains, const net_node_t *node)
{
    while (domains->first[node->sim.index] != node) {
        node = domains->first[node->sim.index];
    }
    return node;
}

// Makes the NVSwitches that a GPU joins one domain, which its lowest NVSwitch names.
static void join_switches(app__domains_t *domains, size_t nodes)
{
    domains->first = sim_alloc_array(nodes, sizeof(*domains->first));
    for (size_t i = 0; i < domains->count; i++) {
        domains->first[domains->ways[i].to->sim.index] = domains->ways[i].to;
    }
    for (size_t i = 1; i < domains->count; i++) {
        if (domains->ways[i].host == domains->ways[i - 1].host) {
            const net_node_t *const one = first_of(domains, domains->ways[i - 1].to);
            const net_node_t *const two = first_of(domains, domains->ways[i].to);
            const net_node_t *const low = one->sim.index < two->sim.index ? one : two;
            domains->first[one->sim.index] = low;
            domains->first[two->sim.index] = low;
        }
    }
}

app__domains_t *app__domains_create(const net_t *net)
{
    const bool known = net_knows_scale_up(net);
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
                (known ? way.to->scale_up : is_guessed(&way, trunks, trunk_count))) {
                domains->ways[domains->count++] = way;
            }
        }
    }
    sim_free((void *)trunks);
    qsort(domains->ways, domains->count, sizeof(*domains->ways), compare_ways);
    join_switches(domains, net_node_count(net));
    return domains;
}

void app__domains_destroy(app__domains_t *domains)
{
    if (domains != NULL) {
        sim_free((void *)domains->first);
        sim_free(domains->ways);
        sim_free(domains);
    }
}

// Returns the rate of all links of an NVSwitch, which is the same for each GPU that asks.
static uint64_t switch_bps(const net_node_t *node)
{
    uint64_t sum_bps = 0;
    for (uint32_t i = 0; i < node->port_count; i++) {
        sum_bps += net_port_exists(node, i) ? net_port_at(node, i)->line->rate_bps : 0;
    }
    return sum_bps;
}

// Deals turns to the ports in proportion to the rates of their NVSwitches: each turn goes to the
// port that would have sent the least for its rate. Equal ones take turns.
static void deal_turns(app__domain_ports_t *ports, const uint64_t *rates_bps)
{
    uint64_t dealt[APP__DOMAIN_PORTS_MAX] = {0};
    bool equal = true;
    for (uint32_t i = 0; i < ports->count; i++) {
        equal = equal && rates_bps[i] == rates_bps[0];
    }
    ports->turn_count = equal ? ports->count : APP__DOMAIN_TURNS;
    for (uint32_t turn = 0; turn < ports->turn_count; turn++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < ports->count; i++) {
            const sim_wide_t own = (sim_wide_t)(dealt[i] + 1) * rates_bps[best];
            best = own < (sim_wide_t)(dealt[best] + 1) * rates_bps[i] ? i : best;
        }
        dealt[best]++;
        ports->turns[turn] = ports->ports[best];
    }
}

const net_node_t *app__domain_of(const app__domains_t *domains, const net_node_t *host,
                                 app__domain_ports_t *ports)
{
    size_t low = 0;
    size_t high = domains->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_pointers(domains->ways[middle].host, host) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint64_t rates_bps[APP__DOMAIN_PORTS_MAX] = {0};
    *ports = (app__domain_ports_t){.count = 0};
    for (size_t i = low; i < domains->count && domains->ways[i].host == host &&
                         ports->count < APP__DOMAIN_PORTS_MAX && domains->ways[i].port <= UINT8_MAX;
         i++) {
        rates_bps[ports->count] = switch_bps(domains->ways[i].to);
        ports->switches[ports->count] = domains->ways[i].to->sim.index;
        ports->ports[ports->count++] = (uint8_t)domains->ways[i].port;
    }
    deal_turns(ports, rates_bps);
    return ports->count != 0 ? first_of(domains, domains->ways[low].to) : NULL;
}

// -- ports of ranks

static bool is_domain_port(const app__rank_t *rank, uint32_t port)
{
    const app__domain_ports_t *const ports = &rank->domain_ports;
    for (uint32_t i = 0; i < ports->count; i++) {
        if (ports->ports[i] == port) {
            return true;
        }
    }
    return false;
}

static uint32_t domain_port(const app__rank_t *rank, uint32_t turn)
{
    const app__domain_ports_t *const ports = &rank->domain_ports;
    return rank->port_first + ports->turns[turn % ports->turn_count];
}

// Returns how many of a rank's ports lead to an NVSwitch, and sets *first to the first of them.
static uint32_t ports_to(const app__domain_ports_t *ports, uint32_t node, uint32_t *first)
{
    uint32_t count = 0;
    for (uint32_t i = ports->count; i-- > 0;) {
        if (ports->switches[i] == node) {
            *first = i;
            count++;
        }
    }
    return count;
}

// Returns the port from which a rank sends to another of its domain in a turn; UINT32_MAX: no
// NVSwitch has links to both. Ranks at the same NVSwitches take the turns that those have been
// dealt, others take the NVSwitches that they share one after the other.
static uint32_t shared_port(const app__rank_t *rank, const app__rank_t *peer, uint32_t turn)
{
    const app__domain_ports_t *const own = &rank->domain_ports;
    const app__domain_ports_t *const other = &peer->domain_ports;
    uint32_t shared[APP__DOMAIN_PORTS_MAX];
    uint32_t count = 0;
    uint32_t first = 0;
    if (own->count == other->count &&
        memcmp(own->switches, other->switches, own->count * sizeof(own->switches[0])) == 0) {
        return domain_port(rank, turn);
    }
    for (uint32_t i = 0; i < own->count; i++) {
        if ((i == 0 || own->switches[i] != own->switches[i - 1]) &&
            ports_to(other, own->switches[i], &first) > 0) {
            shared[count++] = own->switches[i];
        }
    }
    if (count == 0) {
        return UINT32_MAX;
    }
    const uint32_t links = ports_to(own, shared[turn % count], &first);
    return rank->port_first + own->ports[first + turn / count % links];
}

uint32_t app__rail_port(const app__rank_t *rank, uint32_t turn)
{
    const uint32_t rails = rank->port_count - rank->domain_ports.count;
    if (rails == 0) {
        return domain_port(rank, turn);
    }
    uint32_t left = turn % rails;
    uint32_t port = 0;
    while (is_domain_port(rank, port) || left-- > 0) {
        port++;
    }
    return rank->port_first + port;
}

// Returns the rate of a rank's ports that lead to NVSwitches, or of those that do not.
static uint64_t rate_of_ports(const app__rank_t *rank, bool domain)
{
    uint64_t sum_bps = 0;
    for (uint32_t i = 0; i < rank->port_count; i++) {
        if (is_domain_port(rank, i) == domain) {
            sum_bps += nic_rate_bps(rank->workload->ports[rank->port_first + i].endpoint->nic);
        }
    }
    return sum_bps;
}

uint64_t app__domain_bps(const app__rank_t *rank)
{
    return rate_of_ports(rank, true);
}

uint64_t app__fabric_bps(const app__rank_t *rank)
{
    const uint64_t sum_bps = rate_of_ports(rank, false);
    return sum_bps != 0 ? sum_bps : app__domain_bps(rank); // as app__rail_port
}

uint32_t app__port_to(const app__rank_t *rank, const app__rank_t *peer, uint32_t nic)
{
    const bool inside = rank->domain != NULL && rank->domain == peer->domain;
    const uint32_t shared = inside ? shared_port(rank, peer, nic) : UINT32_MAX;
    if (shared != UINT32_MAX) {
        return shared;
    }
    if (!inside && (rank->direct || peer->direct)) {
        uint32_t own = 0;
        uint32_t other = 0;
        app__direct_ports(rank, peer, &own, &other);
        return own;
    }
    return app__rail_port(rank, nic);
}
