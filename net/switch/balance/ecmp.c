// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/ecmp.c - the balance "ecmp", which spreads flows over equal ports by a hash of
// their addresses; and routing by any balance. Page: docs/models/switch.md.
#include "net/switch/ecmp.h"

uint32_t net_switch_choose_live(const net_switch_t *sw, const uint32_t *ports, uint32_t count,
                                uint32_t hash)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < count; i++) {
        live += sw->node.ports[ports[i]].down ? 0 : 1;
    }
    uint32_t index = (uint32_t)(((uint64_t)hash * live) >> 32);
    for (uint32_t i = 0; i < count; i++) {
        if (!sw->node.ports[ports[i]].down && index-- == 0) {
            return ports[i];
        }
    }
    return NET_NO_PORT;
}

uint32_t net_switch_route(net_switch_t *sw, const net_packet_t *packet)
{
    return net__route_by_balance(sw, packet);
}

static uint32_t choose(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                       uint32_t count)
{
    return net__choose_hashed(sw, packet, ports, count);
}

static uint32_t path(const net_switch_t *sw, uint32_t source, uint32_t destination,
                     uint32_t flow_hash, uint32_t count)
{
    (void)source;
    (void)destination;
    return (uint32_t)(((uint64_t)net__spread(sw, flow_hash) * count) >> 32);
}

static void built(net_switch_t *sw)
{
    const uint64_t seed = sim_options(sw->node.sim.sim)->seed;
    const uint64_t mixed = sim_mix64(sim_mix64(seed) ^ (sw->node.sim.index + 1));
    sw->ecmp_seed = (uint32_t)(sw->config.ecmp_seed == SIM_AUTO ? mixed : sw->config.ecmp_seed);
}

const net_balance_ops_t net__balance_ecmp = {
    .name = "ecmp",
    .late = true,
    .built = built,
    .choose = choose,
    .path = path,
};
