// SPDX-License-Identifier: Apache-2.0
// world/construct/check.c - whether what a scenario says of a network fits the network that was
// built.
#include <string.h>

#include "net/balance_gauges.h"
#include "nic/fabric.h"
#include "topologies/inspect.h"
#include "world/bind.h"
#include "world/construct/check.h"
#include "world/construct/link_patterns.h"
#include "world/construct/variants.h"
#include "world/format.h"
#include "world/names.h"
#include "world/overlays.h"
#include "world/patterns.h"
#include "world/series.h"

sim_err_t world__check_node_overlays(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    for (size_t i = 0; i < scenario->node_count; i++) {
        const world_node_overlay_t *const overlay = &scenario->nodes[i];
        bool switches = false;
        bool hosts = false;
        bool own = false;
        for (size_t n = 0; n < net_node_count(world->net); n++) {
            if (world_pattern_match(overlay->pattern, net_node_name(world->net, n))) {
                const net_node_kind_t kind = net_kind_of(world->net, n);
                switches = switches || kind == NET_NODE_SWITCH;
                hosts = hosts || kind == NET_NODE_HOST;
                own = own || kind == NET_NODE_FORWARDER;
            }
        }
        const bool any = switches || hosts || own;
        const bool wants_switch =
            (overlay->switch_map != NULL && !switches) || (overlay->own_kind != NULL && !own);
        const bool wants_host = overlay->nic_map != NULL && !hosts;
        if (any && !wants_switch && !wants_host) {
            continue;
        }
        const char *const what = !any ? "node" : wants_switch ? "switch" : "host";
        const int kind = !any ? -1 : wants_switch ? NET_NODE_SWITCH : NET_NODE_HOST;
        world_shown_t shown;
        world_fail(error, SIM_ERR_UNKNOWN, &overlay->place, "'%s' matches no %s",
                   world_show(&shown, overlay->pattern), what);
        world_add_nearest_node(error, world->net, overlay->pattern, kind);
        return SIM_ERR_UNKNOWN;
    }
    return SIM_OK;
}

// Checks the patterns of links. Call it before net_build: link ends are known, ports not yet.
sim_err_t world__check_links(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    for (size_t i = 0; i < scenario->link_count; i++) {
        const world_link_overlay_t *const overlay = &scenario->links[i];
        bool any = false;
        for (size_t l = 0; l < net_link_count(world->net); l++) {
            any = any || world__link_meant(world, &overlay->names, l);
        }
        if (!any) {
            world_shown_t shown;
            world_fail(error, SIM_ERR_UNKNOWN, &overlay->place, "'%s' matches no link",
                       world_show(&shown, overlay->pattern));
            world_add_nearest_node(error, world->net, overlay->names.left, -1);
            if (net_link_count(world->net) > 0) {
                const net_link_t first = net_link_at(world->net, 0);
                world_error_add(error, "; a link is its two ends, as in %s--%s", first.a->sim.name,
                                first.b->sim.name);
            }
            return SIM_ERR_UNKNOWN;
        }
    }
    return SIM_OK;
}

// Refuses NICs whose caches and tables need more memory than memory-max.
static sim_err_t check_nic_memory(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    const uint64_t allowed_bytes = scenario->run.memory_max_bytes;
    uint64_t bytes = 0;
    size_t hosts = 0;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        const uint64_t more = node->kind == NET_NODE_HOST ? nic_host_memory_bytes(node) : 0;
        bytes = bytes + more < bytes ? UINT64_MAX : bytes + more;
        hosts += more > 0;
    }
    if (bytes <= allowed_bytes) {
        return SIM_OK;
    }
    const world_tree_entry_t *const entry = world_tree_find(scenario->root, "nic");
    const world_place_t place = entry != NULL ? entry->value->place : scenario->topology_place;
    world_text_t needed;
    world_text_t allowed;
    return world_fail(error, SIM_ERR_RANGE, &place,
                      "nic: the caches and tables inside the NICs of %zu hosts take some %s of "
                      "memory, expected at most %s: fewer entries or hosts, a smaller "
                      "nic.cache.l2.page-table, a higher memory-max, or --yes",
                      hosts, world_format_bytes(&needed, bytes),
                      world_format_bytes(&allowed, allowed_bytes));
}

// Refuses hosts that send in another class than 0 if a switch's virtual channels count from there.
static sim_err_t check_channels(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    bool counts = false;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        counts = counts || (node->kind == NET_NODE_SWITCH &&
                            strcmp(net_switch_config(node)->mmu.text, "virtual-channels") == 0);
    }
    for (size_t i = 0; counts && i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        const nic_config_t *const config =
            node->kind == NET_NODE_HOST ? world__variants_nic(world->variants, node->sim.name)
                                        : NULL;
        if (config != NULL && config->priority != 0) {
            const world_place_t place = world_locate(scenario->root, "", "nic.priority");
            return world_fail(error, SIM_ERR_RANGE, &place,
                              "nic.priority: %" PRIu64
                              " with switch.mmu virtual-channels, expected 0: the class counts the "
                              "switches that a packet has passed",
                              config->priority);
        }
    }
    return SIM_OK;
}

// Refuses switches that choose paths by other things than the ports that senders choose (nic.repath
// reps).
static sim_err_t check_balancers(const world_t *world, const char *host, world_error_t *error)
{
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_look(world->net, i);
        bool spreads = false;
        const char *const name = node != NULL && node->kind == NET_NODE_SWITCH
                                     ? net_switch_balancer(node, &spreads)
                                     : "";
        if (spreads) {
            const world_place_t place = world_locate(world->scenario->root, "", "nic.repath");
            return world_fail(
                error, SIM_ERR_INVALID, &place,
                "nic.repath: reps at %s chooses paths by UDP source ports, but %s has "
                "the load balancer %s, which chooses paths itself; expected ecmp or "
                "wecmp there, or another rule here",
                host, node->sim.name, name);
        }
    }
    return SIM_OK;
}

// Refuses networks in which some hosts answer by the ports of packets (nic.repath reps), and others
// do not, or switches do not look at these ports. Call it after net_build.
sim_err_t world__check_repath(const world_t *world, world_error_t *error)
{
    const char *with = NULL;
    const char *without = NULL;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        if (net_kind_of(world->net, i) == NET_NODE_HOST) {
            const char *const name = net_node_name(world->net, i);
            const nic_config_t *const config = world__variants_nic(world->variants, name);
            *(config->repath == NIC_REPATH_REPS ? &with : &without) = name;
        }
    }
    if (with == NULL) {
        return SIM_OK;
    }
    if (without == NULL) {
        return check_balancers(world, with, error);
    }
    const world_place_t place = world_locate(world->scenario->root, "", "nic.repath");
    return world_fail(error, SIM_ERR_INVALID, &place,
                      "nic.repath: reps at %s, but not at %s; expected it at all hosts or at none, "
                      "because receivers return the entropies",
                      with, without);
}

// Checks that the layout inside each host fits its links, and that the NICs fit into memory. Call
// it before net_build.
sim_err_t world__check_hosts(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    const sim_err_t class = check_channels(world, error);
    if (class != SIM_OK) {
        return class;
    }
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        sim_message_t message;
        if (node->kind != NET_NODE_HOST || nic_host_check(node, &message) == SIM_OK) {
            continue;
        }
        world_place_t place = world_locate(scenario->root, "", message.about);
        for (size_t o = 0; o < scenario->node_count; o++) {
            const world_node_overlay_t *const overlay = &scenario->nodes[o];
            if (overlay->nic_map != NULL && world_pattern_match(overlay->pattern, node->sim.name)) {
                place = world_locate(overlay->nic_map, "nic", message.about);
            }
        }
        return world_fail(error, SIM_ERR_RANGE, &place, "%s (of node %s)", message.text,
                          node->sim.name);
    }
    return check_nic_memory(world, error);
}

typedef struct finding {
    world_error_t *error;
    world_place_t place;
    sim_err_t result;
} finding_t;

static void keep_finding(topo_severity_t severity, const char *text, void *ctx)
{
    finding_t *const finding = ctx;
    if (severity == TOPO_ERROR && finding->result == SIM_OK) {
        finding->result = world_fail(finding->error, SIM_ERR_RANGE, &finding->place,
                                     "%s, expected a larger switch.buffer (of 64GB at most), a "
                                     "smaller switch.pfc.headroom or switch.pfc.enabled: false",
                                     text);
    }
}

// Refuses switches that may drop packets of a lossless class.
sim_err_t world__check_lint(const world_t *world, world_error_t *error)
{
    const world_tree_t *const root = world->scenario->root;
    finding_t finding = {error, world_locate(root, "", "switch.buffer"), SIM_OK};
    if (world_tree_find(root, "switch") == NULL) {
        finding.place = world->scenario->topology_place;
    }
    topo_lint(world->net, keep_finding, &finding);
    return finding.result;
}

static sim_err_t check_series_nodes(const world_t *world, const world_place_t *place,
                                    const char *pattern, net_node_kind_t kind, world_error_t *error)
{
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        if (net_kind_of(world->net, i) == kind &&
            world_pattern_match(pattern, net_node_name(world->net, i))) {
            return SIM_OK;
        }
    }
    for (size_t i = 0; kind == NET_NODE_HOST && i < world->nic_count; i++) {
        if (world_pattern_match(pattern, world->nics[i].name)) {
            return SIM_OK;
        }
    }
    world_shown_t shown;
    world_fail(error, SIM_ERR_UNKNOWN, place, "'%s' matches no %s", world_show(&shown, pattern),
               kind == NET_NODE_HOST ? "host" : "switch");
    world_add_nearest_node(error, world->net, pattern, (int)kind);
    return SIM_ERR_UNKNOWN;
}

static sim_err_t check_any_node(const world_t *world, const world_series_t *series,
                                world_error_t *error)
{
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        if (world_pattern_match(series->nodes, net_node_name(world->net, i))) {
            return SIM_OK;
        }
    }
    world_shown_t shown;
    world_fail(error, SIM_ERR_UNKNOWN, &series->place, "'%s' matches no node",
               world_show(&shown, series->nodes));
    world_add_nearest_node(error, world->net, series->nodes, -1);
    return SIM_ERR_UNKNOWN;
}

static sim_err_t check_one_series(const world_t *world, const world_series_t *series,
                                  world_error_t *error)
{
    if (series->kind == WORLD_SERIES_PORT) {
        net_port_t **ports = NULL;
        size_t count = 0;
        const sim_err_t result = world_find_ports(world, &series->ports, series->config.series,
                                                  &series->place, &ports, &count, error);
        sim_free(ports);
        return result;
    }
    if (series->kind == WORLD_SERIES_NODE) {
        return check_any_node(world, series, error);
    }
    const net_node_kind_t kind =
        series->kind == WORLD_SERIES_SWITCH ? NET_NODE_SWITCH : NET_NODE_HOST;
    const sim_err_t result = check_series_nodes(world, &series->place, series->nodes, kind, error);
    return result != SIM_OK || series->peers == NULL
               ? result
               : check_series_nodes(world, &series->place, series->peers, kind, error);
}

sim_err_t world__check_series(const world_t *world, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < world->scenario->series_count && result == SIM_OK; i++) {
        result = check_one_series(world, &world->scenario->series[i], error);
    }
    return result;
}
