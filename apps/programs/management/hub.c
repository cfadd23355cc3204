// SPDX-License-Identifier: Apache-2.0
// apps/programs/management/hub.c - passes messages between the hosts with programs.
#include "apps/programs/management/hub.h"

#include "kernel/event.h"

#include <string.h>

typedef struct place {
    net_node_t *node;
    sim_channel_t *to_hub;
    sim_channel_t *from_hub;
    sim_time_t sent_ps; // when the last message left: their order is kept
} place_t;

struct app__hub {
    sim_node_t node; // first
    net_t *net;
    sim_time_t latency_ps;
    place_t *hosts;
    size_t count;
    size_t capacity;
};

static sim_time_t second_half_ps(const app__hub_t *hub)
{
    return hub->latency_ps - hub->latency_ps / 2;
}

static bool is_for_all(const app__message_t *message)
{
    return message->to_host == message->from_host &&
           (message->kind == APP__MESSAGE_JOINS || message->kind == APP__MESSAGE_LEAVES);
}

static void pass_to(app__hub_t *hub, app__message_t *message)
{
    sim_send(&hub->node, hub->hosts[message->to_host].from_hub,
             hub->node.now_ps + second_half_ps(hub), message);
}

static void pass_on(app__hub_t *hub, app__message_t *message)
{
    if (is_for_all(message)) {
        const size_t bytes = sizeof(*message) + message->bytes;
        for (uint32_t i = 0; i < hub->count; i++) {
            if (i != message->from_host) {
                app__message_t *const copy = memcpy(sim_alloc(bytes), message, bytes);
                copy->to_host = i;
                pass_to(hub, copy);
            }
        }
        sim_free(message);
        return;
    }
    if (message->to_host >= hub->count) {
        message->to_host = message->from_host;
        message->to_id = message->from_id;
        message->kind = APP__MESSAGE_REFUSED;
    }
    pass_to(hub, message);
}

static void run_hub(sim_node_t *node)
{
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        if (event.kind == SIM_EVENT_ARRIVAL) { // it has no other events
            pass_on((app__hub_t *)(void *)node, event.message);
        }
    }
}

static void arrive_at_hub(sim_node_t *node, uint32_t port, void *message)
{
    (void)port;
    pass_on((app__hub_t *)(void *)node, message);
}

static void take_at_hub(sim_node_t *node, const sim_event_t *event)
{
    pass_on((app__hub_t *)(void *)node, event->message);
}

static void destroy_hub(sim_node_t *node)
{
    sim_free(((app__hub_t *)(void *)node)->hosts);
    sim_free(node);
}

static const sim_node_ops_t hub_ops = {
    .kind = "sockets",
    .run = run_hub,
    .arrive = arrive_at_hub,
    .take = take_at_hub,
    .destroy = destroy_hub,
};

app__hub_t *app__hub_create(net_t *net, sim_time_t latency_ps)
{
    app__hub_t *const hub = sim_alloc_lines(sizeof(*hub));
    hub->net = net;
    hub->latency_ps = latency_ps;
    sim_node_register(net_sim(net), &hub->node, &hub_ops, "sockets of programs");
    return hub;
}

// Returns the hub's port of a host: the number of its node, so that the order of messages does not
// depend on which other hosts have programs.
static uint32_t hub_port(const app__hub_t *hub, const net_node_t *host)
{
    return net_node_count(hub->net) < SIM_PORTS_PER_NODE_MAX ? host->sim.index
                                                             : (uint32_t)hub->count;
}

uint32_t app__hub_join(app__hub_t *hub, net_node_t *host,
                       void (*take)(net_node_t *host, uint32_t port, void *message, void *ctx),
                       void *ctx)
{
    sim_t *const sim = net_sim(hub->net);
    const place_t place = {
        .node = host,
        .to_hub = sim_channel_create(sim, &host->sim, &hub->node, hub_port(hub, host),
                                     hub->latency_ps / 2),
        .from_hub =
            sim_channel_create(sim, &hub->node, &host->sim, host->port_count, second_half_ps(hub)),
    };
    nic_host_on_message(host, take, ctx);
    SIM_APPEND(hub->hosts, hub->count, hub->capacity, place);
    return (uint32_t)hub->count - 1;
}

void app__hub_send(app__hub_t *hub, app__message_t *message, sim_time_t now_ps)
{
    place_t *const host = &hub->hosts[message->from_host];
    host->sent_ps = SIM_MAX(host->sent_ps, now_ps);
    sim_send(&host->node->sim, host->to_hub, host->sent_ps + hub->latency_ps / 2, message);
}
