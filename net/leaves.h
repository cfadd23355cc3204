// SPDX-License-Identifier: Apache-2.0
// net/leaves.h - the leaves of routes, for net_routes_ops_t.search.
#ifndef NET_LEAVES_H
#define NET_LEAVES_H

#include "net/network.h"

SIM_C_BEGIN

// A leaf is a destination of routes: a forwarding node with hosts, or a host with fixed routes,
// which net_leaf_at represents by the node that it is linked to.
uint32_t net_leaf_count(const net_t *net);
net_node_t *net_leaf_at(const net_t *net, uint32_t leaf);
// Finds the ports of a node towards a leaf while all links are up. Returns how many; 0: it is the
// leaf itself, or there is no path. *ports is borrowed and valid as long as the network. After
// net_build.
uint32_t net_ports_towards(const net_t *net, const net_node_t *node, uint32_t leaf,
                           const uint32_t **ports);
// Sets the ports of `node` towards a leaf. routes: as given to search. ports is copied.
void net_routes_set(net_routes_t *routes, const net_node_t *node, uint32_t leaf,
                    const uint32_t *ports, uint32_t count);

SIM_C_END

#endif // NET_LEAVES_H
