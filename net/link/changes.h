// SPDX-License-Identifier: Apache-2.0
// net/link/changes.h - links that go down and come up: their timers, and the routes that follow.
#ifndef NET_LINK_CHANGES_H
#define NET_LINK_CHANGES_H

#include "kernel/timer.h"
#include "net/link_state.h"
#include "net/routes_internal.h"

typedef struct net_link_change {
    uint32_t link;
    bool up;
    sim_time_t time_ps;
} net_link_change_t;

// A timer that applies link changes, or new routes, to one node.
typedef struct net_change_timer {
    sim_timer_t timer; // first
    struct net *net;
    net_node_t *node;
    size_t next; // index in net->changes of the next one to apply
} net_change_timer_t;

// net/link/changes.c: computes the routes of each state of the links; arms the timers of changes.
void net__changes_route(net_t *net);
void net__changes_schedule(net_t *net);
void net__changes_free(net_t *net);

// net/link/changes.c: gives a forwarding node the routes of one state of the links.
void net__set_routes(const net_t *net, net_node_t *node, size_t state);

#endif // NET_LINK_CHANGES_H
