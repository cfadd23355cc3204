// SPDX-License-Identifier: Apache-2.0
// net/switch_model.h - what a buffer, a marking or a balance sees of a switch (net/models.h).
//
// Per ingress (port, class) what is held stands in net_port_t.received, per egress (port, class) in
// net_port_t.classes. The rest is here; which part sets a field stands beside it.
#ifndef NET_SWITCH_MODEL_H
#define NET_SWITCH_MODEL_H

#include "net/models.h"
#include "net/switch.h"

SIM_C_BEGIN

struct net_hop_page;
struct net_attachment;

// One port, receiving.
typedef struct net_ingress {
    uint64_t headroom_limit; // per class; as switch.pfc.headroom says, unless the buffer differs
    uint8_t stopped;         // classes told to stop
    uint16_t quanta;
    sim_timer_t refresh; // repeats the pause before the peer's clock runs out
    net_port_t *port;
} net_ingress_t;

// RED at one port: a cache line.
typedef struct net_red {
    uint64_t kmin_bytes;
    uint64_t kmax_bytes;
    uint64_t slope; // probability per byte above kmin, in units of 2^-64
    sim_random_t random;
    double pmax;
    char pad[SIM_CACHE_LINE - 4 * sizeof(uint64_t) - sizeof(sim_random_t)];
} net_red_t;

struct net_switch {
    net_node_t node; // first
    const struct net_attachment *attachments;
    struct net_hop_page *const *hop_pages;
    const uint32_t *hop_ports;
    void *buffer_state; // of state_bytes, as marking_state and balance_state
    uint8_t lossless;
    uint8_t warm_class; // the class most packets are expected in
    bool routed;
    bool trust_dscp;
    bool routed_by_dscp;       // both
    uint8_t marks_early;       // classes marked as they join the queue
    uint8_t marks_late;        // and as they leave it
    uint8_t odd_classes;       // that are not lossless, or marked early: rarely any
    uint64_t mark_above_bytes; // none is marked with so many queued, at any port
    uint64_t shared_bytes;     // in use
    uint64_t shared_limit;     // the buffer's to set: what is neither reserved nor headroom
    uint64_t held_bytes;       // all that is stored
    // Of net's own buffer: while no more than the one is shared, an ingress (port, class) that uses
    // no more than the other of it always finds room.
    uint64_t calm_shared_bytes;
    uint64_t calm_above_bytes;
    uint64_t reserved_bytes; // of the configuration, by ingress (port, class)
    uint8_t *late;           // 1 for each port whose departures are made up for: NET_WAKE_LATE
    uint32_t late_ports;     // all, rounded up to eight
    uint32_t stopped_count;  // classes of ports whose peer was told to stop
    uint64_t pfc_alpha;      // in 2^-NET_ALPHA_BITS
    uint64_t lossy_alpha;
    net_ingress_t *ingress; // by port
    net_red_t *red;         // by port; NULL: nothing was to be marked yet (net_switch_red)
    const net_buffer_ops_t *buffer;
    const net_marking_ops_t *marking;
    const net_balance_ops_t *balance;
    uint32_t leaf; // own number; NO_LEAF
    uint32_t ecmp_seed;
    void *marking_state;
    void *balance_state;
    struct net_watchdog *watchdog; // NULL: none
    net_switch_config_t config;
    uint32_t quantum_bytes[NET_PRIORITIES];
    sim_node_ops_t loop; // the node's operations, where they are not the usual ones
};

static inline net_switch_t *net_switch_of(net_node_t *node)
{
    SIM_CHECK(node->kind == NET_NODE_SWITCH);
    return (net_switch_t *)(void *)node;
}

// -- routing

// The port a packet leaves by, as the switch's balance chooses; NET_NO_PORT: there is none.
uint32_t net_switch_route(net_switch_t *sw, const net_packet_t *packet);

// Whether a packet brings its route, so that its egress port needs no look-up.
static inline bool net_switch_brings(const net_switch_t *sw, const net_packet_t *packet)
{
    return ((uint32_t)packet->route & sw->node.route_mask) != 0;
}

// The port that the packet brings (net_packet_t.route), where the node follows_routes and is as it
// was built; NET_NO_PORT: the packet looks up its way from here on.
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

// The index-th live port of a range, for a hash over the live ones only; NO_PORT: none is.
uint32_t net_switch_choose_live(const net_switch_t *sw,
                                const uint32_t *ports,
                                uint32_t count,
                                uint32_t hash);

// -- arrival

// The answer to an arriving packet, before anybody looks for room for it.
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
static SIM_ALWAYS_INLINE net_entry_t net_switch_classify(net_switch_t *sw,
                                                         net_packet_t *packet,
                                                         net_look_up_fn *const look_up,
                                                         const bool routed,
                                                         const bool trust_dscp,
                                                         uint32_t *out)
{
    uint32_t way = net_switch_brought(sw, packet);
    if (look_up != NULL && SIM_UNLIKELY(way == NET_NO_PORT)) {
        if (packet->kind == NET_PACKET_PFC) { // which never brings a route
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

// Alphas are kept as multiples of 2^-20: exact for the powers of two that switches offer.
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

// What of the shared buffer is free. Shared use never exceeds its limit.
static inline uint64_t net_switch_shared_free(const net_switch_t *sw)
{
    SIM_CHECK(sw->shared_bytes <= sw->shared_limit);
    return sw->shared_limit - sw->shared_bytes;
}

// What of bytes held at one ingress (port, class) is not in its reserve.
static inline uint64_t net_switch_above_reserved(const net_switch_t *sw, uint64_t bytes)
{
    const uint64_t reserved = sw->reserved_bytes;
    return bytes > reserved ? bytes - reserved : 0;
}

// -- ECN

// The marking "red" of one port; made for all ports when a switch first asks, as most of a large
// network never mark. Seeds and thresholds are those of its ports: when does not matter.
net_red_t *net__switch_red_make(net_switch_t *sw);
static inline net_red_t *net_switch_red(net_switch_t *sw, const net_port_t *egress)
{
    net_red_t *const red = SIM_LIKELY(sw->red != NULL) ? sw->red : net__switch_red_make(sw);
    return &red[egress->index];
}

// Whether its marking is net's "red": then a packet that leaves its queue empty is never marked.
bool net_switch_marks_red(const net_switch_t *sw);

// A packet that an earlier hop has marked gets nothing new here, and is counted apart. Its marks
// and its class are known: its own line, which may be far, is only written.
static inline void net_switch_mark_known(net_port_t *egress,
                                         net_packet_t *packet,
                                         uint8_t marks,
                                         uint32_t priority)
{
    const bool again = net_marks_ecn(marks) == NET_ECN_CE;
    sim_node_t *const node = &egress->node->sim;
    packet->marks = net_marks_congested(marks);
    sim_happened(node, 'm', 0, (uint64_t)egress->index << 32 | priority); // may come late
    (again ? egress->rare->ecn_marked_again : egress->ecn_marked)[priority]++;
    egress->counted = 1;
    net_port_trace(egress, NET_TRACE_MARK, packet, again);
}

static inline void net_switch_mark(net_port_t *egress, net_packet_t *packet)
{
    net_switch_mark_known(egress, packet, packet->marks, packet->priority);
}

// -- invariants

// Every packet held is accounted twice: where it came in and where it waits to go out. For
// net_buffer_ops_t.check of buffers that account in net_received_t; lossy_is_shared: lossy packets
// take from the shared buffer too.
void net_switch_check_sums(const net_switch_t *sw, bool lossy_is_shared);

// An event is over.
void net__switch_check(const net_switch_t *sw, uint32_t port);
static inline void net_switch_event_over(const net_switch_t *sw, uint32_t port)
{
#ifdef SIM_DEAR_CHECKS
    net__switch_check(sw, port);
#else
    (void)sw;
    (void)port;
#endif
}

SIM_C_END

#endif // NET_SWITCH_MODEL_H
