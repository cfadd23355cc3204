// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/single_acks.c - selective acknowledgement, shared by IRN and SDR-RDMA.
#include "nic/transport/selective/single_acks.h"

#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/path/repath.h"
#include "nic/transport/entry.h"

// Where no path leads to the peer, times that follow from the round trip follow from this one: a
// timer of 0 ps would fire for ever in one instant.
#define RTT_WITHOUT_PATH_PS (10 * SIM_PS_PER_US)

static nic_single_acks_shared_t *shared_of(const nic_single_acks_t *held)
{
    return held->base.nic_state;
}

void nic__single_acks_open(nic_single_acks_t *held)
{
    nic_qp_t *const qp = held->base.qp;
    const sim_time_t idle_ps = nic__idle_rtt_ps(qp);
    held->rtt_ps = idle_ps != 0 ? idle_ps : RTT_WITHOUT_PATH_PS;
    nic__resend_init(&held->resend);
    nic__rto_open(&held->resend.fetch.rto, held->rtt_ps, 0);
    nic__early_init(&held->kept, nic_transport_look(qp).expected_psn);
}

void nic__single_acks_close(nic_single_acks_t *held)
{
    nic_single_acks_shared_t *const shared = shared_of(held);
    for (uint32_t i = 0; i < NIC_RESEND_ROUNDS; i++) {
        shared->by_round[i] += held->resend.by_round[i];
    }
    if (held->resend.rounds_max > shared->rounds_max) {
        shared->rounds_max = held->resend.rounds_max;
    }
    nic_transport_timer_cancel(held->base.qp);
    nic__early_fini(&held->kept, held->base.qp);
    nic__resend_fini(&held->resend);
}

void nic__single_acks_totals(const nic_single_acks_shared_t *shared, uint32_t bitmaps,
                             nic_transport_totals_t *totals)
{
    for (uint32_t i = 0; i < NIC_RESEND_ROUNDS; i++) {
        totals->by_round[i] += shared->by_round[i];
    }
    const uint64_t used_bytes = bitmaps * ((shared->span_max + 7) / 8);
#define TAKE_MAX(field, value) totals->field = (value) > totals->field ? (value) : totals->field
    TAKE_MAX(rounds_max, shared->rounds_max);
    TAKE_MAX(nic_bytes_per_qp, shared->nic_bytes_per_qp);
    TAKE_MAX(nic_bytes_per_qp_max, used_bytes);
    TAKE_MAX(repair_ps_max, shared->repair_ps_max);
#undef TAKE_MAX
    totals->duplicates += shared->duplicates;
    totals->dropped += shared->dropped;
    totals->repaired += shared->repaired;
    totals->repair_ps += shared->repair_ps;
    totals->work += shared->repaired;
}

void nic__single_acks_gauges(const nic_qp_t *qp, nic_transport_gauges_t *sums)
{
    const nic_single_acks_t *const held = nic__state_const(qp);
    nic__early_gauges(&held->kept, sums);
    sums->resend_packets += held->resend.waiting;
}

// -- the receiving side

void nic__single_acks_count_repairs(nic_single_acks_t *held)
{
    nic_single_acks_shared_t *const shared = shared_of(held);
    shared->repaired += held->kept.repaired;
    shared->repair_ps += held->kept.repair_ps;
    if (held->kept.repair_ps_max > shared->repair_ps_max) {
        shared->repair_ps_max = held->kept.repair_ps_max;
    }
    held->kept.repaired = held->kept.repair_ps = 0;
}

nic_arrival_t nic__single_acks_drop(const nic_single_acks_t *held, net_packet_t *packet,
                                    uint64_t psn)
{
    shared_of(held)->dropped++;
    nic_transport_consume(held->base.qp, packet);
    return (nic_arrival_t){.psn = psn, .news = NIC_KEPT_AGAIN, .refused = true};
}

void nic__single_acks_mark(nic_single_acks_t *held, uint64_t psn, uint32_t count, bool missing,
                           sim_time_t sent_ps)
{
    nic_qp_t *const qp = held->base.qp;
    net_packet_t *const answer = nic_transport_answer(
        qp, held->kept.first_psn, (uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE, 12, NULL);
    net_packet_aside_t *const aside = net_packet_aside(answer);
    answer->addressed = true;
    answer->sent_ps = sent_ps;
    aside->map.first_psn = (uint32_t)psn & ROCE_PSN_MASK;
    aside->map.length = count;
    for (uint32_t w = 0; w < SIM_COUNT_OF(aside->map.bits); w++) {
        aside->map.bits[w] = 0;
    }
    aside->selective.round = missing;
    aside->selective.index = 0;
    nic_transport_send(qp, answer);
}

// -- the sending side

static void mark(nic_single_acks_t *held, uint64_t psn, uint32_t count)
{
    const nic_qp_t *const qp = held->base.qp;
    const uint64_t end_psn = SIM_MIN(psn + count, qp->next_psn);
    for (psn = SIM_MAX(qp->una_psn, psn); psn < end_psn; psn++) {
        *nic__resend_of(&held->resend, psn) |= NIC_SENT_HELD;
    }
}

static void take_stretch(nic_single_acks_t *held, const net_packet_t *packet,
                         nic_single_acks_news_t *news)
{
    nic_qp_t *const qp = held->base.qp;
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    news->told = true;
    news->missing = aside->selective.round != 0;
    news->psn = nic__psn(aside->map.first_psn, qp->una_psn);
    news->count = aside->map.length;
    qp->nic->counters.packet_seq_err++;
    nic__trace(qp->nic, qp, NIC_TRACE_NAK_RECEIVED, packet->aeth >> 24, 0);
    if (!news->missing) {
        mark(held, news->psn, news->count);
    }
}

void nic__single_acks_heard(nic_single_acks_t *held)
{
    const sim_time_t since_ps = nic__node(held->base.qp->nic)->now_ps - held->active_ps;
    nic__rto_heard(&held->resend.fetch.rto, held->silent, since_ps);
    held->silent = 0;
}

nic_single_acks_news_t nic__single_acks_acknowledged(nic_single_acks_t *held, net_packet_t *packet)
{
    nic_qp_t *const qp = held->base.qp;
    nic_single_acks_news_t news = {0};
    const bool positive = packet->aeth >> 29 == 0;
    const uint64_t end_psn = nic__psn(packet->psn, qp->una_psn) + positive;
    if ((qp->flags & NIC_QP_CLOSED) != 0 || end_psn > qp->next_psn) {
        nic_transport_consume(qp, packet);
        return news;
    }
    nic__single_acks_heard(held);
    const bool stretch =
        packet->aeth >> 24 == ((uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE);
    const uint64_t before_psn = qp->una_psn;
    if (end_psn > before_psn || !positive) {
        nic_transport_advance(qp, SIM_MAX(end_psn, before_psn), packet, stretch);
    }
    nic__fetch_acknowledged(&held->resend, qp, end_psn, positive);
    news.alive = (qp->flags & NIC_QP_CLOSED) == 0;
    news.moved = qp->una_psn != before_psn;
    if (news.alive && stretch) {
        take_stretch(held, packet, &news);
    } else if (news.alive && !positive && end_psn >= before_psn) {
        (void)nic_transport_refused(qp, packet);
        news.alive = (qp->flags & NIC_QP_CLOSED) == 0;
        if (news.alive && qp->una_psn != qp->next_psn) {
            nic__resend_probe(&held->resend, qp, qp->una_psn, 0); // it was held, and refused then
        }
    }
    if (news.alive) {
        nic__resend_trim(&held->resend, qp);
    }
    nic_transport_consume(qp, packet);
    return news;
}

void nic__single_acks_responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    nic_single_acks_t *const held = nic__single_acks_of(qp);
    nic__single_acks_heard(held);
    held->active_ps = nic__node(qp->nic)->now_ps;
    nic__fetch_responded(&held->resend, qp, packet);
    if ((qp->flags & NIC_QP_CLOSED) == 0) {
        nic__resend_trim(&held->resend, qp);
        nic_transport_schedule(qp);
    }
}

nic_single_acks_sent_t nic__single_acks_next_again(nic_single_acks_t *held)
{
    nic_qp_t *const qp = held->base.qp;
    if (nic__repeated_waits(&held->kept.again)) {
        return (nic_single_acks_sent_t){.packet = nic__repeated_next(&held->kept.again, qp),
                                        .answer = true};
    }
    nic_resend_item_t item;
    net_packet_t *const packet = nic__resend_next(&held->resend, qp, &item);
    if (packet != NULL) {
        net_packet_aside(packet)->selective.round = 1;
        net_packet_aside(packet)->selective.index = 0;
    }
    return (nic_single_acks_sent_t){.packet = packet,
                                    .psn = item.psn,
                                    .end_psn = item.psn + 1,
                                    .again = true};
}

bool nic__single_acks_silent(nic_single_acks_t *held)
{
    nic_qp_t *const qp = held->base.qp;
    qp->nic->counters.local_ack_timeout_err++;
    nic__trace(qp->nic, qp, NIC_TRACE_TIMEOUT, held->silent, 0);
    if (held->silent == 0) {
        held->quiet_ps = held->active_ps;
    }
    nic__rto_passed(&held->resend.fetch.rto, ++held->silent);
    if (nic__is_gone(qp, held->silent, held->quiet_ps)) {
        nic_transport_fail(qp, NIC_WC_RETRY_EXC_ERR);
        return false;
    }
    nic_cc_t *const cc = nic__cc(qp);
    nic__repath_timeout(qp);
    if (cc->ops->timeout != NULL) {
        cc->ops->timeout(cc);
        nic__cc_sync(qp);
    }
    return true;
}
