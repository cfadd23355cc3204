// SPDX-License-Identifier: Apache-2.0
// examples/custom_node.c - your own kind of node: a source of packets at random times.
//
// Shows net_node_init, the event loop of a node, timers, random streams, and the queue and
// transmitter of a port. Such a node has ports, addresses and captures like any other.
// custom_forwarder.c shows a node that forwards packets.
//
// A source offers packets of one size at exponential intervals to its own port: an M/D/1 queue. The
// mean wait for the transmitter must be rho / (2 (1 - rho)) frame times (Pollaczek and Khinchine).
#include <math.h>
#include <stdio.h>

#include "net/frame_opcodes.h"
#include "net/port_metrics.h"
#include "net/port_queue.h"

#define PAYLOAD_BYTES 1024
#define PACKETS 400000

typedef struct source {
    net_node_t node; // first
    sim_timer_t timer;
    sim_random_t random;
    sim_time_t interval_ps; // mean; 0: the source sends nothing
    uint64_t created;
    uint64_t received;
    sim_time_t waited_ps; // sum over all packets
} source_t;

static source_t *source_of(sim_node_t *node)
{
    return (source_t *)(void *)node;
}

// Sends the packet at the head of the queue. Call it when no frame is on the link.
static void send_next(source_t *source)
{
    net_port_t *const port = &source->node.ports[0];
    const uint8_t ready = port->waiting & (uint8_t)~port->paused;
    if (ready == 0) {
        return;
    }
    net_packet_t *const packet = net_queue_pop(port, (uint32_t)__builtin_ctz(ready));
    source->waited_ps += source->node.sim.now_ps - packet->sent_ps;
    net_port_transmit(port, packet);
    if (port->waiting != 0) {
        net_port_wake(port); // at the end of the frame
    }
}

static void offer(sim_node_t *node, sim_timer_t *timer)
{
    source_t *const source = source_of(node);
    net_port_t *const port = &source->node.ports[0];
    const uint32_t frame_bytes =
        net_frame_bytes(ROCE_UD | ROCE_SEND_ONLY, PAYLOAD_BYTES, false, false);
    net_packet_t *const packet = net_packet_new(&source->node, frame_bytes);
    *packet = (net_packet_t){
        .source = net_port_interface(port),
        .destination = net_port_interface(port->peer),
        .frame_bytes = (uint16_t)frame_bytes,
        .payload_bytes = PAYLOAD_BYTES,
        .udp_source_port = ROCE_SOURCE_PORT_MIN,
        .kind = NET_PACKET_ROCE,
        .ttl = 64,
        .opcode = ROCE_UD | ROCE_SEND_ONLY,
        .psn = (uint32_t)source->created & ROCE_PSN_MASK,
        .destination_qp = ROCE_QPN_FIRST,
        .sent_ps = node->now_ps, // here: when it entered the queue
    };
    net_packet_aside(packet)->deth.qkey = 0;
    net_packet_aside(packet)->deth.source_qp = ROCE_QPN_FIRST;
    net_queue_push(port, packet);
    if (net_port_idle(port)) {
        send_next(source);
    } else {
        net_port_wake(port);
    }
    if (++source->created < PACKETS) {
        const sim_time_t wait_ps = sim_random_exponential(&source->random, source->interval_ps);
        sim_timer_arm(node, timer, node->now_ps + wait_ps);
    }
}

static void run(sim_node_t *node)
{
    source_t *const source = source_of(node);
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        switch (event.kind) {
        case SIM_EVENT_ARRIVAL:
            net_port_count_rx(&source->node.ports[event.port], event.message);
            net_packet_deliver(&source->node, event.message);
            source->received++;
            break;
        case SIM_EVENT_WAKE:
            source->node.ports[event.port].wake_pending = false;
            send_next(source);
            break;
        case SIM_EVENT_TIMER:
            event.timer->fn(node, event.timer);
            break;
        }
    }
}

static void add_digest(const sim_node_t *node, sim_digest_t *digest)
{
    const source_t *const source = (const source_t *)(const void *)node;
    net_node_digest(&source->node, digest);
    sim_digest_add(digest, source->waited_ps);
}

static void destroy(sim_node_t *node)
{
    net_node_fini(&source_of(node)->node);
    sim_free(node);
}

static const sim_node_ops_t source_ops = {
    .kind = "source",
    .run = run,
    .digest = add_digest,
    .destroy = destroy,
};

static source_t *source_create(net_t *net, const char *name)
{
    source_t *const source = sim_alloc_lines(sizeof(*source)); // the simulation frees it
    net_node_init(net, &source->node, NET_NODE_HOST, &source_ops, name, NULL);
    const uint64_t seed = sim_options(net_sim(net))->seed;
    sim_random_init(&source->random, seed, source->node.sim.index, "example-source");
    sim_timer_init(&source->timer, offer);
    return source;
}

// Runs one load, in percent of the link. Returns whether the measured wait agrees with the formula.
static bool measure(uint32_t percent)
{
    sim_t *const sim = sim_create(&(sim_options_t){
        .seed = 1,
        .threads = 1,
        .until_ps = SIM_TIME_NEVER,
        .stall_ps = SIM_PS_PER_S,
    });
    net_config_t net_config;
    net_link_config_t link;
    sim_attrs_default(&net_config_attrs, &net_config);
    sim_attrs_default(&net_link_config_attrs, &link);
    net_t *const net = net_create(sim, &net_config);
    source_t *const source = source_create(net, "source");
    source_t *const sink = source_create(net, "sink");
    net_link_add(net, &source->node, &sink->node, &link);
    sim_message_t message;
    SIM_CHECKF(net_build(net, &message) == SIM_OK, "%s", message.text);

    const uint32_t bytes = net_frame_bytes(ROCE_UD | ROCE_SEND_ONLY, PAYLOAD_BYTES, false, false);
    const sim_time_t frame_ps = net_port_frame_time_ps(&source->node.ports[0], bytes);
    source->interval_ps = frame_ps * 100 / percent;
    sim_timer_arm(&source->node.sim, &source->timer, 0);
    SIM_CHECK(sim_run(sim) == SIM_ENDED_DONE);
    SIM_CHECKF(net_conservation_ok(net, &message), "%s", message.text);

    const double rho = (double)percent / 100.0;
    const double expected = rho / (2.0 * (1.0 - rho));
    const double measured = (double)source->waited_ps / (double)PACKETS / (double)frame_ps;
    const bool good = sink->received == PACKETS && fabs(measured - expected) < 0.05 * expected;
    printf("%3u %%  %8.4f %8.4f\n", percent, measured, expected);
    sim_destroy(sim);
    net_destroy(net);
    return good;
}

int main(void)
{
    static const uint32_t loads[] = {10, 30, 50, 70, 80, 90};
    bool good = true;
    printf("mean wait in frame times\n load  measured   M/D/1\n");
    for (size_t i = 0; i < SIM_COUNT_OF(loads); i++) {
        good = measure(loads[i]) && good;
    }
    return good ? 0 : 1;
}
