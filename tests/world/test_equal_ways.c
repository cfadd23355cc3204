// SPDX-License-Identifier: Apache-2.0
// tests/world/test_equal_ways.c - what makes a run fast does not show in it.
//
// Goal: a scenario has the same digest whether switches follow the routes that packets bring or
// look each up. Method: networks with everything that could tell the difference: links that go down
// and come back, paths longer than a route has bytes, switches of many ports, losses that reorder
// and double, pauses, parallel links, marks; each run both ways, on one thread and on two.
// Not pinned: that the digest sees everything; tools/compare-programs compares files.
// labels: threads
#include <string.h>

#include "net/network.h"
#include "tests/check_main.h"
#include "world/scenario.h"
#include "world/world.h"

typedef enum way { AS_IT_IS, WITHOUT_ROUTES, WAY_COUNT } way_t;

static const char *const scenarios[] = {
    // links that change under way, ECMP, pauses
    "topology:\n  fat-tree: {k: 4, rate: 100Gbps, delay: 1us}\n"
    "switch: {buffer: 300KB, pfc: {threshold: 20KB}, ecn: {kmin: 20KB, kmax: 200KB}}\n"
    "nic: {congestion-control: dcqcn, timeout: 5}\n"
    "links: {\"edge0--agg0\": {down: [{at: 20us, until: 90us}]},"
    " \"agg3--core*\": {down: [{at: 30us}]}}\n"
    "traffic:\n  - permutation: {bytes: 300KB}\n  - incast: {to: host3, senders: 9, bytes: 60KB}\n",
    // more switches than a route has bytes
    "topology:\n  parking-lot: {switches: 12, hosts-per-switch: 2, host-rate: 100Gbps,"
    " trunk-rate: 40Gbps, trunk-delay: 700ns}\n"
    "traffic:\n  - permutation: {bytes: 100KB}\n  - all-to-all: {bytes: 5KB}\n",
    // more ports than a byte counts
    "topology:\n  star: {hosts: 270, rate: 100Gbps, delay: 300ns}\n"
    "traffic:\n  - permutation: {bytes: 20KB}\n",
    // losses, reordering and doubles; parallel links
    "topology:\n  leaf-spine: {leaves: 3, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps,"
    " fabric-rate: 100Gbps, delay: 1us, links-per-spine: 2}\n"
    "link: {loss-rate: 0.001, reorder-rate: 0.01, duplicate-rate: 0.01}\n"
    "nic: {timeout: 5, congestion-control: hpcc}\n"
    "traffic:\n  - all-to-all: {bytes: 30KB}\n",
};

static void go_way(const world_t *world, way_t way)
{
    for (size_t i = 0; way == WITHOUT_ROUTES && i < net_node_count(world->net); i++) {
        net_node_at(world->net, i)->route_mask = 0;
    }
}

static uint64_t digest_of(const char *text, way_t way, unsigned threads)
{
    world_error_t error;
    world_registry_t *const registry = world_registry_create();
    world_scenario_t *scenario = NULL;
    const sim_err_t parsed =
        world_scenario_parse(registry, "way.yaml", text, strlen(text), &scenario, &error);
    ck_assert_msg(parsed == SIM_OK, "%s", error.text);
    scenario->run.threads = threads;
    world_t *world = NULL;
    ck_assert_msg(world_create(scenario, WORLD_BUILD_ALL, &world, &error) == SIM_OK,
                  "%s",
                  error.text);
    go_way(world, way);
    ck_assert_int_eq(sim_run(world->sim), SIM_ENDED_DONE);
    const uint64_t digest = sim_digest(world->sim);
    world_destroy(world);
    world_scenario_destroy(scenario);
    world_registry_destroy(registry);
    return digest;
}

START_TEST(ways_give_one_digest)
{
    const uint64_t digest = digest_of(scenarios[_i], AS_IT_IS, 1);
    for (way_t way = 0; way < WAY_COUNT; way++) {
        for (unsigned threads = 1; threads <= 2; threads++) {
            const uint64_t other = digest_of(scenarios[_i], way, threads);
            ck_assert_msg(other == digest, "scenario %d, way %d, %u threads", _i, way, threads);
        }
    }
}
END_TEST

// The digest would tell: it is another one for another seed.
START_TEST(digest_tells)
{
    char other[2048];
    (void)snprintf(other, sizeof(other), "seed: 2\n%s", scenarios[_i]);
    ck_assert_uint_ne(digest_of(other, AS_IT_IS, 1), digest_of(scenarios[_i], AS_IT_IS, 1));
}
END_TEST

CHECK_MAIN(CHECK_LOOP(ways_give_one_digest, 0, SIM_COUNT_OF(scenarios)),
           CHECK_LOOP(digest_tells, 0, SIM_COUNT_OF(scenarios)))
