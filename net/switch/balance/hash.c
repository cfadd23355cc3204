// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/hash.c - "ecmp" with other header fields than the flow hash has, and "wecmp",
// which gives each port a share of the flows by the capacity behind it. Page:
// docs/models/load-balancing.md.
#include "net/models_internal.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "net/switch/balance/balance_internal.h"

void net__balance_seed(net_switch_t *sw)
{
    net__balance_ecmp.built(sw);
}

uint32_t net__balance_path(const net_switch_t *sw, uint32_t source, uint32_t destination,
                           uint32_t flow_hash, uint32_t count)
{
    return net__balance_ecmp.path(sw, source, destination, flow_hash, count);
}

static uint32_t mixed_in(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * 0x85ebca6bu;
    hash ^= hash >> 15;
    return hash * 0xc2b2ae35u;
}

uint32_t net__balance_hash(const net_switch_t *sw, const net_packet_t *packet)
{
    const net_balance_config_t *const config = &sw->config.balance;
    const bool swap = config->ecmp_symmetric && packet->source > packet->destination;
    uint32_t hash = sw->ecmp_seed;
    if (config->ecmp_fields != NET_HASH_ENTROPY) {
        hash = mixed_in(hash, swap ? packet->destination : packet->source);
        hash = mixed_in(hash, swap ? packet->source : packet->destination);
    }
    if (config->ecmp_fields != NET_HASH_ADDRESSES) {
        hash = mixed_in(hash, packet->udp_source_port);
    }
    if (config->ecmp_dscp) {
        hash = mixed_in(hash, packet->dscp);
    }
    if (config->ecmp_destination_qp) {
        hash = mixed_in(hash, packet->destination_qp);
    }
    return hash ^ hash >> 16;
}

static uint32_t choose_hashed(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                              uint32_t count)
{
    const uint32_t hash = net__balance_hash(sw, packet);
    const uint32_t port = ports[((uint64_t)hash * count) >> 32];
    return sw->node.ports[port].down && count > 1
               ? net_switch_choose_live(sw, ports, count, hash * 0x9e3779b1u)
               : port;
}

const net_balance_ops_t net__balance_hashed = {
    .name = "ecmp",
    .late = true,
    .built = net__balance_seed,
    .choose = choose_hashed,
    .path = net__balance_path,
};

// -- weights

// The weights of the ports towards each leaf are computed when a packet first goes there, from
// routes and links that never change, so any thread may read them.
typedef struct weighted {
    const void *routes;  // net_switch_t.hop_pages for which the weights hold
    uint64_t **weights;  // by leaf, then by port of the entry; NULL: not computed yet
    uint32_t leaf_count; // of `weights`
} weighted_t;

static void forget(weighted_t *state)
{
    sim_free_each(state->weights, state->leaf_count);
    sim_free(state->weights);
    state->weights = NULL;
    state->leaf_count = 0;
}

const net_routes_t *net__routes_now(const net_switch_t *sw)
{
    const net_t *const net = sw->node.net;
    for (size_t s = 0; s < net->state_count; s++) {
        if (net->routes[s] != NULL &&
            (net_hop_page_t *const *)net->routes[s][sw->node.forwarder].pages == sw->hop_pages) {
            return net->routes[s];
        }
    }
    return net->routes[0];
}

// Returns the capacity of a node's shortest paths to a leaf in bit/s: over its next hops, the sum
// of the smaller of the link's rate and the next node's own capacity. Links count with their
// configured rates.
static uint64_t capacity_of(const net_t *net, const net_routes_t *routes, const net_node_t *node,
                            uint32_t leaf)
{
    if (node == net->leaves[leaf] || node->forward == NULL) {
        return UINT64_MAX;
    }
    const net_routes_t *const mine = &routes[node->forwarder];
    const net_hop_t hop = net__hop(mine->pages, leaf);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < hop.count; i++) {
        const uint32_t port = mine->ports[hop.first + i];
        const uint64_t rate = net__link_config(net, net_link_of(node, port))->rate_bps;
        const uint64_t behind = capacity_of(net, routes, net_neighbour(node, port), leaf);
        sum += SIM_MIN(rate, behind);
    }
    return sum;
}

static const uint64_t *weights_of(net_switch_t *sw, uint32_t leaf, const uint32_t *ports,
                                  uint32_t count)
{
    const net_t *const net = sw->node.net;
    weighted_t *const state = sw->balance_state;
    if (state->routes != (const void *)sw->hop_pages) {
        forget(state);
        state->routes = (const void *)sw->hop_pages;
        state->leaf_count = net->leaf_count;
        state->weights = sim_alloc_array(net->leaf_count, sizeof(*state->weights));
    }
    if (state->weights[leaf] == NULL) {
        const net_routes_t *const routes = net__routes_now(sw);
        state->weights[leaf] = sim_alloc_array(count, sizeof(uint64_t));
        for (uint32_t i = 0; i < count; i++) {
            const net_node_t *const next = net_neighbour(&sw->node, ports[i]);
            const uint32_t link = net_link_of(&sw->node, ports[i]);
            const uint64_t rate = net__link_config(net, link)->rate_bps;
            const uint64_t behind = capacity_of(net, routes, next, leaf);
            state->weights[leaf][i] = SIM_MIN(rate, behind);
        }
    }
    return state->weights[leaf];
}

static uint32_t choose_weighted(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                                uint32_t count)
{
    if (count == 1) {
        return ports[0];
    }
    const uint64_t *const weights =
        weights_of(sw, net__leaf_of(sw, packet->destination), ports, count);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += sw->node.ports[ports[i]].down ? 0 : weights[i];
    }
    uint64_t left = (uint64_t)(((sim_wide_t)net__balance_hash(sw, packet) * sum) >> 32);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t weight = sw->node.ports[ports[i]].down ? 0 : weights[i];
        if (left < weight) {
            return ports[i];
        }
        left -= weight;
    }
    return NET_NO_PORT;
}

static void fini_weighted(net_switch_t *sw)
{
    forget(sw->balance_state);
}

const net_balance_ops_t net__balance_weighted = {
    .name = "wecmp",
    .late = true,
    .state_bytes = sizeof(weighted_t),
    .built = net__balance_seed,
    .fini = fini_weighted,
    .choose = choose_weighted,
    .path = net__balance_path,
};
