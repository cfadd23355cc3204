// SPDX-License-Identifier: Apache-2.0
// net/switch/switch_internal.h - what the two ways a switch can work share: state, routing,
// marking.
//
// switch.c is the switch of docs/models/switch.md; switch_hpcc.c follows another simulator's rules
// for its buffer (docs/models/hpcc-compat.md).
#ifndef NET_SWITCH_SWITCH_INTERNAL_H
#define NET_SWITCH_SWITCH_INTERNAL_H

#include "net/network_internal.h"
#include "net/switch.h"

// Of one port, besides what net_received_t holds per class.
typedef struct ingress {
    uint64_t headroom_limit; // per class
    uint64_t alpha;          // switch_hpcc.c only, like pfc_alpha
    uint8_t stopped;         // classes told to stop
    uint16_t quanta;
    sim_timer_t refresh; // repeats the pause before the peer's clock runs out
    net_port_t *port;
} ingress_t;

typedef struct marking {
    uint64_t kmin_bytes;
    uint64_t kmax_bytes;
    uint64_t slope; // probability per byte above kmin, in units of 2^-64
    sim_random_t random;
    double pmax; // switch_hpcc.c only
    char pad[SIM_CACHE_LINE - 4 * sizeof(uint64_t) - sizeof(sim_random_t)];
} marking_t;

struct net_switch {
    net_node_t node; // first
    const net_attachment_t *attachments;
    const net_hop_t *hops;
    const uint32_t *hop_ports;
    uint32_t leaf; // own number; NO_LEAF
    uint32_t ecmp_seed;
    uint8_t lossless;
    uint8_t warm_class; // the class most packets are expected in
    bool routed;
    bool trust_dscp;
    bool murmur;           // net_config_t.ecmp
    uint8_t marks_early;   // classes marked as they join the queue
    uint64_t shared_bytes; // in use
    uint64_t shared_limit; // buffer without reserved and headroom
    uint64_t held_bytes;   // all that is stored
    uint64_t pfc_alpha;    // in 2^-ALPHA_BITS
    uint64_t lossy_alpha;
    ingress_t *ingress;
    marking_t *marking;
    net_switch_config_t config;
};

// -- routing

// The index-th live port of a range, for a hash over the live ones only; NO_PORT: none is.
static inline uint32_t net__choose_live(const net_switch_t *sw,
                                        const uint32_t *ports,
                                        uint32_t count,
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

// Hash of the 5-tuple with the switch's own seed: the same function at two tiers would send what
// one tier put on a port out of the same port of the next (polarisation).
static inline uint32_t net__spread(const net_switch_t *sw, uint32_t flow_hash)
{
    uint32_t hash = (flow_hash ^ sw->ecmp_seed) * 0x85ebca6bu;
    hash ^= hash >> 15;
    return hash * 0xc2b2ae35u;
}

// HPCC's choice among equal-cost ports; NET_NO_PORT: there is none.
static inline uint32_t net__route_murmur(const net_switch_t *sw,
                                         const net_packet_t *packet,
                                         net_hop_t hop)
{
    if (hop.count == 0) {
        return NET_NO_PORT;
    }
    const uint32_t *const ports = sw->hop_ports + hop.first;
    if (hop.count == 1) {
        return ports[0];
    }
    const uint32_t hash = net__murmur3_packet(sw->node.net, sw->ecmp_seed, packet);
    const uint32_t port = ports[hash % hop.count];
    return sw->node.ports[port].down ? net__choose_live(sw, ports, hop.count, hash) : port;
}

// The port a packet leaves by; NET_NO_PORT: there is none.
static inline uint32_t net__route(const net_switch_t *sw, const net_packet_t *packet)
{
    const net_attachment_t attachment = sw->attachments[packet->destination];
    if (SIM_UNLIKELY(attachment.leaf == NET_NO_LEAF)) {
        return NET_NO_PORT;
    }
    // Up, down to another switch or down to a host: too hard to guess, so all go one way.
    const net_hop_t hop = sw->hops[attachment.leaf];
    const uint32_t here = 0 - (uint32_t)(attachment.leaf == sw->leaf); // a mask
    if (SIM_UNLIKELY(sw->murmur) && !here) {
        return net__route_murmur(sw, packet, hop);
    }
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
        // The upper bits of the hash are what chose this port: others spread its flows.
        return net__choose_live(sw, sw->hop_ports + hop.first, count, hash * 0x9e3779b1u);
    }
    return port;
}

// -- fractions of the buffer

// Alphas are kept as multiples of 2^-20: exact for the powers of two that switches offer.
#define NET__ALPHA_BITS 20u
#define NET__ALPHA_ONE (UINT64_C(1) << NET__ALPHA_BITS)

static inline uint64_t net__alpha_of(sim_ratio_t ratio)
{
    return (ratio.num << NET__ALPHA_BITS) / ratio.den;
}

static inline uint64_t net__fraction_of(uint64_t bytes, uint64_t alpha)
{
    return (bytes * alpha) >> NET__ALPHA_BITS;
}

// What of the shared buffer is free. Shared use never exceeds its limit: net__switch_check.
static inline uint64_t net__shared_free(const net_switch_t *sw)
{
    SIM_CHECK(sw->shared_bytes <= sw->shared_limit);
    return sw->shared_limit - sw->shared_bytes;
}

// -- ECN

// A packet that an earlier hop has marked gets nothing new here, and is counted apart.
static inline void net__mark_now(net_port_t *egress, net_packet_t *packet)
{
    const bool again = packet->ecn == NET_ECN_CE;
    packet->ecn = NET_ECN_CE;
    (again ? egress->ecn_marked_again : egress->ecn_marked)[packet->priority]++;
    net_port_trace(egress, NET_TRACE_MARK, packet, again);
}

// RED on so many bytes, which are more than the port's kmin.
static inline void net__mark_by(net_switch_t *sw,
                                net_port_t *egress,
                                net_packet_t *packet,
                                uint64_t queued)
{
    marking_t *const marking = &sw->marking[egress->index];
    if (queued <= marking->kmax_bytes &&
        sim_random_u64(&marking->random) >= (queued - marking->kmin_bytes) * marking->slope) {
        return;
    }
    net__mark_now(egress, packet);
}

// On the bytes left in the queue as the packet leaves it (papers on DCQCN mark at dequeue).
static inline void net__mark(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    const net_class_t *const class = &egress->classes[packet->priority];
    if (class->bytes > class->mark_above_bytes && packet->ecn != NET_ECN_NOT_ECT) {
        net__mark_by(sw, egress, packet, class->bytes);
    }
}

// switch.c, switch.ecn.mark-at: enqueue. On the bytes in the queue as the packet joins it.
void net__mark_early(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);

// decisions.c: RED, by the numbers of net_t.draws; and what uses up one besides.
void net__mark_drawn(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
void net__draw_left_out(const net_switch_t *sw);

// switch_check.c: what must hold between events; port: of the event.
void net__switch_check(const net_switch_t *sw, uint32_t port);
static inline void net__switch_event_over(const net_switch_t *sw, const sim_event_t *event)
{
#ifdef SIM_DEAR_CHECKS
    net__switch_check(sw, event->kind == SIM_EVENT_TIMER ? 0 : event->port);
#else
    (void)sw;
    (void)event;
#endif
}

// switch_hpcc.c: the run of a switch whose config says NET_MMU_HPCC, and its set-up.
void net__switch_run_hpcc(sim_node_t *node);
void net__switch_built_hpcc(net_switch_t *sw);

#endif // NET_SWITCH_SWITCH_INTERNAL_H
