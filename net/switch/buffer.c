// SPDX-License-Identifier: Apache-2.0
// net/switch/buffer.c - the buffer "standard": reserved bytes, a shared part with dynamic
// thresholds, and headroom; pauses are repeated before they run out.
//
// Sources and derivations: docs/models/switch.md and docs/models/pfc.md (Choudhury and Hahne 1998;
// IEEE 802.1Qbb).
#include "net/network_internal.h"
#include "net/port_pause.h"
#include "net/ranks.h"
#include "net/switch/admission.h"
#include "net/switch_checks.h"

// -- pauses

void net__stop_peer(net_switch_t *sw, net_ingress_t *in, uint32_t priority)
{
    in->stopped |= (uint8_t)(1u << priority);
    sw->stopped_count++;
    in->port->received[priority]->stopped = 1;
    net_port_pause_send(in->port, (uint8_t)(1u << priority), in->quanta);
    if (!sim_timer_armed(&in->refresh)) {
        const sim_time_t pause_ps = net_port_quanta_ps(in->port, in->quanta);
        sim_timer_arm(&sw->node.sim, &in->refresh, sw->node.sim.now_ps + pause_ps / 2);
    }
}

static void refresh_pause(sim_node_t *node, sim_timer_t *timer)
{
    net_ingress_t *const in = SIM_CONTAINER_OF(timer, net_ingress_t, refresh);
    sim_upkeep(node);
    if (in->stopped != 0) {
        const sim_time_t pause_ps = net_port_quanta_ps(in->port, in->quanta);
        net_port_pause_send(in->port, in->stopped, in->quanta);
        sim_timer_arm(node, &in->refresh, node->now_ps + pause_ps / 2);
    }
}

void net__let_peer_go(net_switch_t *sw, net_ingress_t *in, uint32_t priority)
{
    in->port->received[priority]->stopped = 0;
    in->stopped &= (uint8_t) ~(1u << priority);
    sw->stopped_count--;
    if (in->stopped == 0) {
        sim_timer_cancel(&sw->node.sim, &in->refresh);
    }
    net_port_pause_send(in->port, (uint8_t)(1u << priority), 0);
}

// Frees bytes of an ingress (port, class) that uses headroom or has stopped its peer. Headroom
// drains first. The peer is released once headroom is empty and the rest has fallen below the
// threshold by the XON distance.
void net__release_crowded(net_switch_t *sw, uint32_t port, uint32_t priority, uint64_t bytes)
{
    net_received_t *const held = sw->node.ports[port].received[priority];
    const uint64_t drained = SIM_MIN(held->headroom_bytes, bytes);
    held->headroom_bytes = (held->headroom_bytes - drained) & NET_HEADROOM_MASK;
    sw->headroom_free += drained;
    net__release_stored(sw, held, bytes - drained);
    if (held->stopped && held->headroom_bytes == 0) {
        const uint64_t above = net_switch_above_reserved(sw, held->stored_bytes);
        if (above == 0 || above + sw->config.pfc_xon_bytes <= net__xoff_threshold(sw)) {
            net__let_peer_go(sw, &sw->ingress[port], priority);
        }
    }
}

// -- set-up

// Returns the longest reaction to a pause that IEEE 802.3 annex 31B.3.7 allows at this rate.
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

uint64_t net_switch_headroom_bytes(uint64_t rate_bps, sim_time_t delay_ps, sim_time_t response,
                                   uint32_t frame_bytes_max)
{
    const sim_wide_t bits = (sim_wide_t)rate_bps * (2 * delay_ps + response);
    const uint64_t in_time = (uint64_t)((bits + 8 * SIM_PS_PER_S - 1) / (8 * SIM_PS_PER_S));
    const uint64_t frame = frame_bytes_max + NET_LINK_OVERHEAD_BYTES;
    return in_time + 3 * frame + NET_FRAME_BYTES_MIN + NET_LINK_OVERHEAD_BYTES;
}

sim_time_t net_switch_response_ps(const net_node_t *node, uint64_t rate_bps)
{
    const sim_time_t given_ps = net_switch_config(node)->pfc_response_ps;
    return given_ps == SIM_AUTO ? response_ps(rate_bps) : given_ps;
}

// Returns the headroom that the configuration of the port's link or of its switch gives; SIM_AUTO:
// it is computed.
static uint64_t given_headroom(const net_switch_t *sw, const net_port_t *port)
{
    const net_link_config_t *const config = port->line->config;
    const net_link_ends_t link = port->node->net->links[port->link];
    const bool is_a = net__port_of(port->node->net, link.a, link.a_port) == port;
    const uint64_t bytes = is_a ? config->backward_headroom_bytes : config->headroom_bytes;
    return bytes != 0 && bytes != SIM_AUTO ? bytes : sw->config.pfc_headroom_bytes;
}

static uint64_t headroom_of(const net_switch_t *sw, const net_port_t *port)
{
    const uint64_t given_bytes = given_headroom(sw, port);
    if (given_bytes != SIM_AUTO) {
        return given_bytes;
    }
    return net_switch_headroom_bytes(port->line->rate_bps, port->line->delay_ps,
                                     net_switch_response_ps(&sw->node, port->line->rate_bps),
                                     port->node->net->frame_bytes_max);
}

// Returns whether the computed headroom is enough to never drop. It is not if pause frames can be
// lost, or if a pause is so short that a refresh behind a large frame may come too late.
// net/link/changes.c handles links that go down.
static bool headroom_suffices(const net_switch_t *sw, const net_port_t *port)
{
    const sim_time_t pause_ps = net_port_quanta_ps(port, (uint16_t)sw->config.pfc_quanta);
    return port->line->config->flow_control != NET_FLOW_CONTROL_NONE &&
           given_headroom(sw, port) == SIM_AUTO && port->line->config->loss_rate.num == 0 &&
           port->line->config->bit_error_rate.num == 0 &&
           pause_ps / 2 >= net_port_frame_time_ps(port, port->node->net->frame_bytes_max);
}

static uint64_t headroom_sum(const net_switch_t *sw)
{
    const uint64_t classes = (uint64_t)__builtin_popcount(sw->lossless);
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        bytes += classes * sw->ingress[p].headroom_limit;
    }
    return bytes;
}

static void dedicated(const net_switch_t *sw, uint64_t *headroom_bytes, uint64_t *reserved_bytes)
{
    const uint64_t classes = (uint64_t)__builtin_popcount(sw->lossless);
    *headroom_bytes = SIM_MIN(headroom_sum(sw), sw->config.headroom_pool_bytes);
    *reserved_bytes = classes * sw->config.pfc_reserved_bytes * sw->node.port_count;
}

void net__buffer_share(net_switch_t *sw)
{
    uint64_t headroom = 0;
    uint64_t reserved = 0;
    sw->buffer->dedicated(sw, &headroom, &reserved);
    const uint64_t buffer = sw->config.buffer_bytes;
    sw->shared_limit = buffer > headroom + reserved ? buffer - headroom - reserved : 0;
    // While half of the shared buffer is free, the threshold is at least its value at half.
    const uint64_t half = sw->shared_limit / 2;
    const uint64_t threshold = sw->config.pfc_threshold_bytes != SIM_AUTO
                                   ? sw->config.pfc_threshold_bytes
                                   : net_fraction_of(half, sw->pfc_alpha);
    sw->calm_shared_bytes = sw->shared_limit - half;
    sw->calm_above_bytes = SIM_MIN(threshold, half);
}

static void built(net_switch_t *sw)
{
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        net_ingress_t *const in = &sw->ingress[p];
        in->headroom_limit = headroom_of(sw, in->port);
        sim_timer_init_upkeep(&in->refresh, refresh_pause);
    }
    sw->headroom_free = sw->config.headroom_pool_bytes;
    const bool has_room = sw->lossless != 0 && headroom_sum(sw) <= sw->headroom_free;
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        net_port_t *const port = sw->ingress[p].port;
        port->lossless_guaranteed = has_room && headroom_suffices(sw, port);
    }
    net__buffer_share(sw);
}

static bool admit(net_switch_t *sw, const net_port_t *egress, const net_packet_t *packet,
                  net_drop_reason_t *reason)
{
    return net__admit(sw, egress, packet, reason);
}

static void release(net_switch_t *sw, uint32_t ingress_port, uint32_t priority, uint32_t bytes)
{
    net__release(sw, ingress_port, priority, bytes);
}

static void check(const net_switch_t *sw)
{
    uint64_t headroom_bytes = 0; // with the credits of links that have them
    net_switch_check_sums(sw, sw->lossless, true);
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        const net_ingress_t *const in = &sw->ingress[p];
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            SIM_CHECK((in->stopped >> c & 1u) == in->port->received[c]->stopped);
            headroom_bytes += in->port->received[c]->headroom_bytes;
        }
        SIM_CHECK((in->stopped != 0) == sim_timer_armed(&in->refresh));
    }
    SIM_CHECK(sw->config.headroom_pool_bytes - sw->headroom_free <= headroom_bytes);
}

const net_buffer_ops_t net__buffer_standard = {
    .name = "standard",
    .built = built,
    .admit = admit,
    .release = release,
    .dedicated = dedicated,
    .check = check,
};
