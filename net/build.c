// SPDX-License-Identifier: Apache-2.0
// net/build.c - a network's life: created, laid out (models, ports, addresses, routes), destroyed.
// Net's own models: docs/models/switch.md, docs/models/topologies.md.
#include <string.h>

#include "kernel/order/fifo.h"
#include "net/absent_hosts.h"
#include "net/carry.h"
#include "net/fixed_routes_internal.h"
#include "net/link/changes.h"
#include "net/link/fault_timers.h"
#include "net/link/layer.h"
#include "net/link/listeners.h"
#include "net/link/port_setup.h"
#include "net/loss.h"
#include "net/loss/build.h"
#include "net/meters_internal.h"
#include "net/models_internal.h"
#include "net/network_internal.h"
#include "net/ranks.h"
#include "net/routes_internal.h"
#include "net/switch_setup_internal.h"

// -- models

static const net_timing_ops_t timing_exact = {.name = "exact"};
static const net_framing_t framing_ethernet = {
    .name = "ethernet",
    .overhead_bytes = NET_LINK_OVERHEAD_BYTES,
    .gap_bytes = NET_GAP_BYTES,
    .pause_bytes = NET_FRAME_BYTES_MIN,
};
static const net_framing_t framing_bare = {.name = "bare", .pause_bytes = NET_FRAME_BYTES_MIN};

static void register_own(net_t *net)
{
    net_register_buffer(net, &net__buffer_standard);
    net_register_buffer(net, &net__buffer_channels);
    net_register_buffer(net, &net__buffer_trimming);
    net_register_marking(net, &net__marking_red);
    net__register_balances(net);
    net_register_routes(net, &net__routes_shortest);
    net_register_timing(net, &timing_exact);
    net_register_framing(net, &framing_ethernet);
    net_register_framing(net, &framing_bare);
}

// Returns the configured name, or net's own if the config names nothing.
static const char *name_or(const sim_name_t *name, const char *own)
{
    return name->text[0] == '\0' ? own : name->text;
}

// Selects the models that the network's config names, and checks the names in switches' configs.
static sim_err_t choose_models(net_t *net, sim_message_t *message)
{
    const struct {
        const char *attribute;
        const char *kind;
        const char *name;
    } names[] = {
        {"network.load-balancer", NET_BALANCE, name_or(&net->config.balance, "ecmp")},
        {"network.routes", NET_ROUTES, name_or(&net->config.routes, "shortest")},
        {"network.timing", NET_TIMING, name_or(&net->config.timing, "exact")},
        {"network.framing", NET_FRAMING,
         net->config.model == NET_MODEL_MESSAGE ? framing_bare.name
                                                : name_or(&net->config.framing, "ethernet")},
    };
    const void *rows[SIM_COUNT_OF(names)];
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        const sim_err_t error =
            net_registered_check(net, names[i].attribute, names[i].kind, names[i].name, message);
        if (error != SIM_OK) {
            return error;
        }
        rows[i] = net_registered(net, names[i].kind, names[i].name);
    }
    net->balance = rows[0];
    net->routes_ops = rows[1];
    net->timing = rows[2] == &timing_exact ? NULL : rows[2];
    net->framing = rows[3];
    for (size_t i = 0; i < net->node_count; i++) {
        const net_node_t *const node = net->nodes[i];
        const sim_err_t error = node != NULL && node->kind == NET_NODE_SWITCH
                                    ? net__switch_check_names(node, message)
                                    : SIM_OK;
        if (error != SIM_OK) {
            return error;
        }
    }
    return SIM_OK;
}

// -- creating and destroying

net_t *net_create(sim_t *sim, const net_config_t *config)
{
    net_t *const net = sim_alloc(sizeof(*net));
    net->sim = sim;
    net->config = *config;
    net->frame_bytes_max = NET_FRAME_BYTES_QUANTUM;
    net->packets = sim_pool_create(sizeof(net_packet_t), sizeof(net_packet_aside_t));
    for (uint32_t i = 0; i < NET_PAYLOAD_SIZES; i++) {
        net->payloads[i] = sim_pool_create(net__payload_sizes[i], 0);
    }
    for (uint32_t i = 0, bytes = NET_RING_BYTES; i < NET_RING_SIZES; i++) {
        net->rings[i] = sim_pool_create(bytes, 0);
        bytes *= NET_RING_GROWTH;
    }
    register_own(net);
    sim_set_codec(sim, &net__codec, net);
    return net;
}

void net_allow_frames(net_t *net, uint32_t frame_bytes)
{
    net->frame_bytes_max = SIM_MAX(frame_bytes, net->frame_bytes_max);
}

void net_destroy(net_t *net)
{
    if (net == NULL) {
        return;
    }
    for (size_t i = 0; i < net->state_count; i++) {
        net__routes_free(net, net->routes[i]);
    }
    net__fixed_free(net);
    sim_pool_destroy(net->packets);
    for (uint32_t i = 0; i < NET_RING_SIZES; i++) {
        sim_pool_destroy(net->rings[i]);
    }
    for (uint32_t i = 0; i < NET_PAYLOAD_SIZES; i++) {
        sim_pool_destroy(net->payloads[i]);
    }
    SIM_FREE_ALL(net->routes, net->unreached, net->pint);
    net__registry_free(net);
    net__loss_lists_free(net);
    if (net->ports != NULL) {
        for (uint32_t p = 0; p < net->port_count; p++) {
            if (net__port_made(&net->ports[p])) {
                net__loss_free(&net->ports[p]);
                net__layer_fini(&net->ports[p]);
            }
        }
        sim_free_sparse(net->classes, sizeof(*net->classes) * net__class_blocks(net));
        sim_free_sparse(net->received, sizeof(*net->received) * net__class_blocks(net));
        sim_free_sparse(net->rare, sizeof(*net->rare) * (net->port_count + 1));
        sim_free_sparse(net->meters, sizeof(*net->meters) * (net->port_count + 1));
        net__listeners_free(net);
        net__parts_free(net);
        net__lines_free(net);
    }
    net__changes_free(net);
    net__faults_free(net);
    SIM_FREE_ALL(net->leaf_of, net->leaves, net->attachments, net->interfaces, net->port_names,
                 net->links);
    sim_free_each(net->link_configs, net->link_config_count);
    sim_free(net->link_configs);
    net__gone_free(net);
    SIM_FREE_ALL(net->spares, net->nodes, net);
}

// -- laying out

static void connect_port(const net_t *net, uint32_t link_index, net_port_t *port, net_port_t *peer,
                         bool is_a)
{
    port->peer = peer;
    net__port_join(port, link_index, is_a);
    port->channel = sim_channel_create(net->sim, &port->node->sim, &peer->node->sim, peer->index,
                                       port->line->delay_ps);
    sim_channel_keeps_number(&port->node->sim, port->channel, port->index);
}

static void connect_ports(net_t *net)
{
    net->lines = sim_alloc_array(net->link_config_count + 1, sizeof(net_line_t *));
    (void)pthread_mutex_init(&net->making_lines, NULL);
    net__parts_make_ports(net);
    for (size_t i = 0; i < net->link_count; i++) {
        const net_link_ends_t link = net->links[i];
        if (!sim_is_here(net->sim, link.a) && !sim_is_here(net->sim, link.b)) {
            continue;
        }
        net_port_t *const a = net__port_of(net, link.a, link.a_port);
        net_port_t *const b = net__port_of(net, link.b, link.b_port);
        connect_port(net, (uint32_t)i, a, b, true);
        connect_port(net, (uint32_t)i, b, a, false);
        net__loss_build(net, (uint32_t)i);
        net__port_set_speed(a);
        net__port_set_speed(b);
    }
}

static void give_address(net_t *net, uint32_t node, uint32_t index, uint32_t interface)
{
    net_port_t *const port = net__port_of(net, node, index);
    const net_link_ends_t link =
        net->links[net->partial ? net->port_links[port - net->ports] : port->link];
    const bool is_a = link.a == node && link.a_port == index;
    const uint32_t other = is_a ? link.b : link.a;
    net->attachments[interface] = (net_attachment_t){NET_NO_LEAF, is_a ? link.b_port : link.a_port};
    if (net->nodes[other] != NULL && net->nodes[other]->forward != NULL) {
        uint32_t *const number = &net->leaf_of[other];
        if (*number == NET_NO_LEAF) {
            *number = net->leaf_count;
            net->leaves[net->leaf_count++] = net->nodes[other];
        }
        net->attachments[interface].leaf = *number;
    }
    if (net__port_made(port)) {
        port->interface = interface;
    }
    net->interfaces[interface] = port;
}

// Returns the number of planes that each NIC of each host has; 0: NICs differ, or have one.
static uint32_t planes_of_all(const net_t *net)
{
    uint32_t planes = 0;
    for (uint32_t i = 0; i < net->node_count; i++) {
        if (net_kind_of(net, i) == NET_NODE_HOST) {
            const uint32_t own = net_planes_of(net, i);
            planes = planes == 0 ? own : planes;
            if (own <= 1 || own != planes || net_ports_of(net, i) % own != 0) {
                return 0;
            }
        }
    }
    return planes;
}

// Gives plane 0 of all NICs the first addresses, so that programs count NICs by interfaces.
static void give_addresses(net_t *net)
{
    for (size_t i = 0; i < net->node_count; i++) {
        net->interface_count += net_kind_of(net, i) == NET_NODE_HOST ? net_ports_of(net, i) : 0;
    }
    net->interfaces = sim_alloc_array(net->interface_count + 1, sizeof(*net->interfaces));
    net->attachments = sim_alloc_array(net->interface_count + 1, sizeof(*net->attachments));
    net->leaf_of = sim_alloc_array(net->node_count + 1, sizeof(*net->leaf_of));
    // One leaf for each forwarding node with hosts, and one for each host with fixed routes.
    net->leaves = sim_alloc_array(net->node_count + 1, sizeof(*net->leaves));
    memset(net->leaf_of, 0xff, (net->node_count + 1) * sizeof(*net->leaf_of));
    uint32_t next = 0;
    bool more = false;
    for (uint32_t i = 0; i < net->node_count; i++) {
        const uint32_t count = net_kind_of(net, i) == NET_NODE_HOST ? net_ports_of(net, i) : 0;
        for (uint32_t p = 0; p < count; p++) {
            if (net__plane_of(net_planes_of(net, i), count, p) == 0) {
                give_address(net, i, p, next++);
            } else {
                more = true;
            }
        }
    }
    net->plane0_count = next;
    net->even_planes = planes_of_all(net);
    for (uint32_t i = 0; more && i < net->node_count; i++) {
        const uint32_t count = net_kind_of(net, i) == NET_NODE_HOST ? net_ports_of(net, i) : 0;
        for (uint32_t p = 0; p < count; p++) {
            if (net__plane_of(net_planes_of(net, i), count, p) != 0) {
                give_address(net, i, p, next++);
            }
        }
    }
}

static sim_err_t check_nodes(const net_t *net, sim_message_t *message)
{
    for (size_t i = 0; i < net->node_count; i++) {
        if (net_kind_of(net, i) == NET_NODE_HOST && net_ports_of(net, i) == 0) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "host %s has no link, expected hosts that are joined by links",
                            net_node_name(net, i));
        }
        SIM_CHECKF(net_kind_of(net, i) == NET_NODE_HOST || net->nodes[i]->forward != NULL,
                   "%s is no host and does not forward", net_node_name(net, i));
    }
    for (size_t i = 0; i < net->link_config_count; i++) {
        const sim_err_t odd = net_loss_check(net->link_configs[i], message);
        if (odd != SIM_OK) {
            return odd;
        }
    }
    return SIM_OK;
}

// Gives back the room into which nodes and links could have grown.
static void trim(net_t *net)
{
    net->nodes = sim_realloc_array(net->nodes, net->node_count, sizeof(net_node_t *));
    net->node_capacity = net->node_count;
    net->links = sim_realloc_array(net->links, net->link_count, sizeof(*net->links));
    net->link_capacity = net->link_count;
}

// Numbers the nodes that forward, in their order.
static void number_forwarders(net_t *net)
{
    for (size_t i = 0; i < net->node_count; i++) {
        if (net->nodes[i] != NULL && net->nodes[i]->forward != NULL) {
            SIM_CHECK(net->forwarder_count < NET_FORWARDERS_MAX);
            net->nodes[i]->forwarder = net->forwarder_count++ & (NET_FORWARDERS_MAX - 1);
        }
    }
}

sim_err_t net_build(net_t *net, sim_message_t *message)
{
    SIM_CHECK(!net->built);
    sim_err_t error = check_nodes(net, message);
    if (error == SIM_OK) {
        error = choose_models(net, message);
    }
    if (error == SIM_OK) {
        net__extensions_before_build(net);
        error = net__telemetry_build(net, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    trim(net);
    connect_ports(net);
    net__extensions_with_ports(net);
    const sim_err_t odd = net__layers_check(net, message);
    if (odd != SIM_OK) {
        return odd;
    }
    net__layers_build(net);
    net->port_names = sim_alloc_array(net->node_count + 1, sizeof(*net->port_names));
    net->built = true;
    give_addresses(net);
    if (net->interface_count == 0) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "the network has no host, expected hosts that are joined by links");
    }
    if (net->interface_count > NET_INTERFACES_MAX) {
        return sim_fail(message, SIM_ERR_RANGE,
                        "the network has %zu interfaces, expected at most %u: no more addresses",
                        net->interface_count, NET_INTERFACES_MAX);
    }
    number_forwarders(net);
    net->links_alike = net__links_alike(net);
    net__fixed_prepare(net);
    net__changes_route(net);
    const sim_err_t leads = net__fixed_check(net, message);
    if (leads != SIM_OK) {
        return leads;
    }
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        if (node == NULL) {
            continue;
        }
        const bool is_here = sim_node_is_here(&node->sim);
        net__set_routes(net, node, 0);
        node->complete = is_here || node->forward != NULL;
        if (node->complete && node->built != NULL) {
            node->built(node);
        }
    }
    net__carry_build(net);
    net__changes_schedule(net);
    net__faults_schedule(net);
    return SIM_OK;
}
