// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/credit.h - RCCC: a receiver paces its senders by credit.
#ifndef NIC_TRANSPORT_UEC_CREDIT_H
#define NIC_TRANSPORT_UEC_CREDIT_H

#include "nic/transport/uec/uec.h"

// Returns whether the sender has credit for a packet.
static inline bool nic__uec_has_credit(const nic_uec_t *uec)
{
    return !uec->credited || uec->credit_bytes > 0;
}
void nic__uec_credit_open(nic_uec_t *uec);
void nic__uec_credit_close(nic_uec_t *uec);
void nic__uec_pacer_init(nic_t *nic, void *nic_state, const void *config);
void nic__uec_pacer_fini(nic_t *nic, void *nic_state);
// Takes a packet's bytes off the sender's credit, and writes what it asks for into the packet.
void nic__uec_use_credit(nic_uec_t *uec, net_packet_t *packet);
// Takes in, at the sender, all that was granted so far; the first answer ends the speculation.
void nic__uec_take_credit(nic_uec_t *uec, uint64_t granted_bytes);
// Notes, at the receiver, what the sender asks for. more_bytes: of a packet that must come again.
void nic__uec_owe_credit(nic_uec_t *uec, const net_packet_t *packet, uint32_t more_bytes);
// Notes, at the receiver, what a packet shows about a fabric that is narrower than hosts' links.
void nic__uec_note_fabric(nic_uec_t *uec, bool marked, bool cut);

#endif // NIC_TRANSPORT_UEC_CREDIT_H
