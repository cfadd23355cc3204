// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/complete.h - completions that a detailed NIC writes.
#ifndef NIC_DEVICE_RNIC_COMPLETE_H
#define NIC_DEVICE_RNIC_COMPLETE_H

#include "nic/device/rnic/rnic.h"

void nic__rnic_wqe_done(nic_qp_t *qp);                                     // the one before sq_done
void nic__rnic_completion(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc); // the CQE is written
void nic__rnic_tell_write(nic_qp_t *qp, uint64_t address, uint32_t bytes);

#endif // NIC_DEVICE_RNIC_COMPLETE_H
