// SPDX-License-Identifier: Apache-2.0
// Goal: the builders make the networks that their pages describe.
// Method: counts, names, port numbers, path lengths and rates against the definitions of the
// shapes; connectivity of all pairs; addresses; refusals with the promised message.
// Does not pin: the order of node indices, link numbers, MAC addresses.
#include <string.h>

#include "net/frame.h"
#include "net/frame_opcodes.h"
#include "net/nodes.h"
#include "net/paths.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"
#include "topologies/topology_file.h"

static size_t count_kind(const world_t *world, net_node_kind_t kind)
{
    size_t count = 0;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        count += net_node_at(world->net, i)->kind == kind;
    }
    return count;
}

static uint32_t hops(const world_t *world, uint32_t from, uint32_t to, uint32_t hash)
{
    net_path_t path;
    ck_assert(net_path_of(world->net, from, to, hash, &path));
    return path.hop_count;
}

static const net_node_t *peer_of(const world_t *world, const char *node, uint32_t port)
{
    const net_node_t *const found = net_node_find(world->net, node);
    ck_assert_msg(found != NULL, "no node %s", node);
    ck_assert_uint_lt(port, found->port_count);
    return found->ports[port].peer->node;
}

static void assert_peer(const world_t *world, const char *node, uint32_t port, const char *peer)
{
    ck_assert_str_eq(peer_of(world, node, port)->sim.name, peer);
}

typedef struct shape {
    const char *topology;
    const char *settings;
    size_t hosts;
    size_t switches;
    size_t links;
    uint32_t hops_max;
} shape_t;

static const shape_t shapes[] = {
    {"pair", "", 2, 0, 1, 1},
    {"pair", "nics-per-host=4", 2, 0, 4, 1},
    {"star", "hosts=1", 1, 1, 1, 0},
    {"star", "hosts=9", 9, 1, 9, 2},
    {"star", "hosts=5; nics-per-host=3", 5, 1, 15, 2},
    {"dumbbell", "left=3; right=2", 5, 2, 6, 3},
    {"dumbbell", "left=1; right=4; nics-per-host=2", 5, 2, 11, 3},
    {"parking-lot", "switches=2; hosts-per-switch=1", 2, 2, 3, 3},
    {"parking-lot", "switches=5; hosts-per-switch=3", 15, 5, 19, 6},
    {"parking-lot", "switches=63; hosts-per-switch=1", 63, 63, 125, 64},
    {"leaf-spine", "leaves=1; spines=1; hosts-per-leaf=2", 2, 2, 3, 2},
    {"leaf-spine", "leaves=4; spines=2; hosts-per-leaf=8", 32, 6, 40, 4},
    {"leaf-spine", "leaves=3; spines=2; hosts-per-leaf=2; links-per-spine=3", 6, 5, 24, 4},
    {"leaf-spine", "leaves=2; spines=2; hosts-per-leaf=4; nics-per-host=2", 8, 4, 20, 4},
    {"leaf-spine", "leaves=8; spines=4; hosts-per-leaf=4; nics-per-host=4; rails=on", 8, 12, 64, 4},
    {"fat-tree", "k=2", 2, 5, 6, 6},
    {"fat-tree", "k=4", 16, 20, 48, 6},
    {"fat-tree", "k=6", 54, 45, 162, 6},
    {"fat-tree", "k=4; hosts-per-edge=5", 40, 20, 72, 6},
    {"fat-tree", "k=4; nics-per-host=2", 16, 20, 64, 6},
    {"fat-tree", "k=6; pods=2", 18, 21, 18 + 18 + 18, 6},
    {"fat-tree", "k=4; pods=1", 4, 4, 4 + 4, 4},
    {"rail-optimised", "servers=4; gpus-per-server=2; servers-per-segment=2", 4, 12, 40, 4},
    {"dual-tor", "servers=4; gpus-per-server=2; servers-per-segment=2; spines=2", 4, 10, 32, 4},
    {"dragonfly", "groups=5; global-links=1", 40, 20, 80, 5},
    {"dragonfly-plus", "groups=3; spines=2; global-links=1", 24, 18, 24 + 24 + 3, 5},
    {"torus", "x=5; y=3", 15, 15, 15 + 30, 5},
    {"hyperx", "x=4; y=3; hosts-per-switch=2", 24, 12, 24 + 18 + 12, 4},
    {"slim-fly", "q=5; hosts-per-switch=1", 50, 50, 50 + 175, 4},
};

START_TEST(shape_has_its_numbers)
{
    const shape_t *const shape = &shapes[_i];
    world_t world;
    world_init(&world);
    world_build(&world, shape->topology, shape->settings);
    ck_assert_uint_eq(count_kind(&world, NET_NODE_HOST), shape->hosts);
    ck_assert_uint_eq(count_kind(&world, NET_NODE_SWITCH), shape->switches);
    ck_assert_uint_eq(net_link_count(world.net), shape->links);
    world_fini(&world);
}
END_TEST

// Every interface reaches every one of other hosts (a pair's cables: the one at the same number),
// and the longest path is what the tiers make it.
START_TEST(shape_connects_all_pairs)
{
    const shape_t *const shape = &shapes[_i];
    world_t world;
    world_init(&world);
    world_build(&world, shape->topology, shape->settings);
    const uint32_t count = (uint32_t)net_interface_count(world.net);
    uint32_t hops_max = 0;
    for (uint32_t i = 0; i < count; i++) {
        const net_port_t *const from = net_interface_port(world.net, i);
        for (uint32_t j = 0; j < count; j++) {
            const net_port_t *const to = net_interface_port(world.net, j);
            if (from->node == to->node) {
                continue;
            }
            if (shape->switches == 0 && from->peer != to) {
                ck_assert(!net_reachable(world.net, i, j));
                continue;
            }
            ck_assert_msg(net_reachable(world.net, i, j), "%u to %u", i, j);
            const uint32_t length = hops(&world, i, j, i * 31 + j);
            hops_max = length > hops_max ? length : hops_max;
        }
    }
    ck_assert_uint_eq(hops_max, shape->hops_max);
    world_fini(&world);
}
END_TEST

static int compare_bytes(const void *a, const void *b)
{
    return memcmp(a, b, 10);
}

START_TEST(addresses_are_unique)
{
    const shape_t *const shape = &shapes[_i];
    world_t world;
    world_init(&world);
    world_build(&world, shape->topology, shape->settings);
    const size_t count = net_interface_count(world.net);
    // MAC and IPv4 of each interface.
    unsigned char(*const addresses)[10] = sim_alloc_array(count, sizeof(*addresses));
    for (uint32_t i = 0; i < count; i++) {
        const net_port_t *const port = net_interface_port(world.net, i);
        ck_assert_uint_eq(net_port_interface(port), i);
        const net_packet_t packet = {.kind = NET_PACKET_ROCE,
                                     .source = i,
                                     .destination = (i + 1) % (uint32_t)count};
        net_frame_t frame;
        net_packet_frame(port, &packet, &frame);
        memcpy(addresses[i], frame.source_ip, 4);
        memcpy(addresses[i] + 4, frame.source_mac, 6);
    }
    qsort(addresses, count, sizeof(*addresses), compare_bytes);
    for (size_t i = 1; i < count; i++) {
        ck_assert_int_ne(memcmp(addresses[i - 1], addresses[i], 4), 0);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            ck_assert_int_ne(memcmp(addresses[i] + 4, addresses[j] + 4, 6), 0);
        }
    }
    sim_free(addresses);
    world_fini(&world);
}
END_TEST

START_TEST(ports_are_numbered_as_documented)
{
    world_t world;
    world_init(&world);
    world_build(&world, "leaf-spine", "leaves=3; spines=2; hosts-per-leaf=2; links-per-spine=2");
    assert_peer(&world, "leaf1", 0, "host2");
    assert_peer(&world, "leaf1", 1, "host3");
    assert_peer(&world, "leaf1", 2, "spine0");
    assert_peer(&world, "leaf1", 3, "spine0");
    assert_peer(&world, "leaf1", 4, "spine1");
    assert_peer(&world, "spine1", 0, "leaf0");
    assert_peer(&world, "spine1", 3, "leaf1");
    assert_peer(&world, "spine1", 5, "leaf2");
    world_fini(&world);

    world_init(&world);
    world_build(&world, "fat-tree", "k=4");
    assert_peer(&world, "edge3", 0, "host6");
    assert_peer(&world, "edge3", 2, "agg2");
    assert_peer(&world, "edge3", 3, "agg3");
    assert_peer(&world, "agg3", 0, "edge2");
    assert_peer(&world, "agg3", 2, "core2");
    assert_peer(&world, "agg3", 3, "core3");
    assert_peer(&world, "core3", 0, "agg1");
    assert_peer(&world, "core3", 1, "agg3");
    assert_peer(&world, "core3", 3, "agg7");
    world_fini(&world);

    world_init(&world);
    world_build(&world, "parking-lot", "switches=3; hosts-per-switch=2");
    assert_peer(&world, "switch0", 2, "switch1");
    assert_peer(&world, "switch1", 1, "host3");
    assert_peer(&world, "switch1", 2, "switch0");
    assert_peer(&world, "switch1", 3, "switch2");
    world_fini(&world);

    world_init(&world);
    world_build(&world, "dumbbell", "left=2; right=1");
    assert_peer(&world, "switch0", 2, "switch1");
    assert_peer(&world, "switch1", 0, "host2");
    assert_peer(&world, "switch1", 1, "switch0");
    world_fini(&world);
}
END_TEST

// NIC n of every host of a group on leaf n of it; without rails all NICs on one leaf.
START_TEST(rails_spread_the_nics)
{
    world_t world;
    world_init(&world);
    world_build(&world, "leaf-spine",
                "leaves=4; spines=1; hosts-per-leaf=3; nics-per-host=2; rails=on");
    assert_peer(&world, "host0", 0, "leaf0");
    assert_peer(&world, "host0", 1, "leaf1");
    assert_peer(&world, "host2", 1, "leaf1");
    assert_peer(&world, "host3", 0, "leaf2");
    assert_peer(&world, "host5", 1, "leaf3");
    // Same rail of one group: through one leaf. Another group: through the spine.
    ck_assert_uint_eq(
        hops(&world, world_interface(&world, "host0", 1), world_interface(&world, "host2", 1), 0),
        2);
    ck_assert_uint_eq(
        hops(&world, world_interface(&world, "host0", 1), world_interface(&world, "host2", 0), 0),
        4);
    world_fini(&world);

    world_init(&world);
    world_build(&world, "leaf-spine", "leaves=4; spines=1; hosts-per-leaf=3; nics-per-host=2");
    assert_peer(&world, "host3", 0, "leaf1");
    assert_peer(&world, "host3", 1, "leaf1");
    world_fini(&world);
}
END_TEST

START_TEST(rates_and_delays_are_given_to_the_links)
{
    world_t world;
    world_init(&world);
    world_build(&world, "leaf-spine",
                "leaves=2; spines=1; hosts-per-leaf=1; host-rate=25Gbps; fabric-rate=400Gbps; "
                "delay=3us; host-delay=7ns");
    net_path_t path;
    ck_assert(net_path_of(world.net, 0, 1, 0, &path));
    ck_assert_uint_eq(path.hop_count, 4);
    ck_assert_uint_eq(path.ports[0]->line->rate_bps, UINT64_C(25000000000));
    ck_assert_uint_eq(path.ports[1]->line->rate_bps, UINT64_C(400000000000));
    ck_assert_uint_eq(path.delay_ps, 2 * 3 * SIM_PS_PER_US + 2 * 7 * SIM_PS_PER_NS);
    ck_assert_uint_eq(path.bottleneck_bps, UINT64_C(25000000000));
    world_fini(&world);
}
END_TEST

// Hashes spread over every equal-cost path: k^2/4 between pods of a fat-tree.
START_TEST(ecmp_uses_every_core)
{
    world_t world;
    world_init(&world);
    world_build(&world, "fat-tree", "k=8");
    unsigned uses[16] = {0};
    const unsigned draws = 16000;
    for (unsigned i = 0; i < draws; i++) {
        const uint16_t port = (uint16_t)(0xc000 + i % 16384);
        const uint32_t to = 64 + i % 64;
        net_path_t path;
        ck_assert(net_path_of(world.net, 0, to, net_flow_hash(world.net, 0, to, port), &path));
        ck_assert_uint_eq(path.hop_count, 6);
        unsigned core = 0;
        ck_assert_int_eq(sscanf(path.ports[3]->node->sim.name, "core%u", &core), 1);
        uses[core]++;
    }
    for (unsigned i = 0; i < 16; i++) {
        // Binomial(16000, 1/16): mean 1000, standard deviation 30.6; six of them.
        ck_assert_msg(uses[i] > 816 && uses[i] < 1184, "core%u: %u", i, uses[i]);
    }
    world_fini(&world);
}
END_TEST

typedef struct refusal {
    const char *topology;
    const char *settings;
    const char *text; // the message begins with it
} refusal_t;

static const refusal_t refusals[] = {
    {"fat-tree", "k=7", "k is 7: expected an even number from 2 to 256"},
    {"fat-tree", "k=4; pods=5", "pods is 5: expected at most k, which is 4"},
    {"fat-tree", "k=256; hosts-per-edge=65000", "k is 256: expected a network of at most"},
    {"fat-tree", "k=4; hosts-per-edge=65535", "hosts-per-edge is 65535: expected at most"},
    {"leaf-spine", "leaves=6; nics-per-host=4; rails=on",
     "leaves is 6: expected a multiple of nics-per-host (4) with rails"},
    {"leaf-spine", "leaves=65535; hosts-per-leaf=1000", "leaves is 65535: expected a network of"},
    {"leaf-spine", "spines=65535; links-per-spine=2", "hosts-per-leaf is 32: expected at most"},
    {"leaf-spine", "leaves=65535; links-per-spine=2", "leaves is 65535: expected at most"},
    {"star", "hosts=65535; nics-per-host=2", "hosts is 65535: expected at most 65535 ports"},
    {"dumbbell", "left=65535; nics-per-host=2", "left is 65535: expected at most"},
    {"dumbbell", "right=65535; nics-per-host=2", "right is 65535: expected at most"},
    {"parking-lot", "hosts-per-switch=65000; nics-per-host=2", "hosts-per-switch is 65000"},
};

START_TEST(impossible_shape_is_refused)
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

// Every builder's table, defaults included, makes a network.
START_TEST(defaults_build)
{
    for (size_t i = 0; topo_all[i] != NULL; i++) {
        ck_assert_ptr_eq(topo_find(topo_all[i]->name), topo_all[i]);
        ck_assert_uint_gt(strlen(topo_all[i]->help), 0);
        if (topo_all[i] == &topo_file) {
            continue; // has no default: see test_topology_file.c
        }
        world_t world;
        world_init(&world);
        world_build(&world, topo_all[i]->name, "");
        ck_assert_uint_ge(net_interface_count(world.net), 2);
        world_fini(&world);
    }
    ck_assert_ptr_null(topo_find("moebius"));
}
END_TEST

CHECK_MAIN(CHECK_LOOP(shape_has_its_numbers, 0, (int)SIM_COUNT_OF(shapes)),
           CHECK_LOOP(shape_connects_all_pairs, 0, (int)SIM_COUNT_OF(shapes)),
           CHECK_LOOP(addresses_are_unique, 0, (int)SIM_COUNT_OF(shapes)),
           CHECK_TEST(ports_are_numbered_as_documented), CHECK_TEST(rails_spread_the_nics),
           CHECK_TEST(rates_and_delays_are_given_to_the_links), CHECK_TEST(ecmp_uses_every_core),
           CHECK_LOOP(impossible_shape_is_refused, 0, (int)SIM_COUNT_OF(refusals)),
           CHECK_TEST(defaults_build))
