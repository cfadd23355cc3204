// SPDX-License-Identifier: Apache-2.0
// tests/nic/cc/test_cc_swift.c - Swift's target and window, step by step.
//
// Goal: the target is the paper's function of window and hops; a window grows by ai a round trip,
// or by ai a packet below one; it is cut by beta times the excess, at most once a round trip and at
// most by max-mdf; below one packet the rate is window / round trip; enough time-outs reset it.
// Method: the operations are called with made-up ACKs, against the formulas of Kumar et al.,
// SIGCOMM 2020, algorithm 1 and section 3.5. Not pinned: how flows share (test_cc_conformance.c).
#include <math.h>
#include <string.h>

#include "nic/cc/swift.h"
#include "tests/check_main.h"

#define US SIM_PS_PER_US

typedef struct rig {
    sim_node_t node;
    nic_swift_config_t config;
    nic_swift_t swift;
    net_packet_t packet;
} rig_t;

static void begin(rig_t *rig)
{
    memset(rig, 0, sizeof(*rig));
    sim_attrs_default(&nic_swift_attrs, &rig->config);
    rig->node.now_ps = 1000 * US;
    rig->packet.ttl = 64;
    rig->swift.cc = (nic_cc_t){
        .ops = &nic_cc_swift,
        .config = &rig->config,
        .node = &rig->node,
        .line_bps = 100000000000,
        .mtu_bytes = 4096,
        .overhead_bytes = 82,
    };
    nic_cc_swift.init(&rig->swift.cc);
}

static void ack(rig_t *rig, sim_time_t rtt_ps, uint64_t bytes)
{
    const nic_cc_ack_t one = {.rtt_ps = rtt_ps, .acked_bytes = bytes, .packet = &rig->packet};
    nic_cc_swift.ack(&rig->swift.cc, &one);
}

// The target is continuous where flow scaling begins and ends, and base + hops x per-hop for large
// windows.
START_TEST(target_follows_window_and_hops)
{
    rig_t rig;
    begin(&rig);
    const nic_swift_config_t *const config = &rig.config;
    ck_assert_uint_eq(nic_swift_target_ps(config, 100, 0), 20 * US);
    ck_assert_uint_eq(nic_swift_target_ps(config, 1e9, 5), 20 * US + 5 * config->hop_ps);
    ck_assert_uint_eq(nic_swift_target_ps(config, 0.1, 0), 120 * US);
    ck_assert_uint_eq(nic_swift_target_ps(config, 0.001, 0), 120 * US);
    const double alpha = 100e6 / (1 / sqrt(0.1) - 0.1);
    for (uint32_t step = 0; step < 12; step++) {
        const double window = 0.2 * pow(1.7, step); // up to 69
        const double expected = 20e6 + alpha / sqrt(window) - alpha / 10;
        const double target = (double)nic_swift_target_ps(config, window, 0);
        ck_assert_double_le(fabs(target - expected), 2);
    }
    const double near = (double)nic_swift_target_ps(config, 0.1001, 0);
    ck_assert_double_le(120e6 - near, 0.1e6);
    rig.config.flow_scaling = false;
    ck_assert_uint_eq(nic_swift_target_ps(config, 0.1, 0), 20 * US);
}
END_TEST

START_TEST(window_grows_by_ai)
{
    rig_t rig;
    begin(&rig);
    ck_assert_double_eq_tol(rig.swift.window, 12, 1e-12);
    for (int i = 0; i < 12; i++) {
        ack(&rig, 10 * US, 4096);
    }
    ck_assert_double_eq_tol(rig.swift.window, 13, 0.05); // one packet in a window of ACKs
    ck_assert_uint_eq(rig.swift.cc.window_bytes, (uint64_t)(rig.swift.window * 4096));
    ck_assert_uint_eq(rig.swift.cc.rate_bps, rig.swift.cc.line_bps);
    rig.swift.window = 0.25;
    ack(&rig, 10 * US, 2048);
    ck_assert_double_eq_tol(rig.swift.window, 0.75, 1e-12);
}
END_TEST

START_TEST(window_is_cut_once_a_round_trip)
{
    rig_t rig;
    begin(&rig);
    rig.swift.window = 200; // no flow scaling: the target is 20 us
    ack(&rig, 25 * US, 4096);
    ck_assert_double_eq_tol(rig.swift.window, 200 * (1 - 0.8 * 5 / 25), 1e-9);
    const double window = rig.swift.window;
    rig.node.now_ps += 24 * US;
    ack(&rig, 25 * US, 4096);
    ck_assert_double_eq_tol(rig.swift.window, window, 1e-12);
    rig.node.now_ps += US;
    ack(&rig, 2000 * US, 4096); // its own round trip has not passed since
    ck_assert_double_eq_tol(rig.swift.window, window, 1e-12);
    rig.node.now_ps += 2000 * US;
    ack(&rig, 2000 * US, 4096);
    ck_assert_double_eq_tol(rig.swift.window, window / 2, 1e-9); // max-mdf
}
END_TEST

// Delay in the hosts is no delay of the fabric. It has a window of its own, and the smaller counts.
START_TEST(hosts_have_a_window)
{
    rig_t rig;
    begin(&rig);
    rig.swift.window = 200;
    nic_cc_ack_t one = {.rtt_ps = 60 * US,
                        .host_ps = 50 * US,
                        .acked_bytes = 4096,
                        .packet = &rig.packet};
    nic_cc_swift.ack(&rig.swift.cc, &one); // 10 us in the fabric, 50 us of 100 us in hosts
    ck_assert_double_gt(rig.swift.window, 200);
    ck_assert_double_eq_tol(rig.swift.host_window, 1000, 1e-9);
    const double fabric = rig.swift.window;
    rig.node.now_ps += 1000 * US;
    one.rtt_ps = 460 * US;
    one.host_ps = 450 * US; // smoothed: 50 + 400 / 8 = 100 us, the target
    nic_cc_swift.ack(&rig.swift.cc, &one);
    ck_assert_double_eq_tol(rig.swift.host_window, 1000, 1e-9);
    rig.node.now_ps += 1000 * US;
    nic_cc_swift.ack(&rig.swift.cc, &one); // 100 + 350 / 8 = 143.75 us
    const double share = 1 - 0.8 * 43.75 / 143.75;
    ck_assert_double_eq_tol(rig.swift.host_window, 1000 * share, 1e-6);
    nic_cc_swift.ack(&rig.swift.cc, &one); // once a round trip
    ck_assert_double_eq_tol(rig.swift.host_window, 1000 * share, 1e-6);
    ck_assert_double_gt(rig.swift.window, fabric); // the fabric's has grown
    rig.swift.host_window = 7;
    one.host_ps = 1;
    nic_cc_swift.ack(&rig.swift.cc, &one);
    ck_assert_uint_eq(rig.swift.cc.window_bytes, (uint64_t)(rig.swift.host_window * 4096));
    ck_assert_double_lt(rig.swift.host_window, 8);
}
END_TEST

// Hops are what the ACK's TTL has lost.
START_TEST(hops_come_from_the_ttl)
{
    rig_t rig;
    begin(&rig);
    rig.swift.window = 200;
    rig.packet.ttl = 59;
    ack(&rig, 35 * US, 4096); // below 20 us + 5 x 3.05 us
    ck_assert_double_gt(rig.swift.window, 200);
}
END_TEST

START_TEST(small_windows_are_paced)
{
    rig_t rig;
    begin(&rig);
    rig.swift.window = 0.02;
    ack(&rig, 200 * US, 0); // a cut to 0.02 x max(1 - 0.8 x 80 / 200, 0.5)
    const double window = 0.02 * (1 - 0.8 * 80 / 200);
    ck_assert_double_eq_tol(rig.swift.window, window, 1e-9);
    ck_assert_uint_eq(rig.swift.cc.window_bytes, 4096);
    const double bps = window * 8 * (4096 + 82) / 200e-6;
    ck_assert_double_le(fabs((double)rig.swift.cc.rate_bps - bps), 1e-3 * bps);
}
END_TEST

START_TEST(timeouts_reset_the_window)
{
    rig_t rig;
    begin(&rig);
    for (int i = 0; i < 4; i++) {
        rig.node.now_ps += 1000 * US;
        nic_cc_swift.timeout(&rig.swift.cc);
    }
    ck_assert_double_eq_tol(rig.swift.window, 12.0 / 16, 1e-12);
    nic_cc_swift.timeout(&rig.swift.cc);
    ck_assert_double_eq_tol(rig.swift.window, 0.001, 1e-12);
    ack(&rig, 10 * US, 4096);
    ck_assert_uint_eq(rig.swift.timeouts, 0);
}
END_TEST

CHECK_MAIN(CHECK_TEST(target_follows_window_and_hops), CHECK_TEST(window_grows_by_ai),
           CHECK_TEST(window_is_cut_once_a_round_trip), CHECK_TEST(hosts_have_a_window),
           CHECK_TEST(hops_come_from_the_ttl), CHECK_TEST(small_windows_are_paced),
           CHECK_TEST(timeouts_reset_the_window))
