// SPDX-License-Identifier: Apache-2.0
// net/forwarder.h - the common part of a forwarding node of one's own: an appliance, a simple
// switch, or a source of traffic within the network.
//
// It runs the node's events, keeps unlimited queues at the ports, obeys pauses and follows routes.
// The program says what happens to a packet (examples/custom_forwarder.c). For more, such as a
// shared buffer that sends pauses, see net/switch.h, or write a node on net/network.h alone.
#ifndef NET_FORWARDER_H
#define NET_FORWARDER_H

#include "net/node.h"

SIM_C_BEGIN

typedef struct net_forwarder net_forwarder_t;

typedef struct net_forwarder_ops {
    bool hop; // true: each packet's TTL falls by one where forwarding is routed
    // Takes a packet that came in by `ingress`, no pause. It must go to net_forwarder_send,
    // net_port_drop or net_packet_deliver, now or in a later event of the node.
    void (*packet)(net_forwarder_t *forwarder, net_port_t *ingress, net_packet_t *packet);
    void (*built)(net_forwarder_t *forwarder); // the ports exist, as net_node_built_fn; may be NULL
    void (*fini)(net_forwarder_t *forwarder);  // frees what the program added; may be NULL
} net_forwarder_ops_t;

// The first member of a program's node, which is one allocation of sim_alloc_lines.
struct net_forwarder {
    net_node_t node; // first
    const net_forwarder_ops_t *ops;
    const net_routes_t *routes; // at present
};

// Initialises a node before net_build; ops stay, name is copied. The simulation frees the node.
void net_forwarder_init(net_t *net, net_forwarder_t *forwarder, const net_forwarder_ops_t *ops,
                        const char *name);
// Queues a packet at a port of the node, in an event of the node, and takes it.
void net_forwarder_send(net_port_t *egress, net_packet_t *packet);
// Returns the port by which a packet with this flow hash goes to an interface: one of the shortest
// paths whose first link is up. NULL: there is none.
net_port_t *net_forwarder_port(const net_forwarder_t *forwarder, uint32_t interface,
                               uint32_t flow_hash);

SIM_C_END

#endif // NET_FORWARDER_H
