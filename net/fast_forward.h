// SPDX-License-Identifier: Apache-2.0
// net/fast_forward.h - the state of a network for kernel/fast_forward.h.
#ifndef NET_FAST_FORWARD_H
#define NET_FAST_FORWARD_H

#include "kernel/fast_forward.h"
#include "net/node.h"

SIM_C_BEGIN

// Adds the state of all nodes and ports to a list, hosts' NICs apart. Sets state->refused if a part
// of the network has a state that has no rows. used_only: without structs of ports that are all 0.
// ties_noted: without the numbers of ties.
void net_state_list(const net_t *net, sim_state_t *state, bool used_only, bool ties_noted);

// Returns whether what a node has stored so far never came near a limit that its ports share, so
// that the order of messages at one instant matters between those of one port alone.
bool net_has_room(const net_node_t *node);

// Returns the frames that all ports have sent so far.
uint64_t net_frames_sent(const net_t *net);

SIM_C_END

#endif // NET_FAST_FORWARD_H
