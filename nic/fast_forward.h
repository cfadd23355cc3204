// SPDX-License-Identifier: Apache-2.0
// nic/fast_forward.h - the state of NICs and queue pairs for kernel/fast_forward.h.
#ifndef NIC_FAST_FORWARD_H
#define NIC_FAST_FORWARD_H

#include "kernel/fast_forward.h"
#include "nic/host.h"

SIM_C_BEGIN

// Adds the state of the network, its NICs included, to a list. Sets state->refused if a part has a
// state without rows: detailed NICs, several planes, transports other than go-back-n, some
// congestion controls and others. Raises *rest_ps to the time after which congestion controls begin
// anew. `span` says what queue pairs may do.
typedef enum nic_span {
    NIC_SPAN_FROM_REST, // they are at rest
    NIC_SPAN_MESSAGES,  // they are within messages, which neither begin nor end
    NIC_SPAN_CALLS,     // they are at work, and messages begin and end
} nic_span_t;
void nic_state_list(const net_t *net, sim_state_t *state, sim_time_t *rest_ps, nic_span_t span);

// Returns the frames that all ports have sent so far.
uint64_t nic_frames_sent(const net_t *net);

// The places of the receives that are posted at a queue pair, before sim_state_repeat_span moves
// them.
typedef struct nic_posted_receives nic_posted_receives_t;
nic_posted_receives_t *nic_take_receives(const net_t *net);
// Moves the receives to where the queue pairs now look for them. Frees the places.
void nic_put_receives(nic_posted_receives_t *receives);

SIM_C_END

#endif // NIC_FAST_FORWARD_H
