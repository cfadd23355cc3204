// SPDX-License-Identifier: Apache-2.0
// net/build.c - building a network: ports from links, addresses, routes.
#include <string.h>

#include "kernel/order/fifo.h"
#include "net/loss.h"
#include "net/network_internal.h"

static void make_ports(net_t *net)
{
    uint32_t uid = 0;
    net->port_count = (uint32_t)net->link_count * 2;
    net->ports = sim_alloc_lines(sizeof(net_port_t) * (net->port_count + 1));
    net->classes = sim_alloc_sparse(sizeof(*net->classes) * net__class_blocks(net));
    net->received = sim_alloc_sparse(sizeof(*net->received) * net__class_blocks(net));
    net->rare = sim_alloc_sparse(sizeof(*net->rare) * (net->port_count + 1));
    net->meters = sim_alloc_sparse(sizeof(*net->meters) * (net->port_count + 1));
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        node->ports = net->ports + uid;
        for (uint32_t p = 0; p < node->port_count; p++) {
            net__port_init(&node->ports[p], node, p);
            net__port_place(&node->ports[p], uid++);
        }
    }
}

static void connect_port(const net_t *net, uint32_t link_index, net_port_t *port, net_port_t *peer)
{
    const net_link_config_t *const config = net->links[link_index].config;
    port->peer = peer;
    port->link = link_index;
    port->config = config;
    port->delay_ps = config->delay_ps;
    net__port_set_rate(port, config->rate_bps);
    port->channel = sim_channel_create(net->sim,
                                       &port->node->sim,
                                       &peer->node->sim,
                                       peer->index,
                                       port->delay_ps);
    sim_channel_keeps_number(&port->node->sim, port->channel, port->index);
}

static void connect_ports(net_t *net)
{
    make_ports(net);
    for (size_t i = 0; i < net->link_count; i++) {
        const net_link_t *const link = &net->links[i];
        net_port_t *const a = &link->a->ports[link->a_port];
        net_port_t *const b = &link->b->ports[link->b_port];
        connect_port(net, (uint32_t)i, a, b);
        connect_port(net, (uint32_t)i, b, a);
        net__loss_build(net, (uint32_t)i);
    }
}

static void give_addresses(net_t *net)
{
    for (size_t i = 0; i < net->node_count; i++) {
        if (net->nodes[i]->kind == NET_NODE_HOST) {
            net->interface_count += net->nodes[i]->port_count;
        }
    }
    net->interfaces = sim_alloc_array(net->interface_count + 1, sizeof(*net->interfaces));
    net->attachments = sim_alloc_array(net->interface_count + 1, sizeof(*net->attachments));
    net->leaf_of = sim_alloc_array(net->node_count + 1, sizeof(*net->leaf_of));
    // One leaf for each forwarding node with hosts, and one for each host with fixed routes.
    net->leaves = sim_alloc_array(net->node_count + 1, sizeof(*net->leaves));
    memset(net->leaf_of, 0xff, (net->node_count + 1) * sizeof(*net->leaf_of));
    uint32_t next = 0;
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        for (uint32_t p = 0; node->kind == NET_NODE_HOST && p < node->port_count; p++) {
            net_port_t *const port = &node->ports[p];
            net_node_t *const leaf = port->peer->node;
            net->attachments[next] = (net_attachment_t){NET_NO_LEAF, port->peer->index};
            if (leaf->forward != NULL) {
                uint32_t *const number = &net->leaf_of[leaf->sim.index];
                if (*number == NET_NO_LEAF) {
                    *number = net->leaf_count;
                    net->leaves[net->leaf_count++] = leaf;
                }
                net->attachments[next].leaf = *number;
            }
            port->interface = next;
            net->interfaces[next++] = port;
        }
    }
}

static sim_err_t check_nodes(const net_t *net, sim_message_t *message)
{
    for (size_t i = 0; i < net->node_count; i++) {
        if (net->nodes[i]->kind == NET_NODE_HOST && net->nodes[i]->port_count == 0) {
            return sim_fail(message,
                            SIM_ERR_INVALID,
                            "host %s has no link, expected hosts that are joined by links",
                            net->nodes[i]->sim.name);
        }
        SIM_CHECKF(net->nodes[i]->kind == NET_NODE_HOST || net->nodes[i]->forward != NULL,
                   "%s is no host and does not forward",
                   net->nodes[i]->sim.name);
    }
    for (size_t i = 0; i < net->link_count; i++) {
        const sim_err_t odd = net_loss_check(net->links[i].config, message);
        if (odd != SIM_OK) {
            return odd;
        }
    }
    return SIM_OK;
}

sim_err_t net_build(net_t *net, sim_message_t *message)
{
    SIM_CHECK(!net->built);
    sim_err_t error = check_nodes(net, message);
    if (error == SIM_OK) {
        error = net__choose_models(net, message);
    }
    if (error == SIM_OK) {
        net__extensions_before_build(net);
        error = net__telemetry_build(net, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    connect_ports(net);
    net__extensions_with_ports(net);
    net->port_names = sim_alloc_array(net->node_count + 1, sizeof(*net->port_names));
    net->built = true;
    give_addresses(net);
    if (net->interface_count == 0) {
        return sim_fail(message,
                        SIM_ERR_INVALID,
                        "the network has no host, expected hosts that are joined by links");
    }
    if (net->interface_count > NET_INTERFACES_MAX) {
        return sim_fail(message,
                        SIM_ERR_RANGE,
                        "the network has %zu interfaces, expected at most %u: no more addresses",
                        net->interface_count,
                        NET_INTERFACES_MAX);
    }
    net__fixed_prepare(net);
    net__changes_route(net);
    const sim_err_t leads = net__fixed_check(net, message);
    if (leads != SIM_OK) {
        return leads;
    }
    for (size_t i = 0; i < net->node_count; i++) {
        net__set_routes(net, net->nodes[i], 0);
        if (net->nodes[i]->built != NULL) {
            net->nodes[i]->built(net->nodes[i]);
        }
    }
    net__changes_schedule(net);
    net__faults_schedule(net);
    return SIM_OK;
}
