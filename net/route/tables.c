// SPDX-License-Identifier: Apache-2.0
// net/route/tables.c - answers from computed routes: ports towards an interface, whole paths, ideal
// times. net/route/search.c finds them.
#include "net/leaves.h"
#include "net/network_internal.h"
#include "net/paths.h"
#include "net/ports.h"
#include "net/routes_internal.h"

uint32_t net_routes_ports(const net_node_t *node, const net_routes_t *routes, uint32_t interface,
                          const uint32_t **ports)
{
    const net_t *const net = node->net;
    SIM_CHECK(interface < net->interface_count);
    const net_attachment_t *const attachment = &net->attachments[interface];
    if (attachment->leaf == NET_NO_LEAF) {
        return 0;
    }
    if (attachment->leaf == net->leaf_of[node->sim.index]) {
        *ports = &attachment->port;
        return 1;
    }
    const net_hop_t hop = net__hop(routes->pages, attachment->leaf);
    *ports = routes->ports + hop.first;
    return hop.count;
}

uint32_t net_ports_towards(const net_t *net, const net_node_t *node, uint32_t leaf,
                           const uint32_t **ports)
{
    SIM_CHECK(node->forward != NULL && leaf < net->leaf_count);
    if (leaf == net->leaf_of[node->sim.index]) {
        return 0;
    }
    const net_routes_t *const routes = &net->routes[0][node->forwarder];
    const net_hop_t hop = net__hop(routes->pages, leaf);
    *ports = routes->ports + hop.first;
    return hop.count;
}

// -- paths

bool net_path_of(const net_t *net, uint32_t from, uint32_t to, uint32_t flow_hash, net_path_t *path)
{
    path->hop_count = 0;
    path->delay_ps = 0;
    path->bottleneck_bps = UINT64_MAX;
    const net_port_t *port = net_interface_port(net, from);
    while (port != NULL && path->hop_count < SIM_COUNT_OF(path->ports)) {
        path->ports[path->hop_count++] = port;
        path->delay_ps += port->line->delay_ps;
        path->bottleneck_bps = SIM_MIN(port->line->rate_bps, path->bottleneck_bps);
        const net_port_t *const arrived = net_port_peer(port);
        if (arrived->interface == to) {
            return true;
        }
        const net_node_t *const node = arrived->node;
        const net_routes_t *const routes = &net->routes[0][node->forwarder];
        port =
            node->forward != NULL ? node->forward->route(node, routes, from, to, flow_hash) : NULL;
    }
    return false;
}

uint64_t net_source_route(const net_t *net, uint32_t from, uint32_t to, uint32_t flow_hash)
{
    uint64_t route = 0;
    const net_port_t *arrived = net_port_peer(net_interface_port(net, from));
    for (uint32_t hop = 0; hop < sizeof(route) && arrived->interface != to; hop++) {
        const net_node_t *const node = arrived->node;
        if (!node->follows_routes) {
            break;
        }
        const net_routes_t *const routes = &net->routes[0][node->forwarder];
        const net_port_t *const port = node->forward->route(node, routes, from, to, flow_hash);
        if (port == NULL || port->index + 1 > UINT8_MAX) {
            break;
        }
        route |= (uint64_t)(port->index + 1) << (8 * hop);
        arrived = net_port_peer(port);
    }
    return route;
}

bool net_reachable(const net_t *net, uint32_t from, uint32_t to)
{
    net_path_t path;
    return from != to && net_path_of(net, from, to, 0, &path);
}

// Returns the time between the first and the last of `count` frames sent back to back.
static sim_time_t spread_ps(uint64_t count, uint32_t link_bytes, uint64_t rate_bps)
{
    const uint64_t bits_ps = link_bytes * (8 * SIM_PS_PER_S);
    return count <= 1 ? 0
                      : (sim_time_t)((sim_wide_t)bits_ps * count / rate_bps) - bits_ps / rate_bps;
}

// Frame i leaves hop h when it has arrived there and frame i - 1 has left. With equal frames the
// slowest hop sets the pace, so the full frames need only their spread. A shorter last frame can
// catch up with them, so it is followed exactly, hop by hop.
sim_time_t net_path_time_ps(const net_path_t *path, uint64_t full_count, uint32_t full_frame_bytes,
                            uint32_t last_frame_bytes)
{
    sim_time_t first_ps = 0; // arrival of the first full frame at the hop's end
    sim_time_t last_ps = 0;  // arrival of the last frame at the hop's end
    uint64_t slowest_bps = UINT64_MAX;
    for (uint32_t h = 0; h < path->hop_count; h++) {
        const net_port_t *const port = path->ports[h];
        const sim_time_t full_ps = net_port_frame_time_ps(port, full_frame_bytes);
        slowest_bps = SIM_MIN(port->line->rate_bps, slowest_bps);
        const uint32_t link_bytes = full_frame_bytes + port->line->overhead_bytes;
        const sim_time_t spread = spread_ps(full_count, link_bytes, slowest_bps);
        if (full_count > 0) {
            // The transmitter is free when the last full frame and its gap are out.
            const sim_time_t free_ps = first_ps + spread + full_ps;
            first_ps += full_ps - port->line->gap_ps + port->line->delay_ps;
            last_ps = SIM_MAX(last_ps, free_ps);
        }
        if (last_frame_bytes > 0) {
            last_ps += net_port_frame_time_ps(port, last_frame_bytes) - port->line->gap_ps +
                       port->line->delay_ps;
        } else {
            last_ps = first_ps + spread;
        }
    }
    return last_ps;
}
