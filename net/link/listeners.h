// SPDX-License-Identifier: Apache-2.0
// net/link/listeners.h - the lists of listeners of ports.
#ifndef NET_LINK_LISTENERS_H
#define NET_LINK_LISTENERS_H

#include "net/node.h"

typedef struct net_listeners net_listeners_t;
// Two lists of listeners: the second has one more. Each is NULL or used here.
typedef struct net_grown_listeners {
    net_listeners_t *from;
    net_listeners_t *to;
} net_grown_listeners_t;

// net/link/listeners.c: of a port that ends, and of a network whose ports have ended.
void net__listeners_leave(const net_port_t *port);
void net__listeners_free(net_t *net);

#endif // NET_LINK_LISTENERS_H
