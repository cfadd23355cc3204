// SPDX-License-Identifier: Apache-2.0
// nic/shared_receive_queue.h - shared receive queues.
#ifndef NIC_SHARED_RECEIVE_QUEUE_H
#define NIC_SHARED_RECEIVE_QUEUE_H

#include "nic/work_requests.h"

SIM_C_BEGIN

// Creates a queue of receives for any number of QPs of the NIC. A message that needs a receive
// takes the oldest one.
nic_srq_t *nic_srq_create(nic_pd_t *pd, uint32_t max_wr);
// Returns how many receives no message has taken.
uint32_t nic_srq_posted(const nic_srq_t *srq);
// Called for the event "SRQ limit reached" (IBA vol. 1, 10.2.9), at the end of the packet's event:
// a message took a receive, and fewer than the limit are left.
typedef void (*nic_srq_limit_fn)(nic_srq_t *srq, void *ctx);
// Sets the limit, at most max_wr. fn is called once; the limit is 0 (none) afterwards, and may be
// set again.
void nic_srq_set_limit(nic_srq_t *srq, uint32_t limit, nic_srq_limit_fn fn, void *ctx);

// Returns the limit that is set; 0: none, or it was reached.
uint32_t nic_srq_limit(const nic_srq_t *srq);

// Posts receives to a shared queue. nic_post_recv on one of its QPs is SIM_ERR_INVALID.
SIM_MUST_CHECK sim_err_t nic_post_srq_recv(nic_srq_t *srq, const nic_recv_wr_t *wr, uint32_t count,
                                           uint32_t *posted);

SIM_C_END

#endif // NIC_SHARED_RECEIVE_QUEUE_H
