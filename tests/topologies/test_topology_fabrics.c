// SPDX-License-Identifier: Apache-2.0
// Goal: the fabrics are the graphs that their pages describe: nodes, links, diameter, shortest
// paths and bisection have their closed forms.
// Method: a row a shape. Paths are counted over the routes of the built network; the bisection is
// the largest flow between the first and the second half of the hosts, with links of capacity 1.
// Does not pin: the order of node indices and link numbers.
#include <string.h>

#include "net/nodes.h"
#include "net/paths.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

typedef struct fabric {
    const char *topology;
    const char *settings;
    size_t hosts;
    size_t switches;
    size_t links;
    uint32_t diameter;  // links of the longest of all shortest paths between reachable interfaces
    uint64_t paths;     // shortest paths from the first interface of the first host to the same
                        // interface of the last host
    uint64_t bisection; // links
} fabric_t;

// clang-format off
static const fabric_t fabrics[] = {
    {"rail-optimised", "servers=4; gpus-per-server=2; servers-per-segment=2; spines=3",
     4, 7, 8 + 4 * 3, 4, 3, 4},
    {"rail-optimised", "servers=6; gpus-per-server=4; servers-per-segment=4; spines=1",
     6, 8 + 1, 24 + 8, 4, 1, 8},
    {"rail-optimised", "servers=4; gpus-per-server=2; spines=0", 4, 2, 8, 2, 1, 4},
    {"rail-optimised", "servers=2; gpus-per-server=4; hosts=gpus; nvlink-rate=2Tbps; spines=2",
     8, 4 + 2 + 2, 8 + 8 + 8, 4, 2, 4},
    {"rail-optimised",
     "servers=4; gpus-per-server=2; servers-per-segment=2; links-per-spine=2; spines=1",
     4, 5, 8 + 8, 4, 4, 4},
    {"dual-tor", "servers=4; gpus-per-server=2; servers-per-segment=2; spines=2",
     4, 8 + 2, 16 + 16, 4, 2, 8},
    {"dual-tor", "servers=4; gpus-per-server=2; servers-per-segment=2; spines=4; dual-plane=on",
     4, 8 + 4, 16 + 16, 4, 2, 8},
    {"dual-tor", "servers=4; gpus-per-server=2; servers-per-segment=2; spines=4; rails=off",
     4, 4 + 4, 16 + 16, 4, 4, 8},
    {"multi-plane", "planes=4; leaves=3; spines=2; hosts-per-leaf=2",
     6, 12 + 8, 24 + 24, 4, 2, 12},
    {"multi-plane", "planes=2; leaves=2; spines=2; hosts-per-leaf=2; nics-per-host=2",
     4, 4 + 4, 16 + 8, 4, 2, 4},
    {"multi-plane", "planes=8; leaves=1; spines=0; hosts-per-leaf=3", 3, 8, 24, 2, 1, 8},
    // g = a h + 1 groups of a switches: g a (a - 1) / 2 local links, g (g - 1) / 2 global ones.
    // Shortest paths may lead through a third group that has both of its links at one switch. Half
    // of the hosts are 4 groups and a half: 16 global links, 4 to the group in the middle, and the
    // 4 links of its hosts.
    {"dragonfly", "switches=4; hosts-per-switch=2; global-links=2",
     72, 36, 72 + 9 * 6 + 36, 5, 3, 16 + 4 + 4},
    {"dragonfly", "groups=3; switches=4; hosts-per-switch=1; global-links=1",
     12, 12, 12 + 18 + 3 * 2, 5, 3, 4 + 2},
    {"dragonfly", "groups=2; switches=2; hosts-per-switch=1; global-links=3",
     4, 4, 4 + 2 + 6, 4, 6, 2},
    {"dragonfly-plus", "switches=3; spines=2; hosts-per-switch=2; global-links=2",
     30, 25, 30 + 5 * 6 + 10, 5, 1, 8},
    {"dragonfly-plus", "groups=2; switches=2; spines=2; hosts-per-switch=2; global-links=2",
     8, 8, 8 + 8 + 4, 5, 4, 4},
    // A ring of n has n links and diameter n / 2. The last switch is one hop away in each dimension.
    {"torus", "x=4; y=4", 16, 16, 16 + 32, 6, 2, 8},
    {"torus", "x=5; y=1; hosts-per-switch=2", 10, 5, 10 + 5, 4, 1, 2 + 1},
    {"torus", "x=3; y=3; z=3", 27, 27, 27 + 81, 5, 6, 13},
    {"torus", "x=2; y=2; z=2", 8, 8, 8 + 12, 5, 6, 4},
    {"torus", "x=4; y=1; links=2; hosts-per-switch=3", 12, 4, 12 + 8, 4, 2, 4},
    // One hop for each dimension in which two switches differ, in any order.
    {"hyperx", "x=4; y=4; hosts-per-switch=2", 32, 16, 32 + 48, 4, 2, 16},
    {"hyperx", "x=3; y=3; z=3", 27, 27, 27 + 81, 5, 6, 13},
    {"hyperx", "x=6; y=1; links=2; hosts-per-switch=3", 18, 6, 18 + 30, 3, 2, 9},
    // 2 q^2 switches of degree (3 q - d) / 2, q = 4 w + d, and diameter 2.
    {"slim-fly", "q=5; hosts-per-switch=1", 50, 50, 50 + 175, 4, 1, 25},
    {"slim-fly", "q=7; hosts-per-switch=1", 98, 98, 98 + 539, 4, 2, 49},
    {"slim-fly", "q=3; hosts-per-switch=2", 36, 18, 36 + 45, 4, 2, 18},
    {"slim-fly", "q=4; hosts-per-switch=1", 32, 32, 32 + 96, 4, 1, 16},
    {"slim-fly", "q=8; hosts-per-switch=1", 128, 128, 128 + 768, 4, 1, 64},
    {"slim-fly", "q=9; hosts-per-switch=1", 162, 162, 162 + 1053, 4, 1, 81},
};
// clang-format on

static void build(world_t *world, const fabric_t *fabric)
{
    world_init(world);
    world_build(world, fabric->topology, fabric->settings);
}

START_TEST(fabric_has_its_numbers)
{
    const fabric_t *const fabric = &fabrics[_i];
    world_t world;
    build(&world, fabric);
    size_t hosts = 0;
    for (size_t i = 0; i < net_node_count(world.net); i++) {
        hosts += net_node_at(world.net, i)->kind == NET_NODE_HOST;
    }
    ck_assert_uint_eq(hosts, fabric->hosts);
    ck_assert_uint_eq(net_node_count(world.net) - hosts, fabric->switches);
    ck_assert_uint_eq(net_link_count(world.net), fabric->links);
    world_fini(&world);
}
END_TEST

START_TEST(fabric_has_its_diameter)
{
    const fabric_t *const fabric = &fabrics[_i];
    world_t world;
    build(&world, fabric);
    const uint32_t count = (uint32_t)net_interface_count(world.net);
    uint32_t longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count; j++) {
            net_path_t path;
            if (net_interface_port(world.net, i)->node != net_interface_port(world.net, j)->node &&
                net_path_of(world.net, i, j, i * 31 + j, &path)) {
                longest = path.hop_count > longest ? path.hop_count : longest;
            }
        }
    }
    ck_assert_uint_eq(longest, fabric->diameter);
    world_fini(&world);
}
END_TEST

// Counts the ways from a node to an interface along links that lead one step nearer to it.
static uint64_t count_ways(const uint32_t *distance, const net_node_t *node, const net_node_t *to)
{
    if (node == to) {
        return 1;
    }
    uint64_t count = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        const net_node_t *const next = node->ports[p].peer->node;
        if (next->kind != NET_NODE_HOST &&
            distance[next->sim.index] + 1 == distance[node->sim.index]) {
            count += count_ways(distance, next, to);
        }
    }
    return count;
}

// Returns each switch's distance from one switch; the caller frees it.
static uint32_t *distances_from(const world_t *world, const net_node_t *from)
{
    const size_t count = sim_node_count(world->sim);
    uint32_t *const distance = sim_alloc_array(count, sizeof(*distance));
    const net_node_t **const queue = sim_alloc_array(count, sizeof(net_node_t *));
    memset(distance, 0xff, count * sizeof(*distance));
    size_t queued = 0;
    distance[from->sim.index] = 0;
    queue[queued++] = from;
    for (size_t i = 0; i < queued; i++) {
        for (uint32_t p = 0; p < queue[i]->port_count; p++) {
            const net_node_t *const next = queue[i]->ports[p].peer->node;
            if (next->kind != NET_NODE_HOST && distance[next->sim.index] == UINT32_MAX) {
                distance[next->sim.index] = distance[queue[i]->sim.index] + 1;
                queue[queued++] = next;
            }
        }
    }
    sim_free(queue);
    return distance;
}

static const net_node_t *last_host(const world_t *world)
{
    const net_node_t *host = NULL;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        host = node->kind == NET_NODE_HOST ? node : host;
    }
    return host;
}

START_TEST(fabric_has_its_paths)
{
    const fabric_t *const fabric = &fabrics[_i];
    world_t world;
    build(&world, fabric);
    const net_node_t *const from = net_node_find(world.net, "host0")->ports[0].peer->node;
    const net_node_t *const to = last_host(&world)->ports[0].peer->node;
    uint32_t *const distance = distances_from(&world, to);
    const uint64_t ways =
        distance[from->sim.index] == UINT32_MAX ? 0 : count_ways(distance, from, to);
    ck_assert_uint_eq(ways, fabric->paths);
    sim_free(distance);
    world_fini(&world);
}
END_TEST

// -- the largest flow between the halves of the hosts

typedef struct flow {
    const world_t *world;
    int8_t *used;   // by link: 1: from a to b, -1: from b to a
    uint32_t *came; // by node: link by which it was reached, plus 2; 1: a source
    const net_node_t **queue;
} flow_t;

static uint32_t host_number(const net_node_t *node)
{
    return (uint32_t)strtoul(node->sim.name + strlen("host"), NULL, 10);
}

// Finds one more way from the first half to the second, and takes it.
static bool augment(flow_t *flow, size_t hosts)
{
    const net_t *const net = flow->world->net;
    size_t queued = 0;
    memset(flow->came, 0, net_node_count(net) * sizeof(*flow->came));
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        if (node->kind == NET_NODE_HOST && host_number(node) < hosts / 2) {
            flow->came[i] = 1;
            flow->queue[queued++] = node;
        }
    }
    for (size_t i = 0; i < queued; i++) {
        const net_node_t *const node = flow->queue[i];
        for (uint32_t p = 0; p < node->port_count; p++) {
            const net_port_t *const port = &node->ports[p];
            const net_node_t *next = port->peer->node;
            const int8_t way = net_link_at(net, port->link).a == node ? 1 : -1;
            if (flow->came[next->sim.index] != 0 || flow->used[port->link] == way) {
                continue;
            }
            flow->came[next->sim.index] = port->link + 2;
            if (next->kind != NET_NODE_HOST) {
                flow->queue[queued++] = next;
                continue;
            }
            while (flow->came[next->sim.index] != 1) { // hosts of the first half were reached first
                const uint32_t link = flow->came[next->sim.index] - 2;
                const bool forward = net_link_at(net, link).b == next;
                flow->used[link] = (int8_t)(flow->used[link] + (forward ? 1 : -1));
                next = forward ? net_link_at(net, link).a : net_link_at(net, link).b;
            }
            return true;
        }
    }
    return false;
}

START_TEST(fabric_has_its_bisection)
{
    const fabric_t *const fabric = &fabrics[_i];
    world_t world;
    build(&world, fabric);
    const size_t nodes = net_node_count(world.net);
    flow_t flow = {&world, sim_alloc_array(net_link_count(world.net) + 1, sizeof(int8_t)),
                   sim_alloc_array(nodes, sizeof(uint32_t)),
                   sim_alloc_array(nodes, sizeof(net_node_t *))};
    uint64_t links = 0;
    while (augment(&flow, fabric->hosts)) {
        links++;
    }
    ck_assert_uint_eq(links, fabric->bisection);
    sim_free(flow.used);
    sim_free(flow.came);
    sim_free(flow.queue);
    world_fini(&world);
}
END_TEST

// Colours and dealing of the engine fit every fabric, or it goes without.
START_TEST(threads_do_not_change_fabrics)
{
    static const char *const names[] = {"rail-optimised", "dual-tor", "multi-plane", "dragonfly",
                                        "dragonfly-plus", "torus",    "hyperx",      "slim-fly"};
    uint64_t digests[3];
    for (unsigned i = 0; i < 3; i++) {
        world_t world;
        world_init(&world);
        world.options.threads = 1u << i;
        world_build(&world, names[_i], "");
        world_app(&world, "permutation", "bytes=20KB");
        world_run(&world);
        digests[i] = sim_digest(world.sim);
        world_fini(&world);
    }
    ck_assert_uint_eq(digests[0], digests[1]);
    ck_assert_uint_eq(digests[0], digests[2]);
}
END_TEST

static void assert_peer(const world_t *world, const char *node, uint32_t port, const char *peer)
{
    const net_node_t *const found = net_node_find(world->net, node);
    ck_assert_msg(found != NULL, "no node %s", node);
    ck_assert_uint_lt(port, found->port_count);
    ck_assert_str_eq(found->ports[port].peer->node->sim.name, peer);
}

START_TEST(ports_of_racks_are_numbered_as_documented)
{
    world_t world;
    world_init(&world);
    world_build(&world, "rail-optimised", "servers=5; gpus-per-server=2; servers-per-segment=2");
    assert_peer(&world, "host1", 1, "leaf1");
    assert_peer(&world, "host2", 1, "leaf3");
    assert_peer(&world, "leaf3", 1, "host3");
    assert_peer(&world, "leaf5", 0, "host4");
    assert_peer(&world, "leaf3", 2, "spine0");
    assert_peer(&world, "spine7", 5, "leaf5");
    world_fini(&world);

    world_init(&world);
    world_build(&world, "dual-tor",
                "servers=4; gpus-per-server=2; servers-per-segment=2; spines=4; dual-plane=on; "
                "hosts=gpus; nvlink-rate=2Tbps");
    assert_peer(&world, "host1", 0, "leaf2"); // GPU 1 of server 0
    assert_peer(&world, "host1", 1, "leaf3");
    assert_peer(&world, "host1", 2, "nvswitch0");
    assert_peer(&world, "host7", 1, "leaf7");
    assert_peer(&world, "leaf0", 2, "spine0");
    assert_peer(&world, "leaf1", 2, "spine2");
    assert_peer(&world, "spine3", 3, "leaf7");
    world_fini(&world);

    world_init(&world);
    world_build(&world, "multi-plane", "planes=2; leaves=2; spines=2; hosts-per-leaf=2");
    assert_peer(&world, "host3", 1, "plane1-leaf1");
    assert_peer(&world, "plane1-leaf1", 1, "host3");
    assert_peer(&world, "plane1-leaf1", 3, "plane1-spine1");
    assert_peer(&world, "plane0-spine1", 1, "plane0-leaf1");
    // No link joins two planes.
    const uint32_t from = net_node_find(world.net, "host0")->ports[0].interface;
    const net_port_t *const to = net_node_find(world.net, "host3")->ports;
    ck_assert(net_reachable(world.net, from, to[0].interface));
    ck_assert(!net_reachable(world.net, from, to[1].interface));
    world_fini(&world);
}
END_TEST

START_TEST(ports_of_direct_networks_are_numbered_as_documented)
{
    world_t world;
    world_init(&world);
    world_build(&world, "dragonfly", "switches=4; hosts-per-switch=2; global-links=2");
    assert_peer(&world, "switch5", 0, "host10");
    assert_peer(&world, "switch5", 2, "switch4");
    assert_peer(&world, "switch0", 5, "switch7"); // group 0 to group 1, whose last port leads back
    assert_peer(&world, "switch3", 6, "switch32");
    world_fini(&world);

    world_init(&world);
    world_build(&world, "torus", "x=4; y=3");
    assert_peer(&world, "switch5", 1, "switch4");
    assert_peer(&world, "switch5", 2, "switch6");
    assert_peer(&world, "switch5", 3, "switch1");
    assert_peer(&world, "switch5", 4, "switch9");
    assert_peer(&world, "switch3", 2, "switch0"); // around the ring
    world_fini(&world);

    world_init(&world);
    world_build(&world, "hyperx", "x=4; y=3");
    assert_peer(&world, "switch5", 1, "switch4");
    assert_peer(&world, "switch5", 3, "switch7");
    assert_peer(&world, "switch5", 5, "switch9");
    world_fini(&world);
}
END_TEST

typedef struct refusal {
    const char *topology;
    const char *settings;
    const char *text; // the message begins with it
} refusal_t;

static const refusal_t refusals[] = {
    {"dual-tor", "dual-plane=on; spines=3", "spines is 3: expected an even number"},
    {"rail-optimised", "servers=1000000; gpus-per-server=64", "servers-per-segment is 1000000"},
    {"rail-optimised", "servers=1000000; gpus-per-server=64; servers-per-segment=100",
     "servers is 1000000: expected at most 65535 ports"},
    {"rail-optimised", "servers=1000000; gpus-per-server=64; servers-per-segment=1000; spines=0",
     "servers is 1000000: expected a network of at most"},
    {"multi-plane", "hosts-per-leaf=65535; spines=1", "hosts-per-leaf is 65535: expected at most"},
    {"dragonfly", "groups=10", "groups is 10: expected at most 9"},
    {"dragonfly-plus", "groups=30; spines=3", "groups is 30: expected at most 7"},
    {"torus", "x=65535; y=65535", "x: the longest path between two hosts would have 65536 links"},
    {"hyperx", "x=65535; y=2", "hosts-per-switch is 1: expected at most 65535 ports"},
    {"slim-fly", "q=6", "q is 6: expected a prime or a power of one from 3 to 251"},
};

START_TEST(impossible_fabric_is_refused)
{
    const refusal_t *const refusal = &refusals[_i];
    world_t world;
    world_init(&world);
    sim_message_t message = {.text = ""};
    const sim_err_t error = world_try_build(&world, refusal->topology, refusal->settings, &message);
    ck_assert_int_eq(error, SIM_ERR_RANGE);
    ck_assert_msg(strncmp(message.text, refusal->text, strlen(refusal->text)) == 0, "%s",
                  message.text);
    world_fini(&world);
}
END_TEST

#define FABRICS (int)SIM_COUNT_OF(fabrics)

CHECK_MAIN(CHECK_LOOP_FEW(fabric_has_its_numbers, 0, FABRICS, 8),
           CHECK_LOOP_FEW(fabric_has_its_diameter, 0, FABRICS, 8),
           CHECK_LOOP_FEW(fabric_has_its_paths, 0, FABRICS, 8),
           CHECK_LOOP_FEW(fabric_has_its_bisection, 0, FABRICS, 8),
           CHECK_LOOP_FEW(threads_do_not_change_fabrics, 0, 8, 3),
           CHECK_TEST(ports_of_racks_are_numbered_as_documented),
           CHECK_TEST(ports_of_direct_networks_are_numbered_as_documented),
           CHECK_LOOP(impossible_fabric_is_refused, 0, (int)SIM_COUNT_OF(refusals)))
