// SPDX-License-Identifier: Apache-2.0
// net/fixed_routes_internal.h - routes that a program or a scenario fixed.
#ifndef NET_FIXED_ROUTES_INTERNAL_H
#define NET_FIXED_ROUTES_INTERNAL_H

#include "net/routes_internal.h"

// The ports that net_route_fix gave a node towards a host.
typedef struct net_fixed_route {
    const net_node_t *node;
    const net_node_t *host;
    uint32_t *ports;
    uint32_t count;
} net_fixed_route_t;

// net/route/fixed.c: prepare gives hosts with fixed routes leaf numbers of their own, before routes
// are computed; apply writes fixed routes over searched ones; check fails if they miss a host.
void net__fixed_prepare(net_t *net);
void net__fixed_apply(const net_t *net, const bool *link_up, net_routes_t *routes);
SIM_MUST_CHECK sim_err_t net__fixed_check(const net_t *net, sim_message_t *message);
void net__fixed_free(net_t *net);

#endif // NET_FIXED_ROUTES_INTERNAL_H
