// SPDX-License-Identifier: Apache-2.0
// net/routing.c - shortest paths between switches, all of equal length kept (ECMP).
//
// Interfaces are grouped by the switch they hang on (a leaf), so a switch keeps one entry per leaf
// and not one per host. For each leaf a breadth-first search gives every switch its distance; the
// ports towards neighbours one step nearer are its next hops, in rising order unless
// net_config_t.next_hops says otherwise. Hosts never forward.
#include <stdlib.h>
#include <string.h>

#include "net/network_internal.h"

typedef struct search {
    const net_t *net;
    const bool *link_up;
    uint32_t *distance; // by node index; UINT32_MAX: not reached
    uint32_t *position; // in the queue, by node index
    net_node_t **queue;
    uint32_t *ports;   // of one switch
    uint32_t **orders; // by node index, its ports with the last neighbour first; NULL: by number
} search_t;

// -- the order of ns-3 programs that keep neighbours in maps by address: switches made later lie
// lower in memory, and equal paths come in the order in which the search found their next nodes

typedef struct neighbour {
    uint32_t node_index;
    uint32_t port;
} neighbour_t;

static int compare_neighbours(const void *a, const void *b)
{
    const neighbour_t *const x = a;
    const neighbour_t *const y = b;
    if (x->node_index != y->node_index) {
        return x->node_index > y->node_index ? -1 : 1;
    }
    return (x->port > y->port) - (x->port < y->port);
}

static uint32_t *last_neighbour_first(const net_node_t *node)
{
    neighbour_t *const sorted = sim_alloc_array(node->port_count + 1, sizeof(*sorted));
    uint32_t *const ports = sim_alloc_array(node->port_count + 1, sizeof(*ports));
    for (uint32_t p = 0; p < node->port_count; p++) {
        sorted[p] = (neighbour_t){node->ports[p].peer->node->sim.index, p};
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
        const uint32_t position = search->position[node->ports[port].peer->node->sim.index];
        uint32_t j = i;
        while (j > 0 &&
               search->position[node->ports[ports[j - 1]].peer->node->sim.index] > position) {
            ports[j] = ports[j - 1];
            j--;
        }
        ports[j] = port;
    }
}

// -- the search

static void measure_distances(search_t *search, net_node_t *leaf)
{
    const net_t *const net = search->net;
    memset(search->distance, 0xff, net->node_count * sizeof(*search->distance));
    size_t head = 0;
    size_t tail = 0;
    search->distance[leaf->sim.index] = 0;
    search->position[leaf->sim.index] = 0;
    search->queue[tail++] = leaf;
    while (head < tail) {
        const net_node_t *const node = search->queue[head++];
        const uint32_t *const order =
            search->orders != NULL ? search->orders[node->sim.index] : NULL;
        for (uint32_t i = 0; i < node->port_count; i++) {
            const uint32_t p = order != NULL ? order[i] : i;
            net_node_t *const next = node->ports[p].peer->node;
            if (next->kind == NET_NODE_SWITCH && search->link_up[node->ports[p].link] &&
                search->distance[next->sim.index] == UINT32_MAX) {
                search->distance[next->sim.index] = search->distance[node->sim.index] + 1;
                search->position[next->sim.index] = (uint32_t)tail;
                search->queue[tail++] = next;
            }
        }
    }
}

// Puts a set of ports into the routes, or finds it there: most leaves share theirs with others.
static net_hop_t intern_ports(net_routes_t *routes,
                              const net_hop_t *known,
                              uint32_t known_count,
                              const uint32_t *ports,
                              uint32_t count)
{
    for (uint32_t i = known_count; i-- > 0;) {
        if (known[i].count == count &&
            memcmp(routes->ports + known[i].first, ports, count * sizeof(*ports)) == 0) {
            return known[i];
        }
        if (known_count - i > 64) {
            break; // recent leaves are the likely ones; a repeated set costs memory only
        }
    }
    SIM_CHECK(count <= UINT16_MAX);
    const bool consecutive = ports[count - 1] - ports[0] == count - 1 && ports[0] < UINT16_MAX;
    const net_hop_t hop = {.first = (uint32_t)routes->port_count,
                           .count = (uint16_t)count,
                           .base = consecutive ? (uint16_t)ports[0] : NET_HOP_SCATTERED};
    for (uint32_t i = 0; i < count; i++) {
        SIM_GROW(routes->ports, routes->port_count, &routes->port_capacity);
        routes->ports[routes->port_count++] = ports[i];
    }
    return hop;
}

static void add_hops(search_t *search, net_node_t *node, uint32_t leaf, net_routes_t *routes)
{
    const uint32_t distance = search->distance[node->sim.index];
    uint32_t count = 0;
    for (uint32_t p = 0; p < node->port_count && distance != UINT32_MAX; p++) {
        const net_node_t *const next = node->ports[p].peer->node;
        if (next->kind == NET_NODE_SWITCH && search->link_up[node->ports[p].link] &&
            search->distance[next->sim.index] + 1 == distance) {
            search->ports[count++] = p;
        }
    }
    if (search->orders != NULL) {
        order_by_position(search, node, count);
    }
    routes->hops[leaf] = count > 0 ? intern_ports(routes, routes->hops, leaf, search->ports, count)
                                   : (net_hop_t){.base = NET_HOP_SCATTERED};
}

net_routes_t *net__routes_compute(const net_t *net, const bool *link_up)
{
    net_routes_t *const routes = sim_alloc_array(net->node_count + 1, sizeof(*routes));
    search_t search = {
        .net = net,
        .link_up = link_up,
        .distance = sim_alloc_array(net->node_count + 1, sizeof(uint32_t)),
        .position = sim_alloc_array(net->node_count + 1, sizeof(uint32_t)),
        .queue = sim_alloc_array(net->node_count + 1, sizeof(net_node_t *)),
        .ports = sim_alloc_array(SIM_PORTS_PER_NODE_MAX, sizeof(uint32_t)),
    };
    for (size_t i = 0; i < net->node_count; i++) {
        if (net->nodes[i]->kind == NET_NODE_SWITCH) {
            routes[i].hops = sim_alloc_array(net->leaf_count + 1, sizeof(net_hop_t));
        }
    }
    if (net->config.next_hops == NET_NEXT_HOPS_LAST_NODE_FIRST) {
        search.orders = sim_alloc_array(net->node_count + 1, sizeof(*search.orders));
        for (size_t i = 0; i < net->node_count; i++) {
            search.orders[i] = last_neighbour_first(net->nodes[i]);
        }
    }
    for (uint32_t leaf = 0; leaf < net->leaf_count; leaf++) {
        measure_distances(&search, net->leaves[leaf]);
        for (size_t i = 0; i < net->node_count; i++) {
            if (net->nodes[i]->kind == NET_NODE_SWITCH) {
                add_hops(&search, net->nodes[i], leaf, &routes[i]);
            }
        }
    }
    for (size_t i = 0; search.orders != NULL && i < net->node_count; i++) {
        sim_free(search.orders[i]);
    }
    sim_free(search.orders);
    sim_free(search.position);
    sim_free(search.distance);
    sim_free(search.queue);
    sim_free(search.ports);
    return routes;
}

void net__routes_free(const net_t *net, net_routes_t *routes)
{
    for (size_t i = 0; i < net->node_count; i++) {
        sim_free(routes[i].hops);
        sim_free(routes[i].ports);
    }
    sim_free(routes);
}

// -- murmur3

static inline uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

// MurmurHash3_x86_32 of three words (A. Appleby, public domain).
static uint32_t murmur3(const uint32_t words[3], uint32_t seed)
{
    uint32_t hash = seed;
    for (int i = 0; i < 3; i++) {
        hash ^= rotate(words[i] * 0xcc9e2d51u, 15) * 0x1b873593u;
        hash = rotate(hash, 13) * 5 + 0xe6546b64u;
    }
    hash ^= 12; // bytes
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

// The HPCC simulator gives node i, of 65536 at most, the address 11.(i / 256).(i % 256).1.
static uint32_t peer_address(const net_t *net, uint32_t interface)
{
    const uint32_t index = net->interfaces[interface]->node->sim.index;
    return 0x0b000001u + (index >> 8 << 16) + ((index & 0xff) << 8);
}

static uint32_t murmur3_of(const net_t *net,
                           uint32_t seed,
                           uint32_t source,
                           uint32_t destination,
                           uint32_t ports)
{
    const uint32_t words[3] = {peer_address(net, source), peer_address(net, destination), ports};
    return murmur3(words, seed);
}

uint32_t net__murmur3_flow(const net_t *net,
                           uint32_t seed,
                           uint32_t source,
                           uint32_t destination,
                           uint32_t flow_hash)
{
    const uint32_t port = (uint32_t)net->config.ecmp_port;
    return murmur3_of(net, seed, source, destination, flow_hash | port << 16);
}

uint32_t net__murmur3_packet(const net_t *net, uint32_t seed, const net_packet_t *packet)
{
    const uint32_t port = (uint32_t)net->config.ecmp_port;
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    const bool answer =
        packet->opcode == ROCE_CNP || operation == ROCE_ACKNOWLEDGE ||
        (operation >= ROCE_READ_RESPONSE_FIRST && operation <= ROCE_READ_RESPONSE_ONLY);
    const uint32_t ports = answer ? port | packet->flow_hash << 16 : packet->flow_hash | port << 16;
    return murmur3_of(net, seed, packet->source, packet->destination, ports);
}

// -- paths

bool net_path_of(const net_t *net, uint32_t from, uint32_t to, uint32_t flow_hash, net_path_t *path)
{
    *path = (net_path_t){.bottleneck_bps = UINT64_MAX};
    const net_port_t *port = net_interface_port(net, from);
    while (port != NULL && path->hop_count < SIM_COUNT_OF(path->ports)) {
        path->ports[path->hop_count++] = port;
        path->delay_ps += port->delay_ps;
        path->bottleneck_bps =
            port->rate_bps < path->bottleneck_bps ? port->rate_bps : path->bottleneck_bps;
        const net_port_t *const arrived = port->peer;
        if (arrived->interface == to) {
            return true;
        }
        const net_node_t *const node = arrived->node;
        port = node->kind == NET_NODE_SWITCH
                   ? net__switch_route(node, &net->routes[0][node->sim.index], from, to, flow_hash)
                   : NULL;
    }
    return false;
}

bool net_reachable(const net_t *net, uint32_t from, uint32_t to)
{
    net_path_t path;
    return from != to && net_path_of(net, from, to, 0, &path);
}

// Time between the first and the last of count frames of these bytes, back to back.
static sim_time_t spread_ps(uint64_t count, uint32_t link_bytes, uint64_t rate_bps)
{
    __extension__ typedef unsigned __int128 wide_t;
    const uint64_t bits_ps = link_bytes * (8 * SIM_PS_PER_S);
    return count == 0 ? 0 : (sim_time_t)((wide_t)bits_ps * count / rate_bps) - bits_ps / rate_bps;
}

// Frame i leaves hop h when it has arrived there and frame i - 1 is done. With equal frames the
// slowest hop sets the pace, and a shorter last frame can catch up: followed exactly, hop by hop,
// for the last frame; the full frames before it need only their spread.
sim_time_t net_path_time_ps(const net_path_t *path,
                            uint64_t full_count,
                            uint32_t full_frame_bytes,
                            uint32_t last_frame_bytes)
{
    sim_time_t first_ps = 0; // when the first full frame has arrived at the hop's end
    sim_time_t last_ps = 0;  // when the last frame has arrived at the hop's end
    uint64_t slowest_bps = UINT64_MAX;
    for (uint32_t h = 0; h < path->hop_count; h++) {
        const net_port_t *const port = path->ports[h];
        const sim_time_t full_ps = net_port_frame_time_ps(port, full_frame_bytes);
        slowest_bps = port->rate_bps < slowest_bps ? port->rate_bps : slowest_bps;
        const uint32_t link_bytes = full_frame_bytes + port->overhead_bytes;
        const sim_time_t spread = spread_ps(full_count, link_bytes, slowest_bps);
        if (full_count > 0) {
            // The transmitter is free again when the last of the full frames and its gap are out.
            const sim_time_t free_ps = first_ps + spread + full_ps;
            first_ps += full_ps - port->gap_ps + port->delay_ps;
            last_ps = last_ps > free_ps ? last_ps : free_ps;
        }
        if (last_frame_bytes > 0) {
            last_ps +=
                net_port_frame_time_ps(port, last_frame_bytes) - port->gap_ps + port->delay_ps;
        } else {
            last_ps = first_ps + spread;
        }
    }
    return last_ps;
}
