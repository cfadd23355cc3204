// SPDX-License-Identifier: Apache-2.0
// tests/net/test_network.c - building networks, time over several hops, frames on the wire, the
// books.
//
// Goal: a frame's time over any path is the closed form of net_path_time_ps to the picosecond, and
// that form is what store and forward says; names, addresses and header fields are as promised;
// packets and bytes are conserved, and the check of that can fail.
// Method: chains of switches between scripted hosts with random rates, delays and sizes; frames
// built at every hop by the codec and read back.
// Not pinned: where a path with several choices goes (test_routing.c), queues (test_switch.c).
#include "net/frame.h"
#include "net/frame_opcodes.h"
#include "net/paths.h"
#include "net/ports.h"

#include <string.h>

#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define HOPS_MAX 4u

// Returns a switch that drops and marks nothing, so that only time is left to check.
static net_switch_config_t plain_switch(void)
{
    net_switch_config_t config = fixture_switch_config();
    config.buffer_bytes = UINT64_C(4000000000);
    config.lossy_alpha = (sim_ratio_t){8, 1};
    config.ecn_enabled = false;
    return config;
}

typedef struct chain {
    fixture_t fixture;
    uint32_t hops;
    uint64_t rates_bps[HOPS_MAX];
    sim_time_t delays_ps[HOPS_MAX];
} chain_t;

// Creates a - switch - switch - ... - b.
static void chain_create(chain_t *chain)
{
    const net_switch_config_t config = plain_switch();
    fixture_create(&chain->fixture, NULL);
    net_node_t *previous = &fixture_host(&chain->fixture, "a")->node;
    for (uint32_t h = 0; h < chain->hops; h++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "s%u", h);
        net_node_t *const next = h + 1 < chain->hops
                                     ? fixture_switch(&chain->fixture, name, &config)
                                     : &fixture_host(&chain->fixture, "b")->node;
        fixture_link(&chain->fixture, previous, next, chain->rates_bps[h], chain->delays_ps[h]);
        previous = next;
    }
}

// Simulates a burst. Returns the time from its first bit's departure to its last frame's arrival.
static sim_time_t simulate_burst(const chain_t *shape, uint64_t full_count, uint32_t full_bytes,
                                 uint32_t last_bytes, sim_time_t *promised_ps)
{
    chain_t chain = *shape;
    chain_create(&chain);
    fixture_flow(chain.fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                           .count = full_count,
                                                           .frame_bytes = full_bytes,
                                                           .last_bytes = last_bytes,
                                                           .start_ps = 12345});
    fixture_build(&chain.fixture);
    net_path_t path;
    ck_assert(net_path_of(chain.fixture.net, 0, 1, 0, &path));
    ck_assert_uint_eq(path.hop_count, chain.hops);
    *promised_ps = net_path_time_ps(&path, full_count, full_bytes, last_bytes);
    fixture_run(&chain.fixture);
    ck_assert_uint_eq(chain.fixture.hosts[1]->received, full_count + (last_bytes > 0 ? 1 : 0));
    const sim_time_t time_ps = chain.fixture.hosts[1]->last_ps - 12345;
    fixture_destroy(&chain.fixture);
    return time_ps;
}

// -- time

// One frame is stored and forwarded at each hop, and the gap delays nothing.
START_TEST(one_frame_over_hops)
{
    static const uint64_t rates_gbps[] = {10, 100, 25, 400};
    const uint32_t bytes = 1070;
    chain_t chain = {.hops = (uint32_t)_i};
    sim_time_t expected_ps = 0;
    for (uint32_t h = 0; h < chain.hops; h++) {
        chain.rates_bps[h] = rates_gbps[h] * FIXTURE_GBPS;
        chain.delays_ps[h] = 500000 + h;
        expected_ps += fixture_bytes_ps(bytes + 12, chain.rates_bps[h]) + chain.delays_ps[h];
    }
    sim_time_t promised_ps = 0;
    ck_assert_uint_eq(simulate_burst(&chain, 1, bytes, 0, &promised_ps), expected_ps);
    ck_assert_uint_eq(promised_ps, expected_ps);
}
END_TEST

// A link's second node may send slower than the first.
START_TEST(directions_have_their_own_rates)
{
    for (uint32_t from = 0; from < 2; from++) {
        fixture_t fixture;
        fixture_create(&fixture, NULL);
        net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, SIM_PS_PER_US);
        link.backward_bps = 25 * FIXTURE_GBPS;
        fixture_host_t *const hosts[] = {fixture_host(&fixture, "a"), fixture_host(&fixture, "b")};
        (void)net_link_add(fixture.net, &hosts[0]->node, &hosts[1]->node, &link);
        fixture_flow(
            hosts[from],
            &(fixture_flow_t){.to = 1 - from, .count = 1, .frame_bytes = 1070, .start_ps = 7});
        fixture_build(&fixture);
        fixture_run(&fixture);
        const uint64_t bps = from == 0 ? link.rate_bps : link.backward_bps;
        ck_assert_uint_eq(hosts[1 - from]->last_ps,
                          fixture_bytes_ps(1070 + 12, bps) + SIM_PS_PER_US + 7);
        fixture_destroy(&fixture);
    }
}
END_TEST

// Frames over equal hops: one frame per hop in the pipe, then one more per frame time.
START_TEST(burst_over_equal_hops)
{
    chain_t chain = {.hops = 3};
    for (uint32_t h = 0; h < 3; h++) {
        chain.rates_bps[h] = 100 * FIXTURE_GBPS;
        chain.delays_ps[h] = SIM_PS_PER_US;
    }
    sim_time_t promised_ps = 0;
    const sim_time_t expected_ps = 3 * (SIM_PS_PER_US + 1082 * 80) + 99 * 1094 * 80;
    ck_assert_uint_eq(simulate_burst(&chain, 100, 1070, 0, &promised_ps), expected_ps);
    ck_assert_uint_eq(promised_ps, expected_ps);
}
END_TEST

static void draw_chain(sim_random_t *random, const uint64_t *gbps, size_t count, chain_t *chain)
{
    chain->hops = 1 + (uint32_t)sim_random_below(random, HOPS_MAX);
    for (uint32_t h = 0; h < chain->hops; h++) {
        chain->rates_bps[h] = gbps[sim_random_below(random, count)] * FIXTURE_GBPS;
        chain->delays_ps[h] = 1000 + sim_random_below(random, 3000000);
    }
}

START_TEST(path_time_equals_simulation)
{
    static const uint64_t gbps[] = {1, 10, 25, 40, 50, 100, 200, 400, 800};
    static const uint64_t counts[] = {0, 1, 2, 3, 17, 300};
    sim_random_t random;
    sim_random_init(&random, 11, 0, "chains");
    for (int round = 0; round < 400; round++) {
        chain_t chain = {.hops = 0};
        draw_chain(&random, gbps, SIM_COUNT_OF(gbps), &chain);
        const uint64_t full_count = counts[sim_random_below(&random, SIM_COUNT_OF(counts))];
        const uint32_t full_bytes = 60 + (uint32_t)sim_random_below(&random, 4300);
        uint32_t last_bytes = 0;
        if (full_count == 0 || sim_random_below(&random, 2) == 0) {
            last_bytes = 60 + (uint32_t)sim_random_below(&random, full_bytes - 59);
        }
        sim_time_t promised_ps = 0;
        const sim_time_t time_ps =
            simulate_burst(&chain, full_count, full_bytes, last_bytes, &promised_ps);
        ck_assert_uint_eq(promised_ps, time_ps);
    }
}
END_TEST

// Rates that are not whole ps per byte: 1 ps per hop, however long the burst.
START_TEST(path_time_with_remainders)
{
    static const uint64_t gbps[] = {3, 7, 11, 30, 60, 70, 100, 130, 300, 700};
    sim_random_t random;
    sim_random_init(&random, 12, 0, "chains");
    for (int round = 0; round < 200; round++) {
        chain_t chain = {.hops = 0};
        draw_chain(&random, gbps, SIM_COUNT_OF(gbps), &chain);
        const uint64_t full_count = 1 + sim_random_below(&random, 3000);
        const uint32_t full_bytes = 60 + (uint32_t)sim_random_below(&random, 4300);
        sim_time_t promised_ps = 0;
        const sim_time_t time_ps = simulate_burst(&chain, full_count, full_bytes, 0, &promised_ps);
        const sim_time_t error_ps =
            promised_ps > time_ps ? promised_ps - time_ps : time_ps - promised_ps;
        ck_assert_uint_le(error_ps, chain.hops == 1 ? 0 : chain.hops);
    }
}
END_TEST

// -- construction

START_TEST(hosts_need_links)
{
    fixture_t fixture;
    sim_message_t message = {.text = ""};
    fixture_create(&fixture, NULL);
    (void)fixture_host(&fixture, "lonely");
    ck_assert_int_eq(net_build(fixture.net, &message), SIM_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(message.text, "lonely"));
    fixture_destroy(&fixture);

    fixture_create(&fixture, NULL);
    (void)fixture_switch(&fixture, "s0", NULL);
    ck_assert_int_eq(net_build(fixture.net, &message), SIM_ERR_INVALID);
    fixture_destroy(&fixture);
}
END_TEST

START_TEST(names_addresses_and_paths)
{
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    net_node_t *const s = fixture_switch(&fixture, "s", NULL);
    net_node_t *const t = fixture_switch(&fixture, "t", NULL);
    net_node_t *const a = &fixture_host(&fixture, "a")->node;
    net_node_t *const b = &fixture_host(&fixture, "b")->node;
    net_node_t *const c = &fixture_host(&fixture, "c")->node;
    net_node_t *const d = &fixture_host(&fixture, "d")->node;
    fixture_link(&fixture, a, s, 100 * FIXTURE_GBPS, 1000);
    fixture_link(&fixture, s, t, 40 * FIXTURE_GBPS, 2000);
    fixture_link(&fixture, a, s, 100 * FIXTURE_GBPS, 3000); // a second interface
    fixture_link(&fixture, t, s, 40 * FIXTURE_GBPS, 4000);  // parallel
    fixture_link(&fixture, b, t, 25 * FIXTURE_GBPS, 5000);
    fixture_link(&fixture, c, d, 25 * FIXTURE_GBPS, 6000); // an island
    fixture_build(&fixture);
    const net_t *const net = fixture.net;
    ck_assert_uint_eq(net_interface_count(net), 5);
    ck_assert_uint_eq(net_link_count(net), 6);
    ck_assert_ptr_eq(net_node_find(net, "t"), t);
    ck_assert_ptr_null(net_node_find(net, "x"));
    ck_assert_str_eq(net_port_name(&a->ports[0]), "a->s");
    ck_assert_str_eq(net_port_name(&a->ports[1]), "a->s#2");
    ck_assert_str_eq(net_port_name(&s->ports[1]), "s->t");
    ck_assert_str_eq(net_port_name(&s->ports[3]), "s->t#2");
    ck_assert_str_eq(net_port_name(&t->ports[0]), "t->s");
    ck_assert_str_eq(net_port_name(&b->ports[0]), "b->t");
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(net_port_interface(net_interface_port(net, i)), i);
    }
    ck_assert_uint_ge(net_port_interface(&s->ports[0]), NET_INTERFACES_MAX);

    static const bool reach[5][5] = {
        {false, true, true, false, false},  {true, false, true, false, false},
        {true, true, false, false, false},  {false, false, false, false, true},
        {false, false, false, true, false},
    };
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t j = 0; j < 5; j++) {
            ck_assert_int_eq(net_reachable(net, i, j), reach[i][j]);
        }
    }
    net_path_t path;
    ck_assert(net_path_of(net, 1, 2, 99, &path));
    ck_assert_uint_eq(path.hop_count, 3);
    ck_assert_ptr_eq(path.ports[0], &a->ports[1]);
    ck_assert_ptr_eq(path.ports[2], &t->ports[2]);
    ck_assert_uint_eq(path.bottleneck_bps, 25 * FIXTURE_GBPS);
    ck_assert_uint_eq(path.delay_ps, 3000 + path.ports[1]->line->delay_ps + 5000);
    fixture_destroy(&fixture);
}
END_TEST

// -- frames on the wire

typedef struct wire {
    net_frame_t frames[8];
    uint8_t bytes[8][NET_FRAME_BYTES_MAX];
    uint32_t count;
} wire_t;

// Builds the frame as the port sends it and reads it back.
static void tap(const net_trace_t *trace, void *ctx)
{
    wire_t *const wire = ctx;
    ck_assert_uint_lt(wire->count, SIM_COUNT_OF(wire->frames));
    net_frame_t frame;
    net_packet_frame(trace->port, trace->packet, &frame);
    uint8_t *const bytes = wire->bytes[wire->count];
    const size_t size = net_frame_build(&frame, bytes, NET_FRAME_BYTES_MAX);
    ck_assert_uint_eq(size, trace->packet->frame_bytes);
    sim_message_t message = {.text = ""};
    const sim_err_t error = net_frame_parse(bytes, size, &wire->frames[wire->count], &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    ck_assert(trace->packet->kind == NET_PACKET_CONTROL ||
              net_frame_icrc_ok(bytes, size, &wire->frames[wire->count]));
    wire->count++;
}

// Builds a - s - t - b and records one packet on each of the three links.
static void tap_path(const net_config_t *config, wire_t *wire, uint32_t uids[6])
{
    const fixture_options_t options = {.seed = 1, .net = *config};
    fixture_t fixture;
    fixture_create(&fixture, &options);
    net_node_t *const nodes[4] = {
        &fixture_host(&fixture, "a")->node,
        fixture_switch(&fixture, "s", NULL),
        fixture_switch(&fixture, "t", NULL),
        &fixture_host(&fixture, "b")->node,
    };
    for (int i = 0; i < 3; i++) {
        fixture_link(&fixture, nodes[i], nodes[i + 1], 100 * FIXTURE_GBPS, 1000);
    }
    const uint32_t bytes =
        net_frame_bytes(ROCE_UC | ROCE_SEND_ONLY, 0, config->tagged, config->ipv6);
    fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                     .count = 1,
                                                     .frame_bytes = bytes,
                                                     .priority = 5,
                                                     .ttl = 9,
                                                     .ecn = NET_ECN_ECT0,
                                                     .source_port = 0xc321});
    fixture_build(&fixture);
    for (int i = 0; i < 3; i++) {
        net_port_t *const port = fixture_port(nodes[i], nodes[i + 1]);
        uids[2 * i] = port->uid;
        uids[2 * i + 1] = port->peer->uid;
        net_port_listen(port, NET_TRACE_TX, tap, wire);
    }
    fixture_run(&fixture);
    ck_assert_uint_eq(wire->count, 3);
    ck_assert_uint_eq(fixture.hosts[1]->received, 1);
    fixture_destroy(&fixture);
}

static uint32_t mac_uid(const uint8_t mac[6])
{
    ck_assert_uint_eq(mac[0], 0x02);
    return (uint32_t)mac[2] << 24 | (uint32_t)mac[3] << 16 | (uint32_t)mac[4] << 8 | mac[5];
}

START_TEST(routed_hops_rewrite)
{
    static wire_t wire;
    uint32_t uids[6];
    const net_config_t config = fixture_net_config();
    tap_path(&config, &wire, uids);
    for (uint32_t hop = 0; hop < 3; hop++) {
        const net_frame_t *const frame = &wire.frames[hop];
        ck_assert_uint_eq(mac_uid(frame->source_mac), uids[2 * hop]);
        ck_assert_uint_eq(mac_uid(frame->destination_mac), uids[2 * hop + 1]);
        ck_assert_uint_eq(frame->ttl, 9 - hop);
        ck_assert_uint_eq(frame->dscp, 5 << 3);
        ck_assert_uint_eq(frame->ecn, NET_ECN_ECT0);
        ck_assert_uint_eq(frame->udp_source_port, 0xc321);
        ck_assert(!frame->tagged && !frame->ipv6);
        ck_assert_mem_eq(frame->source_ip, ((uint8_t[]){10, 0, 0, 1}), 4);
        ck_assert_mem_eq(frame->destination_ip, ((uint8_t[]){10, 0, 0, 2}), 4);
        ck_assert_uint_eq(frame->destination_qp, ROCE_QPN_FIRST);
    }
}
END_TEST

START_TEST(switched_hops_leave_frames_alone)
{
    static wire_t wire;
    uint32_t uids[6];
    net_config_t config = fixture_net_config();
    config.forwarding = NET_FORWARDING_SWITCHED;
    config.tagged = true;
    config.vlan_id = 77;
    config.ipv6 = true;
    tap_path(&config, &wire, uids);
    for (uint32_t hop = 0; hop < 3; hop++) {
        const net_frame_t *const frame = &wire.frames[hop];
        ck_assert_mem_eq(wire.bytes[hop], wire.bytes[0], 60);
        ck_assert_uint_eq(mac_uid(frame->source_mac), uids[0]);
        ck_assert_uint_eq(mac_uid(frame->destination_mac), uids[5]);
        ck_assert_uint_eq(frame->ttl, 9);
        ck_assert(frame->tagged && frame->ipv6);
        ck_assert_uint_eq(frame->pcp, 5);
        ck_assert_uint_eq(frame->vlan_id, 77);
        ck_assert_uint_eq(frame->source_ip[0], 0xfd);
        ck_assert_uint_eq(frame->source_ip[15], 1);
        ck_assert_uint_eq(frame->destination_ip[15], 2);
    }
}
END_TEST

START_TEST(pause_frames_are_mac_control)
{
    static wire_t wire;
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    fixture_host_t *const a = fixture_host(&fixture, "a");
    fixture_host_t *const b = fixture_host(&fixture, "b");
    fixture_link(&fixture, &a->node, &b->node, 100 * FIXTURE_GBPS, 1000);
    fixture_pause(a, 1000000, 1u << 3 | 1u << 6, 0x1234);
    fixture_pause(a, 2000000, 1u << 3, 0);
    fixture_build(&fixture);
    net_port_listen(&a->node.ports[0], NET_TRACE_TX, tap, &wire);
    fixture_run(&fixture);
    ck_assert_uint_eq(wire.count, 2);
    // The frame: DA, SA, 0x8808, 0x0101, class enable vector, eight times; zeros up to 60 bytes.
    uint8_t expected[60] = {0x01, 0x80, 0xc2, 0, 0, 0x01};
    memcpy(expected + 6, wire.frames[0].source_mac, 6);
    memcpy(expected + 12, ((uint8_t[]){0x88, 0x08, 0x01, 0x01, 0x00, 0x48}), 6);
    memcpy(expected + 18 + 6, ((uint8_t[]){0x12, 0x34}), 2);
    memcpy(expected + 18 + 12, ((uint8_t[]){0x12, 0x34}), 2);
    ck_assert_mem_eq(wire.bytes[0], expected, 60);
    ck_assert_uint_eq(mac_uid(wire.frames[0].source_mac), a->node.ports[0].uid);
    ck_assert_uint_eq(wire.frames[1].pfc_classes, 1u << 3);
    ck_assert_uint_eq(wire.frames[1].pfc_quanta[3], 0);
    fixture_destroy(&fixture);
}
END_TEST

// -- the books

START_TEST(books_balance_in_the_middle)
{
    const fixture_options_t options = {
        .seed = 1,
        .until_ps = 30 * SIM_PS_PER_US,
        .net = fixture_net_config(),
    };
    fixture_t fixture;
    fixture_create(&fixture, &options);
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, SIM_PS_PER_US);
    (void)fixture_star(&fixture, NULL, 4, &link);
    for (int i = 0; i < 4; i++) {
        fixture_flow(fixture.hosts[i], &(fixture_flow_t){.to = 4});
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    ck_assert_int_eq(fixture.ended, SIM_ENDED_UNTIL);
    net_tally_t sums;
    uint64_t in_flight = 0;
    net_conservation(fixture.net, &sums, &in_flight);
    ck_assert_uint_gt(in_flight, 100);
    ck_assert_uint_eq(sums.created, sums.delivered + sums.dropped + in_flight);
    ck_assert_uint_eq(sums.bytes_delivered, sums.delivered * 1000);
    // A wrong count makes the check fail, so the check is able to fail.
    sim_message_t message = {.text = ""};
    fixture.hosts[0]->node.tally.delivered++;
    ck_assert(!net_conservation_ok(fixture.net, &message));
    fixture.hosts[0]->node.tally.delivered--;
    ck_assert(net_conservation_ok(fixture.net, &message));
    fixture_destroy(&fixture);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(one_frame_over_hops, 1, HOPS_MAX + 1),
           CHECK_TEST(directions_have_their_own_rates), CHECK_TEST(burst_over_equal_hops),
           CHECK_TEST(path_time_equals_simulation), CHECK_TEST(path_time_with_remainders),
           CHECK_TEST(hosts_need_links), CHECK_TEST(names_addresses_and_paths),
           CHECK_TEST(routed_hops_rewrite), CHECK_TEST(switched_hops_leave_frames_alone),
           CHECK_TEST(pause_frames_are_mac_control), CHECK_TEST(books_balance_in_the_middle))
