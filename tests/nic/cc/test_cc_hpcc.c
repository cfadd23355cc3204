// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cc_hpcc.c - the law of HPCC and of HPCC on PINT (nic/cc/hpcc_law.h,
// nic/cc/cc_hpcc*.h).
//
// Goal: windows and rates are those of the published law, ACK by ACK; counters may wrap, ACKs may
// be lost, the path may change; each option does what it says.
// Method: one queue pair without a network, fed with ACKs whose records are made by hand: a line of
// 100 Gbit/s, T = 4160 ns, so that B T is 52000 bytes. Expected numbers were computed apart from
// the code, from the formulas of docs/models/hpcc.md.
// Not pinned: what switches write and ACKs bring back (test_telemetry.c), queues and shares in a
// network (test_cc_conformance.c, test_cc_hpcc_incast.c).
#include "nic/cc/hpcc.h"

#include <string.h>

#include "nic/cc/hpcc_pint.h"
#include "tests/check_main.h"

#define LINE_BPS UINT64_C(100000000000)
#define CODE_100G 10u
#define CODE_400G 12u
#define RTT_PS (4160 * SIM_PS_PER_NS)
#define BDP 52000.0

typedef struct rig {
    sim_node_t node;
    nic_hpcc_config_t config;
    nic_hpcc_pint_config_t pint_config;
    net_pint_t pint;
    union {
        nic_cc_t cc;
        nic_hpcc_t hpcc;
        nic_hpcc_pint_t hpcc_pint;
    };
    uint64_t psn; // packets acknowledged
} rig_t;

static void rig_init(rig_t *rig)
{
    memset(rig, 0, sizeof(*rig));
    sim_attrs_default(&nic_hpcc_attrs, &rig->config);
    sim_attrs_default(&nic_hpcc_pint_attrs, &rig->pint_config);
    net_pint_init(&rig->pint, (sim_ratio_t){105, 100}, RTT_PS);
    rig->node.now_ps = SIM_PS_PER_MS;
}

static void rig_start(rig_t *rig, const nic_cc_ops_t *ops)
{
    rig->cc.ops = ops;
    rig->cc.config = ops == &nic_cc_hpcc ? (const void *)&rig->config : &rig->pint_config;
    rig->cc.node = &rig->node;
    rig->cc.rate_bps = rig->cc.line_bps = LINE_BPS;
    rig->cc.window_bytes = NIC_WINDOW_UNLIMITED;
    rig->cc.mtu_bytes = 1024;
    rig->cc.base_rtt_ps = RTT_PS;
    rig->cc.bdp_bytes = (uint64_t)BDP;
    rig->cc.int_multiplier = 1;
    rig->cc.pint = &rig->pint;
    ops->init(&rig->cc);
    ops->start(&rig->cc);
}

// Returns a telemetry record made of its fields as they are on the wire.
static uint64_t record(uint32_t code, uint64_t time_ns, uint64_t sent, uint64_t queue)
{
    return (uint64_t)code << 60 | (time_ns & 0xffffff) << 36 | (sent & 0xfffff) << 16 | queue;
}

// Delivers the next packet's ACK; `ahead` packets are in flight behind it.
static void ack_path(rig_t *rig, uint32_t ahead, const uint64_t *hops, uint32_t hop_count,
                     uint16_t path_id)
{
    rig->psn++;
    const nic_cc_ack_t ack = {
        .acked_bytes = 1024,
        .acked_psn = rig->psn,
        .next_psn = rig->psn + ahead,
        .telemetry = NET_TELEMETRY_INT,
        .hop_count = hop_count,
        .path_id = path_id,
        .hops = hops,
    };
    rig->cc.ops->ack(&rig->cc, &ack);
}

static void ack_hop(rig_t *rig, uint32_t ahead, uint64_t hop)
{
    ack_path(rig, ahead, &hop, 1, 7);
}

static void ack_digest(rig_t *rig, uint32_t ahead, uint16_t digest)
{
    rig->psn++;
    const nic_cc_ack_t ack = {
        .acked_psn = rig->psn,
        .next_psn = rig->psn + ahead,
        .telemetry = NET_TELEMETRY_PINT,
        .digest = digest,
    };
    rig->cc.ops->ack(&rig->cc, &ack);
}

#define assert_near(value, expected) ck_assert_double_eq_tol((value), (expected), 1e-6)

// Delivers up to four ACKs of one hop, starting at the given counters. They are 1000 ns and 97
// units later with 65 units of queue, 500 ns and 40 units later with 10, then 9000 ns and 600 units
// later without a queue.
static void feed(rig_t *rig, uint64_t time_ns, uint64_t sent, uint32_t count)
{
    const uint64_t hops[] = {
        record(CODE_100G, time_ns, sent, 65),
        record(CODE_100G, time_ns + 1000, sent + 97, 65),
        record(CODE_100G, time_ns + 1500, sent + 137, 10),
        record(CODE_100G, time_ns + 10500, sent + 737, 0),
    };
    for (uint32_t i = 0; i < count; i++) {
        ack_hop(rig, 40, hops[i]);
    }
}

// u = 0.99328 + 0.1 over 1000 ns, 0.8192 + 0.01538 over 500 ns, 0.68267 over more than T.
static const double utilizations[] = {1.0, 1.0224230769230769, 0.9998463387573964, 0.68266666667};
static const double windows[] = {52000.0, 48396.593311514868, 49487.592031985676, 52000.0};

START_TEST(windows_follow_the_law)
{
    for (uint32_t count = 1; count <= 4; count++) {
        rig_t rig;
        rig_init(&rig);
        rig_start(&rig, &nic_cc_hpcc);
        ck_assert_uint_eq(rig.cc.rate_bps, LINE_BPS);
        ck_assert_uint_eq(rig.cc.window_bytes, 52000);
        feed(&rig, 5000, 100, count);
        assert_near(rig.hpcc.utilization, utilizations[count - 1]);
        assert_near(rig.hpcc.law.applied, windows[count - 1]);
        ck_assert_uint_eq(rig.cc.window_bytes, (uint64_t)windows[count - 1]);
        ck_assert_uint_eq(rig.cc.rate_bps, (uint64_t)(windows[count - 1] * 8e12 / RTT_PS + 1e-3));
        // All ACKs use the reference of the start: no packet sent after it was acknowledged.
        assert_near(rig.hpcc.law.current.value, BDP);
    }
}
END_TEST

// R_c / (U / eta) is cut to whole bit/s, then 40 Mbit/s come on top.
START_TEST(rates_follow_the_law_to_the_bit)
{
    static const uint64_t rates_bps[] = {LINE_BPS, 92956525599, 95054600061, LINE_BPS};
    for (uint32_t count = 1; count <= 4; count++) {
        rig_t rig;
        rig_init(&rig);
        rig.config.law.form = NIC_HPCC_RATE;
        rig_start(&rig, &nic_cc_hpcc);
        feed(&rig, 5000, 100, count);
        ck_assert_uint_eq(rig.cc.rate_bps, rates_bps[count - 1]);
        // The window is in proportion to the rate, in whole bytes.
        ck_assert_uint_eq(rig.cc.window_bytes,
                          (uint64_t)((double)rates_bps[count - 1] * 52000.0 / 1e11));
    }
}
END_TEST

START_TEST(counters_may_wrap_anywhere)
{
    for (uint32_t at = 0; at < 12; at++) {
        rig_t rig;
        rig_init(&rig);
        rig_start(&rig, &nic_cc_hpcc);
        feed(&rig, (1u << 24) - at * 1000, (1u << 20) - at * 70, 4);
        assert_near(rig.hpcc.utilization, utilizations[3]);
        assert_near(rig.hpcc.law.applied, windows[3]);
    }
}
END_TEST

// Two records of the same nanosecond are skipped, because their rate would have no bound.
START_TEST(records_of_one_instant_are_skipped)
{
    rig_t rig;
    rig_init(&rig);
    rig_start(&rig, &nic_cc_hpcc);
    feed(&rig, 5000, 100, 2);
    ack_hop(&rig, 40, record(CODE_100G, 6000, 300, 60000));
    assert_near(rig.hpcc.utilization, utilizations[1]);
    assert_near(rig.hpcc.law.applied, windows[1]);
}
END_TEST

// The second and third of four ACKs are lost: the fourth compares with the first.
START_TEST(lost_acks_widen_the_comparison)
{
    rig_t rig;
    rig_init(&rig);
    rig_start(&rig, &nic_cc_hpcc);
    ack_hop(&rig, 40, record(CODE_100G, 5000, 100, 65));
    rig.psn += 2;
    ack_hop(&rig, 40, record(CODE_100G, 15500, 1137, 20));
    // 1037 units came in 10500 ns, with 20 units of queue: this is longer than T, so U is u.
    assert_near(rig.hpcc.utilization, 1037 * 128 * 8 / 10500e-9 / 1e11 + 1600 / BDP);
}
END_TEST

// The smaller queue counts: a queue that only one of two packets saw is no congestion.
START_TEST(smaller_queue_counts)
{
    static const uint64_t queues[3][2] = {{0, 500}, {500, 0}, {500, 400}};
    static const double shares[3] = {0.0, 0.0, 400 * 80 / BDP};
    for (int i = 0; i < 3; i++) {
        rig_t rig;
        rig_init(&rig);
        rig_start(&rig, &nic_cc_hpcc);
        ack_hop(&rig, 40, record(CODE_100G, 0, 0, queues[i][0]));
        ack_hop(&rig, 40, record(CODE_100G, 8192, 400, queues[i][1]));
        assert_near(rig.hpcc.utilization, 0.5 + shares[i]);
    }
}
END_TEST

// -- the reference

// 40 packets are in flight whenever an ACK comes: W_c follows with the 42nd ACK, whose packet was
// sent after the first ACK, and again 41 ACKs later.
START_TEST(reference_follows_once_a_round_trip)
{
    rig_t rig;
    rig_init(&rig);
    rig_start(&rig, &nic_cc_hpcc);
    uint32_t changes = 0;
    for (uint32_t i = 1; i <= 124; i++) {
        const double before = rig.hpcc.law.current.value;
        // The hop carries 1.024 of the line rate, without a queue.
        ack_hop(&rig, 40, record(CODE_100G, i * 1000, i * 100, 0));
        if (rig.hpcc.law.current.value < before || rig.hpcc.law.current.value > before) {
            changes++;
            ck_assert(i == 42 || i == 83 || i == 124);
            assert_near(rig.hpcc.law.current.value, rig.hpcc.law.applied);
        } else if (i > 1) {
            // Between updates each ACK computes from the same reference.
            assert_near(rig.hpcc.law.applied, before / (rig.hpcc.utilization / 0.95) + 80.0 > BDP
                                                  ? BDP
                                                  : before / (rig.hpcc.utilization / 0.95) + 80.0);
        }
    }
    ck_assert_uint_eq(changes, 3);
}
END_TEST

START_TEST(reactions_differ_as_they_say)
{
    static const struct {
        nic_hpcc_reaction_t reaction;
        double window;    // after three ACKs within a round trip
        double reference; //
        double utilization;
    } cases[] = {
        {NIC_HPCC_BY_REFERENCE, 49487.592031985676, BDP, 0.9998463387573964},
        {NIC_HPCC_PER_RTT, BDP, BDP, 0.9998463387573964},
        {NIC_HPCC_PER_RTT_ONLY, BDP, BDP, 1.0},
        // The window follows from that of the second ACK: 48396.593 / (0.99985 / 0.95) + 80.
        {NIC_HPCC_PER_ACK, 46063.829578, 46063.829578, 0.9998463387573964},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        rig_t rig;
        rig_init(&rig);
        rig.config.law.reaction = cases[i].reaction;
        rig_start(&rig, &nic_cc_hpcc);
        feed(&rig, 5000, 100, 3);
        ck_assert_double_eq_tol(rig.hpcc.law.applied, cases[i].window, 1e-4);
        ck_assert_double_eq_tol(rig.hpcc.law.current.value, cases[i].reference, 1e-4);
        assert_near(rig.hpcc.utilization, cases[i].utilization);
    }
}
END_TEST

// Below eta the window grows by W_AI for as many round trips as there are stages; then it is
// multiplied. Every ACK belongs to a new round trip here, because nothing else is in flight.
START_TEST(stages_are_additive_until_the_last)
{
    rig_t rig;
    rig_init(&rig);
    rig.config.law.max_stage = 5;
    rig_start(&rig, &nic_cc_hpcc);
    // 4 T at 1.9 of the line rate halve the window: U / eta is 2.
    ack_hop(&rig, 0, record(CODE_100G, 0, 0, 0));
    ack_hop(&rig, 0, record(CODE_100G, 16000, 29688, 0));
    const double halved = BDP / (29688.0 * 1024 / 1.6e-5 / 1e11 / 0.95) + 80.0;
    assert_near(rig.hpcc.law.current.value, halved);
    ck_assert_uint_eq(rig.hpcc.law.current.stage, 0);
    for (uint32_t i = 1; i <= 5; i++) {
        ack_hop(&rig, 0, record(CODE_100G, 16000 + i * 8192, 29688 + i * 720, 0)); // u = 0.9
        assert_near(rig.hpcc.law.current.value, halved + i * 80.0);
        ck_assert_uint_eq(rig.hpcc.law.current.stage, i);
    }
    ack_hop(&rig, 0, record(CODE_100G, 16000 + 6 * 8192, 29688 + 6 * 720, 0));
    assert_near(rig.hpcc.law.current.value, (halved + 400.0) / (0.9 / 0.95) + 80.0);
    ck_assert_uint_eq(rig.hpcc.law.current.stage, 0);
}
END_TEST

START_TEST(windows_keep_within_bounds)
{
    rig_t rig;
    rig_init(&rig);
    rig.config.law.min_rate_bps = 200000000;
    rig_start(&rig, &nic_cc_hpcc);
    ack_hop(&rig, 0, record(CODE_100G, 0, 0, 65535));
    for (uint32_t i = 1; i < 20; i++) {
        ack_hop(&rig, 0, record(CODE_100G, i * 8192, i * 800, 65535));
    }
    assert_near(rig.hpcc.law.applied, 200e6 * 4160e-9 / 8);
    ck_assert_uint_eq(rig.cc.rate_bps, 200000000);
    ck_assert_uint_eq(rig.cc.window_bytes, 104);
    for (uint32_t i = 20; i < 40; i++) {
        ack_hop(&rig, 0, record(CODE_100G, i * 8192, i, 0)); // next to nothing is sent
        ck_assert_uint_le(rig.cc.rate_bps, LINE_BPS);
    }
    ck_assert_uint_eq(rig.cc.rate_bps, LINE_BPS);
    ck_assert_uint_eq(rig.cc.window_bytes, 52000);
}
END_TEST

START_TEST(limits_differ_as_they_say)
{
    static const uint64_t expected[2][3] = {
        {48396, 52000, NIC_WINDOW_UNLIMITED},
        {48337, 52000, NIC_WINDOW_UNLIMITED}, // 92956525599 / 10^11 of 52000
    };
    for (uint32_t form = 0; form < 2; form++) {
        for (uint32_t limit = 0; limit < 3; limit++) {
            rig_t rig;
            rig_init(&rig);
            rig.config.law.form = form;
            rig.config.law.limit = limit;
            rig_start(&rig, &nic_cc_hpcc);
            feed(&rig, 5000, 100, 2);
            ck_assert_uint_eq(rig.cc.window_bytes, expected[form][limit]);
        }
    }
}
END_TEST

// -- paths

START_TEST(another_path_begins_with_new_records)
{
    for (int kind = 0; kind < 2; kind++) {
        rig_t rig;
        rig_init(&rig);
        rig_start(&rig, &nic_cc_hpcc);
        feed(&rig, 5000, 100, 2);
        // The path has one hop more, or other switches: counters of other switches are not
        // compared.
        const uint64_t hops[2] = {record(CODE_100G, 777777, 5, 60000), record(CODE_100G, 1, 2, 3)};
        ack_path(&rig, 40, hops, kind == 0 ? 2 : 1, kind == 0 ? 7 : 8);
        assert_near(rig.hpcc.utilization, utilizations[1]);
        assert_near(rig.hpcc.law.applied, windows[1]);
        // The next ACK on the new path compares: 8192 ns, u = 0.5.
        const uint64_t next[2] = {record(CODE_100G, 785969, 405, 0),
                                  record(CODE_100G, 8193, 202, 0)};
        ack_path(&rig, 40, next, kind == 0 ? 2 : 1, kind == 0 ? 7 : 8);
        assert_near(rig.hpcc.utilization, 0.5);
    }
}
END_TEST

// The busiest hop counts, measured against its own rate.
START_TEST(busiest_hop_counts)
{
    rig_t rig;
    rig_init(&rig);
    rig_start(&rig, &nic_cc_hpcc);
    const uint64_t before[3] = {record(CODE_100G, 0, 0, 0), record(CODE_400G, 0, 0, 100),
                                record(CODE_100G, 0, 0, 9)};
    const uint64_t after[3] = {record(CODE_100G, 8192, 400, 0), record(CODE_400G, 8192, 2400, 100),
                               record(CODE_100G, 8192, 500, 9)};
    ack_path(&rig, 40, before, 3, 1);
    ack_path(&rig, 40, after, 3, 1);
    // The hop carries 300 Gbit/s of 400, and queues 8000 of the 208000 bytes that 400 Gbit/s carry
    // in T.
    assert_near(rig.hpcc.utilization, 0.75 + 8000.0 / 208000.0);
}
END_TEST

// The second of two hops becomes busy while the first one is idle over T. Each hop has its own
// reference, so the first one is back at the line rate when the second one is down.
START_TEST(multi_rate_keeps_a_reference_per_hop)
{
    rig_t rig;
    rig_init(&rig);
    rig.config.multi_rate = true;
    rig_start(&rig, &nic_cc_hpcc);
    const uint64_t hops[3][2] = {
        {record(CODE_100G, 0, 0, 0), record(CODE_100G, 0, 0, 0)},
        {record(CODE_100G, 8192, 1520, 0), record(CODE_100G, 8192, 400, 0)},
        {record(CODE_100G, 16384, 1520, 0), record(CODE_100G, 16384, 1540, 0)},
    };
    ack_path(&rig, 0, hops[0], 2, 1);
    ack_path(&rig, 0, hops[1], 2, 1); // u = 1.9 and 0.5
    assert_near(rig.hpcc.hops[0].reference.value, BDP / 2 + 80);
    assert_near(rig.hpcc.hops[1].reference.value, BDP);
    assert_near(rig.hpcc.law.applied, BDP / 2 + 80);
    ack_path(&rig, 0, hops[2], 2, 1); // 0 and 1.425: eta x 1.5
    assert_near(rig.hpcc.hops[0].reference.value, BDP);
    assert_near(rig.hpcc.hops[1].reference.value, BDP / 1.5 + 80);
    assert_near(rig.hpcc.law.applied, BDP / 1.5 + 80);
}
END_TEST

// With sampled feedback, a hop without a queue is not read between updates of the reference, and
// its record is not kept.
START_TEST(sampled_feedback_skips_empty_hops)
{
    for (int sampled = 0; sampled < 2; sampled++) {
        rig_t rig;
        rig_init(&rig);
        rig.config.sample_feedback = sampled != 0;
        rig_start(&rig, &nic_cc_hpcc);
        ack_hop(&rig, 1, record(CODE_100G, 0, 0, 0));
        ack_hop(&rig, 1, record(CODE_100G, 8192, 400, 0)); // sent before the first ACK
        assert_near(rig.hpcc.utilization, sampled != 0 ? 1.0 : 0.5);
        ack_hop(&rig, 1, record(CODE_100G, 16384, 1200, 0)); // updates: always read
        assert_near(rig.hpcc.utilization, sampled != 0 ? 0.75 : 1.0);
    }
}
END_TEST

// -- rest

START_TEST(rest_of_a_round_trip_begins_anew)
{
    static const sim_time_t rests_ps[] = {RTT_PS - 1, RTT_PS};
    for (int i = 0; i < 2; i++) {
        rig_t rig;
        rig_init(&rig);
        rig_start(&rig, &nic_cc_hpcc);
        feed(&rig, 5000, 100, 2);
        nic_cc_hpcc.stop(&rig.cc);
        rig.node.now_ps += rests_ps[i];
        nic_cc_hpcc.start(&rig.cc);
        assert_near(rig.hpcc.law.applied, i == 0 ? windows[1] : BDP);
        // After a short rest the next ACK compares; after a long one it counts as the first.
        ack_hop(&rig, 40, record(CODE_100G, 14192, 597, 0));
        assert_near(rig.hpcc.utilization, i == 0 ? 400 * 1024 / 8192e-9 / 1e11 * 8192 / 8192 : 1.0);
    }
}
END_TEST

START_TEST(acks_without_telemetry_change_nothing)
{
    rig_t rig;
    rig_init(&rig);
    rig_start(&rig, &nic_cc_hpcc);
    feed(&rig, 5000, 100, 2);
    const nic_hpcc_t before = rig.hpcc;
    rig.cc.ops->ack(&rig.cc, &(nic_cc_ack_t){.acked_psn = 999, .next_psn = 999});
    ack_digest(&rig, 0, 200);
    ck_assert_mem_eq(&before, &rig.hpcc, sizeof(before));
}
END_TEST

// -- PINT

// A digest drives the same law: 1.05^k / 1024, averaged by the switch.
START_TEST(digests_drive_the_same_law)
{
    rig_t rig;
    rig_init(&rig);
    rig.node.sim = sim_create(&(sim_options_t){.seed = 1, .threads = 1, .until_ps = 1});
    rig_start(&rig, &nic_cc_hpcc_pint);
    double utilization = 1.0 / 1024;
    uint16_t digest = 1;
    while (utilization < 1.9) {
        utilization *= 1.05;
        digest++;
    }
    ack_digest(&rig, 40, digest);
    assert_near(rig.hpcc_pint.law.applied, BDP); // the first only says when
    ack_digest(&rig, 40, digest);
    assert_near(rig.hpcc_pint.utilization, utilization);
    assert_near(rig.hpcc_pint.law.applied, BDP / (utilization / 0.95) + 80);
    assert_near(rig.hpcc_pint.law.current.value, BDP);
    for (int i = 0; i < 40; i++) {
        ack_digest(&rig, 40, digest);
    }
    assert_near(rig.hpcc_pint.law.current.value, BDP / (utilization / 0.95) + 80);
    ack_digest(&rig, 40, 0); // no switch wrote: the line is free
    assert_near(rig.hpcc_pint.law.applied, BDP);
    sim_destroy(rig.node.sim);
}
END_TEST

CHECK_MAIN(CHECK_TEST(windows_follow_the_law), CHECK_TEST(rates_follow_the_law_to_the_bit),
           CHECK_TEST(counters_may_wrap_anywhere), CHECK_TEST(records_of_one_instant_are_skipped),
           CHECK_TEST(lost_acks_widen_the_comparison), CHECK_TEST(smaller_queue_counts),
           CHECK_TEST(reference_follows_once_a_round_trip),
           CHECK_TEST(reactions_differ_as_they_say), CHECK_TEST(stages_are_additive_until_the_last),
           CHECK_TEST(windows_keep_within_bounds), CHECK_TEST(limits_differ_as_they_say),
           CHECK_TEST(another_path_begins_with_new_records), CHECK_TEST(busiest_hop_counts),
           CHECK_TEST(multi_rate_keeps_a_reference_per_hop),
           CHECK_TEST(sampled_feedback_skips_empty_hops),
           CHECK_TEST(rest_of_a_round_trip_begins_anew),
           CHECK_TEST(acks_without_telemetry_change_nothing),
           CHECK_TEST(digests_drive_the_same_law))
