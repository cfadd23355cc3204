// SPDX-License-Identifier: Apache-2.0
// net/switch/ecmp.h - the load balancer "ecmp", and how a switch finds its own.
#ifndef NET_SWITCH_ECMP_H
#define NET_SWITCH_ECMP_H

#include "net/network_internal.h"
#include "net/routes_internal.h"
#include "net/switch_model.h"

// balance/table.c: returns the load balancer that a switch's configuration asks for.
const net_balance_ops_t *net__switch_balance(const net_t *net, const net_balance_config_t *config);
// Fails with the reason if the switch cannot have the load balancer that it asks for.
SIM_MUST_CHECK sim_err_t net__switch_check_balance(const net_switch_t *sw, sim_message_t *message);

// Returns the flow's hash with the switch's own seed. With the same function at two tiers, flows
// that one tier put on one port would all leave by one port of the next (polarisation).
static inline uint32_t net__spread(const net_switch_t *sw, uint32_t flow_hash)
{
    uint32_t hash = (flow_hash ^ sw->ecmp_seed) * 0x85ebca6bu;
    hash ^= hash >> 15;
    return hash * 0xc2b2ae35u;
}

// Returns the port by which a packet leaves; NET_NO_PORT: there is none.
static inline uint32_t net__route(net_switch_t *sw, const net_packet_t *packet)
{
    const net_attachment_t attachment = sw->attachments[packet->destination];
    if (SIM_UNLIKELY(attachment.leaf == NET_NO_LEAF)) {
        return NET_NO_PORT;
    }
    // The three cases (up, down to a switch, down to a host) are hard to predict: no branches.
    const net_hop_t hop = net__hop(sw->hop_pages, attachment.leaf);
    const uint32_t here = 0 - (uint32_t)(attachment.leaf == sw->leaf); // a mask
    const uint32_t count = (here & 1) | (~here & hop.count);
    const uint32_t base = (here & attachment.port) | (~here & hop.base);
    const uint32_t hash = net__spread(sw, packet->flow_hash);
    const uint32_t index = (uint32_t)(((uint64_t)hash * count) >> 32);
    uint32_t port = base + index;
    if (SIM_UNLIKELY(base == NET_HOP_SCATTERED)) {
        if (count == 0) {
            return NET_NO_PORT;
        }
        port = sw->hop_ports[hop.first + index];
    }
    if (SIM_UNLIKELY(sw->node.ports[port].down) && count > 1) {
        // The hash's upper bits chose this port, so other bits must spread its flows.
        return net_switch_choose_live(sw, sw->hop_ports + hop.first, count, hash * 0x9e3779b1u);
    }
    return port;
}

// Returns the port that the flow's hash selects among `ports`; NET_NO_PORT: all are down.
static inline uint32_t net__choose_hashed(const net_switch_t *sw, const net_packet_t *packet,
                                          const uint32_t *ports, uint32_t count)
{
    const uint32_t hash = net__spread(sw, packet->flow_hash);
    const uint32_t port = ports[((uint64_t)hash * count) >> 32];
    return SIM_UNLIKELY(sw->node.ports[port].down) && count > 1
               ? net_switch_choose_live(sw, ports, count, hash * 0x9e3779b1u)
               : port;
}

// Returns the port that the switch's balancer chooses; NET_NO_PORT: there is none.
static inline uint32_t net__route_by_balance(net_switch_t *sw, const net_packet_t *packet)
{
    const net_attachment_t attachment = sw->attachments[packet->destination];
    if (attachment.leaf == NET_NO_LEAF) {
        return NET_NO_PORT;
    }
    if (attachment.leaf == sw->leaf) {
        return attachment.port;
    }
    const net_hop_t hop = net__hop(sw->hop_pages, attachment.leaf);
    const uint32_t *const ports = sw->hop_ports + hop.first;
    if (hop.count == 1 && sw->balance->lone && !sw->node.ports[ports[0]].down) {
        return ports[0];
    }
    return hop.count == 0 ? NET_NO_PORT : sw->balance->choose(sw, packet, ports, hop.count);
}

#endif // NET_SWITCH_ECMP_H
