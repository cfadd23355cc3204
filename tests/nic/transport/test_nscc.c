// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/nic/transport/test_nscc.c - NSCC's arithmetic: constants, reactions to ACKs, QuickAdapt.
//
// Goal: the scaled constants and each change of the window are those that the specification's
// formulas give. Method: the law alone, fed with ACKs; expected values from the formulas, written
// out here. Not pinned: what a network makes of it (test_uec.sh).
#include "nic/transport/selective/nscc.h"
#include "tests/check_main.h"

#define US SIM_PS_PER_US
#define BASE_PS (14023 * SIM_PS_PER_NS)
#define RATE_BPS UINT64_C(100000000000)
#define MSS 4086u
#define MTU 4150u

typedef struct rig {
    nic_nscc_config_t config;
    nic_nscc_t nscc;
} rig_t;

static void set_up(rig_t *rig)
{
    sim_attrs_default(&nic_nscc_attrs, &rig->config);
    nic__nscc_init(&rig->nscc, &rig->config, RATE_BPS, BASE_PS, MSS, MTU);
}

// The example of the public simulator at 100 Gbps and 14.02 us.
START_TEST(constants_scale_with_the_network)
{
    rig_t rig;
    set_up(&rig);
    ck_assert_double_eq_tol(rig.nscc.scale_rate, 1.1686, 0.0001);
    ck_assert_double_eq_tol(rig.nscc.scale_delay, 0.8764, 0.0001);
    ck_assert_uint_eq(rig.nscc.target_ps / SIM_PS_PER_NS, 10517);
    ck_assert_double_eq_tol(5 * MSS * rig.nscc.scale_rate, 23874, 1);
    ck_assert_double_eq_tol(0.15 * MSS * rig.nscc.scale_rate, 716, 1);
    ck_assert_double_eq_tol(rig.nscc.cap_bytes, 262931, 1);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, rig.nscc.cap_bytes, 0.01);
}
END_TEST

// An ACK of `packets` packets with a delay, at a time.
static void ack(rig_t *rig, sim_time_t now_ps, sim_time_t delay_ps, bool marked, uint32_t packets)
{
    const nic_nscc_cause_t cause = {.rtt_ps = BASE_PS + delay_ps, .full = true, .marked = marked};
    nic__nscc_ack(&rig->nscc, now_ps, &cause, (uint64_t)packets * MTU, 100000);
}

// A trimmed packet whose NACK says nothing of the round trip.
static void trim(rig_t *rig, sim_time_t now_ps, bool excused)
{
    nic__nscc_trimmed(&rig->nscc, now_ps, 0, MTU, excused, 50000);
}

START_TEST(unmarked_packets_raise_the_window)
{
    rig_t rig;
    set_up(&rig);
    rig.nscc.window_bytes = 100000;
    rig.nscc.adjusted_ps = 100 * US;
    rig.nscc.quick_ps = 1000 * US;
    // Nine packets in the middle between no delay and the target: alpha x what is left of it.
    const sim_time_t delay_ps = rig.nscc.target_ps / 2;
    ack(&rig, 100 * US, delay_ps, false, 9);
    const double alpha = 4 * MSS * rig.nscc.scale_rate * rig.nscc.scale_delay;
    const double left = (double)(rig.nscc.target_ps - delay_ps) / (double)rig.nscc.target_ps;
    const double first = 100000 + 9.0 * MTU * alpha * left / 100000;
    ck_assert_double_eq_tol(rig.nscc.window_bytes, first, 0.01);
    // Above the target it is the fair share; eta comes with the next round trip.
    ack(&rig, 115 * US, 2 * rig.nscc.target_ps, false, 9);
    const double fair = 9.0 * MTU * 5 * MSS * rig.nscc.scale_rate / first;
    const double eta = 0.15 * MSS * rig.nscc.scale_rate;
    ck_assert_double_eq_tol(rig.nscc.window_bytes, first + fair + eta, 0.01);
}
END_TEST

START_TEST(marked_packets_cut_the_window_once_in_a_round_trip)
{
    rig_t rig;
    set_up(&rig);
    rig.nscc.window_bytes = 200000;
    rig.nscc.adjusted_ps = 100 * US;
    rig.nscc.quick_ps = 1000 * US;
    rig.config.eta = (sim_ratio_t){0, 1};
    rig.nscc.average_ps = 2.0 * (double)rig.nscc.target_ps;
    ack(&rig, 100 * US, rig.nscc.target_ps / 2, true, 1); // short delay: the path is to blame
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 200000, 0.01);
    rig.nscc.average_ps = 2.0 * (double)rig.nscc.target_ps;
    ack(&rig, 100 * US, 2 * rig.nscc.target_ps, true, 1);
    const double cut = 200000 * (1 - 0.8 * 0.5);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, cut, 0.01);
    ack(&rig, 110 * US, 2 * rig.nscc.target_ps, true, 1);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, cut, 0.01);
    rig.nscc.average_ps = 1000.0 * (double)rig.nscc.target_ps;
    ack(&rig, 115 * US, 3 * rig.nscc.target_ps, true, 1);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, cut * 0.5, 0.01); // the floor of one cut
}
END_TEST

START_TEST(packets_without_delay_raise_it_fast)
{
    rig_t rig;
    set_up(&rig);
    rig.nscc.window_bytes = 3.0 * MTU;
    rig.nscc.adjusted_ps = 100 * US;
    rig.nscc.quick_ps = 1000 * US;
    rig.config.eta = (sim_ratio_t){0, 1};
    ack(&rig, 100 * US, 0, false, 3);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 3.0 * MTU, 0.01);
    ack(&rig, 100 * US, 0, false, 1); // more than a window in a row
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 3.0 * MTU + 0.25 * MTU * rig.nscc.scale_rate,
                            0.01);
}
END_TEST

START_TEST(quick_adapt_falls_to_what_arrived)
{
    rig_t rig;
    set_up(&rig);
    rig.nscc.quick_ps = 100 * US;
    trim(&rig, 90 * US, false);
    const double window = rig.nscc.window_bytes;
    ck_assert_double_eq_tol(window, rig.nscc.cap_bytes - MTU, 0.01); // too early to fall
    ack(&rig, 101 * US, rig.nscc.target_ps, true, 5);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 5.0 * MTU, 0.01);
    ck_assert_uint_eq(rig.nscc.quick_count, 1);
    // Marked packets that were sent before that do not count.
    ack(&rig, 200 * US, 3 * rig.nscc.target_ps, true, 1);
    trim(&rig, 201 * US, false);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 5.0 * MTU, 0.01);
}
END_TEST

// All bytes that arrive count as sent before the fall, also those of unmarked packets.
START_TEST(what_was_sent_before_a_fall_is_ignored_once)
{
    rig_t rig;
    set_up(&rig);
    rig.nscc.quick_ps = 100 * US;
    trim(&rig, 90 * US, false);
    ack(&rig, 101 * US, rig.nscc.target_ps, true, 5);
    ck_assert_double_eq_tol(rig.nscc.ignore_bytes, 100000, 0.01);
    // What was collected before the fall raises nothing after it.
    ck_assert_double_eq_tol(rig.nscc.increase + rig.nscc.adjust_bytes, 0, 0.01);
    ack(&rig, 101 * US, 0, false, 25);
    ck_assert_double_ge(rig.nscc.ignored_bytes, rig.nscc.ignore_bytes);
    const double window = rig.nscc.window_bytes;
    trim(&rig, 102 * US, false);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, window - MTU, 0.01);
}
END_TEST

START_TEST(only_full_packets_lower_the_base)
{
    rig_t rig;
    set_up(&rig);
    const sim_time_t short_ps = BASE_PS - 3 * US;
    const nic_nscc_cause_t cause = {.rtt_ps = short_ps};
    nic__nscc_ack(&rig.nscc, 100 * US, &cause, 100, 0);
    ck_assert_uint_eq(rig.nscc.base_ps, BASE_PS);
    ck_assert_double_eq_tol(rig.nscc.average_ps, 0, 0.01); // it had no delay
    const nic_nscc_cause_t full = {.rtt_ps = short_ps, .full = true};
    nic__nscc_ack(&rig.nscc, 101 * US, &full, MTU, 0);
    ck_assert_uint_eq(rig.nscc.base_ps, short_ps);
    // The largest window follows it; the target and the increases are the network's.
    ck_assert_double_eq_tol(rig.nscc.cap_bytes, 1.5 * 12.5e9 * (double)short_ps / 1e12, 1);
    ck_assert_uint_eq(rig.nscc.target_ps / SIM_PS_PER_NS, 10517);
    ck_assert_double_eq_tol(rig.nscc.scale_rate, 1.1686, 0.0001);
    // So do NACKs of full packets.
    nic__nscc_trimmed(&rig.nscc, 102 * US, short_ps - US, MTU, false, 50000);
    ck_assert_uint_eq(rig.nscc.base_ps, short_ps - US);
}
END_TEST

START_TEST(losses_take_their_bytes_and_excused_trims_take_none)
{
    rig_t rig;
    set_up(&rig);
    rig.nscc.window_bytes = 100000;
    nic__nscc_lost(&rig.nscc, MTU);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 100000 - MTU, 0.01);
    ck_assert(!rig.nscc.alarmed);
    rig.nscc.quick_ps = 100 * US;
    trim(&rig, 200 * US, true);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 100000 - MTU, 0.01);
    ck_assert(!rig.nscc.alarmed);
    ck_assert_double_gt(rig.nscc.average_ps, 0); // but it tells of a queue
    rig.nscc.window_bytes = MTU;
    nic__nscc_lost(&rig.nscc, MTU);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, MTU, 0.01);
}
END_TEST

// After an adjustment by packets, eta still waits for the round trip to end.
START_TEST(eta_comes_once_in_a_round_trip)
{
    rig_t rig;
    set_up(&rig);
    rig.nscc.window_bytes = 100000;
    rig.nscc.adjusted_ps = 100 * US;
    rig.nscc.quick_ps = 1000 * US;
    rig.config.alpha = rig.config.fair = (sim_ratio_t){0, 1};
    ack(&rig, 110 * US, 2 * US, false, 9);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 100000, 0.01);
    ack(&rig, 115 * US, 2 * US, false, 1);
    const double eta = 0.15 * MSS * rig.nscc.scale_rate;
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 100000 + eta, 0.01);
    ack(&rig, 120 * US, 2 * US, false, 9);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 100000 + eta, 0.01);
}
END_TEST

CHECK_MAIN(CHECK_TEST(constants_scale_with_the_network),
           CHECK_TEST(unmarked_packets_raise_the_window),
           CHECK_TEST(marked_packets_cut_the_window_once_in_a_round_trip),
           CHECK_TEST(packets_without_delay_raise_it_fast),
           CHECK_TEST(quick_adapt_falls_to_what_arrived),
           CHECK_TEST(what_was_sent_before_a_fall_is_ignored_once),
           CHECK_TEST(only_full_packets_lower_the_base),
           CHECK_TEST(losses_take_their_bytes_and_excused_trims_take_none),
           CHECK_TEST(eta_comes_once_in_a_round_trip))
