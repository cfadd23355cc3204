// SPDX-License-Identifier: Apache-2.0
// nic/device_view_internal.h - a device's view of its NIC and queue pairs, inline.
//
// A device reads its NIC through this header and nic/device.h only. The structs behind it may
// change as long as these functions say the same.
#ifndef NIC_DEVICE_VIEW_INTERNAL_H
#define NIC_DEVICE_VIEW_INTERNAL_H

#include "nic/compare_internal.h"
#include "nic/device.h"
#include "nic/host/cores.h"
#include "nic/host/steps.h"
#include "nic/objects/numbers.h"
#include "nic/objects/queues.h"
#include "nic/verbs/life.h"

// -- the NIC

static inline void *nic__device_state(const nic_t *nic)
{
    return nic->device_state;
}

static inline sim_node_t *nic__device_node(const nic_t *nic)
{
    return nic__node(nic);
}

static inline sim_time_t nic__device_now_ps(const nic_t *nic)
{
    return nic__node(nic)->now_ps;
}

static inline sim_time_t nic__device_link_free_ps(const nic_t *nic)
{
    return nic->port->busy_until_ps;
}

// Returns the queue pair of that number, or NULL.
static inline nic_qp_t *nic__device_find_qp(const nic_t *nic, uint32_t number)
{
    return nic__find_qp(nic, number);
}

// Returns the core whose step is running, or NULL.
static inline nic_core_t *nic__device_core(const nic_t *nic)
{
    return nic->host->core;
}

// Returns the time of the core whose step is running, or that of the event.
static inline sim_time_t nic__device_posting_ps(const nic_t *nic)
{
    return nic__posting_ps(nic->host);
}

// -- lanes of steps (nic/host/steps.h)

// Books a step. Returns false if a timer has to do it.
static inline bool nic__device_step_at(const nic_t *nic, nic_lane_index_t lane, nic_step_t *step,
                                       sim_time_t time_ps)
{
    return nic__step_at(nic->host, lane, step, time_ps);
}

// Cancels a step that is booked in a lane.
static inline void nic__device_step_remove(const nic_t *nic, nic_lane_index_t lane,
                                           nic_step_t *step)
{
    nic__step_remove(nic->host, lane, step);
}

// Returns the first step of a lane, or NULL. The host has lanes.
static inline nic_step_t *nic__device_next_step(const nic_t *nic, nic_lane_index_t lane)
{
    return nic->host->steps->lanes[lane].first;
}

// Makes fn serve the steps of a lane, if the host can have lanes.
static inline void nic__device_serve_lane(const nic_t *nic, nic_lane_index_t lane, nic_step_fn fn)
{
    nic__steps_create(nic->host);
    if (nic->host->steps != NULL) {
        nic->host->steps->lanes[lane].fn = fn;
    }
}

// -- the queue pair

static inline nic_t *nic__device_nic(const nic_qp_t *qp)
{
    return qp->nic;
}

static inline uint32_t nic__device_number(const nic_qp_t *qp)
{
    return qp->number;
}

static inline nic_qp_type_t nic__device_type(const nic_qp_t *qp)
{
    return (nic_qp_type_t)qp->type;
}

static inline uint32_t nic__device_mtu_bytes(const nic_qp_t *qp)
{
    return qp->mtu_bytes;
}

// Returns true if the send queue does not work: the state is not RTS.
static inline bool nic__device_closed(const nic_qp_t *qp)
{
    return (qp->flags & NIC_QP_CLOSED) != 0;
}

// -- its send queue: indices run freely, and differences of them are signed

// Returns the end of what is posted.
static inline uint32_t nic__device_posted(const nic_qp_t *qp)
{
    return qp->sq_posted;
}

// Returns the work request that the next packet is of.
static inline uint32_t nic__device_sending(const nic_qp_t *qp)
{
    return qp->sq_send;
}

// Returns the bytes of it that are sent.
static inline uint32_t nic__device_sent_bytes(const nic_qp_t *qp)
{
    return qp->send_offset;
}

// Returns the oldest work request that is not finished.
static inline uint32_t nic__device_oldest(const nic_qp_t *qp)
{
    return qp->sq_done;
}

// Returns the bytes of it that are acknowledged.
static inline uint32_t nic__device_acked_bytes(const nic_qp_t *qp)
{
    return qp->una_offset;
}

static inline nic_wqe_t *nic__device_wqe(const nic_qp_t *qp, uint32_t index)
{
    return nic__wqe(qp, index);
}

// Opens or closes the gate of the send queue, like nic_device_release and nic_device_hold, but
// leaves the queue pair's turn as it is: nic_device_schedule follows where that may have changed.
static inline void nic__device_gate(nic_qp_t *qp, bool open)
{
    if (open) {
        qp->flags &= (uint16_t)~NIC_QP_FETCHING;
    } else {
        qp->flags |= NIC_QP_FETCHING;
    }
}

static inline bool nic__device_gate_open(const nic_qp_t *qp)
{
    return (qp->flags & NIC_QP_FETCHING) == 0;
}

// -- the READs and atomics that it answers

static inline bool nic__device_responds(const nic_qp_t *qp)
{
    return (qp->flags & NIC_QP_READS) != 0;
}

// Returns false if the oldest has not sent its first response yet. Else *address and *bytes are
// what its next packet carries.
static inline bool nic__device_next_response(const nic_qp_t *qp, uint64_t *address, uint32_t *bytes)
{
    const nic_read_t *const read = &qp->reads[qp->read_first];
    *address = read->address;
    *bytes = nic__min(read->left_bytes, qp->mtu_bytes);
    return read->started;
}

// Holds responses until nic_device_respond.
static inline void nic__device_hold_response(nic_qp_t *qp)
{
    qp->flags &= (uint16_t)~NIC_QP_READS;
    // None is ready if the requester went back meanwhile: what it asks for again is not here yet.
    qp->reads_ready = (uint16_t)(qp->reads_ready - (qp->reads_ready != 0));
}

// -- what it receives

// Returns the bytes of the current message that have arrived.
static inline uint32_t nic__device_received_bytes(const nic_qp_t *qp)
{
    return qp->rx_kind == NIC_RX_NONE ? 0 : qp->rx_bytes;
}

// Returns true if its receives are those of a shared queue, whose number is *number.
static inline bool nic__device_shares_receives(const nic_qp_t *qp, uint64_t *number)
{
    if (qp->srq == NULL) {
        return false;
    }
    *number = qp->srq->number;
    return true;
}

// Returns true if its own queue of receives holds one.
static inline bool nic__device_has_receive(const nic_qp_t *qp)
{
    return qp->rq_done != qp->rq_posted;
}

// Returns where the oldest receive of its own queue goes.
static inline nic_place_t nic__device_receive_place(const nic_qp_t *qp)
{
    return nic__receive_place(nic__oldest_receive(qp));
}

// Returns true if its queue, or the shared one, holds a receive; *done is how many were used.
static inline bool nic__device_receives(const nic_qp_t *qp, uint32_t *done)
{
    *done = qp->srq != NULL ? qp->srq->done : qp->rq_done;
    return *done != (qp->srq != NULL ? qp->srq->posted : qp->rq_posted);
}

// -- completion queues

static inline nic_t *nic__device_cq_nic(const nic_cq_t *cq)
{
    return cq->nic;
}

static inline uint32_t nic__device_cq_number(const nic_cq_t *cq)
{
    return cq->number;
}

// Returns true if a core polls it.
static inline bool nic__device_cq_polled(const nic_cq_t *cq)
{
    return cq->core != NULL;
}

// Returns the device's own word of the queue: where the queue's context is.
static inline uint32_t *nic__device_cq_slot(nic_cq_t *cq)
{
    return &cq->context_slot;
}

// Returns the device's own time of the queue: when its last completion is seen.
static inline sim_time_t *nic__device_cq_seen_ps(nic_cq_t *cq)
{
    return &cq->last_seen_ps;
}

// -- prefetches: always inline, since to gcc a function that only prefetches does nothing

// Prefetches the lines of a queue pair that sending needs.
static SIM_ALWAYS_INLINE void nic__device_prefetch_sending(const nic_qp_t *qp)
{
    __builtin_prefetch(qp);
    __builtin_prefetch((const char *)qp + SIM_CACHE_LINE);
}

// Prefetches those that receiving a packet needs.
static SIM_ALWAYS_INLINE void nic__device_prefetch_receiving(const nic_qp_t *qp)
{
    __builtin_prefetch(qp);
    __builtin_prefetch((const char *)qp + SIM_CACHE_LINE);
    __builtin_prefetch((const char *)qp + 2 * SIM_CACHE_LINE);
    __builtin_prefetch((const char *)qp + 4 * SIM_CACHE_LINE);
}

// Prefetches those that answering a READ needs, and with _answer what it is answered with.
static SIM_ALWAYS_INLINE void nic__device_prefetch_answering(const nic_qp_t *qp)
{
    __builtin_prefetch(qp);
    __builtin_prefetch((const char *)qp + 4 * SIM_CACHE_LINE);
}
static SIM_ALWAYS_INLINE void nic__device_prefetch_answer(const nic_qp_t *qp)
{
    __builtin_prefetch(qp->reads);
}

// Prefetches the oldest work request that is not finished, if there is one.
static SIM_ALWAYS_INLINE void nic__device_prefetch_oldest(const nic_qp_t *qp)
{
    if (qp->sq_done != qp->sq_posted) {
        __builtin_prefetch(nic__wqe(qp, qp->sq_done));
    }
}

#endif // NIC_DEVICE_VIEW_INTERNAL_H
