// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/send.c - the sender of a PDC: which packet leaves next, and what ACKs, NACKs
// and silence mean.
//
// A packet is in flight from its departure until the receiver counts its bytes, or until it is
// known to be lost: a switch trimmed it, or an ACK is overdue.
#include "nic/transport/uec/uec.h"

#include "net/wire/uet.h"
#include "nic/cc/control.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/requester_internal.h"
#include "nic/transport/uec/credit.h"

// Packets ahead of a missing one that show its loss: in windows, and at least.
#define SLEEK_WINDOWS 1.5
#define SLEEK_PACKETS 5
#define PROBE_ROUNDS 3       // round trips of silence, while more is to be sent
#define PROBE_AGAIN_ROUNDS 5 // until the next probe, if nothing answers

// -- what may leave

static inline bool window_open(const nic_uec_t *uec)
{
    return !uec->windowed || uec->flight.bytes == 0 ||
           (double)uec->flight.bytes + uec->nscc.mtu_bytes <= uec->nscc.window_bytes;
}

// Returns whether SLEEK repairs losses now.
static inline bool is_recovering(const nic_uec_t *uec)
{
    return SIM_UNLIKELY(uec->recovery_psn > uec->held.base.qp->una_psn);
}

bool nic__uec_ready(const nic_qp_t *qp)
{
    const nic_uec_t *const uec = nic__state_const(qp);
    if (SIM_UNLIKELY(nic__repeated_waits(&uec->held.kept.again))) {
        return (qp->flags & NIC_QP_CLOSED) == 0;
    }
    const bool again = nic__resend_waits(&uec->held.resend);
    // Packets that SLEEK found lost may exceed the window. In a network that trims, most of what
    // waits was trimmed, and that keeps to it.
    const bool beyond = again && !uec->trims && is_recovering(uec);
    if ((!window_open(uec) && !beyond) || !nic__uec_has_credit(uec)) {
        return false;
    }
    if (SIM_UNLIKELY(again)) {
        return (qp->flags & (NIC_QP_RNR_WAIT | NIC_QP_CLOSED)) == 0;
    }
    return qp->next_psn - qp->una_psn < uec->range_packets && nic__new_ready(qp);
}

// -- sending

// Returns the time-out of a packet that was sent again so often. Without a configured one, it is
// never shorter than the round trips measured: packets that wait in a queue are not lost.
static sim_time_t rto_ps(const nic_uec_t *uec, uint32_t times)
{
    const sim_time_t usual_ps = nic__rto_usual_ps(&uec->held.resend.fetch.rto);
    const bool longer = uec->config->rto_ps == SIM_AUTO && usual_ps > uec->rto_ps;
    const sim_time_t least_ps = longer ? usual_ps : uec->rto_ps;
    const sim_time_t max_ps = uec->config->rto_max_ps;
    const sim_time_t most_ps = SIM_MAX(max_ps, least_ps);
    return times >= 63 || least_ps > most_ps >> times ? most_ps : least_ps << times;
}

static void arm(nic_uec_t *uec, sim_time_t due_ps)
{
    nic_qp_t *const qp = uec->held.base.qp;
    if (qp->timeout != 0 && qp->una_psn != qp->next_psn) {
        nic_transport_timer_arm(qp, due_ps);
    }
}

static inline bool probes(const nic_uec_t *uec)
{
    return uec->config->sleek && !uec->rod;
}

// Returns the silence after which a probe asks what has arrived.
static sim_time_t probe_after_ps(const nic_uec_t *uec)
{
    const nic_qp_t *const qp = uec->held.base.qp;
    if (uec->probe_ps != 0 && uec->heard_ps == uec->probe_ps) {
        return PROBE_AGAIN_ROUNDS * uec->nscc.base_ps;
    }
    const bool all_sent = qp->sq_send == qp->sq_posted;
    return all_sent ? uec->nscc.base_ps + uec->nscc.target_ps : PROBE_ROUNDS * uec->nscc.base_ps;
}

// Sends a control packet that asks for an ACK. Returns when the next one is due.
static sim_time_t probe(nic_uec_t *uec)
{
    nic_qp_t *const qp = uec->held.base.qp;
    const sim_time_t now_ps = nic__node(qp->nic)->now_ps;
    if (now_ps >= uec->heard_ps + probe_after_ps(uec)) {
        net_packet_t *const packet = nic_transport_answer(qp, qp->una_psn, 0, 0, NULL);
        packet->opcode = ROCE_UET_PROBE;
        packet->psn = (uint32_t)qp->una_psn;
        packet->sent_ps = now_ps;
        packet->priority = qp->priority; // it waits where data waits
        packet->dscp = qp->path.dscp & 63u;
        packet->ecn = qp->path.ecn & 3u;
        net_packet_aside(packet)->sack.granted_bytes = 0;
        net_packet_aside(packet)->uet.flags = 0;
        nic__uec_dress(
            qp, packet,
            nic__entropy_port(qp, uec->rod ? 0 : nic__uec_paths_next(&uec->paths, now_ps)));
        nic__uec_shared(uec)->probes++;
        nic_transport_send(qp, packet);
        uec->heard_ps = uec->probe_ps = now_ps;
    }
    return uec->heard_ps + probe_after_ps(uec);
}

// Writes into a packet what its SES header says of its message.
static void tell_place(const nic_qp_t *qp, net_packet_t *packet, const nic_flight_place_t *place)
{
    packet->aeth = place->index & UINT16_MAX; // the message's id
    if (packet->opcode != ROCE_COMPARE_SWAP && packet->opcode != ROCE_FETCH_ADD) {
        net_packet_aside_t *const aside = net_packet_aside(packet);
        aside->message_bytes = nic__wqe(qp, place->index)->length;
        aside->message_offset = place->offset;
    }
}

// middle: nic__single_acks_middle; whether it is NULL is known where this function is compiled.
static SIM_ALWAYS_INLINE net_packet_t *next_packet(nic_t *nic, nic_qp_t *qp,
                                                   const nic_wqe_t *middle)
{
    nic_uec_t *const uec = nic__uec_of(qp);
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    const bool idle = middle == NULL && qp->una_psn == qp->next_psn;
    nic_flight_place_t place = {.index = qp->sq_send, .offset = qp->send_offset};
    SIM_ASSERT(nic__uec_ready(qp));
    const nic_single_acks_sent_t sent = middle != NULL
                                            ? nic__single_acks_next_middle(&uec->held, middle)
                                            : nic__single_acks_next(&uec->held);
    if (sent.packet == NULL) {
        return NULL;
    }
    const uint32_t entropy = uec->rod ? 0 : nic__uec_paths_next(&uec->paths, now_ps);
    if (!sent.answer) {
        nic__flight_note(&uec->flight, qp, &sent, entropy, now_ps);
        nic__uec_shared(uec)->retransmitted += sent.again;
        if (sent.again) {
            sent.packet->sent_ps = now_ps; // the round distinguishes it
            place = nic__flight_place(qp, sent.psn);
        }
        tell_place(qp, sent.packet, &place);
        if (SIM_UNLIKELY(uec->credited)) {
            nic__uec_use_credit(uec, sent.packet);
        }
        sent.packet->psn = (uint32_t)sent.psn;
        // The last packet of a message asks for an ACK, and what leaves the sender waiting for one.
        sent.packet->ack_request =
            sent.again || qp->send_offset == 0 || !window_open(uec) || !nic__uec_has_credit(uec);
        if (idle) {
            nic_transport_timer_cancel(qp); // the first packet armed it with the standard's time
            uec->held.active_ps = now_ps;
        }
        if (!sim_timer_armed(&qp->retry_timer)) {
            uec->heard_ps = now_ps;
            arm(uec, uec->heard_ps + (probes(uec) ? probe_after_ps(uec) : rto_ps(uec, 0)));
        }
    }
    nic__uec_dress(qp, sent.packet, nic__entropy_port(qp, entropy));
    nic__uec_show_control(qp);
    return sent.packet;
}

static SIM_NOINLINE net_packet_t *next_other(nic_t *nic, nic_qp_t *qp)
{
    return next_packet(nic, qp, NULL);
}

net_packet_t *nic__uec_next_packet(nic_t *nic, nic_qp_t *qp)
{
    const nic_wqe_t *const middle = nic__single_acks_middle(&nic__uec_of(qp)->held);
    return SIM_LIKELY(middle != NULL) ? next_packet(nic, qp, middle) : next_other(nic, qp);
}

// -- what is known to have left the network

static void hear_paths(nic_uec_t *uec, const net_packet_t *packet, nic_uec_fate_t fate)
{
    if (!uec->rod) {
        nic__uec_paths_heard(&uec->paths,
                             nic__entropy_of_port(uec->held.base.qp, packet->udp_source_port), fate,
                             nic__node(uec->held.base.qp->nic)->now_ps);
    }
}

// -- ACKs

typedef struct news {
    uint64_t end_psn; // everything before it has arrived
    uint64_t base_psn;
    uint64_t bits;
    uint64_t arrived_bytes;
    uint64_t granted_bytes; // of credit
    uint64_t ahead_packets; // that the receiver holds although one before them is missing
    sim_time_t sent_ps;     // of the packet or probe that caused it
    bool probed;            // it answers the last probe
    bool marked;
    bool full; // the packet that caused it was a full one
} news_t;

static news_t read_ack(const nic_uec_t *uec, const net_packet_t *packet)
{
    const nic_qp_t *const qp = uec->held.base.qp;
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint64_t cause_psn = nic__psn(aside->sack.cause_psn, qp->una_psn);
    return (news_t){
        .end_psn = nic__psn(packet->psn, qp->una_psn) + 1,
        .base_psn = nic__psn(aside->sack.base_psn, qp->una_psn),
        .bits = aside->sack.bits,
        .arrived_bytes = aside->sack.arrived_bytes,
        .granted_bytes = aside->sack.granted_bytes,
        .ahead_packets = aside->sack.ahead_packets,
        .sent_ps = packet->sent_ps,
        .marked = packet->becn,
        .probed = cause_psn < qp->una_psn && packet->sent_ps == uec->probe_ps,
        .full = nic__flight_full(&uec->flight, qp, cause_psn),
    };
}

// Takes the bytes that have newly arrived off what is in flight, and informs the algorithm.
static void hear_bytes(nic_uec_t *uec, const news_t *news)
{
    nic_qp_t *const qp = uec->held.base.qp;
    const uint64_t more = nic__flight_arrived(&uec->flight, qp, news->arrived_bytes);
    if (uec->windowed) {
        const sim_time_t now_ps = nic__node(qp->nic)->now_ps;
        const nic_nscc_cause_t cause = {
            .rtt_ps = now_ps - news->sent_ps,
            .full = news->full,
            .marked = news->marked,
        };
        nic__nscc_ack(&uec->nscc, now_ps, &cause, more, uec->flight.bytes);
    }
}

// Returns whether an ACK shows that packets were lost: too many have arrived ahead of a missing
// one, or a probe has come back at once, and data has not.
static bool shows_loss(const nic_uec_t *uec, const news_t *news)
{
    const double cap = uec->nscc.cap_bytes;
    const double ahead = SLEEK_WINDOWS * (uec->windowed ? uec->nscc.window_bytes : cap);
    const double most = SIM_MIN(ahead, cap) / uec->nscc.mss_bytes;
    const uint64_t packets = most > SLEEK_PACKETS ? (uint64_t)most : SLEEK_PACKETS;
    if (!news->probed) {
        return news->ahead_packets >= packets && !is_recovering(uec) &&
               !nic__resend_waits(&uec->held.resend);
    }
    const sim_time_t probe_ps = nic__node(uec->held.base.qp->nic)->now_ps - uec->probe_ps;
    return probe_ps < uec->nscc.base_ps + uec->nscc.target_ps;
}

// SLEEK: when losses show, all that was sent before and is missing is sent again, a window from the
// oldest on, each packet once.
static void repair_losses(nic_uec_t *uec, const news_t *news)
{
    nic_qp_t *const qp = uec->held.base.qp;
    if (!probes(uec)) {
        return;
    }
    if (shows_loss(uec, news)) {
        uec->recovery_psn = qp->next_psn;
        uec->repaired_psn = news->probed ? qp->una_psn : uec->repaired_psn;
    }
    const double window = uec->windowed ? uec->nscc.window_bytes : uec->nscc.cap_bytes;
    const uint64_t reach_psn = qp->una_psn + (uint64_t)(window / uec->nscc.mss_bytes);
    const uint64_t end_psn = SIM_MIN(reach_psn, uec->recovery_psn);
    uint64_t psn = SIM_MAX(uec->repaired_psn, qp->una_psn);
    for (; psn < end_psn; psn++) {
        if ((*nic__resend_of(&uec->held.resend, psn) & NIC_SENT_HELD) == 0 &&
            nic__flight_take_out(&uec->flight, qp, psn) != 0) {
            nic__resend_add(&uec->held.resend, qp, psn, 1, 0, 0);
            nic__uec_paths_heard(&uec->paths, nic__flight_of(&uec->flight, psn)->entropy,
                                 NIC_UEC_LOST, nic__node(qp->nic)->now_ps);
            nic__uec_shared(uec)->lost++;
            uec->repaired_psn = psn + 1;
        }
    }
}

static void take_ack(nic_uec_t *uec, const net_packet_t *packet)
{
    nic_qp_t *const qp = uec->held.base.qp;
    const news_t news = read_ack(uec, packet);
    uint64_t left = nic__flight_known(qp, news.base_psn, news.bits);
    for (; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(left);
        nic__flight_hold(&uec->flight, &uec->held, news.base_psn + i);
    }
    const uint64_t before_psn = qp->una_psn;
    nic__flight_pass(&uec->flight, &uec->held, news.end_psn);
    if (news.end_psn > before_psn) {
        nic_transport_advance(qp, news.end_psn, packet, false);
    }
    if ((qp->flags & NIC_QP_CLOSED) != 0) {
        return;
    }
    nic__fetch_acknowledged(&uec->held.resend, qp, news.end_psn, true);
    nic__rto_measured(&uec->held.resend.fetch.rto, nic__node(qp->nic)->now_ps - news.sent_ps);
    hear_bytes(uec, &news);
    nic__uec_take_credit(uec, news.granted_bytes);
    hear_paths(uec, packet, news.marked ? NIC_UEC_MARKED : NIC_UEC_GOOD);
    repair_losses(uec, &news);
}

// -- NACKs

static void take_trimmed(nic_uec_t *uec, const net_packet_t *packet, uint64_t psn, bool last_hop)
{
    nic_qp_t *const qp = uec->held.base.qp;
    const sim_time_t now_ps = nic__node(qp->nic)->now_ps;
    // No other path leads around the last hop.
    const nic_uec_fate_t fate = packet->becn ? NIC_UEC_MARKED : NIC_UEC_GOOD;
    hear_paths(uec, packet, last_hop ? fate : NIC_UEC_TRIMMED);
    if (psn < qp->una_psn || psn >= qp->next_psn ||
        (*nic__resend_of(&uec->held.resend, psn) & NIC_SENT_HELD) != 0) {
        return;
    }
    const uint32_t bytes = nic__flight_take_out(&uec->flight, qp, psn);
    if (bytes == 0) {
        return;
    }
    nic__resend_add(&uec->held.resend, qp, psn, 1, 0, 0);
    uec->trims = true;
    if (uec->windowed) {
        const bool full = nic__flight_full(&uec->flight, qp, psn);
        nic__nscc_trimmed(&uec->nscc, now_ps, full ? now_ps - packet->sent_ps : 0, bytes,
                          uec->credited && last_hop, uec->flight.bytes);
    }
}

// ROD: everything from the gap on is sent again.
static void go_back(nic_uec_t *uec)
{
    nic_qp_t *const qp = uec->held.base.qp;
    for (uint64_t psn = qp->una_psn; psn < qp->next_psn; psn++) {
        (void)nic__flight_take_out(&uec->flight, qp, psn);
    }
    nic__resend_clear(&uec->held.resend, qp);
    nic__resend_add(&uec->held.resend, qp, qp->una_psn, (uint32_t)(qp->next_psn - qp->una_psn), 0,
                    0);
}

static void take_nack(nic_uec_t *uec, const net_packet_t *packet)
{
    nic_qp_t *const qp = uec->held.base.qp;
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint64_t psn = nic__psn(aside->nack_psn, qp->una_psn);
    const uint64_t end_psn = nic__psn(packet->psn, qp->una_psn);
    qp->nic->counters.packet_seq_err++;
    nic__trace(qp->nic, qp, NIC_TRACE_NAK_RECEIVED, packet->aeth >> 24, 0);
    if (uec->rod) {
        nic__flight_pass_early(&uec->flight, &uec->held, end_psn);
    }
    if (end_psn > qp->una_psn) {
        nic_transport_advance(qp, end_psn, NULL, false);
    }
    if ((qp->flags & NIC_QP_CLOSED) != 0) {
        return;
    }
    nic__uec_take_credit(uec, 0);
    if (aside->uet.code == UET_NACK_OUT_OF_ORDER) {
        const bool out = qp->una_psn != qp->next_psn;
        nic__nscc_lost(&uec->nscc, out ? nic__flight_take_out(&uec->flight, qp, qp->una_psn) : 0);
    } else {
        take_trimmed(uec, packet, psn, aside->uet.code == UET_NACK_TRIMMED_LAST_HOP);
    }
    if (uec->rod) {
        go_back(uec);
    }
}

// Returns whether only credit is missing: then no time-out of a packet would notice a lost grant.
static bool waits_for_credit(const nic_uec_t *uec)
{
    const nic_qp_t *const qp = uec->held.base.qp;
    return qp->una_psn == qp->next_psn && qp->sq_send != qp->sq_posted && !nic__uec_has_credit(uec);
}

void nic__uec_acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic_uec_t *const uec = nic__uec_of(qp);
    nic__prefetch(&nic__uec_shared(uec)->expect, nic__node(nic));
    const bool positive = packet->aeth >> 29 == 0;
    const bool nack = packet->aeth >> 24 == ((uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE) &&
                      packet->addressed;
    const uint64_t end_psn = nic__psn(packet->psn, qp->una_psn) + positive;
    if (!positive && !nack) {
        (void)nic__single_acks_acknowledged(&uec->held, packet);
    } else if ((qp->flags & NIC_QP_CLOSED) != 0 || end_psn > qp->next_psn) {
        nic_transport_consume(qp, packet);
    } else {
        nic__single_acks_heard(&uec->held);
        uec->heard_ps = nic__node(qp->nic)->now_ps;
        const uint64_t before_psn = qp->una_psn;
        (positive ? take_ack : take_nack)(uec, packet);
        // An ACK that stops at a READ says nothing of the READ's responses, whose time runs on.
        if (qp->una_psn != before_psn || !nic_transport_expects_response(qp)) {
            uec->held.active_ps = uec->heard_ps;
        }
        nic_transport_consume(qp, packet);
    }
    nic__uec_show_control(qp);
    if ((qp->flags & NIC_QP_CLOSED) == 0) {
        nic__resend_trim(&uec->held.resend, qp);
        if (waits_for_credit(uec)) {
            nic_transport_timer_arm(qp, nic__node(qp->nic)->now_ps + rto_ps(uec, 0));
        }
        nic_transport_schedule(qp);
    }
}

void nic__uec_responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic_uec_t *const uec = nic__uec_of(qp);
    if (!net_packet_trimmed(net_get_config(nic->host->node.net), packet)) {
        nic__single_acks_responded(nic, qp, packet);
        return;
    }
    // A response without its payload is asked for again.
    const uint64_t psn = nic__psn(packet->psn, qp->una_psn);
    nic_transport_consume(qp, packet);
    if ((qp->flags & NIC_QP_CLOSED) == 0 && psn >= qp->una_psn && psn < qp->next_psn) {
        nic__resend_probe(&uec->held.resend, qp, psn, 0);
        nic_transport_schedule(qp);
    }
}

// -- time-outs

// Queues the packets that are overdue, unless the peer answers and SLEEK repairs them. Returns when
// the next one is.
static sim_time_t queue_overdue(nic_uec_t *uec, bool quiet, bool *any)
{
    const bool left_to_sleek = !quiet && !uec->trims && probes(uec) && is_recovering(uec);
    nic_qp_t *const qp = uec->held.base.qp;
    const sim_time_t now_ps = nic__node(qp->nic)->now_ps;
    sim_time_t next_ps = now_ps + rto_ps(uec, 0);
    for (uint64_t psn = qp->una_psn; psn < qp->next_psn; psn++) {
        const nic_flight_sent_t *const sent = nic__flight_of(&uec->flight, psn);
        if (!sent->out) {
            continue;
        }
        const uint32_t times = *nic__resend_of(&uec->held.resend, psn) & NIC_SENT_TIMES;
        const sim_time_t due_ps = sent->sent_ps + rto_ps(uec, times);
        if (due_ps > now_ps) {
            next_ps = SIM_MIN(due_ps, next_ps);
            continue;
        }
        if (left_to_sleek) {
            // The next ACK repairs it, once more if it was sent again already.
            uec->repaired_psn = times != 0 && psn < uec->repaired_psn ? psn : uec->repaired_psn;
            continue;
        }
        nic__uec_paths_heard(&uec->paths, sent->entropy, NIC_UEC_LOST, now_ps);
        nic__nscc_lost(&uec->nscc, nic__flight_take_out(&uec->flight, qp, psn));
        nic__resend_add(&uec->held.resend, qp, psn, 1, 0, 0);
        nic__uec_shared(uec)->lost++;
        *any = true;
    }
    return next_ps;
}

void nic__uec_timed_out(nic_qp_t *qp)
{
    nic_uec_t *const uec = nic__uec_of(qp);
    const sim_time_t now_ps = nic__node(qp->nic)->now_ps;
    if (qp->una_psn == qp->next_psn) {
        if (waits_for_credit(uec)) {
            uec->credit_bytes = 1;
            nic_transport_schedule(qp);
        }
        return;
    }
    bool any = false;
    // A time-out in a row counts only if nothing was heard for the whole of it.
    const bool quiet = now_ps >= uec->held.active_ps + rto_ps(uec, uec->held.silent);
    const sim_time_t due_ps = queue_overdue(uec, quiet, &any);
    if (quiet && uec->flight.bytes != 0) {
        nic__flight_settle(&uec->flight, qp);
    }
    // Nothing else may be out: requests without payload, READs, answers that were lost.
    const bool stuck = quiet && uec->flight.bytes == 0 && !nic__resend_waits(&uec->held.resend);
    if (any || stuck) {
        if (quiet && !nic__single_acks_silent(&uec->held)) {
            return;
        }
        if (stuck) {
            nic__fetch_all(&uec->held.resend, qp, uec->held.silent);
            nic__resend_oldest(&uec->held.resend, qp, uec->held.silent, 0);
        }
        if (quiet) {
            uec->held.active_ps = now_ps;
        }
        if (any && uec->rod) {
            go_back(uec);
        }
    }
    if (quiet && uec->credited && uec->credit_bytes <= 0) {
        uec->credit_bytes = 1; // a grant was lost: the answer to one packet reports all of them
    }
    nic__uec_show_control(qp);
    const sim_time_t probe_ps = probes(uec) ? probe(uec) : due_ps;
    arm(uec, SIM_MIN(probe_ps, due_ps));
    nic_transport_schedule(qp);
}
