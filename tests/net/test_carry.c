// SPDX-License-Identifier: Apache-2.0
// labels: threads
// tests/net/test_carry.c - packets and counters travel from rank to rank by value.
//
// Goal: a packet that is carried has all its fields, telemetry and contents; a network in two or
// three ranks has the digest, the end and the counters of one process, on one or two threads each.
// Ranks begin windows early unless one of them expects timers in the background.
// Method: ranks are threads of this process with a simulation each; they talk through memory.
// Not pinned: which rank gets which nodes. MPI: tests/cli/run/test_cli_ranks.sh.
#include <pthread.h>
#include <string.h>

#include "kernel/timer.h"
#include "net/carry.h"
#include "net/nodes.h"
#include "net/port_metrics.h"
#include "tests/check_main.h"
#include "tests/net_fixture.h"
#include "tests/rank_hub.h"

#define RATE_BPS (100 * FIXTURE_GBPS)

typedef struct member {
    const sim_ranks_t *ranks;
    unsigned threads;
    bool background; // rank 0 expects timers in the background
    uint64_t early;  // windows that began early
    uint64_t digest;
    sim_time_t end_ps;
    uint64_t tx_packets; // of all ports; rank 0
    bool conserved;      // rank 0
} member_t;

// -- a network

// Two leaves and two spines. Hosts of one leaf send to those of the other, two of them to one.
static void build(fixture_t *fixture, unsigned threads)
{
    const fixture_options_t options = {.seed = 3, .threads = threads};
    fixture_options_t all = options;
    all.net = fixture_net_config();
    fixture_create(fixture, &all);
    net_node_t *leaves[2];
    net_node_t *spines[2];
    for (unsigned i = 0; i < 2; i++) {
        leaves[i] = fixture_switch(fixture, i == 0 ? "leaf0" : "leaf1", NULL);
        spines[i] = fixture_switch(fixture, i == 0 ? "spine0" : "spine1", NULL);
    }
    for (unsigned h = 0; h < 8; h++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "h%u", h);
        net_node_t *const host = &fixture_host(fixture, name)->node;
        fixture_link(fixture, host, leaves[h / 4], RATE_BPS, SIM_PS_PER_US);
    }
    for (unsigned i = 0; i < 4; i++) {
        // One spine is far away: its messages arrive beyond the mail slots.
        fixture_link(fixture, leaves[i / 2], spines[i % 2], RATE_BPS,
                     (i % 2 == 0 ? 1 : 40) * SIM_PS_PER_US);
    }
    for (unsigned h = 0; h < 8; h++) {
        const fixture_flow_t flow = {.to = h < 2 ? 7 : (h + 4) % 8,
                                     .count = 200,
                                     .vary_source_port = true,
                                     .start_ps = 1 + h * SIM_PS_PER_NS};
        fixture_flow(fixture->hosts[h], &flow);
    }
    fixture_build(fixture);
}

static uint64_t tx_packets(const net_t *net)
{
    const net_port_metric_t *const metric = net_port_metric_find("tx_packets");
    uint64_t sum = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            sum += net_port_metric_read(metric, &node->ports[p], 0xff, 0);
        }
    }
    return sum;
}

static void take(unsigned rank, const void *bytes, size_t size, void *ctx)
{
    sim_reader_t reader = {bytes, size};
    if (rank > 0) {
        net_carry_take(ctx, &reader);
        ck_assert_uint_eq(reader.left, 0);
    }
}

static void *run(void *argument)
{
    member_t *const member = argument;
    fixture_t fixture;
    sim_buffer_t bytes = {0};
    build(&fixture, member->threads);
    sim_use_ranks(fixture.sim, member->ranks);
    if (member->background && member->ranks->rank == 0) {
        sim_expect_background(fixture.sim);
    }
    fixture_run(&fixture);
    sim_ranks_cost_t cost;
    sim_ranks_cost(fixture.sim, &cost);
    member->early = cost.early;
    member->digest = sim_digest(fixture.sim);
    member->end_ps = sim_end_time_ps(fixture.sim);
    if (member->ranks->rank > 0) {
        net_carry_leave(fixture.net, &bytes);
    }
    member->ranks->ops->collect(member->ranks->ctx, bytes.bytes, bytes.count, take, fixture.net);
    sim_message_t message = {.text = ""};
    member->tx_packets = tx_packets(fixture.net);
    member->conserved = net_conservation_ok(fixture.net, &message);
    sim_free(bytes.bytes);
    sim_destroy(fixture.sim);
    net_destroy(fixture.net);
    sim_free(fixture.hosts);
    sim_free(fixture.host_of);
    return NULL;
}

START_TEST(ranks_are_as_one)
{
    const unsigned count = 2 + (unsigned)_i % 2;
    const bool background = _i >= 4;
    uint64_t early = 0;
    fixture_t alone;
    build(&alone, 1);
    fixture_run(&alone);
    rank_hub_t hub;
    rank_hub_init(&hub, count);
    member_t members[RANK_HUB_MAX];
    pthread_t threads[RANK_HUB_MAX];
    for (unsigned r = 0; r < count; r++) {
        members[r] = (member_t){.ranks = &hub.members[r].ranks,
                                .threads = 1 + (unsigned)_i / 2 % 2,
                                .background = background};
        ck_assert_int_eq(pthread_create(&threads[r], NULL, run, &members[r]), 0);
    }
    for (unsigned r = 0; r < count; r++) {
        ck_assert_int_eq(pthread_join(threads[r], NULL), 0);
        ck_assert_uint_eq(members[r].digest, sim_digest(alone.sim));
        ck_assert_uint_eq(members[r].end_ps, sim_end_time_ps(alone.sim));
        early += members[r].early;
    }
    ck_assert_int_eq(early > 0, !background);
    ck_assert_uint_eq(members[0].tx_packets, tx_packets(alone.net));
    ck_assert(members[0].conserved);
    ck_assert_uint_gt(tx_packets(alone.net), 1600);
    rank_hub_fini(&hub);
    fixture_destroy(&alone);
}
END_TEST

// -- the codec

START_TEST(packet_is_carried_whole)
{
    fixture_t fixture;
    build(&fixture, 1);
    net_node_t *const node = net_node_at(fixture.net, 0);
    net_packet_t *const packet = net_packet_new(node, 1000);
    const uint32_t frame_bytes = packet->frame_bytes;
    *packet = (net_packet_t){.frame_bytes = (uint16_t)frame_bytes,
                             .payload_bytes = 600,
                             .kind = NET_PACKET_ROCE,
                             .psn = 77,
                             .destination_qp = 0x123456,
                             .route = 0x0102030405};
    net_packet_aside(packet)->immediate = 0xabcdef;
    net_packet_aside(packet)->reth.address = 0x1234;
    uint8_t *const payload = net_packet_add_contents(node, packet);
    for (unsigned i = 0; i < 600; i++) {
        payload[i] = (uint8_t)(i * 7);
    }
    sim_buffer_t bytes = {0};
    net__codec.leave(fixture.net, &node->sim, packet, &bytes);
    sim_reader_t reader = {bytes.bytes, bytes.count};
    net_packet_t *const arrived = net__codec.arrive(fixture.net, &node->sim, &reader);
    ck_assert_uint_eq(reader.left, 0);
    ck_assert_uint_eq(arrived->psn, 77);
    ck_assert_uint_eq(arrived->destination_qp, 0x123456);
    ck_assert_uint_eq(arrived->route, 0x0102030405);
    ck_assert_uint_eq(net_packet_aside(arrived)->immediate, 0xabcdef);
    ck_assert_uint_eq(net_packet_aside(arrived)->reth.address, 0x1234);
    ck_assert(arrived->contents);
    for (unsigned i = 0; i < 600; i++) {
        ck_assert_uint_eq(net_packet_aside(arrived)->payload[i], (uint8_t)(i * 7));
    }
    net_port_drop(&node->ports[0], arrived, NET_DROP_LINK_LOSS);
    sim_free(bytes.bytes);
    fixture_destroy(&fixture);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(ranks_are_as_one, 0, 8), CHECK_TEST(packet_is_carried_whole))
