// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/items.c - what is under way inside a detailed NIC has come where it goes.
#include "nic/device/rnic/items.h"
#include "nic/device/rnic/post.h"
#include "nic/device/rnic/rnic.h"
#include "nic/device/rnic/send.h"
#include "nic/device/rnic/store_kinds.h"
#include "nic/device/rnic/unit.h"

// Lets a WQE be sent, unless the store has learnt since that its context comes later.
static void ready_step(const nic_item_t *item, nic_qp_t *qp)
{
    const sim_time_t here_ps =
        nic__rnic_context_here_ps(nic__rnic(item->nic), nic__device_number(qp));
    if (SIM_LIKELY(here_ps <= nic__device_now_ps(item->nic))) {
        nic__rnic_make_ready(qp);
    } else {
        nic__item_at(nic__item_new(item->nic, NIC_ITEM_READY, qp), here_ps);
    }
}

static void qp_step(nic_item_t *item, nic_qp_t *qp)
{
    const bool open = !nic__device_closed(qp);
    switch ((nic_item_kind_t)item->kind) {
    case NIC_ITEM_READY:
        if (open && item->lap == nic__rnic_qp(qp)->lap) {
            ready_step(item, qp);
        }
        break;
    case NIC_ITEM_SEGMENT:
        if (open && item->lap == nic__rnic_qp(qp)->lap) {
            nic__rnic_gate(qp);
            nic_device_schedule(qp);
        }
        break;
    case NIC_ITEM_RESPONSE:
        nic_device_respond(qp);
        break;
    case NIC_ITEM_CQE:
        nic_device_complete(qp, item->cq, &item->wc, nic__device_now_ps(item->nic));
        break;
    case NIC_ITEM_WRITE:
        nic_device_wrote(qp, item->address, item->count);
        break;
    case NIC_ITEM_POSTING:
    case NIC_ITEM_DOORBELL:
    case NIC_ITEM_WQE:
    case NIC_ITEM_ANSWER:
    case NIC_ITEM_COMING:
        break;
    }
}

// Prefetches what answers that are sent next will need: the queue pair, then what it answers.
static SIM_ALWAYS_INLINE void expect_data(const nic_t *nic)
{
    nic_step_t *const next = nic__device_next_step(nic, NIC_LANE_DATA);
    if (next == NULL) {
        return;
    }
    const nic_item_t *const first = SIM_CONTAINER_OF(next, nic_item_t, step);
    if (first->kind == NIC_ITEM_RESPONSE && first->qp != NULL) {
        nic__device_prefetch_answer(first->qp);
    }
    if (next->next != NULL) {
        const nic_qp_t *const qp = SIM_CONTAINER_OF(next->next, nic_item_t, step)->qp;
        if (qp != NULL) {
            nic__device_prefetch_answering(qp);
        }
    }
}

// Continues an item whose data have arrived from host memory.
static SIM_ALWAYS_INLINE void data_here(nic_item_t *item)
{
    nic_qp_t *const qp = item->qp;
    if (SIM_LIKELY(item->kind == NIC_ITEM_RESPONSE)) {
        nic__item_free(item);
        if (SIM_LIKELY(qp != NULL)) {
            nic_device_respond(qp);
        }
        return;
    }
    if (qp != NULL) {
        qp_step(item, qp);
    }
    nic__item_free(item);
}

// Like data_here, after WQEs that have arrived in the meantime.
static SIM_NOINLINE void data_when_come(nic_item_t *item)
{
    nic__rnic_begin(item->nic);
    data_here(item);
}

// Ends in tail calls, so that the usual path needs no stack frame.
void nic__rnic_data_step(nic_step_t *step)
{
    nic_item_t *const item = SIM_CONTAINER_OF(step, nic_item_t, step);
    nic_t *const nic = item->nic;
    expect_data(nic);
    if (SIM_UNLIKELY(nic__rnic_has_coming(nic))) {
        data_when_come(item);
        return;
    }
    nic__rnic(nic)->at_ps = nic__device_now_ps(nic);
    data_here(item);
}

static void item_step(nic_item_t *item)
{
    nic__rnic_begin(item->nic);
    if (SIM_UNLIKELY(item->kind == NIC_ITEM_COMING)) { // those that are here were taken just now
        nic__rnic(item->nic)->look_ps = SIM_TIME_NEVER;
        nic__rnic_look_for_coming(nic__rnic(item->nic));
        return;
    }
    if (item->kind == NIC_ITEM_ANSWER) {
        nic_device_answer(item->nic, item->packet); // on its way, whatever became of its queue pair
        nic__item_free(item);
        return;
    }
    nic_qp_t *const qp = item->qp;
    const bool sending = item->kind <= NIC_ITEM_WQE;
    if (qp == NULL || (sending && nic__device_closed(qp))) {
        nic__item_free(item);
    } else if (item->kind == NIC_ITEM_POSTING) {
        nic__rnic_posted(item);
    } else if (item->kind == NIC_ITEM_DOORBELL) {
        nic__rnic_doorbell_arrives(item, qp);
    } else if (item->kind == NIC_ITEM_WQE) {
        nic__rnic_wqes_arrive(item, qp);
    } else {
        qp_step(item, qp);
        nic__item_free(item);
    }
}

void nic__rnic_item_step(nic_step_t *step)
{
    item_step(SIM_CONTAINER_OF(step, nic_item_t, step));
}

void nic__rnic_item_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    item_step(SIM_CONTAINER_OF(timer, nic_item_t, timer));
}
