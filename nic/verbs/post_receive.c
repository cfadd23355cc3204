// SPDX-License-Identifier: Apache-2.0
// nic/verbs/post_receive.c - posting receives: to a queue pair, or to a queue that several share.
//
// Source: IBA vol. 1, 10.2.9 (shared receive queues), 11.4.1 (post receive request).
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"
#include "nic/transport/finish.h"

// -- of a queue pair

static nic_recv_wqe_t wqe_of(const nic_recv_wr_t *wr, uint64_t length_bytes)
{
    const nic_sge_t *const sge = SIM_LIKELY(wr->num_sge != 1) ? &wr->sge : wr->sg_list;
    const bool listed = SIM_UNLIKELY(wr->num_sge > 1);
    return (nic_recv_wqe_t){
        .wr_id = wr->wr_id,
        .address = sge->addr,
        .length = (uint32_t)length_bytes,
        .lkey = sge->lkey,
        .list = listed ? nic__copy_list(wr->sg_list, wr->num_sge) : NULL,
        .list_count = wr->num_sge,
    };
}

static sim_err_t check_length(const nic_recv_wr_t *wr, uint64_t *length_bytes)
{
    if (!nic__list_length(&wr->sge, wr->sg_list, wr->num_sge, length_bytes)) {
        return SIM_ERR_INVALID;
    }
    return *length_bytes > NIC_MESSAGE_BYTES_MAX ? SIM_ERR_RANGE : SIM_OK;
}

static sim_err_t append_receive(nic_qp_t *qp, const nic_recv_wr_t *wr)
{
    if ((qp->flags & NIC_QP_DEAD) != 0) {
        return SIM_ERR_STATE;
    }
    if (qp->srq != NULL) {
        return SIM_ERR_INVALID;
    }
    if (qp->rq_posted - qp->rq_done >= qp->recv_wr_max) {
        return SIM_ERR_FULL;
    }
    uint64_t length_bytes = 0;
    const sim_err_t error = check_length(wr, &length_bytes);
    if (error != SIM_OK) {
        return error;
    }
    const nic_recv_wqe_t receive = wqe_of(wr, length_bytes);
    nic__push_receive(qp, &receive);
    if (SIM_UNLIKELY(qp->state == NIC_QPS_ERR)) {
        nic__flush_late(qp);
    }
    return SIM_OK;
}

sim_err_t nic_post_recv(nic_qp_t *qp, const nic_recv_wr_t *wr)
{
    return nic_post_recv_list(qp, wr, 1, NULL);
}

sim_err_t nic_post_recv_list(nic_qp_t *qp, const nic_recv_wr_t *wr, uint32_t count,
                             uint32_t *posted)
{
    sim_err_t error = SIM_OK;
    uint32_t done = 0;
    while (done < count && error == SIM_OK) {
        error = append_receive(qp, &wr[done]);
        done += error == SIM_OK;
    }
    if (posted != NULL) {
        *posted = done;
    }
    if (done != 0) {
        NIC_DEVICE(qp->nic, post_receive, qp->nic, done);
    }
    return error;
}

// -- shared

#define FIRST_SHARED 16u

nic_srq_t *nic_srq_create(nic_pd_t *pd, uint32_t max_wr)
{
    SIM_CHECK(max_wr >= 1);
    nic_srq_t *const srq = sim_alloc(sizeof(*srq));
    srq->pd = pd;
    srq->wr_max = max_wr;
    srq->next = pd->nic->srqs;
    srq->number = srq->next == NULL ? 1 : srq->next->number + 1;
    pd->nic->srqs = srq;
    return srq;
}

void nic_srq_set_limit(nic_srq_t *srq, uint32_t limit, nic_srq_limit_fn fn, void *ctx)
{
    SIM_CHECK(limit <= srq->wr_max && (limit == 0 || fn != NULL));
    srq->limit = limit;
    srq->limit_fn = fn;
    srq->limit_ctx = ctx;
}

static void grow_shared(nic_srq_t *srq)
{
    const uint32_t capacity = srq->capacity == 0 ? FIRST_SHARED : srq->capacity * 2;
    nic_recv_wqe_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
    for (uint32_t i = srq->done; i != srq->posted; i++) {
        ring[i & (capacity - 1)] = srq->ring[i & (srq->capacity - 1)];
    }
    sim_free(srq->ring);
    srq->ring = ring;
    srq->capacity = capacity;
}

sim_err_t nic_post_srq_recv(nic_srq_t *srq, const nic_recv_wr_t *wr, uint32_t count,
                            uint32_t *posted)
{
    sim_err_t error = SIM_OK;
    uint32_t done = 0;
    while (done < count && error == SIM_OK) {
        if (nic_srq_posted(srq) >= srq->wr_max) {
            error = SIM_ERR_FULL;
            break;
        }
        uint64_t length_bytes = 0;
        error = check_length(&wr[done], &length_bytes);
        if (error == SIM_OK) {
            if (nic_srq_posted(srq) == srq->capacity) {
                grow_shared(srq);
            }
            srq->ring[srq->posted & (srq->capacity - 1)] = wqe_of(&wr[done], length_bytes);
            srq->posted++;
            done++;
        }
    }
    if (posted != NULL) {
        *posted = done;
    }
    if (done != 0) {
        NIC_DEVICE(srq->pd->nic, post_receive, srq->pd->nic, done);
    }
    return error;
}
