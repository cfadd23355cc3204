// SPDX-License-Identifier: Apache-2.0
// Goal: a graph given node by node becomes that network, and what is wrong with it is said.
// Method: small graphs, their ports and paths; the promised errors; a large graph, so that looking
// up names by hash is exercised.
// Does not pin: how a scenario writes a graph (cli/).
#include <string.h>

#include "net/paths.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

static net_link_config_t link_of(uint64_t rate_gbps, sim_time_t delay_ps)
{
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    link.rate_bps = rate_gbps * 1000000000;
    link.delay_ps = delay_ps;
    return link;
}

static void add_node(topo_graph_t *graph, const char *name, net_node_kind_t kind)
{
    sim_message_t message = {.text = ""};
    ck_assert_msg(topo_graph_node(graph, name, kind, &message) == SIM_OK, "%s", message.text);
}

static void add_link(topo_graph_t *graph, const char *a, const char *b, uint64_t rate_gbps)
{
    const net_link_config_t link = link_of(rate_gbps, SIM_PS_PER_US);
    sim_message_t message = {.text = ""};
    ck_assert_msg(topo_graph_link(graph, a, b, &link, &message) == SIM_OK, "%s", message.text);
}

// A triangle of switches: the direct way is taken, not the way round.
START_TEST(graph_becomes_the_network)
{
    topo_graph_t *const graph = topo_graph_create();
    static const char *const switches[] = {"north", "east", "west"};
    static const char *const hosts[] = {"n1", "e1", "w1"};
    for (size_t i = 0; i < 3; i++) {
        add_node(graph, switches[i], NET_NODE_SWITCH);
        add_node(graph, hosts[i], NET_NODE_HOST);
    }
    for (size_t i = 0; i < 3; i++) {
        add_link(graph, switches[i], hosts[i], 25);
        add_link(graph, switches[i], switches[(i + 1) % 3], 40);
    }
    world_t world;
    world_init(&world);
    world_begin(&world);
    const topo_plan_t plan = world_plan(&world);
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(topo_graph_build(graph, &plan, &message), SIM_OK);
    topo_graph_destroy(graph);
    world_complete(&world);
    ck_assert_uint_eq(net_interface_count(world.net), 3);
    ck_assert_uint_eq(net_link_count(world.net), 6);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 3; j++) {
            net_path_t path;
            if (i != j) {
                ck_assert(net_path_of(world.net, i, j, 99, &path));
                ck_assert_uint_eq(path.hop_count, 3);
                ck_assert_uint_eq(path.ports[1]->line->rate_bps, UINT64_C(40000000000));
            }
        }
    }
    app_t *const app = world_app(&world, "flows", "list=[n1 w1 1MB 0us, e1 n1 1MB 1ms]");
    world_run(&world);
    world_flows(&world, app);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(world.flows[i].end_ps - world.flows[i].start_ps, world.flows[i].ideal_ps);
    }
    world_fini(&world);
}
END_TEST

START_TEST(names_are_checked)
{
    topo_graph_t *const graph = topo_graph_create();
    sim_message_t message = {.text = ""};
    add_node(graph, "leaf0", NET_NODE_SWITCH);
    add_node(graph, "leaf1", NET_NODE_SWITCH);
    ck_assert_int_eq(topo_graph_node(graph, "leaf0", NET_NODE_HOST, &message), SIM_ERR_EXISTS);
    ck_assert_str_eq(message.text, "a node named \"leaf0\" exists already");
    static const char *const wrong[] = {
        "",     "a b",   "a->b",
        "x*",   "tab\t", "a,b",
        "h[0]", "q\"",   "0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        ck_assert_int_eq(topo_graph_node(graph, wrong[i], NET_NODE_HOST, &message),
                         SIM_ERR_INVALID);
    }
    const net_link_config_t link = link_of(100, 1);
    ck_assert_int_eq(topo_graph_link(graph, "leaf0", "laef1", &link, &message), SIM_ERR_UNKNOWN);
    ck_assert_str_eq(message.text, "no node is named \"laef1\"; did you mean \"leaf1\"?");
    ck_assert_int_eq(topo_graph_link(graph, "zzz", "leaf1", &link, &message), SIM_ERR_UNKNOWN);
    ck_assert_str_eq(message.text, "no node is named \"zzz\"");
    ck_assert_int_eq(topo_graph_link(graph, "leaf1", "leaf1", &link, &message), SIM_ERR_INVALID);
    topo_graph_destroy(graph);
    topo_graph_t *const empty = topo_graph_create();
    ck_assert_int_eq(topo_graph_link(empty, "a", "b", &link, &message), SIM_ERR_UNKNOWN);
    topo_graph_destroy(empty);
    topo_graph_destroy(NULL);
}
END_TEST

START_TEST(graphs_that_are_no_network)
{
    world_t world;
    world_init(&world);
    world_begin(&world);
    const topo_plan_t plan = world_plan(&world);
    topo_graph_t *const graph = topo_graph_create();
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(topo_graph_build(graph, &plan, &message), SIM_ERR_INVALID);
    add_node(graph, "s", NET_NODE_SWITCH);
    ck_assert_int_eq(topo_graph_build(graph, &plan, &message), SIM_ERR_INVALID);
    ck_assert_str_eq(message.text, "the graph has no host: expected at least one");
    add_node(graph, "h", NET_NODE_HOST);
    ck_assert_int_eq(topo_graph_build(graph, &plan, &message), SIM_ERR_INVALID);
    ck_assert_str_eq(message.text,
                     "host \"h\" has no link, expected hosts that are joined by links");
    // Nothing was built by the refusals.
    ck_assert_uint_eq(net_node_count(world.net), 0);
    topo_graph_destroy(graph);
    world_fini(&world);
}
END_TEST

// A binary tree of switches over 4096 hosts.
START_TEST(large_graph)
{
    enum { LEAVES = 2048 };
    topo_graph_t *const graph = topo_graph_create();
    char name[32];
    char parent[32];
    for (unsigned i = 1; i < 2 * LEAVES; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        add_node(graph, name, i < LEAVES ? NET_NODE_SWITCH : NET_NODE_HOST);
    }
    for (unsigned i = 2; i < 2 * LEAVES; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        snprintf(parent, sizeof(parent), "n%u", i / 2);
        add_link(graph, parent, name, 100);
    }
    world_t world;
    world_init(&world);
    world_begin(&world);
    const topo_plan_t plan = world_plan(&world);
    ck_assert_int_eq(topo_graph_build(graph, &plan, NULL), SIM_OK);
    topo_graph_destroy(graph);
    world_complete(&world);
    ck_assert_uint_eq(net_interface_count(world.net), LEAVES);
    net_path_t path;
    ck_assert(net_path_of(world.net, 0, LEAVES - 1, 5, &path));
    ck_assert_uint_eq(path.hop_count, 22);
    ck_assert(net_path_of(world.net, 0, 1, 5, &path));
    ck_assert_uint_eq(path.hop_count, 2);
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_TEST(graph_becomes_the_network), CHECK_TEST(names_are_checked),
           CHECK_TEST(graphs_that_are_no_network), CHECK_TEST(large_graph))
