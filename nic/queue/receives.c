// SPDX-License-Identifier: Apache-2.0
// nic/queue/receives.c - the rings of receives: of one queue pair, or shared by several.
//
// A queue pair takes the oldest receive of its shared queue when a message needs one, and keeps it
// until a message completes (IBA vol. 1, 10.2.9, 10.8.3.2). An error flushes only that receive; the
// shared queue keeps the others.
#include "nic/objects/notices.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"

// -- of a queue pair

void nic__free_receives(nic_recv_wqe_t *ring, uint32_t capacity)
{
    for (uint32_t i = 0; ring != NULL && i < capacity; i++) {
        sim_free(ring[i].list);
    }
    sim_free(ring);
}

static void grow_receive_queue(nic_qp_t *qp)
{
    const uint32_t capacity = qp->rq_capacity == 0 ? 2 : qp->rq_capacity * 2;
    nic_recv_wqe_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
    for (uint32_t i = qp->rq_done; i != qp->rq_posted; i++) {
        ring[i & (capacity - 1)] = qp->rq[i & (qp->rq_capacity - 1)];
        qp->rq[i & (qp->rq_capacity - 1)].list = NULL;
    }
    nic__free_receives(qp->rq, qp->rq_capacity);
    qp->rq = ring;
    qp->rq_capacity = capacity;
}

void nic__push_receive(nic_qp_t *qp, const nic_recv_wqe_t *receive)
{
    if (qp->rq_posted - qp->rq_done == qp->rq_capacity) {
        grow_receive_queue(qp);
    }
    nic_recv_wqe_t *const slot = &qp->rq[qp->rq_posted & (qp->rq_capacity - 1)];
    if (SIM_UNLIKELY(slot->list != NULL)) {
        sim_free(slot->list); // of the one before it in the ring
    }
    *slot = *receive;
    qp->rq_posted++;
}

// -- shared

void nic__srqs_free(nic_t *nic)
{
    while (nic->srqs != NULL) {
        nic_srq_t *const srq = nic->srqs;
        nic->srqs = srq->next;
        nic__free_receives(srq->ring, srq->capacity);
        sim_free(srq);
    }
}

uint32_t nic_srq_posted(const nic_srq_t *srq)
{
    return srq->posted - srq->done;
}

uint32_t nic_srq_limit(const nic_srq_t *srq)
{
    return srq->limit;
}

bool nic__take_shared(nic_qp_t *qp)
{
    nic_srq_t *const srq = qp->srq;
    if (srq->done == srq->posted) {
        return false;
    }
    nic_recv_wqe_t *const receive = &srq->ring[srq->done & (srq->capacity - 1)];
    nic__push_receive(qp, receive);
    receive->list = NULL; // it is the queue pair's now
    srq->done++;
    if (SIM_UNLIKELY(nic_srq_posted(srq) < srq->limit)) {
        srq->limit = 0; // before the report, so that it can be set again
        nic__notice(qp->nic->host,
                    &(nic_notice_t){.srq = srq, .limit_fn = srq->limit_fn, .ctx = srq->limit_ctx});
    }
    return true;
}
