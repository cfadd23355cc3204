// SPDX-License-Identifier: Apache-2.0
// nic/transport/finish.c - how work requests end: completed, failed or flushed.
//
// A completion that does not fit into its queue fails the queue pair, and a queue pair that fails
// completes all that was posted. So both are here.
// Source: IBA vol. 1, 10.3.1 (states of queue pairs), 11.6.2 (completion statuses).
#include "nic/transport/finish.h"

#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/objects/calls.h"
#include "nic/objects/queues.h"
#include "nic/objects/rail.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"

// -- completing

void nic__add_completion(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc, sim_time_t seen_ps)
{
    if (SIM_UNLIKELY(!nic__cq_add(qp, cq, wc, seen_ps))) {
        nic__to_error(qp);
    }
}

static SIM_ALWAYS_INLINE void write_cqe(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc)
{
    const sim_time_t now_ps = nic__node(qp->nic)->now_ps;
    const nic_t *const nic = qp->nic;
    if (SIM_LIKELY(!nic->detailed) || nic->device->completion == NULL) {
        nic__add_completion(qp, cq, wc, now_ps);
    } else {
        nic->device->completion(qp, cq, wc);
    }
}

void nic__write_cqe(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc)
{
    write_cqe(qp, cq, wc);
}

static nic_wc_opcode_t completed_opcode(uint8_t opcode)
{
    switch ((nic_wr_opcode_t)opcode) {
    case NIC_WR_SEND:
    case NIC_WR_SEND_WITH_IMM:
        return NIC_WC_SEND;
    case NIC_WR_RDMA_WRITE:
    case NIC_WR_RDMA_WRITE_WITH_IMM:
        return NIC_WC_RDMA_WRITE;
    case NIC_WR_ATOMIC_CMP_AND_SWP:
        return NIC_WC_COMP_SWAP;
    case NIC_WR_ATOMIC_FETCH_AND_ADD:
        return NIC_WC_FETCH_ADD;
    case NIC_WR_RDMA_READ:
        break;
    }
    return NIC_WC_RDMA_READ;
}

static SIM_ALWAYS_INLINE void complete(nic_qp_t *qp, const nic_wqe_t *wqe, nic_wc_status_t status,
                                       uint64_t original)
{
    NIC_DEVICE(qp->nic, done, qp);
    if (SIM_UNLIKELY(qp->nic->rail != NULL)) {
        nic__rail_sent(qp, status);
    }
    if (status == NIC_WC_SUCCESS && (wqe->flags & NIC_SEND_SIGNALED) == 0) {
        nic__trace_completion(qp, NULL);
        return;
    }
    const nic_wc_t wc = {
        .wr_id = wqe->wr_id,
        .status = status,
        .opcode = completed_opcode(wqe->opcode),
        .byte_len = nic__is_fetch(wqe->opcode) ? wqe->length : 0,
        .qp_num = qp->number,
        .atomic_original = original,
    };
    write_cqe(qp, qp->send_cq, &wc);
}

void nic__complete_send(nic_qp_t *qp, const nic_wqe_t *wqe, nic_wc_status_t status)
{
    complete(qp, wqe, status, 0);
}

void nic__complete_fetch(nic_qp_t *qp, const nic_wqe_t *wqe, uint64_t original)
{
    complete(qp, wqe, NIC_WC_SUCCESS, original);
}

// -- failing

void nic__silence(nic_qp_t *qp)
{
    sim_node_t *const node = nic__node(qp->nic);
    qp->flags |= NIC_QP_CLOSED;
    qp->flags &= (uint16_t) ~(NIC_QP_READS | NIC_QP_RNR_WAIT | NIC_QP_SQ_STOPPED | NIC_QP_PACING);
    qp->read_count = 0;
    qp->reads_ready = 0;
    qp->rx_flags &= (uint8_t)~NIC_RX_HELD; // what waited behind READ responses goes with them
    nic__scheduler_forget(qp);
    NIC_DEVICE(qp->nic, qp_closed, qp);
    sim_timer_cancel(node, &qp->pace_timer);
    sim_timer_cancel(node, &qp->retry_timer);
    nic__cc_stop(qp);
    nic__transport_close(qp);
}

void nic__set_state(nic_qp_t *qp, nic_qp_state_t state)
{
    const nic_qp_state_t before = qp->state;
    qp->state = (uint8_t)state;
    nic__trace(qp->nic, qp, NIC_TRACE_STATE, state, before);
    NIC_DEVICE(qp->nic, qp_changed, qp);
}

// Delay after which a work request posted in the error state is flushed, so that time passes for a
// program that only posts again.
#define FLUSH_PS SIM_PS_PER_US

void nic__flush_sends(nic_qp_t *qp)
{
    qp->una_psn = qp->next_psn;
    qp->in_flight_bytes = 0;
    while (qp->sq_done != qp->sq_posted && (qp->flags & NIC_QP_DEAD) == 0) {
        const nic_wqe_t wqe = *nic__wqe(qp, qp->sq_done);
        qp->sq_done++;
        qp->sq_failed++;
        nic__complete_send(qp, &wqe, NIC_WC_WR_FLUSH_ERR);
    }
    qp->sq_send = qp->sq_done;
    qp->send_offset = qp->una_offset = 0;
    qp->reads_outstanding = 0;
    qp->max_psn = qp->next_psn;
    NIC_DEVICE(qp->nic, qp_flushed, qp);
}

static void flush_receives(nic_qp_t *qp)
{
    while (qp->rq_done != qp->rq_posted && (qp->flags & NIC_QP_DEAD) == 0) {
        const nic_recv_wqe_t receive = qp->rq[qp->rq_done & (qp->rq_capacity - 1)];
        qp->rq_done++;
        const nic_wc_t wc = {
            .wr_id = receive.wr_id,
            .status = NIC_WC_WR_FLUSH_ERR,
            .opcode = NIC_WC_RECV,
            .qp_num = qp->number,
        };
        nic__write_cqe(qp, qp->recv_cq, &wc);
    }
}

void nic__flush_late(nic_qp_t *qp)
{
    sim_node_t *const node = nic__node(qp->nic);
    if (!sim_timer_armed(&qp->retry_timer)) {
        sim_timer_arm(node, &qp->retry_timer, node->now_ps + FLUSH_PS);
    }
}

void nic__flush(nic_qp_t *qp)
{
    nic__flush_sends(qp);
    if (qp->state == NIC_QPS_ERR) {
        flush_receives(qp);
    }
}

void nic__to_error(nic_qp_t *qp)
{
    if (nic__failed(qp)) {
        return;
    }
    nic__silence(qp);
    qp->transport = NIC_NO_TRANSPORT;
    nic__set_state(qp, NIC_QPS_ERR);
    nic__flush_sends(qp);
    flush_receives(qp);
}

void nic__fail_request(nic_qp_t *qp, nic_wc_status_t status)
{
    SIM_CHECK(qp->sq_done != qp->sq_posted);
    const nic_wqe_t wqe = *nic__wqe(qp, qp->sq_done);
    nic__silence(qp);
    qp->sq_done++;
    qp->sq_failed++;
    if (qp->type == NIC_QPT_RC) {
        nic__complete_send(qp, &wqe, status);
        nic__to_error(qp);
        return;
    }
    // Only the send queue stops; receiving goes on (10.3.1).
    nic__set_state(qp, NIC_QPS_SQE);
    nic__complete_send(qp, &wqe, status);
    nic__flush_sends(qp);
}
