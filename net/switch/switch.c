// SPDX-License-Identifier: Apache-2.0
// net/switch/switch.c - the switch: route, admit, queue, serve; shared buffer, PFC, ECN.
//
// A packet that finds its egress port idle passes through without touching the buffer. One that
// must wait is stored once and accounted at its ingress (port, class) and in its egress queue; it
// leaves the buffer when its transmission starts. Sources and derivations: docs/models/switch.md
// and docs/models/pfc.md (Choudhury and Hahne 1998; IEEE 802.1Qbb; DCQCN, SIGCOMM 2015).
#include "net/switch.h"

#include "net/switch/switch_internal.h"

static net_switch_t *to_switch(net_node_t *node)
{
    SIM_CHECK(node->kind == NET_NODE_SWITCH);
    return (net_switch_t *)(void *)node;
}

static const net_switch_t *to_const_switch(const net_node_t *node)
{
    SIM_CHECK(node->kind == NET_NODE_SWITCH);
    return (const net_switch_t *)(const void *)node;
}

// -- routing

static const net_port_t *route_when_up(const net_node_t *node,
                                       const net_routes_t *routes,
                                       uint32_t source,
                                       uint32_t interface,
                                       uint32_t flow_hash)
{
    const net_switch_t *const sw = to_const_switch(node);
    const net_attachment_t attachment = sw->attachments[interface];
    if (attachment.leaf == sw->leaf) {
        return &node->ports[attachment.port];
    }
    const net_hop_t hop =
        attachment.leaf == NET_NO_LEAF ? (net_hop_t){.count = 0} : routes->hops[attachment.leaf];
    if (hop.count == 0) {
        return NULL;
    }
    const uint64_t index =
        sw->murmur
            ? net__murmur3_flow(node->net, sw->ecmp_seed, source, interface, flow_hash) % hop.count
            : ((uint64_t)net__spread(sw, flow_hash) * hop.count) >> 32;
    return &node->ports[routes->ports[hop.first + index]];
}

static void set_routes(net_node_t *node, const net_routes_t *routes)
{
    net_switch_t *const sw = to_switch(node);
    sw->hops = routes->hops;
    sw->hop_ports = routes->ports;
}

static const net_forward_ops_t forward_ops = {.set_routes = set_routes, .route = route_when_up};

// -- buffer accounting

static inline uint64_t xoff_threshold(const net_switch_t *sw)
{
    if (sw->config.pfc_threshold_bytes != SIM_AUTO) {
        return sw->config.pfc_threshold_bytes;
    }
    return net__fraction_of(net__shared_free(sw), sw->pfc_alpha);
}

static inline uint64_t above_reserved(const net_switch_t *sw, uint64_t bytes)
{
    const uint64_t reserved = sw->config.pfc_reserved_bytes;
    return bytes > reserved ? bytes - reserved : 0;
}

static void stop_peer(net_switch_t *sw, ingress_t *in, uint32_t priority)
{
    in->stopped |= (uint8_t)(1u << priority);
    in->port->received[priority].stopped = 1;
    net_port_pause_send(in->port, (uint8_t)(1u << priority), in->quanta);
    if (!sim_timer_armed(&in->refresh)) {
        const sim_time_t pause_ps = net_port_quanta_ps(in->port, in->quanta);
        sim_timer_arm(&sw->node.sim, &in->refresh, sw->node.sim.now_ps + pause_ps / 2);
    }
}

static void refresh_pause(sim_node_t *node, sim_timer_t *timer)
{
    ingress_t *const in = SIM_CONTAINER_OF(timer, ingress_t, refresh);
    if (in->stopped != 0) {
        const sim_time_t pause_ps = net_port_quanta_ps(in->port, in->quanta);
        net_port_pause_send(in->port, in->stopped, in->quanta);
        sim_timer_arm(node, &in->refresh, node->now_ps + pause_ps / 2);
    }
}

// Finds room for a lossless packet: reserved first, then shared up to the threshold, then headroom.
static inline bool admit_lossless(net_switch_t *sw, const net_packet_t *packet)
{
    net_received_t *const held = &sw->node.ports[packet->ingress_port].received[packet->priority];
    const uint64_t bytes = packet->frame_bytes;
    const uint64_t before = above_reserved(sw, held->stored_bytes);
    const uint64_t after = above_reserved(sw, held->stored_bytes + bytes);
    if (after == 0 ||
        (after <= xoff_threshold(sw) && sw->shared_bytes + (after - before) <= sw->shared_limit)) {
        held->stored_bytes += bytes;
        sw->shared_bytes += after - before;
        return true;
    }
    ingress_t *const in = &sw->ingress[packet->ingress_port];
    const bool fits = held->headroom_bytes + bytes <= in->headroom_limit;
    if (fits) {
        held->headroom_bytes = (held->headroom_bytes + bytes) & NET_HEADROOM_MASK;
    }
    // Where nothing is held, nothing will leave and let the peer go again.
    if (!held->stopped && held->stored_bytes + held->headroom_bytes > 0) {
        stop_peer(sw, in, packet->priority);
    }
    return fits;
}

static void let_peer_go(net_switch_t *sw, ingress_t *in, uint32_t priority)
{
    in->port->received[priority].stopped = 0;
    in->stopped &= (uint8_t) ~(1u << priority);
    if (in->stopped == 0) {
        sim_timer_cancel(&sw->node.sim, &in->refresh);
    }
    net_port_pause_send(in->port, (uint8_t)(1u << priority), 0);
}

// A packet that was admitted starts to leave: headroom drains first, and the peer may go on once
// headroom is empty and the rest has fallen below the threshold by the XON distance.
static inline void release_lossless(net_switch_t *sw,
                                    uint32_t port,
                                    uint32_t priority,
                                    uint64_t bytes)
{
    net_received_t *const held = &sw->node.ports[port].received[priority];
    const uint64_t before = above_reserved(sw, held->stored_bytes);
    if (SIM_UNLIKELY(held->headroom_bytes > 0)) {
        const uint64_t drained = held->headroom_bytes < bytes ? held->headroom_bytes : bytes;
        held->headroom_bytes = (held->headroom_bytes - drained) & NET_HEADROOM_MASK;
        bytes -= drained;
    }
    SIM_CHECK(held->stored_bytes >= bytes);
    held->stored_bytes -= bytes;
    const uint64_t after = above_reserved(sw, held->stored_bytes);
    sw->shared_bytes -= before - after;
    if (SIM_UNLIKELY(held->stopped) && held->headroom_bytes == 0 &&
        (after == 0 || after + sw->config.pfc_xon_bytes <= xoff_threshold(sw))) {
        let_peer_go(sw, &sw->ingress[port], priority);
    }
}

// Finds room for a lossy packet at its egress queue.
static bool admit_lossy(net_switch_t *sw,
                        const net_port_t *egress,
                        const net_packet_t *packet,
                        net_drop_reason_t *reason)
{
    const uint64_t free_bytes = net__shared_free(sw);
    if (packet->frame_bytes > free_bytes) {
        *reason = NET_DROP_BUFFER_FULL;
        return false;
    }
    const uint64_t limit = net__fraction_of(free_bytes, sw->lossy_alpha);
    if (egress->classes[packet->priority].bytes + packet->frame_bytes > limit) {
        *reason = NET_DROP_EGRESS_FULL;
        return false;
    }
    sw->shared_bytes += packet->frame_bytes;
    return true;
}

static inline void release(net_switch_t *sw, uint32_t port, uint32_t priority, uint32_t bytes)
{
    sw->held_bytes -= bytes;
    if (sw->lossless & (1u << priority)) {
        release_lossless(sw, port, priority, bytes);
    } else {
        sw->shared_bytes -= bytes;
    }
}

// -- events

static void serve(net_switch_t *sw, net_port_t *egress)
{
    egress->wake_pending = false;
    net_packet_t *const control = egress->control;
    const uint8_t candidates = egress->waiting & (uint8_t)~egress->paused;
    if (control != NULL) {
        egress->control = NULL;
        net_port_transmit(egress, control);
        if (candidates != 0) {
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
            head_bytes[p] = candidates & (1u << p) ? egress->classes[p].head->frame_bytes : 0;
        }
        priority = net_port_choose(egress, candidates, head_bytes);
    }
    net_packet_t *const packet = net_queue_pop(egress, priority);
    const uint32_t ingress_port = packet->ingress_port;
    const uint32_t bytes = packet->frame_bytes; // as charged: telemetry may make it longer
    net__mark(sw, egress, packet);
    net_port_transmit(egress, packet);
    release(sw, ingress_port, priority, bytes);
    net_port_trace(egress, NET_TRACE_RELEASE, NULL, 0);
    if (egress->control != NULL || (egress->waiting & (uint8_t)~egress->paused)) {
        net_port_wake(egress);
    }
}

// Apart from enqueue, which is shorter for it.
__attribute__((noinline)) void net__mark_early(net_switch_t *sw,
                                               net_port_t *egress,
                                               net_packet_t *packet)
{
    const uint64_t queued = egress->classes[packet->priority].bytes;
    if (queued > sw->marking[egress->index].kmin_bytes && packet->ecn != NET_ECN_NOT_ECT) {
        net__mark_by(sw, egress, packet, queued);
    }
}

static void enqueue(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    const uint8_t bit = (uint8_t)(1u << packet->priority);
    net_drop_reason_t reason = NET_DROP_HEADROOM_FULL;
    const bool admitted =
        sw->lossless & bit ? admit_lossless(sw, packet) : admit_lossy(sw, egress, packet, &reason);
    if (!admitted) {
        // Headroom is the ingress port's: that is the port to look at.
        const bool at_ingress = reason == NET_DROP_HEADROOM_FULL;
        net_port_drop(at_ingress ? &sw->node.ports[packet->ingress_port] : egress, packet, reason);
        return;
    }
    sw->held_bytes += packet->frame_bytes;
    if (SIM_UNLIKELY(sw->marks_early & bit)) {
        net__mark_early(sw, egress, packet);
    }
    net_queue_push(egress, packet);
    if (!(egress->paused & bit)) {
        net_port_wake(egress);
    }
}

static void pause_arrived(net_switch_t *sw, net_port_t *port, net_packet_t *packet)
{
    const uint8_t released = net_port_pause_received(port, packet);
    net_packet_deliver(&sw->node, packet);
    if (released & port->waiting) {
        net_port_wake(port);
    }
}

static inline void arrival(net_switch_t *sw, uint32_t port_index, net_packet_t *packet)
{
    net_port_t *const ingress = &sw->node.ports[port_index];
    net_port_count_rx(ingress, packet);
    if (SIM_UNLIKELY(packet->kind == NET_PACKET_PFC)) {
        pause_arrived(sw, ingress, packet);
        return;
    }
    const uint32_t out = net__route(sw, packet);
    if (SIM_UNLIKELY(out == NET_NO_PORT)) {
        net_port_drop(ingress, packet, NET_DROP_NO_ROUTE);
        return;
    }
    if (sw->routed) {
        if (SIM_UNLIKELY(packet->ttl <= 1)) {
            net_port_drop(ingress, packet, NET_DROP_TTL);
            return;
        }
        packet->ttl--;
    }
    if (sw->trust_dscp) {
        packet->priority = packet->dscp >> 3;
    }
    packet->ingress_port = (uint16_t)port_index;
    net_port_t *const egress = &sw->node.ports[out];
    const uint8_t bit = (uint8_t)(1u << packet->priority);
    const sim_time_t now_ps = sw->node.sim.now_ps;
    // At the very end of a frame the port is still busy, unless nobody else arrives at this
    // instant: then there is nothing to choose from.
    const bool idle = !egress->wake_pending &&
                      (now_ps > egress->busy_until_ps ||
                       (now_ps == egress->busy_until_ps && !sim_node_arrivals_tie(&sw->node.sim)));
    if (idle && !(egress->paused & bit)) {
        net_port_transmit(egress, packet);
    } else {
        enqueue(sw, egress, packet);
    }
}

// Since its last window other nodes have used the cache. Where most ports will be busy in the next
// one, their lines are fetched all at once, before the switch runs...
static void warm(const sim_node_t *node, uint32_t arrivals)
{
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    const uint32_t class = sw->warm_class;
    if (arrivals < sw->node.port_count) {
        for (uint32_t i = node->wake_first; i < node->wake_end; i++) {
            __builtin_prefetch(&sw->node.ports[node->wakes[i].port]);
            __builtin_prefetch(&sw->node.ports[node->wakes[i].port].classes[class]);
        }
        return;
    }
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        __builtin_prefetch(&sw->node.ports[p]);
        __builtin_prefetch(&sw->node.ports[p].classes[class]);
        __builtin_prefetch(&sw->node.ports[p].received[class]);
    }
}

// ...and then the packets at the head of the queues that will be served.
static inline void warm_heads(const net_switch_t *sw)
{
    const sim_node_t *const node = &sw->node.sim;
    for (uint32_t i = node->wake_first; i < node->wake_end; i++) {
        const net_port_t *const port = &sw->node.ports[node->wakes[i].port];
        if (port->waiting != 0) {
            __builtin_prefetch(port->classes[__builtin_ctz(port->waiting)].head);
        }
    }
}

static void run(sim_node_t *node)
{
    net_switch_t *const sw = (net_switch_t *)(void *)node;
    warm_heads(sw);
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        switch (event.kind) {
        case SIM_EVENT_ARRIVAL:
            arrival(sw, event.port, event.message);
            break;
        case SIM_EVENT_WAKE:
            serve(sw, &sw->node.ports[event.port]);
            break;
        case SIM_EVENT_TIMER:
            event.timer->fn(node, event.timer);
            break;
        }
        net__switch_event_over(sw, &event);
    }
}

static void add_digest(const sim_node_t *node, sim_digest_t *digest)
{
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    net_node_digest(&sw->node, digest);
    sim_digest_add(digest, sw->held_bytes);
    sim_digest_add(digest, sw->shared_bytes);
}

static void destroy(sim_node_t *node)
{
    net_switch_t *const sw = (net_switch_t *)(void *)node;
    net_node_fini(&sw->node);
    sim_free(sw->ingress);
    sim_free(sw->marking);
    sim_free(sw);
}

static const sim_node_ops_t switch_ops = {
    .kind = "switch",
    .run = run,
    .warm = warm,
    .digest = add_digest,
    .destroy = destroy,
};

static const sim_node_ops_t switch_hpcc_ops = {
    .kind = "switch",
    .run = net__switch_run_hpcc,
    .digest = add_digest,
    .destroy = destroy,
};

// -- set-up

// IEEE 802.3 annex 31B.3.7 bounds a station's reaction to a pause, in quanta, by rate.
static sim_time_t response_ps(uint64_t rate_bps)
{
    // clang-format off
    static const struct { uint64_t gbps; uint64_t quanta; } table[] = {
        {1, 2}, {10, 67}, {25, 80}, {40, 118}, {50, 147}, {100, 394}, {200, 453}, {400, 905},
    };
    // clang-format on
    uint64_t quanta = 905;
    for (size_t i = SIM_COUNT_OF(table); i-- > 0;) {
        if (rate_bps <= table[i].gbps * 1000000000) {
            quanta = table[i].quanta;
        }
    }
    return quanta * (NET_PFC_QUANTUM_BITS * SIM_PS_PER_S) / rate_bps;
}

uint64_t net_switch_headroom_bytes(uint64_t rate_bps,
                                   sim_time_t delay_ps,
                                   sim_time_t response,
                                   uint32_t frame_bytes_max)
{
    __extension__ typedef unsigned __int128 wide_t;
    const wide_t bits = (wide_t)rate_bps * (2 * delay_ps + response);
    const uint64_t in_time = (uint64_t)((bits + 8 * SIM_PS_PER_S - 1) / (8 * SIM_PS_PER_S));
    const uint64_t frame = frame_bytes_max + NET_LINK_OVERHEAD_BYTES;
    return in_time + 3 * frame + NET_FRAME_BYTES_MIN + NET_LINK_OVERHEAD_BYTES;
}

static uint64_t headroom_of(const net_switch_t *sw, const net_port_t *port)
{
    if (sw->config.pfc_headroom_bytes != SIM_AUTO) {
        return sw->config.pfc_headroom_bytes;
    }
    const sim_time_t response = sw->config.pfc_response_ps == SIM_AUTO ? response_ps(port->rate_bps)
                                                                       : sw->config.pfc_response_ps;
    return net_switch_headroom_bytes(port->rate_bps,
                                     port->delay_ps,
                                     response,
                                     NET_FRAME_BYTES_QUANTUM);
}

// Whether the computed headroom is enough: not where pause frames can be lost, nor where a pause is
// so short that a refresh behind a large frame may come too late. (Links that change: network.c.)
static bool headroom_suffices(const net_switch_t *sw, const net_port_t *port)
{
    const sim_time_t pause_ps = net_port_quanta_ps(port, (uint16_t)sw->config.pfc_quanta);
    return sw->config.pfc_headroom_bytes == SIM_AUTO && port->config.loss_rate.num == 0 &&
           port->config.bit_error_rate.num == 0 &&
           pause_ps / 2 >= net_port_frame_time_ps(port, NET_FRAME_BYTES_QUANTUM);
}

// The thresholds of a port of this rate: its profile, or what the switch has for all.
static sim_profile_t ecn_profile(const net_switch_config_t *config, uint64_t rate_bps)
{
    for (uint32_t i = 0; i < config->ecn_profiles.count; i++) {
        if (config->ecn_profiles.rows[i].rate_bps == rate_bps) {
            return config->ecn_profiles.rows[i];
        }
    }
    const uint64_t hundred_gbps = UINT64_C(100000000000);
    __extension__ typedef unsigned __int128 wide_t;
    const wide_t scale = config->ecn_scale ? rate_bps : hundred_gbps;
    return (sim_profile_t){
        .rate_bps = rate_bps,
        .low_bytes = (uint64_t)(config->ecn_kmin_bytes * scale / hundred_gbps),
        .high_bytes = (uint64_t)(config->ecn_kmax_bytes * scale / hundred_gbps),
        .probability = config->ecn_pmax,
    };
}

static void set_marking(net_switch_t *sw, net_port_t *port, marking_t *marking)
{
    __extension__ typedef unsigned __int128 wide_t;
    const sim_profile_t profile = ecn_profile(&sw->config, port->rate_bps);
    marking->kmin_bytes = profile.low_bytes;
    marking->kmax_bytes = profile.high_bytes;
    const uint64_t range = marking->kmax_bytes - marking->kmin_bytes;
    const sim_ratio_t pmax = profile.probability;
    marking->pmax = (double)pmax.num / (double)pmax.den;
    if (range > 0) {
        const wide_t one = (wide_t)1 << 64;
        marking->slope =
            (uint64_t)((pmax.num >= pmax.den ? one - 1 : one / pmax.den * pmax.num) / range);
    }
    sim_random_init(&marking->random, sim_options(sw->node.sim.sim)->seed, port->uid, "ecn-mark");
    const bool early = sw->config.ecn_mark_at == NET_MARK_AT_ENQUEUE;
    const uint8_t classes = sw->config.ecn_enabled ? sw->config.ecn_priorities : 0;
    const uint8_t marked = early ? 0 : classes;
    sw->marks_early = early ? classes : 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        port->classes[p].mark_above_bytes = marked & (1u << p) ? marking->kmin_bytes : UINT64_MAX;
    }
}

static void built(net_node_t *node)
{
    net_switch_t *const sw = to_switch(node);
    const net_t *const net = node->net;
    sw->attachments = net->attachments;
    sw->leaf = net->leaf_of[node->sim.index];
    // A switch without hosts matches no attachment, not even that of hosts on hosts.
    sw->leaf = sw->leaf == NET_NO_LEAF ? NET_NO_LEAF - 1 : sw->leaf;
    sw->routed = net->config.forwarding == NET_FORWARDING_ROUTED;
    sw->ingress = sim_alloc_lines((node->port_count + 1) * sizeof(*sw->ingress));
    sw->marking = sim_alloc_lines((node->port_count + 1) * sizeof(*sw->marking));
    const uint64_t classes = (uint64_t)__builtin_popcount(sw->lossless);
    uint64_t dedicated = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        net_port_t *const port = &node->ports[p];
        ingress_t *const in = &sw->ingress[p];
        in->port = port;
        in->headroom_limit = headroom_of(sw, port);
        in->quanta = (uint16_t)sw->config.pfc_quanta;
        sim_timer_init(&in->refresh, refresh_pause);
        dedicated += classes * (in->headroom_limit + sw->config.pfc_reserved_bytes);
        port->strict = sw->config.strict_priorities;
        port->lossless_guaranteed = classes > 0 && headroom_suffices(sw, port);
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            port->quantum_bytes[c] = sw->config.weights[c] * NET_FRAME_BYTES_QUANTUM;
        }
        set_marking(sw, port, &sw->marking[p]);
        if (sw->config.telemetry) {
            net__port_start_meter(port);
        }
    }
    sw->shared_limit =
        sw->config.buffer_bytes > dedicated ? sw->config.buffer_bytes - dedicated : 0;
    if (sw->config.mmu == NET_MMU_HPCC) {
        net__switch_built_hpcc(sw);
    }
}

sim_err_t net_switch_config_check(const net_switch_config_t *config, sim_message_t *message)
{
    if (config->ecn_kmin_bytes > config->ecn_kmax_bytes) {
        return sim_fail(message,
                        SIM_ERR_RANGE,
                        "switch.ecn.kmin is above switch.ecn.kmax (%" PRIu64 " > %" PRIu64
                        " bytes)",
                        config->ecn_kmin_bytes,
                        config->ecn_kmax_bytes);
    }
    for (uint32_t i = 0; i < config->ecn_profiles.count; i++) {
        const sim_profile_t *const row = &config->ecn_profiles.rows[i];
        if (row->low_bytes > row->high_bytes) {
            return sim_fail(message,
                            SIM_ERR_RANGE,
                            "switch.ecn.profiles: kmin is above kmax (%" PRIu64 " > %" PRIu64
                            " bytes)",
                            row->low_bytes,
                            row->high_bytes);
        }
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (config->weights[p] == 0) {
            return sim_fail(message, SIM_ERR_RANGE, "switch.weights: class %u has weight 0", p);
        }
    }
    return SIM_OK;
}

net_node_t *net_switch_create(net_t *net, const char *name, const net_switch_config_t *config)
{
    net_switch_t *const sw = sim_alloc_lines(sizeof(*sw));
    const sim_node_ops_t *const ops = config->mmu == NET_MMU_HPCC ? &switch_hpcc_ops : &switch_ops;
    net_node_init(net, &sw->node, NET_NODE_SWITCH, ops, name, built);
    net_node_forward(&sw->node, &forward_ops);
    sw->config = *config;
    sw->pfc_alpha = net__alpha_of(config->pfc_alpha);
    sw->lossy_alpha = net__alpha_of(config->lossy_alpha);
    sw->lossless = config->pfc_enabled ? config->pfc_priorities : 0;
    sw->warm_class = sw->lossless != 0 ? (uint8_t)__builtin_ctz(sw->lossless) : 0;
    sw->trust_dscp = config->trust == NET_TRUST_DSCP;
    sw->murmur = net->config.ecmp == NET_ECMP_MURMUR3;
    const uint64_t mixed =
        sim_mix64(sim_mix64(sim_options(net->sim)->seed) ^ (sw->node.sim.index + 1));
    const uint64_t own_seed = sw->murmur ? sw->node.sim.index : mixed;
    sw->ecmp_seed = (uint32_t)(config->ecmp_seed == SIM_AUTO ? own_seed : config->ecmp_seed);
    return &sw->node;
}

const net_switch_config_t *net_switch_config(const net_node_t *node)
{
    return &to_const_switch(node)->config;
}

sim_err_t net_switch_check(const net_node_t *node, sim_message_t *message)
{
    const net_switch_t *const sw = to_const_switch(node);
    const bool hpcc = sw->config.mmu == NET_MMU_HPCC; // its classes share one headroom
    const uint64_t classes = hpcc ? 1 : (uint64_t)__builtin_popcount(sw->lossless);
    uint64_t headroom = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        headroom += classes * sw->ingress[p].headroom_limit;
    }
    const uint64_t reserved = classes * sw->config.pfc_reserved_bytes * node->port_count;
    if (headroom + reserved >= sw->config.buffer_bytes) {
        return sim_fail(message,
                        SIM_ERR_RANGE,
                        "%s: its buffer of %" PRIu64 " bytes cannot hold the headroom (%" PRIu64
                        ") and the reserved bytes (%" PRIu64 ") of its %u ports",
                        node->sim.name,
                        sw->config.buffer_bytes,
                        headroom,
                        reserved,
                        node->port_count);
    }
    return SIM_OK;
}

uint64_t net_switch_buffer_bytes(const net_node_t *node)
{
    return to_const_switch(node)->held_bytes;
}

uint64_t net_switch_headroom_limit_bytes(const net_node_t *node, uint32_t port)
{
    SIM_CHECK(port < node->port_count);
    return to_const_switch(node)->ingress[port].headroom_limit;
}

uint64_t net_switch_headroom_used_bytes(const net_node_t *node)
{
    SIM_CHECK(node->kind == NET_NODE_SWITCH);
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            bytes += node->ports[p].received[c].headroom_bytes;
        }
    }
    return bytes;
}

uint64_t net_switch_ingress_bytes(const net_node_t *node, uint32_t port, uint32_t priority)
{
    SIM_CHECK(node->kind == NET_NODE_SWITCH);
    SIM_CHECK(port < node->port_count && priority < NET_PRIORITIES);
    const net_received_t *const held = &node->ports[port].received[priority];
    return held->stored_bytes + held->headroom_bytes;
}
