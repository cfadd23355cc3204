// SPDX-License-Identifier: Apache-2.0
// net/port_names.h - the names of ports.
#ifndef NET_PORT_NAMES_H
#define NET_PORT_NAMES_H

#include "net/node.h"

// net/port_names.c
void net__port_names_free(const net_t *net, const net_node_t *node);

#endif // NET_PORT_NAMES_H
