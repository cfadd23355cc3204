// SPDX-License-Identifier: Apache-2.0
// net/nodes.h - the nodes of a network by number, also those that other ranks run.
#ifndef NET_NODES_H
#define NET_NODES_H

#include "net/network.h"

SIM_C_BEGIN

// A way to make nodes of one kind again from others like them. One table per kind, immutable.
typedef struct net_again {
    const sim_node_ops_t *ops; // operations of these nodes, which are hosts
    net_node_built_fn built;
    // Returns whether b can be made from a, but for its name, links and planes.
    bool (*alike)(const net_node_t *a, const net_node_t *b);
    // Returns a node that is made like another, not registered yet.
    net_node_t *(*make)(const net_node_t *like);
} net_again_t;
// Lets net_let_go give up nodes of that kind. ops is borrowed; later calls name the same.
void net_set_again(net_t *net, const net_again_t *ops);

// Destroys hosts that other ranks run (kernel/ranks.h) and that can be made again, so that they
// take no memory. Pointers to them become invalid. Asking for such a host makes it again. After
// sim_seat, before net_build.
void net_let_go(net_t *net);

net_node_t *net_node_at(const net_t *net, size_t index);
// Answer for a node without making it, if it was let go (net_let_go). net_node_look returns NULL
// then: the node has done and counted nothing.
net_node_t *net_node_look(const net_t *net, size_t index);
// Returns a node, or if it was let go fills in `gone` with its name, number, links and planes, and
// returns that. It has no events, and serves net_port_look alone.
const net_node_t *net_node_view(const net_t *net, size_t index, net_node_t *gone);
const char *net_node_name(const net_t *net, size_t index);
net_node_kind_t net_kind_of(const net_t *net, size_t index);
// The numbers of a network's nodes. Switches are all that are neither hosts nor accelerators.
typedef struct net_node_counts {
    size_t hosts;
    size_t accelerators; // that are nodes (net/scale_up.h)
    size_t switches;
} net_node_counts_t;
net_node_counts_t net_count_nodes(const net_t *net);
uint32_t net_ports_of(const net_t *net, size_t index);
uint32_t net_planes_of(const net_t *net, size_t index);
// Returns the node, or if it was let go one that is configured like it.
const net_node_t *net_node_like(const net_t *net, size_t index);
// Returns the host of an interface, without making its port (net_port_at).
net_node_t *net_interface_node(const net_t *net, uint32_t interface);
uint32_t net_interface_node_number(const net_t *net, uint32_t interface); // makes no host
net_node_t *net_neighbour(const net_node_t *node, uint32_t index);
uint32_t net_neighbour_number(const net_node_t *node, uint32_t index); // makes no host
// Calls net_node_built_fn for a host that another rank runs, unless somebody has. Any thread may
// call it.
void net_node_complete(net_node_t *node);

SIM_C_END

#endif // NET_NODES_H
