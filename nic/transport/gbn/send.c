// SPDX-License-Identifier: Apache-2.0
// nic/transport/gbn/send.c - the transport "go-back-n": its sending side. docs/models/nic-ideal.md
//
// A queue pair sends from a position (sq_send, send_offset, next_psn) and knows what is
// acknowledged (sq_done, una_offset, una_psn). A loss is repaired by setting the first to the
// second: on a sequence NAK, on a gap in READ responses (an implied NAK), after an RNR wait, on a
// timeout. A READ that already got a part of its data is asked again for the rest. Going back to
// zero (nic.retransmission) takes the acknowledgement of the message (or chunk) that was
// interrupted back too; a finished one stays finished.
// Source: IBA vol. 1, 9.7.5 (ACK protocol), 9.7.6 (retries), 9.9.2 (requester's errors).
#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/host/packets.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/wqe.h"
#include "nic/path/repath.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"
#include "nic/transport/finish.h"
#include "nic/transport/gbn/gbn_internal.h"
#include "nic/transport/gbn/placing.h"
#include "nic/transport/requester_internal.h"

// -- going back

// Returns true if the sender went back and nothing was acknowledged since.
static bool is_recovering(const nic_qp_t *qp)
{
    return nic__gbn_const(qp)->recovering_psn == qp->una_psn;
}

static void rewind(nic_qp_t *qp)
{
    const uint64_t again = qp->next_psn - qp->una_psn;
    qp->next_psn = qp->una_psn;
    qp->sq_send = qp->sq_done;
    qp->send_offset = qp->una_offset;
    qp->in_flight_bytes = 0;
    qp->reads_outstanding = 0;
    qp->flags &= (uint16_t)~NIC_QP_SQ_STOPPED;
    NIC_DEVICE(qp->nic, rewound, qp);
    nic__trace(qp->nic, qp, NIC_TRACE_RETRANSMIT, again, 0);
    if (!nic__can_send(qp)) {
        nic__unschedule(qp);
    } else {
        nic__schedule(qp);
    }
}

// Returns how many packets of the oldest message lose their acknowledgement when it starts again.
static uint32_t packets_to_repeat(const nic_qp_t *qp)
{
    const uint32_t packets = qp->una_offset / qp->mtu_bytes;
    return packets - nic__packets_kept(qp->nic, qp->mtu_bytes, packets);
}

static void take_back(nic_qp_t *qp, uint32_t packets)
{
    if (packets == 0) {
        return;
    }
    nic_gbn_t *const gbn = nic__gbn(qp);
    gbn->recovering_psn = is_recovering(qp) ? qp->una_psn - packets : NIC_GBN_NO_PSN;
    qp->una_psn -= packets;
    qp->una_offset -= packets * qp->mtu_bytes;
    if (nic__wqe(qp, qp->sq_done)->opcode == NIC_WR_RDMA_READ) {
        qp->nic->counters.rx_restarted_bytes += packets * qp->mtu_bytes;
    }
}

// Uses up one retry and goes back. Returns false if none was left; the QP has failed then.
static bool retry(nic_qp_t *qp)
{
    if (qp->retries_used >= qp->retry_count) {
        nic__fail_request(qp, NIC_WC_RETRY_EXC_ERR);
        return false;
    }
    qp->retries_used++;
    take_back(qp, packets_to_repeat(qp));
    rewind(qp);
    return true;
}

// Goes back because a gap shows that responses of the oldest READ are lost. It does so once for a
// loss: responses already in flight show the same gap again.
static void implied_nak(nic_qp_t *qp)
{
    if (is_recovering(qp) || qp->next_psn == qp->una_psn ||
        qp->nic->host->config->ooo == NIC_OOO_PLACE) { // the responses may have been overtaken
        return;
    }
    qp->nic->counters.implied_nak_seq_err++;
    if (retry(qp)) {
        nic__gbn(qp)->recovering_psn = qp->una_psn;
    }
}

// -- ACK and NAK

// Returns true if only packets sent before the sender went back for the same PSN can have caused
// this NAK: it comes less than a round trip of the idle path after that.
static bool is_stale(const nic_qp_t *qp)
{
    return is_recovering(qp) &&
           nic__node(qp->nic)->now_ps < qp->retry_base_ps + nic__idle_rtt_ps(qp);
}

// Handles a sequence NAK. Where NAKs of one gap repeat, those after the first say nothing about the
// retries that failed: the peer is there, and they use none up. Cards take their time before they
// go back (nic.recovery-delay); further NAKs until then change nothing.
static void sequence_error(nic_qp_t *qp)
{
    const nic_config_t *const config = qp->nic->host->config;
    qp->nic->counters.packet_seq_err++;
    if (qp->next_psn == qp->una_psn ||
        (config->recovery_delay_ps != 0 && (qp->flags & NIC_QP_RNR_WAIT) != 0) ||
        (config->nak_once && is_stale(qp))) {
        return;
    }
    nic_gbn_t *const gbn = nic__gbn(qp);
    ((nic_gbn_shared_t *)gbn->transport.nic_state)->went_back++;
    if (config->nak_interval_ps == 0) {
        if (!retry(qp)) {
            return;
        }
    } else {
        take_back(qp, packets_to_repeat(qp));
        rewind(qp);
    }
    if (config->nak_once) {
        gbn->recovering_psn = qp->una_psn;
    }
    if (SIM_UNLIKELY(config->recovery_delay_ps != 0)) {
        sim_node_t *const node = nic__node(qp->nic);
        qp->flags |= NIC_QP_RNR_WAIT;
        if (!nic__can_send(qp)) {
            nic__unschedule(qp);
        }
        sim_timer_arm(node, &qp->retry_timer, node->now_ps + config->recovery_delay_ps);
    }
}

static void receive_refusal(nic_qp_t *qp, uint32_t syndrome, bool rnr)
{
    if (rnr) {
        if (nic__rnr_wait(qp, syndrome & 0x1f)) {
            rewind(qp);
        }
    } else if ((syndrome & 0x1f) == ROCE_NAK_PSN_SEQUENCE) {
        sequence_error(qp);
    } else {
        nic__fatal_nak(qp, syndrome & 0x1f);
    }
}

static void receive_nak(nic_qp_t *qp, const net_packet_t *packet, const nic_progress_t *progress)
{
    const uint32_t syndrome = packet->aeth >> 24;
    const bool rnr = (syndrome & 0xe0) == ROCE_SYNDROME_RNR_NAK;
    const bool sequence = !rnr && (syndrome & 0x1f) == ROCE_NAK_PSN_SEQUENCE;
    nic__trace(qp->nic, qp, NIC_TRACE_NAK_RECEIVED, syndrome, 0);
    receive_refusal(qp, syndrome, rnr);
    if (nic__still_alive(qp)) {
        nic__cc_ack(qp, packet, progress->bytes, sequence);
    }
}

// Handles a NAK of an acknowledged PSN: the receiver started its message (or chunk) again. While
// the sender waits, or takes the NAK for an old one, it does not go back for it; where nothing was
// on its way, what it took back is not either, and no time-out would find that.
static void receive_restart(nic_qp_t *qp, const net_packet_t *packet, uint64_t end_psn)
{
    const bool rested = qp->next_psn == qp->una_psn;
    take_back(qp, (uint32_t)(qp->una_psn - end_psn));
    receive_nak(qp, packet, &(nic_progress_t){0});
    if (!nic__still_alive(qp)) {
        return;
    }
    if (rested && qp->next_psn != qp->una_psn) {
        rewind(qp);
    }
    nic__settle(qp);
}

void nic__gbn_acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    if (SIM_UNLIKELY((qp->flags & NIC_QP_CLOSED) != 0)) {
        nic__consume_empty(nic, packet);
        return;
    }
    const bool positive = (packet->aeth >> 29) == 0;
    // A NAK names the packet it refuses and acknowledges those before.
    const uint64_t end_psn =
        qp->una_psn + (uint64_t)nic__psn_distance(packet->psn, qp->una_psn) + (positive ? 1 : 0);
    const int64_t least = positive ? 1 : -(int64_t)packets_to_repeat(qp);
    const bool stale = (int64_t)(end_psn - qp->una_psn) < least;
    if (SIM_UNLIKELY(stale && positive && nic->loop != NULL && nic->loop->hears_late_acks)) {
        nic__cc_late_ack(qp, packet, end_psn);
        nic__kick(nic);
    }
    if (stale || end_psn > qp->max_psn || (!positive && end_psn == qp->max_psn)) {
        nic__consume_empty(nic, packet);
        return;
    }
    if (SIM_UNLIKELY(end_psn < qp->una_psn)) {
        receive_restart(qp, packet, end_psn);
        nic__consume_empty(nic, packet);
        return;
    }
    const uint64_t una_psn = qp->una_psn;
    const nic_progress_t progress = nic__advance(nic, qp, end_psn);
    if (SIM_LIKELY(!progress.gone)) {
        if (qp->una_psn != una_psn) {
            nic__note_progress(nic, qp);
            nic__trace_ack(nic, qp, packet->sent_ps);
        }
        if (SIM_UNLIKELY(progress.blocked)) {
            implied_nak(qp);
        } else if (SIM_LIKELY(positive)) {
            nic__cc_ack(qp, packet, progress.bytes, false);
        } else {
            receive_nak(qp, packet, &progress);
        }
        if (nic__still_alive(qp)) {
            nic__settle(qp);
        }
    }
    nic__consume_empty(nic, packet);
}

static void responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const uint64_t psn = qp->una_psn + (uint64_t)nic__psn_distance(packet->psn, qp->una_psn);
    if ((qp->flags & NIC_QP_CLOSED) == 0 && (int64_t)(psn - qp->una_psn) >= 0 &&
        psn < qp->max_psn) {
        // The response acknowledges everything before its READ.
        const uint64_t una_psn = qp->una_psn;
        const nic_progress_t progress =
            SIM_LIKELY(psn == una_psn) ? (nic_progress_t){0} : nic__advance(nic, qp, psn);
        if (!progress.gone) {
            if (qp->una_psn != una_psn) {
                nic__note_progress(nic, qp);
            }
            if (progress.blocked) {
                implied_nak(qp);
            } else if (nic__is_fetch(nic__wqe(qp, qp->sq_done)->opcode)) {
                nic__accept_response(nic, qp, packet, false);
            }
            if (nic__still_alive(qp)) {
                nic__settle(qp);
            }
        }
    }
    nic__consume(nic, packet);
}

// -- timers

static void timed_out(nic_qp_t *qp)
{
    sim_node_t *const node = nic__node(qp->nic);
    if (qp->next_psn == qp->una_psn) {
        return; // nothing is on its way: the next packet arms it
    }
    const sim_time_t due_ps = qp->retry_base_ps + nic__timeout_ps(qp);
    if (node->now_ps < due_ps) {
        sim_timer_arm(node, &qp->retry_timer, due_ps);
        return;
    }
    qp->nic->counters.local_ack_timeout_err++;
    nic__trace(qp->nic, qp, NIC_TRACE_TIMEOUT, qp->retries_used, 0);
    nic__gbn(qp)->recovering_psn = NIC_GBN_NO_PSN;
    if (retry(qp)) {
        nic_cc_t *const cc = nic__cc(qp);
        nic__repath_timeout(qp);
        if (cc->ops->timeout != NULL) {
            cc->ops->timeout(cc);
            nic__cc_sync(qp);
        }
    }
}

// -- the transport

static void gbn_open(nic_qp_t *qp)
{
    nic_gbn_t *const gbn = nic__gbn(qp);
    gbn->recovering_psn = NIC_GBN_NO_PSN;
    gbn->nak_psn = NIC_GBN_NO_PSN;
}

static void totals(const nic_t *nic, const void *nic_state, nic_transport_totals_t *totals)
{
    (void)nic;
    const nic_gbn_shared_t *const shared = nic_state;
    totals->went_back += shared->went_back;
}

static void check(const nic_qp_t *qp)
{
    const nic_gbn_t *const gbn = nic__gbn_const(qp);
    SIM_CHECK(gbn->recovering_psn == NIC_GBN_NO_PSN || gbn->recovering_psn <= qp->una_psn);
    SIM_CHECK(gbn->nak_psn == NIC_GBN_NO_PSN || gbn->nak_psn <= qp->expected_psn);
    if (nic__still_alive(qp) && qp->next_psn != qp->una_psn && qp->timeout != 0) {
        SIM_CHECK(sim_timer_armed(&qp->retry_timer));
    }
}

// A span with losses is not repeated.
static const sim_field_t state_rows[] = {
    SIM_FIELD(nic_gbn_t, transport, FIXED),
    SIM_FIELD(nic_gbn_t, recovering_psn, FIXED),
    SIM_FIELD(nic_gbn_t, nak_psn, FIXED),
    SIM_FIELD(nic_gbn_t, nak_ps, UNTIL),
};
static const sim_fields_t state_table = SIM_FIELDS("go-back-n", sizeof(nic_gbn_t), state_rows);
static const sim_field_t share_rows[] = {SIM_FIELD(nic_gbn_shared_t, went_back, COUNT)};
static const sim_fields_t share_table =
    SIM_FIELDS("go-back-n", sizeof(nic_gbn_shared_t), share_rows);

const nic_transport_ops_t nic_transport_gbn = {
    .name = "go-back-n",
    .state_bytes = sizeof(nic_gbn_t),
    .nic_state_bytes = sizeof(nic_gbn_shared_t),
    .open = gbn_open,
    .ready = nic__cursor_ready,
    .next_packet = nic__cursor_packet,
    .acknowledged = nic__gbn_acknowledged,
    .responded = responded,
    .timeout = timed_out,
    .request = nic__gbn_request,
    .not_ready = nic__gbn_not_ready,
    .totals = totals,
    .check = check,
    .fields = &state_table,
    .share_fields = &share_table,
};

const nic_transport_ops_t nic__transport_gbn_place = {
    .name = "go-back-n",
    .state_bytes = sizeof(nic_gbn_place_t),
    .nic_state_bytes = sizeof(nic_gbn_shared_t),
    .open = gbn_open,
    .close = nic__gbn_place_close,
    .ready = nic__cursor_ready,
    .next_packet = nic__gbn_place_next,
    .acknowledged = nic__gbn_place_acknowledged,
    .responded = nic__gbn_place_responded,
    .timeout = timed_out,
    .request = nic__gbn_place_request,
    .not_ready = nic__gbn_not_ready,
    .totals = totals,
    .gauges = nic__gbn_place_gauges,
    .check = check,
};
