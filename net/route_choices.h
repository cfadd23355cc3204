// SPDX-License-Identifier: Apache-2.0
// net/route_choices.h - routes that are fixed, and ports among which nodes choose.
#ifndef NET_ROUTE_CHOICES_H
#define NET_ROUTE_CHOICES_H

#include "net/network.h"

SIM_C_BEGIN

// Fixes the ports by which a forwarding node sends towards a host, in this order, instead of those
// of all shortest paths. It holds while all links are up; when one is down, all routes are
// searched. The host has one link, to a forwarding node. ports is copied. A later call for the same
// node and host replaces the earlier one. After net_link_add, before net_build.
void net_route_fix(net_t *net, const net_node_t *node, const net_node_t *host,
                   const uint32_t *ports, uint32_t count);

// Sets choices[p] for each port p of a forwarding node that stands beside other ports of equal cost
// towards some interface, with all links up; leaves the rest as it is.
void net_routes_choices(const net_t *net, const net_node_t *node, bool *choices);
// Returns whether packets of one flow may overtake each other: switches spread flows over paths,
// links reorder, routes change during the run, or a forwarding node is a program's own.
bool net_may_reorder(const net_t *net);

SIM_C_END

#endif // NET_ROUTE_CHOICES_H
