// SPDX-License-Identifier: Apache-2.0
// net/switch/switch_internal.h - the loops of a switch.
#ifndef NET_SWITCH_SWITCH_INTERNAL_H
#define NET_SWITCH_SWITCH_INTERNAL_H

#include "net/network_internal.h"
#include "net/routes_internal.h"
#include "net/switch_model.h"

#include <string.h>

// loop.c: runs a switch through its tables.
void net__switch_run_tables(sim_node_t *node);
// Admits a packet that must wait for its port, with net's own models compiled in.
void net__switch_enqueue(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
// Admits a packet that must wait for its port through the switch's tables.
void net__switch_enqueue_by_tables(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
// Applies a pause frame and frees it; wakes the port if a class was released.
void net__switch_pause_arrived(net_switch_t *sw, net_port_t *port, net_packet_t *packet);
// Handles events one by one as long as the switch must be exact. Returns false when no event is
// left before the end of the run.
bool net__switch_run_exactly(net_switch_t *sw);
// Returns whether each event must be handled in its turn, and no departure may be late.
static inline bool net__switch_must_be_exact(const net_switch_t *sw)
{
    return sw->stopped_count > 0 || sw->node.one_by_one;
}
// late.c: runs a switch with net's own marking, one of net's buffers "standard" and "trimming", and
// a load balancer that allows late departures; replays most departures without a wake event.
void net__switch_run_late(sim_node_t *node);
// late.c: replays all departures before now, and nothing in a switch that has no late ones.
void net__switch_catch_up(net_switch_t *sw);
// late.c: replays those of one port, of which at least one is due.
void net__switch_catch_up_port(net_switch_t *sw, net_port_t *port);
// loop.c: prefetch what the next window will touch.
void net__switch_warm(const sim_node_t *node, uint32_t arrivals);
void net__switch_warm_heads(const net_switch_t *sw);

// Returns net_switch_t.late of the eight ports from p on as a word, and the first port in such a
// word that is late.
static inline uint64_t net__late(const net_switch_t *sw, uint32_t p)
{
    uint64_t late;
    memcpy(&late, &sw->late[p], sizeof(late));
    return late;
}
static inline uint32_t net__late_first(uint64_t late)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (uint32_t)__builtin_ctzll(late) / 8;
#else
    return 7 - (uint32_t)__builtin_ctzll(late) / 8;
#endif
}

// Returns net_switch_port_load.
static inline uint64_t net__port_load(net_switch_t *sw, uint32_t port_index)
{
    net_port_t *const port = &sw->node.ports[port_index];
    const sim_time_t now_ps = sw->node.sim.now_ps;
    if (port->wake_pending == NET_WAKE_LATE && port->busy_until_ps < now_ps) {
        net__switch_catch_up_port(sw, port);
    }
    uint64_t bytes = 0;
    for (uint32_t left = port->waiting; left != 0; left &= left - 1) {
        bytes += port->classes[__builtin_ctz(left)]->bytes;
    }
    if (port->busy_until_ps > now_ps) {
        const sim_wide_t bits = (sim_wide_t)(port->busy_until_ps - now_ps) * port->line->rate_bps;
        bytes += SIM_LIKELY(bits <= UINT64_MAX) ? (uint64_t)bits / (8 * SIM_PS_PER_S)
                                                : (uint64_t)(bits / (8 * SIM_PS_PER_S));
    }
    return bytes;
}

#endif // NET_SWITCH_SWITCH_INTERNAL_H
