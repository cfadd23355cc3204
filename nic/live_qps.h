// SPDX-License-Identifier: Apache-2.0
// nic/live_qps.h - the queue pairs of a NIC that are live, and their memory.
#ifndef NIC_LIVE_QPS_H
#define NIC_LIVE_QPS_H

#include "nic/queue_pair.h"

SIM_C_BEGIN

// Returns the memory of a QP: its struct, the algorithm's state, and its rings as they are now.
size_t nic_qp_memory_bytes(const nic_qp_t *qp);
// Calls fn for each live QP of the NIC, in order of QP number.
typedef void (*nic_qp_visit_fn)(const nic_qp_t *qp, void *ctx);
void nic_for_each_qp(const nic_t *nic, nic_qp_visit_fn fn, void *ctx);

SIM_C_END

#endif // NIC_LIVE_QPS_H
