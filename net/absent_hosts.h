// SPDX-License-Identifier: Apache-2.0
// net/absent_hosts.h - hosts that other ranks run, and that this rank has let go.
#ifndef NET_ABSENT_HOSTS_H
#define NET_ABSENT_HOSTS_H

#include "net/node.h"

// The facts about a host that was let go. like 0: the node was never let go.
typedef struct net_gone {
    uint32_t like; // 1 + number of a host that it is made like
    uint32_t name; // place in net->gone_names
    uint16_t port_count;
    uint8_t planes;
} net_gone_t;

// Frees what is known of hosts that were let go.
void net__gone_free(net_t *net);

#endif // NET_ABSENT_HOSTS_H
