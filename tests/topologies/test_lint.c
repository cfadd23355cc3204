// SPDX-License-Identifier: Apache-2.0
// Goal: the linter finds what is odd and is silent about what is not; the drawing has every node
// and link.
// Method: networks with one fault each and the finding that must come of it, with its numbers;
// unreachable pairs counted here by asking for the path of every pair.
// Does not pin: the wording beyond the numbers and names in it.
#include <string.h>

#include "net/paths.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"
#include "topologies/inspect.h"

typedef struct findings {
    char text[16][1024];
    topo_severity_t severity[16];
    size_t count;
} findings_t;

static void keep(topo_severity_t severity, const char *text, void *ctx)
{
    findings_t *const findings = ctx;
    ck_assert_uint_lt(findings->count, SIM_COUNT_OF(findings->text));
    findings->severity[findings->count] = severity;
    snprintf(findings->text[findings->count++], sizeof(findings->text[0]), "%s", text);
}

static findings_t lint(const world_t *world)
{
    findings_t findings = {.count = 0};
    topo_lint(world->net, keep, &findings);
    return findings;
}

static void assert_finding(const findings_t *findings, size_t at, topo_severity_t severity,
                           const char *part)
{
    ck_assert_uint_lt(at, findings->count);
    ck_assert_int_eq(findings->severity[at], severity);
    ck_assert_msg(strstr(findings->text[at], part) != NULL, "%s", findings->text[at]);
}

START_TEST(sound_networks_have_no_findings)
{
    static const char *const sound[][2] = {
        {"pair", ""},
        {"star", "hosts=8; nics-per-host=2"},
        {"dumbbell", "left=1; right=1"},
        {"leaf-spine", "leaves=4; spines=4; hosts-per-leaf=4"},
        {"fat-tree", "k=4"},
        {"rail-optimised", "servers=4; gpus-per-server=2; servers-per-segment=2; spines=2"},
        {"dual-tor",
         "servers=4; gpus-per-server=2; servers-per-segment=2; spines=4; dual-plane=on; "
         "fabric-rate=200Gbps"},
        {"multi-plane", "planes=3; leaves=2; spines=4; hosts-per-leaf=4"},
    };
    world_t world;
    world_init(&world);
    world_build(&world, sound[_i][0], sound[_i][1]);
    const findings_t findings = lint(&world);
    ck_assert_msg(findings.count == 0, "%s", findings.text[0]);
    world_fini(&world);
}
END_TEST

typedef struct circle {
    const char *topology;
    const char *settings;
    bool pfc;
    const char *circle;  // NULL: there is none
    const char *balance; // NULL: ecmp
} circle_t;

static const circle_t circles[] = {
    {"torus", "x=4; y=1", true, "switch0, switch1, switch2, switch3, switch0;", NULL},
    {"torus", "x=4; y=1", false, NULL, NULL},
    {"torus", "x=3; y=1", true, NULL, NULL}, // every path is one link
    {"torus", "x=2; y=2", true, "switch0, switch1, switch3, switch2, switch0;", NULL},
    {"hyperx", "x=6; y=1", true, NULL, NULL},
    {"hyperx", "x=6; y=1", true, "circle switch0, switch", "valiant"}, // a to b, then b to c
    {"leaf-spine", "leaves=4; spines=2; hosts-per-leaf=2", true, "circle leaf", "ugal"},
    {"hyperx", "x=3; y=3", true, "circle switch", NULL},
    {"slim-fly", "", true, "circle switch", NULL},
    {"dragonfly", "", true, "..., switch", NULL},
    {"dragonfly-plus", "hosts-per-switch=1", true, NULL, NULL}, // up, across, down
    {"leaf-spine", "leaves=4; spines=2; hosts-per-leaf=2", true, NULL, NULL},
    {"multi-plane", "hosts-per-leaf=2", true, NULL, NULL},
    {"fat-tree", "k=4", true, NULL, NULL},
    {"parking-lot", "switches=6; hosts-per-switch=1", true, NULL, NULL},
};

// Links that can wait for each other in a circle are named; trees and single hops have none.
START_TEST(circles_of_pauses_are_named)
{
    const circle_t *const row = &circles[_i];
    world_t world;
    world_init(&world);
    world.switch_config.pfc_enabled = row->pfc;
    snprintf(world.net_config.balance.text, sizeof(world.net_config.balance.text), "%s",
             row->balance == NULL ? "" : row->balance);
    world_build(&world, row->topology, row->settings);
    const findings_t findings = lint(&world);
    size_t found = 0;
    for (size_t i = 0; i < findings.count; i++) {
        if (strstr(findings.text[i], "PFC can deadlock") != NULL) {
            found++;
            ck_assert_int_eq(findings.severity[i], TOPO_WARNING);
            ck_assert_ptr_nonnull(row->circle);
            ck_assert_msg(strstr(findings.text[i], row->circle) != NULL, "%s", findings.text[i]);
        }
    }
    ck_assert_uint_eq(found, row->circle != NULL);
    world_fini(&world);
}
END_TEST

START_TEST(oversubscription_by_tier)
{
    world_t world;
    world_init(&world);
    world_build(&world, "leaf-spine", "leaves=3; spines=2; hosts-per-leaf=10; host-rate=40Gbps");
    findings_t findings = lint(&world);
    ck_assert_uint_eq(findings.count, 1);
    // 400 Gbps down, 200 up.
    assert_finding(&findings, 0, TOPO_NOTE, "tier 1: 3 of 3 switches");
    assert_finding(&findings, 0, TOPO_NOTE, "2.00:1 at leaf0: 400Gbps down, 200Gbps up");
    world_fini(&world);

    world_init(&world);
    world_build(&world, "fat-tree", "k=4; hosts-per-edge=3");
    findings = lint(&world);
    ck_assert_uint_eq(findings.count, 1);
    assert_finding(&findings, 0, TOPO_NOTE, "tier 1: 8 of 8 switches");
    assert_finding(&findings, 0, TOPO_NOTE, "1.50:1");
    world_fini(&world);

    // Without a higher tier, the links to the side are the way out.
    world_init(&world);
    world_build(&world, "dumbbell", "left=8; right=2; bottleneck-rate=200Gbps");
    findings = lint(&world);
    assert_finding(&findings, 0, TOPO_NOTE, "tier 1: 1 of 2 switches over-subscribed (switch0)");
    assert_finding(&findings, 0, TOPO_NOTE, "4.00:1");
    world_fini(&world);
}
END_TEST

// Two stars that nothing joins, a host in both, and a switch that nothing is on.
START_TEST(islands_are_counted)
{
    topo_graph_t *const graph = topo_graph_create();
    static const char *const hosts[] = {"a1", "a2", "a3", "b1", "b2", "both"};
    static const char *const links[][2] = {{"sa", "a1"},  {"sa", "a2"}, {"sa", "a3"},
                                           {"sb", "b1"},  {"sb", "b2"}, {"sa", "both"},
                                           {"sb", "both"}};
    for (size_t i = 0; i < SIM_COUNT_OF(hosts); i++) {
        ck_assert_int_eq(topo_graph_node(graph, hosts[i], NET_NODE_HOST, NULL), SIM_OK);
    }
    ck_assert_int_eq(topo_graph_node(graph, "sa", NET_NODE_SWITCH, NULL), SIM_OK);
    ck_assert_int_eq(topo_graph_node(graph, "sb", NET_NODE_SWITCH, NULL), SIM_OK);
    ck_assert_int_eq(topo_graph_node(graph, "lonely", NET_NODE_SWITCH, NULL), SIM_OK);
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    for (size_t i = 0; i < SIM_COUNT_OF(links); i++) {
        ck_assert_int_eq(topo_graph_link(graph, links[i][0], links[i][1], &link, NULL), SIM_OK);
    }
    world_t world;
    world_init(&world);
    world_begin(&world);
    const topo_plan_t plan = world_plan(&world);
    ck_assert_int_eq(topo_graph_build(graph, &plan, NULL), SIM_OK);
    topo_graph_destroy(graph);
    world_complete(&world);
    uint64_t pairs = 0;
    uint64_t lost = 0;
    for (uint32_t i = 0; i < net_interface_count(world.net); i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (net_interface_port(world.net, i)->node != net_interface_port(world.net, j)->node) {
                pairs++;
                lost += !net_reachable(world.net, i, j);
            }
        }
    }
    const findings_t findings = lint(&world);
    ck_assert_uint_eq(findings.count, 2);
    assert_finding(&findings, 0, TOPO_WARNING, "1 node without a link: lonely");
    char expected[128];
    snprintf(expected, sizeof(expected),
             "%" PRIu64 " of %" PRIu64 " pairs of interfaces cannot reach each other", lost, pairs);
    assert_finding(&findings, 1, TOPO_WARNING, expected);
    assert_finding(&findings, 1, TOPO_WARNING, "a1->sa and b1->sb");
    sim_attrs_fini(&net_link_config_attrs, &link);
    world_fini(&world);
}
END_TEST

START_TEST(cables_of_a_pair_reach_their_own_end_only)
{
    world_t world;
    world_init(&world);
    world_build(&world, "pair", "nics-per-host=3");
    const findings_t findings = lint(&world);
    ck_assert_uint_eq(findings.count, 1);
    assert_finding(&findings, 0, TOPO_WARNING, "6 of 9 pairs");
    world_fini(&world);
}
END_TEST

static unsigned tweaked;
static void slow_second_link(const char *a, const char *b, net_link_config_t *config)
{
    if (strcmp(a, "leaf1") == 0 && strcmp(b, "spine0") == 0 && tweaked++ == 1) {
        config->rate_bps = UINT64_C(10000000000);
    }
}

START_TEST(parallel_links_of_different_rates)
{
    tweaked = 0;
    world_t world;
    world_init(&world);
    world.tweak_link = slow_second_link;
    world_build(&world, "leaf-spine", "leaves=2; spines=1; hosts-per-leaf=1; links-per-spine=3");
    const findings_t findings = lint(&world);
    ck_assert_uint_eq(findings.count, 1);
    assert_finding(&findings, 0, TOPO_WARNING, "between leaf1 and spine0: 100Gbps and 10Gbps");
    world_fini(&world);
}
END_TEST

START_TEST(buffers_too_small_for_their_headroom)
{
    world_t world;
    world_init(&world);
    world.switch_config.buffer_bytes = 100000;
    world_build(&world, "leaf-spine", "leaves=5; spines=5; hosts-per-leaf=5; delay=50us");
    const findings_t findings = lint(&world);
    ck_assert_uint_eq(findings.count, 1);
    assert_finding(&findings, 0, TOPO_ERROR, "10 switches whose buffer");
    assert_finding(&findings, 0, TOPO_ERROR, "leaf0, leaf1, leaf2, leaf3...");
    world_fini(&world);
}
END_TEST

// -- drawing

typedef struct drawing {
    char text[1 << 16];
    size_t length;
} drawing_t;

static void append(const char *text, void *ctx)
{
    drawing_t *const drawing = ctx;
    const size_t length = strlen(text);
    ck_assert_uint_lt(drawing->length + length, sizeof(drawing->text));
    memcpy(drawing->text + drawing->length, text, length + 1);
    drawing->length += length;
}

static unsigned occurrences(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

static drawing_t drawing; // too large for the stack

static void draw(const world_t *world)
{
    drawing.length = 0;
    topo_write_dot(world->net, append, &drawing);
}

START_TEST(drawing_has_tiers_nodes_and_links)
{
    world_t world;
    world_init(&world);
    world_build(&world, "leaf-spine", "leaves=2; spines=2; hosts-per-leaf=3; fabric-rate=400Gbps");
    draw(&world);
    ck_assert_int_eq(strncmp(drawing.text, "graph ", 6), 0);
    ck_assert_uint_eq(occurrences(drawing.text, "rank=same"), 3);
    ck_assert_uint_eq(occurrences(drawing.text, "shape=ellipse"), 6);
    ck_assert_uint_eq(occurrences(drawing.text, " -- "), 6 + 4);
    ck_assert_uint_eq(occurrences(drawing.text, "[label=\"400Gbps, 1us\"]"), 4);
    ck_assert_uint_eq(occurrences(drawing.text, "\"spine0\" -- \"leaf1\""), 1);
    ck_assert_uint_eq(occurrences(drawing.text, "\"leaf1\" -- \"host5\" [label=\"100Gbps, 1us\"]"),
                      1);
    ck_assert_uint_eq(occurrences(drawing.text, "{"), occurrences(drawing.text, "}"));
    // Spines above leaves above hosts.
    ck_assert(strstr(drawing.text, "spine0") < strstr(drawing.text, "leaf0"));
    ck_assert(strstr(drawing.text, "leaf0") < strstr(drawing.text, "host0"));
    world_fini(&world);
}
END_TEST

START_TEST(drawing_collapses_many_hosts)
{
    world_t world;
    world_init(&world);
    world_build(&world, "leaf-spine", "leaves=4; spines=1; hosts-per-leaf=32");
    draw(&world);
    ck_assert_uint_eq(occurrences(drawing.text, "32 hosts\\nhost"), 4);
    ck_assert_uint_eq(occurrences(drawing.text, "host32 .. host63"), 1);
    ck_assert_uint_eq(occurrences(drawing.text, "[label=\"32 x 100Gbps, 1us\"]"), 4);
    ck_assert_uint_eq(occurrences(drawing.text, " -- "), 4 + 4);
    drawing.length = 0;
    topo_write_dot_hosts(world.net, UINT32_MAX, append, &drawing);
    ck_assert_uint_eq(occurrences(drawing.text, " -- "), 128 + 4);
    drawing.length = 0;
    topo_write_dot_hosts(world.net, 0, append, &drawing);
    ck_assert_uint_eq(occurrences(drawing.text, " -- "), 4 + 4);
    world_fini(&world);
}
END_TEST

// The hosts of a rail-optimised group have links to all leaves of the group.
START_TEST(drawing_collapses_rails)
{
    world_t world;
    world_init(&world);
    world_build(&world, "leaf-spine",
                "leaves=4; spines=1; hosts-per-leaf=20; nics-per-host=2; rails=on");
    draw(&world);
    ck_assert_uint_eq(occurrences(drawing.text, "20 hosts\\nhost"), 2);
    ck_assert_uint_eq(occurrences(drawing.text, "[label=\"20 x 100Gbps, 1us\"]"), 4);
    world_fini(&world);
}
END_TEST

START_TEST(drawing_joins_parallel_links)
{
    world_t world;
    world_init(&world);
    world_build(&world, "pair", "nics-per-host=4; rate=25Gbps; delay=5ns");
    draw(&world);
    ck_assert_uint_eq(
        occurrences(drawing.text, "\"host0\" -- \"host1\" [label=\"4 x 25Gbps, 5ns\"]"), 1);
    ck_assert_uint_eq(occurrences(drawing.text, " -- "), 1);
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(circles_of_pauses_are_named, 0, (int)SIM_COUNT_OF(circles)),
           CHECK_LOOP(sound_networks_have_no_findings, 0, 8), CHECK_TEST(oversubscription_by_tier),
           CHECK_TEST(islands_are_counted), CHECK_TEST(cables_of_a_pair_reach_their_own_end_only),
           CHECK_TEST(parallel_links_of_different_rates),
           CHECK_TEST(buffers_too_small_for_their_headroom),
           CHECK_TEST(drawing_has_tiers_nodes_and_links), CHECK_TEST(drawing_collapses_many_hosts),
           CHECK_TEST(drawing_collapses_rails), CHECK_TEST(drawing_joins_parallel_links))
