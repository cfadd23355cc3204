// SPDX-License-Identifier: Apache-2.0
// net/link/retry.c - link layer retry (LLR) of Ultra Ethernet: go-back-N between the two ends of a
// link.
//
// The sender decides which frames are damaged, as for all losses. A damaged frame stays with it,
// and so do those behind it, which the receiver would discard: they take their time on the link and
// reach nobody until a NACK comes. A frame that has arrived leaves an entry without a packet. If
// its acknowledgement is lost, a message stands for it when it is repeated.
// Sources: UE Specification 1.0, 5.1, as the SAI proposal "Link Layer Retry" tells it
// (docs/models/link-layer.md).
#include "net/link/retry.h"

#include "net/link/pause.h"
#include "net/link/port_setup.h"
#include "net/network_internal.h"
#include "net/packets.h"

#define SEQUENCE_MASK ((1u << NET_COUNT_BITS) - 1)

// A frame that waits for its acknowledgement.
typedef struct entry {
    net_packet_t *packet; // NULL: the receiver has it
    uint16_t frame_bytes;
    uint8_t priority;
} entry_t;

struct net_retry {
    struct net_layer *layer;
    // as a sender; frames have numbers from 0
    entry_t *entries; // of frames acked .. sent - 1, at number % capacity
    uint64_t capacity;
    uint64_t acked; // the first frame without an acknowledgement
    uint64_t next;  // the next one to send; below `sent`: frames are being repeated
    uint64_t sent;  // so far
    uint64_t waiting_bytes;
    uint64_t buffer_bytes;
    bool broken; // the receiver misses a frame, and discards those that follow
    sim_time_t broken_ps;
    sim_time_t timer_ps;
    sim_timer_t timer; // no acknowledgement has come
    // as a receiver
    uint64_t arrived; // in order
    uint64_t told;    // in the last acknowledgement
    bool asked;       // a frame came again: its acknowledgement was lost
    sim_time_t ack_ps;
    sim_time_t spacing_ps;
    sim_timer_t ack_timer;
};

static sim_node_t *node_of(const struct net_retry *retry)
{
    return &retry->layer->port->node->sim;
}

static entry_t *entry(const struct net_retry *retry, uint64_t number)
{
    SIM_CHECK(retry->capacity > 0);
    return &retry->entries[number % retry->capacity];
}

// -- set-up

static void timer_fired(sim_node_t *node, sim_timer_t *timer);
static void ack_due(sim_node_t *node, sim_timer_t *timer);

void net__retry_build(struct net_layer *layer)
{
    const net_port_t *const port = layer->port;
    const net_line_t *const line = port->line;
    const net_link_config_t *const config = line->config;
    struct net_retry *const retry = sim_alloc(sizeof(*retry));
    const uint64_t spacing = net__layer_value(config->llr_spacing_bytes, NET_LLR_SPACING_BYTES);
    const uint64_t frame = port->node->net->frame_bytes_max + NET_LINK_OVERHEAD_BYTES;
    const uint64_t there_and_back =
        (uint64_t)((sim_wide_t)line->rate_bps * (2 * line->delay_ps) / (8 * SIM_PS_PER_S)) + 1;
    const uint64_t round = there_and_back + spacing + NET_CONTROL_SET_BYTES + 2 * frame;
    const sim_time_t round_ps = net__layer_time_ps(port, round);
    retry->layer = layer;
    retry->buffer_bytes = net__layer_value(config->llr_buffer_bytes, round + frame);
    retry->timer_ps = net__layer_value(config->llr_timer_ps, 3 * round_ps + 500 * SIM_PS_PER_NS);
    retry->spacing_ps = net__layer_time_ps(port, spacing);
    sim_timer_init_upkeep(&retry->timer, timer_fired);
    sim_timer_init_upkeep(&retry->ack_timer, ack_due);
    layer->retry = retry;
}

static void forget(struct net_retry *retry, net_drop_reason_t reason)
{
    net_port_t *const port = retry->layer->port;
    for (uint64_t i = retry->acked; i < retry->sent; i++) {
        net_packet_t *const packet = entry(retry, i)->packet;
        if (packet != NULL && packet->kind == NET_PACKET_CONTROL) {
            net_packet_deliver(port->node, packet);
        } else if (packet != NULL) {
            net_port_drop(port, packet, reason);
        }
    }
    retry->acked = retry->next = retry->sent = retry->arrived = retry->told = 0;
    retry->waiting_bytes = 0;
    retry->broken = false;
}

void net__retry_fini(struct net_layer *layer)
{
    if (layer->retry != NULL) {
        sim_free(layer->retry->entries);
        sim_free(layer->retry);
    }
}

void net__retry_reset(struct net_layer *layer)
{
    struct net_retry *const retry = layer->retry;
    forget(retry, NET_DROP_LINK_DOWN);
    layer->blocked = 0;
    net__port_set_paused(layer->port);
    sim_timer_cancel(node_of(retry), &retry->timer);
    sim_timer_cancel(node_of(retry), &retry->ack_timer);
    retry->asked = false;
}

// -- the sender

bool net__retry_waits(const struct net_layer *layer)
{
    return layer->retry != NULL && layer->retry->next < layer->retry->sent;
}

net_packet_t *net__retry_take(struct net_layer *layer)
{
    const entry_t *const next = entry(layer->retry, layer->retry->next);
    if (next->packet != NULL) {
        return next->packet;
    }
    net_packet_t *const packet = net__layer_message(layer, NET_CONTROL_LLR_AGAIN);
    net_packet_grow(layer->port->node, packet, next->frame_bytes - packet->frame_bytes);
    packet->priority = next->priority;
    return packet;
}

bool net__retry_repeats(const struct net_layer *layer, const net_packet_t *packet)
{
    const struct net_retry *const retry = layer->retry;
    return retry->next < retry->sent &&
           (entry(retry, retry->next)->packet == packet ||
            (packet->kind == NET_PACKET_CONTROL && packet->control == NET_CONTROL_LLR_AGAIN));
}

static void grow(struct net_retry *retry)
{
    const uint64_t capacity = retry->capacity == 0 ? 64 : retry->capacity * 2;
    entry_t *const entries = sim_alloc_array(capacity, sizeof(*entries));
    for (uint64_t i = retry->acked; i < retry->sent; i++) {
        entries[i % capacity] = *entry(retry, i);
    }
    sim_free(retry->entries);
    retry->entries = entries;
    retry->capacity = capacity;
}

// Stops or releases all classes, as the replay buffer has room. Returns those that are released.
static uint8_t look_at_room(struct net_retry *retry)
{
    struct net_layer *const layer = retry->layer;
    const uint32_t frame = layer->port->node->net->frame_bytes_max;
    const bool full = retry->waiting_bytes + frame > retry->buffer_bytes ||
                      retry->sent - retry->acked >= SEQUENCE_MASK / 2;
    const uint8_t before = layer->blocked;
    layer->blocked = full ? UINT8_MAX : 0;
    net__port_set_paused(layer->port);
    return before & (uint8_t)~layer->blocked;
}

// Tells the receiver of a damaged frame when it arrives.
static void damage(struct net_retry *retry, sim_time_t arrive_ps)
{
    net_port_t *const port = retry->layer->port;
    net_packet_t *const packet = net__layer_message(retry->layer, NET_CONTROL_LLR_DAMAGED);
    retry->broken = true;
    retry->broken_ps = node_of(retry)->now_ps;
    port->rare->layer_counters.llr_damaged++;
    port->counted = 1;
    sim_send(node_of(retry), port->channel, arrive_ps, packet);
}

void net__retry_send(struct net_layer *layer, net_packet_t *packet, sim_time_t arrive_ps,
                     bool goes_down)
{
    struct net_retry *const retry = layer->retry;
    net_port_t *const port = layer->port;
    sim_node_t *const node = node_of(retry);
    if (retry->next == retry->sent) {
        if (retry->sent - retry->acked == retry->capacity) {
            grow(retry);
        }
        *entry(retry, retry->sent++) = (entry_t){packet, packet->frame_bytes, packet->priority};
        retry->waiting_bytes += packet->frame_bytes;
        (void)look_at_room(retry);
    } else {
        port->rare->retries++;
    }
    entry_t *const mine = entry(retry, retry->next++);
    if (mine->packet == NULL) { // a message that stands for a frame
        if (goes_down || net__port_loses(port, packet)) {
            net_packet_deliver(port->node, packet);
        } else {
            sim_send(node, port->channel, arrive_ps, packet);
        }
    } else if (!goes_down && !retry->broken) {
        if (net__port_loses(port, packet)) {
            damage(retry, arrive_ps);
        } else {
            mine->packet = NULL;
            sim_send(node, port->channel, arrive_ps, packet);
        }
    }
    if (!sim_timer_armed(&retry->timer) && !goes_down) {
        sim_timer_arm(node, &retry->timer, arrive_ps + retry->timer_ps);
    }
}

// Repeats all frames without an acknowledgement.
static void replay(struct net_retry *retry)
{
    net_port_t *const port = retry->layer->port;
    retry->next = retry->acked;
    retry->broken = false;
    port->rare->layer_counters.llr_replays++;
    port->counted = 1;
    net__layer_kick(retry->layer);
}

static void timer_fired(sim_node_t *node, sim_timer_t *timer)
{
    struct net_retry *const retry = SIM_CONTAINER_OF(timer, struct net_retry, timer);
    sim_upkeep(node);
    if (retry->acked < retry->sent && !retry->layer->port->down) {
        sim_timer_arm(node, timer, node->now_ps + retry->timer_ps);
        replay(retry);
    }
}

// Applies the number of frames that have arrived in order. Returns false if it is out of date.
static bool acknowledged(struct net_retry *retry, uint32_t sequence)
{
    const uint32_t more = (sequence - (uint32_t)retry->acked) & SEQUENCE_MASK;
    if (more > retry->sent - retry->acked) {
        return false;
    }
    for (uint32_t i = 0; i < more; i++) {
        SIM_CHECK(entry(retry, retry->acked)->packet == NULL);
        retry->waiting_bytes -= entry(retry, retry->acked++)->frame_bytes;
    }
    retry->next = SIM_MAX(retry->next, retry->acked);
    sim_node_t *const node = node_of(retry);
    if (retry->acked == retry->sent) {
        sim_timer_cancel(node, &retry->timer);
    } else if (more > 0) {
        sim_timer_arm(node, &retry->timer, node->now_ps + retry->timer_ps);
    }
    return true;
}

// -- the receiver

static void tell(struct net_retry *retry, net_control_t control)
{
    net_packet_t *const packet = net__layer_message(retry->layer, control);
    net_counts_set(&packet->counts, 0, retry->arrived & SEQUENCE_MASK);
    retry->told = retry->arrived;
    retry->asked = false;
    net__layer_send_set(retry->layer, packet);
}

static void ack_due(sim_node_t *node, sim_timer_t *timer)
{
    struct net_retry *const retry = SIM_CONTAINER_OF(timer, struct net_retry, ack_timer);
    sim_upkeep(node);
    if (!retry->layer->port->down && (retry->told != retry->arrived || retry->asked)) {
        retry->ack_ps = node->now_ps;
        retry->layer->port->rare->layer_counters.llr_acks++;
        retry->layer->port->counted = 1;
        tell(retry, NET_CONTROL_LLR_ACK);
    }
}

static void arm_ack(struct net_retry *retry)
{
    sim_node_t *const node = node_of(retry);
    if (!sim_timer_armed(&retry->ack_timer)) {
        const sim_time_t due_ps = retry->ack_ps == 0 ? 0 : retry->ack_ps + retry->spacing_ps;
        sim_timer_arm(node, &retry->ack_timer, SIM_MAX(due_ps, node->now_ps));
    }
}

void net__retry_arrived(struct net_layer *layer)
{
    layer->retry->arrived++;
    arm_ack(layer->retry);
}

uint8_t net__retry_received(struct net_layer *layer, const net_packet_t *packet)
{
    struct net_retry *const retry = layer->retry;
    net_port_rare_t *const rare = layer->port->rare;
    const uint32_t sequence = net_counts_get(&packet->counts, 0);
    SIM_CHECK(retry != NULL);
    if (packet->control == NET_CONTROL_LLR_AGAIN) {
        retry->asked = true;
        arm_ack(retry);
    } else if (packet->control == NET_CONTROL_LLR_DAMAGED) {
        rare->layer_counters.llr_nacks++;
        tell(retry, NET_CONTROL_LLR_NACK);
    } else if (acknowledged(retry, sequence) && packet->control == NET_CONTROL_LLR_NACK &&
               retry->broken) {
        rare->retry_ps += node_of(retry)->now_ps - retry->broken_ps;
        replay(retry);
    }
    return look_at_room(retry);
}
