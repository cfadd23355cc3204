// SPDX-License-Identifier: Apache-2.0
// nic/verbs/qp_check.h - invariants of queue pairs; each function aborts where one does not hold.
#ifndef NIC_VERBS_QP_CHECK_H
#define NIC_VERBS_QP_CHECK_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

void nic__qp_check(const nic_qp_t *qp);
void nic__cq_check(const nic_cq_t *cq);
void nic__check(const nic_t *nic);       // all objects of the NIC
void nic__check_after_event(nic_t *nic); // some of them, in turn

#endif // NIC_VERBS_QP_CHECK_H
