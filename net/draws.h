// SPDX-License-Identifier: Apache-2.0
// net/draws.h - random draws that belong to packets (network.draws: packet).
//
// The port of the host that sends a packet gives it a number (net_packet_aside_t.draw), and each
// port that draws hashes it with its own key. The numbers of a port follow each other. After a rest
// they begin anew from a hash of what ends the rest: the label of a message (nic_send_wr_t.label),
// or the number of the packet that arrives. So packets that repeat after a rest have the numbers of
// the first time, and so have what ports draw for them. docs/models/fast-forward.md
#ifndef NET_DRAWS_H
#define NET_DRAWS_H

#include "kernel/random.h"
#include "net/node.h"

SIM_C_BEGIN

// Returns the random numbers of a packet at an owner of a stream. They do not depend on the draws
// for other packets. `stream` keeps its place.
static inline sim_random_t net_draws_of(const sim_random_t *stream, const net_packet_t *packet)
{
    return (sim_random_t){.key = stream->key ^ sim_mix64(net_packet_aside(packet)->draw),
                          .counter = 0};
}

// Inform a host's port of what may end its rest: a packet that arrives, or a message that a program
// posts.
void net_draws_hear(net_port_t *port, const net_packet_t *packet);
void net_draws_post(net_port_t *port, uint64_t label);

// Gives a packet that a host's port sends, or a pause that any port sends, its number.
void net__draws_stamp(net_port_t *port, const net_packet_t *packet);

// The frames that a host's port sends while somebody watches it.
#define NET_TAP_FRAMES 2048u
typedef struct net_tapped {
    sim_time_t time_ps; // its first bit leaves
    uint64_t kind;      // differs where size, opcode or receiver differ
} net_tapped_t;
typedef struct net_tap {
    uint32_t count;
    net_tapped_t frames[NET_TAP_FRAMES];
} net_tap_t;

// Notes the frames that a host's port sends, with network.draws: packet, until `tap` is full. The
// caller owns it. NULL: no longer.
void net_draws_tap(net_port_t *port, net_tap_t *tap);

SIM_C_END

#endif // NET_DRAWS_H
