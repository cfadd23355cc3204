// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/single_acks.h - the shared part of transports that acknowledge single
// packets: IRN, SDR-RDMA.
//
// The receiver keeps packets that come ahead of their turn and reports the ranges that it holds;
// the sender marks them and retransmits those it takes for lost. Each transport decides which these
// are, and when it retransmits.
#ifndef NIC_TRANSPORT_SELECTIVE_SINGLE_ACKS_H
#define NIC_TRANSPORT_SELECTIVE_SINGLE_ACKS_H

#include "nic/transport/requester_internal.h"
#include "nic/transport/selective/early_packets.h"
#include "nic/transport/selective/middle.h"
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
    return nic__state(qp);
}

void nic__single_acks_open(nic_single_acks_t *held);
void nic__single_acks_close(nic_single_acks_t *held);
void nic__single_acks_gauges(const nic_qp_t *qp, nic_transport_gauges_t *sums);
void nic__single_acks_totals(const nic_single_acks_shared_t *shared, uint32_t bitmaps,
                             nic_transport_totals_t *totals);

// Counts the gaps that were closed since the last call.
void nic__single_acks_count_repairs(nic_single_acks_t *held);
// Drops a request that is beyond what the bitmaps reach.
nic_arrival_t nic__single_acks_drop(const nic_single_acks_t *held, net_packet_t *packet,
                                    uint64_t psn);
// Takes a request, unless it is beyond `limit` PSNs from the expected one.
static inline nic_arrival_t nic__single_acks_take(nic_single_acks_t *held, net_packet_t *packet,
                                                  uint64_t limit)
{
    nic_early_t *const kept = &held->kept;
    nic_single_acks_shared_t *const shared = held->base.nic_state;
    const uint64_t psn = nic__psn(packet->psn, kept->first_psn);
    if (SIM_UNLIKELY(psn >= kept->first_psn + limit)) {
        return nic__single_acks_drop(held, packet, psn);
    }
    const nic_arrival_t arrival = nic__early_receive(kept, held->base.qp, packet);
    shared->duplicates += arrival.news == NIC_KEPT_AGAIN;
    if (kept->repaired != 0) {
        nic__single_acks_count_repairs(held);
    }
    const uint64_t span = kept->end_psn - kept->first_psn;
    shared->span_max = SIM_MAX(span, shared->span_max);
    return arrival;
}
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
// Returns one of those that were sent before, of which some wait.
nic_single_acks_sent_t nic__single_acks_next_again(nic_single_acks_t *held);
static inline nic_single_acks_sent_t nic__single_acks_next(nic_single_acks_t *held)
{
    nic_qp_t *const qp = held->base.qp;
    if (SIM_UNLIKELY(nic__repeated_waits(&held->kept.again) || nic__resend_waits(&held->resend))) {
        return nic__single_acks_next_again(held);
    }
    const uint64_t psn = qp->next_psn;
    const uint32_t reads = qp->reads_outstanding;
    net_packet_t *const packet = nic__cursor_addressed(qp->nic, qp);
    if (SIM_UNLIKELY(packet == NULL)) {
        return (nic_single_acks_sent_t){0};
    }
    nic__resend_note_new(&held->resend, qp, psn, qp->next_psn);
    if (SIM_UNLIKELY(qp->reads_outstanding != reads)) {
        nic__fetch_sent(&held->resend.fetch, psn, nic__node(qp->nic)->now_ps);
    }
    net_packet_aside(packet)->selective.round = 0;
    net_packet_aside(packet)->selective.index = 0;
    return (nic_single_acks_sent_t){.packet = packet, .psn = psn, .end_psn = qp->next_psn};
}
// Returns the work request whose middle the next packet is; NULL: it is another packet.
static inline const nic_wqe_t *nic__single_acks_middle(const nic_single_acks_t *held)
{
    const nic_qp_t *const qp = held->base.qp;
    const bool again = nic__repeated_waits(&held->kept.again) || nic__resend_waits(&held->resend);
    return SIM_UNLIKELY(again) ? NULL : nic__middle_wqe(qp->nic, qp);
}
// Returns that packet. The caller decides whether it asks for an ACK.
static inline nic_single_acks_sent_t nic__single_acks_next_middle(nic_single_acks_t *held,
                                                                  const nic_wqe_t *wqe)
{
    nic_qp_t *const qp = held->base.qp;
    const uint64_t psn = qp->next_psn;
    net_packet_t *const packet = nic__middle_packet(qp->nic, qp, wqe);
    nic__resend_note_new(&held->resend, qp, psn, psn + 1);
    net_packet_aside(packet)->selective.round = 0;
    net_packet_aside(packet)->selective.index = 0;
    return (nic_single_acks_sent_t){.packet = packet, .psn = psn, .end_psn = psn + 1};
}
// Counts one more time-out without an answer since active_ps. Returns false if the queue pair
// failed.
bool nic__single_acks_silent(nic_single_acks_t *held);

#endif // NIC_TRANSPORT_SELECTIVE_SINGLE_ACKS_H
