// SPDX-License-Identifier: Apache-2.0
// nic/verbs/qp_state.c - the states of a queue pair, and what a program does to them.
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
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"
#include "nic/transport/finish.h"
#include "nic/verbs/hand_over.h"
#include "nic/verbs/life.h"

// -- failing

void nic_qp_to_error(nic_qp_t *qp)
{
    if (!nic__failed(qp)) {
        nic__to_error(qp);
        nic__hand_over_outside(qp->nic->host);
    }
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
    qp->rx_flags &= NIC_RX_GRH;
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
    nic__set_state(qp, NIC_QPS_RESET);
}

// Holds all requests that have not begun. One of them may have had the next turn.
static void drain(nic_qp_t *qp)
{
    for (uint32_t i = qp->sq_send; i != qp->sq_posted; i++) {
        nic__wqe(qp, i)->flags |= NIC_WQE_HELD;
    }
    qp->wqe_flags |= NIC_WQE_HELD;
    nic__set_state(qp, NIC_QPS_SQD);
    nic__scheduler_forget(qp);
    nic__schedule(qp);
}

bool nic_qp_drained(const nic_qp_t *qp)
{
    return qp->state == NIC_QPS_SQD && qp->sq_done == qp->sq_send && qp->una_psn == qp->max_psn;
}

// Takes what a program may change while the QP sends. Returns whether its context has changed.
static bool change(nic_qp_t *qp, const nic_qp_attr_t *attr)
{
    if (attr == NULL) {
        return false;
    }
    const bool changed = qp->access != attr->access || qp->min_rnr_timer != attr->min_rnr_timer;
    qp->access = attr->access;
    qp->qkey = attr->qkey;
    qp->min_rnr_timer = (uint8_t)attr->min_rnr_timer;
    return changed;
}

sim_err_t nic_qp_modify(nic_qp_t *qp, nic_qp_state_t state, const nic_qp_attr_t *attr,
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
        nic__set_state(qp, state);
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
    if (from == NIC_QPS_RTS && state == NIC_QPS_RTS) {
        if (change(qp, attr)) {
            NIC_DEVICE(qp->nic, qp_changed, qp);
        }
        return SIM_OK;
    }
    if (from == NIC_QPS_SQD && state == NIC_QPS_RTS) {
        (void)change(qp, attr);
        qp->wqe_flags &= (uint8_t)~NIC_WQE_HELD;
        nic__set_state(qp, state);
        nic__schedule(qp);
        return SIM_OK;
    }
    if ((from == NIC_QPS_RTR || from == NIC_QPS_SQE) && state == NIC_QPS_RTS) {
        if (from == NIC_QPS_RTR && attr != NULL) {
            const sim_err_t error = nic__set_sender(qp, attr, message);
            if (error != SIM_OK) {
                return error;
            }
        }
        if (from == NIC_QPS_SQE) {
            sim_timer_cancel(nic__node(qp->nic), &qp->retry_timer);
            nic__flush_sends(qp);
        }
        (void)change(qp, attr);
        qp->flags &= (uint16_t)~NIC_QP_CLOSED;
        nic__set_state(qp, state);
        return SIM_OK;
    }
    return sim_fail(message, SIM_ERR_STATE, "QP %u: no such transition", qp->number);
}
