// SPDX-License-Identifier: Apache-2.0
// net/switch/loop.c - the exact loop of a switch, one event at a time: route, admit, queue, serve.
//
// A packet that finds its egress port idle passes through without touching the buffer. A packet
// that must wait is stored once and accounted at its ingress (port, class) and in its egress queue;
// it leaves the buffer when its transmission starts.
//
// The loop is compiled twice. With `own`, net's buffer, marking and balance are compiled in;
// otherwise they are called through the switch's tables.
#include "net/port_control.h"
#include "net/port_pause.h"
#include "net/port_queue.h"
#include "net/switch/admission.h"
#include "net/switch/ecmp.h"
#include "net/switch/red.h"
#include "net/switch/switch_internal.h"
#include "net/switch/watchdog.h"
#include "net/switch_checks.h"

static SIM_ALWAYS_INLINE void serve_any(net_switch_t *sw, net_port_t *egress, const bool own)
{
    egress->wake_pending = NET_WAKE_NONE;
    const uint8_t candidates = egress->waiting & (uint8_t)~egress->paused;
    if (egress->controlled) {
        net_port_transmit(egress, net_port_take_control(egress));
        if (candidates != 0 || egress->controlled) {
            net_port_wake(egress);
        }
        return;
    }
    if (candidates == 0) {
        return;
    }
    uint32_t priority = (uint32_t)__builtin_ctz(candidates);
    if (candidates & (candidates - 1)) {
        uint32_t head_bytes[NET_PRIORITIES];
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
            head_bytes[p] =
                candidates & (1u << p) ? net_queue_head(egress->classes[p])->frame_bytes : 0;
        }
        priority = net_port_choose(egress, candidates, head_bytes);
    }
    net_class_t *const queue = egress->classes[priority];
    const net_queued_t queued = net__queue_take(egress, queue, priority);
    if (own) {
        net__mark(sw, egress, queue, queued.packet, queued.marks, priority);
    } else if (sw->marking->leaves != NULL) {
        sw->marking->leaves(sw, egress, queued.packet);
    }
    if (SIM_UNLIKELY(egress->special)) {
        net__port_transmit_special(egress, queued.packet);
    } else {
        sim_node_t *const node = &sw->node.sim;
        net__port_send(egress, node, node->now_ps, queue, queued.packet, queued.frame_bytes);
    }
    sw->held_bytes -= queued.frame_bytes;
    if (own) {
        net__release(sw, queued.ingress_port, priority, queued.frame_bytes);
    } else {
        sw->buffer->release(sw, queued.ingress_port, priority, queued.frame_bytes);
    }
    net_port_trace(egress, NET_TRACE_RELEASE, NULL, 0);
    if (egress->controlled || (egress->waiting & (uint8_t)~egress->paused)) {
        net_port_wake(egress);
    }
}

static SIM_ALWAYS_INLINE void enqueue_any(net_switch_t *sw, net_port_t *egress,
                                          net_packet_t *packet, const bool own)
{
    net_drop_reason_t reason = NET_DROP_HEADROOM_FULL;
    bool admitted = own ? net__admit(sw, egress, packet, &reason)
                        : sw->buffer->admit(sw, egress, packet, &reason);
    if (!own && !admitted && sw->buffer->no_room != NULL) {
        admitted = sw->buffer->no_room(sw, egress, packet, &reason);
    }
    const uint8_t bit = (uint8_t)(1u << packet->priority);
    if (!admitted) {
        // Headroom belongs to the ingress port, so the drop counts there.
        const bool at_ingress = reason == NET_DROP_HEADROOM_FULL;
        net_port_drop(at_ingress ? &sw->node.ports[packet->ingress_port] : egress, packet, reason);
        return;
    }
    sw->held_bytes += packet->frame_bytes;
    if (own) {
        if (SIM_UNLIKELY(sw->marks_early & bit)) {
            net__mark_early(sw, egress, packet);
        }
    } else if (sw->marking->joins != NULL) {
        sw->marking->joins(sw, egress, packet);
    }
    net_queue_push(egress, packet);
    if (!(egress->paused & bit)) {
        net_port_wake(egress);
    } else if (SIM_UNLIKELY(egress->rare->discards_stopped & bit)) {
        net__watchdog_drop(sw, egress, packet->priority);
    } else if (egress->layered) {
        net_layer_queued(egress, packet->priority);
    }
}

// Not inlined into `arrival`: so the path of a packet that passes straight through stays short.
void net__switch_enqueue(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    enqueue_any(sw, egress, packet, true);
}

void net__switch_enqueue_by_tables(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    enqueue_any(sw, egress, packet, false);
}

static void serve(net_switch_t *sw, net_port_t *egress)
{
    serve_any(sw, egress, true);
}

static void serve_by_tables(net_switch_t *sw, net_port_t *egress)
{
    serve_any(sw, egress, false);
}

uint64_t net_switch_port_load(net_switch_t *sw, uint32_t port_index)
{
    return net__port_load(sw, port_index);
}

void net_switch_forward(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    net__switch_catch_up(sw);
    if (net_port_idle(egress) && ((uint32_t)egress->paused >> packet->priority & 1u) == 0) {
        net_port_transmit(egress, packet);
    } else {
        net__switch_enqueue_by_tables(sw, egress, packet);
    }
}

// Counts a packet that was taken into the buffer but waits in no queue.
static void count_parked(net_switch_t *sw, const net_packet_t *packet)
{
    sw->held_bytes += packet->frame_bytes;
    sw->parked_bytes[packet->priority] += packet->frame_bytes;
}

static bool park(net_switch_t *sw, net_port_t *egress, net_packet_t *packet,
                 net_drop_reason_t *reason)
{
    if (!sw->buffer->admit(sw, egress, packet, reason)) {
        return false;
    }
    count_parked(sw, packet);
    return true;
}

bool net_switch_park(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    net__switch_catch_up(sw);
    net_drop_reason_t reason = NET_DROP_HEADROOM_FULL;
    if (park(sw, egress, packet, &reason)) {
        return true;
    }
    const bool at_ingress = reason == NET_DROP_HEADROOM_FULL;
    net_port_drop(at_ingress ? &sw->node.ports[packet->ingress_port] : egress, packet, reason);
    return false;
}

// Takes shared buffer for a lossless packet whatever its ingress holds, and stops the peer if the
// sum is above the threshold. Returns false if the shared buffer is full.
static bool admit_over(net_switch_t *sw, const net_packet_t *packet)
{
    net_received_t *const held = sw->node.ports[packet->ingress_port].received[packet->priority];
    const uint64_t bytes = packet->frame_bytes;
    const uint64_t above = net_switch_above_reserved(sw, held->stored_bytes + bytes);
    const uint64_t more = SIM_MIN(above, bytes);
    if (sw->shared_bytes + more > sw->shared_limit) {
        return false;
    }
    held->stored_bytes += bytes;
    sw->shared_bytes += more;
    if (!held->stopped && above > net__xoff_threshold(sw)) {
        net__stop_peer(sw, &sw->ingress[packet->ingress_port], packet->priority);
    }
    return true;
}

bool net_switch_try_park(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    net__switch_catch_up(sw);
    net_drop_reason_t reason = NET_DROP_HEADROOM_FULL;
    if (((unsigned)sw->lossless >> packet->priority & 1u) == 0) {
        return park(sw, egress, packet, &reason);
    }
    if (!admit_over(sw, packet)) {
        return false;
    }
    count_parked(sw, packet);
    return true;
}

void net_switch_release(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    const uint8_t bit = (uint8_t)(1u << packet->priority);
    net__switch_catch_up(sw);
    SIM_CHECK(sw->parked_bytes[packet->priority] >= packet->frame_bytes);
    sw->parked_bytes[packet->priority] -= packet->frame_bytes;
    if (sw->marking->joins != NULL) {
        sw->marking->joins(sw, egress, packet);
    }
    net_queue_push(egress, packet);
    if (!(egress->paused & bit)) {
        net_port_wake(egress);
    }
}

void net__switch_pause_arrived(net_switch_t *sw, net_port_t *port, net_packet_t *packet)
{
    const uint8_t released = net_port_control_received(port, packet);
    net_packet_deliver(&sw->node, packet);
    if ((released & port->waiting) != 0 || port->controlled) {
        net_port_wake(port);
    }
}

static SIM_ALWAYS_INLINE void arrival(net_switch_t *sw, uint32_t port_index, net_packet_t *packet,
                                      const bool own)
{
    net_port_t *const ingress = &sw->node.ports[port_index];
    net_port_count_rx(ingress, packet);
    if (!own && sw->shows_packets && packet->kind != NET_PACKET_CONTROL &&
        !sw->balance->enters(sw, ingress, packet)) {
        return;
    }
    uint32_t out;
    const net_entry_t entry = net_switch_classify(sw, packet, own ? net__route : net_switch_route,
                                                  sw->routed, sw->trust_dscp, &out);
    if (SIM_UNLIKELY(entry != NET_ENTERS)) {
        if (entry == NET_IS_PAUSE) {
            net__switch_pause_arrived(sw, ingress, packet);
        } else {
            net_switch_refuse(ingress, packet, entry);
        }
        return;
    }
    packet->ingress_port = (uint16_t)port_index;
    if (!own && sw->buffer->queue_class != NULL) {
        const uint32_t class = sw->buffer->queue_class(sw, packet);
        if (class == NET_PRIORITIES) {
            net_port_drop(ingress, packet, NET_DROP_NO_ROUTE);
            return;
        }
        packet->priority = (uint8_t) class;
    }
    net_port_t *const egress = &sw->node.ports[out];
    const uint8_t bit = (uint8_t)(1u << packet->priority);
    const sim_time_t now_ps = sw->node.sim.now_ps;
    // At the very end of a frame the port is still busy if others arrive at this instant. If
    // nobody else does, there is nothing to choose from, and the packet goes at once.
    const bool idle = egress->wake_pending == NET_WAKE_NONE &&
                      (now_ps > egress->busy_until_ps ||
                       (now_ps == egress->busy_until_ps && !sim_node_arrivals_tie(&sw->node.sim)));
    if (idle && !(egress->paused & bit)) {
        net_port_transmit(egress, packet);
    } else {
        (own ? net__switch_enqueue : net__switch_enqueue_by_tables)(sw, egress, packet);
    }
}

// Prefetches what sending reads; computing the addresses loads the port itself.
static inline void warm_port(const net_port_t *port, uint32_t class)
{
    __builtin_prefetch(port->channel);
    __builtin_prefetch(port->classes[class]);
}

// Prefetches a switch's ports before it runs its next window, because other nodes have used the
// cache since the last one. If most ports will be busy, all are fetched at once.
void net__switch_warm(const sim_node_t *node, uint32_t arrivals)
{
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    const uint32_t class = sw->warm_class;
    if (arrivals >= sw->node.port_count) {
        for (uint32_t p = 0; p < sw->node.port_count; p++) {
            warm_port(&sw->node.ports[p], class);
            __builtin_prefetch(sw->node.ports[p].received[class]);
        }
        return;
    }
    for (uint32_t p = 0; p < sw->late_ports; p += 8) {
        for (uint64_t late = net__late(sw, p); late != 0; late &= late - 1) {
            warm_port(&sw->node.ports[p + net__late_first(late)], class);
        }
    }
    for (uint32_t i = node->wake_first; i < node->wake_end; i++) {
        warm_port(&sw->node.ports[sim_wake_port(&node->wakes[i])], class);
    }
}

// Prefetches the packets at the heads of the queues that will be served.
void net__switch_warm_heads(const net_switch_t *sw)
{
    const sim_node_t *const node = &sw->node.sim;
    for (uint32_t i = node->wake_first; i < node->wake_end; i++) {
        const net_port_t *const port = &sw->node.ports[sim_wake_port(&node->wakes[i])];
        if (port->waiting != 0) {
            __builtin_prefetch(net_queue_head(port->classes[__builtin_ctz(port->waiting)]));
        }
    }
    for (uint32_t p = 0; p < sw->late_ports; p += 8) {
        for (uint64_t late = net__late(sw, p); late != 0; late &= late - 1) {
            const net_port_t *const port = &sw->node.ports[p + net__late_first(late)];
            __builtin_prefetch(net_queue_head(port->classes[__builtin_ctz(port->waiting | 128u)]));
        }
    }
}

static SIM_ALWAYS_INLINE void take(net_switch_t *sw, const sim_event_t *event, const bool own)
{
    switch (event->kind) {
    case SIM_EVENT_ARRIVAL:
        arrival(sw, event->port, event->message, own);
        break;
    case SIM_EVENT_WAKE:
        (own ? serve : serve_by_tables)(sw, &sw->node.ports[event->port]);
        break;
    case SIM_EVENT_TIMER:
        event->timer->fn(&sw->node.sim, event->timer);
        break;
    }
    net_switch_event_over(sw, event->port);
}

bool net__switch_run_exactly(net_switch_t *sw)
{
    sim_event_t event;
    event.message = NULL; // gcc does not see with -fsanitize=thread that sim_node_next sets it
    const bool own = sw->limited_classes == 0 && !sw->by_table;
    while (net__switch_must_be_exact(sw)) {
        if (!sim_node_next(&sw->node.sim, &event)) {
            return false;
        }
        if (SIM_LIKELY(own)) {
            take(sw, &event, true);
        } else {
            take(sw, &event, false);
        }
    }
    return true;
}

void net__switch_run_tables(sim_node_t *node)
{
    net_switch_t *const sw = (net_switch_t *)(void *)node;
    net__switch_warm_heads(sw);
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        take(sw, &event, false);
    }
}
