// SPDX-License-Identifier: Apache-2.0
// net/node.h - the nodes of networks: what all kinds of them have in common.
#ifndef NET_NODE_H
#define NET_NODE_H

#include "net/config.h"

SIM_C_BEGIN

typedef struct net net_t;
typedef struct net_node net_node_t;
typedef struct net_port net_port_t;
typedef struct net_log net_log_t; // net/log.h

typedef enum net_node_kind {
    NET_NODE_SWITCH,    // made by net_switch_create
    NET_NODE_HOST,      // its ports have addresses; routes lead to it and not through it
    NET_NODE_FORWARDER, // routes lead through it: a switch that a program defines itself
} net_node_kind_t;

// Counts what became of packets, at the node where it happened. Over all nodes,
// created = delivered + dropped + in flight.
typedef struct net_tally {
    uint64_t created;
    uint64_t delivered;
    uint64_t bytes_created; // frame bytes, and the telemetry that switches added
    uint64_t bytes_delivered;
    uint64_t dropped;
    uint64_t bytes_dropped;
} net_tally_t;

// The routes of one forwarding node while all links keep their state. Owned by the network.
typedef struct net_routes net_routes_t;

// Operations of a node that forwards packets. One table per kind of node, immutable.
typedef struct net_forward_ops {
    // Makes the node use these routes from now on. They stay unchanged. net_build calls it before
    // net_node_built_fn; later an event of the node calls it after a link has changed.
    void (*set_routes)(net_node_t *node, const net_routes_t *routes);

    // Returns the port by which a packet with this flow hash from interface `source` to `interface`
    // would leave if all links were up; NULL: none. It serves paths and ideal times. Any thread may
    // call it at any time, so it must read only state that never changes. A node that decides for
    // each packet anew (spraying) returns one of its choices.
    const net_port_t *(*route)(const net_node_t *node, const net_routes_t *routes, uint32_t source,
                               uint32_t interface, uint32_t flow_hash);
} net_forward_ops_t;

// Completes a node once its ports exist (thresholds, tables). Called by net_build. If another rank
// runs the node (kernel/ranks.h), a switch gets what net_forward_ops_t.route needs and no more, and
// a host is completed by net_node_complete.
typedef void (*net_node_built_fn)(net_node_t *node);

// The common first part of every node of a network, registered with the simulation by
// net_node_init. All nodes of the simulation belong to the network, so indices are the same.
struct net_node {
    sim_node_t sim; // first

    // One cache line with the fields that each event needs.
    net_port_t *ports; // port_count of them, contiguous; valid after net_build
    sim_pool_t *packets;
    uint32_t port_count;
    bool follows_routes; // uses net_packet_t.route; set by net_node_built_fn
    bool one_by_one;     // handles each event in its turn: a listener or a special link needs it
    uint8_t route_mask;  // ANDed with a byte of net_packet_t.route; 0 after a link or route changed
    bool complete;       // net_node_built_fn was called
    bool follows;        // a switch that another one stands for (nic/rails.h): it gets nothing
    bool scale_up;       // a switch that joins accelerators of a server or rack (NVSwitch)
    net_tally_t tally;
    net_log_t *log; // net/log.h; NULL: the node notes nothing

    net_node_kind_t kind;
    uint32_t planes : 8;     // of a host: consecutive ports that are one NIC's; 0, 1: each is a NIC
    uint32_t forwarder : 24; // of a node that forwards: its place among them, after net_build
    net_t *net;
    struct net_accelerators *accelerators; // of a host (net/scale_up.h); NULL: none are nodes
    net_node_built_fn built;
    const net_forward_ops_t *forward; // NULL: a host
};

// Registers a node and leaves its ownership to `ops`: the destroy operation frees it. name is
// copied. A kind defined by a program is NET_NODE_HOST, or NET_NODE_FORWARDER, which also needs
// net_node_forward. Before net_build.
void net_node_init(net_t *net, net_node_t *node, net_node_kind_t kind, const sim_node_ops_t *ops,
                   const char *name, net_node_built_fn built);

// Sets the forwarding operations. Required for every node that is no host, before net_build.
void net_node_forward(net_node_t *node, const net_forward_ops_t *ops);

SIM_C_END

#endif // NET_NODE_H
