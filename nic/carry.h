// SPDX-License-Identifier: Apache-2.0
// nic/carry.h - brings to rank 0 what results read of the NICs of other ranks (net/carry.h).
#ifndef NIC_CARRY_H
#define NIC_CARRY_H

#include "kernel/ranks.h"
#include "nic/host.h"

SIM_C_BEGIN

// Returns whether all that a NIC tells can be carried. If not, why names what cannot: NICs with
// reports, and devices of a program's own, tell more than counters.
bool nic_can_carry(const nic_t *nic, const char **why);

// Appends the counters of the NICs of this rank's hosts. After the run.
void nic_carry_leave(const net_t *net, sim_buffer_t *bytes);
// Takes what another rank left, into NICs of hosts that are not this rank's.
void nic_carry_take(net_t *net, sim_reader_t *bytes);

SIM_C_END

#endif // NIC_CARRY_H
