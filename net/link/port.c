// SPDX-License-Identifier: Apache-2.0
// net/link/port.c - what a port does off the fast path: losses, listeners, the class scheduler,
// pause.
#include "net/port.h"

#include <string.h>

#include "net/loss/loss_state.h"
#include "net/network_internal.h"

typedef struct net_listener {
    uint32_t points;
    net_trace_fn fn;
    void *ctx;
    struct net_listener *next;
} net_listener_t;

static void pause_expired(sim_node_t *node, sim_timer_t *timer);

void net__port_init(net_port_t *port, net_node_t *node, uint32_t index)
{
    *port = (net_port_t){
        .node = node,
        .index = index,
        .interface = NET_INTERFACES_MAX,
        .next_down_ps = SIM_TIME_NEVER,
    };
    sim_timer_init(&port->pause_timer, pause_expired);
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        port->quantum_bytes[p] = NET_FRAME_BYTES_QUANTUM;
    }
}

static void port_fini(net_port_t *port)
{
    for (net_listener_t *listener = port->listeners; listener != NULL;) {
        net_listener_t *const next = listener->next;
        sim_free(listener);
        listener = next;
    }
    net__loss_free(port);
    sim_free(port->name);
}

void net_node_fini(net_node_t *node)
{
    for (uint32_t p = 0; node->ports != NULL && p < node->port_count; p++) {
        port_fini(&node->ports[p]);
    }
}

void net_node_digest(const net_node_t *node, sim_digest_t *digest)
{
    for (uint32_t p = 0; p < node->port_count; p++) {
        const net_port_t *const port = &node->ports[p];
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            sim_digest_add(digest, port->classes[c].tx_packets);
            sim_digest_add(digest, port->classes[c].tx_bytes);
            sim_digest_add(digest, port->received[c].bytes);
            sim_digest_add(digest, port->pauses[c].rx_pause);
            sim_digest_add(digest, port->pauses[c].paused_ps);
            sim_digest_add(digest, port->ecn_marked[c] + port->ecn_marked_again[c]);
        }
        for (uint32_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
            sim_digest_add(digest, port->drops[r]);
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
    };
    SIM_CHECK(reason < NET_DROP_REASON_COUNT);
    return names[reason];
}

// -- listeners

void net_port_listen(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx)
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

void net__port_trace(const net_port_t *port,
                     net_trace_point_t point,
                     const net_packet_t *packet,
                     uint32_t detail)
{
    const net_trace_t trace = {point, port->node->sim.now_ps, port, packet, detail};
    for (const net_listener_t *l = port->listeners; l != NULL; l = l->next) {
        if (l->points & point) {
            l->fn(&trace, l->ctx);
        }
    }
}

// -- sending

// bytes x 8 / rate seconds as a double, its fraction cut to 64 bits, times 10^9 cut to a whole
// number:
// the roundings of ns-3's DataRate and Time, which differ from those of integer arithmetic where
// the quotient is a whole number of nanoseconds but its double lies just below.
sim_time_t net_whole_ns_time_ps(uint64_t bytes, uint64_t rate_bps)
{
    __extension__ typedef unsigned __int128 wide_t;
    const double seconds = (double)bytes * 8.0 / (double)rate_bps;
    const uint64_t whole = (uint64_t)seconds;
    const uint64_t fraction = (uint64_t)((seconds - (double)whole) * 0x1p64);
    const uint64_t ns = (uint64_t)((wide_t)fraction * 1000000000 >> 64);
    return whole * SIM_PS_PER_S + ns * SIM_PS_PER_NS;
}

// The same in integers where that is safe: what doubles lose of less than a second is far less
// than a picosecond, so only a quotient that is a whole number of nanoseconds may lose one.
static inline sim_time_t whole_ns_time(const net_port_t *port, uint64_t bytes)
{
    const uint64_t exact_ps = bytes * port->exact_ps_per_byte;
    const uint64_t cut_ps = exact_ps % SIM_PS_PER_NS;
    if (SIM_LIKELY(cut_ps != 0 && exact_ps < SIM_PS_PER_S)) {
        return exact_ps - cut_ps;
    }
    return net_whole_ns_time_ps(bytes, port->rate_bps);
}

sim_time_t net_port_frame_time_ps(const net_port_t *port, uint32_t frame_bytes)
{
    const uint64_t bytes = frame_bytes + port->overhead_bytes;
    return SIM_UNLIKELY(port->whole_ns) ? whole_ns_time(port, bytes)
                                        : bytes * 8 * SIM_PS_PER_S / port->rate_bps;
}

void net_port_drop(net_port_t *port, net_packet_t *packet, net_drop_reason_t reason)
{
    net_node_t *const node = port->node;
    port->drops[reason]++;
    port->dropped_bytes += packet->frame_bytes;
    node->tally.dropped++;
    node->tally.bytes_dropped += packet->frame_bytes;
    net_port_trace(port, NET_TRACE_DROP, packet, reason);
    if (SIM_UNLIKELY(packet->contents)) {
        net_packet_drop_contents(node, packet);
    }
    sim_pool_put(node->packets, &node->sim, packet);
}

void net_port_drop_next(net_port_t *port, uint64_t count)
{
    port->drop_countdown = count;
    net__port_update_special(port);
}

// (1 - rate)^bits as a fraction of 2^64, by repeated squaring: the chance that a frame has no wrong
// bit. Truncation errs by less than 2^-57 for frames of any size.
static uint64_t chance_intact(sim_ratio_t bit_error_rate, uint64_t bits)
{
    __extension__ typedef unsigned __int128 wide_t;
    if (bit_error_rate.num >= bit_error_rate.den) {
        return 0;
    }
    const wide_t one = (wide_t)1 << 64;
    wide_t base = one - (((wide_t)bit_error_rate.num << 64) / bit_error_rate.den);
    wide_t result = one;
    for (; bits > 0; bits >>= 1) {
        if (bits & 1) {
            result = result == one ? base : (result * (base >> 1)) >> 63;
        }
        base = base == one ? one : (base * base) >> 64;
    }
    return result >= one ? UINT64_MAX : (uint64_t)result;
}

static bool is_lost(net_port_t *port, const net_packet_t *packet)
{
    if (port->drop_countdown > 0 && packet->kind == NET_PACKET_ROCE &&
        --port->drop_countdown == 0) {
        return true;
    }
    if (SIM_UNLIKELY(port->loss != NULL)) {
        if (net__loss_decides(port->loss, packet)) {
            return true;
        }
    } else if (port->config.loss_rate.num > 0 && port->losses == NULL &&
               sim_random_chance(&port->random, port->config.loss_rate)) {
        return true;
    }
    if (port->config.bit_error_rate.num > 0) {
        const uint64_t bits = UINT64_C(8) * (packet->frame_bytes + NET_FCS_BYTES);
        return sim_random_u64(&port->random) >= chance_intact(port->config.bit_error_rate, bits);
    }
    return false;
}

// What is left of the division goes to the frame that follows back to back.
static inline sim_time_t divided_time(net_port_t *port, uint32_t bytes)
{
    const bool back_to_back = port->busy_until_ps == port->node->sim.now_ps;
    const uint64_t carried = back_to_back ? port->remainder : 0;
    const uint64_t numerator = bytes * (8 * SIM_PS_PER_S) + carried;
    port->remainder = numerator % port->rate_bps;
    return numerator / port->rate_bps;
}

static sim_time_t inexact_time(net_port_t *port, uint32_t bytes)
{
    return port->whole_ns ? whole_ns_time(port, bytes) : divided_time(port, bytes);
}

__attribute__((noinline)) static void transmit_otherwise(net_port_t *port, net_packet_t *packet)
{
    sim_node_t *const node = &port->node->sim;
    if (port->metered) {
        net__port_meter(port, packet); // the frame may grow
    }
    const uint32_t bytes = packet->frame_bytes + port->overhead_bytes;
    SIM_ASSERT(node->now_ps >= port->busy_until_ps);
    port->busy_until_ps = node->now_ps + (port->ps_per_byte != 0 ? bytes * port->ps_per_byte
                                                                 : inexact_time(port, bytes));
    if (port->down) { // into the void: nothing is on the link to be counted or captured
        net_port_drop(port, packet, NET_DROP_LINK_DOWN);
        return;
    }
    net_class_t *const class = &port->classes[packet->priority];
    class->tx_packets++;
    class->tx_bytes += packet->frame_bytes;
    net_port_trace(port, NET_TRACE_TX, packet, 0);
    const sim_time_t arrive_ps = port->busy_until_ps + port->delay_less_gap_ps;
    // In the HPCC simulator the link is down before what arrives at that instant.
    if (arrive_ps + port->whole_ns > port->next_down_ps) {
        net_port_drop(port, packet, NET_DROP_LINK_DOWN);
    } else if (is_lost(port, packet)) {
        net_port_drop(port, packet, NET_DROP_LINK_LOSS);
    } else if (SIM_UNLIKELY(port->loss != NULL)) {
        net__loss_send(port->loss, packet, arrive_ps);
    } else {
        sim_send(node, port->channel, arrive_ps, packet);
    }
}

// Ends in calls, so that the way of an inexact rate alone needs no frame: it is all there is to
// sending on links of, say, 112 Gbps.
void net__port_transmit_special(net_port_t *port, net_packet_t *packet)
{
    if (SIM_UNLIKELY(!port->inexact)) {
        transmit_otherwise(port, packet);
        return;
    }
    sim_node_t *const node = &port->node->sim;
    const uint32_t frame_bytes = packet->frame_bytes;
    const sim_time_t end_ps = node->now_ps + divided_time(port, frame_bytes + port->overhead_bytes);
    port->busy_until_ps = end_ps;
    net_class_t *const class = &port->classes[packet->priority];
    class->tx_packets++;
    class->tx_bytes += frame_bytes;
    sim_send(node, port->channel, end_ps + port->delay_less_gap_ps, packet);
}

void net__port_update_special(net_port_t *port)
{
    const bool otherwise = port->down || port->metered || port->next_down_ps != SIM_TIME_NEVER ||
                           port->drop_countdown > 0 || port->config.loss_rate.num > 0 ||
                           port->config.bit_error_rate.num > 0 || port->loss != NULL ||
                           (port->trace_points & NET_TRACE_TX) != 0;
    port->special = port->ps_per_byte == 0 || otherwise;
    port->inexact = port->ps_per_byte == 0 && !port->whole_ns && !otherwise;
}

void net__port_set_down(net_port_t *port, bool down, sim_time_t next_down_ps)
{
    const bool changed = port->down != down;
    port->next_down_ps = next_down_ps;
    port->down = down;
    net__port_update_special(port);
    if (!changed) {
        return;
    }
    net_port_trace(port, NET_TRACE_LINK, NULL, down ? 0 : 1);
    if (down && port->paused != 0) {
        // A link that goes down forgets pause: nobody could release it.
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
            port->paused_until_ps[p] = 0;
        }
        pause_expired(&port->node->sim, &port->pause_timer);
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
            port->deficit_bytes[p] = 0; // an idle class saves nothing up
        }
    }
    for (;;) {
        const uint32_t p = port->turn;
        if ((candidates & (1u << p)) && port->deficit_bytes[p] >= head_bytes[p]) {
            port->deficit_bytes[p] -= head_bytes[p];
            return p;
        }
        port->turn = (uint8_t)((p + 1) % NET_PRIORITIES);
        if (candidates & (1u << port->turn)) {
            port->deficit_bytes[port->turn] += port->quantum_bytes[port->turn];
        }
    }
}

// -- pause

sim_time_t net_port_quanta_ps(const net_port_t *port, uint16_t quanta)
{
    __extension__ typedef unsigned __int128 wide_t;
    const wide_t bits = (wide_t)quanta * NET_PFC_QUANTUM_BITS;
    return (sim_time_t)(bits * SIM_PS_PER_S / port->rate_bps);
}

static void release(net_port_t *port, uint32_t priority)
{
    const sim_time_t now_ps = port->node->sim.now_ps;
    port->paused &= (uint8_t) ~(1u << priority);
    port->pauses[priority].paused_ps += now_ps - port->pauses[priority].paused_since_ps;
    net_port_trace(port, NET_TRACE_RESUMED, NULL, priority);
}

static void arm_pause_timer(net_port_t *port)
{
    sim_node_t *const node = &port->node->sim;
    sim_time_t earliest_ps = SIM_TIME_NEVER;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if ((port->paused & (1u << p)) && port->paused_until_ps[p] < earliest_ps) {
            earliest_ps = port->paused_until_ps[p];
        }
    }
    if (earliest_ps == SIM_TIME_NEVER) {
        sim_timer_cancel(node, &port->pause_timer);
    } else {
        sim_timer_arm(node, &port->pause_timer, earliest_ps);
    }
}

static void pause_expired(sim_node_t *node, sim_timer_t *timer)
{
    net_port_t *const port = SIM_CONTAINER_OF(timer, net_port_t, pause_timer);
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if ((port->paused & (1u << p)) && port->paused_until_ps[p] <= node->now_ps) {
            release(port, p);
        }
    }
    arm_pause_timer(port);
    net_port_wake(port);
}

uint8_t net_port_pause_received(net_port_t *port, const net_packet_t *packet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const sim_time_t now_ps = port->node->sim.now_ps;
    uint8_t released = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        const uint8_t bit = (uint8_t)(1u << p);
        if (!(aside->pfc.classes & bit)) {
            continue;
        }
        if (aside->pfc.quanta[p] == 0) {
            port->pauses[p].rx_resume++;
            if (port->paused & bit) {
                release(port, p);
                released |= bit;
            }
            continue;
        }
        port->pauses[p].rx_pause++;
        port->paused_until_ps[p] = port->node->net->config.pause_expires
                                       ? now_ps + net_port_quanta_ps(port, aside->pfc.quanta[p])
                                       : SIM_TIME_NEVER;
        if (!(port->paused & bit)) {
            port->paused |= bit;
            port->pauses[p].paused_since_ps = now_ps;
            net_port_trace(port, NET_TRACE_PAUSED, NULL, p);
        }
    }
    arm_pause_timer(port);
    net_port_trace(port, NET_TRACE_PFC, packet, 0);
    return released;
}

sim_time_t net_port_paused_ps(const net_port_t *port, uint32_t priority, sim_time_t now_ps)
{
    const net_pause_counters_t *const pauses = &port->pauses[priority];
    const bool open = (port->paused & (1u << priority)) != 0;
    return pauses->paused_ps + (open ? now_ps - pauses->paused_since_ps : 0);
}

static net_packet_t *new_control(net_port_t *port)
{
    const uint32_t bytes = (uint32_t)port->node->net->config.pause_frame_bytes;
    net_packet_t *const packet = net_packet_new(port->node, bytes);
    *packet = (net_packet_t){
        .frame_bytes = (uint16_t)bytes,
        .kind = NET_PACKET_PFC,
        .priority = NET_PRIORITIES - 1,
    };
    net_packet_aside_t *const aside = net_packet_aside(packet);
    aside->pfc.classes = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        aside->pfc.quanta[p] = 0;
    }
    return packet;
}

// Takes back a frame that says nothing any more, as if it had never been made.
static void retract_control(net_port_t *port)
{
    net_node_t *const node = port->node;
    net_packet_t *const packet = port->control;
    port->control = NULL;
    node->tally.created--;
    node->tally.bytes_created -= packet->frame_bytes;
    sim_pool_put(node->packets, &node->sim, packet);
}

// Puts a word for one class into the frame that waits, in the place of an earlier one. A peer that
// does not know of a pause need not hear of its end.
static void say(net_port_t *port, uint32_t priority, uint16_t quanta)
{
    net_packet_aside_t *const aside = net_packet_aside(port->control);
    net_pause_counters_t *const pauses = &port->pauses[priority];
    const uint8_t bit = (uint8_t)(1u << priority);
    if (aside->pfc.classes & bit) {
        *(aside->pfc.quanta[priority] != 0 ? &pauses->tx_pause : &pauses->tx_resume) -= 1;
    }
    aside->pfc.classes &= (uint8_t)~bit;
    aside->pfc.quanta[priority] = 0;
    port->told_stop &= (uint8_t)~bit;
    if (quanta != 0 || (port->knows_stop & bit) != 0) {
        aside->pfc.classes |= bit;
        aside->pfc.quanta[priority] = quanta;
        port->told_stop |= quanta != 0 ? bit : 0;
        *(quanta != 0 ? &pauses->tx_pause : &pauses->tx_resume) += 1;
    }
    net_port_trace(port, quanta != 0 ? NET_TRACE_XOFF : NET_TRACE_XON, NULL, priority);
}

void net_port_pause_send(net_port_t *port, uint8_t classes, uint16_t quanta)
{
    if (port->control == NULL) {
        port->control = new_control(port);
        port->knows_stop = port->told_stop; // by the frames before this one
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (classes & (1u << p)) {
            say(port, p, quanta);
        }
    }
    if (net_packet_aside(port->control)->pfc.classes == 0) {
        retract_control(port);
        return;
    }
    if (net_port_idle(port)) {
        net_packet_t *const packet = port->control;
        port->control = NULL;
        net_port_transmit(port, packet);
        if (port->waiting & ~port->paused) {
            net_port_wake(port);
        }
    } else {
        net_port_wake(port);
    }
}

void net_port_pause_queue(net_port_t *port, uint32_t priority, uint16_t quanta)
{
    net_packet_t *const packet = new_control(port);
    net_pause_counters_t *const pauses = &port->pauses[priority];
    net_packet_aside(packet)->pfc.classes = (uint8_t)(1u << priority);
    net_packet_aside(packet)->pfc.quanta[priority] = quanta;
    *(quanta != 0 ? &pauses->tx_pause : &pauses->tx_resume) += 1;
    net_port_trace(port, quanta != 0 ? NET_TRACE_XOFF : NET_TRACE_XON, NULL, priority);
    net_packet_t **link = &port->control;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = packet;
}

// -- metrics

uint64_t net_port_queue_bytes(const net_port_t *port)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        sum += port->classes[p].bytes;
    }
    return sum;
}

uint64_t net_port_queue_bytes_max(const net_port_t *port)
{
    uint64_t most = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        most = port->classes[p].bytes_max > most ? port->classes[p].bytes_max : most;
    }
    return most;
}

static uint64_t read_queue(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    uint64_t sum = 0;
    (void)time_ps;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        sum += classes & (1u << p) ? port->classes[p].bytes : 0;
    }
    return sum;
}

static uint64_t read_paused(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        sum += classes & (1u << p) ? net_port_paused_ps(port, p, time_ps) : 0;
    }
    return sum;
}

static uint64_t read_is_paused(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    (void)time_ps;
    return (port->paused & classes) != 0;
}

#define READ_SUM(function, expression)                                                    \
    static uint64_t function(const net_port_t *port, uint8_t classes, sim_time_t time_ps) \
    {                                                                                     \
        uint64_t sum = 0;                                                                 \
        (void)time_ps;                                                                    \
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {                                   \
            sum += classes & (1u << p) ? (expression) : 0;                                \
        }                                                                                 \
        return sum;                                                                       \
    }
READ_SUM(read_tx_bytes, port->classes[p].tx_bytes)
READ_SUM(read_tx_packets, port->classes[p].tx_packets)
READ_SUM(read_rx_bytes, port->received[p].bytes)
READ_SUM(read_rx_packets, port->received[p].packets)
READ_SUM(read_marked, port->ecn_marked[p])
READ_SUM(read_marked_again, port->ecn_marked_again[p])
READ_SUM(read_rx_pause, port->pauses[p].rx_pause)
READ_SUM(read_tx_pause, port->pauses[p].tx_pause)
#undef READ_SUM

sim_time_t net_port_busy_ps(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    __extension__ typedef unsigned __int128 wide_t;
    uint64_t bytes = 0;
    uint8_t senders = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        const net_class_t *const class = &port->classes[p];
        senders |= (uint8_t)((class->tx_packets != 0) << p);
        if (classes & (1u << p)) {
            bytes += class->tx_bytes + class->tx_packets * port->overhead_bytes;
        }
    }
    const sim_time_t busy_ps = (sim_time_t)((wide_t)bytes * 8 * SIM_PS_PER_S / port->rate_bps);
    const bool mine = (senders & ~classes) == 0;
    const sim_time_t rest_ps =
        mine && port->busy_until_ps > time_ps ? port->busy_until_ps - time_ps : 0;
    return busy_ps > rest_ps ? busy_ps - rest_ps : 0;
}

static uint64_t read_discards(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    uint64_t sum = 0;
    (void)classes;
    (void)time_ps;
    for (uint32_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
        sum += port->drops[r];
    }
    return sum;
}

// clang-format off
#define TX      NET_TRACE_TX
#define RX      NET_TRACE_RX
#define PAUSED  (NET_TRACE_PAUSED | NET_TRACE_RESUMED)
#define SENT    (NET_TRACE_XOFF | NET_TRACE_XON)
const net_port_metric_t net_port_metrics[] = {
    {"queue_bytes", "bytes",   "frame bytes waiting in the port's queue",        true,  NET_TRACE_ENQUEUE | TX, false, read_queue},
    {"tx_bytes",    "bytes",   "frame bytes sent so far",                        true,  TX, false, read_tx_bytes},
    {"tx_packets",  "packets", "frames sent so far",                             true,  TX, false, read_tx_packets},
    {"rx_bytes",    "bytes",   "frame bytes received so far",                    true,  RX, false, read_rx_bytes},
    {"rx_packets",  "packets", "frames received so far",                         true,  RX, false, read_rx_packets},
    {"ecn_marked",  "packets", "packets marked CE so far",                       true,  NET_TRACE_MARK, false, read_marked},
    {"ecn_marked_again", "packets", "packets so far that would have been marked CE, and came with it", true, NET_TRACE_MARK, false, read_marked_again},
    {"paused",      "",        "1 while the peer has stopped the class, else 0", true,  PAUSED, false, read_is_paused},
    {"paused_ps",   "ps",      "time stopped by the peer so far",                true,  PAUSED, false, read_paused},
    {"rx_pause",    "frames",  "PFC pause frames received so far",               true,  NET_TRACE_PFC, false, read_rx_pause},
    {"tx_pause",    "frames",  "PFC pause frames sent so far",                   true,  SENT, false, read_tx_pause},
    {"discards",    "packets", "packets dropped at the port so far, any reason", false, NET_TRACE_DROP, false, read_discards},
    {"utilisation", "1/1000000", "share of the link's time that frames took, preamble to gap, since the sample before",
     true, 0, true, net_port_busy_ps},
    {NULL, NULL, NULL, false, 0, false, NULL},
};
#undef TX
#undef RX
#undef PAUSED
#undef SENT
// clang-format on

const net_port_metric_t *net_port_metric_find(const char *name)
{
    for (const net_port_metric_t *m = net_port_metrics; m->name != NULL; m++) {
        if (strcmp(m->name, name) == 0) {
            return m;
        }
    }
    return NULL;
}
