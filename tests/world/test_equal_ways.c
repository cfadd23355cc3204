// SPDX-License-Identifier: Apache-2.0
// tests/world/test_equal_ways.c - what makes a run fast does not show in it.
//
// Goal: a scenario has the same digest, and its switches look the same at any time, whether
// switches follow the routes that packets bring or look each up, whether they make up for
// departures or take every event in its turn, whether someone hears of each frame, and whether
// nodes run in two colours.
// Method: networks with everything that could tell the difference: links that go down and come
// back, paths longer than a route has bytes, switches of many ports, losses that reorder and
// double, pauses, storms of them and their watchdog, stalls, classes that share a port, lossy ones,
// parallel links, telemetry, marks, times in whole ns; each run every way, on one thread and on
// two, with switches looked at every 777 ns and without.
// Not pinned: that the digest sees everything; tools/compare-programs compares files.
// labels: threads clang
#include <string.h>

#include "net/nodes.h"
#include "net/port_metrics.h"
#include "tests/check_main.h"
#include "tests/ways.h"
#include "world/scenario.h"
#include "world/world.h"

// Pauses, parallel links and links that change under a load balancer.
#define BALANCED(name, more)                                                                  \
    "network: {load-balancer: " name "}\n"                                                    \
    "topology:\n  leaf-spine: {leaves: 3, spines: 3, hosts-per-leaf: 4, host-rate: 100Gbps,"  \
    " fabric-rate: 100Gbps, delay: 600ns, links-per-spine: 2}\n"                              \
    "switch: {buffer: 900KB, pfc: {alpha: 1/8}, ecn: {kmin: 10KB, kmax: 100KB, pmax: 0.5}}\n" \
    "links: {\"leaf0--spine1\": {down: [{at: 20us, until: 40us}]}}\n" more                    \
    "traffic:\n  - incast: {to: host2, senders: 11, bytes: 60KB}\n"                           \
    "  - permutation: {bytes: 60KB}\n  - all-to-all: {bytes: 5KB}\n"
#define IN_ANY_ORDER "nic: {transport: irn, congestion-control: dcqcn, timeout: 4}\n"

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
    // pauses most of the time, telemetry, marks
    "topology:\n  leaf-spine: {leaves: 3, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps,"
    " fabric-rate: 56Gbps, delay: 600ns}\n"
    "switch: {buffer: 1MB, pfc: {alpha: 1/16}, ecn: {kmin: 10KB, kmax: 100KB, pmax: 0.5}}\n"
    "nic: {congestion-control: hpcc, mtu: 1024}\n"
    "traffic:\n  - incast: {to: host2, senders: 11, bytes: 200KB}\n"
    "  - permutation: {bytes: 200KB}\n",
    // times cut to whole ns, on links of a rate that has no whole ps a byte, too; telemetry
    "network: {timing: hpcc, framing: bare}\n"
    "topology:\n  leaf-spine: {leaves: 3, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps,"
    " fabric-rate: 56Gbps, delay: 1us}\n"
    "switch: {ecn: {kmin: 10KB, kmax: 100KB, pmax: 0.5}}\n"
    "nic: {congestion-control: hpcc, mtu: 1024}\n"
    "nodes: {\"host[0-3]\": {nic: {congestion-control: dcqcn}}}\n"
    "links: {\"leaf0--spine*\": {rate: 400Gbps}}\n"
    "traffic:\n  - permutation: {bytes: 200KB}\n  - all-to-all: {bytes: 5KB}\n",
    // two classes and their ACKs, one of them lossy, a buffer that is nearly full
    "topology:\n  dumbbell: {left: 5, right: 5, host-rate: 100Gbps, bottleneck-rate: 40Gbps,"
    " host-delay: 1us, bottleneck-delay: 3us}\n"
    "switch: {buffer: 400KB, pfc: {priorities: [3]}, weights: [1, 1, 2, 3, 1, 1, 1, 1]}\n"
    "nic: {congestion-control: dctcp, timeout: 4, ack-priority: 6}\n"
    "traffic:\n  - permutation: {bytes: 300KB}\n"
    "  - permutation: {bytes: 300KB, priority: 2}\n  - all-to-all: {bytes: 9KB}\n",
    // a host that pauses its switch for ever, and the switch's watchdog
    "topology:\n  leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 3, host-rate: 100Gbps,"
    " fabric-rate: 100Gbps, delay: 1us}\n"
    "switch: {buffer: 400KB, pfc: {watchdog: drop, watchdog-detect: 100us,"
    " watchdog-restore: 200us}}\n"
    "nic: {timeout: 5}\n"
    "traffic:\n  - incast: {to: host0, senders: 5, bytes: 400KB}\n"
    "faults:\n  - {part: host0, kind: pause-storm, at: 20us, until: 500us}\n",
    // nothing moves any more: a stall
    "stall-after: 300us\n"
    "topology:\n  leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 3, host-rate: 100Gbps,"
    " fabric-rate: 100Gbps, delay: 1us}\n"
    "nic: {timeout: 20}\n"
    "traffic:\n  - incast: {to: host0, senders: 5, bytes: 400KB}\n"
    "faults:\n  - {part: host0, kind: pause-storm, at: 20us}\n",
    // a stall before which two hosts were served last, the later one in a node that runs earlier
    "stall-after: 100us\n"
    "topology:\n  leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 3, host-rate: 100Gbps,"
    " fabric-rate: 100Gbps, delay: 1us}\n"
    "switch: {buffer: 3MB, pfc: {threshold: 20KB, quanta: 64}}\n"
    "nic: {timeout: 20, mtu: 1024}\n"
    "traffic:\n  - flows: {list: [host1 host0 4MB 0us, host4 host5 4MB 0us]}\n"
    "faults:\n  - {part: host0, kind: pause-storm, at: 21300ns}\n"
    "  - {part: host5, kind: pause-storm, at: 20us}\n",
    // load balancers: they read queues, keep flows, hold packets back, write headers, follow digits
    BALANCED("adaptive", IN_ANY_ORDER),
    BALANCED("drill", IN_ANY_ORDER),
    BALANCED("round-robin", IN_ANY_ORDER),
    BALANCED("letflow", "nic: {congestion-control: dcqcn, timeout: 4}\n"),
    BALANCED("conga", "nic: {congestion-control: dcqcn, timeout: 4}\n"),
    BALANCED("conweave", "nic: {congestion-control: dcqcn, timeout: 4}\n"),
    BALANCED("structured", "nic: {transport: mrc, priority: 1, ack-priority: 6}\n"
                           "nodes: {\"leaf*\": {switch: {mmu: trimming}}}\n"),
};

// A digest of each node's appearance over time, by node.
#define NODES_MAX 512u
static uint64_t looks[NODES_MAX];

static void look(const sim_node_t *sim_node, sim_time_t time_ps, void *ctx)
{
    const net_node_t *const node = (const net_node_t *)(const void *)sim_node;
    sim_digest_t sum = {.value = looks[sim_node->index]};
    (void)ctx;
    sim_digest_add(&sum, time_ps);
    sim_digest_add(&sum, net_switch_buffer_bytes(node));
    for (uint32_t p = 0; p < node->port_count; p++) {
        sim_digest_add(&sum, net_port_queue_bytes(&node->ports[p]));
        sim_digest_add(&sum, net_port_busy_ps(&node->ports[p], UINT8_MAX, time_ps));
    }
    looks[sim_node->index] = sum.value;
}

static void look_at_switches(const world_t *world)
{
    memset(looks, 0, sizeof(looks));
    ck_assert_uint_le(net_node_count(world->net), NODES_MAX);
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        net_node_t *const node = net_node_at(world->net, i);
        if (node->kind == NET_NODE_SWITCH) {
            sim_sample(world->sim, &node->sim, 0, 777 * SIM_PS_PER_NS, look, NULL);
        }
    }
}

static uint64_t digest_of(const char *text, way_t way, unsigned threads, bool looking)
{
    world_error_t error;
    world_registry_t *const registry = world_registry_create();
    world_scenario_t *scenario = NULL;
    const sim_err_t parsed =
        world_scenario_parse(registry, "way.yaml", text, strlen(text), &scenario, &error);
    ck_assert_msg(parsed == SIM_OK, "%s", error.text);
    scenario->run.threads = threads;
    world_t *world = NULL;
    ck_assert_msg(world_create(scenario, WORLD_BUILD_ALL, &world, &error) == SIM_OK, "%s",
                  error.text);
    way_go(world, way);
    if (looking) {
        look_at_switches(world);
    }
    const sim_ended_t ended = sim_run(world->sim);
    const bool stalls = strstr(text, "stall-after") != NULL;
    ck_assert_int_eq(ended, stalls ? SIM_ENDED_STALLED : SIM_ENDED_DONE);
    sim_digest_t sum = {.value = sim_digest(world->sim)};
    sim_digest_add(&sum, sim_end_time_ps(world->sim));
    sim_digest_add(&sum, sim_events(world->sim));
    for (size_t i = 0; looking && i < NODES_MAX; i++) {
        sim_digest_add(&sum, looks[i]);
    }
    world_destroy(world);
    world_scenario_destroy(scenario);
    world_registry_destroy(registry);
    return sum.value;
}

START_TEST(ways_give_one_digest)
{
    for (uint32_t looking = 0; looking < 2; looking++) {
        const uint64_t digest = digest_of(scenarios[_i], WAY_AS_IT_IS, 1, looking);
        for (way_t way = 0; way < WAY_COUNT; way++) {
            for (unsigned threads = 1; threads <= 2; threads++) {
                const uint64_t other = digest_of(scenarios[_i], way, threads, looking);
                ck_assert_msg(other == digest, "scenario %d, way %d, %u threads", _i, way, threads);
            }
        }
    }
}
END_TEST

// The digest would tell: it is another one for another seed.
START_TEST(digest_tells)
{
    char other[2048];
    (void)snprintf(other, sizeof(other), "seed: 2\n%s", scenarios[_i]);
    ck_assert_uint_ne(digest_of(other, WAY_AS_IT_IS, 1, false),
                      digest_of(scenarios[_i], WAY_AS_IT_IS, 1, false));
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(ways_give_one_digest, 0, SIM_COUNT_OF(scenarios), 3),
           CHECK_LOOP_FEW(digest_tells, 0, SIM_COUNT_OF(scenarios), 3))
