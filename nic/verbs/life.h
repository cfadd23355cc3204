// SPDX-License-Identifier: Apache-2.0
// nic/verbs/life.h - steps of a queue pair's life: connecting, reporting what happened, freeing,
// checking.
#ifndef NIC_VERBS_LIFE_H
#define NIC_VERBS_LIFE_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// -- qp.c

void nic__free_dead(nic_host_t *host);
void nic__qp_free(nic_qp_t *qp);

// -- hand_over.c

// Informs programs of all that was noted, at the end of an event.
void nic__hand_over(nic_host_t *host);
// Does the same for a call that a program makes before the run.
void nic__hand_over_outside(nic_host_t *host);

// -- qp_connect.c

// Connects a QP but for sending: packets of the peer are taken and answered.
SIM_MUST_CHECK sim_err_t nic__open_to_receive(nic_qp_t *qp, const nic_qp_attr_t *attr,
                                              sim_message_t *message);
// Sets what sending needs before the QP may send, as the attributes say.
SIM_MUST_CHECK sim_err_t nic__set_sender(nic_qp_t *qp, const nic_qp_attr_t *attr,
                                         sim_message_t *message);

// -- qp_check.c: each aborts where an invariant does not hold

void nic__qp_check(const nic_qp_t *qp);
void nic__cq_check(const nic_cq_t *cq);
void nic__check(const nic_t *nic);       // all objects of the NIC
void nic__check_after_event(nic_t *nic); // some of them, in turn

#endif // NIC_VERBS_LIFE_H
