// SPDX-License-Identifier: Apache-2.0
// nic/transport/acknowledge.c - the requester's other half: ACKs, NAKs, READ responses, timeouts.
//
// Acknowledgement is cumulative; a READ is acknowledged by its responses only, packet by packet.
// Losses are repaired by going back to the oldest PSN not acknowledged: on a sequence NAK, on a
// gap in READ responses (an implied NAK), after an RNR wait, on a timeout. A READ that already got
// a part of its data is asked again for the rest. Going back to zero takes the acknowledgement of
// the message (or chunk) that was interrupted back too; a finished one stays finished.
// Source: IBA vol. 1, 9.7.5 (ACK protocol), 9.7.6 (retries), 9.9.2 (requester's errors).
#include "nic/nic_internal.h"

// Table 45 of the standard, in units of 10 us.
static const uint32_t rnr_units[32] = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static sim_time_t rnr_ps(uint32_t code)
{
    return rnr_units[code & 31] * (10 * SIM_PS_PER_US);
}

void nic__rest(nic_qp_t *qp)
{
    if (qp->sq_done == qp->sq_posted) {
        if (sim_timer_armed(&qp->retry_timer)) {
            sim_timer_cancel(nic__node(qp->nic), &qp->retry_timer);
        }
        qp->flags &= (uint16_t)~NIC_QP_RNR_WAIT;
        if (qp->read_count == 0) {
            nic__cc_stop(qp);
        }
    }
}

// -- progress

// What one packet from the peer acknowledged.
typedef struct progress {
    uint64_t bytes; // payload of SENDs and WRITEs
    bool blocked;   // a READ without all its responses stands in the way
    bool gone;      // the application destroyed the QP, or it failed
} progress_t;

static inline bool still_alive(const nic_qp_t *qp)
{
    return (qp->flags & NIC_QP_CLOSED) == 0;
}

// The position to send from cannot be behind what is acknowledged.
static inline void catch_up(nic_qp_t *qp)
{
    if (SIM_UNLIKELY(qp->una_psn > qp->next_psn)) {
        qp->next_psn = qp->una_psn;
        qp->sq_send = qp->sq_done;
        qp->send_offset = qp->una_offset;
        qp->in_flight_bytes = 0;
        qp->reads_outstanding = 0;
        if (SIM_UNLIKELY(qp->nic->detailed)) {
            nic__rnic_gate(qp);
        }
        if (!nic__can_send(qp)) {
            nic__unschedule(qp);
        }
    }
}

static inline void acknowledge_bytes(nic_qp_t *qp, uint64_t bytes)
{
    qp->in_flight_bytes -= bytes <= qp->in_flight_bytes ? bytes : qp->in_flight_bytes;
}

static inline void note_progress(nic_t *nic, nic_qp_t *qp)
{
    sim_node_t *const node = nic__node(nic);
    qp->retry_base_ps = node->now_ps;
    qp->retries_used = 0;
    qp->rnr_retries_used = 0;
    qp->flags &= (uint16_t)~NIC_QP_RECOVERING;
    sim_progress(node);
}

// sent_ps: of the packet that caused the acknowledgement; NEVER: unknown.
static inline void trace_ack(nic_t *nic, const nic_qp_t *qp, sim_time_t sent_ps)
{
    nic__trace(nic,
               qp,
               NIC_TRACE_ACK,
               sent_ps == SIM_TIME_NEVER ? 0 : nic__node(nic)->now_ps - sent_ps,
               0);
}

// Everything before end_psn has arrived at the peer, as far as SENDs and WRITEs go. Completes what
// that finishes. una_psn is right before each completion, since the application looks around then.
static progress_t advance(nic_t *nic, nic_qp_t *qp, uint64_t end_psn)
{
    progress_t progress = {0};
    while (qp->una_psn < end_psn) {
        const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_done);
        if (SIM_UNLIKELY(nic__is_fetch(wqe->opcode))) {
            progress.blocked = true;
            break;
        }
        const uint64_t wqe_end_psn = nic__wqe_end(wqe, qp->una_psn);
        if (end_psn < wqe_end_psn) {
            const uint32_t bytes = (uint32_t)(end_psn - qp->una_psn) * qp->mtu_bytes;
            qp->una_psn = end_psn;
            qp->una_offset += bytes;
            progress.bytes += bytes;
            acknowledge_bytes(qp, bytes);
            break;
        }
        const nic_wqe_t done = *wqe;
        const uint32_t bytes = done.length - qp->una_offset;
        qp->una_psn = wqe_end_psn;
        qp->una_offset = 0;
        qp->sq_done++;
        progress.bytes += bytes;
        acknowledge_bytes(qp, bytes);
        catch_up(qp);
        note_progress(nic, qp);
        nic__complete_send(qp, &done, NIC_WC_SUCCESS);
        if (SIM_UNLIKELY(!still_alive(qp))) {
            progress.gone = true;
            return progress;
        }
    }
    catch_up(qp);
    return progress;
}

// Packets of the oldest message that are acknowledged no more when it starts again.
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
    qp->una_psn -= packets;
    qp->una_offset -= packets * qp->mtu_bytes;
    if (nic__wqe(qp, qp->sq_done)->opcode == NIC_WR_RDMA_READ) {
        qp->nic->counters.rx_restarted_bytes += packets * qp->mtu_bytes;
    }
}

// Uses up one retry and goes back. False: none was left, the QP has failed.
static bool retry(nic_qp_t *qp)
{
    if (qp->retries_used >= qp->retry_count) {
        nic__fail_request(qp, NIC_WC_RETRY_EXC_ERR);
        return false;
    }
    qp->retries_used++;
    take_back(qp, packets_to_repeat(qp));
    nic__rewind(qp);
    return true;
}

// A gap shows that responses of the oldest READ are lost. Once per loss: what was on its way
// already shows the same gap again.
static void implied_nak(nic_qp_t *qp)
{
    if ((qp->flags & NIC_QP_RECOVERING) != 0 || qp->next_psn == qp->una_psn) {
        return;
    }
    qp->nic->counters.implied_nak_seq_err++;
    if (retry(qp)) {
        qp->flags |= NIC_QP_RECOVERING;
    }
}

// What holds after any acknowledgement: the failed WQE may have its turn, the rest may go on.
static void settle(nic_qp_t *qp)
{
    if (SIM_UNLIKELY((qp->flags & NIC_QP_SQ_STOPPED) != 0) && qp->sq_done == qp->sq_send) {
        nic__fail_request(qp, (nic_wc_status_t)qp->stopped_status);
        return;
    }
    if (qp->sq_done == qp->sq_posted) {
        nic__rest(qp);
    } else {
        nic__schedule(qp);
    }
}

// -- ACK and NAK

static void rnr_nak(nic_qp_t *qp, uint32_t code)
{
    qp->nic->counters.rnr_nak_retry_err++;
    if ((qp->flags & NIC_QP_RNR_WAIT) != 0) {
        return;
    }
    if (qp->rnr_retry != NIC_FOREVER) {
        if (qp->rnr_retries_used >= qp->rnr_retry) {
            nic__fail_request(qp, NIC_WC_RNR_RETRY_EXC_ERR);
            return;
        }
        qp->rnr_retries_used++;
    }
    sim_node_t *const node = nic__node(qp->nic);
    qp->flags |= NIC_QP_RNR_WAIT;
    nic__rewind(qp);
    sim_timer_arm(node, &qp->retry_timer, node->now_ps + rnr_ps(code));
}

static void negative(nic_qp_t *qp, uint32_t code)
{
    switch (code) {
    case ROCE_NAK_PSN_SEQUENCE:
        qp->nic->counters.packet_seq_err++;
        if (qp->next_psn != qp->una_psn) {
            (void)retry(qp);
        }
        break;
    case ROCE_NAK_INVALID_REQUEST:
        nic__fail_request(qp, NIC_WC_REM_INV_REQ_ERR);
        break;
    case ROCE_NAK_REMOTE_ACCESS:
        qp->nic->counters.req_remote_access_errors++;
        nic__fail_request(qp, NIC_WC_REM_ACCESS_ERR);
        break;
    case ROCE_NAK_REMOTE_OPERATION:
        nic__fail_request(qp, NIC_WC_REM_OP_ERR);
        break;
    default:
        break; // reserved codes are ignored
    }
}

static void receive_nak(nic_qp_t *qp, const net_packet_t *packet, const progress_t *progress)
{
    const uint32_t syndrome = packet->aeth >> 24;
    const bool rnr = (syndrome & 0xe0) == ROCE_SYNDROME_RNR_NAK;
    const bool sequence = !rnr && (syndrome & 0x1f) == ROCE_NAK_PSN_SEQUENCE;
    nic__trace(qp->nic, qp, NIC_TRACE_NAK_RECEIVED, syndrome, 0);
    if (rnr) {
        rnr_nak(qp, syndrome & 0x1f);
    } else {
        negative(qp, syndrome & 0x1f);
    }
    if (still_alive(qp)) {
        nic__cc_ack(qp, packet, progress->bytes, sequence);
    }
}

void nic__receive_ack(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
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
    if (SIM_UNLIKELY(stale && positive && nic->scan != NULL)) {
        nic__cc_late_ack(qp, packet, end_psn); // which hears of each there
        nic__kick(nic);
    }
    if (stale || end_psn > qp->max_psn || (!positive && end_psn == qp->max_psn)) {
        nic__consume_empty(nic, packet);
        return;
    }
    if (SIM_UNLIKELY(end_psn < qp->una_psn)) {
        take_back(qp, (uint32_t)(qp->una_psn - end_psn));
    }
    const uint64_t una_psn = qp->una_psn;
    const progress_t progress = advance(nic, qp, end_psn);
    if (SIM_LIKELY(!progress.gone)) {
        if (qp->una_psn != una_psn) {
            note_progress(nic, qp);
            trace_ack(nic, qp, packet->sent_ps);
        }
        if (SIM_UNLIKELY(progress.blocked)) {
            implied_nak(qp);
        } else if (SIM_LIKELY(positive)) {
            nic__cc_ack(qp, packet, progress.bytes, false);
        } else {
            receive_nak(qp, packet, &progress);
        }
        if (still_alive(qp)) {
            settle(qp);
        }
    }
    nic__consume_empty(nic, packet);
}

// -- READ responses

static bool is_last_response(uint8_t opcode)
{
    return opcode == ROCE_READ_RESPONSE_LAST || opcode == ROCE_READ_RESPONSE_ONLY ||
           opcode == ROCE_ATOMIC_ACKNOWLEDGE;
}

// The requester's own memory has the original value, where it still may.
static void keep_original(nic_t *nic, const nic_qp_t *qp, const nic_wqe_t *wqe, uint64_t original)
{
    const uint64_t address = wqe->local_address;
    if ((address & 7) == 0 &&
        nic__access_ok(qp->pd, wqe->lkey, address, 8, NIC_ACCESS_LOCAL_WRITE)) {
        nic_memory_write64(&nic->host->memory, address, original);
    }
}

static void accept_response(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet)
{
    const nic_wqe_t wqe = *nic__wqe(qp, qp->sq_done);
    const uint32_t left_bytes = wqe.length - qp->una_offset;
    const bool last = left_bytes <= qp->mtu_bytes;
    const bool atomic = nic__is_atomic(wqe.opcode);
    const uint32_t due_bytes = atomic ? 0 : nic__min(left_bytes, qp->mtu_bytes);
    if (packet->payload_bytes != due_bytes || is_last_response(packet->opcode) != last ||
        atomic != (packet->opcode == ROCE_ATOMIC_ACKNOWLEDGE)) {
        nic__fail_request(qp, NIC_WC_BAD_RESP_ERR);
        return;
    }
    const uint64_t original = atomic ? net_packet_aside(packet)->atomic_original : 0;
    nic__write_payload(nic, atomic ? wqe.length : packet->payload_bytes);
    if (SIM_UNLIKELY(atomic)) {
        keep_original(nic, qp, &wqe, original);
    }
    if (nic__keeps(nic, packet)) {
        nic__keep(nic, packet, wqe.local_address + qp->una_offset);
    }
    note_progress(nic, qp);
    qp->una_psn++;
    qp->una_offset += packet->payload_bytes;
    trace_ack(nic, qp, SIM_TIME_NEVER);
    if (last) {
        if (qp->una_psn <= qp->next_psn) {
            qp->reads_outstanding--;
        }
        qp->una_offset = 0;
        qp->sq_done++;
    }
    catch_up(qp);
    if (last) {
        nic__complete_fetch(qp, &wqe, original);
    }
}

void nic__receive_read_response(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const uint64_t psn = qp->una_psn + (uint64_t)nic__psn_distance(packet->psn, qp->una_psn);
    if ((qp->flags & NIC_QP_CLOSED) == 0 && (int64_t)(psn - qp->una_psn) >= 0 &&
        psn < qp->max_psn) {
        // It acknowledges what came before its READ.
        const uint64_t una_psn = qp->una_psn;
        const progress_t progress = advance(nic, qp, psn);
        if (!progress.gone) {
            if (qp->una_psn != una_psn) {
                note_progress(nic, qp);
            }
            if (progress.blocked) {
                implied_nak(qp);
            } else if (nic__is_fetch(nic__wqe(qp, qp->sq_done)->opcode)) {
                accept_response(nic, qp, packet);
            }
            if (still_alive(qp)) {
                settle(qp);
            }
        }
    }
    nic__consume(nic, packet);
}

// -- timers

void nic__retry_fired(sim_node_t *node, sim_timer_t *timer)
{
    nic_qp_t *const qp = SIM_CONTAINER_OF(timer, nic_qp_t, retry_timer);
    if ((qp->flags & NIC_QP_RNR_WAIT) != 0) {
        qp->flags &= (uint16_t)~NIC_QP_RNR_WAIT;
        nic__schedule(qp);
        return;
    }
    if (qp->next_psn == qp->una_psn) {
        return; // nothing is on its way: the next packet arms it
    }
    const sim_time_t due_ps = qp->retry_base_ps + nic__timeout_ps(qp);
    if (node->now_ps < due_ps) {
        sim_timer_arm(node, timer, due_ps);
        return;
    }
    qp->nic->counters.local_ack_timeout_err++;
    nic__trace(qp->nic, qp, NIC_TRACE_TIMEOUT, qp->retries_used, 0);
    qp->flags &= (uint16_t)~NIC_QP_RECOVERING;
    if (retry(qp)) {
        nic_cc_t *const cc = nic__cc(qp);
        if (cc->ops->timeout != NULL) {
            cc->ops->timeout(cc);
            nic__cc_sync(qp);
        }
    }
}
