// SPDX-License-Identifier: Apache-2.0
// tests/world/test_node_kind.c - kinds of nodes that a program adds to a registry.
//
// Goal: such a node stands in YAML by its name, in a graph and in the place of any topology's
// switches; its attributes follow from the section `node`, patterns and the resolved scenario; what
// is wrong is refused with its place; a kind may make packets itself.
// Method: a relay that adds a fixed time to each packet's way, which the time of a transfer shows
// in closed form, and a source that sends packets to a host.
// Does not pin: the example's inspector (examples/plugins/inspector.c).
#include "net/forwarder.h"
#include "net/frame_opcodes.h"
#include "net/port_metrics.h"
#include "tests/check_main.h"
#include "world/attributes.h"
#include "world/world.h"

#include <string.h>

#define PACKETS 50u

// -- a relay: each packet waits for the same time, packets overlap

typedef struct relay_config {
    sim_time_t delay_ps;
    sim_time_t most_ps;
    uint64_t packets;
} relay_config_t;

typedef struct relay {
    net_forwarder_t base; // first
    sim_time_t delay_ps;
    uint64_t packets; // it sends this many to interface 0
    sim_timer_t timer;
    net_packet_t *held; // one at a time: the test sends one packet there and one back
    net_port_t *out;
} relay_t;

static void release(sim_node_t *node, sim_timer_t *timer)
{
    relay_t *const relay = (relay_t *)(void *)node;
    if (relay->held != NULL) {
        net_packet_t *const packet = relay->held;
        relay->held = NULL;
        net_forwarder_send(relay->out, packet);
    }
    if (relay->packets == 0) {
        return;
    }
    relay->packets--;
    const uint8_t opcode = ROCE_UD | ROCE_SEND_ONLY;
    const uint32_t frame_bytes = net_frame_bytes(opcode, 1000, false, false);
    net_packet_t *const packet = net_packet_new(&relay->base.node, frame_bytes);
    *packet = (net_packet_t){
        .source = 1,
        .destination = 0,
        .flow_hash = net_flow_hash(relay->base.node.net, 1, 0, ROCE_SOURCE_PORT_MIN),
        .frame_bytes = (uint16_t)frame_bytes,
        .payload_bytes = 1000,
        .udp_source_port = ROCE_SOURCE_PORT_MIN,
        .kind = NET_PACKET_ROCE,
        .ttl = 64,
        .opcode = opcode,
        .destination_qp = 0xffffff, // the host has no such queue pair
    };
    net_forwarder_send(net_forwarder_port(&relay->base, 0, packet->flow_hash), packet);
    sim_timer_arm(node, timer, node->now_ps + SIM_PS_PER_US);
}

static void relay_packet(net_forwarder_t *base, net_port_t *ingress, net_packet_t *packet)
{
    relay_t *const relay = (relay_t *)(void *)base;
    net_port_t *const out = net_forwarder_port(base, packet->destination, packet->flow_hash);
    if (out == NULL) {
        net_port_drop(ingress, packet, NET_DROP_NO_ROUTE);
        return;
    }
    ck_assert_ptr_null(relay->held);
    relay->held = packet;
    relay->out = out;
    sim_timer_arm(&base->node.sim, &relay->timer, base->node.sim.now_ps + relay->delay_ps);
}

static void relay_built(net_forwarder_t *base)
{
    relay_t *const relay = (relay_t *)(void *)base;
    sim_timer_init(&relay->timer, release);
    if (relay->packets > 0) {
        sim_timer_arm(&base->node.sim, &relay->timer, SIM_PS_PER_US);
    }
}

static const net_forwarder_ops_t relay_ops = {.hop = true,
                                              .packet = relay_packet,
                                              .built = relay_built};

// clang-format off
static const sim_attr_t relay_attrs[] = {
    SIM_ATTR("node.relay.delay", TIME, relay_config_t, delay_ps,
             .default_text = "1us", .min_text = "1ns", .max_text = "1s", .help = "the delay"),
    SIM_ATTR("node.relay.most", TIME, relay_config_t, most_ps,
             .default_text = "1ms", .min_text = "1ns", .max_text = "1s", .help = "its limit"),
    SIM_ATTR("node.relay.packets", COUNT, relay_config_t, packets,
             .default_text = "0", .min_text = "0", .max_text = "1000", .help = "packets it makes"),
};
// clang-format on
static const sim_attr_table_t relay_table = {"node.relay", "node", sizeof(relay_config_t),
                                             relay_attrs, SIM_COUNT_OF(relay_attrs)};

static sim_err_t relay_check(const void *config_void, sim_message_t *message)
{
    const relay_config_t *const config = config_void;
    return config->delay_ps <= config->most_ps
               ? SIM_OK
               : sim_fail_about(message, SIM_ERR_RANGE, "delay", " is above most");
}

static net_node_t *relay_create(net_t *net, const char *name, const void *config_void)
{
    const relay_config_t *const config = config_void;
    relay_t *const relay = sim_alloc_lines(sizeof(*relay));
    relay->delay_ps = config->delay_ps;
    relay->packets = config->packets;
    net_forwarder_init(net, &relay->base, &relay_ops, name);
    return &relay->base.node;
}

static const world_node_kind_t relay = {
    .name = "relay",
    .help = "delays packets",
    .attrs = &relay_table,
    .check = relay_check,
    .create = relay_create,
};

// A kind without attributes.
static net_node_t *plain_create(net_t *net, const char *name, const void *config)
{
    ck_assert_ptr_null(config);
    relay_t *const made = sim_alloc_lines(sizeof(*made));
    made->delay_ps = SIM_PS_PER_NS;
    net_forwarder_init(net, &made->base, &relay_ops, name);
    return &made->base.node;
}
static const world_node_kind_t plain = {.name = "plain", .help = "", .create = plain_create};

static world_registry_t *registry_with_kinds(void)
{
    world_error_t error;
    world_registry_t *const registry = world_registry_create();
    ck_assert_int_eq(world_registry_add_node_kind(registry, &relay, &error), SIM_OK);
    ck_assert_int_eq(world_registry_add_node_kind(registry, &plain, &error), SIM_OK);
    return registry;
}

// -- runs

typedef struct outcome {
    sim_time_t end_ps;
    uint64_t digest;
    uint64_t received; // packets at the first host
} outcome_t;

static void take_end(const app_flow_result_t *flow, void *ctx)
{
    ((outcome_t *)ctx)->end_ps = flow->end_ps;
}

static outcome_t run(const world_registry_t *registry, const char *text, char **resolved)
{
    world_error_t error;
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    ck_assert_msg(world_scenario_parse(registry, "x.yaml", text, strlen(text), &scenario, &error) ==
                      SIM_OK,
                  "%s", error.text);
    ck_assert_msg(world_create(scenario, WORLD_BUILD_ALL, &world, &error) == SIM_OK, "%s",
                  error.text);
    if (resolved != NULL) {
        *resolved = world_scenario_resolved(scenario);
    }
    ck_assert_int_eq(sim_run(world->sim), SIM_ENDED_DONE);
    sim_message_t message;
    ck_assert_msg(net_conservation_ok(world->net, &message), "%s", message.text);
    outcome_t outcome = {.digest = sim_digest(world->sim)};
    world->apps[0]->ops->flows(world->apps[0], take_end, &outcome);
    const net_port_metric_t *const metric = net_port_metric_find("rx_packets");
    outcome.received = net_port_metric_read(metric, net_interface_port(world->net, 0), 0xff, 0);
    world_destroy(world);
    world_scenario_destroy(scenario);
    return outcome;
}

#define GRAPH(node)                                                                 \
    "topology: {graph: {nodes: [{host: [a, b]}, " node "], links: [a--x, x--b]}}\n" \
    "link: {rate: 100Gbps, delay: 1us}\n"                                           \
    "nic: {congestion-control: none}\n"                                             \
    "traffic: [flows: {list: [a b 1000 0us]}]\n"

// A transfer of one packet crosses the relay once, and its ACK once.
START_TEST(it_stands_in_a_graph)
{
    world_registry_t *const registry = registry_with_kinds();
    const sim_time_t direct_ps =
        run(registry, GRAPH("{relay: x}") "node: {relay: {delay: 1ns}}\n", NULL).end_ps;
    const outcome_t by_default = run(registry, GRAPH("{relay: [x]}"), NULL);
    ck_assert_uint_eq(by_default.end_ps, direct_ps + 2 * (SIM_PS_PER_US - SIM_PS_PER_NS));
    const outcome_t by_pattern =
        run(registry,
            GRAPH("{relay: x}") "node: {relay: {delay: 3us}}\nnodes: {x: {relay: {delay: 7us}}}\n",
            NULL);
    ck_assert_uint_eq(by_pattern.end_ps, direct_ps + 2 * (7 * SIM_PS_PER_US - SIM_PS_PER_NS));
    const outcome_t replaced = // a pattern's kind takes the place of the graph's
        run(registry, GRAPH("{switch: x}") "nodes: {\"x\": {relay: {delay: 7us}}}\n", NULL);
    ck_assert_uint_eq(replaced.end_ps, by_pattern.end_ps);
    const outcome_t without = run(registry, GRAPH("{plain: x}"), NULL);
    ck_assert_uint_eq(without.end_ps, direct_ps);
    world_registry_destroy(registry);
}
END_TEST

#define LEAVES(nodes)                                                                 \
    "topology: {leaf-spine: {leaves: 2, spines: 1, hosts-per-leaf: 1, delay: 1us}}\n" \
    "nic: {congestion-control: none}\n"                                               \
    "nodes: {" nodes "}\n"                                                            \
    "traffic: [flows: {list: [host0 host1 1000 0us]}]\n"

START_TEST(it_stands_for_switches_of_any_topology)
{
    world_registry_t *const registry = registry_with_kinds();
    const sim_time_t one_ps = run(registry, LEAVES("spine0: {relay: {delay: 1us}}"), NULL).end_ps;
    const sim_time_t three_ps =
        run(registry, LEAVES("\"spine*\": {relay: {delay: 3us}}"), NULL).end_ps;
    ck_assert_uint_eq(three_ps, one_ps + 4 * SIM_PS_PER_US);
    char *resolved = NULL;
    const outcome_t all =
        run(registry, LEAVES("\"*\": {relay: null}, \"leaf*\": {relay: {delay: 5us}}"), &resolved);
    ck_assert_uint_eq(all.end_ps, one_ps + 2 * 2 * 5 * SIM_PS_PER_US);
    // A scenario that the program writes down runs alike.
    ck_assert_uint_eq(run(registry, resolved, NULL).digest, all.digest);
    sim_free(resolved);
    world_registry_destroy(registry);
}
END_TEST

// The host gets the ACK of its transfer, and the packets of the source.
START_TEST(it_may_make_packets)
{
    world_registry_t *const registry = registry_with_kinds();
    char text[1024];
    (void)snprintf(text, sizeof(text), "%snode: {relay: {delay: 400ns, packets: %u}}\n",
                   GRAPH("{relay: x}"), PACKETS);
    char *resolved = NULL;
    const outcome_t outcome = run(registry, text, &resolved);
    ck_assert_uint_eq(outcome.received, 1 + PACKETS);
    ck_assert_ptr_nonnull(strstr(resolved, "relay: x"));
    ck_assert_ptr_nonnull(strstr(resolved, "packets: 50"));
    ck_assert_uint_eq(run(registry, resolved, NULL).digest, outcome.digest);
    sim_free(resolved);
    world_registry_destroy(registry);
}
END_TEST

static const struct {
    const char *text;
    const char *message;
} wrong[] = {
    {GRAPH("{rely: x}"), "x.yaml:1:45: unknown graph node 'rely', did you mean 'relay'"},
    {GRAPH("{relay: x}") "node: {relay: {dely: 1us}}\n", "x.yaml:5:16: unknown key 'dely'"},
    {GRAPH("{relay: x}") "nodes: {x: {relay: {delay: 1ps}}}\n", "x.yaml:5:28"},
    {GRAPH("{relay: x}") "nodes: {x: {relay: {delay: 2ms}}}\n",
     "x.yaml:5:28: node.relay.delay is above most (of node x)"},
    {GRAPH("{relay: x}") "node: {relay: {delay: 2ms}}\n",
     "x.yaml:5:23: node.relay.delay is above most (of node x)"},
    {GRAPH("{relay: x}") "nodes: {x: {relay: {}, plain: {}}}\n", "has the kinds"},
    {GRAPH("{plain: x}") "nodes: {x: {plain: {delay: 1us}}}\n", "has no attributes"},
    {GRAPH("{plain: x}") "nodes: {a: {relay: {}}}\n", "x.yaml:5:9: 'a' matches no switch"},
};

START_TEST(what_is_wrong_is_refused)
{
    world_registry_t *const registry = registry_with_kinds();
    world_error_t error;
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    const char *const text = wrong[_i].text;
    sim_err_t result =
        world_scenario_parse(registry, "x.yaml", text, strlen(text), &scenario, &error);
    if (result == SIM_OK) {
        result = world_create(scenario, WORLD_BUILD_ALL, &world, &error);
        world_scenario_destroy(scenario);
    }
    ck_assert_int_ne(result, SIM_OK);
    ck_assert_msg(strstr(error.text, wrong[_i].message) != NULL, "%s", error.text);
    world_registry_destroy(registry);
}
END_TEST

START_TEST(names_of_kinds_are_refused)
{
    world_error_t error;
    world_registry_t *const registry = registry_with_kinds();
    ck_assert_int_eq(world_registry_add_node_kind(registry, &relay, &error), SIM_ERR_EXISTS);
    static const char *const names[] = {"host", "switch", "nic", "My Node"};
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        world_node_kind_t kind = plain;
        kind.name = names[i];
        ck_assert_int_ne(world_registry_add_node_kind(registry, &kind, &error), SIM_OK);
    }
    world_node_kind_t kind = relay; // its attributes are node.relay.*
    kind.name = "other";
    ck_assert_int_eq(world_registry_add_node_kind(registry, &kind, &error), SIM_ERR_INVALID);
    const sim_attr_table_t **tables = NULL;
    const size_t count = world_attr_tables(registry, &tables);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || tables[i] == &relay_table;
    }
    ck_assert(found);
    sim_free((void *)tables);
    world_registry_destroy(registry);
}
END_TEST

CHECK_MAIN(CHECK_TEST(it_stands_in_a_graph), CHECK_TEST(it_stands_for_switches_of_any_topology),
           CHECK_TEST(it_may_make_packets),
           CHECK_LOOP(what_is_wrong_is_refused, 0, SIM_COUNT_OF(wrong)),
           CHECK_TEST(names_of_kinds_are_refused))
