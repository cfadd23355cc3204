// SPDX-License-Identifier: Apache-2.0
// net/link/port.c - the state of a port: set-up, logs, drops, the rings of queues, classes.
#include "net/port_queue.h"

#include "kernel/order/fifo.h"
#include "net/link/listeners.h"
#include "net/link/port_setup.h"
#include "net/log.h"
#include "net/network_internal.h"
#include "net/port_names.h"
#include "net/ranks.h"
#include "net/switch_setup_internal.h"

#include <string.h>

static const uint32_t equal_quanta[NET_PRIORITIES] = {
    NET_FRAME_BYTES_QUANTUM, NET_FRAME_BYTES_QUANTUM, NET_FRAME_BYTES_QUANTUM,
    NET_FRAME_BYTES_QUANTUM, NET_FRAME_BYTES_QUANTUM, NET_FRAME_BYTES_QUANTUM,
    NET_FRAME_BYTES_QUANTUM, NET_FRAME_BYTES_QUANTUM};

void net__port_init(net_port_t *port, net_node_t *node, uint32_t index)
{
    *port = (net_port_t){
        .node = node,
        .index = (uint16_t)index,
        .interface = NET_INTERFACES_MAX,
        .down_first = node->net->link_rules.down_first,
        .by_packet = node->net->config.draws == NET_DRAWS_PACKET,
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
    port->meter = &net->meters[uid];
}

// The line of a port whose configuration differs from the link's.
typedef struct own_line {
    net_line_t line; // first
    net_link_config_t config;
} own_line_t;

static own_line_t *own_line_of(const net_port_t *port)
{
    SIM_CHECK(port->owns_line);
    return (own_line_t *)(uintptr_t)port->line;
}

net_link_config_t *net_port_own_config(net_port_t *port)
{
    if (!port->owns_line) {
        own_line_t *const own = sim_alloc(sizeof(*own));
        own->line = *port->line;
        own->config = *port->line->config;
        own->line.config = &own->config;
        port->line = &own->line;
        port->owns_line = true;
    }
    return &own_line_of(port)->config;
}

static void port_fini(net_port_t *port)
{
    net__listeners_leave(port);
    for (uint32_t queues = port->long_queues; queues != 0; queues &= queues - 1) {
        sim_free(port->classes[__builtin_ctz(queues)]->ring);
    }
    if (port->owns_line) {
        sim_free(own_line_of(port));
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

// -- logs

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

// -- dropping

void net_port_drop(net_port_t *port, net_packet_t *packet, net_drop_reason_t reason)
{
    net_node_t *const node = port->node;
    port->rare->drops[reason]++;
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

static net_line_t *find_line(net_line_t *first, uint64_t rate_bps,
                             const uint32_t quantum_bytes[NET_PRIORITIES])
{
    net_line_t *line = first;
    while (line != NULL &&
           (line->rate_bps != rate_bps ||
            memcmp(line->quantum_bytes, quantum_bytes, sizeof(line->quantum_bytes)) != 0)) {
        line = __atomic_load_n(&line->next, __ATOMIC_ACQUIRE);
    }
    return line;
}

static net_line_t *make_line(const net_t *net, const net_link_config_t *config, uint64_t rate_bps,
                             const uint32_t quantum_bytes[NET_PRIORITIES])
{
    const uint64_t ps_bits = 8 * SIM_PS_PER_S;
    const uint64_t exact_ps = ps_bits % rate_bps == 0 ? ps_bits / rate_bps : 0;
    net_line_t *const line = sim_alloc(sizeof(*line));
    *line = (net_line_t){
        .rate_bps = rate_bps,
        .delay_ps = config->delay_ps,
        .gap_ps = config->flits ? 0 : net->framing->gap_bytes * ps_bits / rate_bps,
        .exact_ps_per_byte = exact_ps <= UINT32_MAX ? (uint32_t)exact_ps : 0,
        .overhead_bytes = config->flits ? 0 : net->framing->overhead_bytes,
        .timing = net->timing,
        .config = config,
    };
    memcpy(line->quantum_bytes, quantum_bytes, sizeof(line->quantum_bytes));
    return line;
}

// Returns the line of a link's configuration that has this rate and these quanta; makes it on first
// use. Threads that complete nodes may ask at the same time.
static const net_line_t *line_for(net_t *net, uint32_t config, uint64_t rate_bps,
                                  const uint32_t quantum_bytes[NET_PRIORITIES])
{
    net_line_t **const first = &net->lines[config];
    net_line_t *line = find_line(__atomic_load_n(first, __ATOMIC_ACQUIRE), rate_bps, quantum_bytes);
    if (SIM_LIKELY(line != NULL)) {
        return line;
    }
    (void)pthread_mutex_lock(&net->making_lines);
    line = find_line(*first, rate_bps, quantum_bytes);
    if (line == NULL) {
        line = make_line(net, net->link_configs[config], rate_bps, quantum_bytes);
        line->next = *first;
        __atomic_store_n(first, line, __ATOMIC_RELEASE);
    }
    (void)pthread_mutex_unlock(&net->making_lines);
    return line;
}

void net__port_join(net_port_t *port, uint32_t link, bool is_a)
{
    net_t *const net = port->node->net;
    const uint32_t config = net->links[link].config;
    const net_link_config_t *const both = net->link_configs[config];
    port->link = link;
    port->line =
        line_for(net, config, is_a ? both->rate_bps : net_link_backward_bps(both), equal_quanta);
}

void net__port_set_speed(net_port_t *port)
{
    const net_line_t *const line = port->line;
    const net_timing_ops_t *const timing = line->timing;
    const bool usual = timing == NULL && line->overhead_bytes <= UINT8_MAX;
    const bool cuts = line->overhead_bytes == 0 && timing != NULL && timing->cuts_to_ns &&
                      line->exact_ps_per_byte <= SIM_PS_PER_S / UINT16_MAX;
    port->ps_per_byte = usual || cuts ? line->exact_ps_per_byte : 0;
    port->overhead_bytes = (uint8_t)(port->ps_per_byte == 0 ? 0 : line->overhead_bytes);
    port->delay_less_gap_ps = line->delay_ps - line->gap_ps;
    net__port_update_special(port);
}

void net_port_set_quanta(net_port_t *port, const uint32_t quantum_bytes[NET_PRIORITIES])
{
    net_t *const net = port->node->net;
    if (port->owns_line) {
        memcpy(own_line_of(port)->line.quantum_bytes, quantum_bytes,
               sizeof(port->line->quantum_bytes));
    } else if (memcmp(port->line->quantum_bytes, quantum_bytes,
                      sizeof(port->line->quantum_bytes)) != 0) {
        port->line =
            line_for(net, net->links[port->link].config, port->line->rate_bps, quantum_bytes);
    }
}

void net__lines_free(net_t *net)
{
    for (size_t i = 0; net->lines != NULL && i < net->link_config_count; i++) {
        while (net->lines[i] != NULL) {
            net_line_t *const next = net->lines[i]->next;
            sim_free(net->lines[i]);
            net->lines[i] = next;
        }
    }
    sim_free(net->lines);
}

void net__port_update_special(net_port_t *port)
{
    // An untouched port's `rare` has no memory yet and must not be read: a page that is read before
    // its first write is copied then, for which the system stops all threads.
    const bool disturbed = port->disturbed && port->rare->degraded_bps != 0;
    const net_line_t *const line = port->line;
    const bool unusual = port->down || disturbed || net__port_next_down(port) != SIM_TIME_NEVER ||
                         line->config->loss_rate.num > 0 || line->config->bit_error_rate.num > 0 ||
                         port->loses || port->layered || (port->trace_points & NET_TRACE_TX) != 0;
    port->node->one_by_one |= unusual || port->prompt;
    if (port->node->one_by_one) {
        // A packet that is marked in its turn (sim_take_turn) may already have been shown to a
        // listener, or dropped.
        sim_need_one_list(port->node->sim.sim);
    }
    const bool exact = port->ps_per_byte != 0;
    if (unusual || (port->by_packet && port->node->kind == NET_NODE_HOST) ||
        (line->timing != NULL && port->node->log != NULL)) {
        port->special = NET_SPECIAL_OTHERWISE;
    } else if (exact && line->timing != NULL) {
        const bool in_one_order = sim_ties_by_insertion(&port->node->sim);
        const bool only_int = port->metered && port->meter->pint == NULL && !port->by_packet;
        port->special = !in_one_order   ? NET_SPECIAL_CUT_BY_HASH
                        : only_int      ? NET_SPECIAL_CUT_INT
                        : port->metered ? NET_SPECIAL_CUT_METERED
                                        : NET_SPECIAL_CUT;
    } else if (exact && port->metered && !port->by_packet && port->node->log == NULL) {
        port->special = NET_SPECIAL_METERED;
    } else if (port->metered || line->timing != NULL) {
        port->special = NET_SPECIAL_OTHERWISE;
    } else if (port->node->log != NULL) {
        port->special = exact ? NET_SPECIAL_LOGGED : NET_SPECIAL_LOGGED_ODD;
    } else {
        port->special = exact ? NET_SPECIAL_NOT : NET_SPECIAL_RATE;
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
            port->rare->deficit_bytes[port->turn] += port->line->quantum_bytes[port->turn];
        }
    }
}
