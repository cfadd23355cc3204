// SPDX-License-Identifier: Apache-2.0
// tests/topologies/test_topology_file.c - topologies from peers' files
// (topologies/topology_file.h).
//
// Goal: what a file lists is what there is: nodes with their numbers, links in order with exact
// values; a fat-tree of htsim's has its shape, its paths and its latencies.
// Method: files in memory; the shape by counting, latency by adding up the links of a path.
// Not pinned: wrong files, which tests/cli/hpcc/test_cli_hpcc.sh has by their messages.
#include "topologies/topology_file.h"

#include <string.h>

#include "tests/check_main.h"

typedef struct notes {
    int count;
    char last[512];
} notes_t;

static void keep(const char *text, void *ctx)
{
    notes_t *const notes = ctx;
    notes->count++;
    snprintf(notes->last, sizeof(notes->last), "%s", text);
}

static topo_file_t *parse(const char *text, notes_t *notes)
{
    topo_file_t *file = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t error = topo_file_parse(TOPO_FILE_AUTO, "f", text, strlen(text),
                                            notes == NULL ? NULL : keep, notes, &file, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    return file;
}

START_TEST(hpcc_is_read_as_listed)
{
    notes_t notes = {0};
    topo_file_t *const file = parse("4 2 3\n1 3\n0 1 100Gbps 0.001ms 0\n"
                                    "3 1 4e11 1500ps 1e-3\n2 3 25Gb/s 1e-6 0.25\nthe end\n",
                                    &notes);
    static const char *const names[] = {"host0", "switch1", "host2", "switch3"};
    ck_assert_uint_eq(file->node_count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(file->nodes[i].name, names[i]);
        ck_assert_uint_eq(file->nodes[i].number, i);
        ck_assert_int_eq(file->nodes[i].kind, i % 2 == 1 ? NET_NODE_SWITCH : NET_NODE_HOST);
    }
    ck_assert_uint_eq(file->link_count, 3);
    ck_assert_uint_eq(file->links[0].delay_ps, SIM_PS_PER_US);
    ck_assert_uint_eq(file->links[0].loss_rate.num, 0);
    ck_assert_uint_eq(file->links[1].a, 3);
    ck_assert_uint_eq(file->links[1].b, 1);
    ck_assert_uint_eq(file->links[1].rate_bps, UINT64_C(400000000000));
    ck_assert_uint_eq(file->links[1].delay_ps, 1500);
    ck_assert_uint_eq(file->links[1].loss_rate.num * 1000, file->links[1].loss_rate.den);
    ck_assert_uint_eq(file->links[2].rate_bps, UINT64_C(25000000000));
    ck_assert_uint_eq(file->links[2].delay_ps, SIM_PS_PER_US);
    ck_assert_int_eq(notes.count, 0);
    topo_file_destroy(file);
}
END_TEST

START_TEST(simai_has_nvswitches)
{
    topo_file_t *const file = parse("5 2 1 1 5 H100 2\n2 3\n0 2 2400Gbps 25ns 0\n"
                                    "1 2 2400Gbps 25ns 0\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n"
                                    "4 3 100Gbps 1us 0\n",
                                    NULL);
    ck_assert_uint_eq(file->node_count, 5);
    ck_assert_str_eq(file->nodes[2].name, "switch2");
    ck_assert_str_eq(file->nodes[3].name, "switch3");
    ck_assert_str_eq(file->nodes[4].name, "host4");
    ck_assert_uint_eq(file->links[0].delay_ps, 25 * SIM_PS_PER_NS);
    topo_file_destroy(file);
}
END_TEST

START_TEST(more_links_are_a_note)
{
    notes_t notes = {0};
    topo_file_t *const file =
        parse("2 0 1\n0 1 1Gbps 1us 0\n0 1 1Gbps 1us 0\n1 0 1Gbps 1us 0\n# 5\n", &notes);
    ck_assert_int_eq(notes.count, 1);
    ck_assert_msg(strncmp(notes.last, "f:3:1: 2 more links", 19) == 0, "%s", notes.last);
    topo_file_destroy(file);
}
END_TEST

static uint32_t degree(const topo_file_t *file, uint32_t node)
{
    uint32_t count = 0;
    for (size_t i = 0; i < file->link_count; i++) {
        count += file->links[i].a == node || file->links[i].b == node;
    }
    return count;
}

static sim_time_t delay_between(const topo_file_t *file, const char *a, const char *b)
{
    for (size_t i = 0; i < file->link_count; i++) {
        const char *const from = file->nodes[file->links[i].a].name;
        const char *const to = file->nodes[file->links[i].b].name;
        if (strcmp(from, a) == 0 && strcmp(to, b) == 0) {
            return file->links[i].delay_ps;
        }
    }
    return SIM_TIME_NEVER;
}

// 16 hosts in 4 pods of 2 x 2 switches, 2 core switches with bundles of 2.
START_TEST(htsim_has_its_shape)
{
    topo_file_t *const file =
        parse("# c\nNodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 2\n"
              "Radix_Down 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 300\nTier 1\n"
              "Downlink_speed_Gbps 200\nRadix_Up 2\nRadix_Down 2\nDownlink_Latency_ns 500\n"
              "Switch_Latency_ns 400\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 8\nBundle 2\n"
              "Downlink_Latency_ns 250\nSwitch_Latency_ns 100\n",
              NULL);
    ck_assert_uint_eq(file->node_count, 16 + 8 + 8 + 2);
    ck_assert_uint_eq(file->link_count, 16 + 16 + 16);
    for (uint32_t n = 0; n < file->node_count; n++) {
        const char *const name = file->nodes[n].name;
        const uint32_t expected = name[0] == 'h' ? 1 : name[0] == 'c' ? 8 : 4;
        ck_assert_msg(degree(file, n) == expected, "%s has %u", name, degree(file, n));
    }
    // A way over the core: its links' latencies and each switch's once.
    const sim_time_t up_ps = delay_between(file, "host0", "tor0") +
                             delay_between(file, "tor0", "agg1") +
                             delay_between(file, "agg1", "core1");
    const sim_time_t links_ns = 1000 + 500 + 250;
    ck_assert_uint_eq(2 * up_ps, (2 * links_ns + 2 * 300 + 2 * 400 + 100) * SIM_PS_PER_NS);
    ck_assert_uint_eq(delay_between(file, "tor0", "agg2"), SIM_TIME_NEVER); // of another pod
    ck_assert_uint_eq(delay_between(file, "agg1", "core0"), SIM_TIME_NEVER);
    topo_file_destroy(file);
}
END_TEST

CHECK_MAIN(CHECK_TEST(hpcc_is_read_as_listed), CHECK_TEST(simai_has_nvswitches),
           CHECK_TEST(more_links_are_a_note), CHECK_TEST(htsim_has_its_shape))
