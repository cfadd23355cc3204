// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/acked_packet.h - ACKs for packets that are already freed.
//
// A packet that filled a gap may be freed before its ACK is built. The ACK still has to bring back
// its ECN mark, telemetry and send time, for congestion control; so these are copied first.
#ifndef NIC_TRANSPORT_SELECTIVE_ACKED_PACKET_H
#define NIC_TRANSPORT_SELECTIVE_ACKED_PACKET_H

#include <string.h>

#include "nic/transport.h"

typedef struct nic_acked_packet {
    net_packet_t packet;
    uint64_t hops[NET_INT_HOPS_MAX]; // INT: packet.hop_count of them
} nic_acked_packet_t;

// Copies what the ACK needs from a packet that is about to be taken.
static inline void nic__acked_packet_note(nic_acked_packet_t *cause, const net_packet_t *packet)
{
    cause->packet = *packet;
    if (SIM_UNLIKELY(packet->telemetry == NET_TELEMETRY_INT)) {
        memcpy(cause->hops, net_packet_telemetry(packet), packet->hop_count * sizeof(uint64_t));
    }
}

// Sends an ACK of everything before expected_psn, with what the packet said.
void nic__acked_packet_acknowledge(nic_qp_t *qp, nic_acked_packet_t *cause);

#endif // NIC_TRANSPORT_SELECTIVE_ACKED_PACKET_H
