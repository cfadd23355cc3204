// SPDX-License-Identifier: Apache-2.0
// nic/queue/completions.c - completion queues: a ring of completions that grows up to its capacity.
#include "kernel/pool.h"
#include "nic/compare_internal.h"
#include "nic/host/cores.h"
#include "nic/host/listen.h"
#include "nic/objects/calls.h"
#include "nic/objects/notices.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/wqe.h"

#define FIRST_CAPACITY 1u

static const char *const status_texts[] = {
    [NIC_WC_SUCCESS] = "success",
    [NIC_WC_LOC_LEN_ERR] = "local length error",
    [NIC_WC_LOC_QP_OP_ERR] = "local QP operation error",
    [NIC_WC_LOC_PROT_ERR] = "local protection error",
    [NIC_WC_WR_FLUSH_ERR] = "work request flushed",
    [NIC_WC_BAD_RESP_ERR] = "bad response",
    [NIC_WC_LOC_ACCESS_ERR] = "local access error",
    [NIC_WC_REM_INV_REQ_ERR] = "remote invalid request",
    [NIC_WC_REM_ACCESS_ERR] = "remote access error",
    [NIC_WC_REM_OP_ERR] = "remote operation error",
    [NIC_WC_RETRY_EXC_ERR] = "transport retry limit exceeded",
    [NIC_WC_RNR_RETRY_EXC_ERR] = "receiver-not-ready retry limit exceeded",
    [NIC_WC_GENERAL_ERR] = "general error",
};

const char *nic_wc_status_text(nic_wc_status_t status)
{
    SIM_CHECK(status < SIM_COUNT_OF(status_texts));
    return status_texts[status];
}

nic_cq_t *nic_cq_create(nic_t *nic, uint32_t capacity, nic_cq_fn fn, void *ctx)
{
    SIM_CHECK(capacity >= 1 && capacity < 1u << 30);
    nic_cq_t *const cq = sim_lines_take(nic__node(nic)->worker, sizeof(*cq));
    cq->nic = nic;
    cq->capacity = capacity;
    cq->fn = fn;
    cq->ctx = ctx;
    cq->next = nic->cqs;
    cq->number = nic->cqs == NULL ? 1 : nic->cqs->number + 1;
    nic->cqs = cq;
    NIC_DEVICE(nic, cq_created, cq);
    return cq;
}

// A core gets only those that it can see at this point of its step.
uint32_t nic_cq_take(nic_cq_t *cq, uint32_t count, nic_wc_t *wc)
{
    nic_t *const nic = cq->nic;
    const bool seen_by_core = cq->core != NULL;
    const sim_time_t now_ps = seen_by_core ? nic__posting_ps(nic->host) : SIM_TIME_NEVER;
    const uint32_t there = nic__min(cq->count, count);
    uint32_t slot = cq->first;
    uint32_t taken = 0;
    while (taken < there && (!seen_by_core || cq->seen_ps[slot] <= now_ps)) {
        wc[taken++] = cq->ring[slot];
        slot = (slot + 1) & (cq->ring_capacity - 1);
    }
    cq->first = slot;
    cq->count -= taken;
    NIC_DEVICE(nic, taken, nic, taken);
    return taken;
}

void nic_cq_spend_poll(const nic_cq_t *cq, uint32_t count)
{
    nic_core_t *const core = cq->core != NULL ? cq->nic->host->core : NULL;
    if (core != NULL) {
        NIC_DEVICE(cq->nic, polled, cq->nic, core, count);
    }
}

uint32_t nic_poll_cq(nic_cq_t *cq, uint32_t count, nic_wc_t *wc)
{
    const uint32_t taken = nic_cq_take(cq, count, wc);
    nic_cq_spend_poll(cq, taken);
    return taken;
}

uint32_t nic_cq_waiting(const nic_cq_t *cq)
{
    if (cq->core == NULL) {
        return cq->count;
    }
    const sim_time_t now_ps = nic__posting_ps(cq->nic->host);
    uint32_t waiting = 0;
    while (waiting < cq->count &&
           cq->seen_ps[(cq->first + waiting) & (cq->ring_capacity - 1)] <= now_ps) {
        waiting++;
    }
    return waiting;
}

bool nic_cq_is_empty(const nic_cq_t *cq)
{
    return cq->count == 0;
}

bool nic_cq_resize(nic_cq_t *cq, uint32_t capacity)
{
    SIM_CHECK(capacity >= 1 && capacity < 1u << 30);
    if (cq->count > capacity) {
        return false;
    }
    cq->capacity = capacity;
    cq->room = cq->overflowed ? 0 : nic__min(cq->ring_capacity, capacity);
    NIC_DEVICE(cq->nic, cq_changed, cq);
    return true;
}

nic_t *nic_cq_nic(const nic_cq_t *cq)
{
    return cq->nic;
}

bool nic_cq_overflowed(const nic_cq_t *cq)
{
    return cq->overflowed;
}

static void grow(nic_cq_t *cq)
{
    const uint32_t capacity = cq->ring_capacity == 0 ? FIRST_CAPACITY : cq->ring_capacity * 2;
    nic_wc_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
    for (uint32_t i = 0; i < cq->count; i++) {
        ring[i] = cq->ring[(cq->first + i) & (cq->ring_capacity - 1)];
    }
    if (cq->core != NULL) {
        sim_time_t *const seen_ps = sim_alloc_array(capacity, sizeof(*seen_ps));
        for (uint32_t i = 0; i < cq->count; i++) {
            seen_ps[i] = cq->seen_ps[(cq->first + i) & (cq->ring_capacity - 1)];
        }
        sim_free(cq->seen_ps);
        cq->seen_ps = seen_ps;
    }
    sim_free(cq->ring);
    cq->ring = ring;
    cq->ring_capacity = capacity;
    cq->room = nic__min(capacity, cq->capacity);
    cq->first = 0;
}

// Makes room in a ring that is full. Returns false if the queue overflows, or did before.
static bool make_room(nic_cq_t *cq)
{
    if (cq->overflowed || cq->count == cq->capacity) {
        if (!cq->overflowed) {
            cq->overflowed = true;
            NIC_DEVICE(cq->nic, cq_changed, cq);
        }
        cq->room = 0;
        return false;
    }
    grow(cq);
    return true;
}

bool nic__cq_add(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc, sim_time_t seen_ps)
{
    if (SIM_UNLIKELY(cq->count >= cq->room) && !make_room(cq)) {
        return false;
    }
    if (cq->count == 0) {
        cq->first = 0; // the same lines over and over
    }
    const uint32_t slot = (cq->first + cq->count) & (cq->ring_capacity - 1);
    cq->ring[slot] = *wc;
    sim_happened(nic__node(qp->nic), 'c', seen_ps, (uint64_t)wc->qp_num << 32 | wc->status);
    nic__trace_completion(qp, wc);
    NIC_DEVICE(qp->nic, completed, qp->nic);
    if (SIM_UNLIKELY(cq->core != NULL)) {
        cq->seen_ps[slot] = seen_ps;
        cq->count++;
        if (!cq->unread) {
            nic__core_notice(cq->core, seen_ps);
        }
    } else if (cq->count++ == 0 && cq->fn != NULL && !cq->noted) {
        cq->noted = true;
        nic__notice(cq->nic->host, &(nic_notice_t){.cq = cq});
    }
    return true;
}
