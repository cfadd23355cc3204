// SPDX-License-Identifier: Apache-2.0
// nic/cc/control.h - what the protocol reports to congestion control (nic/congestion.h).
#ifndef NIC_CC_CONTROL_H
#define NIC_CC_CONTROL_H

#include "nic/objects/qp.h"

// Starts the algorithm's state of a QP that gets connected.
void nic__cc_create(nic_qp_t *qp, uint64_t line_bps, uint64_t window_bytes);
// Makes the QP follow the algorithm's rate and window, after each of its operations.
void nic__cc_sync(nic_qp_t *qp);
void nic__cc_start(nic_qp_t *qp);
void nic__cc_stop(nic_qp_t *qp);
// Reports to the algorithm an ACK or sequence NAK that acknowledged acked_bytes. tell_ack is for an
// algorithm that hears of ACKs, or for a NAK.
void nic__cc_tell_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t acked_bytes, bool nak);
static inline void nic__cc_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t acked_bytes,
                               bool nak)
{
    if (nak || nic__cc(qp)->hears_acks) {
        nic__cc_tell_ack(qp, packet, acked_bytes, nak);
    }
}
// Reports to it an ACK up to end_psn that acknowledges nothing new, because another path was
// shorter.
void nic__cc_late_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t end_psn);

// Makes the packet collect telemetry, or bring back what the packet `from` has collected.
void nic__add_telemetry(nic_t *nic, net_packet_t *packet, net_telemetry_t kind,
                        const net_packet_t *from);
// Returns how long the NIC had the packet that it serves now; 0: an ideal NIC, or nobody asks.
sim_time_t nic__host_delay_ps(const nic_t *nic);
// Returns true if the ACK of this packet has to say more than that it arrived.
static inline bool nic__wants_feedback(const net_packet_t *packet)
{
    return packet->telemetry != NET_TELEMETRY_NONE || packet->acked_alone || packet->echo_ecn;
}

#endif // NIC_CC_CONTROL_H
