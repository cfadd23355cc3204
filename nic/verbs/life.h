// SPDX-License-Identifier: Apache-2.0
// nic/verbs/life.h - steps of a queue pair's life: connecting, reporting what happened, freeing,
// checking.
#ifndef NIC_VERBS_LIFE_H
#define NIC_VERBS_LIFE_H

#include "kernel/pool.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

void nic__free_dead(nic_host_t *host);
void nic__qp_free(nic_qp_t *qp);
// Frees the ring of the send queue.
static inline void nic__send_queue_free(const nic_qp_t *qp)
{
    sim_lines_give(nic__node(qp->nic)->worker, qp->sq,
                   (size_t)nic__sq_capacity(qp) * sizeof(*qp->sq));
}

// Connects a QP but for sending: packets of the peer are taken and answered.
SIM_MUST_CHECK sim_err_t nic__open_to_receive(nic_qp_t *qp, const nic_qp_attr_t *attr,
                                              sim_message_t *message);
// Sets what sending needs before the QP may send, as the attributes say.
SIM_MUST_CHECK sim_err_t nic__set_sender(nic_qp_t *qp, const nic_qp_attr_t *attr,
                                         sim_message_t *message);

#endif // NIC_VERBS_LIFE_H
