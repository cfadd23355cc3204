// SPDX-License-Identifier: Apache-2.0
// tests/net_fixture.c - scripted hosts and the small networks they are put into.
#include "tests/net_fixture.h"
#include "net/port_control.h"
#include "net/port_metrics.h"
#include "net/port_pause.h"
#include "net/port_queue.h"

#include <check.h>
#include <stdio.h>

struct fixture_source {
    sim_timer_t timer;
    fixture_flow_t flow;
    fixture_host_t *host;
    uint64_t made;
    uint64_t total;
    bool greedy; // makes a frame whenever the port can take one
    sim_random_t random;
    fixture_source_t *next;
    fixture_source_t *next_active;
};

// A pause that has arrived and is not obeyed yet.
typedef struct held_pause {
    sim_timer_t timer;
    fixture_host_t *host;
    net_port_t *port;
    net_packet_t *packet;
    struct held_pause *next;
} held_pause_t;

// -- making frames

static bool has_more(const fixture_source_t *source)
{
    return source->made < source->total &&
           (source->flow.stop_ps == 0 || source->host->node.sim.now_ps < source->flow.stop_ps);
}

static void make_frame(fixture_source_t *source)
{
    fixture_host_t *const host = source->host;
    const fixture_flow_t *const flow = &source->flow;
    net_port_t *const port = &host->node.ports[flow->host_port];
    const bool last = flow->last_bytes > 0 && source->made + 1 == source->total;
    const uint32_t bytes = last ? flow->last_bytes : flow->frame_bytes;
    net_packet_t *const packet = net_packet_new(&host->node, bytes);
    const uint16_t source_port =
        (uint16_t)(flow->source_port + (flow->vary_source_port ? source->made : 0));
    const uint32_t destination = host->fixture->hosts[flow->to]->node.ports[0].interface;
    *packet = (net_packet_t){
        .source = port->interface,
        .destination = destination,
        .flow_hash = net_flow_hash(host->fixture->net, port->interface, destination, source_port),
        .frame_bytes = (uint16_t)bytes,
        .payload_bytes = flow->payload_bytes,
        .udp_source_port = source_port,
        .kind = NET_PACKET_ROCE,
        .priority = flow->priority,
        .dscp = ((unsigned)flow->priority << 3) & 63u,
        .ecn = flow->ecn & 3u,
        .ttl = flow->ttl,
        .opcode = flow->opcode != 0 ? flow->opcode : ROCE_UC | ROCE_SEND_ONLY,
        .psn = (uint32_t)source->made & ROCE_PSN_MASK,
        .destination_qp = ROCE_QPN_FIRST,
    };
    source->made++;
    net_queue_push(port, packet);
}

// Sends one frame of the class's greedy flow that has sent the fewest, if there is one, and drops
// finished flows from the list.
static void refill(fixture_host_t *host, const net_port_t *port, uint32_t priority)
{
    fixture_source_t *least = NULL;
    for (fixture_source_t **link = &host->active; *link != NULL;) {
        fixture_source_t *const s = *link;
        if (!has_more(s)) {
            *link = s->next_active;
            continue;
        }
        if (s->flow.priority == priority && s->flow.host_port == port->index &&
            (least == NULL || s->made < least->made)) {
            least = s;
        }
        link = &s->next_active;
    }
    if (least != NULL) {
        make_frame(least);
    }
}

static uint8_t ready(fixture_host_t *host, net_port_t *port)
{
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (port->classes[p]->bytes == 0) {
            refill(host, port, p);
        }
    }
    return port->waiting & (uint8_t)~port->paused;
}

static void serve(fixture_host_t *host, net_port_t *port)
{
    port->wake_pending = false;
    if (port->controlled) {
        net_port_transmit(port, net_port_take_control(port));
    } else {
        const uint8_t candidates = ready(host, port);
        if (candidates == 0) {
            return;
        }
        uint32_t head_bytes[NET_PRIORITIES];
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
            head_bytes[p] =
                candidates & (1u << p) ? net_queue_head(port->classes[p])->frame_bytes : 0;
        }
        net_packet_t *const packet =
            net_queue_pop(port, net_port_choose(port, candidates, head_bytes));
        packet->sent_ps = host->node.sim.now_ps;
        net_port_transmit(port, packet);
    }
    if (port->controlled || ready(host, port) != 0) {
        net_port_wake(port);
    }
}

static void source_due(sim_node_t *node, sim_timer_t *timer)
{
    fixture_source_t *const source = SIM_CONTAINER_OF(timer, fixture_source_t, timer);
    const fixture_flow_t *const flow = &source->flow;
    net_port_wake(&source->host->node.ports[flow->host_port]);
    if (source->greedy) {
        fixture_source_t **link = &source->host->active;
        while (*link != NULL) {
            link = &(*link)->next_active;
        }
        *link = source;
        return;
    }
    if (has_more(source)) {
        make_frame(source);
    }
    if (has_more(source)) {
        const sim_time_t gap_ps = flow->mean_ps > 0
                                      ? sim_random_exponential(&source->random, flow->mean_ps)
                                      : flow->period_ps;
        sim_timer_arm(node, timer, node->now_ps + gap_ps);
    }
}

// -- what arrives

static void obey(fixture_host_t *host, net_port_t *port, net_packet_t *packet)
{
    const uint8_t released = net_port_control_received(port, packet);
    net_packet_deliver(&host->node, packet);
    if (released != 0) {
        net_port_wake(port);
    }
}

static void held_due(sim_node_t *node, sim_timer_t *timer)
{
    held_pause_t *const held = SIM_CONTAINER_OF(timer, held_pause_t, timer);
    (void)node;
    held_pause_t **link = &held->host->held;
    while (*link != held) {
        link = &(*link)->next;
    }
    *link = held->next;
    obey(held->host, held->port, held->packet);
    sim_free(held);
}

static void pause_due(sim_node_t *node, sim_timer_t *timer)
{
    const fixture_pause_t *const pause = SIM_CONTAINER_OF(timer, fixture_pause_t, timer);
    fixture_host_t *const host = (fixture_host_t *)(void *)node;
    net_port_pause_send(&host->node.ports[0], pause->classes, pause->quanta);
}

static void data_arrived(fixture_host_t *host, net_packet_t *packet)
{
    const uint32_t from = host->fixture->host_of[packet->source];
    // The check is not ck_assert, which writes to a file each time.
    SIM_CHECK(host->fixture->host_of[packet->destination] == host->number);
    host->received++;
    host->received_bytes += packet->frame_bytes;
    host->received_marked += packet->ecn == NET_ECN_CE;
    host->received_from[from]++;
    host->last_ps = host->node.sim.now_ps;
    if (host->keep) {
        SIM_GROW(host->arrivals, host->arrival_count, &host->arrival_capacity);
        host->arrivals[host->arrival_count++] = (fixture_arrival_t){
            .time_ps = host->node.sim.now_ps,
            .from = from,
            .psn = packet->psn,
            .frame_bytes = packet->frame_bytes,
            .priority = packet->priority,
            .ecn = packet->ecn,
            .ttl = packet->ttl,
            .dscp = packet->dscp,
        };
    }
    net_packet_deliver(&host->node, packet);
}

static void arrived(fixture_host_t *host, uint32_t port_index, net_packet_t *packet)
{
    net_port_t *const port = &host->node.ports[port_index];
    net_port_count_rx(port, packet);
    if (packet->kind != NET_PACKET_CONTROL) {
        data_arrived(host, packet);
    } else if (host->response_ps == 0) {
        obey(host, port, packet);
    } else {
        held_pause_t *const held = sim_alloc(sizeof(*held));
        *held = (held_pause_t){.host = host, .port = port, .packet = packet, .next = host->held};
        host->held = held;
        sim_timer_init(&held->timer, held_due);
        sim_timer_arm(&host->node.sim, &held->timer, host->node.sim.now_ps + host->response_ps);
    }
}

static void run(sim_node_t *node)
{
    fixture_host_t *const host = (fixture_host_t *)(void *)node;
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        switch (event.kind) {
        case SIM_EVENT_ARRIVAL:
            arrived(host, event.port, event.message);
            break;
        case SIM_EVENT_WAKE:
            serve(host, &host->node.ports[event.port]);
            break;
        case SIM_EVENT_TIMER:
            event.timer->fn(node, event.timer);
            break;
        }
    }
}

static void add_digest(const sim_node_t *node, sim_digest_t *digest)
{
    const fixture_host_t *const host = (const fixture_host_t *)(const void *)node;
    net_node_digest(&host->node, digest);
    sim_digest_add(digest, host->received);
    sim_digest_add(digest, host->received_bytes);
    sim_digest_add(digest, host->received_marked);
}

static void destroy(sim_node_t *node)
{
    fixture_host_t *const host = (fixture_host_t *)(void *)node;
    while (host->sources != NULL) {
        fixture_source_t *const next = host->sources->next;
        sim_free(host->sources);
        host->sources = next;
    }
    while (host->pauses != NULL) {
        fixture_pause_t *const next = host->pauses->next;
        sim_free(host->pauses);
        host->pauses = next;
    }
    while (host->held != NULL) {
        held_pause_t *const next = host->held->next;
        sim_free(host->held);
        host->held = next;
    }
    net_node_fini(&host->node);
    sim_free(host->arrivals);
    sim_free(host->received_from);
    sim_free(host);
}

static void built(net_node_t *node)
{
    fixture_host_t *const host = (fixture_host_t *)(void *)node;
    for (fixture_source_t *s = host->sources; s != NULL; s = s->next) {
        sim_timer_init(&s->timer, source_due);
        sim_timer_arm(&node->sim, &s->timer, s->flow.start_ps);
    }
    for (fixture_pause_t *p = host->pauses; p != NULL; p = p->next) {
        sim_timer_init(&p->timer, pause_due);
        sim_timer_arm(&node->sim, &p->timer, p->time_ps);
    }
}

// -- set-up

net_config_t fixture_net_config(void)
{
    net_config_t config;
    sim_attrs_default(&net_config_attrs, &config);
    return config;
}

net_link_config_t fixture_link_config(uint64_t rate_bps, sim_time_t delay_ps)
{
    net_link_config_t config;
    sim_attrs_default(&net_link_config_attrs, &config);
    config.rate_bps = rate_bps;
    config.delay_ps = delay_ps;
    return config;
}

net_switch_config_t fixture_switch_config(void)
{
    net_switch_config_t config;
    sim_attrs_default(&net_switch_config_attrs, &config);
    return config;
}

void fixture_create(fixture_t *fixture, const fixture_options_t *options)
{
    const fixture_options_t defaults = {.seed = 1, .net = fixture_net_config()};
    const fixture_options_t *const chosen = options != NULL ? options : &defaults;
    const sim_options_t sim_options = {
        .seed = chosen->seed,
        .tie_seed = chosen->tie_seed,
        .threads = chosen->threads > 0 ? chosen->threads : 1,
        .until_ps = chosen->until_ps > 0 ? chosen->until_ps : SIM_TIME_NEVER,
    };
    *fixture = (fixture_t){.sim = sim_create(&sim_options)};
    fixture->net = net_create(fixture->sim, &chosen->net);
    compat_hpcc_config_t hpcc;
    sim_attrs_default(&compat_hpcc_config_attrs, &hpcc);
    compat_hpcc_register(fixture->net, chosen->hpcc != NULL ? chosen->hpcc : &hpcc);
}

fixture_host_t *fixture_host(fixture_t *fixture, const char *name)
{
    static const sim_node_ops_t ops = {.kind = "host",
                                       .run = run,
                                       .digest = add_digest,
                                       .destroy = destroy};
    fixture_host_t *const host = sim_alloc_lines(sizeof(*host));
    host->fixture = fixture;
    host->number = (uint32_t)fixture->host_count;
    net_node_init(fixture->net, &host->node, NET_NODE_HOST, &ops, name, built);
    SIM_GROW(fixture->hosts, fixture->host_count, &fixture->host_capacity);
    fixture->hosts[fixture->host_count++] = host;
    return host;
}

net_node_t *fixture_switch(fixture_t *fixture, const char *name, const net_switch_config_t *config)
{
    const net_switch_config_t defaults = fixture_switch_config();
    return net_switch_create(fixture->net, name, config != NULL ? config : &defaults);
}

uint32_t fixture_link(fixture_t *fixture, net_node_t *a, net_node_t *b, uint64_t rate_bps,
                      sim_time_t delay_ps)
{
    const net_link_config_t config = fixture_link_config(rate_bps, delay_ps);
    return net_link_add(fixture->net, a, b, &config);
}

void fixture_flow(fixture_host_t *host, const fixture_flow_t *flow)
{
    fixture_source_t *const source = sim_alloc(sizeof(*source));
    source->flow = *flow;
    fixture_flow_t *const own = &source->flow;
    own->frame_bytes = own->frame_bytes > 0 ? own->frame_bytes : 1000;
    own->ttl = own->ttl > 0 ? own->ttl : 64;
    own->start_ps = own->start_ps > 0 ? own->start_ps : 1;
    own->source_port = own->source_port > 0 ? own->source_port : ROCE_SOURCE_PORT_MIN;
    source->host = host;
    source->total = flow->count + (flow->last_bytes > 0 ? 1 : 0);
    source->total = source->total > 0 ? source->total : UINT64_MAX;
    source->greedy = flow->period_ps == 0 && flow->mean_ps == 0;
    uint64_t number = 0;
    fixture_source_t **link = &host->sources;
    for (; *link != NULL; link = &(*link)->next) {
        number++;
    }
    *link = source;
    sim_random_init(&source->random, sim_options(host->fixture->sim)->seed,
                    host->number * UINT64_C(1000) + number, "fixture-flow");
}

void fixture_pause(fixture_host_t *host, sim_time_t time_ps, uint8_t classes, uint16_t quanta)
{
    fixture_pause_t *const pause = sim_alloc(sizeof(*pause));
    pause->time_ps = time_ps;
    pause->classes = classes;
    pause->quanta = quanta;
    pause->next = host->pauses;
    host->pauses = pause;
}

void fixture_build(fixture_t *fixture)
{
    sim_message_t message = {.text = ""};
    ck_assert_msg(net_build(fixture->net, &message) == SIM_OK, "%s", message.text);
    const size_t interfaces = net_interface_count(fixture->net);
    fixture->host_of = sim_alloc_array(interfaces, sizeof(*fixture->host_of));
    for (uint32_t i = 0; i < interfaces; i++) {
        const net_node_t *const node = net_interface_port(fixture->net, i)->node;
        fixture->host_of[i] = ((const fixture_host_t *)(const void *)node)->number;
    }
    for (size_t i = 0; i < fixture->host_count; i++) {
        fixture->hosts[i]->received_from =
            sim_alloc_array(fixture->host_count, sizeof(*fixture->hosts[i]->received_from));
    }
}

void fixture_run(fixture_t *fixture)
{
    fixture->ended = sim_run(fixture->sim);
}

void fixture_destroy(fixture_t *fixture)
{
    sim_message_t message = {.text = ""};
    ck_assert_msg(net_conservation_ok(fixture->net, &message), "%s", message.text);
    sim_destroy(fixture->sim);
    net_destroy(fixture->net);
    sim_free(fixture->hosts);
    sim_free(fixture->host_of);
}

net_node_t *fixture_star(fixture_t *fixture, const net_switch_config_t *config, unsigned senders,
                         const net_link_config_t *link)
{
    net_node_t *const sw = fixture_switch(fixture, "switch", config);
    for (unsigned i = 0; i <= senders; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "h%u", i);
        net_link_add(fixture->net, &fixture_host(fixture, name)->node, sw, link);
    }
    return sw;
}

net_port_t *fixture_port(const net_node_t *a, const net_node_t *b)
{
    for (uint32_t p = 0; p < a->port_count; p++) {
        if (a->ports[p].peer->node == b) {
            return &a->ports[p];
        }
    }
    ck_abort_msg("%s has no port towards %s", a->sim.name, b->sim.name);
    return NULL;
}

sim_time_t fixture_bytes_ps(uint64_t bytes, uint64_t rate_bps)
{
    return (sim_time_t)((sim_wide_t)bytes * 8 * SIM_PS_PER_S / rate_bps);
}

uint64_t fixture_ingress_bytes(const net_node_t *sw, uint32_t port, uint32_t priority)
{
    const net_received_t *const held = sw->ports[port].received[priority];
    return held->stored_bytes + held->headroom_bytes;
}
