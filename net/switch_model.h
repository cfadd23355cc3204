// SPDX-License-Identifier: Apache-2.0
// net/switch_model.h - the state of a switch that a buffer, marking or balancer works on.
//
// Bytes held per ingress (port, class) are in net_port_t.received, those per egress (port, class)
// in net_port_t.classes. The rest is here; comments name the part that sets a field.
#ifndef NET_SWITCH_MODEL_H
#define NET_SWITCH_MODEL_H

#include "net/models.h"
#include "net/switch.h"

SIM_C_BEGIN

struct net_hop_page;
struct net_attachment;

// A receiving port of the switch.
typedef struct net_ingress {
    uint64_t headroom_limit; // bytes per class, from switch.pfc.headroom or set by the buffer
    uint8_t stopped;         // classes in which the peer must not send
    uint16_t quanta;         // of the pauses that are sent
    sim_timer_t refresh;     // repeats a pause before the peer's clock runs out
    net_port_t *port;
} net_ingress_t;

// The state of RED at one port, on a cache line.
typedef struct net_red {
    uint64_t kmin_bytes;
    uint64_t kmax_bytes;
    uint64_t slope; // probability per byte above kmin, in units of 2^-64
    sim_random_t random;
    double pmax;
    bool by_packet; // network.draws: packet
    char pad[SIM_CACHE_LINE - 5 * sizeof(uint64_t) - sizeof(sim_random_t)];
} net_red_t;

struct net_switch {
    net_node_t node; // first
    const struct net_attachment *attachments;
    struct net_hop_page *const *hop_pages;
    const uint32_t *hop_ports;
    void *buffer_state; // buffer->state_bytes of memory; marking_state and balance_state likewise
    uint8_t lossless;
    uint8_t warm_class; // class that most packets are expected in, for prefetching
    bool routed;
    bool trust_dscp;
    bool routed_by_dscp;       // routed, trust_dscp, and nothing else that is unusual
    bool by_table;             // the load balancer is called through its table: it is not "ecmp"
    bool shows_packets;        // the load balancer's `enters` is called
    uint8_t marks_early;       // classes that are marked as packets join the queue
    uint8_t marks_late;        // classes that are marked as packets leave the queue
    uint8_t odd_classes;       // classes that are lossy or marked early; 0 in most networks
    uint8_t limited_classes;   // classes whose queues have limits of "trimming"; 0: not trimming
    uint64_t mark_above_bytes; // lowest kmin of all ports: shorter queues are never marked
    uint64_t shared_bytes;     // shared buffer in use
    uint64_t shared_limit;     // buffer that is neither reserved nor headroom; set by the buffer
    uint64_t headroom_free;    // bytes that all headroom together may still take
    uint64_t held_bytes;       // all bytes stored
    // Set by net's own buffer. While shared_bytes <= calm_shared_bytes, an ingress (port, class)
    // that uses at most calm_above_bytes of it always finds room: no threshold need be computed.
    uint64_t calm_shared_bytes;
    uint64_t calm_above_bytes;
    uint64_t reserved_bytes; // per lossless ingress (port, class), from the configuration
    uint8_t *late;           // 1 for each port whose departures are replayed: NET_WAKE_LATE
    uint32_t late_ports;     // length of `late`: the number of ports, rounded up to eight
    uint32_t stopped_count;  // number of (port, class) pairs whose peer must not send
    uint64_t pfc_alpha;      // in units of 2^-NET_ALPHA_BITS
    uint64_t lossy_alpha;    // in units of 2^-NET_ALPHA_BITS
    net_ingress_t *ingress;  // by port
    net_red_t *red;          // by port; NULL: not made yet (net_switch_red)
    const net_buffer_ops_t *buffer;
    const net_marking_ops_t *marking;
    const net_balance_ops_t *balance;
    uint32_t leaf; // its own leaf number; NET_NO_LEAF - 1: it has no hosts
    uint32_t ecmp_seed;
    void *marking_state;
    void *balance_state;
    uint64_t parked_bytes[NET_PRIORITIES]; // bytes that the load balancer holds back
    uint8_t header_bytes;                  // of the load balancer, on links between switches
    struct net_watchdog *watchdog;         // NULL: there is none
    net_switch_config_t config;
    struct net_chance *chance; // net/switch/chance.h; NULL: nobody wants to know
    sim_node_ops_t loop;       // the node's operations, with the loop that choose_loop selected
};

static inline net_switch_t *net_switch_of(net_node_t *node)
{
    SIM_CHECK(node->kind == NET_NODE_SWITCH);
    return (net_switch_t *)(void *)node;
}

// -- routing

// Returns the port by which a packet leaves, chosen by the switch's balance; NET_NO_PORT: none.
uint32_t net_switch_route(net_switch_t *sw, const net_packet_t *packet);

// Returns whether a packet brings its route, so that its egress port needs no look-up.
static inline bool net_switch_brings(const net_switch_t *sw, const net_packet_t *packet)
{
    return ((uint32_t)packet->route & sw->node.route_mask) != 0;
}

// Takes the next port from net_packet_t.route and returns it. Returns NET_NO_PORT if the node does
// not follow routes or a route here has changed; the packet then looks up every further port.
static inline uint32_t net_switch_brought(const net_switch_t *sw, net_packet_t *packet)
{
    const uint32_t brought = (uint32_t)packet->route & sw->node.route_mask;
    if (SIM_LIKELY(brought != 0)) {
        packet->route >>= 8;
        return brought - 1;
    }
    packet->route = 0;
    return NET_NO_PORT;
}

// Returns the port that a hash selects among the ports of a range that are up; NET_NO_PORT: none.
uint32_t net_switch_choose_live(const net_switch_t *sw, const uint32_t *ports, uint32_t count,
                                uint32_t hash);

// -- arrival

// Result of classifying an arriving packet, before any buffer is reserved.
typedef enum net_entry {
    NET_ENTERS,       // it is for `*out`
    NET_IS_PAUSE,     // a PFC frame, for the port that it came in at
    NET_HAS_NO_ROUTE, // its destination cannot be reached from here
    NET_IS_EXPIRED,   // its TTL is used up; the packet is unchanged
} net_entry_t;

// A function that looks up the port for a packet that brings no route; NET_NO_PORT: there is none.
typedef uint32_t net_look_up_fn(net_switch_t *sw, const net_packet_t *packet);

// Classifies a packet that has arrived: finds its egress port, decrements its TTL and sets its
// class from the DSCP. Every switch loop begins with it; loops differ in admission and departure.
// look_up NULL: the caller knows that the packet brings its route. routed and trust_dscp are the
// switch's own; a caller that knows them at compile time saves the test.
static SIM_ALWAYS_INLINE net_entry_t net_switch_classify(net_switch_t *sw, net_packet_t *packet,
                                                         net_look_up_fn *const look_up,
                                                         const bool routed, const bool trust_dscp,
                                                         uint32_t *out)
{
    uint32_t way = net_switch_brought(sw, packet);
    if (look_up != NULL && SIM_UNLIKELY(way == NET_NO_PORT)) {
        if (packet->kind == NET_PACKET_CONTROL) { // which never brings a route
            return NET_IS_PAUSE;
        }
        way = look_up(sw, packet);
        if (SIM_UNLIKELY(way == NET_NO_PORT)) {
            return NET_HAS_NO_ROUTE;
        }
    }
    if (routed && SIM_UNLIKELY(--packet->ttl == 0)) {
        packet->ttl = 1;
        return NET_IS_EXPIRED;
    }
    if (trust_dscp) {
        packet->priority = (uint8_t)((uint32_t)packet->dscp >> 3);
    }
    SIM_ASSERT(way != NET_NO_PORT);
    *out = way;
    return NET_ENTERS;
}

// Drops a packet that came in at `ingress` and is NET_HAS_NO_ROUTE or NET_IS_EXPIRED.
static inline void net_switch_refuse(net_port_t *ingress, net_packet_t *packet, net_entry_t entry)
{
    SIM_CHECK(entry == NET_HAS_NO_ROUTE || entry == NET_IS_EXPIRED);
    net_port_drop(ingress, packet, entry == NET_IS_EXPIRED ? NET_DROP_TTL : NET_DROP_NO_ROUTE);
}

// -- fractions of the buffer

// Alphas are multiples of 2^-20: exact for the powers of two that switches offer.
#define NET_ALPHA_BITS 20u
#define NET_ALPHA_ONE (UINT64_C(1) << NET_ALPHA_BITS)

static inline uint64_t net_alpha_of(sim_ratio_t ratio)
{
    return (ratio.num << NET_ALPHA_BITS) / ratio.den;
}

static inline uint64_t net_fraction_of(uint64_t bytes, uint64_t alpha)
{
    return (bytes * alpha) >> NET_ALPHA_BITS;
}

// Returns the free bytes of the shared buffer. Shared use never exceeds its limit.
static inline uint64_t net_switch_shared_free(const net_switch_t *sw)
{
    SIM_CHECK(sw->shared_bytes <= sw->shared_limit);
    return sw->shared_limit - sw->shared_bytes;
}

// Returns the part of `bytes` held by one ingress (port, class) that exceeds its reserved buffer.
static inline uint64_t net_switch_above_reserved(const net_switch_t *sw, uint64_t bytes)
{
    const uint64_t reserved = sw->reserved_bytes;
    return bytes > reserved ? bytes - reserved : 0;
}

// -- for load balancers

// Returns the bytes that wait at a port and those of the frame on its link that are not yet sent.
uint64_t net_switch_port_load(net_switch_t *sw, uint32_t port);

// Sends a packet by a port, or queues it there. Takes the packet.
void net_switch_forward(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
// Takes room in the buffer for a packet that the balancer holds back before it goes to `egress`.
// Its ingress_port and priority are set. Returns false, and has dropped it, if there is no room.
bool net_switch_park(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
// Does the same, but leaves the packet to the caller if there is no room. A lossless packet may
// exceed the threshold of its ingress, which then stops the peer: it takes shared buffer and no
// headroom, which belongs to packets under way.
bool net_switch_try_park(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
// Queues a packet at `egress` that was parked. Takes it.
void net_switch_release(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);

SIM_C_END

#endif // NET_SWITCH_MODEL_H
