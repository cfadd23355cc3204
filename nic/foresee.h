// SPDX-License-Identifier: Apache-2.0
// nic/foresee.h - what packets that are already on their way will do to a host's programs.
//
// A host knows all arrivals of the window that it runs (kernel/event.h). If the next ones are whole
// SENDs and WRITEs in order, they complete receives and change memory, whatever the host's programs
// do meanwhile, as long as they only post receives. So a program can be told of them together
// (apps/programs).
#ifndef NIC_FORESEE_H
#define NIC_FORESEE_H

#include "nic/completion_queue.h"

SIM_C_BEGIN

typedef struct nic_foreseen {
    sim_time_t time_ps;
    const nic_cq_t *cq;     // NULL: a WRITE
    nic_wc_t wc;            // of the receive; of a WRITE only qp_num and byte_len
    uint64_t address;       // of the payload, wc.byte_len bytes, in the host's memory
    const uint8_t *payload; // stays until the packet is received
} nic_foreseen_t;

// Finds up to `count` such arrivals that come next on the host, in the order of their times, and
// returns how many there are. Nothing else that concerns a program happens on the host before
// *until_ps. All queue pairs of its programs have to be idle as nic_qp_sends_nothing() says.
uint32_t nic_foresee(net_node_t *node, nic_foreseen_t *foreseen, uint32_t count,
                     sim_time_t *until_ps);
// Returns true if all work requests of the send queue have completed, and no READ is being
// answered.
bool nic_qp_sends_nothing(const nic_qp_t *qp);

SIM_C_END

#endif // NIC_FORESEE_H
