// SPDX-License-Identifier: Apache-2.0
// net/ranks.h - the ports that a rank has made, of its nodes and of those linked to them.
#ifndef NET_RANKS_H
#define NET_RANKS_H

#include "net/node.h"
#include "net/port.h"

// net/ranks.c: makes the ports of this rank's nodes and those linked to them; frees what only ranks
// need. In one process all ports are made.
void net__parts_make_ports(net_t *net);
void net__parts_free(net_t *net);

// Returns whether a port has been made.
static inline bool net__port_made(const net_port_t *port)
{
    return __atomic_load_n(&port->node, __ATOMIC_ACQUIRE) != NULL;
}
// Makes the port, if nobody has, without a channel, and returns it.
net_port_t *net__port_make(net_t *net, net_port_t *port);
// Returns the address of a port, which need not have been made. After net__parts_make_ports.
net_port_t *net__port_of(const net_t *net, uint32_t node, uint32_t index);

#endif // NET_RANKS_H
