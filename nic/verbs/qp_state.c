// SPDX-License-Identifier: Apache-2.0
// nic/verbs/qp_state.c - the states of a queue pair: transitions, failing, flushing.
//
// Source: IBA vol. 1, 10.3.1 (states of queue pairs).
#include <string.h>

#include "nic/objects/qp.h"

#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/queues.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/turn.h"
#include "nic/transport/entry.h"
#include "nic/verbs/life.h"

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

static void set_state(nic_qp_t *qp, nic_qp_state_t state)
{
    const nic_qp_state_t before = qp->state;
    qp->state = (uint8_t)state;
    nic__trace(qp->nic, qp, NIC_TRACE_STATE, state, before);
    NIC_DEVICE(qp->nic, qp_changed, qp);
}

// -- failing

// Delay after which a work request posted in the error state is flushed, so that time passes for a
// program that only posts again.
#define FLUSH_PS SIM_PS_PER_US

static void flush_send_queue(nic_qp_t *qp)
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

static void flush_receive_queue(nic_qp_t *qp)
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
    flush_send_queue(qp);
    if (qp->state == NIC_QPS_ERR) {
        flush_receive_queue(qp);
    }
}

void nic_qp_to_error(nic_qp_t *qp)
{
    if (qp->state == NIC_QPS_ERR || (qp->flags & NIC_QP_DEAD) != 0) {
        return;
    }
    nic__silence(qp);
    qp->transport = NIC_NO_TRANSPORT;
    set_state(qp, NIC_QPS_ERR);
    flush_send_queue(qp);
    flush_receive_queue(qp);
    nic__hand_over_outside(qp->nic->host);
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
        nic_qp_to_error(qp);
        return;
    }
    // Only the send queue stops; receiving goes on (10.3.1).
    set_state(qp, NIC_QPS_SQE);
    nic__complete_send(qp, &wqe, status);
    flush_send_queue(qp);
}

// -- transitions

// Returns the QP to its state after creation, but keeps its number and its memory. Packets in
// flight to it will be dropped, since nothing matches them any more.
static void reset(nic_qp_t *qp)
{
    nic_t *const nic = qp->nic;
    SIM_CHECK((qp->flags & NIC_QP_DEAD) == 0);
    nic__silence(qp);
    const uint32_t unfinished = qp->sq_posted - qp->sq_done;
    qp->transport = NIC_NO_TRANSPORT;
    qp->flags = NIC_QP_CLOSED | (qp->flags & NIC_QP_UNRELIABLE);
    qp->sq_failed += unfinished;
    qp->sq_done = qp->sq_send = qp->sq_posted;
    qp->rq_done = qp->rq_posted;
    qp->send_offset = qp->una_offset = 0;
    qp->in_flight_bytes = 0;
    qp->reads_outstanding = 0;
    qp->retries_used = qp->rnr_retries_used = 0;
    qp->rx_kind = NIC_RX_NONE;
    qp->rx_flags = 0;
    qp->rx_bytes = qp->rx_left_bytes = qp->msn = 0;
    qp->queued_ack = NULL;
    qp->cnp_next_ps = qp->next_send_ps = 0;
    qp->pace_remainder = 0;
    nic__scheduler_reset(qp);
    NIC_DEVICE(nic, qp_reset, qp, unfinished);
    sim_free(qp->atomics);
    qp->atomics = NULL;
    qp->atomics_next = 0;
    memset(nic__cc(qp), 0, nic->cc_ops->state_bytes);
    nic__cc(qp)->ops = nic->cc_ops;
    qp->wqe_flags &= (uint8_t)~NIC_WQE_HELD;
    set_state(qp, NIC_QPS_RESET);
}

// Holds all requests that have not begun. One of them may have had the next turn.
static void drain(nic_qp_t *qp)
{
    for (uint32_t i = qp->sq_send; i != qp->sq_posted; i++) {
        nic__wqe(qp, i)->flags |= NIC_WQE_HELD;
    }
    qp->wqe_flags |= NIC_WQE_HELD;
    set_state(qp, NIC_QPS_SQD);
    nic__scheduler_forget(qp);
    nic__schedule(qp);
}

bool nic_qp_drained(const nic_qp_t *qp)
{
    return qp->state == NIC_QPS_SQD && qp->sq_done == qp->sq_send && qp->una_psn == qp->max_psn;
}

sim_err_t nic_qp_modify(nic_qp_t *qp,
                        nic_qp_state_t state,
                        const nic_qp_attr_t *attr,
                        sim_message_t *message)
{
    const nic_qp_state_t from = nic_qp_state(qp);
    if (state == NIC_QPS_ERR && from != NIC_QPS_RESET) {
        nic_qp_to_error(qp);
        return SIM_OK;
    }
    if (state == NIC_QPS_RESET) {
        reset(qp);
        return SIM_OK;
    }
    if (from == NIC_QPS_RESET && state == NIC_QPS_INIT) {
        set_state(qp, state);
        return SIM_OK;
    }
    if (from == NIC_QPS_INIT && state == NIC_QPS_RTR && attr != NULL) {
        const sim_err_t error = nic__open_to_receive(qp, attr, message);
        if (error == SIM_OK) {
            nic__trace(qp->nic, qp, NIC_TRACE_STATE, state, from);
            NIC_DEVICE(qp->nic, qp_changed, qp);
        }
        return error;
    }
    if (from == NIC_QPS_RTS && state == NIC_QPS_SQD) {
        drain(qp);
        return SIM_OK;
    }
    if (from == NIC_QPS_SQD && state == NIC_QPS_RTS) {
        qp->wqe_flags &= (uint8_t)~NIC_WQE_HELD;
        set_state(qp, state);
        nic__schedule(qp);
        return SIM_OK;
    }
    if ((from == NIC_QPS_RTR || from == NIC_QPS_SQE) && state == NIC_QPS_RTS) {
        if (from == NIC_QPS_SQE) {
            sim_timer_cancel(nic__node(qp->nic), &qp->retry_timer);
            flush_send_queue(qp);
        }
        qp->flags &= (uint16_t)~NIC_QP_CLOSED;
        set_state(qp, state);
        return SIM_OK;
    }
    return sim_fail(message, SIM_ERR_STATE, "QP %u: no such transition", qp->number);
}
