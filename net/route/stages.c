// SPDX-License-Identifier: Apache-2.0
// net/route/stages.c - all paths between two interfaces that the packets of one flow may take.
//
// From stage to stage, the nodes that packets can reach are followed at once: to all equally short
// ports where packets spread, else to the port of the flow's hash.
#include <stdlib.h>

#include "net/network_internal.h"
#include "net/paths.h"
#include "net/ports.h"
#include "net/routes_internal.h"
#include "net/switch_model.h"

bool net__links_alike(const net_t *net)
{
    const net_link_config_t *first = NULL;
    for (size_t i = 0; i < net->link_count; i++) {
        const net_link_ends_t ends = net_link_ends(net, i);
        const net_node_t *const a = net->nodes[ends.a];
        const net_node_t *const b = net->nodes[ends.b];
        if (a == NULL || a->forward == NULL || b == NULL || b->forward == NULL) {
            continue;
        }
        const net_link_config_t *const config = net_link_config(net, i);
        first = first == NULL ? config : first;
        if (config != first &&
            (config->rate_bps != first->rate_bps || config->delay_ps != first->delay_ps)) {
            return false;
        }
    }
    return true;
}

// Returns whether packets of a flow may leave a node by several ports.
static bool spreads_at(const net_node_t *node, bool sender_spreads)
{
    return sender_spreads || (node->kind == NET_NODE_SWITCH &&
                              net_switch_of((net_node_t *)(uintptr_t)node)->balance->spreads_flows);
}

// Returns whether packets leave the path anywhere.
static bool spread_on(const net_path_t *path, bool sender_spreads)
{
    for (uint32_t h = 1; h < path->hop_count; h++) {
        if (spreads_at(path->ports[h]->node, sender_spreads)) {
            return true;
        }
    }
    return false;
}

// Returns whether the fabric's links make no difference: any path is as good as this one, and no
// link between switches is slower than the one from the sender.
static bool all_paths_equal(const net_t *net, const net_path_t *path)
{
    for (uint32_t h = 1; h + 1 < path->hop_count; h++) {
        if (path->ports[h]->line->rate_bps < path->ports[0]->line->rate_bps) {
            return false;
        }
    }
    return net->links_alike;
}

// The nodes that packets have reached.
typedef struct front {
    const net_node_t **nodes;
    uint32_t count;
    uint32_t capacity;
} front_t;

static int by_number(const void *a, const void *b)
{
    const net_node_t *const left = *(const net_node_t *const *)a;
    const net_node_t *const right = *(const net_node_t *const *)b;
    return (left->sim.index > right->sim.index) - (left->sim.index < right->sim.index);
}

// Removes nodes that are there twice.
static void make_unique(front_t *front)
{
    if (front->count < 2) {
        return;
    }
    qsort(front->nodes, front->count, sizeof(const net_node_t *), by_number);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < front->count; i++) {
        if (front->nodes[i] != front->nodes[kept - 1]) {
            front->nodes[kept++] = front->nodes[i];
        }
    }
    front->count = kept;
}

// Adds a port to a stage, and the node behind it to the next front. Returns whether it leads to the
// interface.
static bool take_port(const net_port_t *port, uint32_t to, net_stage_t *stage, front_t *next)
{
    const net_port_t *const peer = net_port_peer(port);
    const uint64_t rate_bps = port->line->rate_bps;
    if (stage->port == NULL || rate_bps > stage->port->line->rate_bps) {
        stage->port = port;
    }
    stage->delay_ps = SIM_MIN(port->line->delay_ps, stage->delay_ps);
    stage->rate_bps += rate_bps;
    SIM_APPEND(next->nodes, next->count, next->capacity, peer->node);
    return peer->interface == to;
}

// Follows packets from the nodes of a front over one more link. Returns the number of ports that
// they may take, and *arrived, how many of these lead to the interface.
static uint32_t follow(const net_t *net, const front_t *front, uint32_t from, uint32_t to,
                       uint32_t flow_hash, bool sender_spreads, net_stage_t *stage, front_t *next,
                       uint32_t *arrived)
{
    *stage = (net_stage_t){.delay_ps = SIM_TIME_NEVER};
    *arrived = 0;
    uint32_t taken = 0;
    for (uint32_t n = 0; n < front->count; n++) {
        const net_node_t *const node = front->nodes[n];
        if (node->forward == NULL) {
            return 0;
        }
        const net_routes_t *const routes = &net->routes[0][node->forwarder];
        if (!spreads_at(node, sender_spreads)) {
            const net_port_t *const port = node->forward->route(node, routes, from, to, flow_hash);
            if (port != NULL) {
                *arrived += take_port(port, to, stage, next);
                taken++;
            }
            continue;
        }
        const uint32_t *ports = NULL;
        const uint32_t count = net_routes_ports(node, routes, to, &ports);
        for (uint32_t p = 0; p < count; p++) {
            *arrived += take_port(net_port_at(node, ports[p]), to, stage, next);
        }
        taken += count;
    }
    return taken;
}

uint32_t net_stages_of(const net_t *net, const net_path_t *path, uint32_t from, uint32_t to,
                       uint32_t flow_hash, bool sender_spreads, net_stage_t *stages)
{
    if (!spread_on(path, sender_spreads) || all_paths_equal(net, path)) {
        return 0;
    }
    const net_port_t *const first = path->ports[0];
    stages[0] = (net_stage_t){first, first->line->delay_ps, first->line->rate_bps};
    front_t front = {NULL, 0, 0};
    front_t next = {NULL, 0, 0};
    SIM_APPEND(front.nodes, front.count, front.capacity, net_port_peer(first)->node);
    uint32_t count = 1;
    uint32_t taken = 1;
    uint32_t arrived = 0;
    while (arrived == 0 && taken > 0 && count < NET_PATH_HOPS_MAX) {
        taken = follow(net, &front, from, to, flow_hash, sender_spreads, &stages[count], &next,
                       &arrived);
        count++;
        make_unique(&next);
        const front_t done = front;
        front = next;
        next = done;
        next.count = 0;
    }
    sim_free(front.nodes);
    sim_free(next.nodes);
    return arrived > 0 && arrived == taken ? count : 0;
}
