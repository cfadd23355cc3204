// SPDX-License-Identifier: Apache-2.0
// Goal: "valiant" and "ugal" use longer paths where shortest ones are crowded, as their page says.
// Method: datagrams, which no transport holds back: a tornado on a ring, whose best split has a
// closed form; the worst pattern of a dragonfly; one idle flow; digests on 1 and 4 threads.
// Does not pin: which switch a packet goes by.
#include "net/nodes.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define BYTES 4000000.0

// Runs a shift and returns the time of its slowest transfer, over the time of the bytes on a link.
static double run(const char *balance, const char *topology, const char *settings,
                  const char *traffic, unsigned threads, uint64_t *digest)
{
    world_t world;
    world_init(&world);
    world.options.threads = threads;
    sim_message_t message;
    ck_assert_int_eq(
        world_set(&nic_config_attrs, &world.nic, "congestion-control=none; timeout=0", &message),
        SIM_OK);
    snprintf(world.net_config.balance.text, sizeof(world.net_config.balance.text), "%s", balance);
    world.switch_config.ecn_enabled = false;
    world.switch_config.pfc_enabled = false;
    world.switch_config.buffer_bytes = UINT64_C(1000000000);
    world.switch_config.lossy_alpha = (sim_ratio_t){16, 1};
    world_build(&world, topology, settings);
    const app_t *const app = world_app(&world, "permutation", traffic);
    world_run(&world);
    world_flows(&world, app);
    sim_time_t last_ps = 0;
    for (size_t i = 0; i < world.flow_count; i++) {
        ck_assert_int_eq(world.flows[i].status, NIC_WC_SUCCESS);
        last_ps = world.flows[i].end_ps > last_ps ? world.flows[i].end_ps : last_ps;
    }
    if (digest != NULL) {
        *digest = sim_digest(world.sim);
    }
    world_fini(&world);
    // Frames have 4096 bytes of payload and 90 more on the link; 80 ps a byte.
    return (double)last_ps / (BYTES * (4096 + 90) / 4096 * 80);
}

// Each switch of a ring of 8 sends to the third one on. By shortest paths every link of one
// direction carries three flows. The best is to send 5/8 of the packets that way and 3/8 over the
// other five links: 15/8 of a flow on each link of both directions.
START_TEST(ugal_splits_a_tornado)
{
    static const char *const traffic = "bytes=4MB; stride=3; service=ud; verb=send";
    const double shortest = run("ecmp", "torus", "x=8; y=1", traffic, 1, NULL);
    const double ugal = run("ugal", "torus", "x=8; y=1", traffic, 1, NULL);
    ck_assert_double_eq_tol(shortest, 3, 0.1);
    ck_assert_double_eq_tol(ugal, 15.0 / 8, 0.25); // local queues only, and the path itself
}
END_TEST

// All 8 hosts of a group send to the next group: shortest paths share one link, detours all four of
// the group, which each carry twice a share of the traffic.
START_TEST(detours_help_the_worst_pattern_of_a_dragonfly)
{
    static const char *const shape = "groups=5; switches=4; hosts-per-switch=2; global-links=1";
    static const char *const traffic = "bytes=4MB; stride=8; service=ud; verb=send";
    const double shortest = run("ecmp", "dragonfly", shape, traffic, 1, NULL);
    const double ugal = run("ugal", "dragonfly", shape, traffic, 1, NULL);
    ck_assert_double_eq_tol(shortest, 8, 0.2);
    ck_assert_double_lt(ugal, 5.2);
    ck_assert_double_gt(ugal, 4);
}
END_TEST

// A random switch of a torus of 4 x 4 is 32/16 links away on average, from both ends. One draw in
// eight is an end itself, and the flow takes its shortest path: 4.0 links, against 1.25.
START_TEST(valiant_forgets_the_pattern)
{
    uint64_t sent[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        world_t world;
        world_init(&world);
        snprintf(world.net_config.balance.text, sizeof(world.net_config.balance.text), "%s",
                 i == 0 ? "ecmp" : "valiant");
        world_build(&world, "torus", "x=4; y=4");
        world_app(&world, "permutation", "bytes=100KB; stride=1");
        world_run(&world);
        for (size_t n = 0; n < net_node_count(world.net); n++) {
            const net_node_t *const node = net_node_at(world.net, n);
            for (uint32_t p = 0; p < node->port_count && node->kind != NET_NODE_HOST; p++) {
                for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
                    sent[i] += node->ports[p].peer->node->kind == NET_NODE_HOST
                                   ? 0
                                   : node->ports[p].classes[c]->tx_packets;
                }
            }
        }
        world_fini(&world);
    }
    const double longer = (double)sent[1] / (double)sent[0];
    ck_assert_double_eq_tol(longer, 4.0 / 1.25, 0.6);
}
END_TEST

START_TEST(an_idle_flow_takes_the_shortest_path)
{
    world_t world;
    world_init(&world);
    snprintf(world.net_config.balance.text, sizeof(world.net_config.balance.text), "ugal");
    world_build(&world, "dragonfly", "");
    const app_t *const app = world_app(&world, "incast", "from=host0; to=host71; bytes=100KB");
    world_run(&world);
    world_flows(&world, app);
    ck_assert_uint_eq(world.flows[0].end_ps - world.flows[0].start_ps, world.flows[0].ideal_ps);
    world_fini(&world);
}
END_TEST

START_TEST(threads_do_not_change_it)
{
    uint64_t digests[2];
    for (unsigned i = 0; i < 2; i++) {
        (void)run(_i == 0 ? "valiant" : "ugal", "slim-fly", "", "bytes=50KB; service=ud; verb=send",
                  i == 0 ? 1 : 4, &digests[i]);
    }
    ck_assert_uint_eq(digests[0], digests[1]);
}
END_TEST

CHECK_MAIN(CHECK_TEST(ugal_splits_a_tornado),
           CHECK_TEST(detours_help_the_worst_pattern_of_a_dragonfly),
           CHECK_TEST(valiant_forgets_the_pattern),
           CHECK_TEST(an_idle_flow_takes_the_shortest_path),
           CHECK_LOOP(threads_do_not_change_it, 0, 2))
