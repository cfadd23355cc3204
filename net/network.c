// SPDX-License-Identifier: Apache-2.0
// net/network.c - adds nodes and links to a network, answers questions about it and allocates
// payloads. net/build.c creates, lays out and destroys networks.
#include "net/network_internal.h"
#include "net/ports.h"
#include "net/ranks.h"

#include <string.h>

// Sizes of the payload pools: a payload takes the smallest that holds it. A payload longer than a
// path MTU belongs to no packet and is allocated by itself.
const uint32_t net__payload_sizes[NET_PAYLOAD_SIZES] = {256, 1024, 4096, 9216};

void net__node_fill(net_t *net, net_node_t *node, net_node_kind_t kind, net_node_built_fn built)
{
    node->kind = kind;
    node->net = net;
    node->packets = net->packets;
    node->built = built;
}

void net_node_init(net_t *net, net_node_t *node, net_node_kind_t kind, const sim_node_ops_t *ops,
                   const char *name, net_node_built_fn built)
{
    SIM_CHECK(!net->built);
    sim_node_register(net->sim, &node->sim, ops, name);
    SIM_CHECKF(node->sim.index == net->node_count,
               "%s: nodes of a network must be all nodes of its simulation", name);
    net__node_fill(net, node, kind, built);
    SIM_APPEND(net->nodes, net->node_count, net->node_capacity, node);
}

void net_node_forward(net_node_t *node, const net_forward_ops_t *ops)
{
    SIM_CHECKF(node->kind != NET_NODE_HOST, "%s: hosts do not forward", node->sim.name);
    SIM_CHECK(ops->set_routes != NULL && ops->route != NULL);
    node->forward = ops;
}

// Returns the number of a stored copy of config: that of the link added before if it is equal, else
// a new one.
static uint32_t take_config(net_t *net, const net_link_config_t *config)
{
    const size_t count = net->link_config_count;
    if (count == 0 ||
        !sim_attrs_equal(&net_link_config_attrs, net->link_configs[count - 1], config, 0, 0)) {
        net_link_config_t *const own = sim_alloc(sizeof(*own));
        *own = *config;
        SIM_APPEND(net->link_configs, net->link_config_count, net->link_config_capacity, own);
    }
    return (uint32_t)net->link_config_count - 1;
}

uint32_t net_link_add(net_t *net, net_node_t *a, net_node_t *b, const net_link_config_t *config)
{
    SIM_CHECK(!net->built);
    SIM_CHECK(a != b);
    SIM_CHECK(config->rate_bps > 0 && config->delay_ps >= 1);
    SIM_CHECK(a->port_count < SIM_PORTS_PER_NODE_MAX && b->port_count < SIM_PORTS_PER_NODE_MAX);
    SIM_GROW(net->links, net->link_count, &net->link_capacity);
    net->links[net->link_count] = (net_link_ends_t){.a = a->sim.index,
                                                    .b = b->sim.index,
                                                    .a_port = (uint16_t)a->port_count++,
                                                    .b_port = (uint16_t)b->port_count++,
                                                    .config = take_config(net, config)};
    return (uint32_t)net->link_count++;
}

// -- inspection

sim_t *net_sim(const net_t *net)
{
    return net->sim;
}

const net_config_t *net_get_config(const net_t *net)
{
    return &net->config;
}

size_t net_node_count(const net_t *net)
{
    return net->node_count;
}

net_node_t *net_node_find(const net_t *net, const char *name)
{
    for (size_t i = 0; i < net->node_count; i++) {
        if (strcmp(net_node_name(net, i), name) == 0) {
            return net_node_at(net, i);
        }
    }
    return NULL;
}

size_t net_link_count(const net_t *net)
{
    return net->link_count;
}

net_link_ends_t net_link_ends(const net_t *net, size_t index)
{
    SIM_CHECK(index < net->link_count);
    return net->links[index];
}

const net_link_config_t *net_link_config(const net_t *net, size_t index)
{
    return net->link_configs[net_link_ends(net, index).config];
}

net_link_t net_link_at(const net_t *net, size_t index)
{
    const net_link_ends_t ends = net_link_ends(net, index);
    return (net_link_t){.a = net_node_at(net, ends.a),
                        .b = net_node_at(net, ends.b),
                        .a_port = ends.a_port,
                        .b_port = ends.b_port,
                        .config = net->link_configs[ends.config]};
}

uint32_t net_interface_in_plane(const net_t *net, uint32_t interface, uint32_t plane)
{
    if (SIM_LIKELY(net->even_planes != 0)) { // as give_addresses numbers them
        const uint32_t plane0_count = (uint32_t)net->plane0_count;
        const uint32_t others = net->even_planes - 1;
        const uint32_t nic =
            interface < plane0_count ? interface : (interface - plane0_count) / others;
        return plane == 0 ? nic : plane0_count + nic * others + plane - 1;
    }
    const net_port_t *const port = net_interface_port(net, interface);
    const net_node_t *const node = port->node;
    const uint32_t own = interface < net->plane0_count
                             ? 0 // as for every packet that a NIC sends, and without a division
                             : net__plane_of(node->planes, node->port_count, port->index);
    return net_port_at(node, port->index + plane - own)->interface;
}

uint32_t net_interface_of_nic(const net_t *net, uint32_t interface)
{
    if (interface < net->plane0_count) {
        return interface;
    }
    return net->even_planes != 0
               ? (interface - (uint32_t)net->plane0_count) / (net->even_planes - 1)
               : net_interface_in_plane(net, interface, 0);
}

size_t net_interface_count(const net_t *net)
{
    return net->interface_count;
}

net_port_t *net_interface_port(const net_t *net, uint32_t interface)
{
    SIM_CHECK(interface < net->interface_count);
    net_port_t *const port = net->interfaces[interface];
    return SIM_LIKELY(net__port_made(port)) ? port : net__port_make((net_t *)(uintptr_t)net, port);
}

uint32_t net_port_interface(const net_port_t *port)
{
    return port->interface;
}

void net_conservation(const net_t *net, net_tally_t *sums, uint64_t *in_flight)
{
    *sums = (net_tally_t){0};
    for (size_t i = 0; i < net->node_count; i++) {
        if (net->nodes[i] == NULL) {
            continue;
        }
        const net_tally_t *const tally = &net->nodes[i]->tally;
        sums->created += tally->created;
        sums->delivered += tally->delivered;
        sums->dropped += tally->dropped;
        sums->bytes_created += tally->bytes_created;
        sums->bytes_delivered += tally->bytes_delivered;
        sums->bytes_dropped += tally->bytes_dropped;
    }
    *in_flight = net__packets_live(net) + net->in_flight_elsewhere;
}

void net_host_is_plain(net_t *net)
{
    SIM_CHECK(!net->built);
    net->plain_hosts++;
}

uint64_t net_packet_memory_bytes(const net_t *net)
{
    uint64_t bytes = sim_pool_memory_bytes(net->packets);
    for (uint32_t i = 0; i < NET_PAYLOAD_SIZES; i++) {
        bytes += sim_pool_memory_bytes(net->payloads[i]);
    }
    return bytes;
}

static sim_pool_t *payload_pool(const net_node_t *node, uint32_t size_bytes)
{
    for (uint32_t i = 0; i < NET_PAYLOAD_SIZES; i++) {
        if (size_bytes <= net__payload_sizes[i]) {
            return node->net->payloads[i];
        }
    }
    return NULL;
}

uint8_t *net_payload_new(const net_node_t *node, uint32_t size_bytes)
{
    sim_pool_t *const pool = payload_pool(node, size_bytes);
    return pool != NULL ? sim_pool_get(pool, &node->sim) : sim_alloc(size_bytes);
}

void net_payload_free(const net_node_t *node, uint8_t *payload, uint32_t size_bytes)
{
    sim_pool_t *const pool = payload_pool(node, size_bytes);
    if (pool != NULL) {
        sim_pool_put(pool, &node->sim, payload);
    } else {
        sim_free(payload);
    }
}

uint8_t *net_packet_add_contents(net_node_t *node, net_packet_t *packet)
{
    SIM_CHECK(!packet->contents && packet->payload_bytes != 0);
    packet->contents = true;
    net_packet_aside_t *const aside = net_packet_aside(packet);
    aside->payload = net_payload_new(node, packet->payload_bytes);
    return aside->payload;
}

void net_packet_drop_contents(net_node_t *node, net_packet_t *packet)
{
    net_payload_free(node, net_packet_aside(packet)->payload, packet->payload_bytes);
    packet->contents = false;
}

void net_packet_trim(net_node_t *node, net_packet_t *packet, uint32_t frame_bytes)
{
    const uint32_t headers = (uint32_t)packet->frame_bytes - packet->payload_bytes;
    frame_bytes = SIM_MAX(headers, frame_bytes);
    SIM_ASSERT(frame_bytes <= packet->frame_bytes);
    if (packet->contents) {
        net_packet_drop_contents(node, packet);
    }
    node->tally.bytes_dropped += packet->frame_bytes - frame_bytes;
    packet->frame_bytes = (uint16_t)frame_bytes;
    packet->payload_bytes = 0;
}

bool net_conservation_ok(const net_t *net, sim_message_t *message)
{
    net_tally_t sums;
    uint64_t in_flight = 0;
    net_conservation(net, &sums, &in_flight);
    if (sums.created != sums.delivered + sums.dropped + in_flight ||
        (in_flight == 0 && sums.bytes_created != sums.bytes_delivered + sums.bytes_dropped)) {
        (void)sim_fail(message, SIM_ERR_STATE,
                       "packets are not conserved: created %" PRIu64 ", delivered %" PRIu64
                       ", dropped %" PRIu64 ", in flight %" PRIu64 "; bytes %" PRIu64 ", %" PRIu64
                       ", %" PRIu64,
                       sums.created, sums.delivered, sums.dropped, in_flight, sums.bytes_created,
                       sums.bytes_delivered, sums.bytes_dropped);
        return false;
    }
    for (size_t i = 0; i < net->node_count; i++) {
        const net_node_t *const node = net->nodes[i];
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            if (net_port_exists(node, p) && node->ports[p].lossless_guaranteed &&
                !node->ports[p].peer->odd_class && node->ports[p].counted &&
                node->ports[p].rare->drops[NET_DROP_HEADROOM_FULL] > 0) {
                (void)sim_fail(message, SIM_ERR_STATE,
                               "%s dropped %" PRIu64 " packet%s of a lossless class",
                               net_port_name(&node->ports[p]),
                               node->ports[p].rare->drops[NET_DROP_HEADROOM_FULL],
                               sim_plural(node->ports[p].rare->drops[NET_DROP_HEADROOM_FULL]));
                return false;
            }
        }
    }
    return true;
}

void net_know_scale_up(net_t *net)
{
    net->knows_scale_up = true;
}

bool net_knows_scale_up(const net_t *net)
{
    return net->knows_scale_up;
}
