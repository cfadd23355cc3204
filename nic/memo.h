// SPDX-License-Identifier: Apache-2.0
// nic/memo.h - the state of NICs and queue pairs for kernel/memo.h.
#ifndef NIC_MEMO_H
#define NIC_MEMO_H

#include "kernel/memo.h"
#include "nic/host.h"

SIM_C_BEGIN

// Adds the state of the network, its NICs included, to a list. Sets list->refused if a part has a
// state without rows: detailed NICs, several planes, transports other than go-back-n, some
// congestion controls and others. Raises *rest_ps to the time after which congestion controls begin
// anew.
void nic_memo_list(const net_t *net, sim_memo_list_t *list, sim_time_t *rest_ps);

// Returns the frames that all ports have sent so far.
uint64_t nic_memo_hops(const net_t *net);

// The places of the receives that are posted at a queue pair, before sim_memo_apply moves them.
typedef struct nic_memo_receives nic_memo_receives_t;
nic_memo_receives_t *nic_memo_take_receives(const net_t *net);
// Moves the receives to where the queue pairs now look for them. Frees the places.
void nic_memo_put_receives(nic_memo_receives_t *receives);

SIM_C_END

#endif // NIC_MEMO_H
