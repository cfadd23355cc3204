// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/structured.c - the balance "structured": senders choose the path, by digits of
// the UDP source port. Page: docs/models/load-balancing.md.
//
// The number of a path is the port less 0xc000. A leaf takes its lowest digit, to the base of the
// ports that it chooses from; other switches take the next one. Nothing replaces a port that is
// down: its packets are lost, and their sender has to find another path.
// Source: MRC Specification 1.0, section 9: structured entropy values, and SRv6 with static routes.
#include "net/switch/balance/balance_internal.h"

// Returns the number of the path.
static uint32_t number_of(uint32_t source, uint32_t destination, uint16_t source_port,
                          uint16_t hashed_port)
{
    (void)source;
    (void)destination;
    (void)hashed_port;
    return (uint32_t)(uint16_t)(source_port - ROCE_SOURCE_PORT_MIN);
}

static uint32_t digit(const net_switch_t *sw, uint32_t number, uint32_t count)
{
    return sw->leaf < NET_NO_LEAF - 1 ? number % count : number / count % count;
}

static uint32_t choose_structured(net_switch_t *sw, const net_packet_t *packet,
                                  const uint32_t *ports, uint32_t count)
{
    const uint32_t port = ports[digit(sw, packet->flow_hash, count)];
    return sw->node.ports[port].down ? NET_NO_PORT : port;
}

static uint32_t path(const net_switch_t *sw, uint32_t source, uint32_t destination,
                     uint32_t flow_hash, uint32_t count)
{
    (void)source;
    (void)destination;
    return digit(sw, flow_hash, count);
}

const net_balance_ops_t net__balance_structured = {
    .name = "structured",
    .follows = true,
    .lone = true,
    .late = true,
    .built = net__balance_seed,
    .flow_hash = number_of,
    .choose = choose_structured,
    .path = path,
};
