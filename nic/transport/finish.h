// SPDX-License-Identifier: Apache-2.0
// nic/transport/finish.h - how work requests end: completed, failed or flushed.
#ifndef NIC_TRANSPORT_FINISH_H
#define NIC_TRANSPORT_FINISH_H

#include "nic/objects/qp.h"

// Writes a completion, through the device. If the queue overflows, the queue pair fails: callers
// look at its state afterwards.
void nic__write_cqe(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc);
// Puts a completion into the queue, without the device. A core that polls the queue sees it from
// seen_ps on.
void nic__add_completion(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc, sim_time_t seen_ps);
void nic__complete_send(nic_qp_t *qp, const nic_wqe_t *wqe, nic_wc_status_t status);
// Completes a READ or atomic with success; original: the atomic's word before the operation.
void nic__complete_fetch(nic_qp_t *qp, const nic_wqe_t *wqe, uint64_t original);

// Changes the state, and informs listeners and the device.
void nic__set_state(nic_qp_t *qp, nic_qp_state_t state);
// Stops all timers, sending and answering of the QP.
void nic__silence(nic_qp_t *qp);
// Completes all posted work requests as flushed, now.
void nic__flush(nic_qp_t *qp);
// Completes those of the send queue as flushed, now.
void nic__flush_sends(nic_qp_t *qp);
// Completes what was posted in the error state as flushed, a little later.
void nic__flush_late(nic_qp_t *qp);
// Fails the oldest work request with `status`, and the QP with it.
void nic__fail_request(nic_qp_t *qp, nic_wc_status_t status);
// Moves the QP to the error state and flushes all that is posted. Does nothing if it is there.
void nic__to_error(nic_qp_t *qp);

// Returns true if nothing can fail any more: the QP is in the error state, or destroyed.
static inline bool nic__failed(const nic_qp_t *qp)
{
    return qp->state == NIC_QPS_ERR || (qp->flags & NIC_QP_DEAD) != 0;
}

#endif // NIC_TRANSPORT_FINISH_H
