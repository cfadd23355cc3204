// SPDX-License-Identifier: Apache-2.0
// net/link/draws.c - the numbers of packets that random draws belong to.
#include "net/draws.h"
#include "net/port.h"

// Notes that a port has something to do. Returns whether its chain begins anew: it has rested.
static bool wake(net_port_t *port)
{
    net_port_rare_t *const rare = port->rare;
    const sim_time_t now_ps = port->node->sim.now_ps;
    const bool rested = rare->draw == 0 || now_ps >= rare->draw_ps + SIM_REST_PS;
    rare->draw_ps = now_ps;
    return rested;
}

void net_draws_hear(net_port_t *port, const net_packet_t *packet)
{
    // The packet's number lies in a line that nobody else reads here.
    if (packet->kind == NET_PACKET_ROCE && wake(port)) {
        port->rare->draw = sim_mix64(net_packet_aside(packet)->draw);
    }
}

void net_draws_post(net_port_t *port, uint64_t label)
{
    if (wake(port)) {
        port->rare->draw = sim_mix64(label ^ (uint64_t)port->uid << 32);
    }
}

#define PAUSES 1u // begins the chain of a switch's port, which numbers pauses alone

void net__draws_stamp(net_port_t *port, const net_packet_t *packet)
{
    net_port_rare_t *const rare = port->rare;
    if (port->node->kind != NET_NODE_HOST) {
        if (packet->kind == NET_PACKET_ROCE) {
            return;
        }
        net_draws_post(port, PAUSES);
    }
    rare->draw++;
    rare->draw_ps = port->node->sim.now_ps;
    net_packet_aside(packet)->draw = (uint32_t)rare->draw;
    if (SIM_UNLIKELY(rare->tap != NULL) && rare->tap->count < NET_TAP_FRAMES) {
        rare->tap->frames[rare->tap->count++] = (net_tapped_t){
            .time_ps = rare->draw_ps,
            .kind = (uint64_t)packet->destination << 40 | (uint64_t)packet->opcode << 32 |
                    ((uint64_t)packet->destination_qp << 16 ^ packet->frame_bytes),
        };
    }
}

void net_draws_tap(net_port_t *port, net_tap_t *tap)
{
    port->rare->tap = tap;
}
