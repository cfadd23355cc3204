// SPDX-License-Identifier: Apache-2.0
// net/scale_up/links.c - the links of accelerators (docs/models/scale-up.md): trains, credits,
// repetitions, and the loop of the nodes at both ends.
//
// A train occupies its link for the time of all its bytes, and the next node may send it on when
// its first packet is there. So trains delay nothing on an idle path, as if each packet were
// simulated; only the order of packets of different messages is as coarse as trains are. Its room
// behind the link is free again when its first packet has left, for the same reason.
//
// Credits and acknowledgements ride in flits of the other direction and take no time there. A
// packet with an error costs the link the time until the sender knows of it, and its own: all that
// followed it is sent again (go-back-N).
#include "net/port_metrics.h"
#include "net/port_queue.h"
#include "net/scale_up/flits.h"

#define CREDIT_VC_BITS 4u // a credit travels as its bytes << CREDIT_VC_BITS | virtual channel

static net__flit_node_t *flit_node_of(sim_node_t *node)
{
    return (net__flit_node_t *)(void *)node;
}

// -- time on the link

static uint64_t rate_of(const net_port_t *port)
{
    const uint64_t degraded_bps = port->disturbed ? port->rare->degraded_bps : 0;
    return degraded_bps != 0 ? degraded_bps : port->line->rate_bps;
}

// Returns the time of a train on its link. A train that follows back to back takes over the
// remainder of the division.
static sim_time_t train_time(net_port_t *port, uint64_t bytes)
{
    const bool back_to_back = port->busy_until_ps == port->node->sim.now_ps;
    const uint64_t numerator = bytes * 8 * SIM_PS_PER_S + (back_to_back ? port->remainder : 0);
    port->remainder = numerator % rate_of(port);
    return numerator / rate_of(port);
}

static sim_time_t time_of(const net_port_t *port, uint64_t bytes)
{
    return bytes * 8 * SIM_PS_PER_S / rate_of(port);
}

sim_time_t net__train_rest_ps(const net__flit_node_t *node, const net_port_t *port,
                              uint32_t frame_bytes)
{
    return time_of(port, frame_bytes - SIM_MIN(frame_bytes, node->packet_bytes));
}

// Returns the time that a link loses because packets of a train are damaged.
static sim_time_t retry_time(net__flit_node_t *node, net_port_t *port, uint32_t bytes)
{
    const sim_ratio_t error_rate = port->line->config->loss_rate;
    if (SIM_LIKELY(error_rate.num == 0)) {
        return 0;
    }
    uint64_t errors = 0;
    for (uint32_t at = 0; at < bytes; at += node->packet_bytes) {
        while (sim_random_chance(&node->flits[port->index].random, error_rate)) {
            errors++; // a repetition may be damaged, too
        }
    }
    if (errors == 0) {
        return 0;
    }
    const sim_time_t lost_ps =
        errors * (node->retry_ps + time_of(port, SIM_MIN(bytes, node->packet_bytes)));
    port->counted = 1;
    port->rare->retries += errors;
    port->rare->retry_ps += lost_ps;
    return lost_ps;
}

// -- credits

bool net__flit_may_send(net__flit_node_t *node, net_port_t *port, uint32_t vc, uint32_t bytes)
{
    net__flit_port_t *const flits = &node->flits[port->index];
    const bool may = flits->room_bytes[vc] >= bytes;
    if (SIM_UNLIKELY(!may) && (flits->waits & 1u << vc) == 0) {
        flits->waits |= (uint8_t)(1u << vc);
        flits->wait_since_ps[vc] = node->node.sim.now_ps;
    }
    return may;
}

void net__flit_free(net__flit_node_t *node, uint32_t port, uint32_t vc, uint32_t bytes)
{
    net__flit_port_t *const flits = &node->flits[port];
    flits->freed_bytes[vc] += bytes;
    if (flits->freed_bytes[vc] >= node->credit_step_bytes) {
        const uintptr_t credit = (uintptr_t)flits->freed_bytes[vc] << CREDIT_VC_BITS | vc;
        flits->freed_bytes[vc] = 0;
        sim_send(&node->node.sim, flits->credits,
                 node->node.sim.now_ps + node->node.ports[port].line->delay_ps, (void *)credit);
    }
}

static void take_credit(net__flit_node_t *node, net_port_t *port, uintptr_t credit)
{
    net__flit_port_t *const flits = &node->flits[port->index];
    const uint32_t vc = credit & ((1u << CREDIT_VC_BITS) - 1);
    flits->room_bytes[vc] += credit >> CREDIT_VC_BITS;
    SIM_ASSERT(flits->room_bytes[vc] <= node->config->credit_bytes);
    if ((flits->waits & 1u << vc) != 0) {
        flits->waits &= (uint8_t) ~(1u << vc);
        port->counted = 1;
        port->rare->credit_waits++;
        port->rare->credit_wait_ps += node->node.sim.now_ps - flits->wait_since_ps[vc];
        net__flit_wake(node, port);
    }
}

// -- trains

uint32_t net__train_bytes(const net__flit_node_t *node, uint32_t payload_bytes,
                          uint32_t wanted_bytes)
{
    if (wanted_bytes == 0) {
        return (uint32_t)net_scale_up_wire_bytes(node->config, payload_bytes);
    }
    const uint64_t packet_bytes = net_scale_up_packet_bytes(node->config);
    const uint64_t requests = (wanted_bytes + packet_bytes - 1) / packet_bytes;
    return (uint32_t)(requests * net_scale_up_wire_bytes(node->config, 0));
}

net_packet_t *net__train_new(net__flit_node_t *node, net_put_t *put, uint32_t vc,
                             uint32_t payload_bytes, uint32_t wanted_bytes)
{
    net_packet_t *const packet =
        net_packet_new(&node->node, net__train_bytes(node, payload_bytes, wanted_bytes));
    *packet = (net_packet_t){
        .frame_bytes = packet->frame_bytes,
        .payload_bytes = (uint16_t)payload_bytes,
        .priority = (uint8_t)vc,
        .kind = NET_PACKET_ROCE,
        .train = {.put = put, .wanted_bytes = wanted_bytes},
    };
    return packet;
}

void net__flit_send(net__flit_node_t *node, net_port_t *port, net_packet_t *packet, uint32_t vc,
                    uint32_t bytes)
{
    sim_node_t *const sim = &node->node.sim;
    net__flit_port_t *const flits = &node->flits[port->index];
    SIM_CHECK(flits->room_bytes[vc] >= bytes && sim->now_ps >= port->busy_until_ps);
    flits->room_bytes[vc] -= bytes;
    net_class_t *const class = port->classes[vc];
    class->tx_packets++;
    class->tx_bytes += bytes;
    const sim_time_t start_ps = sim->now_ps + retry_time(node, port, bytes);
    const sim_time_t first_ps = time_of(port, SIM_MIN(bytes, node->packet_bytes));
    port->busy_until_ps = start_ps + train_time(port, bytes);
    sim_send(sim, port->channel, start_ps + first_ps + port->line->delay_ps, packet);
}

bool net__flit_send_queued(net__flit_node_t *node, net_port_t *port, net_queued_t *sent)
{
    for (uint32_t i = 1; i <= NET__VC_COUNT; i++) {
        const uint32_t vc = (port->turn + i) % NET__VC_COUNT;
        if ((port->waiting & 1u << vc) != 0 &&
            net__flit_may_send(node, port, vc, net_queue_head(port->classes[vc])->frame_bytes)) {
            *sent = net_queue_take(port, vc);
            port->turn = (uint8_t)vc;
            net__flit_send(node, port, sent->packet, vc, sent->frame_bytes);
            return true;
        }
    }
    return false;
}

void net__flit_wake(net__flit_node_t *node, net_port_t *port)
{
    if (net_port_idle(port)) {
        node->ops->serve(node, port);
    } else {
        net_port_wake(port);
    }
}

// -- the loop

static void take(sim_node_t *sim, const sim_event_t *event)
{
    net__flit_node_t *const node = flit_node_of(sim);
    const uint32_t ports = node->node.port_count;
    if (event->kind == SIM_EVENT_TIMER) {
        event->timer->fn(sim, event->timer);
    } else if (event->kind == SIM_EVENT_WAKE) {
        net_port_t *const port = &node->node.ports[event->port];
        port->wake_pending = NET_WAKE_NONE;
        if (!port->down) {
            node->ops->serve(node, port);
        }
    } else if (event->port < ports) {
        net_port_t *const ingress = &node->node.ports[event->port];
        net_port_count_rx_only(ingress, event->message);
        node->ops->train(node, ingress, event->message);
    } else if (event->port < 2 * ports) {
        take_credit(node, &node->node.ports[event->port - ports], (uintptr_t)event->message);
    } else {
        node->ops->put(node, event->message);
    }
}

static void arrive(sim_node_t *sim, uint32_t port, void *message)
{
    take(sim, &(sim_event_t){.kind = SIM_EVENT_ARRIVAL, .port = port, .message = message});
}

static void run(sim_node_t *sim)
{
    sim_event_t event;
    while (sim_node_next(sim, &event)) {
        take(sim, &event);
    }
}

static void add_digest(const sim_node_t *node, sim_digest_t *digest)
{
    const net_node_t *const own = (const net_node_t *)(const void *)node;
    net_node_digest(own, digest);
    for (uint32_t i = 0; i < own->port_count; i++) {
        const net_port_rare_t *const rare = own->ports[i].rare;
        sim_digest_add(digest, own->ports[i].counted ? rare->credit_wait_ps ^ rare->retry_ps : 0);
    }
}

static void destroy(sim_node_t *sim)
{
    net__flit_node_t *const node = flit_node_of(sim);
    if (node->ops->fini != NULL) {
        node->ops->fini(node);
    }
    sim_free(node->flits);
    net_node_fini(&node->node);
    sim_free(node);
}

static const sim_node_ops_t node_ops = {
    .kind = "scale-up",
    .run = run,
    .arrive = arrive,
    .take = take,
    .digest = add_digest,
    .destroy = destroy,
};

bool net__is_flit_node(const net_node_t *node)
{
    return node->sim.ops == &node_ops;
}

static void built(net_node_t *built_node)
{
    net__flit_node_t *const node = flit_node_of(&built_node->sim);
    sim_t *const sim = net_sim(built_node->net);
    if (!sim_node_is_here(&built_node->sim)) {
        return;
    }
    node->flits = sim_alloc_array(built_node->port_count + 1, sizeof(*node->flits));
    for (uint32_t i = 0; i < built_node->port_count; i++) {
        const net_port_t *const port = &built_node->ports[i];
        net__flit_port_t *const flits = &node->flits[i];
        net_node_t *const peer = port->peer->node;
        flits->credits =
            sim_channel_create(sim, &built_node->sim, &peer->sim,
                               peer->port_count + port->peer->index, port->line->delay_ps);
        for (uint32_t vc = 0; vc < NET__VC_COUNT; vc++) {
            flits->room_bytes[vc] = node->config->credit_bytes;
        }
        sim_random_init(&flits->random, sim_options(sim)->seed, port->uid, "scale-up-errors");
    }
    if (node->ops->built != NULL) {
        node->ops->built(node);
    }
}

// Serves ports again after links have changed. The nodes need no routes: each switch leads to all
// accelerators of its host.
static void set_routes(net_node_t *changed, const net_routes_t *routes)
{
    net__flit_node_t *const node = flit_node_of(&changed->sim);
    (void)routes;
    for (uint32_t i = 0; node->flits != NULL && i < changed->port_count; i++) {
        if (!changed->ports[i].down) {
            net_port_wake(&changed->ports[i]);
        }
    }
}

static const net_port_t *route(const net_node_t *node, const net_routes_t *routes, uint32_t source,
                               uint32_t interface, uint32_t flow_hash)
{
    (void)node;
    (void)routes;
    (void)source;
    (void)interface;
    (void)flow_hash;
    return NULL;
}

static const net_forward_ops_t forward_ops = {.set_routes = set_routes, .route = route};

void net__flit_node_init(net_t *net, net__flit_node_t *node, const net__flit_ops_t *ops,
                         const net_scale_up_config_t *config, const char *name)
{
    const uint64_t train_bytes = net_scale_up_train_bytes(config);
    const uint64_t most_bytes = net_scale_up_wire_bytes(config, train_bytes);
    node->ops = ops;
    node->config = config;
    node->packet_bytes =
        (uint32_t)net_scale_up_wire_bytes(config, net_scale_up_packet_bytes(config));
    node->train_bytes = (uint32_t)train_bytes;
    node->retry_ps = config->retry_ps == SIM_AUTO ? 2 * config->delay_ps : config->retry_ps;
    node->credit_step_bytes = SIM_MIN(config->credit_bytes / 8, config->credit_bytes - most_bytes);
    node->node.scale_up = true;
    net_node_init(net, &node->node, NET_NODE_FORWARDER, &node_ops, name, built);
    net_node_forward(&node->node, &forward_ops);
}
