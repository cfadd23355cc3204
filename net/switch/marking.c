// SPDX-License-Identifier: Apache-2.0
// net/switch/marking.c - the marking "red": sets CE by RED on the egress queue, as a packet leaves
// or joins it. Page: docs/models/switch.md.
#include "net/draws.h"
#include "net/models_internal.h"
#include "net/port_queue.h"
#include "net/switch/red.h"

SIM_NOINLINE uint64_t net__mark_draw(net_red_t *red, const net_packet_t *packet)
{
    red->random.counter++;
    sim_random_t own = net_draws_of(&red->random, packet);
    return sim_random_u64(&own);
}

SIM_NOINLINE void net__mark_known(net_port_t *egress, net_packet_t *packet, uint8_t marks,
                                  uint32_t priority)
{
    net_switch_mark_known(egress, packet, marks, priority);
}

// Decides on a switch's first packet that may be marked. Not inlined: the others need no frame.
static SIM_NOINLINE void mark_first(net_switch_t *sw, net_port_t *egress, net_packet_t *packet,
                                    uint8_t marks, uint32_t priority, uint64_t queued)
{
    sw->red = net__switch_red_make(sw);
    if (queued > sw->red[egress->index].kmin_bytes) {
        net__mark_by(sw, egress, packet, marks, priority, queued);
    }
}

void net__mark_late(net_switch_t *sw, net_port_t *egress, const net_class_t *queue,
                    net_packet_t *packet, uint8_t marks, uint32_t priority)
{
    // The packets that leave next may be marked, and their lines are likely evicted by now.
    const uint32_t later = queue->head + 3 * (uint32_t)sizeof(net_queued_t);
    if (later < queue->end) {
        __builtin_prefetch(net__queued(queue, later + 2 * SIM_CACHE_LINE));
        __builtin_prefetch(net__queued(queue, later)->packet);
    }
    if (((uint32_t)sw->marks_late >> priority & 1u) == 0 ||
        net_marks_ecn(marks) == NET_ECN_NOT_ECT) {
        return;
    }
    if (SIM_UNLIKELY(sw->red == NULL)) {
        mark_first(sw, egress, packet, marks, priority, queue->bytes);
    } else if (queue->bytes > sw->red[egress->index].kmin_bytes) {
        net__mark_by(sw, egress, packet, marks, priority, queue->bytes);
    }
}

void net__mark_early(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    const uint64_t queued = egress->classes[packet->priority]->bytes;
    if (((uint32_t)sw->marks_early >> packet->priority & 1u) != 0 &&
        queued > net_switch_red(sw, egress)->kmin_bytes && packet->ecn != NET_ECN_NOT_ECT) {
        net__mark_by(sw, egress, packet, packet->marks, packet->priority, queued);
    }
}

static void leaves(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    const uint32_t priority = packet->priority;
    net__mark(sw, egress, egress->classes[priority], packet, packet->marks, priority);
}

// Returns the thresholds of a port of this rate: its profile, or the switch's common values.
static sim_profile_t profile_of(const net_switch_config_t *config, uint64_t rate_bps)
{
    for (uint32_t i = 0; i < config->ecn_profiles.count; i++) {
        if (config->ecn_profiles.rows[i].rate_bps == rate_bps) {
            return config->ecn_profiles.rows[i];
        }
    }
    const uint64_t hundred_gbps = UINT64_C(100000000000);
    const sim_wide_t scale = config->ecn_scale ? rate_bps : hundred_gbps;
    return (sim_profile_t){
        .rate_bps = rate_bps,
        .low_bytes = (uint64_t)(config->ecn_kmin_bytes * scale / hundred_gbps),
        .high_bytes = (uint64_t)(config->ecn_kmax_bytes * scale / hundred_gbps),
        .probability = config->ecn_pmax,
    };
}

static void set_port(const net_switch_t *sw, const net_port_t *port, net_red_t *red)
{
    const sim_profile_t profile = profile_of(&sw->config, port->line->rate_bps);
    if (!sw->config.ecn_last_hop && port->peer->node->kind == NET_NODE_HOST) {
        red->kmin_bytes = red->kmax_bytes = UINT64_MAX; // no queue is so long
        return;
    }
    red->kmin_bytes = profile.low_bytes;
    red->kmax_bytes = profile.high_bytes;
    const uint64_t range = red->kmax_bytes - red->kmin_bytes;
    const sim_ratio_t pmax = profile.probability;
    red->pmax = (double)pmax.num / (double)pmax.den;
    if (range > 0) {
        const sim_wide_t one = (sim_wide_t)1 << 64;
        red->slope =
            (uint64_t)((pmax.num >= pmax.den ? one - 1 : one / pmax.den * pmax.num) / range);
    }
    sim_random_init(&red->random, sim_options(sw->node.sim.sim)->seed, port->uid, "ecn-mark");
    red->by_packet = port->by_packet;
}

bool net_switch_ecn_thresholds(const net_node_t *node, uint32_t port, sim_profile_t *profile)
{
    const net_switch_t *const sw = net_switch_of((net_node_t *)(uintptr_t)node);
    const bool last = node->ports[port].peer->node->kind == NET_NODE_HOST;
    *profile = profile_of(&sw->config, node->ports[port].line->rate_bps);
    return net_switch_marks_red(sw) && sw->config.ecn_enabled && sw->config.ecn_priorities != 0 &&
           (sw->config.ecn_last_hop || !last);
}

net_red_t *net__switch_red_make(net_switch_t *sw)
{
    sw->red = sim_alloc_lines((sw->node.port_count + 1) * sizeof(*sw->red));
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        set_port(sw, &sw->node.ports[p], &sw->red[p]);
    }
    return sw->red;
}

static void built(net_switch_t *sw)
{
    const uint8_t classes = sw->config.ecn_enabled ? sw->config.ecn_priorities : 0;
    const bool early = sw->config.ecn_mark_at == NET_MARK_AT_ENQUEUE;
    sw->marks_early = early ? classes : 0;
    sw->marks_late = early ? 0 : classes;
    sw->mark_above_bytes = UINT64_MAX;
    for (uint32_t p = 0; sw->marks_late != 0 && p < sw->node.port_count; p++) {
        const uint64_t rate_bps = sw->node.ports[p].line->rate_bps;
        if (p > 0 && rate_bps == sw->node.ports[p - 1].line->rate_bps) {
            continue;
        }
        const uint64_t low_bytes = profile_of(&sw->config, rate_bps).low_bytes;
        if (low_bytes < sw->mark_above_bytes) {
            sw->mark_above_bytes = low_bytes;
        }
    }
}

static void fini(net_switch_t *sw)
{
    sim_free(sw->red);
}

bool net_switch_marks_red(const net_switch_t *sw)
{
    return sw->marking == &net__marking_red;
}

const net_marking_ops_t net__marking_red = {
    .name = "red",
    .built = built,
    .fini = fini,
    .leaves = leaves,
    .joins = net__mark_early,
};
