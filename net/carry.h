// SPDX-License-Identifier: Apache-2.0
// net/carry.h - brings to rank 0 what results read of the nodes and ports of other ranks.
//
// Every rank builds and runs its own nodes of the network (kernel/ranks.h). After the run rank 0
// takes the counters of all other nodes, and then reads its network as if it had run all of them.
#ifndef NET_CARRY_H
#define NET_CARRY_H

#include "kernel/fields.h"
#include "kernel/ranks.h"
#include "net/node.h"

SIM_C_BEGIN

extern const sim_fields_t net__tally_fields; // of net_tally_t

// Finds which packets go to other ranks with their cold part, when all nodes are built.
void net__carry_build(net_t *net);

// Carries packets; ctx is the net_t.
extern const sim_codec_t net__codec;

// Appends the counters of this rank's nodes and their ports, and its packets in flight. After the
// run.
void net_carry_leave(const net_t *net, sim_buffer_t *bytes);
// Takes what another rank left, into the nodes that are not this rank's. Nodes at which nothing
// happened leave nothing.
void net_carry_take(net_t *net, sim_reader_t *bytes);
// Returns how many more loss events than lost frames the links of other ranks had; it may wrap.
uint64_t net_carried_loss_events(const net_t *net);

SIM_C_END

#endif // NET_CARRY_H
