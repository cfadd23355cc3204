// SPDX-License-Identifier: Apache-2.0
// net/switch/trimming.c - the buffer "trimming": net's own, and a packet that finds its queue full
// loses its payload instead of being dropped. Its headers travel on in the class of
// network.trim-dscp. Page: docs/models/trimming.md.
//
// Source: Ultra Ethernet Specification 1.0, packet trimming: the DSCPs TRIMMABLE, TRIMMED and
// TRIMMED_LASTHOP. Handley et al., "Re-architecting datacenter networks and stacks" (NDP), SIGCOMM
// 2017: victims at random.
#include "net/draws.h"
#include "net/models_internal.h"
#include "net/port_queue.h"
#include "net/switch/admission.h"

static uint64_t scaled(const net_switch_config_t *config, const net_port_t *port, uint64_t bytes)
{
    const uint64_t hundred_gbps = UINT64_C(100000000000);
    return config->trim_scale ? (uint64_t)((sim_wide_t)bytes * port->line->rate_bps / hundred_gbps)
                              : bytes;
}

static void built(net_switch_t *sw)
{
    const net_switch_config_t *const config = &sw->config;
    const net_config_t *const network = net_get_config(sw->node.net);
    net_trimming_t *const trimming = sw->buffer_state;
    net__buffer_standard.built(sw);
    trimming->ports = sim_alloc_array(sw->node.port_count + 1u, sizeof(*trimming->ports));
    const uint32_t headers_classes =
        1u << network->trim_dscp / 8 | 1u << network->trim_last_hop_dscp / 8;
    sw->routed_by_dscp = false; // which selects the loop without trimming
    sw->limited_classes = (uint8_t)(sw->config.trim_priorities | headers_classes);
    const uint64_t headers_bytes = config->trim_headers_bytes == SIM_AUTO
                                       ? 2 * config->trim_queue_bytes
                                       : config->trim_headers_bytes;
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        const net_port_t *const port = &sw->node.ports[p];
        net_trim_port_t *const at = &trimming->ports[p];
        at->data_bytes = scaled(config, port, config->trim_queue_bytes);
        at->headers_bytes = scaled(config, port, headers_bytes);
        sim_random_init(&at->random, sim_options(sw->node.sim.sim)->seed, port->uid, "trim");
    }
}

static void fini(net_switch_t *sw)
{
    const net_trimming_t *const trimming = sw->buffer_state;
    sim_free(trimming->ports);
}

static bool admit(net_switch_t *sw, const net_port_t *egress, const net_packet_t *packet,
                  net_drop_reason_t *reason)
{
    return net__is_limited(sw, packet->priority) ? net__admit_limited(sw, egress, packet, reason)
                                                 : net__admit(sw, egress, packet, reason);
}

static void release(net_switch_t *sw, uint32_t ingress_port, uint32_t priority, uint32_t bytes)
{
    net__release(sw, ingress_port, priority, bytes);
}

// Returns whether a packet may be the victim of a full queue: it gets shorter when it is cut. Only
// packets of protocols that read the headers of trimmed packets do.
static bool may_be_victim(const net_switch_t *sw, const net_packet_t *packet)
{
    return net_packet_trimmable(packet) && packet->frame_bytes > sw->config.trim_bytes &&
           (sw->config.trim_priorities >> packet->priority & 1u) != 0;
}

// Cuts a packet to its headers, with the DSCP and class that say so.
static void trim(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    const net_config_t *const network = net_get_config(sw->node.net);
    const bool last_hop = egress->peer->node->kind == NET_NODE_HOST;
    sim_happened(&sw->node.sim, 't', 0, (uint64_t)egress->index << 32 | packet->psn);
    egress->rare->trimmed[packet->priority]++;
    egress->counted = 1;
    net_packet_trim(&sw->node, packet, (uint32_t)sw->config.trim_bytes);
    packet->dscp = (last_hop ? network->trim_last_hop_dscp : network->trim_dscp) & 63u;
    packet->priority = (uint8_t)((uint32_t)packet->dscp >> 3);
    net_port_trace(egress, NET_TRACE_TRIM, packet, last_hop);
}

// Cuts the packet that joined the queue last, and moves it to the queue of trimmed ones; without
// trimming, it is dropped. Returns false if nothing was there to be cut.
static bool trim_queued(net_switch_t *sw, net_port_t *egress, uint32_t priority)
{
    const net_queued_t *const last = net_queue_last(egress->classes[priority]);
    if (last == NULL || !may_be_victim(sw, last->packet)) {
        return false;
    }
    const net_queued_t queued = net_queue_take_last(egress, priority);
    net_packet_t *const packet = queued.packet;
    sw->held_bytes -= queued.frame_bytes;
    net__release(sw, queued.ingress_port, priority, queued.frame_bytes);
    net_drop_reason_t reason = NET_DROP_EGRESS_FULL;
    if (sw->config.trim_enabled) {
        trim(sw, egress, packet);
    }
    if (sw->config.trim_enabled && admit(sw, egress, packet, &reason)) {
        sw->held_bytes += packet->frame_bytes;
        net_queue_push(egress, packet);
        net_port_wake(egress);
    } else {
        net_port_drop(egress, packet, reason);
    }
    return true;
}

static bool no_room(net_switch_t *sw, net_port_t *egress, net_packet_t *packet,
                    net_drop_reason_t *reason)
{
    const bool either = sw->config.trim_victim == NET_TRIM_EITHER;
    if (!may_be_victim(sw, packet) || !(sw->config.trim_enabled || either)) {
        return false;
    }
    const net_trimming_t *const trimming = sw->buffer_state;
    sim_random_t *const random = &trimming->ports[egress->index].random;
    sim_random_t own = net_draws_of(random, packet);
    if (either && (sim_random_u64(egress->by_packet ? &own : random) >> 63) != 0 &&
        trim_queued(sw, egress, packet->priority) && admit(sw, egress, packet, reason)) {
        return true;
    }
    if (!sw->config.trim_enabled) {
        return false;
    }
    trim(sw, egress, packet);
    return admit(sw, egress, packet, reason);
}

static void dedicated(const net_switch_t *sw, uint64_t *headroom_bytes, uint64_t *reserved_bytes)
{
    net__buffer_standard.dedicated(sw, headroom_bytes, reserved_bytes);
}

static void check(const net_switch_t *sw)
{
    net__buffer_standard.check(sw);
}

const net_buffer_ops_t net__buffer_trimming = {
    .name = "trimming",
    .state_bytes = sizeof(net_trimming_t),
    .built = built,
    .fini = fini,
    .admit = admit,
    .no_room = no_room,
    .release = release,
    .dedicated = dedicated,
    .check = check,
};
