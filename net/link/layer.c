// SPDX-License-Identifier: Apache-2.0
// net/link/layer.c - the link layer of ports: its making, its messages, control ordered sets.
#include "net/link/credits.h"

#include "kernel/order/fifo.h"
#include "net/link/pause.h"
#include "net/link/port_setup.h"
#include "net/link/retry.h"
#include "net/loss/state.h"
#include "net/network_internal.h"
#include "net/packets.h"
#include "net/port_pause.h"
#include "net/port_queue.h"
#include "net/switch_model.h"

// -- which links have one

static bool asked_for(const net_link_config_t *config)
{
    return config->flow_control == NET_FLOW_CONTROL_CBFC || config->llr_enabled;
}

static uint8_t lossless_of(const net_node_t *node)
{
    return node->kind == NET_NODE_SWITCH ? net_switch_config(node)->pfc_priorities : 0;
}

uint8_t net__layer_classes(const net_port_t *port)
{
    if (port->line->config->flow_control != NET_FLOW_CONTROL_CBFC) {
        return 0;
    }
    const uint8_t theirs = lossless_of(port->peer->node);
    const uint8_t ours = lossless_of(port->node);
    return theirs != 0 ? theirs : ours != 0 ? ours : UINT8_MAX;
}

static sim_err_t check_credits(const net_t *net, const net_port_t *port, sim_message_t *message)
{
    const net_link_config_t *const config = port->line->config;
    const uint64_t size = net__layer_value(config->credit_bytes, NET_CREDIT_BYTES);
    const uint64_t limit = net__credits_limit(port);
    if ((size & (size - 1)) != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "link.cbfc.credit-size",
                              ": %" PRIu64 " bytes, expected a power of two", size);
    }
    if (limit > NET_CREDITS_MAX) {
        return sim_fail_about(message, SIM_ERR_RANGE, "link.cbfc.credits",
                              ": the link's round trip takes %" PRIu64 " credits of %" PRIu64
                              " bytes, expected at most %u: set a larger "
                              "link.cbfc.credit-size",
                              limit, size, NET_CREDITS_MAX);
    }
    if (limit * size < net->frame_bytes_max + NET_FCS_BYTES) {
        return sim_fail_about(message, SIM_ERR_RANGE, "link.cbfc.credits",
                              ": %" PRIu64 " credits of %" PRIu64 " bytes, expected enough for a "
                              "frame of %u bytes",
                              limit, size, net->frame_bytes_max + NET_FCS_BYTES);
    }
    return SIM_OK;
}

static sim_err_t check_retry(const net_link_config_t *config, sim_message_t *message)
{
    if (config->llr_enabled && (config->reorder_rate.num > 0 || config->duplicate_rate.num > 0)) {
        return sim_fail_about(message, SIM_ERR_INVALID, "link.llr.enabled",
                              ": link.reorder-rate or duplicate-rate is set, expected a link that "
                              "keeps the order of its frames");
    }
    return SIM_OK;
}

static sim_err_t check_node(const net_node_t *node, bool credits, sim_message_t *message)
{
    if (node->kind == NET_NODE_FORWARDER) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "%s is no switch of this program, expected link.flow-control: pfc there",
                        node->sim.name);
    }
    if (node->kind != NET_NODE_SWITCH || !credits) {
        return SIM_OK;
    }
    const net_switch_config_t *const config = net_switch_config(node);
    if (strcmp(config->mmu.text, "standard") != 0 && strcmp(config->mmu.text, "trimming") != 0) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "%s has switch.mmu %s, which knows no credits, expected standard or "
                        "trimming, or link.flow-control: pfc",
                        node->sim.name, config->mmu.text);
    }
    if (strcmp(config->mmu.text, "trimming") == 0 &&
        (config->trim_priorities & config->pfc_priorities) != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "switch.trim.priorities",
                              ": a class of it has credits, expected none of "
                              "switch.pfc.priorities");
    }
    return SIM_OK;
}

static sim_err_t check_network(const net_t *net, sim_message_t *message)
{
    const char *const needs = sim_ranks(net->sim) != NULL                  ? "--ranks 1"
                              : net->timing != NULL                        ? "network.timing: exact"
                              : net->config.model != NET_MODEL_PACKET      ? "network.model: packet"
                              : sim_ties_by_insertion(&net->nodes[0]->sim) ? "ties by hash"
                                                                           : NULL;
    return needs == NULL ? SIM_OK
                         : sim_fail(message, SIM_ERR_INVALID,
                                    "link.flow-control: cbfc and link.llr do not run with this "
                                    "setting, expected %s",
                                    needs);
}

sim_err_t net__layers_check(const net_t *net, sim_message_t *message)
{
    bool checked = false;
    for (size_t i = 0; i < net->link_count; i++) {
        if (!asked_for(net__link_config(net, (uint32_t)i))) {
            continue;
        }
        sim_err_t error = checked ? SIM_OK : check_network(net, message);
        if (error != SIM_OK) {
            return error;
        }
        checked = true;
        const net_link_t link = net_link_at(net, i);
        const net_port_t *const a = &link.a->ports[link.a_port];
        const bool credits = link.config->flow_control == NET_FLOW_CONTROL_CBFC;
        error = credits ? check_credits(net, a, message) : SIM_OK;
        error = error == SIM_OK && credits ? check_credits(net, a->peer, message) : error;
        error = error == SIM_OK ? check_retry(link.config, message) : error;
        error = error == SIM_OK ? check_node(link.a, credits, message) : error;
        error = error == SIM_OK ? check_node(link.b, credits, message) : error;
        if (error != SIM_OK) {
            return error;
        }
    }
    return SIM_OK;
}

// -- making

static void make(const net_t *net, net_port_t *port)
{
    struct net_layer *const layer = sim_alloc(sizeof(*layer));
    *layer = (struct net_layer){.port = port};
    layer->sets = sim_channel_create(net->sim, &port->node->sim, &port->peer->node->sim,
                                     port->peer->index, port->line->delay_ps);
    sim_channel_keeps_number(&port->node->sim, layer->sets, port->index);
    port->rare->layer = layer;
    port->layered = true;
    port->prompt = true;
    port->trace_points |= NET_TRACE_RX;
    net__credits_build(layer);
    if (port->line->config->llr_enabled) {
        net__retry_build(layer);
    }
    net__port_update_special(port);
}

void net__layers_build(net_t *net)
{
    for (size_t i = 0; i < net->link_count; i++) {
        if (asked_for(net__link_config(net, (uint32_t)i))) {
            const net_link_t link = net_link_at(net, i);
            make(net, &link.a->ports[link.a_port]);
            make(net, &link.b->ports[link.b_port]);
        }
    }
}

void net__layer_fini(net_port_t *port)
{
    if (port->layered) {
        net__retry_fini(port->rare->layer);
        sim_free(port->rare->layer);
    }
}

// -- frames

static bool is_pause(const net_packet_t *packet)
{
    return packet->kind == NET_PACKET_CONTROL && packet->control == NET_CONTROL_PFC;
}

bool net__layer_repeats(const net_port_t *port, const net_packet_t *packet)
{
    const struct net_layer *const layer = port->rare->layer;
    return layer->retry != NULL && net__retry_repeats(layer, packet);
}

void net__layer_send(net_port_t *port, net_packet_t *packet, sim_time_t arrive_ps)
{
    struct net_layer *const layer = port->rare->layer;
    const bool goes_down = arrive_ps + port->down_first > net__port_next_down(port);
    if (layer->retry != NULL && !is_pause(packet)) {
        net__retry_send(layer, packet, arrive_ps, goes_down);
        net_port_set_control(port, port->rare->control);
    } else if (goes_down || net__port_loses(port, packet)) {
        net_port_drop(port, packet, goes_down ? NET_DROP_LINK_DOWN : NET_DROP_LINK_LOSS);
    } else if (port->loses) {
        net__loss_send(port->rare->loss, packet, arrive_ps);
    } else {
        sim_send(&port->node->sim, port->channel, arrive_ps, packet);
    }
}

bool net__layer_takes(net_port_t *port, net_packet_t *packet)
{
    struct net_layer *const layer = port->rare->layer;
    if (packet->kind == NET_PACKET_CONTROL || port->down || net__layer_repeats(port, packet) ||
        net__credits_suffice(layer, packet)) {
        return true;
    }
    SIM_CHECK(port->node->kind == NET_NODE_HOST && layer->vcs[packet->priority].kept == NULL);
    layer->vcs[packet->priority].kept = packet;
    layer->kept |= (uint8_t)(1u << packet->priority);
    (void)net__credits_look(layer, packet->priority);
    return false;
}

uint32_t net__layer_sends(net_port_t *port, const net_packet_t *packet)
{
    struct net_layer *const layer = port->rare->layer;
    const bool within_set = port->node->sim.now_ps < layer->set_end_ps;
    const uint32_t bytes = layer->inserted_bytes + (within_set ? NET_CONTROL_SET_BYTES : 0);
    layer->inserted_bytes = 0;
    layer->set_end_ps = 0;
    if (packet->kind == NET_PACKET_ROCE && !port->down && !net__layer_repeats(port, packet)) {
        net__credits_taken(layer, packet);
    }
    return bytes;
}

void net__layer_arrived(const net_port_t *port, const net_packet_t *packet)
{
    struct net_layer *const layer = port->rare->layer;
    if (packet->kind == NET_PACKET_ROCE) {
        net__credits_arrived(layer, packet->priority, packet->frame_bytes);
    }
    if (layer->retry != NULL && !is_pause(packet)) {
        net__retry_arrived(layer);
    }
}

void net_layer_queued(net_port_t *port, uint32_t priority)
{
    if (net__credits_look(port->rare->layer, priority)) {
        net_port_wake(port);
    }
}

void net__layer_link_changed(net_port_t *port)
{
    if (port->rare->layer->retry != NULL) {
        net__retry_reset(port->rare->layer);
    }
    if (!port->down) {
        net__credits_link_up(port->rare->layer);
    }
}

// -- what goes before all frames

bool net__layer_waits(const net_port_t *port)
{
    const struct net_layer *const layer = port->rare->layer;
    return net__retry_waits(layer) || layer->sync_due ||
           (layer->kept & (uint8_t)~port->paused) != 0;
}

net_packet_t *net__layer_take(net_port_t *port)
{
    struct net_layer *const layer = port->rare->layer;
    net_packet_t *packet;
    if (net__retry_waits(layer)) {
        packet = net__retry_take(layer);
    } else if (layer->sync_due) {
        packet = net__credits_sync(layer);
    } else {
        const uint32_t priority =
            (uint32_t)__builtin_ctz(layer->kept & (uint32_t)(uint8_t)~port->paused);
        packet = layer->vcs[priority].kept;
        layer->vcs[priority].kept = NULL;
        layer->kept &= (uint8_t) ~(1u << priority);
    }
    port->controlled = net__layer_waits(port);
    return packet;
}

void net__layer_kick(struct net_layer *layer)
{
    net_port_t *const port = layer->port;
    net_port_set_control(port, port->rare->control);
    if (!port->controlled) {
        return;
    }
    if (net_port_idle(port)) {
        net_port_transmit(port, net_port_take_control(port));
        if (!port->controlled && (port->waiting & ~port->paused) == 0) {
            return;
        }
    }
    net_port_wake(port);
}

// -- messages

net_packet_t *net__layer_message(const struct net_layer *layer, net_control_t control)
{
    const uint32_t bytes =
        net_control_is_set(control) ? NET_CONTROL_SET_BYTES : NET_FRAME_BYTES_MIN;
    net_packet_t *const packet = net_packet_new(layer->port->node, bytes);
    *packet = (net_packet_t){
        .frame_bytes = (uint16_t)bytes,
        .kind = NET_PACKET_CONTROL,
        .control = (uint16_t)control,
        .priority = NET_PRIORITIES - 1,
    };
    return packet;
}

bool net__layer_can_lose(const struct net_layer *layer)
{
    const net_port_t *const port = layer->port;
    const net_link_config_t *const config = port->line->config;
    const net_t *const net = port->node->net;
    return config->loss_rate.num > 0 || config->bit_error_rate.num > 0 || port->loses ||
           net->change_count > 0 || net->fault_count > 0;
}

// Returns the time of a set on the link, rounded up.
static sim_time_t set_ps(const net_port_t *port)
{
    const uint64_t bits = 8 * NET_CONTROL_SET_BYTES;
    return (bits * SIM_PS_PER_S + port->line->rate_bps - 1) / port->line->rate_bps;
}

void net__layer_send_set(struct net_layer *layer, net_packet_t *packet)
{
    net_port_t *const port = layer->port;
    sim_node_t *const node = &port->node->sim;
    const sim_time_t now_ps = node->now_ps;
    sim_time_t arrive_ps = now_ps + set_ps(port) + port->line->delay_ps;
    // No two arrivals of a port are at one instant: their order would be open.
    arrive_ps += arrive_ps == port->busy_until_ps + port->delay_less_gap_ps;
    arrive_ps = SIM_MAX(arrive_ps, layer->set_arrive_ps + 1);
    layer->set_arrive_ps = arrive_ps;
    if (now_ps < port->busy_until_ps) {
        layer->inserted_bytes += NET_CONTROL_SET_BYTES;
    } else {
        layer->set_end_ps = now_ps + set_ps(port);
    }
    if (port->down || arrive_ps + port->down_first > net__port_next_down(port) ||
        net__port_loses(port, packet)) {
        net_packet_deliver(port->node, packet); // it is no packet that anybody could miss
        port->rare->layer_counters.sets_lost++;
        return;
    }
    sim_send(node, layer->sets, arrive_ps, packet);
}

uint8_t net__layer_received(net_port_t *port, const net_packet_t *packet)
{
    struct net_layer *const layer = port->rare->layer;
    net_layer_counters_t *const counters = &port->rare->layer_counters;
    SIM_CHECK(port->layered);
    if (net_control_is_set(packet->control)) { // counted on arrival, but no frame
        net_received_t *const received = port->received[packet->priority];
        received->packets--;
        received->bytes -= packet->frame_bytes;
    }
    sim_upkeep(&port->node->sim);
    port->counted = 1;
    uint8_t released = 0;
    switch ((net_control_t)packet->control) {
    case NET_CONTROL_CC_UPDATE:
        counters->cc_rx++;
        net__credits_synced(layer, &packet->counts);
        break;
    case NET_CONTROL_CF_UPDATE:
        counters->cf_rx++;
        released = net__credits_updated(layer, &packet->counts);
        break;
    case NET_CONTROL_LLR_AGAIN:
    case NET_CONTROL_LLR_ACK:
    case NET_CONTROL_LLR_NACK:
    case NET_CONTROL_LLR_DAMAGED:
        released = net__retry_received(layer, packet);
        break;
    case NET_CONTROL_PFC:
        SIM_CHECK(false);
    }
    net_port_set_control(port, port->rare->control);
    return released;
}
