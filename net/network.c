// SPDX-License-Identifier: Apache-2.0
// net/network.c - building a network: ports from links, addresses, the changes of links over time.
#include "net/loss.h"
#include "net/network_internal.h"
#include "net/switch/pint_hpcc.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/order/fifo.h"
#include "net/frame.h"
#include "net/telemetry.h"

// A payload takes the smallest that holds it; what is longer than a path MTU is no packet's, and is
// allocated by itself.
static const uint32_t payload_sizes[NET_PAYLOAD_SIZES] = {256, 1024, 4096};

net_t *net_create(sim_t *sim, const net_config_t *config)
{
    net_t *const net = sim_alloc(sizeof(*net));
    net->sim = sim;
    net->config = *config;
    net->packets = sim_pool_create(sizeof(net_packet_t), sizeof(net_packet_aside_t));
    for (uint32_t i = 0; i < NET_PAYLOAD_SIZES; i++) {
        net->payloads[i] = sim_pool_create(payload_sizes[i], 0);
    }
    return net;
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
    for (uint32_t i = 0; i < NET_PAYLOAD_SIZES; i++) {
        sim_pool_destroy(net->payloads[i]);
    }
    sim_free(net->routes);
    if (net->pint != NULL) {
        net__pint_hpcc_destroy(net->pint->hpcc);
    }
    sim_free(net->pint);
    net__decisions_free(net);
    net__loss_lists_free(net);
    sim_free(net->ports);
    sim_free(net->change_timers);
    sim_free(net->changes);
    sim_free(net->leaf_of);
    sim_free(net->leaves);
    sim_free(net->attachments);
    sim_free(net->interfaces);
    sim_free(net->links);
    sim_free(net->nodes);
    sim_free(net);
}

void net_node_init(net_t *net,
                   net_node_t *node,
                   net_node_kind_t kind,
                   const sim_node_ops_t *ops,
                   const char *name,
                   net_node_built_fn built)
{
    SIM_CHECK(!net->built);
    sim_node_register(net->sim, &node->sim, ops, name);
    SIM_CHECKF(node->sim.index == net->node_count,
               "%s: nodes of a network must be all nodes of its simulation",
               name);
    node->kind = kind;
    node->net = net;
    node->packets = net->packets;
    node->built = built;
    SIM_GROW(net->nodes, net->node_count, &net->node_capacity);
    net->nodes[net->node_count++] = node;
}

void net_node_forward(net_node_t *node, const net_forward_ops_t *ops)
{
    SIM_CHECKF(node->kind != NET_NODE_HOST, "%s: hosts do not forward", node->sim.name);
    SIM_CHECK(ops->set_routes != NULL && ops->route != NULL);
    node->forward = ops;
}

uint32_t net_link_add(net_t *net, net_node_t *a, net_node_t *b, const net_link_config_t *config)
{
    SIM_CHECK(!net->built);
    SIM_CHECK(a != b);
    SIM_CHECK(config->rate_bps > 0 && config->delay_ps >= 1);
    SIM_CHECK(a->port_count < SIM_PORTS_PER_NODE_MAX && b->port_count < SIM_PORTS_PER_NODE_MAX);
    SIM_GROW(net->links, net->link_count, &net->link_capacity);
    net->links[net->link_count] = (net_link_t){a, b, a->port_count++, b->port_count++, *config};
    return (uint32_t)net->link_count++;
}

void net_link_change_at(net_t *net, uint32_t link, sim_time_t time_ps, bool up)
{
    SIM_CHECK(!net->built);
    SIM_CHECK(link < net->link_count);
    SIM_GROW(net->changes, net->change_count, &net->change_capacity);
    size_t i = net->change_count++;
    while (i > 0 && net->changes[i - 1].time_ps > time_ps) {
        net->changes[i] = net->changes[i - 1];
        i--;
    }
    net->changes[i] = (net_link_change_t){link, up, time_ps};
}

// -- build

static void connect_ports(net_t *net)
{
    uint32_t uid = 0;
    net->ports = sim_alloc_lines(sizeof(net_port_t) * (net->link_count * 2 + 1));
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        node->ports = net->ports + uid;
        for (uint32_t p = 0; p < node->port_count; p++) {
            net__port_init(&node->ports[p], node, p);
            node->ports[p].uid = uid++;
        }
    }
    for (size_t i = 0; i < net->link_count; i++) {
        const net_link_t *const link = &net->links[i];
        net_port_t *const ends[2] = {&link->a->ports[link->a_port], &link->b->ports[link->b_port]};
        for (int e = 0; e < 2; e++) {
            net_port_t *const port = ends[e];
            port->peer = ends[1 - e];
            port->link = (uint32_t)i;
            port->config = link->config;
            port->delay_ps = link->config.delay_ps;
            port->rate_bps = link->config.rate_bps;
            const uint64_t ps_bits = 8 * SIM_PS_PER_S;
            port->whole_ns = net->config.whole_ns;
            port->overhead_bytes = net->config.link_overhead ? NET_LINK_OVERHEAD_BYTES : 0;
            const uint64_t exact_ps = ps_bits / port->rate_bps;
            port->exact_ps_per_byte =
                ps_bits % port->rate_bps == 0 && exact_ps <= UINT32_MAX ? (uint32_t)exact_ps : 0;
            const bool usual = net->config.link_overhead && !net->config.whole_ns;
            port->ps_per_byte =
                usual && ps_bits % port->rate_bps == 0 ? ps_bits / port->rate_bps : 0;
            port->gap_ps = net->config.link_overhead ? NET_GAP_BYTES * ps_bits / port->rate_bps : 0;
            port->delay_less_gap_ps = port->delay_ps - port->gap_ps;
            net__port_update_special(port);
            port->channel = sim_channel_create(net->sim,
                                               &port->node->sim,
                                               &port->peer->node->sim,
                                               port->peer->index,
                                               port->delay_ps);
            sim_channel_keeps_number(&port->node->sim, port->channel, port->index);
            sim_random_init(&port->random, sim_options(net->sim)->seed, port->uid, "link-loss");
        }
        net__loss_build(net, (uint32_t)i);
    }
}

static int compare_peers(const void *a, const void *b)
{
    const net_port_t *const x = *(const net_port_t *const *)a;
    const net_port_t *const y = *(const net_port_t *const *)b;
    if (x->peer->node->sim.index != y->peer->node->sim.index) {
        return x->peer->node->sim.index < y->peer->node->sim.index ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

// "a->b", with "#2" and so on from the second of parallel links on.
static void name_ports(net_node_t *node)
{
    net_port_t **const sorted = sim_alloc_array(node->port_count + 1, sizeof(*sorted));
    for (uint32_t p = 0; p < node->port_count; p++) {
        sorted[p] = &node->ports[p];
    }
    qsort(sorted, node->port_count, sizeof(*sorted), compare_peers);
    uint32_t repeat = 1;
    for (uint32_t p = 0; p < node->port_count; p++) {
        const char *const peer = sorted[p]->peer->node->sim.name;
        repeat = p > 0 && sorted[p - 1]->peer->node == sorted[p]->peer->node ? repeat + 1 : 1;
        sorted[p]->name = repeat == 1 ? sim_format("%s->%s", node->sim.name, peer)
                                      : sim_format("%s->%s#%u", node->sim.name, peer, repeat);
    }
    sim_free(sorted);
}

static void give_addresses(net_t *net)
{
    for (size_t i = 0; i < net->node_count; i++) {
        if (net->nodes[i]->kind == NET_NODE_HOST) {
            net->interface_count += net->nodes[i]->port_count;
        }
    }
    net->interfaces = sim_alloc_array(net->interface_count + 1, sizeof(*net->interfaces));
    net->attachments = sim_alloc_array(net->interface_count + 1, sizeof(*net->attachments));
    net->leaf_of = sim_alloc_array(net->node_count + 1, sizeof(*net->leaf_of));
    // One for each forwarding node that has hosts, and one for each host of fixed routes.
    net->leaves = sim_alloc_array(net->node_count + 1, sizeof(*net->leaves));
    memset(net->leaf_of, 0xff, (net->node_count + 1) * sizeof(*net->leaf_of));
    uint32_t next = 0;
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        for (uint32_t p = 0; node->kind == NET_NODE_HOST && p < node->port_count; p++) {
            net_port_t *const port = &node->ports[p];
            net_node_t *const leaf = port->peer->node;
            net->attachments[next] = (net_attachment_t){NET_NO_LEAF, port->peer->index};
            if (leaf->forward != NULL) {
                uint32_t *const number = &net->leaf_of[leaf->sim.index];
                if (*number == NET_NO_LEAF) {
                    *number = net->leaf_count;
                    net->leaves[net->leaf_count++] = leaf;
                }
                net->attachments[next].leaf = *number;
            }
            port->interface = next;
            net->interfaces[next++] = port;
        }
    }
}

static void set_routes(const net_t *net, net_node_t *node, size_t state)
{
    if (node->forward != NULL) {
        node->forward->set_routes(node, &net->routes[state][node->sim.index]);
    }
}

// State s + 1 of the links is after the first s + 1 changes.
static void compute_states(net_t *net)
{
    bool *const up = sim_alloc_array(net->link_count + 1, sizeof(*up));
    memset(up, true, net->link_count);
    net->state_count = net->change_count + 1;
    net->routes = sim_alloc_array(net->state_count, sizeof(*net->routes));
    net->routes[0] = net__routes_compute(net, up);
    for (size_t i = 0; i < net->change_count; i++) {
        up[net->changes[i].link] = net->changes[i].up;
        net->routes[i + 1] = net__routes_compute(net, up);
    }
    sim_free(up);
}

// Ends of a link notice at once, everyone's routes follow later. Two walks over the same list of
// changes per node: even timers for the node's own ports, odd ones for its routes.
static void arm_next(net_change_timer_t *change, bool routes)
{
    const net_t *const net = change->net;
    if (change->next < net->change_count) {
        sim_timer_arm(&change->node->sim,
                      &change->timer,
                      net->changes[change->next].time_ps +
                          (routes ? net->config.convergence_ps : 0));
    }
}

// When a link goes down the next time, from the change with that index on.
static sim_time_t next_down(const net_t *net, uint32_t link, size_t from)
{
    for (size_t i = from; i < net->change_count; i++) {
        if (net->changes[i].link == link && !net->changes[i].up) {
            return net->changes[i].time_ps;
        }
    }
    return SIM_TIME_NEVER;
}

static void ports_change(sim_node_t *sim_node, sim_timer_t *timer)
{
    net_change_timer_t *const change = SIM_CONTAINER_OF(timer, net_change_timer_t, timer);
    const net_link_change_t *const what = &change->net->changes[change->next++];
    const net_link_t *const link = &change->net->links[what->link];
    (void)sim_node;
    if (link->a == change->node || link->b == change->node) {
        const bool is_a = link->a == change->node;
        net_port_t *const port =
            is_a ? &link->a->ports[link->a_port] : &link->b->ports[link->b_port];
        net__port_set_down(port, !what->up, next_down(change->net, what->link, change->next));
    }
    arm_next(change, false);
}

static void routes_change(sim_node_t *sim_node, sim_timer_t *timer)
{
    net_change_timer_t *const change = SIM_CONTAINER_OF(timer, net_change_timer_t, timer);
    (void)sim_node;
    set_routes(change->net, change->node, ++change->next);
    arm_next(change, true);
}

static void schedule_changes(net_t *net)
{
    if (net->change_count == 0) {
        return;
    }
    for (size_t i = 0; i < net->change_count; i++) {
        const net_link_t *const link = &net->links[net->changes[i].link];
        const sim_time_t down_ps = next_down(net, net->changes[i].link, 0);
        net_port_t *const ends[2] = {&link->a->ports[link->a_port], &link->b->ports[link->b_port]};
        for (int e = 0; e < 2; e++) {
            net__port_set_down(ends[e], false, down_ps);
            ends[e]->lossless_guaranteed = false; // a link that went down has forgotten its pauses
        }
    }
    net->change_timers = sim_alloc_array(net->node_count * 2, sizeof(*net->change_timers));
    for (size_t i = 0; i < net->node_count * 2; i++) {
        net_change_timer_t *const change = &net->change_timers[i];
        const bool routes = i % 2 == 1;
        change->net = net;
        change->node = net->nodes[i / 2];
        sim_timer_init_background(&change->timer, routes ? routes_change : ports_change);
        arm_next(change, routes);
    }
}

sim_err_t net_build(net_t *net, sim_message_t *message)
{
    SIM_CHECK(!net->built);
    for (size_t i = 0; i < net->node_count; i++) {
        if (net->nodes[i]->kind == NET_NODE_HOST && net->nodes[i]->port_count == 0) {
            return sim_fail(message,
                            SIM_ERR_INVALID,
                            "host %s has no link, expected hosts that are joined by links",
                            net->nodes[i]->sim.name);
        }
        SIM_CHECKF(net->nodes[i]->kind == NET_NODE_HOST || net->nodes[i]->forward != NULL,
                   "%s is no host and does not forward",
                   net->nodes[i]->sim.name);
    }
    for (size_t i = 0; i < net->link_count; i++) {
        const sim_err_t odd = net_loss_check(&net->links[i].config, message);
        if (odd != SIM_OK) {
            return odd;
        }
    }
    net__decisions_prepare(net);
    const sim_err_t error = net__telemetry_build(net, message);
    if (error != SIM_OK) {
        return error;
    }
    connect_ports(net);
    net__losses_prepare(net);
    for (size_t i = 0; i < net->node_count; i++) {
        name_ports(net->nodes[i]);
    }
    net->built = true;
    give_addresses(net);
    if (net->interface_count == 0) {
        return sim_fail(message,
                        SIM_ERR_INVALID,
                        "the network has no host, expected hosts that are joined by links");
    }
    if (net->interface_count > NET_INTERFACES_MAX) {
        return sim_fail(message,
                        SIM_ERR_RANGE,
                        "the network has %zu interfaces, expected at most %u: no more addresses",
                        net->interface_count,
                        NET_INTERFACES_MAX);
    }
    net__fixed_prepare(net);
    compute_states(net);
    const sim_err_t leads = net__fixed_check(net, message);
    if (leads != SIM_OK) {
        return leads;
    }
    for (size_t i = 0; i < net->node_count; i++) {
        set_routes(net, net->nodes[i], 0);
        if (net->nodes[i]->built != NULL) {
            net->nodes[i]->built(net->nodes[i]);
        }
    }
    schedule_changes(net);
    return SIM_OK;
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

net_node_t *net_node_at(const net_t *net, size_t index)
{
    SIM_CHECK(index < net->node_count);
    return net->nodes[index];
}

net_node_t *net_node_find(const net_t *net, const char *name)
{
    for (size_t i = 0; i < net->node_count; i++) {
        if (strcmp(net->nodes[i]->sim.name, name) == 0) {
            return net->nodes[i];
        }
    }
    return NULL;
}

size_t net_link_count(const net_t *net)
{
    return net->link_count;
}

const net_link_t *net_link_at(const net_t *net, size_t index)
{
    SIM_CHECK(index < net->link_count);
    return &net->links[index];
}

size_t net_interface_count(const net_t *net)
{
    return net->interface_count;
}

net_port_t *net_interface_port(const net_t *net, uint32_t interface)
{
    SIM_CHECK(interface < net->interface_count);
    return net->interfaces[interface];
}

uint32_t net_port_interface(const net_port_t *port)
{
    return port->interface;
}

const char *net_port_name(const net_port_t *port)
{
    return port->name;
}

void net_conservation(const net_t *net, net_tally_t *sums, uint64_t *in_flight)
{
    *sums = (net_tally_t){0};
    for (size_t i = 0; i < net->node_count; i++) {
        const net_tally_t *const tally = &net->nodes[i]->tally;
        sums->created += tally->created;
        sums->delivered += tally->delivered;
        sums->dropped += tally->dropped;
        sums->bytes_created += tally->bytes_created;
        sums->bytes_delivered += tally->bytes_delivered;
        sums->bytes_dropped += tally->bytes_dropped;
    }
    *in_flight = sim_pool_live(net->packets);
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
        if (size_bytes <= payload_sizes[i]) {
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

bool net_conservation_ok(const net_t *net, sim_message_t *message)
{
    net_tally_t sums;
    uint64_t in_flight = 0;
    net_conservation(net, &sums, &in_flight);
    if (sums.created != sums.delivered + sums.dropped + in_flight ||
        (in_flight == 0 && sums.bytes_created != sums.bytes_delivered + sums.bytes_dropped)) {
        (void)sim_fail(message,
                       SIM_ERR_STATE,
                       "packets are not conserved: created %" PRIu64 ", delivered %" PRIu64
                       ", dropped %" PRIu64 ", in flight %" PRIu64 "; bytes %" PRIu64 ", %" PRIu64
                       ", %" PRIu64,
                       sums.created,
                       sums.delivered,
                       sums.dropped,
                       in_flight,
                       sums.bytes_created,
                       sums.bytes_delivered,
                       sums.bytes_dropped);
        return false;
    }
    for (size_t i = 0; i < net->node_count; i++) {
        const net_node_t *const node = net->nodes[i];
        for (uint32_t p = 0; p < node->port_count; p++) {
            if (node->ports[p].lossless_guaranteed &&
                node->ports[p].drops[NET_DROP_HEADROOM_FULL] > 0) {
                (void)sim_fail(message,
                               SIM_ERR_STATE,
                               "%s dropped %" PRIu64 " packets of a lossless class",
                               node->ports[p].name,
                               node->ports[p].drops[NET_DROP_HEADROOM_FULL]);
                return false;
            }
        }
    }
    return true;
}

// -- packets

uint32_t net_flow_hash(const net_t *net,
                       uint32_t source,
                       uint32_t destination,
                       uint16_t source_port)
{
    if (net->config.ecmp == NET_ECMP_MURMUR3) {
        return source_port; // each switch hashes it with all the rest
    }
    // The destination port and the protocol are the same for all RoCEv2 packets.
    const uint64_t addresses = ((uint64_t)source << 32) | destination;
    return (uint32_t)(sim_mix64(sim_mix64(addresses) ^ source_port) >> 32);
}

void net_port_mac(const net_port_t *port, uint8_t mac[6])
{
    const uint8_t bytes[6] = {0x02, // locally administered, unicast
                              0x00,
                              (uint8_t)(port->uid >> 24),
                              (uint8_t)(port->uid >> 16),
                              (uint8_t)(port->uid >> 8),
                              (uint8_t)port->uid};
    memcpy(mac, bytes, sizeof(bytes));
}

void net_interface_ip(const net_t *net, uint32_t interface, uint8_t ip[16])
{
    const uint32_t host = interface + 1;
    memset(ip, 0, 16);
    if (net->config.ipv6) {
        ip[0] = 0xfd;
        ip[12] = (uint8_t)(host >> 24);
        ip[13] = (uint8_t)(host >> 16);
        ip[14] = (uint8_t)(host >> 8);
        ip[15] = (uint8_t)host;
    } else {
        ip[0] = 10;
        ip[1] = (uint8_t)(host >> 16);
        ip[2] = (uint8_t)(host >> 8);
        ip[3] = (uint8_t)host;
    }
}

static void put_extensions(const net_packet_t *packet, net_frame_t *frame)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t extensions = net_frame_extensions(packet->opcode);
    if (extensions & NET_EXT_RETH) {
        frame->reth.address = aside->reth.address;
        frame->reth.rkey = aside->reth.rkey;
        frame->reth.length = aside->reth.length;
    }
    if (extensions & NET_EXT_AETH) {
        frame->aeth.syndrome = (uint8_t)(packet->aeth >> 24);
        frame->aeth.msn = packet->aeth & 0xffffff;
    }
    if (extensions & NET_EXT_DETH) {
        frame->deth.qkey = aside->deth.qkey;
        frame->deth.source_qp = aside->deth.source_qp;
    }
    if (extensions & NET_EXT_ATOMIC) {
        frame->atomic.address = aside->atomic.address;
        frame->atomic.rkey = aside->atomic.rkey;
        frame->atomic.swap_add = aside->atomic.swap_add;
        frame->atomic.compare = aside->atomic.compare;
    }
    if (extensions & NET_EXT_ATOMIC_ACK) {
        frame->atomic_original = aside->atomic_original;
    }
    if (extensions & NET_EXT_IMMDT) {
        frame->immediate = aside->immediate;
    }
    if (extensions & NET_EXT_IETH) {
        frame->invalidate_rkey = aside->immediate;
    }
}

static void put_telemetry(const net_t *net, const net_packet_t *packet, net_frame_t *frame)
{
    frame->telemetry = packet->telemetry;
    if (packet->telemetry == NET_TELEMETRY_INT) {
        frame->hop_count = packet->hop_count;
        frame->reserved_hops = (uint8_t)net->config.int_reserved_hops;
        frame->path_id = packet->path_id;
        memcpy(frame->hops,
               net_packet_telemetry(packet),
               packet->hop_count * sizeof(frame->hops[0]));
    } else if (packet->telemetry == NET_TELEMETRY_PINT) {
        frame->digest = packet->digest;
        frame->digest_bytes = (uint8_t)net->pint->digest_bytes;
    }
}

void net_packet_frame(const net_port_t *port, const net_packet_t *packet, net_frame_t *frame)
{
    const net_t *const net = port->node->net;
    *frame = (net_frame_t){0};
    if (packet->kind == NET_PACKET_PFC) {
        static const uint8_t pause_mac[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
        const net_packet_aside_t *const aside = net_packet_aside(packet);
        memcpy(frame->destination_mac, pause_mac, sizeof(pause_mac));
        net_port_mac(port, frame->source_mac);
        frame->is_pfc = true;
        frame->pfc_classes = aside->pfc.classes;
        memcpy(frame->pfc_quanta, aside->pfc.quanta, sizeof(frame->pfc_quanta));
        return;
    }
    const bool routed = net->config.forwarding == NET_FORWARDING_ROUTED;
    net_port_mac(routed ? port : net->interfaces[packet->source], frame->source_mac);
    net_port_mac(routed ? port->peer : net->interfaces[packet->destination],
                 frame->destination_mac);
    frame->tagged = net->config.tagged;
    frame->pcp = packet->priority;
    frame->vlan_id = (uint16_t)net->config.vlan_id;
    frame->ipv6 = net->config.ipv6;
    frame->dscp = packet->dscp;
    frame->ecn = packet->ecn;
    frame->ttl = packet->ttl;
    net_interface_ip(net, packet->source, frame->source_ip);
    net_interface_ip(net, packet->destination, frame->destination_ip);
    frame->udp_source_port = packet->udp_source_port;
    frame->opcode = packet->opcode;
    frame->solicited = packet->solicited;
    frame->migration = packet->opcode != ROCE_CNP; // QPs start migrated (IBA 17.2.8.1)
    frame->pkey = 0xffff;                          // the default partition, full member
    frame->becn = packet->becn;
    frame->destination_qp = packet->destination_qp;
    frame->ack_request = packet->ack_request;
    frame->psn = packet->psn;
    frame->payload_bytes = packet->payload_bytes;
    frame->payload = net_packet_contents(packet);
    put_extensions(packet, frame);
    put_telemetry(net, packet, frame);
}
