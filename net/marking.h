// SPDX-License-Identifier: Apache-2.0
// net/marking.h - marks packets CE at a switch.
#ifndef NET_MARKING_H
#define NET_MARKING_H

#include "net/switch_model.h"

SIM_C_BEGIN

// Returns the state of the marking "red" at one port. It is made for all ports at the first call,
// because most switches of a large network never mark. Its values do not depend on that moment.
net_red_t *net__switch_red_make(net_switch_t *sw);
static inline net_red_t *net_switch_red(net_switch_t *sw, const net_port_t *egress)
{
    net_red_t *const red = SIM_LIKELY(sw->red != NULL) ? sw->red : net__switch_red_make(sw);
    return &red[egress->index];
}

// Returns whether the marking is net's "red", which never marks a packet that empties its queue.
bool net_switch_marks_red(const net_switch_t *sw);

// Marks a packet whose marks and class are known, so that its cache line is only written. A packet
// that an earlier hop has marked gets nothing new and is counted apart.
static inline void net_switch_mark_known(net_port_t *egress, net_packet_t *packet, uint8_t marks,
                                         uint32_t priority)
{
    const bool again = net_marks_ecn(marks) == NET_ECN_CE;
    sim_node_t *const node = &egress->node->sim;
    packet->marks = net_marks_congested(marks);
    sim_happened(node, 'm', 0, (uint64_t)egress->index << 32 | priority); // 0: may be replayed late
    (again ? egress->rare->ecn_marked_again : egress->rare->ecn_marked)[priority]++;
    egress->counted = 1;
    net_port_trace(egress, NET_TRACE_MARK, packet, again);
}

static inline void net_switch_mark(net_port_t *egress, net_packet_t *packet)
{
    net_switch_mark_known(egress, packet, packet->marks, packet->priority);
}

// Fills in the thresholds by which the port marks packets. Returns false if it marks none, or by
// another rule than RED. After net_build.
bool net_switch_ecn_thresholds(const net_node_t *node, uint32_t port, sim_profile_t *profile);

SIM_C_END

#endif // NET_MARKING_H
