// SPDX-License-Identifier: Apache-2.0
// net/switch/chance.h - what the order of ties, or a draw, changes at switches that are alike.
//
// Several packets arrive at one instant, each by a port that becomes free then: the last one passes
// at once, and the others wait for no time. So the order of a tie decides which queues have been as
// full as a packet. The order is known for each switch.
#ifndef NET_SWITCH_CHANCE_H
#define NET_SWITCH_CHANCE_H

#include "kernel/event.h"
#include "net/port.h"
#include "net/switch_model.h"

void net__chance_free(net_switch_t *sw); // if it has one
// Notes the arrivals of one instant. Called before they are handled, once for each instant.
void net__chance_tie(const net_switch_t *sw, const sim_mail_t *mail, size_t count);
// Notes that a packet arrives now and leaves by egress. waits: it waits for no time unless it is
// the last one of its tie. Returns whether that made a difference to some switch.
bool net__chance_arrival(net_switch_t *sw, uint32_t ingress, const net_port_t *egress,
                         const net_packet_t *packet, bool waits);

#endif // NET_SWITCH_CHANCE_H
