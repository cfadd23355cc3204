// SPDX-License-Identifier: Apache-2.0
// net/switch/switch_internal.h - net's own buffer, marking and balance, to be compiled into the
// loop of a switch that has all three.
#ifndef NET_SWITCH_SWITCH_INTERNAL_H
#define NET_SWITCH_SWITCH_INTERNAL_H

#include <string.h>

#include "net/network_internal.h"
#include "net/switch_model.h"

// switch.c: runs by the tables.
void net__switch_run_tables(sim_node_t *node);
// With net's own rows: the part of an arrival that must wait for its port.
void net__switch_enqueue(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
void net__switch_pause_arrived(net_switch_t *sw, net_port_t *port, net_packet_t *packet);
// Takes events one by one, while it must be so. False: there is none before the end.
bool net__switch_run_exactly(net_switch_t *sw);
static inline bool net__switch_must_be_exact(const net_switch_t *sw)
{
    return sw->stopped_count > 0 || sw->node.one_by_one;
}
// late.c: runs with net's own rows, as far as possible without a wake for each departure.
void net__switch_run_late(sim_node_t *node);
void net__switch_warm(const sim_node_t *node, uint32_t arrivals);
void net__switch_warm_heads(const net_switch_t *sw);

// The eight ports from p on that are late (net_switch_t.late), in a word; the first of them.
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

// watchdog.c: of a switch that has one; drops what waits in a queue.
void net__watchdog_start(net_switch_t *sw);
void net__watchdog_free(net_switch_t *sw);
void net__watchdog_drop(net_switch_t *sw, net_port_t *egress, uint32_t priority);

// -- balance "ecmp"

// Hash of the 5-tuple with the switch's own seed: the same function at two tiers would send what
// one tier put on a port out of the same port of the next (polarisation).
static inline uint32_t net__spread(const net_switch_t *sw, uint32_t flow_hash)
{
    uint32_t hash = (flow_hash ^ sw->ecmp_seed) * 0x85ebca6bu;
    hash ^= hash >> 15;
    return hash * 0xc2b2ae35u;
}

// The port a packet leaves by; NET_NO_PORT: there is none.
static inline uint32_t net__route(net_switch_t *sw, const net_packet_t *packet)
{
    const net_attachment_t attachment = sw->attachments[packet->destination];
    if (SIM_UNLIKELY(attachment.leaf == NET_NO_LEAF)) {
        return NET_NO_PORT;
    }
    // Up, down to another switch or down to a host: too hard to guess, so all go one way.
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
        // The upper bits of the hash are what chose this port: others spread its flows.
        return net_switch_choose_live(sw, sw->hop_ports + hop.first, count, hash * 0x9e3779b1u);
    }
    return port;
}

// -- marking "red"

// RED on so many bytes, which are more than the port's kmin.
static inline void net__mark_by(net_switch_t *sw,
                                net_port_t *egress,
                                net_packet_t *packet,
                                uint8_t marks,
                                uint32_t priority,
                                uint64_t queued)
{
    net_red_t *const red = net_switch_red(sw, egress);
    if (queued <= red->kmax_bytes &&
        sim_random_u64(&red->random) >= (queued - red->kmin_bytes) * red->slope) {
        return;
    }
    net_switch_mark_known(egress, packet, marks, priority);
}

// On the bytes left in the queue as the packet leaves it (papers on DCQCN mark at dequeue).
void net__mark_late(net_switch_t *sw,
                    net_port_t *egress,
                    const net_class_t *queue,
                    net_packet_t *packet,
                    uint8_t marks,
                    uint32_t priority);
static SIM_ALWAYS_INLINE void net__mark(net_switch_t *sw,
                                        net_port_t *egress,
                                        const net_class_t *queue,
                                        net_packet_t *packet,
                                        uint8_t marks,
                                        uint32_t priority)
{
    if (SIM_UNLIKELY(queue->bytes > sw->mark_above_bytes)) {
        net__mark_late(sw, egress, queue, packet, marks, priority);
    }
}

// switch.ecn.mark-at: enqueue. On the bytes in the queue as the packet joins it.
void net__mark_early(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);

// -- buffer "standard"

static inline uint64_t net__xoff_threshold(const net_switch_t *sw)
{
    if (sw->config.pfc_threshold_bytes != SIM_AUTO) {
        return sw->config.pfc_threshold_bytes;
    }
    return net_fraction_of(net_switch_shared_free(sw), sw->pfc_alpha);
}

// buffer.c
void net__stop_peer(net_switch_t *sw, net_ingress_t *in, uint32_t priority);
void net__let_peer_go(net_switch_t *sw, net_ingress_t *in, uint32_t priority);
void net__release_crowded(net_switch_t *sw, uint32_t port, uint32_t priority, uint64_t bytes);

// Room in what is reserved and what is shared, up to the threshold; false: nothing is taken.
static inline bool net__admit_shared(net_switch_t *sw, net_received_t *held, uint64_t bytes)
{
    const uint64_t stored = held->stored_bytes + bytes;
    const uint64_t above = net_switch_above_reserved(sw, stored);
    const uint64_t more = above < bytes ? above : bytes; // that is shared
    if (SIM_LIKELY(above <= sw->calm_above_bytes && sw->shared_bytes <= sw->calm_shared_bytes) ||
        above == 0 ||
        (above <= net__xoff_threshold(sw) && sw->shared_bytes + more <= sw->shared_limit)) {
        held->stored_bytes = stored;
        sw->shared_bytes += more;
        return true;
    }
    return false;
}

// Finds room for a lossless packet: reserved first, then shared up to the threshold, then headroom.
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
    // Where nothing is held, nothing will leave and let the peer go again.
    if (!held->stopped && held->stored_bytes + held->headroom_bytes > 0) {
        net__stop_peer(sw, in, packet->priority);
    }
    return fits;
}

// Bytes of what is reserved and what is shared are free again.
static inline void net__release_stored(net_switch_t *sw, net_received_t *held, uint64_t bytes)
{
    const uint64_t stored = held->stored_bytes;
    const uint64_t above = net_switch_above_reserved(sw, stored);
    SIM_CHECK(stored >= bytes);
    held->stored_bytes = stored - bytes;
    sw->shared_bytes -= above < bytes ? above : bytes;
}

// A packet that was admitted starts to leave.
static inline void net__release_lossless(net_switch_t *sw,
                                         uint32_t port,
                                         uint32_t priority,
                                         uint64_t bytes)
{
    net_received_t *const held = sw->node.ports[port].received[priority];
    if (SIM_UNLIKELY(held->crowded != 0)) {
        net__release_crowded(sw, port, priority, bytes);
    } else {
        net__release_stored(sw, held, bytes);
    }
}

// Finds room for a lossy packet at its egress queue.
static inline bool net__admit_lossy(net_switch_t *sw,
                                    const net_port_t *egress,
                                    const net_packet_t *packet,
                                    net_drop_reason_t *reason)
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

static inline bool net__admit(net_switch_t *sw,
                              const net_port_t *egress,
                              const net_packet_t *packet,
                              net_drop_reason_t *reason)
{
    if (sw->lossless & (1u << packet->priority)) {
        *reason = NET_DROP_HEADROOM_FULL;
        return net__admit_lossless(sw, packet);
    }
    return net__admit_lossy(sw, egress, packet, reason);
}

static inline void net__release(net_switch_t *sw, uint32_t port, uint32_t priority, uint32_t bytes)
{
    if (sw->lossless & (1u << priority)) {
        net__release_lossless(sw, port, priority, bytes);
    } else {
        SIM_CHECK(sw->shared_bytes >= bytes);
        sw->shared_bytes -= bytes;
    }
}

#endif // NET_SWITCH_SWITCH_INTERNAL_H
