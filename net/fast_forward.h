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

// Adds a port, or a switch with its tally and its ports, to a list.
void net_state_list_port(net_port_t *port, sim_state_t *state);
void net_state_list_rare(net_port_t *port, sim_state_t *state); // pauses, drops and such alone
void net_state_list_switch(net_node_t *node, sim_state_t *state);
// Returns whether two switches treat equal packets at equal ports alike, but for ties and draws.
bool net_same_switches(const net_node_t *a, const net_node_t *b);
// Makes a switch note, from before the run on, what the order of ties would have changed at others
// that get the same packets. `likes` is borrowed. Returns false if such a switch cannot.
bool net_watch_chance(net_node_t *node, net_node_t *const *likes, uint32_t count);
// Returns what in such a switch, which is at rest, depended on its own ties or draws; NULL: the
// others did the same.
const char *net_chance(const net_node_t *node);
// Gives the others, which have all counters of the first, how full their queues have been.
void net_chance_settle(const net_node_t *node);

// Returns whether what a node has stored so far never came near a limit that its ports share, so
// that the order of messages at one instant matters between those of one port alone.
bool net_has_room(const net_node_t *node);

// Returns the frames that all ports have sent so far.
uint64_t net_frames_sent(const net_t *net);

SIM_C_END

#endif // NET_FAST_FORWARD_H
