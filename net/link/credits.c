// SPDX-License-Identifier: Apache-2.0
// net/link/credits.c - credit-based flow control (CBFC) of Ultra Ethernet, at both ends of a link.
//
// Sender and receiver count credits in cyclic counters that only rise. A lost CF_Update is made
// good by the next one, and a lost frame by a CC_Update, which follows the frames that it counts.
// Sources: UE Specification 1.0, 5.2, as the SAI proposal "Credit Based Flow Control" tells it
// (docs/models/link-layer.md).
#include "net/link/credits.h"
#include "net/link/pause.h"
#include "net/network_internal.h"
#include "net/port_queue.h"

#define FREED_MASK ((1u << 15) - 1) // of a counter in a CF_Update
#define SENT_MASK ((1u << NET_COUNT_BITS) - 1)
#define REPEATS 3u // CF_Updates that repeat the last one, on a link that may lose it

// Returns the credits that a frame takes.
static uint64_t credits_of(const struct net_layer *layer, uint32_t frame_bytes)
{
    return (frame_bytes + NET_FCS_BYTES + layer->credit_bytes - 1) / layer->credit_bytes;
}

// -- set-up

uint64_t net__credits_limit(const net_port_t *sender)
{
    const net_line_t *const line = sender->line;
    const uint64_t size = net__layer_value(line->config->credit_bytes, NET_CREDIT_BYTES);
    const uint64_t spacing = net__layer_value(line->config->cf_spacing_bytes, NET_CF_SPACING_BYTES);
    if (line->config->credits != 0 && line->config->credits != SIM_AUTO) {
        return line->config->credits;
    }
    // All that is on its way there and back, while a CF_Update waits for its turn. The buffer holds
    // at most 9 bytes for 8 on the link, with frames of 1000 bytes and more.
    const sim_wide_t bits = (sim_wide_t)line->rate_bps * (2 * line->delay_ps);
    const uint64_t on_the_way = (uint64_t)((bits + 8 * SIM_PS_PER_S - 1) / (8 * SIM_PS_PER_S));
    const uint64_t frame = sender->node->net->frame_bytes_max + NET_LINK_OVERHEAD_BYTES;
    const uint64_t bytes = on_the_way + spacing + NET_CONTROL_SET_BYTES + 2 * frame;
    return (bytes + bytes / 8 + size - 1) / size;
}

static sim_time_t sync_ps(const struct net_layer *layer)
{
    return net__layer_value(layer->port->line->config->cc_interval_ps, NET_CC_INTERVAL_PS);
}

static void update_due(sim_node_t *node, sim_timer_t *timer);
static void sync_due(sim_node_t *node, sim_timer_t *timer);

void net__credits_build(struct net_layer *layer)
{
    const net_port_t *const port = layer->port;
    const net_link_config_t *const config = port->line->config;
    layer->sends = net__layer_classes(port);
    layer->receives = net__layer_classes(port->peer);
    layer->limit = net__credits_limit(port);
    layer->receive_limit = net__credits_limit(port->peer);
    layer->credit_bytes = (uint32_t)net__layer_value(config->credit_bytes, NET_CREDIT_BYTES);
    layer->update_spacing_ps =
        net__layer_time_ps(port, net__layer_value(config->cf_spacing_bytes, NET_CF_SPACING_BYTES));
    layer->repeat_spacing_ps =
        net__layer_time_ps(port, net__layer_value(config->cf_repeat_bytes, NET_CF_REPEAT_BYTES));
    sim_timer_init_upkeep(&layer->update_timer, update_due);
    sim_timer_init_background(&layer->sync_timer, sync_due);
}

// -- the sender

static bool has(uint8_t classes, uint32_t priority)
{
    return ((uint32_t)classes >> priority & 1u) != 0;
}

static uint64_t in_use(const net_vc_t *vc)
{
    SIM_CHECK(vc->returned <= vc->sent);
    return vc->sent - vc->returned;
}

static uint64_t all_in_use(const struct net_layer *layer)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        sum += in_use(&layer->vcs[p]);
    }
    return sum;
}

bool net__credits_suffice(const struct net_layer *layer, const net_packet_t *packet)
{
    const net_vc_t *const vc = &layer->vcs[packet->priority];
    return !has(layer->sends, packet->priority) ||
           in_use(vc) + credits_of(layer, packet->frame_bytes) <= layer->limit;
}

// Returns the credits that the class must have left to send. A switch must know them before a
// packet comes: the largest frame's. A host is stopped by what it has sent so far.
static uint64_t credits_of_next(const struct net_layer *layer, uint32_t priority)
{
    const net_port_t *const port = layer->port;
    const net_vc_t *const vc = &layer->vcs[priority];
    // A switch that writes INT makes the frame longer when it leaves.
    const uint32_t more = port->metered ? 2 * NET_INT_HOP_BYTES : 0;
    const uint32_t bytes = vc->kept != NULL ? vc->kept->frame_bytes
                           : has(port->waiting, priority)
                               ? net_queue_head(port->classes[priority])->frame_bytes + more
                           : port->node->kind == NET_NODE_HOST ? vc->frame_bytes_max
                                                               : port->node->net->frame_bytes_max;
    return credits_of(layer, bytes);
}

bool net__credits_look(struct net_layer *layer, uint32_t priority)
{
    net_port_t *const port = layer->port;
    if (!has(layer->sends, priority)) {
        return false;
    }
    const bool stop =
        !port->down &&
        in_use(&layer->vcs[priority]) + credits_of_next(layer, priority) > layer->limit;
    if (stop) {
        net__port_hold(port, priority, SIM_TIME_NEVER);
    } else if (has(port->rare->stopped, priority)) {
        const sim_time_t since_ps = port->rare->pauses[priority].paused_since_ps;
        port->rare->credit_waits++;
        port->rare->credit_wait_ps += port->node->sim.now_ps - since_ps;
        net__port_release(port, priority);
        return true;
    }
    return false;
}

void net__credits_taken(struct net_layer *layer, const net_packet_t *packet)
{
    net_port_t *const port = layer->port;
    net_vc_t *const vc = &layer->vcs[packet->priority];
    if (!has(layer->sends, packet->priority)) {
        return;
    }
    vc->sent += credits_of(layer, packet->frame_bytes);
    vc->frame_bytes_max = SIM_MAX(packet->frame_bytes, vc->frame_bytes_max);
    SIM_CHECK(in_use(vc) <= layer->limit);
    const uint64_t used = all_in_use(layer);
    net_layer_counters_t *const counters = &port->rare->layer_counters;
    counters->credits_used_max = SIM_MAX(used, counters->credits_used_max);
    port->counted = 1;
    (void)net__credits_look(layer, packet->priority);
    if (!sim_timer_armed(&layer->sync_timer)) {
        sim_node_t *const node = &port->node->sim;
        sim_timer_arm(node, &layer->sync_timer, node->now_ps + sync_ps(layer));
    }
}

uint8_t net__credits_updated(struct net_layer *layer, const net_counts_t *counts)
{
    uint8_t released = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (has(counts->classes & layer->sends, p)) {
            net_vc_t *const vc = &layer->vcs[p];
            vc->returned += (net_counts_get(counts, p) - (uint32_t)vc->returned) & FREED_MASK;
            released |= (uint8_t)(net__credits_look(layer, p) << p);
        }
    }
    if (all_in_use(layer) == 0) {
        sim_timer_cancel(&layer->port->node->sim, &layer->sync_timer);
    }
    return released;
}

static void sync_due(sim_node_t *node, sim_timer_t *timer)
{
    struct net_layer *const layer = SIM_CONTAINER_OF(timer, struct net_layer, sync_timer);
    if (!layer->port->down) {
        sim_timer_arm(node, timer, node->now_ps + sync_ps(layer));
        layer->sync_due = true;
        net__layer_kick(layer);
    }
}

net_packet_t *net__credits_sync(struct net_layer *layer)
{
    net_packet_t *const packet = net__layer_message(layer, NET_CONTROL_CC_UPDATE);
    layer->sync_due = false;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (has(layer->sends, p)) {
            net_counts_set(&packet->counts, p, layer->vcs[p].sent);
        }
    }
    layer->port->rare->layer_counters.cc_tx++;
    return packet;
}

// -- the receiver

uint8_t net_layer_grants(const net_port_t *port)
{
    return port->rare->layer->receives;
}

uint64_t net_layer_granted_bytes(const net_port_t *port)
{
    const struct net_layer *const layer = port->rare->layer;
    return layer->receives == 0 ? 0 : layer->receive_limit * layer->credit_bytes;
}

// Arms the timer for the next CF_Update: at once, if the spacing allows it, and in any case after
// all else that happens at this instant, so that frames that stay in the buffer are not counted.
static void arm_update(struct net_layer *layer)
{
    sim_node_t *const node = &layer->port->node->sim;
    const sim_time_t spacing_ps =
        layer->unannounced != 0 ? layer->update_spacing_ps : layer->repeat_spacing_ps;
    const sim_time_t due_ps = layer->update_ps == 0 ? 0 : layer->update_ps + spacing_ps;
    const sim_time_t at_ps = SIM_MAX(due_ps, node->now_ps);
    if ((layer->unannounced != 0 || layer->repeats > 0) &&
        (!sim_timer_armed(&layer->update_timer) ||
         sim_timer_time_ps(node, &layer->update_timer) > at_ps)) {
        sim_timer_arm(node, &layer->update_timer, at_ps);
    }
}

// Writes a class into a CF_Update.
static void announce(struct net_layer *layer, uint32_t priority, net_counts_t *counts)
{
    net_vc_t *const vc = &layer->vcs[priority];
    net_counts_set(counts, priority, vc->freed & FREED_MASK);
    vc->announced = vc->freed;
    layer->unannounced &= (uint8_t) ~(1u << priority);
    layer->next_class = (uint8_t)((priority + 1) % NET_PRIORITIES);
}

static void update_due(sim_node_t *node, sim_timer_t *timer)
{
    struct net_layer *const layer = SIM_CONTAINER_OF(timer, struct net_layer, update_timer);
    sim_upkeep(node);
    if (layer->port->down || (layer->unannounced == 0 && layer->repeats == 0)) {
        return;
    }
    if (layer->unannounced == 0) {
        layer->repeats--;
    } else {
        layer->repeats = net__layer_can_lose(layer) ? REPEATS : 0;
    }
    const uint8_t classes = layer->unannounced != 0 ? layer->unannounced : layer->receives;
    net_packet_t *const packet = net__layer_message(layer, NET_CONTROL_CF_UPDATE);
    uint32_t said = 0;
    const uint32_t first = layer->next_class;
    for (uint32_t i = 0; i < NET_PRIORITIES && said < 2; i++) {
        const uint32_t priority = (first + i) % NET_PRIORITIES;
        if (has(classes, priority)) {
            announce(layer, priority, &packet->counts);
            said++;
        }
    }
    layer->update_ps = node->now_ps;
    layer->port->rare->layer_counters.cf_tx++;
    layer->port->counted = 1;
    net__layer_send_set(layer, packet);
    arm_update(layer);
}

static void freed(struct net_layer *layer, uint32_t priority, uint64_t credits)
{
    layer->vcs[priority].freed += credits;
    layer->unannounced |= (uint8_t)(1u << priority);
    arm_update(layer);
}

void net__credits_arrived(struct net_layer *layer, uint32_t priority, uint32_t frame_bytes)
{
    if (!has(layer->receives, priority)) {
        return;
    }
    net_vc_t *const vc = &layer->vcs[priority];
    const uint64_t credits = credits_of(layer, frame_bytes);
    vc->arrived += credits;
    SIM_CHECK(vc->arrived - vc->freed <= layer->receive_limit);
    if (!has(layer->withheld, priority)) {
        freed(layer, priority, credits);
    }
}

void net_layer_store(net_port_t *port, uint32_t priority, uint32_t frame_bytes)
{
    struct net_layer *const layer = port->rare->layer;
    net_vc_t *const vc = &layer->vcs[priority];
    vc->freed -= credits_of(layer, frame_bytes);
    SIM_CHECK(vc->freed >= vc->announced);
    if (vc->freed == vc->announced) {
        layer->unannounced &= (uint8_t) ~(1u << priority);
        if (layer->unannounced == 0) {
            sim_timer_cancel(&port->node->sim, &layer->update_timer);
            arm_update(layer);
        }
    }
}

void net_layer_free(net_port_t *port, uint32_t priority, uint32_t frame_bytes)
{
    struct net_layer *const layer = port->rare->layer;
    freed(layer, priority, credits_of(layer, frame_bytes));
}

uint8_t net__credits_withhold(net_port_t *port, uint8_t classes, bool withhold)
{
    struct net_layer *const layer = port->rare->layer;
    const uint8_t mine = classes & layer->receives;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (!has(mine, p) || has(layer->withheld, p) == withhold) {
            continue;
        }
        layer->withheld ^= (uint8_t)(1u << p);
        net_port_trace(port, withhold ? NET_TRACE_XOFF : NET_TRACE_XON, NULL, p);
        if (!withhold) {
            freed(layer, p, layer->vcs[p].arrived - layer->vcs[p].freed);
        }
    }
    return mine;
}

void net__credits_synced(struct net_layer *layer, const net_counts_t *counts)
{
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (has(counts->classes & layer->receives, p)) {
            net_vc_t *const vc = &layer->vcs[p];
            const uint32_t lost = (net_counts_get(counts, p) - (uint32_t)vc->arrived) & SENT_MASK;
            vc->arrived += lost;
            layer->port->rare->layer_counters.credits_recovered += lost;
            if (lost != 0 || net__layer_can_lose(layer)) {
                freed(layer, p, lost);
            }
        }
    }
}

void net__credits_link_up(struct net_layer *layer)
{
    sim_node_t *const node = &layer->port->node->sim;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (has(layer->receives, p)) {
            layer->unannounced |= (uint8_t)(1u << p);
        }
        (void)net__credits_look(layer, p);
    }
    arm_update(layer);
    if (all_in_use(layer) != 0) {
        sim_timer_arm(node, &layer->sync_timer, node->now_ps + sync_ps(layer));
    }
}
