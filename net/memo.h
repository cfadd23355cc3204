// SPDX-License-Identifier: Apache-2.0
// net/memo.h - the state of a network for kernel/memo.h.
#ifndef NET_MEMO_H
#define NET_MEMO_H

#include "kernel/memo.h"
#include "net/network.h"

SIM_C_BEGIN

// Adds the state of all nodes and ports to a list, hosts' NICs apart. Sets list->refused if a part
// of the network has a state that has no rows.
void net_memo_list(const net_t *net, sim_memo_list_t *list);

// Returns the frames that all ports have sent so far.
uint64_t net_memo_hops(const net_t *net);

SIM_C_END

#endif // NET_MEMO_H
