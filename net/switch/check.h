// SPDX-License-Identifier: Apache-2.0
// net/switch/check.h - the invariants of a switch's port.
#ifndef NET_SWITCH_CHECK_H
#define NET_SWITCH_CHECK_H

#include "net/node.h"

// net/switch/check.c: SIM_CHECKs the invariants of a port between two events.
void net__port_check(const net_port_t *port);

#endif // NET_SWITCH_CHECK_H
