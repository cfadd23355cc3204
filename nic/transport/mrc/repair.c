// SPDX-License-Identifier: Apache-2.0
// nic/transport/mrc/repair.c - the sender's repairs: what SACKs, NACKs, probes and silence mean for
// packets and for their paths.
#include "nic/transport/mrc/mrc.h"

#include "net/wire/mrc.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/plane_set.h"
#include "nic/objects/qp.h"
#include "nic/transport/mrc/repair.h"
#include "nic/transport/requester_internal.h"

static sim_time_t now_of(const nic_mrc_t *mrc)
{
    return nic__node(mrc->held.base.qp->nic)->now_ps;
}

// -- paths

static void hear_path(nic_mrc_t *mrc, uint32_t ev, nic_ev_fate_t fate)
{
    nic_mrc_shared_t *const shared = nic__mrc_shared(mrc);
    const bool good =
        ev < mrc->evs.block * mrc->evs.plane_count && mrc->evs.evs[ev].state == NIC_EV_GOOD;
    if (nic__evs_heard(&mrc->evs, ev, fate, now_of(mrc))) {
        shared->failed++;
    } else if (good && mrc->evs.evs[ev].state == NIC_EV_SKIP) {
        shared->skipped++;
    }
}

// Returns the EV of the packet that an answer answers.
static uint32_t ev_of(const net_packet_t *answer)
{
    return (uint32_t)answer->udp_source_port - ROCE_SOURCE_PORT_MIN;
}

// Sends a probe by a path. Its answer shows what the receiver has.
static void send_probe(nic_mrc_t *mrc, uint32_t ev)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    nic_t *const nic = qp->nic;
    net_packet_t *const packet = nic_transport_answer(qp, 0, 0, 0, NULL);
    net_packet_aside_t *const aside = net_packet_aside(packet);
    packet->opcode = ROCE_MRC_PROBE;
    packet->psn = 0;
    packet->sent_ps = now_of(mrc);
    packet->priority = qp->priority; // it takes the way of data
    packet->dscp = qp->path.dscp & 63u;
    packet->ecn = qp->path.ecn & 3u;
    aside->mrc.flags = 0;
    aside->sack.cause_psn = ++mrc->probe_number & UINT16_MAX;
    nic__mrc_dress(qp, packet, (uint16_t)(ROCE_SOURCE_PORT_MIN + ev));
    nic__mrc_shared(mrc)->probes++;
    if (nic->planes == NULL) {
        nic_transport_send(qp, packet);
        return;
    }
    const uint32_t answers = nic->planes->answers;
    nic->planes->answers = nic__evs_plane(&mrc->evs, ev);
    nic_transport_send(qp, packet);
    nic->planes->answers = answers;
}

// Probes bad paths that are due, but none behind a port of this NIC that is down.
static void probe_paths(nic_mrc_t *mrc)
{
    const nic_t *const nic = mrc->held.base.nic;
    for (uint32_t ev = nic__evs_probe(&mrc->evs, now_of(mrc)); ev != NIC_EV_NONE;
         ev = nic__evs_probe(&mrc->evs, now_of(mrc))) {
        const net_port_t *const port =
            nic->planes == NULL ? nic->port : &nic->planes->ports[nic__evs_plane(&mrc->evs, ev)];
        if (!port->down) {
            send_probe(mrc, ev);
        }
    }
}

// After silence, asks by any path what has arrived. Returns when the next such probe is due.
static sim_time_t probe_silence(nic_mrc_t *mrc)
{
    const sim_time_t now_ps = now_of(mrc);
    if (now_ps < mrc->heard_ps + mrc->quiet_ps) {
        return mrc->heard_ps + mrc->quiet_ps;
    }
    for (uint32_t i = 0; i < mrc->evs.plane_count; i++) {
        const uint32_t plane = (mrc->probe_number + i) % mrc->evs.plane_count;
        const uint32_t ev = nic__evs_next(&mrc->evs, plane, now_ps);
        if (ev != NIC_EV_NONE) {
            send_probe(mrc, ev);
            break;
        }
    }
    mrc->heard_ps = now_ps;
    return now_ps + mrc->quiet_ps;
}

// -- SACKs

typedef struct news {
    uint64_t end_psn; // everything before it has arrived
    uint64_t base_psn;
    uint64_t cause_psn;
    uint64_t bits;
    uint64_t arrived_bytes;
    uint64_t ahead_packets;
    sim_time_t sent_ps; // of the packet or probe that caused it
    bool marked;
    bool probed;
} news_t;

static news_t read_sack(const nic_qp_t *qp, const net_packet_t *packet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const bool probed = (aside->mrc.flags & NET_MRC_PROBE_ANSWER) != 0;
    return (news_t){
        .end_psn = nic__psn(packet->psn, qp->una_psn) + 1,
        .base_psn = nic__psn(aside->sack.base_psn, qp->una_psn),
        .cause_psn = probed ? 0 : nic__psn(aside->sack.cause_psn, qp->una_psn),
        .bits = aside->sack.bits,
        .arrived_bytes = aside->sack.arrived_bytes,
        .ahead_packets = aside->sack.ahead_packets,
        .sent_ps = packet->sent_ps,
        .marked = packet->becn,
        .probed = probed,
    };
}

// Returns the round trip of the packet that caused a SACK, in units of time stamps; 0: unknown.
static sim_time_t round_trip_ps(const nic_mrc_t *mrc, const news_t *news)
{
    const sim_time_t now_ps = now_of(mrc);
    const nic_qp_t *const qp = mrc->held.base.qp;
    if (news->probed) {
        return 0; // it is short, and answers overtake data
    }
    if (mrc->config->times == NIC_MRC_HEADER) {
        return news->sent_ps == SIM_TIME_NEVER
                   ? 0
                   : (now_ps / MRC_TIME_UNIT_PS - news->sent_ps / MRC_TIME_UNIT_PS) *
                         MRC_TIME_UNIT_PS;
    }
    if (news->cause_psn < qp->una_psn || news->cause_psn >= qp->next_psn) {
        return 0;
    }
    return now_ps - nic__flight_of(&mrc->flight, news->cause_psn)->sent_ps;
}

static void hear_window(nic_mrc_t *mrc, const news_t *news, const nic_nscc_cause_t *cause)
{
    const nic_qp_t *const qp = mrc->held.base.qp;
    const uint64_t more = nic__flight_arrived(&mrc->flight, qp, news->arrived_bytes);
    if (mrc->windowed && (cause->rtt_ps != 0 || more != 0)) {
        nic__nscc_ack(&mrc->nscc, now_of(mrc), cause, more, mrc->flight.bytes);
    }
}

// Marks the packets that the receiver has, and notes when the newest of them was sent.
static void hold(nic_mrc_t *mrc, const news_t *news)
{
    const nic_qp_t *const qp = mrc->held.base.qp;
    sim_time_t newest = news->probed ? news->sent_ps : 0;
    uint64_t left = nic__flight_known(qp, news->base_psn, news->bits);
    for (; left != 0; left &= left - 1) {
        const uint64_t psn = news->base_psn + (uint32_t)__builtin_ctzll(left);
        const sim_time_t sent_ps = nic__flight_of(&mrc->flight, psn)->sent_ps;
        newest = SIM_MAX(sent_ps, newest);
        nic__flight_hold(&mrc->flight, &mrc->held, psn);
    }
    mrc->newest_ps = SIM_MAX(newest, mrc->newest_ps);
}

static void repair(nic_mrc_t *mrc, uint64_t psn, uint32_t bytes)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    hear_path(mrc, nic__flight_of(&mrc->flight, psn)->entropy, NIC_EV_LOST);
    nic__resend_add(&mrc->held.resend, qp, psn, 1, 0, 0);
    nic__nscc_lost(&mrc->nscc, bytes);
}

// A packet is lost if the bitmap misses it although it was sent well before one that has arrived.
static void look_for_gaps(nic_mrc_t *mrc, const news_t *news)
{
    const nic_qp_t *const qp = mrc->held.base.qp;
    if (news->ahead_packets == 0 && !news->probed) {
        return; // nothing is missing
    }
    const sim_time_t reorder_ps = nic__mrc_reorder_ps(mrc);
    uint64_t left = nic__flight_known(qp, news->base_psn, ~news->bits);
    for (; left != 0; left &= left - 1) {
        const uint64_t psn = news->base_psn + (uint32_t)__builtin_ctzll(left);
        if (nic__flight_of(&mrc->flight, psn)->sent_ps + reorder_ps < mrc->newest_ps) {
            const uint32_t bytes = nic__flight_take_out(&mrc->flight, qp, psn);
            if (bytes != 0) {
                nic__mrc_shared(mrc)->gaps++;
                repair(mrc, psn, bytes);
            }
        } else if ((*nic__resend_of(&mrc->held.resend, psn) & NIC_SENT_TIMES) == 0) {
            return; // it was sent once, and all packets after it were sent later
        }
    }
}

static void hear_answer(nic_mrc_t *mrc)
{
    nic__single_acks_heard(&mrc->held);
    mrc->heard_ps = now_of(mrc);
}

// Goes on after an answer that may have moved una_psn.
static void settle(nic_mrc_t *mrc, uint64_t before_psn)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    if ((qp->flags & NIC_QP_CLOSED) != 0) {
        return;
    }
    // An ACK that stops at a READ says nothing of the READ's responses, whose time runs on.
    if (qp->una_psn != before_psn || !nic_transport_expects_response(qp)) {
        mrc->held.active_ps = now_of(mrc);
    }
    nic__resend_trim(&mrc->held.resend, qp);
    if (qp->una_psn == qp->next_psn && !nic__mrc_any_path(mrc)) {
        if (qp->sq_done == qp->sq_posted) {
            nic__evs_reset(&mrc->evs); // nobody would probe until there is work again
        }
        nic__mrc_arm(mrc, SIM_TIME_NEVER); // no packet is out whose time-out would wake it
    }
    nic_transport_schedule(qp);
}

void nic__mrc_take_sack(nic_mrc_t *mrc, const net_packet_t *packet)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    const news_t news = read_sack(qp, packet);
    if ((qp->flags & NIC_QP_CLOSED) != 0 || news.end_psn > qp->next_psn) {
        return;
    }
    hear_answer(mrc);
    const uint64_t before_psn = qp->una_psn;
    const nic_nscc_cause_t cause = {
        .rtt_ps = round_trip_ps(mrc, &news),
        .full = nic__flight_full(&mrc->flight, qp, news.cause_psn),
        .marked = news.marked,
    };
    if (cause.rtt_ps != 0) {
        nic__rto_measured(&mrc->held.resend.fetch.rto, cause.rtt_ps);
    }
    hold(mrc, &news);
    nic__flight_pass(&mrc->flight, &mrc->held, news.end_psn);
    if (news.end_psn > before_psn) {
        nic_transport_advance(qp, news.end_psn, packet, false);
    }
    if ((qp->flags & NIC_QP_CLOSED) != 0) {
        return;
    }
    nic__fetch_acknowledged(&mrc->held.resend, qp, news.end_psn, true);
    hear_window(mrc, &news, &cause);
    if (news.probed && nic__evs_probed(&mrc->evs, ev_of(packet), news.marked, now_of(mrc))) {
        nic__mrc_shared(mrc)->healed++;
    }
    hear_path(mrc, ev_of(packet), news.marked ? NIC_EV_MARKED : NIC_EV_ARRIVED);
    look_for_gaps(mrc, &news);
    settle(mrc, before_psn);
}

// -- NACKs and transport ACKs

// Sends a packet again that a switch has trimmed.
static void repair_trimmed(nic_mrc_t *mrc, const net_packet_t *packet, uint64_t psn)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    const uint32_t bytes = nic__flight_take_out(&mrc->flight, qp, psn);
    if (bytes == 0) {
        return;
    }
    nic__resend_add(&mrc->held.resend, qp, psn, 1, 0, 0);
    if (mrc->windowed) {
        const bool timed =
            nic__flight_full(&mrc->flight, qp, psn) && packet->sent_ps != SIM_TIME_NEVER;
        nic__nscc_trimmed(&mrc->nscc, now_of(mrc), timed ? now_of(mrc) - packet->sent_ps : 0, bytes,
                          false, mrc->flight.bytes);
    }
}

void nic__mrc_take_nack(nic_mrc_t *mrc, const net_packet_t *packet)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint64_t psn = nic__psn(aside->nack_psn, qp->una_psn);
    const bool last_hop = aside->mrc.reason == MRC_NACK_TRIMMED_LAST_HOP;
    if ((qp->flags & NIC_QP_CLOSED) != 0) {
        return;
    }
    hear_answer(mrc);
    qp->nic->counters.packet_seq_err++;
    nic__trace(qp->nic, qp, NIC_TRACE_NAK_RECEIVED, packet->aeth >> 24, 0);
    hear_path(mrc, ev_of(packet), last_hop ? NIC_EV_ARRIVED : NIC_EV_TRIMMED);
    if (psn >= qp->una_psn && psn < qp->next_psn &&
        (*nic__resend_of(&mrc->held.resend, psn) & NIC_SENT_HELD) == 0) {
        repair_trimmed(mrc, packet, psn);
    }
    settle(mrc, qp->una_psn);
}

void nic__mrc_acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    nic_mrc_t *const mrc = nic__mrc_of(qp);
    const uint64_t before_psn = qp->una_psn;
    mrc->heard_ps = now_of(mrc);
    const nic_single_acks_news_t news = nic__single_acks_acknowledged(&mrc->held, packet);
    if (!news.alive) {
        return;
    }
    if (qp->una_psn == qp->next_psn) {
        mrc->flight.bytes = 0;
    }
    settle(mrc, before_psn);
}

void nic__mrc_responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic_mrc_t *const mrc = nic__mrc_of(qp);
    if (!net_packet_trimmed(net_get_config(nic->host->node.net), packet)) {
        nic__single_acks_responded(nic, qp, packet);
        return;
    }
    // A response without its payload is asked for again.
    const uint64_t psn = nic__psn(packet->psn, qp->una_psn);
    nic_transport_consume(qp, packet);
    if ((qp->flags & NIC_QP_CLOSED) == 0 && psn >= qp->una_psn && psn < qp->next_psn) {
        nic__resend_probe(&mrc->held.resend, qp, psn, 0);
        nic_transport_schedule(qp);
    }
}

// -- time-outs

// Queues the packets that are overdue. Returns when the next one is.
// Nothing counts as in flight where no packet is. A SACK counts arrivals that only a later bitmap
// shows. Where those packets were taken for lost, the count ends too high, and would close the
// window for good.
static sim_time_t queue_overdue(nic_mrc_t *mrc, bool *any)
{
    bool out = false;
    nic_qp_t *const qp = mrc->held.base.qp;
    const sim_time_t now_ps = now_of(mrc);
    const sim_time_t rto_ps = nic__mrc_rto_ps(mrc, 0);
    sim_time_t next_ps = now_ps + rto_ps;
    for (uint64_t psn = qp->una_psn; psn < qp->next_psn; psn++) {
        const nic_flight_sent_t *const sent = nic__flight_of(&mrc->flight, psn);
        if (!sent->out) {
            continue;
        }
        const uint32_t times = *nic__resend_of(&mrc->held.resend, psn) & NIC_SENT_TIMES;
        const sim_time_t due_ps =
            sent->sent_ps + (times == 0 ? rto_ps : nic__mrc_rto_ps(mrc, times));
        if (due_ps > now_ps) {
            next_ps = SIM_MIN(due_ps, next_ps);
            out = true;
            continue;
        }
        nic__mrc_shared(mrc)->lost++;
        repair(mrc, psn, nic__flight_take_out(&mrc->flight, qp, psn));
        *any = true;
    }
    mrc->flight.bytes = out ? mrc->flight.bytes : 0;
    return next_ps;
}

// Counts a time-out in a row where nothing was heard for the whole of it. Returns false if the
// queue pair failed.
static bool count_silence(nic_mrc_t *mrc, bool any)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    const sim_time_t now_ps = now_of(mrc);
    const bool quiet = now_ps >= mrc->held.active_ps + nic__mrc_rto_ps(mrc, mrc->held.silent);
    // Nothing else may be out: requests without payload, READs, answers that were lost.
    const bool stuck = quiet && mrc->flight.bytes == 0 && qp->una_psn != qp->next_psn &&
                       !nic__resend_waits(&mrc->held.resend);
    const bool waits = quiet && !nic__mrc_any_path(mrc); // until a probe comes back
    if (!any && !stuck && !waits) {
        return true;
    }
    if (quiet && !nic__single_acks_silent(&mrc->held)) {
        return false;
    }
    if (stuck) {
        nic__fetch_all(&mrc->held.resend, qp, mrc->held.silent);
        nic__resend_oldest(&mrc->held.resend, qp, mrc->held.silent, 0);
    }
    if (quiet) {
        mrc->held.active_ps = now_ps;
    }
    return true;
}

void nic__mrc_timed_out(nic_qp_t *qp)
{
    nic_mrc_t *const mrc = nic__mrc_of(qp);
    probe_paths(mrc);
    bool any = false;
    const sim_time_t due_ps = queue_overdue(mrc, &any);
    if (!count_silence(mrc, any)) {
        return;
    }
    const bool out = qp->una_psn != qp->next_psn;
    const sim_time_t quiet_ps = out ? probe_silence(mrc) : SIM_TIME_NEVER;
    nic__mrc_arm(mrc, out && quiet_ps < due_ps ? quiet_ps : due_ps);
    nic_transport_schedule(qp);
}
