// SPDX-License-Identifier: Apache-2.0
// net/link/port.c - the state of a port: set-up, listeners, drops, the rings of queues, classes.
#include "net/port.h"

#include "kernel/order/fifo.h"
#include "net/log.h"
#include "net/network_internal.h"

typedef struct net_listener {
    uint32_t points;
    net_trace_fn fn;
    void *ctx;
    struct net_listener *next;
} net_listener_t;

static const uint32_t equal_quanta[NET_PRIORITIES] = {NET_FRAME_BYTES_QUANTUM,
                                                      NET_FRAME_BYTES_QUANTUM,
                                                      NET_FRAME_BYTES_QUANTUM,
                                                      NET_FRAME_BYTES_QUANTUM,
                                                      NET_FRAME_BYTES_QUANTUM,
                                                      NET_FRAME_BYTES_QUANTUM,
                                                      NET_FRAME_BYTES_QUANTUM,
                                                      NET_FRAME_BYTES_QUANTUM};

void net__port_init(net_port_t *port, net_node_t *node, uint32_t index)
{
    *port = (net_port_t){
        .node = node,
        .index = (uint16_t)index,
        .interface = NET_INTERFACES_MAX,
        .next_down_ps = SIM_TIME_NEVER,
        .timing = node->net->timing,
        .overhead_bytes = node->net->framing->overhead_bytes,
        .down_first = node->net->link_rules.down_first,
        .by_packet = node->net->config.draws == NET_DRAWS_PACKET,
        .quantum_bytes = equal_quanta,
    };
}

void net__port_place(net_port_t *port, uint32_t uid)
{
    const net_t *const net = port->node->net;
    net_port_rare_t *const rare = &net->rare[uid];
    port->uid = uid;
    port->classes = (net_class_t(*)[NET_CLASS_PORTS])(
                        void *)&net->classes[uid / NET_CLASS_PORTS][0][uid % NET_CLASS_PORTS];
    port->received =
        (net_received_t(*)[NET_RECEIVED_PORTS])(
            void *)&net->received[uid / NET_RECEIVED_PORTS][0][uid % NET_RECEIVED_PORTS];
    port->rare = rare;
    port->pauses = rare->pauses;
    port->ecn_marked = rare->ecn_marked;
    port->drops = rare->drops;
    port->meter = &net->meters[uid];
}

net_link_config_t *net_port_own_config(net_port_t *port)
{
    if (!port->owns_config) {
        net_link_config_t *const own = sim_alloc(sizeof(*own));
        *own = *port->config;
        port->config = own;
        port->owns_config = true;
    }
    return (net_link_config_t *)(uintptr_t)port->config;
}

static void port_fini(net_port_t *port)
{
    for (net_listener_t *listener = port->listeners; listener != NULL;) {
        net_listener_t *const next = listener->next;
        sim_free(listener);
        listener = next;
    }
    for (uint32_t queues = port->long_queues; queues != 0; queues &= queues - 1) {
        sim_free(port->classes[__builtin_ctz(queues)]->ring);
    }
    if (port->owns_config) {
        sim_free(net_port_own_config(port));
    }
}

void net_node_fini(net_node_t *node)
{
    for (uint32_t p = 0; node->ports != NULL && p < node->port_count; p++) {
        if (net__port_made(&node->ports[p])) {
            port_fini(&node->ports[p]);
        }
    }
    net__port_names_free(node->net, node);
}

// Zeros that stand for the counters of a port that has none yet.
static const net_port_rare_t nothing;
static const net_class_t nothing_sent;
static const net_received_t nothing_received;

void net_node_digest(const net_node_t *node, sim_digest_t *digest)
{
    for (uint32_t p = 0; p < node->port_count; p++) {
        const net_port_t *const port = &node->ports[p];
        const bool untouched = net_port_untouched(port);
        const net_port_rare_t *const rare = port->counted ? port->rare : &nothing;
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            const net_class_t *const sent = untouched ? &nothing_sent : port->classes[c];
            sim_digest_add(digest, sent->tx_packets);
            sim_digest_add(digest, sent->tx_bytes);
            sim_digest_add(digest, (untouched ? &nothing_received : port->received[c])->bytes);
            sim_digest_add(digest, rare->pauses[c].rx_pause);
            sim_digest_add(digest, rare->pauses[c].paused_ps);
            sim_digest_add(digest, rare->ecn_marked[c] + rare->ecn_marked_again[c]);
        }
        for (uint32_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
            if (r < NET_DROP_WATCHDOG || rare->drops[r] > 0) {
                sim_digest_add(digest, rare->drops[r]);
            }
        }
    }
}

const char *net_drop_reason_name(net_drop_reason_t reason)
{
    static const char *const names[NET_DROP_REASON_COUNT] = {
        [NET_DROP_EGRESS_FULL] = "egress-full",
        [NET_DROP_BUFFER_FULL] = "buffer-full",
        [NET_DROP_HEADROOM_FULL] = "headroom-full",
        [NET_DROP_NO_ROUTE] = "no-route",
        [NET_DROP_TTL] = "ttl-expired",
        [NET_DROP_LINK_LOSS] = "link-loss",
        [NET_DROP_LINK_DOWN] = "link-down",
        [NET_DROP_HOST] = "unknown-qp",
        [NET_DROP_WATCHDOG] = "pfc-watchdog",
    };
    SIM_CHECK(reason < NET_DROP_REASON_COUNT);
    return names[reason];
}

// -- listeners

static void listen(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx)
{
    net_listener_t *const listener = sim_alloc(sizeof(*listener));
    *listener = (net_listener_t){points, fn, ctx, NULL};
    net_listener_t **link = &port->listeners;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = listener;
    port->trace_points |= (uint16_t)points;
    net__port_update_special(port);
}

void net_port_listen(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx)
{
    const uint32_t every_event =
        NET_TRACE_TX | NET_TRACE_RX | NET_TRACE_ENQUEUE | NET_TRACE_MARK | NET_TRACE_RELEASE;
    port->prompt |= (points & every_event) != 0;
    listen(port, points, fn, ctx);
}

void net_port_listen_late(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx)
{
    SIM_CHECK((points & (NET_TRACE_TX | NET_TRACE_RX)) == 0);
    listen(port, points, fn, ctx);
}

void net_log_attach(net_node_t *node, net_log_t *log)
{
    SIM_CHECK(node->log == NULL);
    node->log = log;
    net__switch_logged(node);
    for (uint32_t p = 0; p < node->port_count; p++) {
        node->ports[p].trace_points |= NET_TRACE_RX;
        net__port_update_special(&node->ports[p]);
    }
}

void net__port_trace(const net_port_t *port,
                     net_trace_point_t point,
                     const net_packet_t *packet,
                     uint32_t detail)
{
    if (point == NET_TRACE_RX && port->node->log != NULL) {
        port->node->log->received(port->node->log, port, packet);
        if (!port->prompt) {
            return;
        }
    }
    const net_trace_t trace = {point, port->node->sim.now_ps, port, packet, detail};
    for (const net_listener_t *l = port->listeners; l != NULL; l = l->next) {
        if (l->points & point) {
            l->fn(&trace, l->ctx);
        }
    }
}

// -- dropping

void net_port_drop(net_port_t *port, net_packet_t *packet, net_drop_reason_t reason)
{
    net_node_t *const node = port->node;
    port->drops[reason]++;
    port->counted = 1;
    port->rare->dropped_bytes += packet->frame_bytes;
    node->tally.dropped++;
    node->tally.bytes_dropped += packet->frame_bytes;
    sim_happened(&node->sim, 'd', node->sim.now_ps, (uint64_t)port->index << 32 | reason);
    net_port_trace(port, NET_TRACE_DROP, packet, reason);
    if (SIM_UNLIKELY(packet->contents)) {
        net_packet_drop_contents(node, packet);
    }
    sim_pool_put(node->packets, &node->sim, packet);
}

// -- queues

#define ENTRY_BYTES ((uint32_t)sizeof(net_queued_t))

static uint32_t count_of(const net_class_t *queue)
{
    if (queue->bytes == 0) {
        return 0;
    }
    const uint32_t around = queue->tail > queue->head ? 0 : queue->end;
    return (queue->tail + around - queue->head) / ENTRY_BYTES;
}

uint32_t net_queue_peek(const net_class_t *queue, net_queued_t *first, uint32_t count_max)
{
    const uint32_t count = count_of(queue) < count_max ? count_of(queue) : count_max;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = queue->head + i * ENTRY_BYTES;
        first[i] = *net__queued(queue, at < queue->end ? at : at - queue->end);
    }
    return count;
}

// Returns the pool of rings of this size; NULL: the size is too large for a pool.
static sim_pool_t *pool_of(const net_node_t *node, uint32_t bytes)
{
    uint32_t size = NET_RING_BYTES;
    for (uint32_t i = 0; i < NET_RING_SIZES; i++, size *= NET_RING_GROWTH) {
        if (size == bytes) {
            return node->net->rings[i];
        }
    }
    return NULL;
}

static void grow(net_port_t *port, net_class_t *queue)
{
    const net_node_t *const node = port->node;
    const uint32_t bytes = queue->end == 0 ? NET_RING_BYTES : queue->end * NET_RING_GROWTH;
    sim_pool_t *const pool = pool_of(node, bytes);
    net_queued_t *const ring = pool != NULL
                                   ? sim_pool_get(pool, &node->sim)
                                   : sim_realloc_array(NULL, bytes / ENTRY_BYTES, ENTRY_BYTES);
    const uint32_t count = net_queue_peek(queue, ring, bytes / ENTRY_BYTES);
    sim_pool_t *const old_pool = pool_of(node, queue->end);
    if (old_pool != NULL) {
        sim_pool_put(old_pool, &node->sim, queue->ring);
    } else {
        sim_free(queue->ring);
    }
    queue->ring = ring;
    queue->head = 0;
    queue->tail = count * ENTRY_BYTES;
    queue->stop = queue->end = bytes;
    if (pool == NULL) {
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            port->long_queues |= (uint8_t)((port->classes[c] == queue) << c);
        }
    }
}

void net__queue_turn(net_port_t *port, net_class_t *queue)
{
    if (count_of(queue) * ENTRY_BYTES == queue->end) {
        grow(port, queue);
        return;
    }
    queue->tail = queue->tail == queue->end ? 0 : queue->tail;
    queue->stop = queue->head > queue->tail ? queue->head : queue->end;
}

net_queued_t net_queue_take_last(net_port_t *port, uint32_t priority)
{
    net_class_t *const queue = port->classes[priority];
    const net_queued_t queued = *net__queued(queue, queue->tail - ENTRY_BYTES);
    queue->tail -= ENTRY_BYTES;
    queue->bytes -= queued.frame_bytes;
    if (queue->bytes == 0) {
        queue->head = queue->tail = 0;
        queue->stop = queue->end;
        port->waiting &= (uint8_t) ~(1u << priority);
    }
    return queued;
}

// -- rates and links

void net__port_set_rate(net_port_t *port, uint64_t rate_bps)
{
    const uint64_t ps_bits = 8 * SIM_PS_PER_S;
    const uint64_t exact_ps = ps_bits % rate_bps == 0 ? ps_bits / rate_bps : 0;
    const bool usual = port->timing == NULL && (port->overhead_bytes == NET_LINK_OVERHEAD_BYTES ||
                                                port->overhead_bytes == 0);
    const bool cuts = port->overhead_bytes == 0 && port->timing != NULL &&
                      port->timing->cuts_to_ns && exact_ps <= SIM_PS_PER_S / UINT16_MAX;
    port->rate_bps = rate_bps;
    port->exact_ps_per_byte = exact_ps <= UINT32_MAX ? (uint32_t)exact_ps : 0;
    port->ps_per_byte = usual || cuts ? port->exact_ps_per_byte : 0;
    port->gap_ps = port->node->net->framing->gap_bytes * ps_bits / rate_bps;
    port->delay_less_gap_ps = port->delay_ps - port->gap_ps;
    net__port_update_special(port);
}

void net__port_update_special(net_port_t *port)
{
    // An untouched port's `rare` has no memory yet and must not be read: a page that is read before
    // its first write is copied then, for which the system stops all threads.
    const bool disturbed = port->disturbed && port->rare->degraded_bps != 0;
    const bool unusual = port->down || disturbed || port->next_down_ps != SIM_TIME_NEVER ||
                         port->config->loss_rate.num > 0 || port->config->bit_error_rate.num > 0 ||
                         port->loss != NULL || (port->trace_points & NET_TRACE_TX) != 0;
    port->node->one_by_one |= unusual || port->prompt;
    if (port->node->one_by_one) {
        // A packet that is marked in its turn (sim_take_turn) may already have been shown to a
        // listener, or dropped.
        sim_need_one_list(port->node->sim.sim);
    }
    const bool exact = port->ps_per_byte != 0;
    if (unusual || (port->by_packet && port->node->kind == NET_NODE_HOST) ||
        (port->timing != NULL && port->node->log != NULL)) {
        port->special = NET_SPECIAL_OTHERWISE;
    } else if (exact && port->timing != NULL) {
        const bool in_one_order = sim_ties_by_insertion(&port->node->sim);
        port->special = !in_one_order   ? NET_SPECIAL_CUT_BY_HASH
                        : port->metered ? NET_SPECIAL_CUT_METERED
                                        : NET_SPECIAL_CUT;
    } else if (port->metered || port->timing != NULL) {
        port->special = NET_SPECIAL_OTHERWISE;
    } else if (port->node->log != NULL) {
        port->special = exact && port->overhead_bytes == NET_LINK_OVERHEAD_BYTES
                            ? NET_SPECIAL_LOGGED
                            : NET_SPECIAL_LOGGED_ODD;
    } else {
        port->special = !exact                      ? NET_SPECIAL_RATE
                        : port->overhead_bytes == 0 ? NET_SPECIAL_BARE
                                                    : NET_SPECIAL_NOT;
    }
}

uint32_t net_port_choose(net_port_t *port, uint8_t candidates, const uint32_t *head_bytes)
{
    const uint32_t strict = candidates & port->strict;
    if (strict != 0) {
        return 31u - (uint32_t)__builtin_clz(strict);
    }
    if ((candidates & (candidates - 1)) == 0) {
        return (uint32_t)__builtin_ctz(candidates);
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (!(candidates & (1u << p))) {
            port->rare->deficit_bytes[p] = 0; // an idle class saves nothing
        }
    }
    for (;;) {
        const uint32_t p = port->turn;
        if ((candidates & (1u << p)) && port->rare->deficit_bytes[p] >= head_bytes[p]) {
            port->rare->deficit_bytes[p] -= head_bytes[p];
            return p;
        }
        port->turn = (uint8_t)((p + 1) % NET_PRIORITIES);
        if (candidates & (1u << port->turn)) {
            port->rare->deficit_bytes[port->turn] += port->quantum_bytes[port->turn];
        }
    }
}
