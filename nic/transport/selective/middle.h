// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/middle.h - the short way of building a packet of the middle of a WRITE.
//
// Most packets are such ones. The way is that of transports which decide themselves which packets
// ask for an ACK.
#ifndef NIC_TRANSPORT_SELECTIVE_MIDDLE_H
#define NIC_TRANSPORT_SELECTIVE_MIDDLE_H

#include "nic/host/packets.h"
#include "nic/transport/requester_internal.h"

// Returns the work request whose middle the next packet is: a full one, with others before and
// behind it, of a WRITE of which packets are in flight. Returns NULL for every other packet.
static inline const nic_wqe_t *nic__middle_wqe(const nic_t *nic, const nic_qp_t *qp)
{
    const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_send);
    const bool middle = qp->send_offset != 0 && wqe->length - qp->send_offset > qp->mtu_bytes;
    return SIM_LIKELY(middle && nic__is_write(wqe) && qp->next_psn == qp->max_psn &&
                      qp->next_psn != qp->una_psn && (qp->flags & NIC_QP_FEEDBACK) == 0 &&
                      !nic->contents)
               ? wqe
               : NULL;
}

// Builds that packet as nic__cursor_addressed does, without deciding whether it asks for an ACK.
static inline net_packet_t *nic__middle_packet(nic_t *nic, nic_qp_t *qp, const nic_wqe_t *wqe)
{
    const uint32_t bytes = qp->mtu_bytes;
    const uint32_t reth_bytes = nic->body_bytes != NULL ? 0 : ROCE_RETH_BYTES;
    net_packet_t *const packet = nic__new_packet(nic, qp, qp->priority, qp->path.ecn,
                                                 nic__body_bytes(nic, 0, bytes) + reth_bytes);
    packet->opcode = (uint8_t)(qp->transport + ROCE_WRITE_MIDDLE);
    packet->payload_bytes = (uint16_t)bytes;
    packet->psn = (uint32_t)qp->next_psn & ROCE_PSN_MASK;
    packet->addressed = true;
    nic__set_reth(packet, wqe, qp->send_offset);
    qp->in_flight_bytes += bytes;
    qp->max_psn = ++qp->next_psn;
    qp->send_offset += bytes;
    return packet;
}

#endif // NIC_TRANSPORT_SELECTIVE_MIDDLE_H
