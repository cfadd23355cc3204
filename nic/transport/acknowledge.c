// SPDX-License-Identifier: Apache-2.0
// nic/transport/acknowledge.c - completing work requests by acknowledgements and READ responses.
//
// Acknowledgement is cumulative; a READ is acknowledged by its responses only, packet by packet.
// Transports decide what a loss causes.
// Source: IBA vol. 1, 9.7.5 (ACK protocol), 9.9.2 (requester's errors).
#include "nic/objects/notices.h"
#include "nic/transport/requester_internal.h"

#include "nic/cc/control.h"
#include "nic/compare_internal.h"
#include "nic/host/contents.h"
#include "nic/host/packet_contents.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"
#include "nic/transport/finish.h"

static SIM_NOINLINE void rest_when_told(nic_qp_t *qp)
{
    nic__notice(qp->nic->host, &(nic_notice_t){.qp = qp, .rests = true});
}

void nic__rest(nic_qp_t *qp)
{
    if (qp->sq_done != qp->sq_posted) {
        return;
    }
    if (SIM_LIKELY(qp->nic->host->notice_count == 0)) {
        nic__rest_now(qp);
    } else {
        rest_when_told(qp);
    }
}

void nic__rest_now(nic_qp_t *qp)
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

static inline void acknowledge_bytes(nic_qp_t *qp, uint64_t bytes)
{
    qp->in_flight_bytes -= bytes <= qp->in_flight_bytes ? bytes : qp->in_flight_bytes;
}

// Acknowledges a part of the oldest WQE.
static inline uint32_t advance_within(nic_qp_t *qp, uint64_t end_psn)
{
    const uint32_t bytes = (uint32_t)(end_psn - qp->una_psn) * qp->mtu_bytes;
    qp->una_psn = end_psn;
    qp->una_offset += bytes;
    acknowledge_bytes(qp, bytes);
    return bytes;
}

// Sets una_psn before each completion, since the program's callback may read it.
static SIM_NOINLINE nic_progress_t advance_over(nic_t *nic, nic_qp_t *qp, uint64_t end_psn)
{
    nic_progress_t progress = {0};
    while (qp->una_psn < end_psn) {
        const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_done);
        if (SIM_UNLIKELY(nic__is_fetch(wqe->opcode))) {
            progress.blocked = true;
            break;
        }
        const uint64_t wqe_end_psn = nic__wqe_end(wqe, qp->una_psn);
        if (end_psn < wqe_end_psn) {
            progress.bytes += advance_within(qp, end_psn);
            break;
        }
        const nic_wqe_t done = *wqe;
        const uint32_t bytes = done.length - qp->una_offset;
        qp->una_psn = wqe_end_psn;
        qp->una_offset = 0;
        qp->sq_done++;
        progress.bytes += bytes;
        acknowledge_bytes(qp, bytes);
        nic__catch_up(qp);
        nic__note_progress(nic, qp);
        nic__complete_send(qp, &done, NIC_WC_SUCCESS);
        if (SIM_UNLIKELY(!nic__still_alive(qp))) {
            progress.gone = true;
            return progress;
        }
    }
    SIM_ASSERT(qp->una_psn <= qp->max_psn);
    nic__catch_up(qp);
    return progress;
}

// Acknowledges all SENDs and WRITEs before end_psn, and completes the work requests that this
// finishes. The usual case ends in a tail call and needs no stack frame.
nic_progress_t nic__advance(nic_t *nic, nic_qp_t *qp, uint64_t end_psn)
{
    if (SIM_LIKELY(qp->una_psn < end_psn && end_psn <= qp->next_psn)) {
        const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_done);
        if (SIM_LIKELY(!nic__is_fetch(wqe->opcode)) && end_psn < nic__wqe_end(wqe, qp->una_psn)) {
            return (nic_progress_t){.bytes = advance_within(qp, end_psn)};
        }
    }
    return advance_over(nic, qp, end_psn);
}

void nic__settle(nic_qp_t *qp)
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

// -- READ responses

static inline bool is_last_response(uint8_t opcode)
{
    return opcode == ROCE_READ_RESPONSE_LAST || opcode == ROCE_READ_RESPONSE_ONLY ||
           opcode == ROCE_ATOMIC_ACKNOWLEDGE;
}

// Writes the original value into the requester's memory, if it still has the right to.
static void keep_original(nic_t *nic, const nic_qp_t *qp, const nic_wqe_t *wqe, uint64_t original)
{
    const uint64_t address = wqe->local_address;
    if ((address & 7) == 0 &&
        nic__access_ok(qp->pd, wqe->lkey, address, 8, NIC_ACCESS_LOCAL_WRITE)) {
        nic_memory_write64(&nic->host->memory, address, original);
    }
}

// Returns the payload of the response at this offset of its work request.
static uint32_t due_bytes(const nic_qp_t *qp, const nic_wqe_t *wqe, uint32_t offset)
{
    return nic__is_atomic(wqe->opcode) ? 0 : nic__min(wqe->length - offset, qp->mtu_bytes);
}

bool nic__response_fits(const nic_qp_t *qp, const nic_wqe_t *wqe, uint32_t offset,
                        const net_packet_t *packet)
{
    return packet->payload_bytes == due_bytes(qp, wqe, offset) &&
           nic__is_atomic(wqe->opcode) == (packet->opcode == ROCE_ATOMIC_ACKNOWLEDGE);
}

// Acknowledges the oldest PSN, whose response of `bytes` bytes lies in memory. last: it is the last
// response of its work request.
static SIM_ALWAYS_INLINE void finish_response(nic_t *nic, nic_qp_t *qp, const nic_wqe_t *wqe,
                                              uint32_t bytes, bool last, uint64_t original)
{
    if (SIM_UNLIKELY(nic__is_atomic(wqe->opcode))) {
        keep_original(nic, qp, wqe, original);
    }
    nic__note_progress(nic, qp);
    qp->una_psn++;
    qp->una_offset += bytes;
    nic__trace_ack(nic, qp, SIM_TIME_NEVER);
    if (last) {
        if (qp->una_psn <= qp->next_psn) {
            qp->reads_outstanding--;
        }
        qp->una_offset = 0;
        qp->sq_done++;
    }
    nic__catch_up(qp);
    if (last) {
        nic__complete_fetch(qp, wqe, original);
    }
}

static inline bool is_last(const nic_qp_t *qp, const nic_wqe_t *wqe)
{
    return wqe->length - qp->una_offset <= qp->mtu_bytes;
}

void nic__accept_response(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet, bool placed)
{
    const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_done);
    const bool last = is_last(qp, wqe);
    const bool atomic = nic__is_atomic(wqe->opcode);
    const uint32_t bytes = packet->payload_bytes;
    if (!nic__response_fits(qp, wqe, qp->una_offset, packet) ||
        is_last_response(packet->opcode) != last) {
        nic__fail_request(qp, (wqe->flags & NIC_WQE_REVOKED) != 0 ? NIC_WC_LOC_PROT_ERR
                                                                  : NIC_WC_BAD_RESP_ERR);
        return;
    }
    if (!placed) {
        nic__write_payload(nic, atomic ? wqe->length : bytes);
        if (nic__keeps(nic, packet)) {
            const nic_place_t place = nic__wqe_place(wqe);
            nic__keep(nic, packet, &place, qp->una_offset);
        }
    }
    const uint64_t original = atomic ? net_packet_aside(packet)->atomic_original : 0;
    finish_response(nic, qp, wqe, bytes, last, original);
}

void nic__accept_placed(nic_t *nic, nic_qp_t *qp, uint64_t original)
{
    const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_done);
    const uint32_t bytes = due_bytes(qp, wqe, qp->una_offset);
    if (nic__is_atomic(wqe->opcode)) {
        nic__write_payload(nic, wqe->length);
    }
    finish_response(nic, qp, wqe, bytes, is_last(qp, wqe), original);
}

// -- refusals

// RNR timer values of table 45 of the standard, in units of 10 us.
static const uint32_t rnr_units[32] = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static sim_time_t rnr_ps(uint32_t code)
{
    return rnr_units[code & 31] * (10 * SIM_PS_PER_US);
}

bool nic__rnr_wait(nic_qp_t *qp, uint32_t code)
{
    qp->nic->counters.rnr_nak_retry_err++;
    if ((qp->flags & NIC_QP_RNR_WAIT) != 0) {
        return false;
    }
    if (qp->rnr_retry != NIC_FOREVER) {
        if (qp->rnr_retries_used >= qp->rnr_retry) {
            nic__fail_request(qp, NIC_WC_RNR_RETRY_EXC_ERR);
            return false;
        }
        qp->rnr_retries_used++;
    }
    sim_node_t *const node = nic__node(qp->nic);
    qp->flags |= NIC_QP_RNR_WAIT;
    sim_timer_arm(node, &qp->retry_timer, node->now_ps + rnr_ps(code));
    return true;
}

void nic__fatal_nak(nic_qp_t *qp, uint32_t code)
{
    switch (code) {
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

void nic__retry_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    nic_qp_t *const qp = SIM_CONTAINER_OF(timer, nic_qp_t, retry_timer);
    qp->nic->rail_events++;
    if ((qp->flags & NIC_QP_RNR_WAIT) != 0) {
        qp->flags &= (uint16_t)~NIC_QP_RNR_WAIT;
        nic__schedule(qp);
        return;
    }
    if ((qp->flags & NIC_QP_CLOSED) != 0) {
        nic__flush(qp); // which alone arms it then
    } else if (qp->ops->timeout != NULL) {
        qp->ops->timeout(qp);
    }
}
