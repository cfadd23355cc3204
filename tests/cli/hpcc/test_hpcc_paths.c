// SPDX-License-Identifier: Apache-2.0
// test_hpcc_paths.c - base RTT and BDP as HPCC's driver computes them
// (cli/hpcc/paths.h).
//
// Goal: rtt is 2 x delays + a payload's time on each link of one way, in whole nanoseconds, and the
// rate is the least of the path; hosts do not forward; of parallel links the last one counts.
// Method: small files in memory, numbers by hand; the published values of a star and of a k=8
// fat-tree at 100 Gbit/s and 1 us: 4160 ns and 52000 bytes, 12480 ns and 156000 bytes.
// Not pinned: which of several shortest paths with different links is taken.
#include "cli/hpcc/paths.h"

#include <string.h>

#include "tests/check_main.h"

static topo_file_t *parse(const char *text)
{
    topo_file_t *file = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t error =
        topo_file_parse(TOPO_FILE_AUTO, "f", text, strlen(text), NULL, NULL, &file, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    return file;
}

START_TEST(published_values)
{
    static const struct {
        const char *text;
        uint64_t rtt_ns;
        uint64_t bdp_bytes;
    } files[] = {
        {"3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n", 4160, 52000},
        {"Nodes 128\nTiers 3\nPodsize 16\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
         "Radix_Up 4\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
         "Radix_Up 4\nDownlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 8\n"
         "Downlink_Latency_ns 1000\n",
         12480, 156000},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(files); i++) {
        topo_file_t *const file = parse(files[i].text);
        cli_hpcc_paths_t *const paths = cli_hpcc_paths_create(file, 1000);
        uint64_t rtt_ns = 0;
        uint64_t bdp_bytes = 0;
        cli_hpcc_paths_max(paths, &rtt_ns, &bdp_bytes);
        ck_assert_uint_eq(rtt_ns, files[i].rtt_ns);
        ck_assert_uint_eq(bdp_bytes, files[i].bdp_bytes);
        cli_hpcc_paths_destroy(paths);
        topo_file_destroy(file);
    }
}
END_TEST

// Host 0 has 25 Gbit/s and 1.5 us, the trunk 40 Gbit/s and 2 us, host 1 100 Gbit/s and 1 us.
START_TEST(rates_and_delays_differ)
{
    topo_file_t *const file = parse("4 2 3\n2 3\n0 2 25Gbps 1.5us 0\n2 3 40Gbps 2us 0\n"
                                    "3 1 100Gbps 1000.9ns 0\n");
    cli_hpcc_paths_t *const paths = cli_hpcc_paths_create(file, 1001);
    // 1001 bytes take 320.32, 200.2 and 80.08 ns, each cut; the delays 1500 + 2000 + 1000 are cut
    // too.
    const uint64_t rtt_ns = 2 * 4500 + 320 + 200 + 80;
    for (uint32_t from = 0; from < 2; from++) {
        cli_hpcc_pair_t pair;
        ck_assert(cli_hpcc_pair(paths, from, 1 - from, &pair));
        ck_assert_uint_eq(pair.rtt_ns, rtt_ns);
        ck_assert_uint_eq(pair.rate_bps, UINT64_C(25000000000));
        ck_assert_uint_eq(cli_hpcc_bdp_bytes(&pair), rtt_ns * 25 / 8);
    }
    cli_hpcc_paths_destroy(paths);
    topo_file_destroy(file);
}
END_TEST

START_TEST(parallel_links_and_hosts_between)
{
    // Two links join 0 and 3; host 1 is linked to both switches but forwards nothing; host 2 is
    // far.
    topo_file_t *const file = parse("5 2 5\n3 4\n0 3 100Gbps 5us 0\n0 3 200Gbps 1us 0\n"
                                    "1 3 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 4 100Gbps 1us 0\n");
    cli_hpcc_paths_t *const paths = cli_hpcc_paths_create(file, 1000);
    cli_hpcc_pair_t pair;
    ck_assert(cli_hpcc_pair(paths, 0, 1, &pair));
    ck_assert_uint_eq(pair.rtt_ns, 2 * 2000 + 40 + 80); // by the last of the two
    ck_assert(!cli_hpcc_pair(paths, 0, 2, &pair));
    ck_assert(cli_hpcc_pair(paths, 2, 1, &pair));
    ck_assert(!cli_hpcc_pair(paths, 1, 1, &pair));
    cli_hpcc_paths_destroy(paths);
    topo_file_destroy(file);
}
END_TEST

CHECK_MAIN(CHECK_TEST(published_values), CHECK_TEST(rates_and_delays_differ),
           CHECK_TEST(parallel_links_and_hosts_between))
