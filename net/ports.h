// SPDX-License-Identifier: Apache-2.0
// net/ports.h - the ports of nodes by number, and their names.
#ifndef NET_PORTS_H
#define NET_PORTS_H

#include "net/network.h"

SIM_C_BEGIN

// Return a port of a node, or the port at the other end of its link. Ports of nodes that other
// ranks run exist only where they are linked to this rank's; these functions make the others. Any
// thread may call them.
net_port_t *net_port_at(const net_node_t *node, uint32_t index);
net_port_t *net_port_peer(const net_port_t *port);
// Returns whether a port exists. One that does not has counted nothing.
bool net_port_exists(const net_node_t *node, uint32_t index);
// Returns the number of a port's link, and the node at its other end, without making the port.
uint32_t net_link_of(const net_node_t *node, uint32_t index);
uint32_t net_interface_link(const net_t *net, uint32_t interface); // of its port, without making it
// Returns the number of a port in its network: net_port_t.uid.
uint32_t net_port_uid(const net_node_t *node, uint32_t index);
// Returns a port if it exists; if not, fills in `idle` as the port would be and returns that. The
// node may be one that net_node_view filled in.
const net_port_t *net_port_look(const net_node_t *node, uint32_t index, net_port_t *idle);
// Returns the port's name, "leaf0->host5"; the second of parallel links has "leaf0->spine1#2". Any
// thread may call it. The string is borrowed and lives as long as the node.
// Returns whether credits of its peer hold back classes that the port sends (link.flow-control:
// cbfc).
bool net_port_has_credits(const net_port_t *port);
const char *net_port_name(const net_port_t *port);
const char *net_port_name_at(const net_node_t *node, uint32_t index); // makes no port

// The names of ports for a caller that prints those of all nodes: it keeps the names of a few nodes
// alone, and makes no node.
typedef struct net_port_labels net_port_labels_t;
net_port_labels_t *net_port_labels_create(const net_t *net);
void net_port_labels_destroy(net_port_labels_t *labels);
// Returns the name of a node's port, as net_port_name does, valid until the next call.
const char *net_port_label(net_port_labels_t *labels, size_t node, uint32_t port);

SIM_C_END

#endif // NET_PORTS_H
