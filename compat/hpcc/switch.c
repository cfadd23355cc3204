// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/switch.c - a switch whose buffer works like in the HPCC project's ns-3 simulator.
//
// Every packet of classes 1 to 7 is charged to its ingress (port, class) and queued, even if its
// egress is idle. A pause is decided after each charge, a resume when a packet of that (port,
// class) leaves. Each pause and resume is a frame of its own, and none is repeated. Without PFC a
// packet must also fit into the whole buffer and below the threshold of its egress queue, as in the
// switch of conweave-project/conweave-ns3. The threshold is alpha x the free shared buffer, where
// alpha doubles for each doubling of the port's rate over the hosts' rate. Headroom is three times
// what the link holds one way. Classes take turns packet by packet.
//
// Behaviour learnt from alibaba-edu/High-Precision-Congestion-Control, src/point-to-point/model:
// switch-mmu.cc, switch-node.cc, qbb-net-device.cc, and scratch/third.cc, which sets it up.
// Page: docs/models/hpcc-compat.md.
#include "compat/hpcc/hpcc_internal.h"
#include "kernel/order/fifo.h"
#include "net/marking.h"
#include "net/port_control.h"
#include "net/port_pause.h"
#include "net/port_queue.h"
#include "net/switch_checks.h"

static inline uint64_t threshold(const net_switch_t *sw, const net_ingress_t *in)
{
    return net_fraction_of(net_switch_shared_free(sw),
                           compat__switch_state(sw)->rows[in->port->index].alpha);
}

static inline bool is_lossless(const net_switch_t *sw, uint32_t priority)
{
    return ((uint32_t)sw->lossless >> priority & 1u) != 0;
}

// Returns whether packets of the class are charged to the buffer: all but the highest class.
static inline bool is_charged(uint32_t priority)
{
    return priority != 0;
}

// -- transmitting

// Returns whether a frame can start now. At the end of a frame this depends on the order of ties.
static inline bool is_free(const net_switch_t *sw, const net_port_t *port)
{
    const sim_node_t *const node = &sw->node.sim;
    return node->now_ps > port->busy_until_ps ||
           (node->now_ps == port->busy_until_ps && sim_fifo_passed(node, port->index));
}

static void serve(net_switch_t *sw, net_port_t *port);

static inline void serve_or_wait(net_switch_t *sw, net_port_t *port)
{
    if (is_free(sw, port)) {
        serve(sw, port);
    } else {
        net_port_wake(port);
    }
}

static void send_pause(net_switch_t *sw, net_ingress_t *in, uint32_t priority, bool stop)
{
    in->port->received[priority]->stopped = stop;
    if (compat__switch_state(sw)->rules->draws != NULL) {
        compat__identify_pause(sw);
    }
    net_port_pause_queue(in->port, priority, stop ? in->quanta : 0);
    serve_or_wait(sw, in->port);
}

static inline uint64_t above(uint64_t bytes, uint64_t reserved_bytes)
{
    return bytes > reserved_bytes ? bytes - reserved_bytes : 0;
}

static inline void discharge(net_switch_t *sw, net_received_t *held, uint64_t bytes)
{
    const uint64_t reserved_bytes = compat__switch_state(sw)->reserved_bytes;
    const uint64_t from_headroom = SIM_MIN(held->headroom_bytes, bytes);
    const uint64_t before = above(held->stored_bytes, reserved_bytes);
    held->headroom_bytes = (held->headroom_bytes - from_headroom) & NET_HEADROOM_MASK;
    SIM_CHECK(held->stored_bytes >= bytes - from_headroom);
    held->stored_bytes -= bytes - from_headroom;
    sw->shared_bytes -= before - above(held->stored_bytes, reserved_bytes);
}

// Returns whether a peer that was stopped may go on.
static bool may_resume(const net_switch_t *sw, const net_ingress_t *in, const net_received_t *held)
{
    const uint64_t shared = above(held->stored_bytes, compat__switch_state(sw)->reserved_bytes);
    return held->headroom_bytes == 0 &&
           (shared == 0 || shared + sw->config.pfc_xon_bytes <= threshold(sw, in));
}

// Returns the first class after the one served last that has a packet and is not stopped.
static uint32_t next_class(const net_port_t *port, uint8_t candidates)
{
    const uint32_t from = port->turn + 1u;
    const uint32_t twice = candidates | (uint32_t)candidates << NET_PRIORITIES;
    return (from + (uint32_t)__builtin_ctz(twice >> from)) % NET_PRIORITIES;
}

static void mark(net_switch_t *sw, net_port_t *port, net_packet_t *packet)
{
    if (compat__switch_state(sw)->rules->draws != NULL) {
        compat__mark_drawn(sw, port, packet);
    } else if (sw->marking->leaves != NULL) {
        sw->marking->leaves(sw, port, packet);
    }
}

// Counts the bytes above its reserve that an egress queue loses with a packet.
static void take_out(net_switch_t *sw, uint64_t left_bytes, uint64_t bytes)
{
    compat_switch_state_t *const state = compat__switch_state(sw);
    state->egress_bytes -=
        above(left_bytes + bytes, state->reserved_bytes) - above(left_bytes, state->reserved_bytes);
}

static net_packet_t *take_from_queue(net_switch_t *sw, net_port_t *port, uint32_t priority)
{
    const net_queued_t queued = net_queue_take(port, priority);
    const net_class_t *const queue = port->classes[priority];
    if (queue->bytes != 0) {
        __builtin_prefetch(net_queue_head(queue)->packet); // its line is likely evicted
    }
    net_received_t *const held =
        compat__switch_state(sw)->rows[queued.ingress_port].received[priority];
    SIM_CHECK(sw->held_bytes >= queued.frame_bytes);
    sw->held_bytes -= queued.frame_bytes;
    if (is_charged(priority)) {
        discharge(sw, held, queued.frame_bytes);
        if (compat__switch_state(sw)->lossy) {
            take_out(sw, queue->bytes, queued.frame_bytes);
        }
    }
    if (queue->bytes > sw->mark_above_bytes || !compat__switch_state(sw)->red) {
        mark(sw, port, queued.packet);
    }
    if (SIM_UNLIKELY(held->stopped)) {
        net_ingress_t *const in = &sw->ingress[queued.ingress_port];
        if (may_resume(sw, in, held)) {
            send_pause(sw, in, priority, false);
        }
    }
    return queued.packet;
}

static SIM_NOINLINE void serve(net_switch_t *sw, net_port_t *port)
{
    const uint8_t candidates = port->waiting & (uint8_t)~port->paused;
    if (SIM_UNLIKELY(port->controlled)) {
        net_port_transmit(port, net_port_take_control(port));
    } else if (candidates != 0) {
        const uint32_t priority = next_class(port, candidates);
        port->turn = (uint8_t)priority;
        net_port_transmit(port, take_from_queue(sw, port, priority));
    } else {
        return;
    }
    if (port->controlled || (port->waiting & (uint8_t)~port->paused) != 0) {
        net_port_wake(port);
    }
}

// -- receiving

// Returns whether a packet fits into the reserve and the shared buffer without stopping anybody.
// *taken: bytes of it that are shared.
static inline bool fits_plainly(const net_switch_t *sw, const compat_switch_row_t *row,
                                const net_received_t *held, uint64_t bytes, uint64_t *taken)
{
    const uint64_t reserved_bytes = compat__switch_state(sw)->reserved_bytes;
    const uint64_t before = above(held->stored_bytes, reserved_bytes);
    const uint64_t after = above(held->stored_bytes + bytes, reserved_bytes);
    const uint64_t free_bytes = net_switch_shared_free(sw);
    *taken = after - before;
    return *taken <= free_bytes && held->headroom_bytes == 0 &&
           after < net_fraction_of(free_bytes - *taken, row->alpha);
}

// Charges a packet to its ingress (port, class). Returns false if there is no room for it.
static bool charge(net_switch_t *sw, net_ingress_t *in, uint32_t priority, uint64_t bytes)
{
    net_received_t *const held = in->port->received[priority];
    const uint64_t limit = threshold(sw, in);
    const uint64_t before = net_switch_above_reserved(sw, held->stored_bytes);
    const uint64_t after = net_switch_above_reserved(sw, held->stored_bytes + bytes);
    // With alpha above 1 a threshold can exceed the free buffer; otherwise it cannot.
    const bool full = after - before > net_switch_shared_free(sw);
    if (bytes + held->headroom_bytes > in->headroom_limit && (bytes + before > limit || full)) {
        return false;
    }
    if (after > limit || full) {
        held->headroom_bytes = (held->headroom_bytes + bytes) & NET_HEADROOM_MASK;
    } else {
        held->stored_bytes += bytes;
        sw->shared_bytes += after - before;
    }
    return true;
}

static bool must_stop(const net_switch_t *sw, const net_ingress_t *in, uint32_t priority)
{
    const net_received_t *const held = in->port->received[priority];
    return !held->stopped &&
           (held->headroom_bytes > 0 ||
            net_switch_above_reserved(sw, held->stored_bytes) >= threshold(sw, in));
}

// Charges a packet that does not fit plainly, and may stop its sender. Returns false if dropped.
static SIM_NOINLINE bool store_otherwise(net_switch_t *sw, net_ingress_t *in, net_packet_t *packet)
{
    const bool lossless = is_lossless(sw, packet->priority);
    if (!charge(sw, in, packet->priority, packet->frame_bytes)) {
        net_port_drop(in->port, packet, lossless ? NET_DROP_HEADROOM_FULL : NET_DROP_BUFFER_FULL);
        return false;
    }
    if (lossless && must_stop(sw, in, packet->priority)) {
        send_pause(sw, in, packet->priority, true);
    }
    return true;
}

static inline bool store(net_switch_t *sw, net_packet_t *packet)
{
    const compat_switch_row_t *const row = &compat__switch_state(sw)->rows[packet->ingress_port];
    net_received_t *const held = row->received[packet->priority];
    uint64_t taken = 0;
    if (!fits_plainly(sw, row, held, packet->frame_bytes, &taken)) {
        return store_otherwise(sw, &sw->ingress[packet->ingress_port], packet);
    }
    held->stored_bytes += packet->frame_bytes;
    sw->shared_bytes += taken;
    return true;
}

// Returns whether a switch without PFC has room for a packet: in its buffer, and below the egress
// queue's threshold. Otherwise drops the packet.
static bool has_room(net_switch_t *sw, const net_port_t *egress, net_packet_t *packet)
{
    const compat_switch_state_t *const state = compat__switch_state(sw);
    const uint64_t bytes = packet->frame_bytes;
    const uint64_t queued = egress->classes[packet->priority]->bytes + bytes;
    const uint64_t limit = state->egress_limit;
    const uint64_t free_bytes = limit > state->egress_bytes ? limit - state->egress_bytes : 0;
    net_port_t *const ingress = &sw->node.ports[packet->ingress_port];
    if (above(queued, state->reserved_bytes) > net_fraction_of(free_bytes, sw->lossy_alpha)) {
        net_port_drop(ingress, packet, NET_DROP_EGRESS_FULL);
        return false;
    }
    if (sw->held_bytes + bytes > sw->config.buffer_bytes) {
        net_port_drop(ingress, packet, NET_DROP_BUFFER_FULL);
        return false;
    }
    return true;
}

// Takes room for a packet, or drops it and returns false.
static inline bool admit(net_switch_t *sw, const net_port_t *egress, net_packet_t *packet)
{
    compat_switch_state_t *const state = compat__switch_state(sw);
    if (SIM_LIKELY(!state->lossy)) {
        return store(sw, packet);
    }
    const uint64_t bytes = packet->frame_bytes;
    if (!has_room(sw, egress, packet) || !store(sw, packet)) {
        return false;
    }
    const uint64_t queued = egress->classes[packet->priority]->bytes;
    state->egress_bytes +=
        above(queued + bytes, state->reserved_bytes) - above(queued, state->reserved_bytes);
    return true;
}

// busy: the port is known not to be free, which no later step of this event changes.
static void enqueue(net_switch_t *sw, net_port_t *egress, net_packet_t *packet, bool busy)
{
    if (is_charged(packet->priority) && !admit(sw, egress, packet)) {
        return;
    }
    sw->held_bytes += packet->frame_bytes;
    if (sw->marking->joins != NULL && (!compat__switch_state(sw)->red || sw->marks_early != 0)) {
        sw->marking->joins(sw, egress, packet);
    }
    net_queue_push(egress, packet);
    if (busy) {
        net_port_wake(egress);
    } else {
        serve_or_wait(sw, egress);
    }
}

// Returns whether a packet fits into the reserve while no threshold is 0.
static inline bool fits_reserve(const net_switch_t *sw, const net_received_t *held, uint64_t bytes)
{
    const compat_switch_state_t *const state = compat__switch_state(sw);
    return held->crowded == 0 && held->stored_bytes + bytes <= state->reserved_bytes &&
           net_switch_shared_free(sw) >= state->free_min;
}

// Returns whether charging a packet that leaves at once changes nothing, and no resume waits for
// its departure.
static inline bool leaves_no_trace(const net_switch_t *sw, const net_packet_t *packet)
{
    const compat_switch_row_t *const row = &compat__switch_state(sw)->rows[packet->ingress_port];
    const net_received_t *const held = row->received[packet->priority];
    uint64_t taken;
    if (fits_reserve(sw, held, packet->frame_bytes)) {
        return true;
    }
    return !held->stopped && fits_plainly(sw, row, held, packet->frame_bytes, &taken);
}

// Sends a packet that stays in the queue for no time.
static SIM_ALWAYS_INLINE void go_straight(net_port_t *egress, net_packet_t *packet)
{
    net_class_t *const queue = egress->classes[packet->priority];
    if (SIM_UNLIKELY(queue->bytes_max < packet->frame_bytes)) {
        queue->bytes_max = packet->frame_bytes;
    }
    egress->turn = packet->priority;
    if (egress->special == NET_SPECIAL_CUT_INT) {
        net__port_transmit_int(egress, packet);
    } else if (SIM_LIKELY(egress->special)) {
        net__port_transmit_special(egress, packet); // the timing "hpcc" is special
    } else {
        net_port_transmit(egress, packet);
    }
}

static void pass(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    // Combined without branches: whether any of these holds is predictable, which one is not.
    const uint32_t against = egress->waiting | egress->controlled |
                             ((uint32_t)egress->paused >> packet->priority & 1u) |
                             (egress->trace_points & NET_TRACE_ENQUEUE);
    const bool busy = against == 0 && !is_free(sw, egress);
    if (against == 0 && !busy && compat__switch_state(sw)->red &&
        (!is_charged(packet->priority) ||
         (!compat__switch_state(sw)->lossy && leaves_no_trace(sw, packet)))) {
        go_straight(egress, packet);
    } else {
        enqueue(sw, egress, packet, busy);
    }
}

static void pause_arrived(net_switch_t *sw, net_port_t *ingress, net_packet_t *packet)
{
    const uint8_t released = net_port_control_received(ingress, packet);
    net_packet_deliver(&sw->node, packet);
    if (released & ingress->waiting) {
        serve_or_wait(sw, ingress);
    }
}

// Handles a packet that brings no route, may be lost, has a listener, or is a pause.
static void arrive_otherwise(net_switch_t *sw, uint32_t from, net_packet_t *packet)
{
    net_port_t *const ingress = &sw->node.ports[from];
    if (sw->node.one_by_one) {
        net_port_trace(ingress, NET_TRACE_RX, packet, 0);
    }
    if (compat__switch_state(sw)->losses && net_port_lost_on_arrival(ingress)) {
        net_port_drop(ingress, packet, NET_DROP_LINK_LOSS);
        return;
    }
    uint32_t out;
    const net_entry_t entry =
        net_switch_classify(sw, packet, net_switch_route, sw->routed, sw->trust_dscp, &out);
    if (entry == NET_ENTERS) {
        packet->ingress_port = (uint16_t)from;
        pass(sw, &sw->node.ports[out], packet);
    } else if (entry == NET_IS_PAUSE) {
        pause_arrived(sw, ingress, packet);
    } else {
        net_switch_refuse(ingress, packet, entry);
    }
}

static SIM_NOINLINE void refuse(net_switch_t *sw, uint32_t from, net_packet_t *packet,
                                net_entry_t entry)
{
    net_switch_refuse(&sw->node.ports[from], packet, entry);
}

// Handles a usual packet; `held` is the state of the class it was received in. Not inlined into
// arrival, so that neither needs a stack frame.
static SIM_NOINLINE void forward(net_switch_t *sw, uint32_t from, const net_received_t *held,
                                 net_packet_t *packet)
{
    const uint32_t class = packet->priority;
    uint32_t out;
    const net_entry_t entry =
        net_switch_classify(sw, packet, NULL, sw->routed, sw->trust_dscp, &out);
    if (SIM_UNLIKELY(entry != NET_ENTERS)) {
        refuse(sw, from, packet, entry);
        return;
    }
    packet->ingress_port = (uint16_t)from;
    if (SIM_UNLIKELY(packet->priority != class)) {
        held = compat__switch_state(sw)->rows[from].received[packet->priority];
    }
    // Most packets find their port free, nothing waiting there, and room in the reserve.
    net_port_t *const egress = &sw->node.ports[out];
    if (SIM_LIKELY((egress->waiting | egress->controlled | egress->paused) == 0 &&
                   sw->node.sim.now_ps > egress->busy_until_ps &&
                   fits_reserve(sw, held, packet->frame_bytes))) {
        go_straight(egress, packet);
    } else {
        pass(sw, egress, packet);
    }
}

static inline void arrival(net_switch_t *sw, uint32_t from, net_packet_t *packet)
{
    const compat_switch_state_t *const state = compat__switch_state(sw);
    net_received_t *const received = state->rows[from].received[packet->priority];
    received->packets++;
    received->bytes += packet->frame_bytes;
    if (SIM_UNLIKELY(sw->node.one_by_one || state->losses || !net_switch_brings(sw, packet))) {
        arrive_otherwise(sw, from, packet);
    } else {
        forward(sw, from, received, packet);
    }
}

// Ends in calls in builds without dear checks, so most packets need no stack frame.
static void arrive(sim_node_t *node, uint32_t port, void *message)
{
    net_switch_t *const sw = (net_switch_t *)(void *)node;
    arrival(sw, port, message);
    net_switch_event_over(sw, port);
}

static void take_event(sim_node_t *node, const sim_event_t *event)
{
    net_switch_t *const sw = (net_switch_t *)(void *)node;
    switch (event->kind) {
    case SIM_EVENT_ARRIVAL:
        arrive(node, event->port, event->message);
        return;
    case SIM_EVENT_WAKE:
        sw->node.ports[event->port].wake_pending = false;
        serve(sw, &sw->node.ports[event->port]);
        break;
    case SIM_EVENT_TIMER:
        event->timer->fn(node, event->timer);
        break;
    }
    net_switch_event_over(sw, event->port);
}

static void run(sim_node_t *node)
{
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        take_event(node, &event);
    }
}

// -- set-up

static void built(net_switch_t *sw)
{
    const net_t *const net = sw->node.net;
    const uint64_t host_bps =
        net_interface_count(net) > 0 ? net_interface_port(net, 0)->line->rate_bps : 0;
    compat_switch_state_t *const state = compat__switch_state(sw);
    state->rules = compat__hpcc_of(net);
    SIM_CHECKF(state->rules != NULL, "%s: compat_hpcc_register was not called", sw->node.sim.name);
    state->red = net_switch_marks_red(sw);
    state->losses = state->rules->losses != NULL;
    state->reserved_bytes = sw->config.pfc_reserved_bytes;
    state->lossy = !sw->config.pfc_enabled;
    if (sw->balance == &compat__hpcc_balance) {
        sw->node.follows_routes = true;
        sw->node.route_mask = UINT8_MAX;
    }
    state->rows = sim_alloc_lines((sw->node.port_count + 1) * sizeof(*state->rows));
    uint64_t dedicated = 0;
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        net_ingress_t *const in = &sw->ingress[p];
        const net_port_t *const port = in->port;
        in->headroom_limit = sw->config.pfc_headroom_bytes;
        if (sw->config.pfc_headroom_bytes == SIM_AUTO) {
            const uint64_t delay_ns = port->line->delay_ps / SIM_PS_PER_NS;
            in->headroom_limit = port->line->rate_bps * delay_ns / 8 / 1000000000 * 3;
        }
        uint64_t *const alpha = &state->rows[p].alpha;
        state->rows[p].received = port->received;
        *alpha = sw->pfc_alpha;
        for (uint64_t bps = port->line->rate_bps; bps > host_bps && *alpha < NET_ALPHA_ONE;
             bps /= 2) {
            *alpha *= 2;
        }
        const uint64_t least = *alpha == 0 ? UINT64_MAX : (NET_ALPHA_ONE + *alpha - 1) / *alpha;
        state->free_min = SIM_MAX(least, state->free_min);
        dedicated += in->headroom_limit + sw->config.pfc_reserved_bytes;
    }
    state->free_min = state->red ? state->free_min : UINT64_MAX;
    sw->shared_limit =
        sw->config.buffer_bytes > dedicated ? sw->config.buffer_bytes - dedicated : 0;
    const uint64_t reserved = sw->config.pfc_reserved_bytes * sw->node.port_count;
    state->egress_limit =
        sw->config.buffer_bytes > reserved ? sw->config.buffer_bytes - reserved : 0;
}

static void fini(net_switch_t *sw)
{
    sim_free(compat__switch_state(sw)->rows);
}

// The classes of a port share one headroom. Without PFC nothing is stored there.
static void dedicated(const net_switch_t *sw, uint64_t *headroom_bytes, uint64_t *reserved_bytes)
{
    *headroom_bytes = 0;
    for (uint32_t p = 0; p < sw->node.port_count && !compat__switch_state(sw)->lossy; p++) {
        *headroom_bytes += sw->ingress[p].headroom_limit;
    }
    *reserved_bytes = sw->config.pfc_reserved_bytes * sw->node.port_count;
}

static void check(const net_switch_t *sw)
{
    const compat_switch_state_t *const state = compat__switch_state(sw);
    net_switch_check_sums(sw, UINT8_MAX & ~1u, false);
    uint64_t egress_bytes = 0;
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        for (uint32_t c = 1; c < NET_PRIORITIES; c++) {
            egress_bytes += above(sw->node.ports[p].classes[c]->bytes, state->reserved_bytes);
        }
    }
    SIM_CHECK(state->egress_bytes == (state->lossy ? egress_bytes : 0));
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        SIM_CHECK(state->rows[p].received == sw->node.ports[p].received);
    }
}

static const sim_node_ops_t loop = {.kind = "switch",
                                    .run = run,
                                    .arrive = arrive,
                                    .take = take_event};

const net_buffer_ops_t compat__hpcc_buffer = {
    .name = "hpcc",
    .loop = &loop,
    .state_bytes = sizeof(compat_switch_state_t),
    .built = built,
    .fini = fini,
    .dedicated = dedicated,
    .check = check,
};
