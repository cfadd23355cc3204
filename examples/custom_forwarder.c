// SPDX-License-Identifier: Apache-2.0
// examples/custom_forwarder.c - your own switch: it sprays packets over all shortest paths.
//
// Shows net/forwarder.h, which keeps queues, obeys pauses and counts TTLs, net_routes_ports, and
// links that go down. A network may mix such nodes with those of net_switch_create. This one has
// unlimited queues and takes ports of equal cost in turn.
//
// One flow goes from a host at 100 Gbps over four links of 25 Gbps. A switch that hashes the flow
// puts it on one link; the sprayer uses all four and is done in a quarter of the time. When one
// link goes down, it uses three.
#include <stdio.h>

#include "net/forwarder.h"
#include "net/frame_opcodes.h"
#include "net/link_state.h"
#include "net/paths.h"
#include "net/port_metrics.h"
#include "net/port_queue.h"
#include "net/switch.h"

#define PACKETS 4000u
#define PAYLOAD_BYTES 1024u
#define MIDDLE_LINKS 4u
#define GBPS UINT64_C(1000000000)

// -- the forwarder

typedef struct sprayer {
    net_forwarder_t forwarder; // first
    uint32_t turn;
} sprayer_t;

// Returns the next port in turn whose link is up, or NULL.
static net_port_t *choose(sprayer_t *sprayer, uint32_t interface)
{
    net_node_t *const node = &sprayer->forwarder.node;
    const uint32_t *ports = NULL;
    const uint32_t count = net_routes_ports(node, sprayer->forwarder.routes, interface, &ports);
    for (uint32_t tries = 0; tries < count; tries++) {
        net_port_t *const port = &node->ports[ports[sprayer->turn++ % count]];
        if (!port->down) {
            return port;
        }
    }
    return NULL;
}

static void spray(net_forwarder_t *forwarder, net_port_t *ingress, net_packet_t *packet)
{
    net_port_t *const egress = choose((sprayer_t *)(void *)forwarder, packet->destination);
    if (egress == NULL) {
        net_port_drop(ingress, packet, NET_DROP_NO_ROUTE);
        return;
    }
    net_forwarder_send(egress, packet);
}

static const net_forwarder_ops_t sprayer_ops = {.hop = true, .packet = spray};

// -- hosts: one sends, the other counts

typedef struct host {
    net_node_t node; // first
    sim_timer_t start;
    uint64_t received;
    sim_time_t last_ps;
} host_t;

// Sends the packet at the head of the queue of the only class, unless the switch has stopped it.
static void send_next(net_port_t *port)
{
    port->wake_pending = false;
    if ((port->waiting & (uint8_t)~port->paused) != 0) {
        net_port_transmit(port, net_queue_pop(port, 0));
    }
    if ((port->waiting & (uint8_t)~port->paused) != 0) {
        net_port_wake(port);
    }
}

static void start(sim_node_t *node, sim_timer_t *timer)
{
    host_t *const host = (host_t *)(void *)node;
    (void)timer;
    const uint8_t opcode = ROCE_UD | ROCE_SEND_ONLY;
    const uint32_t frame_bytes = net_frame_bytes(opcode, PAYLOAD_BYTES, false, false);
    const uint32_t flow_hash = net_flow_hash(host->node.net, 0, 1, ROCE_SOURCE_PORT_MIN);
    for (uint32_t i = 0; i < PACKETS; i++) {
        net_packet_t *const packet = net_packet_new(&host->node, frame_bytes);
        *packet = (net_packet_t){
            .source = 0,
            .destination = 1,
            .flow_hash = flow_hash,
            .frame_bytes = (uint16_t)frame_bytes,
            .payload_bytes = PAYLOAD_BYTES,
            .udp_source_port = ROCE_SOURCE_PORT_MIN,
            .kind = NET_PACKET_ROCE,
            .ttl = 64,
            .opcode = opcode,
            .psn = i,
            .destination_qp = ROCE_QPN_FIRST,
        };
        net_queue_push(&host->node.ports[0], packet);
    }
    send_next(&host->node.ports[0]);
}

static void host_run(sim_node_t *node)
{
    host_t *const host = (host_t *)(void *)node;
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        switch (event.kind) {
        case SIM_EVENT_ARRIVAL:
            net_port_count_rx(&host->node.ports[event.port], event.message);
            net_packet_deliver(&host->node, event.message);
            host->received++;
            host->last_ps = node->now_ps;
            break;
        case SIM_EVENT_WAKE:
            send_next(&host->node.ports[event.port]);
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
    net_node_fini((net_node_t *)(void *)node);
    sim_free(node);
}

static const sim_node_ops_t host_ops = {
    .kind = "host",
    .run = host_run,
    .digest = add_digest,
    .destroy = destroy,
};

static net_node_t *sprayer_create(net_t *net, const char *name)
{
    sprayer_t *const sprayer = sim_alloc_lines(sizeof(*sprayer)); // the simulation frees it
    net_forwarder_init(net, &sprayer->forwarder, &sprayer_ops, name);
    return &sprayer->forwarder.node;
}

static net_node_t *switch_create(net_t *net, const char *name)
{
    net_switch_config_t config;
    sim_attrs_default(&net_switch_config_attrs, &config);
    return net_switch_create(net, name, &config);
}

static host_t *host_create(net_t *net, const char *name)
{
    host_t *const host = sim_alloc_lines(sizeof(*host));
    net_node_init(net, &host->node, NET_NODE_HOST, &host_ops, name, NULL);
    sim_timer_init(&host->start, start);
    return host;
}

// -- the experiment

typedef struct outcome {
    uint64_t received;
    uint64_t lost;
    sim_time_t end_ps;
    uint64_t used[MIDDLE_LINKS]; // packets on each link in the middle
} outcome_t;

// Runs the experiment. cut_ps: when one of the four links goes down, or NEVER.
static outcome_t run(bool spray, sim_time_t cut_ps)
{
    sim_t *const sim = sim_create(&(sim_options_t){.seed = 1,
                                                   .threads = 1,
                                                   .until_ps = SIM_TIME_NEVER,
                                                   .stall_ps = SIM_PS_PER_S});
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    net_t *const net = net_create(sim, &net_config);
    host_t *const source = host_create(net, "source");
    net_node_t *const left = (spray ? sprayer_create : switch_create)(net, "left");
    net_node_t *const right = (spray ? sprayer_create : switch_create)(net, "right");
    host_t *const sink = host_create(net, "sink");
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    link.rate_bps = 100 * GBPS;
    net_link_add(net, &source->node, left, &link);
    net_link_add(net, right, &sink->node, &link);
    link.rate_bps = 25 * GBPS;
    for (uint32_t i = 0; i < MIDDLE_LINKS; i++) {
        const uint32_t number = net_link_add(net, left, right, &link);
        if (i == 0 && cut_ps != SIM_TIME_NEVER) {
            net_link_change_at(net, number, cut_ps, false);
        }
    }
    sim_message_t message;
    SIM_CHECKF(net_build(net, &message) == SIM_OK, "%s", message.text);
    sim_timer_arm(&source->node.sim, &source->start, 0);
    SIM_CHECK(sim_run(sim) == SIM_ENDED_DONE);
    SIM_CHECKF(net_conservation_ok(net, &message), "%s", message.text);

    outcome_t outcome = {.received = sink->received, .end_ps = sink->last_ps};
    for (uint32_t i = 0; i < MIDDLE_LINKS; i++) {
        const net_port_t *const port = &left->ports[1 + i];
        outcome.used[i] = port->classes[0]->tx_packets;
        outcome.lost += port->rare->drops[NET_DROP_LINK_DOWN];
    }
    sim_destroy(sim);
    net_destroy(net);
    return outcome;
}

static void print(const char *what, const outcome_t *outcome)
{
    printf("%-28s %8.1f %9" PRIu64 " %5" PRIu64 "  ", what, (double)outcome->end_ps / 1e6,
           outcome->received, outcome->lost);
    for (uint32_t i = 0; i < MIDDLE_LINKS; i++) {
        printf(" %5" PRIu64, outcome->used[i]);
    }
    printf("\n");
}

int main(void)
{
    const sim_time_t cut_ps = 100 * SIM_PS_PER_US;
    const outcome_t hashed = run(false, SIM_TIME_NEVER);
    const outcome_t sprayed = run(true, SIM_TIME_NEVER);
    const outcome_t cut = run(true, cut_ps);
    printf("%-28s %8s %9s %5s   packets on each link\n", "", "done us", "received", "lost");
    print("switch, by hash", &hashed);
    print("sprayer", &sprayed);
    print("sprayer, a link goes down", &cut);

    // Four links of 25 Gbps are as fast as the hosts' link.
    bool good = hashed.received == PACKETS && sprayed.received == PACKETS;
    good = good && hashed.end_ps > 39 * sprayed.end_ps / 10 &&
           hashed.end_ps < 41 * sprayed.end_ps / 10;
    uint64_t links_hashed = 0;
    for (uint32_t i = 0; i < MIDDLE_LINKS; i++) {
        good = good && sprayed.used[i] == PACKETS / MIDDLE_LINKS;
        links_hashed += hashed.used[i] > 0;
    }
    // Until the cut a quarter of all packets take the link; then those in its queue are lost.
    const uint64_t before_cut = PACKETS * cut_ps / sprayed.end_ps / MIDDLE_LINKS;
    good = good && links_hashed == 1 && cut.received + cut.lost == PACKETS && cut.lost < 20;
    good = good && cut.used[0] + cut.lost > before_cut - 20 && cut.used[0] < before_cut + 20;
    good = good && cut.end_ps > sprayed.end_ps && cut.end_ps < 4 * sprayed.end_ps / 3;
    return good ? 0 : 1;
}
