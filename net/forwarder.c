// SPDX-License-Identifier: Apache-2.0
// net/forwarder.c - the loop, queues and routes of a forwarding node of a program
// (docs/models/routing.md, "Other forwarders").
#include "net/forwarder.h"
#include "net/paths.h"
#include "net/port_metrics.h"
#include "net/port_pause.h"
#include "net/port_queue.h"
#include "net/ports.h"

static net_forwarder_t *forwarder_of(const sim_node_t *node)
{
    return (net_forwarder_t *)(void *)(uintptr_t)node;
}

// Sends the packet at the head of the first class that may send. No frame is on the link.
static void send_next(net_port_t *port)
{
    port->wake_pending = false;
    const uint8_t ready = port->waiting & (uint8_t)~port->paused;
    if (ready != 0) {
        net_port_transmit(port, net_queue_pop(port, (uint32_t)__builtin_ctz(ready)));
        if ((port->waiting & (uint8_t)~port->paused) != 0) {
            net_port_wake(port);
        }
    }
}

void net_forwarder_send(net_port_t *egress, net_packet_t *packet)
{
    net_queue_push(egress, packet);
    if (net_port_idle(egress)) {
        send_next(egress);
    } else {
        net_port_wake(egress);
    }
}

static void receive(net_forwarder_t *forwarder, net_port_t *ingress, net_packet_t *packet)
{
    net_port_count_rx(ingress, packet);
    if (packet->kind == NET_PACKET_CONTROL) {
        const uint8_t released = net_port_control_received(ingress, packet);
        net_packet_deliver(&forwarder->node, packet);
        if ((released & ingress->waiting) != 0) {
            net_port_wake(ingress);
        }
        return;
    }
    if (forwarder->ops->hop &&
        net_get_config(forwarder->node.net)->forwarding == NET_FORWARDING_ROUTED) {
        if (packet->ttl <= 1) {
            net_port_drop(ingress, packet, NET_DROP_TTL);
            return;
        }
        packet->ttl--;
    }
    forwarder->ops->packet(forwarder, ingress, packet);
}

static void run(sim_node_t *node)
{
    net_forwarder_t *const forwarder = forwarder_of(node);
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        switch (event.kind) {
        case SIM_EVENT_ARRIVAL:
            receive(forwarder, &forwarder->node.ports[event.port], event.message);
            break;
        case SIM_EVENT_WAKE:
            send_next(&forwarder->node.ports[event.port]);
            break;
        case SIM_EVENT_TIMER:
            event.timer->fn(node, event.timer);
            break;
        }
    }
}

static void add_digest(const sim_node_t *node, sim_digest_t *digest)
{
    net_node_digest((const net_node_t *)(const void *)node, digest);
}

static void destroy(sim_node_t *node)
{
    net_forwarder_t *const forwarder = forwarder_of(node);
    if (forwarder->ops->fini != NULL) {
        forwarder->ops->fini(forwarder);
    }
    net_node_fini(&forwarder->node);
    sim_free(forwarder);
}

static const sim_node_ops_t node_ops = {
    .kind = "forwarder",
    .run = run,
    .digest = add_digest,
    .destroy = destroy,
};

static void built(net_node_t *node)
{
    net_forwarder_t *const forwarder = forwarder_of(&node->sim);
    if (forwarder->ops->built != NULL) {
        forwarder->ops->built(forwarder);
    }
}

static void set_routes(net_node_t *node, const net_routes_t *routes)
{
    forwarder_of(&node->sim)->routes = routes;
}

static const net_port_t *route(const net_node_t *node, const net_routes_t *routes, uint32_t source,
                               uint32_t interface, uint32_t flow_hash)
{
    (void)source;
    const uint32_t *ports = NULL;
    const uint32_t count = net_routes_ports(node, routes, interface, &ports);
    return count == 0 ? NULL : net_port_at(node, ports[flow_hash % count]);
}

static const net_forward_ops_t forward_ops = {.set_routes = set_routes, .route = route};

net_port_t *net_forwarder_port(const net_forwarder_t *forwarder, uint32_t interface,
                               uint32_t flow_hash)
{
    const net_node_t *const node = &forwarder->node;
    const uint32_t *ports = NULL;
    const uint32_t count = net_routes_ports(node, forwarder->routes, interface, &ports);
    for (uint32_t tries = 0; tries < count; tries++) {
        net_port_t *const port = &node->ports[ports[(flow_hash + tries) % count]];
        if (!port->down) {
            return port;
        }
    }
    return NULL;
}

void net_forwarder_init(net_t *net, net_forwarder_t *forwarder, const net_forwarder_ops_t *ops,
                        const char *name)
{
    SIM_CHECK(ops->packet != NULL);
    forwarder->ops = ops;
    forwarder->routes = NULL;
    net_node_init(net, &forwarder->node, NET_NODE_FORWARDER, &node_ops, name, built);
    net_node_forward(&forwarder->node, &forward_ops);
}
