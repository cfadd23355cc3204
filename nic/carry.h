// SPDX-License-Identifier: Apache-2.0
// nic/carry.h - brings to rank 0 what results read of the NICs of other ranks (net/carry.h).
#ifndef NIC_CARRY_H
#define NIC_CARRY_H

#include "kernel/ranks.h"
#include "nic/counters.h"
#include "nic/host.h"

SIM_C_BEGIN

// Returns whether all that a NIC reports can be carried. If not, why names what cannot: NICs with
// reports, and devices of a program's own, report more than counters.
bool nic_can_carry(const nic_t *nic, const char **why);

// Sends the reports of the NICs of a rank's hosts to rank 0, after the run.
void nic_carry(net_t *net, sim_carry_t *carry);
// Returns the values that nic_cache_metrics had at another rank, which ran the NIC and its tiered
// cache; else NULL.
const uint64_t *nic_carried_cache_metrics(const nic_t *nic);
// Returns the counters that another rank carried for a detailed NIC; NULL: there are none.
const nic_rnic_counters_t *nic_carried_rnic_counters(const nic_t *nic);

SIM_C_END

#endif // NIC_CARRY_H
