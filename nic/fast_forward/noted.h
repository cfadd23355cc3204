// SPDX-License-Identifier: Apache-2.0
// nic/fast_forward/noted.h - what moments note of NICs when messages begin and end between them.
#ifndef NIC_FAST_FORWARD_NOTED_H
#define NIC_FAST_FORWARD_NOTED_H

#include "kernel/fast_forward_notes.h"
#include "nic/objects/qp.h"

// Notes the work requests and receives of a queue pair. Returns why it cannot; NULL: it can.
const char *nic__note_qp(sim_notes_t *notes, const nic_qp_t *qp);
// Returns whether a packet is a part of a SEND or WRITE, or acknowledges some.
bool nic__may_note(const net_packet_t *packet);
// Notes the headers of such a packet, and clears those parts of its copy.
void nic__note_packet(sim_notes_t *notes, net_packet_t *packet, net_packet_t *copy);

#endif // NIC_FAST_FORWARD_NOTED_H
