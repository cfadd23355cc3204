// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/again.h - the responder's side of repairs: READ responses and atomics'
// answers that the requester asks for again.
//
// A READ request with a PSN that was executed asks for the responses from there on, as many as its
// length has: the standard's repeated READ (IBA vol. 1, 9.7.5.1.2), but it replaces nothing, and
// may be a part. Such stretches are answered first come first served, before READs that begin and
// before requests; so what comes of them at the requester is in the order in which it asked.
#ifndef NIC_TRANSPORT_SELECTIVE_AGAIN_H
#define NIC_TRANSPORT_SELECTIVE_AGAIN_H

#include "nic/transport.h"

// Stretches that wait, at most; what is asked beyond is not noticed, as if the request were lost.
#define NIC_AGAIN_MAX 256u

typedef struct nic_again {
    struct nic_read *ring;
    uint32_t capacity; // power of two
    uint32_t first;    // both run freely
    uint32_t end;
} nic_again_t;

static inline bool nic__again_waits(const nic_again_t *again)
{
    return again->first != again->end;
}

// A READ or atomic request came whose PSN, `psn`, was executed: nothing happens if it is none, if
// it is not allowed, or if its answer is on its way anyway. The packet stays the caller's.
void nic__again_ask(nic_again_t *again, nic_qp_t *qp, const net_packet_t *packet, uint64_t psn);
// The next answer. Something waits.
net_packet_t *nic__again_next(nic_again_t *again, nic_qp_t *qp);
void nic__again_fini(nic_again_t *again);

#endif // NIC_TRANSPORT_SELECTIVE_AGAIN_H
