// SPDX-License-Identifier: Apache-2.0
// nic/objects/notices.h - notices to programs at the end of an event.
#ifndef NIC_OBJECTS_NOTICES_H
#define NIC_OBJECTS_NOTICES_H

#include "nic/objects/queues.h"

// A notice that a program gets when the event is over: of a completion queue, of a shared receive
// queue, or else of a WRITE to a queue pair. With `rests` nobody is informed; the NIC checks
// whether the queue pair has come to rest.
typedef struct nic_notice {
    nic_cq_t *cq;
    nic_srq_t *srq;
    nic_qp_t *qp;
    nic_srq_limit_fn limit_fn;
    void *ctx; // argument of limit_fn
    uint64_t address;
    uint32_t bytes;
    bool rests;
} nic_notice_t;

struct nic_host;
// Adds a notice for the end of the event.
void nic__notice(struct nic_host *host, const nic_notice_t *notice);

#endif // NIC_OBJECTS_NOTICES_H
