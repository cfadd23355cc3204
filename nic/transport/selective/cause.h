// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/cause.h - what an ACK brings back of a packet that is gone by then.
//
// A packet that came ahead and filled a gap, or whose memory is the next packet's, causes an ACK
// all the same: with its ECN mark, its telemetry and the time it was sent, for congestion control.
#ifndef NIC_TRANSPORT_SELECTIVE_CAUSE_H
#define NIC_TRANSPORT_SELECTIVE_CAUSE_H

#include <string.h>

#include "nic/nic_internal.h"

typedef struct nic_cause {
    net_packet_t packet;
    uint64_t hops[NET_INT_HOPS_MAX]; // INT: as many as packet.hop_count
} nic_cause_t;

// Of a packet that is about to be taken.
static inline void nic__cause_note(nic_cause_t *cause, const net_packet_t *packet)
{
    cause->packet = *packet;
    if (SIM_UNLIKELY(packet->telemetry == NET_TELEMETRY_INT)) {
        memcpy(cause->hops, net_packet_telemetry(packet), packet->hop_count * sizeof(uint64_t));
    }
}

// ACK of everything before expected_psn, with what the packet said.
void nic__cause_acknowledge(nic_qp_t *qp, nic_cause_t *cause);

#endif // NIC_TRANSPORT_SELECTIVE_CAUSE_H
