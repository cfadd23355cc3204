// SPDX-License-Identifier: Apache-2.0
// tests/world/test_parts.c - which rank gets which nodes, and what a rank builds.
//
// Goal: ranks get whole pods where these are even shares, else leaf switches with their hosts, else
// hosts; graphs are divided where few links join their halves; all ranks find the same. A rank has
// the ports and NICs of its nodes and those that it meets, and makes others when asked for them.
// Method: parts of fat-trees, a star, a leaf-spine and a graph; counts of what exists.
// Not pinned: which pod goes to which rank. Whether results stay: tests/test_random_ranks.sh.
#include "net/nodes.h"
#include "net/paths.h"
#include "net/ports.h"
#include "tests/check_main.h"
#include "world/parts.h"
#include "world/world.h"

typedef struct part {
    sim_ranks_t ranks;
    world_scenario_t *scenario;
    world_t *world;
} part_t;

static void build(part_t *part, const char *text, unsigned rank, unsigned count)
{
    world_error_t error;
    part->ranks = (sim_ranks_t){.rank = rank, .count = count};
    ck_assert_msg(
        world_scenario_parse(NULL, "x.yaml", text, strlen(text), &part->scenario, &error) == SIM_OK,
        "%s", error.text);
    ck_assert_msg(world_create_part(part->scenario, WORLD_BUILD_ALL, &part->ranks, &part->world,
                                    &error) == SIM_OK,
                  "%s", error.text);
}

static void destroy(part_t *part)
{
    world_destroy(part->world);
    world_scenario_destroy(part->scenario);
}

// Checks that hosts are where their leaf switches are; returns whether whole pods are together.
static bool check_leaves(const part_t *part)
{
    const net_t *const net = part->world->net;
    const uint16_t *const rank_of = part->world->parts->rank_of;
    bool pods = true;
    for (size_t i = 0; i < net_link_count(net); i++) {
        const net_link_t link = net_link_at(net, i);
        const bool same = rank_of[link.a->sim.index] == rank_of[link.b->sim.index];
        const bool host = link.a->kind == NET_NODE_HOST || link.b->kind == NET_NODE_HOST;
        ck_assert_msg(same || !host, "%s, %s", link.a->sim.name, link.b->sim.name);
        const bool core =
            strncmp(link.a->sim.name, "core", 4) == 0 || strncmp(link.b->sim.name, "core", 4) == 0;
        pods = pods && (same || core);
    }
    return pods;
}

#define FAT_TREE                     \
    "topology: {fat-tree: {k: 8}}\n" \
    "traffic: [flows: {list: [host0 host100 1MB 0us]}]\n"

START_TEST(pods_stay_whole_where_they_are_even_shares)
{
    part_t part;
    build(&part, FAT_TREE, 0, 4);
    const world_parts_t *const parts = part.world->parts;
    ck_assert_int_eq(parts->way, WORLD_PARTS_PODS);
    ck_assert(check_leaves(&part));
    ck_assert_double_le(parts->busiest, 1.001);
    // Two pods of eight have 32 of 256 links to cores; a quarter of these leads to cores of theirs.
    ck_assert_uint_eq(parts->cut_count, 96);
    destroy(&part);
}
END_TEST

START_TEST(leaves_stay_with_their_hosts)
{
    part_t part;
    build(&part, FAT_TREE, 0, 7); // one would have two pods
    ck_assert_int_eq(part.world->parts->way, WORLD_PARTS_LEAVES);
    ck_assert(!check_leaves(&part));
    ck_assert_double_le(part.world->parts->busiest, 1.1);
    destroy(&part);
}
END_TEST

START_TEST(a_star_is_divided_by_hosts)
{
    part_t part;
    build(&part, "topology: {star: {hosts: 30}}\ntraffic: []\n", 0, 2);
    ck_assert_int_eq(part.world->parts->way, WORLD_PARTS_HOSTS);
    ck_assert_double_le(part.world->parts->busiest, 1.1);
    destroy(&part);
}
END_TEST

// Two rings of four switches with two hosts each, and one link between the rings. Names alternate,
// so that runs of nodes in order would cut most links.
START_TEST(graphs_are_divided_at_their_narrow_place)
{
    static const char text[] =
        "topology:\n  graph:\n    nodes:\n"
        "      - {switch: [s0, s1, s2, s3, s4, s5, s6, s7]}\n"
        "      - {host: [h0, h1, h2, h3, h4, h5, h6, h7]}\n"
        "    links:\n"
        "      - {between: s0--s2}\n      - {between: s2--s4}\n      - {between: s4--s6}\n"
        "      - {between: s6--s0}\n      - {between: s1--s3}\n      - {between: s3--s5}\n"
        "      - {between: s5--s7}\n      - {between: s7--s1}\n      - {between: s0--s1}\n"
        "      - {between: h0--s0}\n      - {between: h1--s1}\n      - {between: h2--s2}\n"
        "      - {between: h3--s3}\n      - {between: h4--s4}\n      - {between: h5--s5}\n"
        "      - {between: h6--s6}\n      - {between: h7--s7}\n"
        "traffic: []\n";
    part_t parts[2];
    for (unsigned rank = 0; rank < 2; rank++) {
        build(&parts[rank], text, rank, 2);
    }
    ck_assert_mem_eq(parts[0].world->parts->rank_of, parts[1].world->parts->rank_of, 16 * 2);
    (void)check_leaves(&parts[0]);
    if (world_parts_has_metis()) {
        ck_assert_int_eq(parts[0].world->parts->way, WORLD_PARTS_METIS);
        ck_assert_uint_eq(parts[0].world->parts->cut_count, 1);
    }
    destroy(&parts[0]);
    destroy(&parts[1]);
}
END_TEST

// Counts the ports and NICs that exist.
static void count(const net_t *net, size_t *ports, size_t *hosts)
{
    *ports = *hosts = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            *ports += net_port_exists(node, p);
        }
        *hosts += node->kind == NET_NODE_HOST && nic_exists(node);
    }
}

START_TEST(a_rank_builds_its_own_part)
{
    part_t part;
    size_t ports;
    size_t hosts;
    build(&part, "topology: {fat-tree: {k: 16}}\ntraffic: []\n", 1, 4);
    const net_t *const net = part.world->net;
    count(net, &ports, &hosts);
    // A quarter of 1024 hosts, and of 6144 ports; and the far ends of the links to other ranks:
    // three quarters of the 256 links of its pods to cores, and of the 256 of its cores to pods.
    ck_assert_uint_eq(hosts, 256);
    ck_assert_uint_eq(ports, 1536 + 192 + 192);
    // Whatever is asked for is there, and as it is in one process.
    const uint32_t foreign = 1023;
    ck_assert(!nic_exists(net_interface_node(net, foreign)));
    net_path_t path;
    ck_assert(net_path_of(net, 0, foreign, 5, &path));
    ck_assert_uint_eq(path.hop_count, 6);
    ck_assert_str_eq(net_port_name(path.ports[5]), "edge127->host1023");
    ck_assert_uint_eq(nic_interface(nic_of_interface(net, foreign)), foreign);
    ck_assert(nic_exists(net_interface_node(net, foreign)));
    const net_port_t *const port = net_interface_port(net, foreign);
    ck_assert_uint_eq(net_port_interface(port), foreign);
    ck_assert_ptr_eq(net_port_peer(net_port_peer(port)), port);
    destroy(&part);
}
END_TEST

static size_t count_nodes(const net_t *net)
{
    size_t nodes = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        nodes += net_node_look(net, i) != NULL;
    }
    return nodes;
}

// Hosts have two configurations, so one host of each remains for others to be made like it.
START_TEST(hosts_of_others_exist_when_they_are_asked_for)
{
    part_t part;
    build(&part,
          "topology: {fat-tree: {k: 16}}\n"
          "nodes: {\"host102?\": {nic: {mtu: 1024}}}\ntraffic: []\n",
          0, 4);
    const net_t *const net = part.world->net;
    // Its own 256 hosts, 320 switches, and a host of others of each configuration.
    ck_assert_uint_eq(count_nodes(net), 256 + 320 + 2);
    const uint32_t interface = 1023;
    const uint32_t number = net_interface_node_number(net, interface);
    ck_assert(net_node_look(net, number) == NULL);
    ck_assert_str_eq(net_node_name(net, number), "host1023");
    ck_assert_int_eq(net_kind_of(net, number), NET_NODE_HOST);
    ck_assert_uint_eq(net_ports_of(net, number), 1);
    ck_assert_uint_eq(nic_count_at(net, number), 1);
    ck_assert_uint_eq(nic_config_of_interface(net, interface)->mtu_bytes, 1024);
    ck_assert_uint_eq(nic_config_of_interface(net, 1019)->mtu_bytes, 4096);
    ck_assert_uint_eq(count_nodes(net), 256 + 320 + 2);
    // It is made once, and is what it was.
    const net_node_t *const host = net_node_find(net, "host1023");
    ck_assert_ptr_eq(host, net_node_at(net, number));
    ck_assert_ptr_eq(host, net_interface_port(net, interface)->node);
    ck_assert_uint_eq(host->sim.index, number);
    ck_assert_str_eq(host->sim.name, "host1023");
    ck_assert(!sim_node_is_here(&host->sim));
    ck_assert_uint_eq(nic_get_config(nic_at(host, 0))->mtu_bytes, 1024);
    ck_assert_uint_eq(count_nodes(net), 256 + 320 + 3);
    destroy(&part);
}
END_TEST

CHECK_MAIN(CHECK_TEST(pods_stay_whole_where_they_are_even_shares),
           CHECK_TEST(leaves_stay_with_their_hosts), CHECK_TEST(a_star_is_divided_by_hosts),
           CHECK_TEST(graphs_are_divided_at_their_narrow_place),
           CHECK_TEST(a_rank_builds_its_own_part),
           CHECK_TEST(hosts_of_others_exist_when_they_are_asked_for))
