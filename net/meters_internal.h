// SPDX-License-Identifier: Apache-2.0
// net/meters_internal.h - the telemetry that the ports of switches write.
#ifndef NET_METERS_INTERNAL_H
#define NET_METERS_INTERNAL_H

#include "net/node.h"

// net/wire/telemetry.c: build prepares the wanted kinds; start makes a switch's port write them.
SIM_MUST_CHECK sim_err_t net__telemetry_build(net_t *net, sim_message_t *message);
void net__port_start_meter(net_port_t *port);

#endif // NET_METERS_INTERNAL_H
