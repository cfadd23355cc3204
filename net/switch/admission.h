// SPDX-License-Identifier: Apache-2.0
// net/switch/admission.h - the buffers "standard" and "trimming": who gets room.
#ifndef NET_SWITCH_ADMISSION_H
#define NET_SWITCH_ADMISSION_H

#include "net/switch_model.h"

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
// Shares the buffer, but for what net_buffer_ops_t.dedicated returns.
void net__buffer_share(net_switch_t *sw);
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
    const bool fits =
        held->headroom_bytes + bytes <= in->headroom_limit && bytes <= sw->headroom_free;
    if (fits) {
        held->headroom_bytes = (held->headroom_bytes + bytes) & NET_HEADROOM_MASK;
        sw->headroom_free -= bytes;
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
    const net_trimming_t *const trimming = (const net_trimming_t *)sw->buffer_state;
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

#endif // NET_SWITCH_ADMISSION_H
