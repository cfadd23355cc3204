// SPDX-License-Identifier: Apache-2.0
// net/switch/watchdog.h - the PFC watchdog of a switch.
#ifndef NET_SWITCH_WATCHDOG_H
#define NET_SWITCH_WATCHDOG_H

#include "net/switch_model.h"

// watchdog.c: start does nothing without a watchdog; drop discards all packets of one queue.
void net__watchdog_start(net_switch_t *sw);
void net__watchdog_free(net_switch_t *sw);
void net__watchdog_drop(net_switch_t *sw, net_port_t *egress, uint32_t priority);

#endif // NET_SWITCH_WATCHDOG_H
