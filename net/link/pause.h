// SPDX-License-Identifier: Apache-2.0
// net/link/pause.h - the ends of pauses whose time has run out.
#ifndef NET_LINK_PAUSE_H
#define NET_LINK_PAUSE_H

#include "net/node.h"

// net/link/pause.c: ends the pauses whose time has run out.
void net__pause_expired(net_port_t *port);

#endif // NET_LINK_PAUSE_H
