// SPDX-License-Identifier: Apache-2.0
// net/switch/red.h - the marking "red".
#ifndef NET_SWITCH_RED_H
#define NET_SWITCH_RED_H

#include "net/marking.h"

// Draws for a packet with network.draws: packet, and counts that in red->random.counter. It is not
// inlined, so that net__mark_by can be.
uint64_t net__mark_draw(net_red_t *red, const net_packet_t *packet);

// Marks a packet (net_switch_mark_known). It is not inlined: its callers then need no stack frame.
void net__mark_known(net_port_t *egress, net_packet_t *packet, uint8_t marks, uint32_t priority);

// Marks by RED for a queue of `queued` bytes, which is more than the port's kmin.
static SIM_ALWAYS_INLINE void net__mark_by(net_switch_t *sw, net_port_t *egress,
                                           net_packet_t *packet, uint8_t marks, uint32_t priority,
                                           uint64_t queued)
{
    net_red_t *const red = net_switch_red(sw, egress);
    if (queued <= red->kmax_bytes &&
        (SIM_UNLIKELY(red->by_packet)
             ? net__mark_draw(red, packet)
             : sim_random_u64(&red->random)) >= (queued - red->kmin_bytes) * red->slope) {
        return;
    }
    net__mark_known(egress, packet, marks, priority);
}

// Mark by the bytes that a packet leaves behind (papers on DCQCN mark at dequeue). net__mark_late
// is the part that runs only above the lowest kmin of the switch.
void net__mark_late(net_switch_t *sw, net_port_t *egress, const net_class_t *queue,
                    net_packet_t *packet, uint8_t marks, uint32_t priority);
static SIM_ALWAYS_INLINE void net__mark(net_switch_t *sw, net_port_t *egress,
                                        const net_class_t *queue, net_packet_t *packet,
                                        uint8_t marks, uint32_t priority)
{
    if (SIM_UNLIKELY(queue->bytes > sw->mark_above_bytes)) {
        net__mark_late(sw, egress, queue, packet, marks, priority);
    }
}

// Marks by the bytes that a packet finds as it joins the queue (switch.ecn.mark-at: enqueue).
void net__mark_early(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);

#endif // NET_SWITCH_RED_H
