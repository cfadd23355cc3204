// SPDX-License-Identifier: Apache-2.0
// nic/objects/queues.h - completion queues and shared receive queues.
#ifndef NIC_OBJECTS_QUEUES_H
#define NIC_OBJECTS_QUEUES_H

#include "nic/core.h"
#include "nic/objects/qp.h"

struct nic_cq {
    // line 0: read by completing and polling
    nic_t *nic;
    nic_wc_t *ring;
    sim_time_t *seen_ps;     // parallel to ring, with a core: when the core can see the completion
    nic_core_t *core;        // the core that polls it; NULL: none
    sim_time_t last_seen_ps; // device: when its last completion is seen
    uint32_t ring_capacity;  // power of two; grows up to what `capacity` needs
    uint32_t room;           // completions that fit into the ring as it is; 0 after an overflow
    uint32_t first;
    uint32_t count;
    uint32_t number;
    uint32_t context_slot; // device: where its context was in the cache

    nic_cq_fn fn;
    void *ctx;
    nic_cq_t *next;
    nic_cq_t *next_of_core;
    uint32_t capacity;
    bool overflowed;
    bool noted;  // the program will be informed at the end of the event
    bool unread; // nic_cq_set_unread
};

static_assert(offsetof(nic_cq_t, fn) == SIM_CACHE_LINE, "a poll needs one line of a CQ");

struct nic_srq {
    nic_pd_t *pd;
    nic_recv_wqe_t *ring;
    uint32_t capacity; // power of two, 0 before the first receive
    uint32_t posted;   // posted and done run freely
    uint32_t done;
    uint32_t wr_max;
    uint32_t limit; // limit_fn is called when fewer receives are left; 0: never
    nic_srq_limit_fn limit_fn;
    void *limit_ctx;
    uint64_t number;
    nic_srq_t *next;
};

// -- queue/completions.c

// Puts a completion of `qp` into the queue. A core that polls the queue sees it from seen_ps on.
// Returns false if the queue overflows, or did before: the queue pair has to fail.
SIM_MUST_CHECK bool nic__cq_add(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc, sim_time_t seen_ps);

// -- queue/receives.c

// Returns the domain whose regions receives lie in: a shared receive queue has its own.
static inline const nic_pd_t *nic__receive_pd(const nic_qp_t *qp)
{
    return qp->srq == NULL ? qp->pd : qp->srq->pd;
}

// Puts a receive at the end of the QP's own queue, which grows if it must.
void nic__push_receive(nic_qp_t *qp, const nic_recv_wqe_t *receive);
// Takes a receive from the shared queue. Returns false if it is empty.
bool nic__take_shared(nic_qp_t *qp);
void nic__free_receives(nic_recv_wqe_t *ring, uint32_t capacity);
void nic__srqs_free(nic_t *nic);
// Returns true if a receive is there for a message that begins. It is the QP's oldest then.
static inline bool nic__receive_posted(nic_qp_t *qp)
{
    return SIM_LIKELY(qp->rq_done != qp->rq_posted) || (qp->srq != NULL && nic__take_shared(qp));
}
static inline const nic_recv_wqe_t *nic__oldest_receive(const nic_qp_t *qp)
{
    return &qp->rq[qp->rq_done & (qp->rq_capacity - 1)];
}
// Returns where the message being received goes.
static inline nic_place_t nic__rx_place(const nic_qp_t *qp, nic_rx_kind_t kind)
{
    return kind == NIC_RX_SEND ? nic__receive_place(nic__oldest_receive(qp))
                               : (nic_place_t){.address = qp->rx_address, .count = 1};
}

#endif // NIC_OBJECTS_QUEUES_H
