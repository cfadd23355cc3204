// SPDX-License-Identifier: Apache-2.0
// net/switch/setup.c - builds a switch from its models and answers questions about it. Page:
// docs/models/switch.md.
#include <string.h>

#include "kernel/pool.h"
#include "net/log.h"
#include "net/meters_internal.h"
#include "net/models_internal.h"
#include "net/port_metrics.h"
#include "net/ports.h"
#include "net/switch/chance.h"
#include "net/switch/ecmp.h"
#include "net/switch/switch_internal.h"
#include "net/switch/watchdog.h"
#include "net/switch_checks.h"
#include "net/switch_setup_internal.h"

static const net_switch_t *const_switch_of(const net_node_t *node)
{
    SIM_CHECK(node->kind == NET_NODE_SWITCH);
    return (const net_switch_t *)(const void *)node;
}

// -- as a forwarding node

static const net_port_t *route_when_up(const net_node_t *node, const net_routes_t *routes,
                                       uint32_t source, uint32_t interface, uint32_t flow_hash)
{
    const net_switch_t *const sw = const_switch_of(node);
    const net_attachment_t attachment = sw->attachments[interface];
    if (attachment.leaf == sw->leaf) {
        return net_port_at(node, attachment.port);
    }
    const net_hop_t hop = attachment.leaf == NET_NO_LEAF ? (net_hop_t){.count = 0}
                                                         : net__hop(routes->pages, attachment.leaf);
    if (hop.count == 0) {
        return NULL;
    }
    const uint32_t index = sw->balance->path(sw, source, interface, flow_hash, hop.count);
    return net_port_at(node, routes->ports[hop.first + index]);
}

static void set_routes(net_node_t *node, const net_routes_t *routes)
{
    net_switch_t *const sw = net_switch_of(node);
    sw->hop_pages = routes->pages;
    sw->hop_ports = routes->ports;
    node->route_mask = 0; // routes have changed; choose_loop sets it again when the switch is built
}

static const net_forward_ops_t forward_ops = {.set_routes = set_routes, .route = route_when_up};

// -- as a node of the simulation

static void add_digest(const sim_node_t *node, sim_digest_t *digest)
{
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    net_node_digest(&sw->node, digest);
    sim_digest_add(digest, sw->held_bytes);
    sim_digest_add(digest, sw->shared_bytes);
#ifdef SIM_DEAR_CHECKS
    net__switch_check_buffer(sw); // the run is over
#endif
}

static void fini_parts(net_switch_t *sw)
{
    net__watchdog_free(sw);
    if (sw->buffer->fini != NULL && sw->ingress != NULL) {
        sw->buffer->fini(sw);
    }
    if (sw->marking->fini != NULL && sw->ingress != NULL) {
        sw->marking->fini(sw);
    }
    if (sw->balance->fini != NULL) {
        sw->balance->fini(sw);
    }
    SIM_FREE_ALL(sw->buffer_state, sw->marking_state, sw->balance_state, sw->late);
    net__chance_free(sw);
}

static size_t ingress_bytes(const net_node_t *node)
{
    return (node->port_count + 1) * sizeof(*((net_switch_t *)NULL)->ingress);
}

static void destroy(sim_node_t *node)
{
    net_switch_t *const sw = (net_switch_t *)(void *)node;
    if (sw->buffer != NULL) {
        fini_parts(sw);
    }
    sim_lines_give(node->worker, sw->ingress, ingress_bytes(&sw->node));
    net_node_fini(&sw->node);
    sim_lines_give(node->worker, sw, sizeof(*sw));
}

// Returns whether two packets of one instant leave by one port, or one has no route of its own.
// The caller has checked that what ports share has room (net_has_room).
static bool ties_matter(const sim_node_t *node, const sim_mail_t *mail, size_t count)
{
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    uint64_t seen[4] = {0};
    if (sw->chance != NULL) {
        net__chance_tie(sw, mail, count);
    }
    for (size_t i = 0; i < count; i++) {
        const net_packet_t *const packet = mail[i].message;
        const uint8_t hop = (uint8_t)packet->route;
        const uint64_t bit = UINT64_C(1) << hop % 64;
        if (packet->kind != NET_PACKET_ROCE || hop == 0 || (seen[hop / 64] & bit) != 0) {
            return true;
        }
        seen[hop / 64] |= bit;
    }
    return false;
}

static const sim_node_ops_t switch_ops = {
    .ties_matter = ties_matter,
    .kind = "switch",
    .run = net__switch_run_tables,
    .warm = net__switch_warm,
    .digest = add_digest,
    .destroy = destroy,
};

// -- set-up

static void *state_of(size_t bytes)
{
    return bytes > 0 ? sim_alloc_lines(bytes) : NULL;
}

// Selects the loop: the buffer's own, the one with net's models compiled in, or the one by tables.
static void choose_loop(net_switch_t *sw)
{
    const bool late =
        (sw->buffer == &net__buffer_standard || sw->buffer == &net__buffer_trimming) &&
        sw->marking == &net__marking_red && sw->balance->late;
    const bool own = sw->balance == &net__balance_ecmp;
    sw->shows_packets =
        sw->balance->enters != NULL && (!sw->balance->enters_leaves || sw->leaf != NET_NO_LEAF - 1);
    sw->loop = switch_ops;
    if (sw->buffer->loop != NULL) {
        sw->loop.run = sw->buffer->loop->run;
        sw->loop.arrive = sw->buffer->loop->arrive;
        sw->loop.take = sw->buffer->loop->take;
        sw->loop.warm = sw->buffer->loop->warm;
    } else if (!late) {
        sw->loop.run = net__switch_run_tables;
    } else {
        sw->node.follows_routes = own || sw->balance->follows;
        sw->node.route_mask = sw->node.follows_routes ? UINT8_MAX : 0;
        sw->by_table = !own;
        sw->routed_by_dscp = sw->routed_by_dscp && own;
        sw->loop.run = net__switch_run_late;
        sw->late_ports = (sw->node.port_count + 7) & ~7u;
        sw->late = sw->ingress == NULL ? NULL : sim_alloc_array(sw->late_ports, sizeof(*sw->late));
    }
    sw->node.sim.ops = &sw->loop;
}

// Returns whether a port of the switch gives credits to its peer.
static bool has_credits(const net_node_t *node)
{
    bool some = false;
    for (uint32_t p = 0; p < node->port_count && !some; p++) {
        some = net_port_exists(node, p) &&
               node->ports[p].line->config->flow_control == NET_FLOW_CONTROL_CBFC;
    }
    return some;
}

// Builds the switch's models. If another rank runs the switch, it has no ingress, and gets what
// routing over it needs.
static void build_parts(net_switch_t *sw)
{
    const net_t *const net = sw->node.net;
    sw->buffer = has_credits(&sw->node) ? &net__buffer_credits
                                        : net_registered(net, "buffer", sw->config.mmu.text);
    sw->marking = net_registered(net, "marking", sw->config.marking.text);
    sw->balance = net__switch_balance(net, &sw->config.balance);
    SIM_CHECKF(sw->buffer != NULL, "no buffer \"%s\"", sw->config.mmu.text);
    SIM_CHECKF(sw->marking != NULL, "no marking \"%s\"", sw->config.marking.text);
    sw->balance_state = state_of(sw->balance->state_bytes);
    sw->header_bytes =
        (uint8_t)(sw->balance->header_bytes != NULL ? sw->balance->header_bytes(sw) : 0);
    choose_loop(sw);
    if (sw->ingress == NULL) {
        sw->balance->built(sw);
        return;
    }
    sw->buffer_state = state_of(sw->buffer->state_bytes);
    sw->marking_state = state_of(sw->marking->state_bytes);
    sw->marking->built(sw);
    sw->balance->built(sw);
    sw->buffer->built(sw);
    net__watchdog_start(sw);
}

static void built(net_node_t *node)
{
    net_switch_t *const sw = net_switch_of(node);
    const net_t *const net = node->net;
    sw->attachments = net->attachments;
    sw->leaf = net->leaf_of[node->sim.index];
    // A switch without hosts must match no attachment, not even that of a host linked to a host.
    sw->leaf = sw->leaf == NET_NO_LEAF ? NET_NO_LEAF - 1 : sw->leaf;
    sw->routed = net->config.forwarding == NET_FORWARDING_ROUTED;
    sw->routed_by_dscp = sw->routed && sw->trust_dscp;
    if (!sim_node_is_here(&node->sim)) {
        build_parts(sw);
        return;
    }
    uint32_t quantum_bytes[NET_PRIORITIES];
    for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
        quantum_bytes[c] = sw->config.weights[c] * NET_FRAME_BYTES_QUANTUM;
    }
    sw->ingress = sim_lines_take(node->sim.worker, ingress_bytes(node));
    for (uint32_t p = 0; p < node->port_count; p++) {
        net_port_t *const port = &node->ports[p];
        sw->ingress[p].port = port;
        sw->ingress[p].quanta = (uint16_t)sw->config.pfc_quanta;
        port->strict = sw->config.strict_priorities;
        net_port_set_quanta(port, quantum_bytes);
        if (sw->config.telemetry) {
            net__port_start_meter(port);
        }
    }
    build_parts(sw);
    sw->odd_classes = (uint8_t)(~sw->lossless | sw->marks_early);
}

sim_err_t net_switch_config_check(const net_switch_config_t *config, sim_message_t *message)
{
    if (config->ecn_kmin_bytes > config->ecn_kmax_bytes) {
        return sim_fail_about(message, SIM_ERR_RANGE, "switch.ecn.kmin",
                              ": %" PRIu64 " bytes, expected at most switch.ecn.kmax, "
                              "which is %" PRIu64,
                              config->ecn_kmin_bytes, config->ecn_kmax_bytes);
    }
    for (uint32_t i = 0; i < config->ecn_profiles.count; i++) {
        const sim_profile_t *const row = &config->ecn_profiles.rows[i];
        if (row->low_bytes > row->high_bytes) {
            return sim_fail_about(message, SIM_ERR_RANGE, "switch.ecn.profiles",
                                  ": kmin is %" PRIu64
                                  " bytes, expected at most kmax, which is %" PRIu64,
                                  row->low_bytes, row->high_bytes);
        }
    }
    const bool trims = strcmp(config->mmu.text, net__buffer_trimming.name) == 0;
    if (trims && config->pfc_enabled && (config->pfc_priorities & config->trim_priorities) != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "switch.trim.priorities",
                              ": a class of it is lossless, expected none of "
                              "switch.pfc.priorities: a packet is either trimmed or paused");
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (config->weights[p] == 0) {
            return sim_fail_about(message, SIM_ERR_RANGE, "switch.weights",
                                  ": class %u has weight 0, expected 1 to 255", p);
        }
    }
    return SIM_OK;
}

sim_err_t net__switch_check_names(const net_node_t *node, sim_message_t *message)
{
    const net_switch_t *const sw = const_switch_of(node);
    const struct {
        const char *attribute;
        const char *kind;
        const char *name;
    } names[] = {
        {"switch.mmu", NET_BUFFER, sw->config.mmu.text},
        {"switch.marking", NET_MARKING, sw->config.marking.text},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        const sim_err_t error = net_registered_check(node->net, names[i].attribute, names[i].kind,
                                                     names[i].name, message);
        if (error != SIM_OK) {
            return error;
        }
    }
    return net__switch_check_balance(sw, message);
}

net_node_t *net_switch_create(net_t *net, const char *name, const net_switch_config_t *config)
{
    net_switch_t *const sw = sim_lines_take(sim_builder(net_sim(net)), sizeof(*sw));
    net_node_init(net, &sw->node, NET_NODE_SWITCH, &switch_ops, name, built);
    net_node_forward(&sw->node, &forward_ops);
    sw->config = *config;
    sw->pfc_alpha = net_alpha_of(config->pfc_alpha);
    sw->lossy_alpha = net_alpha_of(config->lossy_alpha);
    sw->lossless = config->pfc_enabled ? config->pfc_priorities : 0;
    sw->warm_class = sw->lossless != 0 ? (uint8_t)__builtin_ctz(sw->lossless) : 0;
    sw->trust_dscp = config->trust == NET_TRUST_DSCP;
    sw->reserved_bytes = config->pfc_reserved_bytes;
    return &sw->node;
}

void net__switch_logged(net_node_t *node)
{
    if (node->kind == NET_NODE_SWITCH) {
        net_switch_of(node)->routed_by_dscp = false; // a test that every packet makes anyway
    }
}

bool net_node_keeps_packets(net_node_t *node)
{
    if (node->kind != NET_NODE_SWITCH) {
        return node->kind == NET_NODE_HOST;
    }
    const net_switch_t *const sw = net_switch_of(node);
    return sw->buffer == &net__buffer_standard && sw->balance->enters == NULL &&
           sw->header_bytes == 0 && sw->limited_classes == 0;
}

const net_switch_config_t *net_switch_config(const net_node_t *node)
{
    return &const_switch_of(node)->config;
}

sim_err_t net_switch_check(const net_node_t *node, sim_message_t *message)
{
    const net_switch_t *const sw = const_switch_of(node);
    const net_config_t *const network = net_get_config(node->net);
    const uint8_t headers =
        (uint8_t)(1u << network->trim_dscp / 8 | 1u << network->trim_last_hop_dscp / 8);
    if (sw->buffer == &net__buffer_trimming && (sw->config.trim_priorities & headers) != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "switch.trim.priorities",
                              ": a class of it is that of network.trim-dscp or "
                              "trim-last-hop-dscp (DSCP / 8), expected other classes");
    }
    uint64_t headroom = 0;
    uint64_t reserved = 0;
    if (sw->buffer->dedicated != NULL) {
        sw->buffer->dedicated(sw, &headroom, &reserved);
    }
    if (headroom + reserved >= sw->config.buffer_bytes) {
        return sim_fail(message, SIM_ERR_RANGE,
                        "%s: its buffer of %" PRIu64 " bytes cannot hold the headroom (%" PRIu64
                        ") and the reserved bytes (%" PRIu64 ") of its %u ports",
                        node->sim.name, sw->config.buffer_bytes, headroom, reserved,
                        node->port_count);
    }
    return SIM_OK;
}

uint64_t net_switch_buffer_bytes(const net_node_t *node)
{
    return const_switch_of(node)->held_bytes;
}

uint64_t net_switch_headroom_limit_bytes(const net_node_t *node, uint32_t port)
{
    SIM_CHECK(port < node->port_count);
    return const_switch_of(node)->ingress[port].headroom_limit;
}

uint64_t net_switch_headroom_used_bytes(const net_node_t *node)
{
    SIM_CHECK(node->kind == NET_NODE_SWITCH);
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            bytes += node->ports[p].received[c]->headroom_bytes;
        }
    }
    return bytes;
}
