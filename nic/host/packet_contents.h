// SPDX-License-Identifier: Apache-2.0
// nic/host/packet_contents.h - contents of packets, taken from a host's memory and put into it.
#ifndef NIC_HOST_PACKET_CONTENTS_H
#define NIC_HOST_PACKET_CONTENTS_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// Copies what lies at the address into the packet.
void nic__carry(nic_t *nic, net_packet_t *packet, uint64_t address);
// Copies the payload of the WQE `index`, from `offset` of it on, into the packet.
void nic__carry_request(nic_qp_t *qp, uint32_t index, uint32_t offset, net_packet_t *packet);
// Copies the packet's contents to the place, from `offset` of it on.
void nic__keep(nic_t *nic, const net_packet_t *packet, const nic_place_t *place, uint64_t offset);
// Takes the contents out of a request's packet. If the request was accepted, they go where its
// message goes.
void nic__take_contents(const nic_qp_t *qp, net_packet_t *packet, nic_rx_kind_t kind,
                        bool accepted);
// Returns true if the payload of a packet has to be looked at.
static inline bool nic__keeps(const nic_t *nic, const net_packet_t *packet)
{
    return SIM_UNLIKELY((packet->contents | nic->contents) != 0);
}

void nic__set_more(nic_qp_t *qp, uint32_t index, const nic_send_wr_t *wr);
void nic__grow_more(nic_qp_t *qp, uint32_t capacity);
void nic__free_more(nic_qp_t *qp);
// Returns true if the work request needs an entry there.
static inline bool nic__needs_more(const nic_qp_t *qp, const nic_send_wr_t *wr)
{
    return SIM_UNLIKELY(qp->sq_more != NULL) || SIM_UNLIKELY(nic__is_atomic((uint8_t)wr->opcode)) ||
           (SIM_UNLIKELY(qp->nic->contents) && (wr->send_flags & NIC_SEND_INLINE) != 0) ||
           SIM_UNLIKELY(wr->num_sge > 1);
}

#endif // NIC_HOST_PACKET_CONTENTS_H
