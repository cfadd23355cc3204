// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/single_acks.h - the shared part of transports that acknowledge single
// packets: IRN, SDR-RDMA.
//
// The receiver keeps packets that come ahead of their turn and reports the ranges that it holds;
// the sender marks them and retransmits those it takes for lost. Each transport decides which these
// are, and when it retransmits.
#ifndef NIC_TRANSPORT_SELECTIVE_SINGLE_ACKS_H
#define NIC_TRANSPORT_SELECTIVE_SINGLE_ACKS_H

#include "nic/objects/qp.h"
#include "nic/transport/selective/early_packets.h"
#include "nic/transport/selective/resend.h"

typedef struct nic_single_acks {
    nic_transport_t base; // first
    nic_resend_t resend;
    nic_early_t kept;
    sim_time_t rtt_ps;    // round trip of the idle path
    sim_time_t active_ps; // the time-out runs from here
    uint64_t span_max;    // PSNs between the oldest gap and the newest packet, at most
    sim_time_t quiet_ps;  // where silent is not 0: nothing was heard since then
    uint32_t silent;      // time-outs since the peer was last heard
} nic_single_acks_t;

// The counters that all queue pairs of one NIC share.
typedef struct nic_single_acks_shared {
    uint64_t by_round[NIC_RESEND_ROUNDS];
    uint64_t rounds_max;
    uint64_t duplicates;
    uint64_t dropped; // beyond what the bitmaps reach
    uint64_t repaired;
    uint64_t repair_ps;
    uint64_t repair_ps_max;
    uint64_t span_max;
    uint64_t nic_bytes_per_qp;
} nic_single_acks_shared_t;

static inline nic_single_acks_t *nic__single_acks_of(nic_qp_t *qp)
{
    return (nic_single_acks_t *)(void *)nic_transport_of(qp);
}

void nic__single_acks_open(nic_single_acks_t *held);
void nic__single_acks_close(nic_single_acks_t *held);
void nic__single_acks_gauges(const nic_qp_t *qp, nic_transport_gauges_t *sums);
void nic__single_acks_totals(const nic_single_acks_shared_t *shared, uint32_t bitmaps,
                             nic_transport_totals_t *totals);

// Takes a request, unless it is beyond `limit` PSNs from the expected one.
nic_arrival_t nic__single_acks_take(nic_single_acks_t *held, net_packet_t *packet, uint64_t limit);
// Reports to the sender that the peer holds (or misses: round 1) a range, besides all before the
// expected packet. sent_ps: when the packet that is the reason was sent, SIM_TIME_NEVER: unknown.
void nic__single_acks_mark(nic_single_acks_t *held, uint64_t psn, uint32_t count, bool missing,
                           sim_time_t sent_ps);

typedef struct nic_single_acks_news {
    bool alive;   // the send queue still works
    bool moved;   // something new was acknowledged in order
    bool told;    // a stretch came with it
    bool missing; // which the peer misses
    uint64_t psn;
    uint32_t count;
} nic_single_acks_news_t;
// Handles an ACK or NAK: advances, marks the packets that the peer holds, deals with refusals.
// Takes the packet.
nic_single_acks_news_t nic__single_acks_acknowledged(nic_single_acks_t *held, net_packet_t *packet);
// Notes that the peer was heard, so that time-outs in a row end.
void nic__single_acks_heard(nic_single_acks_t *held);
// Returns true if repeated answers or retransmissions wait, which go before new packets; *may says
// whether they may leave. False: *may is not set.
static inline bool nic__single_acks_waits(const nic_single_acks_t *held, bool *may)
{
    const nic_qp_t *const qp = held->base.qp;
    if (SIM_UNLIKELY(nic__repeated_waits(&held->kept.again))) {
        *may = (qp->flags & NIC_QP_CLOSED) == 0;
        return true;
    }
    if (SIM_UNLIKELY(nic__resend_waits(&held->resend))) {
        *may = (qp->flags & (NIC_QP_RNR_WAIT | NIC_QP_CLOSED)) == 0;
        return true;
    }
    return false;
}
void nic__single_acks_responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);

// The next packet to be sent: a repeated answer (which has no PSNs of this side), a retransmission,
// or a new packet. psn, end_psn: its PSNs; again: it was sent before.
typedef struct nic_single_acks_sent {
    net_packet_t *packet;
    uint64_t psn;
    uint64_t end_psn;
    bool again;
    bool answer;
} nic_single_acks_sent_t;
nic_single_acks_sent_t nic__single_acks_next(nic_single_acks_t *held);
// Counts one more time-out without an answer since active_ps. Returns false if the queue pair
// failed.
bool nic__single_acks_silent(nic_single_acks_t *held);

#endif // NIC_TRANSPORT_SELECTIVE_SINGLE_ACKS_H
