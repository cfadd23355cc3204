// SPDX-License-Identifier: Apache-2.0
// net/message.c - a hop of a network of messages: one first-come, first-served queue per link.
// Page: docs/models/message.md.
#include "net/message.h"

#include "net/forwarder.h"
#include "net/port.h"

static void pass_on(net_forwarder_t *hop, net_port_t *ingress, net_packet_t *message)
{
    net_port_t *const egress = net_forwarder_port(hop, message->destination, message->flow_hash);
    if (egress == NULL) {
        net_port_drop(ingress, message, NET_DROP_NO_ROUTE);
        return;
    }
    message->priority = 0; // all messages wait in one queue
    net_forwarder_send(egress, message);
}

static const net_forwarder_ops_t hop_ops = {.packet = pass_on};

net_node_t *net_message_hop_create(net_t *net, const char *name)
{
    net_forwarder_t *const hop = sim_alloc_lines(sizeof(*hop));
    net_forwarder_init(net, hop, &hop_ops, name);
    return &hop->node;
}
