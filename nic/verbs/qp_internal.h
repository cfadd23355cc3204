// SPDX-License-Identifier: Apache-2.0
// nic/verbs/qp_internal.h - what the files of a queue pair's life and states share.
#ifndef NIC_VERBS_QP_INTERNAL_H
#define NIC_VERBS_QP_INTERNAL_H

#include "nic/nic_internal.h"

// qp_state.c
void nic__silence(nic_qp_t *qp); // nothing is sent, timed or answered any more
// qp_connect.c: all but sending. Packets of the peer are taken and answered.
SIM_MUST_CHECK sim_err_t nic__open_to_receive(nic_qp_t *qp,
                                              const nic_qp_attr_t *attr,
                                              sim_message_t *message);

#endif // NIC_VERBS_QP_INTERNAL_H
