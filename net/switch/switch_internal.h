// SPDX-License-Identifier: Apache-2.0
// net/switch/switch_internal.h - net's own buffer, marking and balance as inline functions, so that
// they can be compiled into the loop of a switch that has all three.
#ifndef NET_SWITCH_SWITCH_INTERNAL_H
#define NET_SWITCH_SWITCH_INTERNAL_H

#include <string.h>

#include "net/network_internal.h"
#include "net/routes_internal.h"
#include "net/switch_model.h"

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
// late.c: runs a switch with net's own models, or with the buffer "trimming" and otherwise net's
// own, and replays most departures without a wake event.
void net__switch_run_late(sim_node_t *node);
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

// watchdog.c: start does nothing without a watchdog; drop discards all packets of one queue.
void net__watchdog_start(net_switch_t *sw);
void net__watchdog_free(net_switch_t *sw);
void net__watchdog_drop(net_switch_t *sw, net_port_t *egress, uint32_t priority);

// balance/table.c: returns the load balancer that a switch's configuration asks for.
const net_balance_ops_t *net__switch_balance(const net_t *net, const net_balance_config_t *config);
// Fails with the reason if the switch cannot have the load balancer that it asks for.
SIM_MUST_CHECK sim_err_t net__switch_check_balance(const net_switch_t *sw, sim_message_t *message);

// -- balance "ecmp"

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

// -- marking "red"

// Draws for a packet with network.draws: packet, and counts that in red->random.counter. It is not
// inlined, so that net__mark_by can be.
uint64_t net__mark_draw(net_red_t *red, const net_packet_t *packet);

// Marks a packet (net_switch_mark_known). It is not inlined: its callers then need no stack frame.
void net__mark_known(net_port_t *egress, net_packet_t *packet, uint8_t marks, uint32_t priority);

// Marks by RED for a queue of `queued` bytes, which is more than the port's kmin.
static SIM_ALWAYS_INLINE void net__mark_by(net_switch_t *sw, net_port_t *egress,
                                           net_packet_t *packet, uint8_t marks, uint32_t priority,
                                           uint64_t queued)
{
    net_red_t *const red = net_switch_red(sw, egress);
    if (queued <= red->kmax_bytes &&
        (SIM_UNLIKELY(red->by_packet)
             ? net__mark_draw(red, packet)
             : sim_random_u64(&red->random)) >= (queued - red->kmin_bytes) * red->slope) {
        return;
    }
    net__mark_known(egress, packet, marks, priority);
}

// Mark by the bytes that a packet leaves behind (papers on DCQCN mark at dequeue). net__mark_late
// is the part that runs only above the lowest kmin of the switch.
void net__mark_late(net_switch_t *sw, net_port_t *egress, const net_class_t *queue,
                    net_packet_t *packet, uint8_t marks, uint32_t priority);
static SIM_ALWAYS_INLINE void net__mark(net_switch_t *sw, net_port_t *egress,
                                        const net_class_t *queue, net_packet_t *packet,
                                        uint8_t marks, uint32_t priority)
{
    if (SIM_UNLIKELY(queue->bytes > sw->mark_above_bytes)) {
        net__mark_late(sw, egress, queue, packet, marks, priority);
    }
}

// Marks by the bytes that a packet finds as it joins the queue (switch.ecn.mark-at: enqueue).
void net__mark_early(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);

// -- buffer "standard"

// Returns the bytes of shared buffer above which an ingress (port, class) stops its peer.
static inline uint64_t net__xoff_threshold(const net_switch_t *sw)
{
    if (sw->config.pfc_threshold_bytes != SIM_AUTO) {
        return sw->config.pfc_threshold_bytes;
    }
    return net_fraction_of(net_switch_shared_free(sw), sw->pfc_alpha);
}

// buffer.c: stop sends XOFF, let_peer_go sends XON; release_crowded frees bytes of an ingress
// (port, class) that uses headroom or has stopped its peer.
void net__stop_peer(net_switch_t *sw, net_ingress_t *in, uint32_t priority);
void net__let_peer_go(net_switch_t *sw, net_ingress_t *in, uint32_t priority);
void net__release_crowded(net_switch_t *sw, uint32_t port, uint32_t priority, uint64_t bytes);

// Takes room in the reserved and then in the shared buffer, up to the threshold. Returns false and
// takes nothing if there is no room.
static inline bool net__admit_shared(net_switch_t *sw, net_received_t *held, uint64_t bytes)
{
    const uint64_t stored = held->stored_bytes + bytes;
    const uint64_t above = net_switch_above_reserved(sw, stored);
    const uint64_t more = SIM_MIN(above, bytes); // shared bytes that the packet adds
    if (SIM_LIKELY(above <= sw->calm_above_bytes && sw->shared_bytes <= sw->calm_shared_bytes) ||
        above == 0 ||
        (above <= net__xoff_threshold(sw) && sw->shared_bytes + more <= sw->shared_limit)) {
        held->stored_bytes = stored;
        sw->shared_bytes += more;
        return true;
    }
    return false;
}

// Takes room for a lossless packet: reserved, then shared up to the threshold, then headroom. Stops
// the peer when the first two are full. Returns false if headroom is full, too.
static inline bool net__admit_lossless(net_switch_t *sw, const net_packet_t *packet)
{
    net_received_t *const held = sw->node.ports[packet->ingress_port].received[packet->priority];
    const uint64_t bytes = packet->frame_bytes;
    if (net__admit_shared(sw, held, bytes)) {
        return true;
    }
    net_ingress_t *const in = &sw->ingress[packet->ingress_port];
    const bool fits = held->headroom_bytes + bytes <= in->headroom_limit;
    if (fits) {
        held->headroom_bytes = (held->headroom_bytes + bytes) & NET_HEADROOM_MASK;
    }
    // If nothing is held, no departure could ever release the peer.
    if (!held->stopped && held->stored_bytes + held->headroom_bytes > 0) {
        net__stop_peer(sw, in, packet->priority);
    }
    return fits;
}

// Frees bytes of one ingress (port, class) in the shared and then in the reserved buffer.
static inline void net__release_stored(net_switch_t *sw, net_received_t *held, uint64_t bytes)
{
    const uint64_t stored = held->stored_bytes;
    const uint64_t above = net_switch_above_reserved(sw, stored);
    SIM_CHECK(stored >= bytes);
    held->stored_bytes = stored - bytes;
    sw->shared_bytes -= SIM_MIN(above, bytes);
}

// Frees the room of a lossless packet whose transmission starts.
static inline void net__release_lossless(net_switch_t *sw, uint32_t port, uint32_t priority,
                                         uint64_t bytes)
{
    net_received_t *const held = sw->node.ports[port].received[priority];
    if (SIM_UNLIKELY(held->crowded != 0)) {
        net__release_crowded(sw, port, priority, bytes);
    } else {
        net__release_stored(sw, held, bytes);
    }
}

// Takes shared buffer for a lossy packet, limited by its egress queue. Returns false with *reason
// if there is no room.
static inline bool net__admit_lossy(net_switch_t *sw, const net_port_t *egress,
                                    const net_packet_t *packet, net_drop_reason_t *reason)
{
    const uint64_t free_bytes = net_switch_shared_free(sw);
    if (packet->frame_bytes > free_bytes) {
        *reason = NET_DROP_BUFFER_FULL;
        return false;
    }
    const uint64_t limit = net_fraction_of(free_bytes, sw->lossy_alpha);
    if (egress->classes[packet->priority]->bytes + packet->frame_bytes > limit) {
        *reason = NET_DROP_EGRESS_FULL;
        return false;
    }
    sw->shared_bytes += packet->frame_bytes;
    return true;
}

static inline bool net__admit(net_switch_t *sw, const net_port_t *egress,
                              const net_packet_t *packet, net_drop_reason_t *reason)
{
    if (sw->lossless & (1u << packet->priority)) {
        *reason = NET_DROP_HEADROOM_FULL;
        return net__admit_lossless(sw, packet);
    }
    return net__admit_lossy(sw, egress, packet, reason);
}

// -- buffer "trimming"

// The limits of one port, and its coin.
typedef struct net_trim_port {
    uint64_t data_bytes;    // of a queue of a class that is trimmed
    uint64_t headers_bytes; // of the queue of the class of trimmed packets
    sim_random_t random;
} net_trim_port_t;

// net_switch_t.buffer_state of the buffer "trimming".
typedef struct net_trimming {
    net_trim_port_t *ports;
} net_trimming_t;

// Returns whether the queues of a class have limits of their own (net_switch_t.limited_classes).
static inline bool net__is_limited(const net_switch_t *sw, uint32_t priority)
{
    return ((uint32_t)sw->limited_classes >> priority & 1u) != 0;
}

// Takes shared buffer for a packet of a limited class. Returns false with *reason if its queue or
// the buffer is full.
static inline bool net__admit_limited(net_switch_t *sw, const net_port_t *egress,
                                      const net_packet_t *packet, net_drop_reason_t *reason)
{
    const net_trimming_t *const trimming = sw->buffer_state;
    const net_trim_port_t *const at = &trimming->ports[egress->index];
    const bool is_data = ((uint32_t)sw->config.trim_priorities >> packet->priority & 1u) != 0;
    if (packet->frame_bytes > net_switch_shared_free(sw)) {
        *reason = NET_DROP_BUFFER_FULL;
        return false;
    }
    if (egress->classes[packet->priority]->bytes + packet->frame_bytes >
        (is_data ? at->data_bytes : at->headers_bytes)) {
        *reason = NET_DROP_EGRESS_FULL;
        return false;
    }
    sw->shared_bytes += packet->frame_bytes;
    return true;
}

static inline void net__release(net_switch_t *sw, uint32_t port, uint32_t priority, uint32_t bytes)
{
    if (SIM_LIKELY((sw->lossless & (1u << priority)) != 0)) {
        net__release_lossless(sw, port, priority, bytes);
    } else {
        SIM_CHECK(sw->shared_bytes >= bytes);
        sw->shared_bytes -= bytes;
    }
}

#endif // NET_SWITCH_SWITCH_INTERNAL_H
