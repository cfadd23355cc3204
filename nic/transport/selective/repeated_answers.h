// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/repeated_answers.h - the responder's side of repairs: READ responses and
// atomics' answers that the requester asks for again.
//
// A READ request with a PSN that was executed asks for the responses from there on, as many as its
// length has: the standard's repeated READ (IBA vol. 1, 9.7.5.1.2), but it replaces nothing, and
// may be a part. Such stretches are answered first come first served, before READs that begin and
// before requests; so their responses reach the requester in the order in which it asked.
#ifndef NIC_TRANSPORT_SELECTIVE_REPEATED_ANSWERS_H
#define NIC_TRANSPORT_SELECTIVE_REPEATED_ANSWERS_H

#include "nic/transport.h"

// Largest number of waiting stretches. Requests beyond it are ignored, as if they were lost.
#define NIC_AGAIN_MAX 256u

typedef struct nic_repeated {
    struct nic_read *ring;
    uint32_t capacity; // power of two
    uint32_t first;    // both run freely
    uint32_t end;
} nic_repeated_t;

static inline bool nic__repeated_waits(const nic_repeated_t *again)
{
    return again->first != again->end;
}

// Queues the answers to a READ or atomic request whose PSN, `psn`, was executed before. Nothing
// happens if the packet is neither, is not allowed, or if its answer is in flight anyway. The
// caller keeps the packet.
void nic__repeated_ask(nic_repeated_t *again, nic_qp_t *qp, const net_packet_t *packet,
                       uint64_t psn);
// Builds the next answer. At least one waits.
net_packet_t *nic__repeated_next(nic_repeated_t *again, nic_qp_t *qp);
void nic__repeated_fini(nic_repeated_t *again);

#endif // NIC_TRANSPORT_SELECTIVE_REPEATED_ANSWERS_H
