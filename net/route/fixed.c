// SPDX-License-Identifier: Apache-2.0
// net/route/fixed.c - routes that a caller fixed (net_route_fix), which replace searched ones.
//
// Routes are kept per leaf, the node that hosts are linked to. A host with fixed routes gets a leaf
// number of its own for the same node, so that routes to two hosts of one node can differ. That
// node then finds the host by an entry like any other, and packets are routed as usual.
#include "net/fixed_routes_internal.h"
#include "net/network_internal.h"
#include "net/ports.h"
#include "net/route_choices.h"
#include "net/routes_internal.h"

#include <string.h>

void net_route_fix(net_t *net, const net_node_t *node, const net_node_t *host,
                   const uint32_t *ports, uint32_t count)
{
    SIM_CHECK(!net->built);
    SIM_CHECKF(node->kind != NET_NODE_HOST, "%s: hosts do not forward", node->sim.name);
    SIM_CHECKF(host->kind == NET_NODE_HOST && host->port_count == 1,
               "%s: routes lead to a host with one link", host->sim.name);
    SIM_CHECK(count > 0 && count <= node->port_count);
    SIM_GROW(net->fixed, net->fixed_count, &net->fixed_capacity);
    net_fixed_route_t *const route = &net->fixed[net->fixed_count++];
    *route = (net_fixed_route_t){node, host, sim_alloc_array(count, sizeof(*ports)), count};
    for (uint32_t i = 0; i < count; i++) {
        SIM_CHECKF(ports[i] < node->port_count, "%s has no port %u", node->sim.name, ports[i]);
        route->ports[i] = ports[i];
    }
}

void net__fixed_free(net_t *net)
{
    for (size_t i = 0; i < net->fixed_count; i++) {
        sim_free(net->fixed[i].ports);
    }
    sim_free(net->fixed);
}

static net_attachment_t *attachment_of(const net_t *net, const net_node_t *host)
{
    return &net->attachments[net_port_at(host, 0)->interface];
}

void net__fixed_prepare(net_t *net)
{
    if (net->fixed_count == 0) {
        return;
    }
    bool *const done = sim_alloc_array(net->node_count, sizeof(*done));
    for (size_t i = 0; i < net->fixed_count; i++) {
        const net_node_t *const host = net->fixed[i].host;
        net_node_t *const leaf = net_neighbour(host, 0);
        SIM_CHECKF(leaf->forward != NULL, "%s hangs on a host", host->sim.name);
        if (!done[host->sim.index]) {
            done[host->sim.index] = true;
            attachment_of(net, host)->leaf = net->leaf_count;
            net->leaves[net->leaf_count++] = leaf;
        }
    }
    sim_free(done);
}

void net__fixed_apply(const net_t *net, const bool *link_up, net_routes_t *routes)
{
    const bool all_up = memchr(link_up, false, net->link_count) == NULL;
    for (size_t i = 0; i < net->fixed_count; i++) {
        const net_fixed_route_t *const fixed = &net->fixed[i];
        const net_attachment_t *const at = attachment_of(net, fixed->host);
        net_routes_t *const last = &routes[net_neighbour(fixed->host, 0)->forwarder];
        if (net__hop(last->pages, at->leaf).count == 0) {
            net__routes_put(last, at->leaf, net__routes_intern(last, &at->port, 1));
        }
        if (all_up) {
            net_routes_t *const mine = &routes[fixed->node->forwarder];
            const net_hop_t hop = net__routes_intern(mine, fixed->ports, fixed->count);
            net__routes_put(mine, at->leaf, hop);
        }
    }
}

// -- whether fixed routes lead to their host

// Returns the node behind the i-th port of a node's entry for a leaf.
static const net_node_t *next_node(const net_t *net, const net_node_t *node, uint32_t leaf,
                                   size_t i)
{
    const net_routes_t *const routes = &net->routes[0][node->forwarder];
    return net_neighbour(node, routes->ports[net__hop(routes->pages, leaf).first + i]);
}

static uint32_t hop_count(const net_t *net, const net_node_t *node, uint32_t leaf)
{
    return node->forward == NULL ? 0 : net__hop(net->routes[0][node->forwarder].pages, leaf).count;
}

// Marks the nodes from which every choice leads to the host, nearest first.
static void mark_good(const net_t *net, const net_node_t *host, uint32_t leaf, bool *good)
{
    memset(good, 0, net->node_count * sizeof(*good));
    good[host->sim.index] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t n = 0; n < net->node_count; n++) {
            const net_node_t *const node = net->nodes[n];
            const uint32_t count = node == NULL ? 0 : hop_count(net, node, leaf);
            uint32_t i = 0;
            while (i < count && good[next_node(net, node, leaf, i)->sim.index]) {
                i++;
            }
            if (!good[n] && count > 0 && i == count) {
                good[n] = more = true;
            }
        }
    }
}

#define WAY_NODES_MAX 6

// Returns a next node that is not marked good; NULL: there is none.
static const net_node_t *bad_choice(const net_t *net, const net_node_t *node, uint32_t leaf,
                                    const bool *good)
{
    const uint32_t count = hop_count(net, node, leaf);
    for (uint32_t i = 0; i < count; i++) {
        const net_node_t *const next = next_node(net, node, leaf, i);
        if (!good[next->sim.index]) {
            return next;
        }
    }
    return NULL;
}

// Fails with the path of choices that are not good from a node, until one repeats or ends.
static sim_err_t fail_at(const net_t *net, const net_node_t *from, const net_node_t *host,
                         const bool *good, sim_message_t *message)
{
    const uint32_t leaf = attachment_of(net, host)->leaf;
    bool *const seen = sim_alloc_array(net->node_count, sizeof(*seen));
    char *way = sim_strdup("");
    size_t count = 0;
    const net_node_t *node = from;
    while (node != NULL && !seen[node->sim.index]) {
        seen[node->sim.index] = true;
        if (count++ < WAY_NODES_MAX) {
            char *const longer = sim_format("%s%s, ", way, node->sim.name);
            sim_free(way);
            way = longer;
        }
        node = bad_choice(net, node, leaf, good);
    }
    sim_free(seen);
    const sim_err_t error = sim_fail_about(
        message, SIM_ERR_INVALID, "routes",
        " towards %s %s: by %s%s%s, expected next hops that lead "
        "to it",
        host->sim.name, node != NULL ? "go in a circle" : "end before it", way,
        count > WAY_NODES_MAX ? "..., " : "", node != NULL ? node->sim.name : "and no further");
    sim_free(way);
    return error;
}

sim_err_t net__fixed_check(const net_t *net, sim_message_t *message)
{
    sim_err_t error = SIM_OK;
    bool *const good = sim_alloc_array(net->node_count + 1, sizeof(*good));
    bool *const checked = sim_alloc_array(net->node_count + 1, sizeof(*checked));
    for (size_t i = 0; i < net->fixed_count && error == SIM_OK; i++) {
        const net_node_t *const host = net->fixed[i].host;
        if (checked[host->sim.index]) {
            continue;
        }
        checked[host->sim.index] = true;
        const uint32_t leaf = attachment_of(net, host)->leaf;
        mark_good(net, host, leaf, good);
        for (size_t n = 0; n < net->node_count && error == SIM_OK; n++) {
            if (net->nodes[n] != NULL && !good[n] && hop_count(net, net->nodes[n], leaf) > 0) {
                error = fail_at(net, net->nodes[n], host, good, message);
            }
        }
    }
    sim_free(checked);
    sim_free(good);
    return error;
}
