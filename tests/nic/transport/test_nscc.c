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
    nic__nscc_ack(&rig->nscc, now_ps, BASE_PS + delay_ps, marked, (uint64_t)packets * MTU, 100000);
}

START_TEST(unmarked_packets_raise_the_window)
{
    rig_t rig;
    set_up(&rig);
    rig.nscc.window_bytes = 100000;
    rig.nscc.eta_ps = rig.nscc.adjusted_ps = 100 * US;
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
    ck_assert_double_eq_tol(rig.nscc.window_bytes,
                            3.0 * MTU + 0.25 * MTU * rig.nscc.scale_rate,
                            0.01);
}
END_TEST

START_TEST(quick_adapt_falls_to_what_arrived)
{
    rig_t rig;
    set_up(&rig);
    rig.nscc.quick_ps = 100 * US;
    nic__nscc_trimmed(&rig.nscc, 90 * US, MTU, false, 50000);
    const double window = rig.nscc.window_bytes;
    ck_assert_double_eq_tol(window, rig.nscc.cap_bytes - MTU, 0.01); // too early to fall
    ack(&rig, 101 * US, rig.nscc.target_ps, true, 5);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 5.0 * MTU, 0.01);
    ck_assert_uint_eq(rig.nscc.quick_count, 1);
    // Marked packets that were sent before that do not count.
    ack(&rig, 200 * US, 3 * rig.nscc.target_ps, true, 1);
    nic__nscc_trimmed(&rig.nscc, 201 * US, MTU, false, 50000);
    ck_assert_double_eq_tol(rig.nscc.window_bytes, 5.0 * MTU, 0.01);
}
END_TEST

CHECK_MAIN(CHECK_TEST(constants_scale_with_the_network),
           CHECK_TEST(unmarked_packets_raise_the_window),
           CHECK_TEST(marked_packets_cut_the_window_once_in_a_round_trip),
           CHECK_TEST(packets_without_delay_raise_it_fast),
           CHECK_TEST(quick_adapt_falls_to_what_arrived))
