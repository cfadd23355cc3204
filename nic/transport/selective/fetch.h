// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/fetch.h - READs and atomics, the requester's side: responses are taken in
// any order, and those that are missing are asked for one by one.
//
// A response is written where its READ wants it when it comes; requests complete in their order.
// Responses leave the peer in the order of the PSNs. So a later response, or an ACK of a request
// posted later, shows that those before it were lost: a READ request of its own asks for each
// stretch of them, with the first missing PSN and the stretch's address and length. Answers come
// back in the order of asking, so a response of a later stretch, or a later one of the same, shows
// that those asked for before it were lost again. The stretch asked for last is found missing by a
// time-out. A path that reorders packets makes responses come twice, nothing worse.
// Source: the idea of IRN's read (N)ACKs (Mittal et al., SIGCOMM 2018, section 5.1), with the
// standard's repeated READ request (IBA vol. 1, 9.7.5.1.2) as the message.
// Cost: O(1) amortised a response; 16 bytes for each stretch that is asked for.
#ifndef NIC_TRANSPORT_SELECTIVE_FETCH_H
#define NIC_TRANSPORT_SELECTIVE_FETCH_H

#include "nic/transport.h"
#include "nic/transport/selective/rto.h"

typedef struct nic_resend nic_resend_t;

typedef struct nic_fetch_asked {
    uint64_t psn;
    uint64_t end_psn;
} nic_fetch_asked_t;

typedef struct nic_fetch_original {
    uint64_t psn;
    uint64_t value;
} nic_fetch_original_t;

typedef struct nic_fetch {
    uint64_t seen_psn;        // responses before it came, or were asked for
    uint64_t acked_psn;       // the peer has executed everything before it
    uint32_t wide;            // packets that a request asks for at least, where there are so many
    nic_fetch_asked_t *asked; // ring, in the order of asking
    uint32_t asked_capacity;  // power of two
    uint32_t asked_first;     // both run freely
    uint32_t asked_end;
    nic_fetch_original_t *originals; // original values of atomics whose answers came ahead
    size_t original_count;
    size_t original_capacity;
    nic_rto_t rto;       // time-out of the queue pair
    uint64_t timed_psn;  // the READ or atomic whose answer is timed
    sim_time_t timed_ps; // when it was sent, or the answer before it came; 0: nothing is timed
} nic_fetch_t;

void nic__fetch_fini(nic_fetch_t *fetch);

// Notes that a READ or atomic was sent for the first time.
static inline void nic__fetch_sent(nic_fetch_t *fetch, uint64_t psn, sim_time_t now_ps)
{
    if (fetch->timed_ps == 0) {
        fetch->timed_psn = psn;
        fetch->timed_ps = now_ps;
    }
}
// Handles a response. Takes the packet.
void nic__fetch_responded(nic_resend_t *resend, nic_qp_t *qp, net_packet_t *packet);
// Notes that the peer has executed everything before end_psn. passed: its word came behind all its
// answers.
void nic__fetch_acknowledged(nic_resend_t *resend, nic_qp_t *qp, uint64_t end_psn, bool passed);
// Asks for everything that is not answered, after `silent` time-outs in a row without a word of the
// peer. After the first time-out it asks only for the oldest request that misses something, since
// the answers may wait in a queue that asking makes longer; of that request it asks for more each
// time, like nic__resend_oldest.
void nic__fetch_all(nic_resend_t *resend, nic_qp_t *qp, uint32_t silent);
// Returns the PSNs of a READ that one request may ask for, from *psn on, which is not answered;
// moves *psn to where the request has to begin. Beyond the PSNs that the peer is known to have
// executed, the request asks for all.
uint32_t nic__fetch_stretch(const nic_resend_t *resend, const nic_qp_t *qp, uint64_t *psn,
                            uint64_t end_psn);

#endif // NIC_TRANSPORT_SELECTIVE_FETCH_H
