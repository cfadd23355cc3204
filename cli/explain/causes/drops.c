// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/drops.c - finds why switches dropped packets: headroom that is too small,
// classes that PFC does not protect, buffers that are too small.
#include "cli/explain/causes/drops.h"
#include "cli/explain/causes/hardware.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"
#include "world/names.h"

#include "net/nodes.h"
#include "world/format.h"

#include <string.h>

#define FEW_DROPS 1e-3 // share of all packets; fewer are not reported
#define SMALLER 2.0    // ratio of a usual buffer to one that is small

// Adds the flows that pass a port of the node and sent packets again; returns the time that they
// lost beyond fair shares.
static double add_flows_of_node(const explain_t *explain, explain_finding_t *finding,
                                const net_node_t *node)
{
    double lost_ps = 0;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        bool passes = flow->spread;
        for (uint32_t h = 0; h < flow->hop_count && !passes; h++) {
            passes = explain->ports[explain->hops[flow->first_hop + h]].port->node == node;
        }
        if (passes && flow->retransmitted > 0) {
            cli__explain_flow(finding, f);
            lost_ps += flow->excess_ps;
        }
    }
    return lost_ps;
}

static bool are_many(const explain_t *explain, uint64_t drops)
{
    const json_t *const packets = json_object_get(explain->summary, "packets");
    const double created = json_number_value(json_object_get(packets, "created"));
    return drops > 0 && (double)drops >= FEW_DROPS * created;
}

// Returns whether the ports of a switch share a pool of headroom, while the headroom of this port
// alone would be enough.
static bool is_pool_too_small(const net_port_t *port, uint64_t limit)
{
    const uint64_t rate_bps = port->line->rate_bps;
    return net_switch_config(port->node)->headroom_pool_bytes != SIM_AUTO &&
           limit >= net_switch_headroom_bytes(rate_bps, port->line->delay_ps,
                                              net_switch_response_ps(port->node, rate_bps),
                                              NET_FRAME_BYTES_QUANTUM);
}

// Suggests more headroom where it was given: by the pool, the link, the switch or the scenario.
static void suggest_headroom(const explain_t *explain, explain_finding_t *finding,
                             const net_port_t *port, uint64_t limit)
{
    if (is_pool_too_small(port, limit)) {
        const bool by_all = explain->scenario->switch_config.headroom_pool_bytes != SIM_AUTO;
        char *const whole =
            by_all ? sim_strdup("switch.pfc.headroom-pool=auto")
                   : sim_format("nodes.%s.switch.pfc.headroom-pool=auto", port->node->sim.name);
        cli__explain_remedy(
            finding, whole,
            "a headroom of its own for each port, in place of a pool that they share");
        sim_free(whole);
        return;
    }
    const net_link_config_t *const cable = port->line->config;
    const uint64_t of_switch = net_switch_config(port->node)->pfc_headroom_bytes;
    const bool forward = cable->headroom_bytes == limit;
    const bool by_link = of_switch != limit && (forward || cable->backward_headroom_bytes == limit);
    const bool given = of_switch != SIM_AUTO;
    const bool own = given && explain->scenario->switch_config.pfc_headroom_bytes == SIM_AUTO;
    char *const remedy =
        by_link ? sim_format("links.%s--%s.%sheadroom=auto", port->node->sim.name,
                             port->peer->node->sim.name, forward ? "" : "backward-")
        : own   ? sim_format("nodes.%s.switch.pfc.headroom=auto", port->node->sim.name)
        : given ? sim_strdup("switch.pfc.headroom=auto")
                : sim_format("switch.pfc.headroom=%" PRIu64 "B", 2 * limit);
    cli__explain_remedy(
        finding, remedy,
        by_link ? "the headroom of the switch's other ports, in place of one of this port alone"
        : given ? "headroom for all packets that arrive after a pause: none is lost"
                : "twice the headroom holds packets that arrive after a pause");
    sim_free(remedy);
}

// -- headroom

static void find_headroom(explain_t *explain)
{
    uint64_t drops = 0;
    uint32_t worst = EXPLAIN_NONE;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const uint64_t here = explain->ports[i].drops[NET_DROP_HEADROOM_FULL];
        drops += here;
        if (here > 0 &&
            (worst == EXPLAIN_NONE || here > explain->ports[worst].drops[NET_DROP_HEADROOM_FULL])) {
            worst = i;
        }
    }
    if (worst == EXPLAIN_NONE) {
        return;
    }
    const net_port_t *const port = explain->ports[worst].port;
    const uint64_t limit = net_switch_headroom_limit_bytes(port->node, port->index);
    const uint64_t pool = net_switch_config(port->node)->headroom_pool_bytes;
    world_text_t bytes;
    world_text_t pool_bytes;
    explain_finding_t *const finding =
        cli__explain_add(explain, EXPLAIN_HEADROOM, 1, sim_strdup(port->node->sim.name));
    finding->port = worst;
    finding->sentence =
        sim_format("headroom too small: PFC lost %" PRIu64
                   " packet%s of lossless classes, since headroom was full, most often at "
                   "port %s of %s, whose headroom is %s for each class%s%s",
                   drops, sim_plural(drops), cli__explain_port_name(explain, worst),
                   port->node->sim.name, world_format_bytes(&bytes, limit),
                   pool == SIM_AUTO ? "" : ", out of a pool that all ports share of ",
                   pool == SIM_AUTO ? "" : world_format_bytes(&pool_bytes, pool));
    finding->score_ps =
        add_flows_of_node(explain, finding, port->node) + (double)drops * SIM_PS_PER_US;
    const net_link_config_t *const cable = port->line->config;
    cli__explain_evidence(finding,
                          sim_format("%" PRIu64 " bytes arrive after a pause was sent over %s",
                                     (uint64_t)(2.0 * (double)cable->delay_ps *
                                                (double)port->peer->line->rate_bps / 8e12),
                                     cli__explain_port_name(explain, worst)));
    suggest_headroom(explain, finding, port, limit);
}

// -- full buffers

static uint64_t full_at(const explain_port_t *port)
{
    return port->drops[NET_DROP_EGRESS_FULL] + port->drops[NET_DROP_BUFFER_FULL];
}

// The drops of a switch for want of buffer.
typedef struct full {
    uint64_t drops;
    uint64_t by_class[NET_PRIORITIES];
    uint32_t worst;   // port
    double shared_ps; // that fair shares of its ports cost
} full_t;

static full_t full_of(const explain_t *explain, const net_node_t *node)
{
    full_t full = {.worst = EXPLAIN_NONE};
    for (uint32_t p = 0; p < node->port_count; p++) {
        const uint32_t uid = node->ports[p].uid;
        const explain_port_t *const port = &explain->ports[uid];
        const uint64_t here = full_at(port);
        full.drops += here;
        full.shared_ps += here > 0 ? port->shared_ps : 0;
        for (unsigned priority = 0; priority < NET_PRIORITIES; priority++) {
            full.by_class[priority] += port->full[priority];
        }
        if (here > 0 &&
            (full.worst == EXPLAIN_NONE || here > full_at(&explain->ports[full.worst]))) {
            full.worst = uid;
        }
    }
    return full;
}

static unsigned worst_class(const full_t *full)
{
    unsigned worst = 0;
    for (unsigned priority = 1; priority < NET_PRIORITIES; priority++) {
        worst = full->by_class[priority] > full->by_class[worst] ? priority : worst;
    }
    return worst;
}

// Returns the buffer of most switches; 0: no half of them have one in common.
static uint64_t usual_buffer(const explain_t *explain)
{
    const net_t *const net = explain->world->net;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        size_t alike = 0;
        size_t all = 0;
        for (size_t j = 0; node->kind == NET_NODE_SWITCH && j < net_node_count(net); j++) {
            const net_node_t *const other = net_node_at(net, j);
            if (other->kind == NET_NODE_SWITCH) {
                all++;
                alike +=
                    net_switch_config(other)->buffer_bytes == net_switch_config(node)->buffer_bytes;
            }
        }
        if (2 * alike > all) {
            return net_switch_config(node)->buffer_bytes;
        }
    }
    return 0;
}

// Returns the host of all flows of that class; NULL: there are several, or flows of other classes
// do not exist.
static const char *host_of_class(const explain_t *explain, unsigned priority)
{
    uint32_t host = EXPLAIN_NONE;
    bool others = false;
    for (size_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        others |= flow->priority != priority;
        if (flow->priority == priority) {
            if (host != EXPLAIN_NONE && host != flow->source) {
                return NULL;
            }
            host = flow->source;
        }
    }
    return host == EXPLAIN_NONE || !others ? NULL : world_interface_name(explain->world, host);
}

static void tell_lossy_class(explain_t *explain, const net_node_t *node, const full_t *full,
                             unsigned priority)
{
    const net_switch_config_t *const config = net_switch_config(node);
    const char *const host = host_of_class(explain, priority);
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_LOSSY_CLASS, 1, sim_strdup(cli__explain_port_name(explain, full->worst)));
    world_text_t classes;
    finding->port = full->worst;
    finding->sentence = sim_format(
        "class %u has no PFC: %s dropped %" PRIu64 " of its packets for want of buffer, while PFC "
        "protects class %s; %s%s",
        priority, node->sim.name, full->by_class[priority],
        world_format_classes(&classes, config->pfc_priorities),
        host != NULL ? "all of them are of " : "the priority of the traffic is not mapped to it",
        host != NULL ? host : "");
    finding->score_ps =
        add_flows_of_node(explain, finding, node) + (double)full->drops * SIM_PS_PER_US;
    char *const set = host != NULL ? sim_format("nodes.%s.nic.priority=%d", host,
                                                __builtin_ctz(config->pfc_priorities))
                                   : sim_format("switch.pfc.priorities=[%u]", priority);
    cli__explain_remedy(finding, set, "the traffic is in a class that PFC protects");
    sim_free(set);
}

static void tell_small_buffer(explain_t *explain, const net_node_t *node, const full_t *full,
                              uint64_t usual)
{
    const uint64_t own = net_switch_config(node)->buffer_bytes;
    world_text_t size;
    world_text_t others;
    explain_finding_t *const finding =
        cli__explain_add(explain, EXPLAIN_SMALL_BUFFER, 1, sim_strdup(node->sim.name));
    finding->port = full->worst;
    finding->sentence =
        own * 2 <= usual
            ? sim_format("small buffer: %s has %s where most switches have %s, and dropped %" PRIu64
                         " packets for want of it",
                         node->sim.name, world_format_bytes(&size, own),
                         world_format_bytes(&others, usual), full->drops)
            : sim_format("full buffer: %s, whose buffer is %s, dropped %" PRIu64
                         " packets for want of it, and to send them again cost more than shared "
                         "links do",
                         node->sim.name, world_format_bytes(&size, own), full->drops);
    cli__explain_evidence(
        finding, sim_format("the port with the largest number of drops is %s (tx_discards)",
                            cli__explain_port_name(explain, full->worst)));
    finding->score_ps =
        add_flows_of_node(explain, finding, node) + (double)full->drops * SIM_PS_PER_US;
    char *const set = own * 2 <= usual
                          ? sim_format("nodes.%s.switch.buffer=%" PRIu64 "B", node->sim.name, usual)
                          : sim_format("switch.buffer=%" PRIu64 "B", 4 * own);
    cli__explain_remedy(finding, set, "more buffer");
    sim_free(set);
    cli__explain_remedy(finding, "switch.pfc.enabled=true", "PFC stops senders in time");
    cli__explain_remedy_selective(explain, finding,
                                  "selective retransmission sends only the lost packets again");
}

// Returns whether the switch is reported for the lack of PFC that others have.
static bool is_mismatch(const explain_t *explain, const net_node_t *node)
{
    for (size_t i = 0; i < explain->finding_count; i++) {
        if (explain->findings[i].kind == EXPLAIN_PFC_MISMATCH &&
            strcmp(explain->findings[i].place, node->sim.name) == 0) {
            return true;
        }
    }
    return false;
}

void cli__explain_full(explain_t *explain)
{
    const uint64_t usual = usual_buffer(explain);
    find_headroom(explain);
    for (size_t i = 0; i < net_node_count(explain->world->net); i++) {
        const net_node_t *const node = net_node_at(explain->world->net, i);
        if (node->kind != NET_NODE_SWITCH) {
            continue;
        }
        const full_t full = full_of(explain, node);
        if (!are_many(explain, full.drops)) {
            continue;
        }
        const net_switch_config_t *const config = net_switch_config(node);
        const unsigned priority = worst_class(&full);
        const bool lossy = config->pfc_enabled && config->pfc_priorities != 0 &&
                           (config->pfc_priorities >> priority & 1u) == 0;
        explain_finding_t counted = {.kind = EXPLAIN_DROPS};
        const double lost_ps = add_flows_of_node(explain, &counted, node);
        sim_free(counted.flows);
        if ((double)config->buffer_bytes * SMALLER <= (double)usual) {
            tell_small_buffer(explain, node, &full, usual);
        } else if (lossy) {
            tell_lossy_class(explain, node, &full, priority);
        } else if (!config->pfc_enabled && !is_mismatch(explain, node) &&
                   lost_ps > full.shared_ps) {
            tell_small_buffer(explain, node, &full, usual);
        }
    }
}
