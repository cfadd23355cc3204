// SPDX-License-Identifier: Apache-2.0
// nic/verbs/qp_check.c - invariants of queue pairs, completion queues and NICs between events.
//
// Builds with dear checks check them after each event, other builds when a queue pair changes its
// state and at the end of a run. Each line is one property.
#include "nic/objects/qp.h"

#include "nic/compare_internal.h"
#include "nic/objects/calls.h"
#include "nic/objects/numbers.h"
#include "nic/objects/objects.h"
#include "nic/objects/queues.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/loopback.h"
#include "nic/transport/entry.h"
#include "nic/verbs/life.h"
#include "nic/verbs/qp_check.h"

// -- queue pairs

// Indices run freely, so they are compared by their distance from the oldest.
static void check_send_queue(const nic_qp_t *qp)
{
    const uint32_t held = qp->sq_posted - qp->sq_done;
    const uint32_t begun = qp->sq_send - qp->sq_done;
    SIM_CHECK(held <= nic__sq_capacity(qp));
    SIM_CHECK(held <= qp->send_wr_max);
    SIM_CHECK(begun <= held);
    SIM_CHECK((qp->sq_mask & (qp->sq_mask + 1)) == 0);
    SIM_CHECK(begun != held || qp->send_offset == 0);
    SIM_CHECK(held != 0 || qp->una_offset == 0);
    if (begun < held) {
        const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_send);
        SIM_CHECK(qp->send_offset == 0 || qp->send_offset < wqe->length);
    }
    if (held != 0) {
        const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_done);
        // A READ whose region is gone is cut to what has come (nic/transport/revoke.c).
        SIM_CHECK(qp->una_offset == 0 || qp->una_offset < wqe->length ||
                  (wqe->flags & NIC_WQE_REVOKED) != 0);
    }
}

static void check_psns(const nic_qp_t *qp)
{
    SIM_CHECK(qp->una_psn <= qp->next_psn);
    SIM_CHECK(qp->next_psn <= qp->max_psn);
    SIM_CHECK(qp->next_psn - qp->una_psn <= NIC_PSN_WINDOW);
    SIM_CHECK(qp->next_psn != qp->una_psn || qp->in_flight_bytes == 0);
    SIM_CHECK(qp->next_psn != qp->una_psn || qp->reads_outstanding == 0);
    SIM_CHECK(qp->reads_outstanding <= qp->reads_max);
    SIM_CHECK(qp->retries_used <= qp->retry_count);
}

static void check_timers(const nic_qp_t *qp)
{
    const bool closed = (qp->flags & NIC_QP_CLOSED) != 0;
    SIM_CHECK(((qp->flags & NIC_QP_PACING) != 0) == sim_timer_armed(&qp->pace_timer));
    if ((qp->flags & NIC_QP_RNR_WAIT) != 0) {
        SIM_CHECK(sim_timer_armed(&qp->retry_timer));
    }
    // Work requests that will be flushed wait for this timer.
    if (closed && qp->sq_done != qp->sq_posted) {
        SIM_CHECK(sim_timer_armed(&qp->retry_timer));
    }
}

static void check_receiving(const nic_qp_t *qp)
{
    SIM_CHECK(qp->rq_posted - qp->rq_done <= qp->rq_capacity);
    SIM_CHECK(qp->reads_ready <= qp->read_count);
    SIM_CHECK(qp->read_count <= qp->read_capacity);
    SIM_CHECK(qp->read_count == 0 || qp->read_count <= qp->reads_accepted_max);
    SIM_CHECK((qp->flags & NIC_QP_READS) == 0 || qp->read_count != 0);
    SIM_CHECK((qp->rx_flags & NIC_RX_HELD) == 0 || qp->read_count != 0);
}

static void check_state(const nic_qp_t *qp)
{
    const bool sends = qp->state == NIC_QPS_RTS || qp->state == NIC_QPS_SQD;
    SIM_CHECK(((qp->flags & NIC_QP_CLOSED) == 0) == sends);
    SIM_CHECK((qp->flags & NIC_QP_DEAD) == 0);
    SIM_CHECK((qp->flags & (NIC_QP_READY | NIC_QP_PACING)) != (NIC_QP_READY | NIC_QP_PACING));
    SIM_CHECK(qp->state != NIC_QPS_ERR || qp->transport == NIC_NO_TRANSPORT);
    SIM_CHECK(qp->window_bytes != 0 || qp->state < NIC_QPS_RTR || qp->state == NIC_QPS_ERR);
    if ((qp->flags & NIC_QP_READY) != 0) {
        SIM_CHECK(nic__can_send(qp));
        if (qp->nic->ring) {
            SIM_CHECK(qp->ready_next->ready_previous == qp);
            SIM_CHECK(qp->ready_previous->ready_next == qp);
        }
        SIM_CHECK(qp->plane == NIC_PLANE_LOOPBACK ||
                  (qp->nic->ready_classes & 1u << qp->priority) != 0);
    }
}

void nic__qp_check(const nic_qp_t *qp)
{
    check_state(qp);
    check_send_queue(qp);
    check_psns(qp);
    check_timers(qp);
    check_receiving(qp);
    NIC_DEVICE(qp->nic, check_qp, qp);
    if (qp->ops->check != NULL && qp->transport_open) {
        qp->ops->check(qp);
    }
}

// -- completion queues

void nic__cq_check(const nic_cq_t *cq)
{
    SIM_CHECK(cq->count <= cq->capacity);
    SIM_CHECK(cq->count <= cq->ring_capacity);
    SIM_CHECK(cq->room == (cq->overflowed ? 0 : nic__min(cq->capacity, cq->ring_capacity)));
    SIM_CHECK((cq->ring_capacity & (cq->ring_capacity - 1)) == 0);
    SIM_CHECK(cq->first < cq->ring_capacity || cq->first == 0);
    SIM_CHECK(!cq->noted);
    SIM_CHECK(cq->core == NULL || cq->ring_capacity == 0 || cq->seen_ps != NULL);
}

// -- NICs

static void check_qp(const nic_qp_t *qp, void *ctx)
{
    (void)ctx;
    nic__qp_check(qp);
}

static void check_classes(const nic_t *nic)
{
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        SIM_CHECK((int32_t)(nic->queue_pushed[p] - nic->queue_popped[p]) >= 0);
        const bool listed = (nic->ready_classes & 1u << p) != 0;
        if (nic->loop == NULL) {
            SIM_CHECK(listed == (nic->ring ? nic->ready[p] != NULL : nic->joined[p] != 0));
        }
    }
}

void nic__check(const nic_t *nic)
{
    SIM_CHECK((nic->kicked & NIC_KICKED) == 0);
    check_classes(nic);
    nic_for_each_qp(nic, check_qp, NULL);
    for (const nic_cq_t *cq = nic->cqs; cq != NULL; cq = cq->next) {
        nic__cq_check(cq);
    }
}

// Number of queue pairs checked after an event, besides those that packets came for. The others
// follow after later events.
#define QPS_AT_A_TIME 4u

void nic__check_after_event(nic_t *nic)
{
    check_classes(nic);
    for (uint32_t i = 0; i < SIM_COUNT_OF(nic->latest); i++) {
        if (nic->latest[i] != NULL) {
            nic__qp_check(nic->latest[i]);
        }
    }
    const uint32_t numbers = nic->qp_page_count << NIC_QP_PAGE_BITS;
    for (uint32_t i = 0; i < QPS_AT_A_TIME && numbers != 0; i++) {
        nic->checked_index = (nic->checked_index + 1) % numbers;
        const nic_qp_t *const qp = nic__find_qp(nic, ROCE_QPN_GSI + nic->checked_index);
        if (qp != NULL) {
            nic__qp_check(qp);
        }
    }
    if (nic->cqs != NULL) {
        nic__cq_check(nic->cqs);
    }
}
