// SPDX-License-Identifier: Apache-2.0
// net/link/pause.h - the ends of pauses whose time has run out.
#ifndef NET_LINK_PAUSE_H
#define NET_LINK_PAUSE_H

#include "net/node.h"

// net/link/pause.c: ends the pauses whose time has run out.
void net__pause_expired(net_port_t *port);
// Sets the classes from which nothing may be sent, after those that are stopped changed.
void net__port_set_paused(net_port_t *port);
// Stops a class until until_ps, SIM_TIME_NEVER: until it is released.
void net__port_hold(net_port_t *port, uint32_t priority, sim_time_t until_ps);
// Releases a class that is stopped.
void net__port_release(net_port_t *port, uint32_t priority);

#endif // NET_LINK_PAUSE_H
