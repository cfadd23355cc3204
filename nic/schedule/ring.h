// SPDX-License-Identifier: Apache-2.0
// nic/schedule/ring.h - the scheduler "ring", for the files that it is compiled into.
//
// A ring per class: the queue pairs that have joined, in turn. Joining is behind all others, which
// is before the one whose turn it is.
#ifndef NIC_SCHEDULE_RING_H
#define NIC_SCHEDULE_RING_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/schedule/loopback.h"
#include "nic/scheduler.h"

static inline void nic__ring_join(nic_t *nic, nic_qp_t *qp)
{
    nic_qp_t *const first = nic->ready[qp->priority];
    if (first == NULL) {
        qp->ready_next = qp;
        qp->ready_previous = qp;
        nic->ready[qp->priority] = qp;
        nic->ready_classes |= (uint8_t)(1u << qp->priority);
    } else {
        qp->ready_next = first;
        qp->ready_previous = first->ready_previous;
        first->ready_previous->ready_next = qp;
        first->ready_previous = qp;
    }
}

static inline void nic__ring_leave(nic_t *nic, nic_qp_t *qp)
{
    if (qp->ready_next == qp) {
        nic->ready[qp->priority] = NULL;
        nic->ready_classes &= (uint8_t) ~(1u << qp->priority);
        return;
    }
    qp->ready_next->ready_previous = qp->ready_previous;
    qp->ready_previous->ready_next = qp->ready_next;
    if (nic->ready[qp->priority] == qp) {
        nic->ready[qp->priority] = qp->ready_next;
    }
}

static inline void nic__ring_turn(nic_t *nic, const nic_qp_t *qp)
{
    nic->ready[qp->priority] = qp->ready_next;
}

// Lets a queue pair leave its scheduler. `ring` says at compile time that it is the ring.
static SIM_ALWAYS_INLINE void nic__leave(nic_t *nic, nic_qp_t *qp, const bool ring)
{
    qp->flags &= (uint16_t)~NIC_QP_READY;
    if (ring) {
        nic__ring_leave(nic, qp);
        return;
    }
    if (qp->plane == NIC_PLANE_LOOPBACK) {
        nic__loopback_leave(qp);
        return;
    }
    SIM_CHECK(nic->joined[qp->priority] > 0);
    nic->joined[qp->priority]--;
    if (nic->joined[qp->priority] == 0) {
        nic->ready_classes &= (uint8_t) ~(1u << qp->priority);
    }
    nic->scheduler->leave(nic, qp);
}

#endif // NIC_SCHEDULE_RING_H
