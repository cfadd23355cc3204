// SPDX-License-Identifier: Apache-2.0
// net/meters_internal.h - the telemetry that the ports of switches write.
#ifndef NET_METERS_INTERNAL_H
#define NET_METERS_INTERNAL_H

#include "net/node.h"
#include "net/packet.h"
#include "net/packets.h"
#include "net/port.h"
#include "net/telemetry.h"

// net/wire/telemetry.c: build prepares the wanted kinds; start makes a switch's port write them.
SIM_MUST_CHECK sim_err_t net__telemetry_build(net_t *net, sim_message_t *message);
void net__port_start_meter(net_port_t *port);

// Returns whether a packet asks for this telemetry. An ACK only carries that of another packet.
static inline bool net__asks_for(const net_packet_t *packet, net_telemetry_t kind)
{
    return packet->telemetry == (unsigned)kind && packet->opcode != ROCE_ACKNOWLEDGE;
}

static inline uint64_t net__queue_bytes_of(const net_port_t *port)
{
    uint64_t bytes = 0;
    for (uint32_t classes = port->waiting; classes != 0; classes &= classes - 1) {
        bytes += port->classes[__builtin_ctz(classes)]->bytes;
    }
    return bytes;
}

// Writes INT's next record into the packet. phase_ps: by which its clock is behind.
static inline void net__push_record(const net_port_t *port, const net_meter_t *meter,
                                    net_packet_t *packet, sim_time_t phase_ps)
{
    const uint32_t hop = packet->hop_count++;
    packet->path_id ^= meter->switch_id;
    net_packet_telemetry(packet)[hop] =
        net_int_record(meter->rate_code, port->node->sim.now_ps - phase_ps, meter->tx_bytes,
                       net__queue_bytes_of(port), meter->multiplier);
}

// Counts a frame for INT and, if the packet asks for it and has room, writes a record, which may
// make the frame longer.
static SIM_ALWAYS_INLINE void net__meter_int(net_port_t *port, net_packet_t *packet,
                                             sim_time_t phase_ps)
{
    net_meter_t *const meter = port->meter;
    if (net__asks_for(packet, NET_TELEMETRY_INT) && packet->hop_count != NET_INT_HOPS_MAX) {
        const bool grows = packet->hop_count >= meter->reserved_hops;
        net__push_record(port, meter, packet, phase_ps);
        if (grows) {
            net_packet_grow(port->node, packet, NET_INT_HOP_BYTES);
        }
    }
    meter->tx_bytes += (uint32_t)packet->frame_bytes + port->line->overhead_bytes;
}

// Counts a frame for PINT and, if the packet asks for it, raises the packet's digest.
void net__meter_pint(net_port_t *port, net_packet_t *packet);

#endif // NET_METERS_INTERNAL_H
