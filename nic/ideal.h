// SPDX-License-Identifier: Apache-2.0
// nic/ideal.h - the time that work requests take on an idle network: the closed form that
// completion times are compared with.
//
// The time runs from posting to the last completion at the requester. A WRITE or SEND takes its
// data frames, back to back, until the last bit of the last one is received; with RC also the
// acknowledgement frame on its way back. A READ takes its request frame, then the response frames
// back to back. Each hop stores and forwards, exact to the picosecond, remainders of inexact rates
// included. Nothing else delays the messages: there is no window and no pacing, enough work is
// posted, and acknowledgements of earlier messages never wait.
#ifndef NIC_IDEAL_H
#define NIC_IDEAL_H

#include "nic/verbs.h"

SIM_C_BEGIN

typedef struct nic_ideal {
    const net_t *net;
    uint32_t requester; // interface that posts
    uint32_t responder;
    uint16_t udp_source_port; // port of both directions: names the paths
    uint16_t hashed_port;     // nic_qp_attr_t's of both queue pairs: names them, too
    nic_wr_opcode_t opcode;
    uint32_t mtu_bytes;
    uint64_t message_bytes;
    uint64_t messages;     // one after another, >= 1
    uint64_t piece_bytes;  // a longer message is posted in pieces of this; a multiple of the MTU
    nic_qp_type_t service; // UC, UD: until the last bit is received, nothing answers
} nic_ideal_t;

// Returns the time, or NEVER if there is no path, or if it is longer than half of what simulated
// time can say (106 days). It costs O(hops x (frames of a piece's ends)), whatever the length and
// number of messages, since repeating frames are counted (nic/device/ideal/closed_form.c). At rates
// of more than ten significant digits the frames do not repeat within a hundred thousand; for
// messages of more frames than that the result is a few parts in 10^9 short.
sim_time_t nic_ideal_ps(const nic_ideal_t *ideal);

SIM_C_END

#endif // NIC_IDEAL_H
