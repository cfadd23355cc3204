// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/detour.c - "valiant" and "ugal", which send packets by way of another switch.
//
// The switch of the source decides and writes the rest of the path into net_packet_t.route; later
// switches follow it. "valiant" draws one intermediate switch per flow (Valiant, SIAM Journal on
// Computing, 1982). "ugal" draws one per packet and takes it only if the queue towards it, times
// the links of that path, is below that of a shortest path (Singh, 2005; local information). Page:
// docs/models/detours.md.
#include "net/leaves.h"
#include "net/models_internal.h"
#include "net/nodes.h"
#include "net/switch/balance/balance_internal.h"

#define ROUTE_HOPS 8u // bytes of net_packet_t.route

// A path from a switch on.
typedef struct way {
    uint64_t route;      // a byte for each hop after the first: 1 + port
    uint32_t first_port; // of the switch itself
    uint32_t hops;       // links between switches
    bool whole;          // it has room in `route`
} way_t;

// Goes on to a leaf by ports that the hash chooses. Returns the leaf's node; NULL: no path.
static const net_node_t *go_on(const net_t *net, const net_node_t *node, uint32_t leaf,
                               uint64_t hash, way_t *way)
{
    while (node != NULL && node != net->leaves[leaf]) {
        const uint32_t *ports;
        const uint32_t count =
            node->forward == NULL ? 0 : net_ports_towards(net, node, leaf, &ports);
        if (count == 0) {
            return NULL;
        }
        hash = sim_mix64(hash + node->sim.index);
        const uint32_t port = ports[hash % count];
        if (way->hops == 0) {
            way->first_port = port;
        } else if (way->hops <= ROUTE_HOPS && port < UINT8_MAX) {
            way->route |= (uint64_t)(port + 1) << 8 * (way->hops - 1);
        } else {
            way->whole = false;
        }
        way->hops++;
        node = net_neighbour(node, port);
    }
    return node;
}

// Returns the path from a switch to a leaf by way of another one, which may be the leaf itself.
static way_t way_to(const net_switch_t *sw, uint32_t by, uint32_t leaf, uint64_t hash)
{
    const net_t *const net = sw->node.net;
    way_t way = {.whole = true};
    const net_node_t *node = go_on(net, &sw->node, by, hash, &way);
    node = node == NULL || by == leaf ? node : go_on(net, node, leaf, ~hash, &way);
    way.whole = way.whole && node != NULL && way.hops > 0;
    return way;
}

static uint32_t shortest(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                         uint32_t count)
{
    return net__balance_ecmp.choose(sw, packet, ports, count);
}

static bool is_source(const net_switch_t *sw, const net_packet_t *packet)
{
    return sw->attachments[packet->source].leaf == sw->leaf;
}

// Returns a hash of the packet's flow, all bits of which are mixed.
static uint64_t flow_hash(const net_packet_t *packet)
{
    const uint64_t ends = (uint64_t)packet->source << 32 | packet->destination;
    const uint64_t hash = sim_mix64(sim_mix64(ends) ^ packet->udp_source_port);
    return hash != 0 ? hash : 1;
}

// Draws a switch by which the packet may go, and the path. Returns false if it would be none.
static bool draw(const net_switch_t *sw, const net_packet_t *packet, uint64_t hash, way_t *way)
{
    const uint32_t leaf = net__leaf_of(sw, packet->destination);
    const uint32_t by = (uint32_t)(hash % sw->node.net->leaf_count);
    if (by == sw->leaf || by == leaf) {
        return false;
    }
    *way = way_to(sw, by, leaf, hash);
    return way->whole && !sw->node.ports[way->first_port].down;
}

// Sends the packet on the path. The route belongs to the switch that decides, as its port does.
static uint32_t take(const net_packet_t *packet, const way_t *way)
{
    ((net_packet_t *)(uintptr_t)packet)->route = way->route;
    return way->first_port;
}

static uint32_t choose_valiant(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                               uint32_t count)
{
    way_t way;
    return is_source(sw, packet) && draw(sw, packet, flow_hash(packet), &way)
               ? take(packet, &way)
               : shortest(sw, packet, ports, count);
}

static uint32_t choose_ugal(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                            uint32_t count)
{
    const uint32_t port = shortest(sw, packet, ports, count);
    if (port == NET_NO_PORT) { // all links on shortest paths are down
        return port;
    }
    const uint64_t load = net_switch_port_load(sw, port);
    // The frame before this one may still be on the link; that is no queue.
    if (load <= NET_FRAME_BYTES_QUANTUM || !is_source(sw, packet)) {
        return port;
    }
    way_t way;
    const uint64_t hash = sim_mix64(flow_hash(packet) ^ sw->node.sim.now_ps);
    if (!draw(sw, packet, hash, &way)) {
        return port;
    }
    const uint32_t leaf = net__leaf_of(sw, packet->destination);
    const uint32_t hops = way_to(sw, leaf, leaf, hash).hops;
    const uint64_t other = net_switch_port_load(sw, way.first_port);
    return load * hops <= other * way.hops ? port : take(packet, &way);
}

static void built(net_switch_t *sw)
{
    net__balance_seed(sw);
    sw->node.route_mask = UINT8_MAX; // it follows routes that other switches wrote
}

const net_balance_ops_t net__balance_valiant = {
    .name = "valiant",
    .late = true,
    .built = built,
    .choose = choose_valiant,
    .path = net__balance_path,
};

const net_balance_ops_t net__balance_ugal = {
    .name = "ugal",
    .spreads_flows = true,
    .late = true,
    .built = built,
    .choose = choose_ugal,
    .path = net__balance_path,
};
