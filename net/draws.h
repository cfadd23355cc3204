// SPDX-License-Identifier: Apache-2.0
// net/draws.h - random draws that belong to packets (network.draws: packet).
//
// The port of the host that sends a packet gives it a number (net_packet_aside_t.draw), and each
// port that draws hashes it with its own key. The numbers of a port form a chain. After a rest the
// chain begins anew from what ends the rest: the label of a message (nic_send_wr_t.label), or the
// number of the packet that arrives. So packets that repeat after a rest have the numbers of the
// first time, and so have what ports draw for them. docs/models/fast-forward.md
#ifndef NET_DRAWS_H
#define NET_DRAWS_H

#include "kernel/random.h"
#include "net/port.h"

SIM_C_BEGIN

// Returns the random numbers of a packet at an owner of a stream. They do not depend on the draws
// for other packets. `stream` keeps its place.
static inline sim_random_t net_draws_of(const sim_random_t *stream, const net_packet_t *packet)
{
    return (sim_random_t){.key = stream->key ^ sim_mix64(net_packet_aside(packet)->draw),
                          .counter = 0};
}

// Tell a host's port what may end its rest: a packet that arrives, or a message that a program
// posts.
void net_draws_hear(net_port_t *port, const net_packet_t *packet);
void net_draws_post(net_port_t *port, uint64_t label);

// Gives a packet that a host's port sends, or a pause that any port sends, its number.
void net__draws_stamp(net_port_t *port, const net_packet_t *packet);

SIM_C_END

#endif // NET_DRAWS_H
