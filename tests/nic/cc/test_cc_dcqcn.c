// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cc_dcqcn.c - DCQCN's reaction point as a state machine (nic/cc/dcqcn.h).
//
// Goal: rate, target rate and alpha move by the published rules, at the exact picosecond.
// Method: one QP's state on a node that only runs timers; a script of CNPs, sent packets, stops
// and starts; every change of a rate is logged. Expected values come from closed forms and from
// rates measured on a vendor's adapter (Li et al., HPCC, SIGCOMM 2019, figure 9).
// Not pinned: arbitrary sequences (test_cc_dcqcn_clocks.c), what a network makes of it
// (test_cc_conformance.c), when a NIC calls the operations.
#include <string.h>

#include "tests/dcqcn_rig.h"

// -- cuts

START_TEST(without_cnp_nothing_happens)
{
    rig_t *const rig = rig_create(_i == 0 ? &vendor_config : &paper_config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    for (uint64_t i = 1; i <= 1000; i++) {
        rig_step(rig, i * US, DO_SEND, 1u << 20);
    }
    rig_run(rig, 2000 * US);
    ck_assert_uint_eq(rig->change_count, 1);
    ck_assert_uint_eq(rig->changes[0].rate_bps, LINE_BPS);
    ck_assert_uint_eq(rig->timers_run, 0);
    ck_assert_uint_eq(rig->announced, 0);
    rig_destroy(rig);
}
END_TEST

START_TEST(paper_cuts_at_each_cnp_then_raises_alpha)
{
    const double g = 1.0 / 256.0;
    rig_t *const rig = rig_create(&paper_config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    for (uint64_t i = 0; i < 8; i++) {
        rig_cnp(rig, 100 * US + i * 50 * US);
    }
    rig_run(rig, 500 * US);
    double alpha = 1.0;
    uint64_t rate_bps = LINE_BPS;
    for (uint64_t i = 0; i < 8; i++) {
        const uint64_t before_bps = rate_bps;
        rate_bps = cut_by(rate_bps, alpha);
        alpha = (1.0 - g) * alpha + g;
        const sim_time_t time_ps = 100 * US + i * 50 * US;
        ck_assert_uint_eq(rate_at(rig, time_ps - 1), before_bps);
        ck_assert_uint_eq(rate_at(rig, time_ps), rate_bps);
        ck_assert_uint_eq(target_at(rig, time_ps), before_bps);
    }
    ck_assert_uint_eq(rig->announced, 8);
    rig_destroy(rig);
}
END_TEST

// A CNP n periods after the last one finds alpha at (1 - g)^n; the period that ends with
// the CNP does not count, for arrivals come before timers.
START_TEST(paper_alpha_decays_by_periods)
{
    const uint64_t periods = (uint64_t)_i;
    const sim_time_t offsets_ps[] = {0, 1, 27 * US + 333};
    for (size_t k = 0; k < SIM_COUNT_OF(offsets_ps); k++) {
        nic_dcqcn_config_t config = paper_config;
        config.rpg_time_reset_ps = SIM_PS_PER_S; // no increase
        rig_t *const rig = rig_create(&config, LINE_BPS);
        const sim_time_t second_ps = 100 * US + (periods + 1) * 55 * US + offsets_ps[k];
        rig_step(rig, 0, DO_START, 0);
        rig_cnp(rig, 100 * US);
        rig_cnp(rig, second_ps);
        rig_run(rig, second_ps + 1);
        const uint64_t first_bps = LINE_BPS / 2;
        double alpha = 1.0; // 1 after the first CNP again: (1 - g) + g
        for (uint64_t n = 0; n < periods + (offsets_ps[k] > 0 ? 1 : 0); n++) {
            alpha *= 255.0 / 256.0;
        }
        ck_assert_uint_eq(rate_at(rig, second_ps - 1), first_bps);
        ck_assert_uint_eq(rate_at(rig, second_ps), cut_by(first_bps, alpha));
        rig_destroy(rig);
    }
}
END_TEST

START_TEST(vendor_cuts_at_the_end_of_a_monitor_period)
{
    const sim_time_t t = 10 * US + 123;
    rig_t *const rig = rig_create(&vendor_config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    rig_cnp(rig, t);               // begins the first period
    rig_cnp(rig, t + 1 * US);      // one cut for both
    rig_cnp(rig, t + 8 * US);      // at the very end of the second period
    rig_cnp(rig, t + 12 * US + 1); // first instant of the fourth
    rig_run(rig, t + 100 * US);
    ck_assert_uint_eq(rig->change_count, 4);
    ck_assert_uint_eq(rig->changes[1].time_ps, t + 4 * US);
    ck_assert_uint_eq(rig->changes[2].time_ps, t + 8 * US);
    ck_assert_uint_eq(rig->changes[3].time_ps, t + 16 * US);
    rig_destroy(rig);
}
END_TEST

// alpha is computed by hand: at the end of each microsecond since the first CNP it rises by 5/1024
// if a CNP came.
START_TEST(vendor_alpha_follows_its_own_clock)
{
    rig_t *const rig = rig_create(&vendor_config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    rig_cnp(rig, 10 * US);      // period 0
    rig_cnp(rig, 11 * US);      // at the end of period 0
    rig_cnp(rig, 11 * US + 1);  // period 1
    rig_cnp(rig, 14 * US);      // at the end of period 3
    rig_cnp(rig, 530 * US + 1); // period 520
    rig_run(rig, 600 * US);
    const double kept = 1019.0 / 1024.0;
    const double up = 5.0 / 1024.0;
    double alpha = 1023.0 / 1024.0;
    alpha = kept * alpha + up;
    alpha = kept * alpha + up;
    alpha = kept * alpha;
    alpha = kept * alpha + up;
    uint64_t rate_bps = cut_by(LINE_BPS, alpha);
    ck_assert_uint_eq(rate_at(rig, 14 * US), rate_bps);
    ck_assert_uint_eq(target_at(rig, 14 * US), LINE_BPS);
    // One increase by time comes at 314 us, a CNP in period 520, and the cut at the end of period
    // 523.
    const uint64_t half_bps = half_way(rate_bps, LINE_BPS);
    ck_assert_uint_eq(rate_at(rig, 314 * US - 1), rate_bps);
    ck_assert_uint_eq(rate_at(rig, 314 * US), half_bps);
    for (int n = 4; n < 524; n++) {
        alpha = kept * alpha + (n == 520 ? up : 0.0);
    }
    ck_assert_uint_eq(rate_at(rig, 534 * US), cut_by(half_bps, alpha));
    ck_assert_uint_eq(target_at(rig, 534 * US), half_bps);
    rig_destroy(rig);
}
END_TEST

START_TEST(cut_is_bounded)
{
    nic_dcqcn_config_t config = paper_config;
    config.rpg_gd = 10; // all of alpha
    config.rpg_min_dec_fac = (sim_ratio_t){3, 10};
    config.rpg_min_rate_bps = 1000 * MBPS;
    rig_t *const rig = rig_create(&config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    for (uint64_t i = 1; i <= 6; i++) {
        rig_cnp(rig, i * US);
    }
    rig_run(rig, 10 * US);
    ck_assert_uint_eq(rate_at(rig, 1 * US), 12000 * MBPS);
    ck_assert_uint_eq(rate_at(rig, 2 * US), 3600 * MBPS);
    ck_assert_uint_eq(rate_at(rig, 3 * US), 1080 * MBPS);
    ck_assert_uint_eq(rate_at(rig, 4 * US), 1000 * MBPS);
    ck_assert_uint_eq(rate_at(rig, 6 * US), 1000 * MBPS);
    rig_destroy(rig);
}
END_TEST

START_TEST(first_cnp_can_set_a_rate)
{
    nic_dcqcn_config_t config = paper_config;
    config.rate_to_set_on_first_cnp_bps = 10000 * MBPS;
    rig_t *const rig = rig_create(&config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    rig_cnp(rig, 10 * US);
    rig_cnp(rig, 20 * US);
    rig_run(rig, 30 * US);
    ck_assert_uint_eq(rate_at(rig, 10 * US), 5000 * MBPS);
    ck_assert_uint_eq(target_at(rig, 10 * US), 10000 * MBPS);
    ck_assert_uint_eq(rate_at(rig, 20 * US), 2500 * MBPS);
    rig_destroy(rig);
}
END_TEST

// -- increases

// The rate halves its distance to the target F times; then the target climbs: by R_AI, and from
// stage F + 1 on by R_HAI where time is the only clock.
START_TEST(recovery_by_time)
{
    const uint64_t threshold = (uint64_t)_i;
    for (uint32_t variant = NIC_DCQCN_VENDOR; variant <= NIC_DCQCN_PAPER; variant++) {
        nic_dcqcn_config_t config = paper_config;
        config.variant = variant;
        config.rpg_threshold = threshold;
        config.rpg_byte_reset_bytes = 0;
        rig_t *const rig = rig_create(&config, LINE_BPS);
        const sim_time_t t = 7 * US + 77;
        rig_step(rig, 0, DO_START, 0);
        rig_cnp(rig, t);
        rig_cnp(rig, t + 1 * US);
        rig_run(rig, 2000 * US);
        uint64_t target_bps = LINE_BPS / 2;
        uint64_t rate_bps = target_bps / 2;
        for (uint64_t stage = 0; stage < threshold + 12; stage++) {
            const sim_time_t time_ps = t + 1 * US + (stage + 1) * 55 * US;
            ck_assert_uint_eq(rate_at(rig, time_ps - 1), rate_bps);
            if (stage > threshold) {
                const uint64_t steps = variant == NIC_DCQCN_PAPER ? stage - threshold : 1;
                target_bps += steps * 400 * MBPS;
            } else if (stage == threshold) {
                target_bps += 40 * MBPS;
            }
            target_bps = target_bps > LINE_BPS ? LINE_BPS : target_bps;
            rate_bps = half_way(rate_bps, target_bps);
            ck_assert_uint_eq(rate_at(rig, time_ps), rate_bps);
            ck_assert_uint_eq(target_at(rig, time_ps), target_bps);
        }
        rig_destroy(rig);
    }
}
END_TEST

// With both clocks on, hyper increase waits for the slower one.
START_TEST(hyper_increase_needs_both_clocks)
{
    nic_dcqcn_config_t config = paper_config;
    config.rpg_threshold = 1;
    config.rpg_byte_reset_bytes = 1000000;
    rig_t *const rig = rig_create(&config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    rig_cnp(rig, 10 * US);
    rig_cnp(rig, 11 * US);
    rig_step(rig, 300 * US, DO_SEND, 2000000); // bytes: stages 0 and 1, after 5 by time
    rig_run(rig, 400 * US);
    // By time, one increase is in fast recovery and four are additive. By bytes, they are additive,
    // because the byte stages are 0 and 1.
    ck_assert_uint_eq(target_at(rig, 286 * US), 20000 * MBPS + 4 * 40 * MBPS);
    ck_assert_uint_eq(target_at(rig, 300 * US), 20000 * MBPS + 6 * 40 * MBPS);
    // Stages 5 by time and 2 by bytes: hyper, the first.
    ck_assert_uint_eq(target_at(rig, 341 * US), 20000 * MBPS + 6 * 40 * MBPS + 400 * MBPS);
    ck_assert_uint_eq(target_at(rig, 396 * US), 20000 * MBPS + 6 * 40 * MBPS + 2 * 400 * MBPS);
    rig_destroy(rig);
}
END_TEST

START_TEST(recovery_by_bytes)
{
    nic_dcqcn_config_t config = paper_config;
    config.rpg_time_reset_ps = SIM_PS_PER_S;
    config.rpg_byte_reset_bytes = 10000;
    rig_t *const rig = rig_create(&config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    rig_step(rig, 1 * US, DO_SEND, 9999); // before the first CNP: not counted
    rig_cnp(rig, 10 * US);
    rig_step(rig, 11 * US, DO_SEND, 9000);
    rig_cnp(rig, 12 * US); // counts anew
    rig_step(rig, 20 * US, DO_SEND, 4000);
    rig_step(rig, 21 * US, DO_SEND, 4000);
    rig_step(rig, 22 * US, DO_SEND, 4000);  // 12000: one, 2000 are left over
    rig_step(rig, 23 * US, DO_SEND, 7999);  // 9999
    rig_step(rig, 24 * US, DO_SEND, 1);     // 10000: two
    rig_step(rig, 25 * US, DO_SEND, 50000); // five more: the target climbs in the last two
    rig_run(rig, 30 * US);
    uint64_t target_bps = 20000 * MBPS;
    uint64_t rate_bps = 10000 * MBPS;
    ck_assert_uint_eq(rate_at(rig, 21 * US), rate_bps);
    rate_bps = half_way(rate_bps, target_bps);
    ck_assert_uint_eq(rate_at(rig, 22 * US), rate_bps);
    ck_assert_uint_eq(rate_at(rig, 23 * US), rate_bps);
    rate_bps = half_way(rate_bps, target_bps);
    ck_assert_uint_eq(rate_at(rig, 24 * US), rate_bps);
    for (int i = 0; i < 5; i++) {
        target_bps += i >= 3 ? 40 * MBPS : 0;
        rate_bps = half_way(rate_bps, target_bps);
    }
    ck_assert_uint_eq(rate_at(rig, 25 * US), rate_bps);
    ck_assert_uint_eq(target_at(rig, 25 * US), target_bps);
    rig_destroy(rig);
}
END_TEST

// The table says which cuts latch the target. Rows: clamp, clamp after time; columns: the events
// since the last cut (none, an increase by time, one by bytes).
START_TEST(clamp_rules)
{
    static const bool latches[4][3] = {
        {false, false, true},
        {false, true, true},
        {true, true, true},
        {true, true, true},
    };
    const size_t since = (size_t)_i % 3;
    const size_t row = (size_t)_i / 3;
    nic_dcqcn_config_t config = paper_config;
    config.clamp_tgt_rate = (row & 2) != 0;
    config.clamp_tgt_rate_after_time_inc = (row & 1) != 0;
    rig_t *const rig = rig_create(&config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    rig_cnp(rig, 10 * US);
    if (since == 2) {
        rig_step(rig, 12 * US, DO_SEND, 10000000);
    }
    const sim_time_t second_ps = since == 1 ? 70 * US : 20 * US;
    rig_cnp(rig, second_ps);
    rig_run(rig, second_ps + US);
    const uint64_t before_bps = since == 0 ? LINE_BPS / 2 : 3 * (LINE_BPS / 4);
    ck_assert_uint_eq(rate_at(rig, second_ps - 1), before_bps);
    ck_assert_uint_eq(target_at(rig, second_ps), latches[row][since] ? before_bps : LINE_BPS);
    rig_destroy(rig);
}
END_TEST

// 36 halvings restore 40 Gbit/s to the bit; then no clock runs.
START_TEST(full_rate_is_reached_and_costs_nothing)
{
    nic_dcqcn_config_t config = vendor_config;
    config.variant = (uint32_t)_i;
    config.rpg_max_rate_bps = 30000 * MBPS;
    rig_t *const rig = rig_create(&config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    rig_cnp(rig, 10 * US);
    rig_cnp(rig, 1000000 * US);
    rig_run(rig, 1000005 * US);
    ck_assert_uint_eq(rig->changes[0].rate_bps, 30000 * MBPS);
    ck_assert_uint_eq(rate_at(rig, 900000 * US), 30000 * MBPS);
    ck_assert_uint_eq(target_at(rig, 900000 * US), 30000 * MBPS);
    ck_assert_uint_lt(rig->timers_run, 45);
    ck_assert_uint_ge(rig->timers_run, 34);
    // An adapter has forgotten the QP and cuts as the first time; the paper's alpha has decayed to
    // 0.
    const uint64_t last_bps = rate_at(rig, 1000005 * US);
    if (config.variant == NIC_DCQCN_VENDOR) {
        ck_assert_uint_eq(last_bps, rate_at(rig, 14 * US));
    } else {
        ck_assert_uint_ge(last_bps, 29999 * MBPS);
    }
    rig_destroy(rig);
}
END_TEST

// -- what a vendor's adapter did (25 Gbit/s; a rate read from a figure, in Mbit/s, to 0.1 Gbit/s)

// Seven senders start towards a long flow's receiver: cuts come 4 us apart, then recovery by time.
// The last rates of the trace have one or two digits of 0.01 Gbit/s.
START_TEST(vendor_trace_of_an_incast)
{
    static const uint64_t cuts_mbps[] = {12420, 6410, 3380, 1810, 970, 540, 300, 160, 90};
    static const uint64_t steps_mbps[] = {12200, 18300, 21400, 22900, 23700, 24100, 24300};
    nic_dcqcn_config_t config = vendor_config;
    rig_t *const rig = rig_create(&config, 24450 * MBPS);
    rig_step(rig, 0, DO_START, 0);
    for (uint64_t i = 0; i < 9; i++) {
        rig_cnp(rig, 100 * US + i * 4 * US + (i > 0 ? 1 : 0));
    }
    rig_run(rig, 3000 * US);
    for (uint64_t i = 0; i < 9; i++) {
        const uint64_t rate_bps = rate_at(rig, 104 * US + i * 4 * US);
        ck_assert_double_eq_tol((double)rate_bps / (double)(cuts_mbps[i] * MBPS), 1.0, 0.07);
    }
    for (uint64_t i = 0; i < 7; i++) {
        const uint64_t rate_bps = rate_at(rig, 136 * US + (i + 1) * 300 * US);
        ck_assert_double_eq_tol((double)rate_bps / (double)(steps_mbps[i] * MBPS), 1.0, 0.01);
    }
    rig_destroy(rig);
}
END_TEST

// A short flow passes: four cuts some periods apart, two increases, and after 625 us without a CNP
// alpha is small. Cuts are placed in the monitor periods the figure shows them in, to 5 us.
START_TEST(vendor_trace_of_a_short_flow)
{
    static const struct {
        uint64_t time_us;
        uint64_t mbps;
    } cuts[] = {{287, 12400}, {295, 6500}, {311, 3600}, {331, 2200}};
    rig_t *const rig = rig_create(&vendor_config, 24450 * MBPS);
    rig_step(rig, 0, DO_START, 0);
    rig_cnp(rig, 283 * US);
    for (size_t i = 1; i < SIM_COUNT_OF(cuts); i++) {
        rig_cnp(rig, cuts[i].time_us * US - 3 * US);
    }
    rig_cnp(rig, 956 * US);
    rig_run(rig, 1000 * US);
    for (size_t i = 0; i < SIM_COUNT_OF(cuts); i++) {
        const uint64_t rate_bps = rate_at(rig, cuts[i].time_us * US);
        ck_assert_double_eq_tol((double)rate_bps / (double)(cuts[i].mbps * MBPS), 1.0, 0.05);
    }
    ck_assert_double_eq_tol((double)rate_at(rig, 631 * US) / 13.3e9, 1.0, 0.01);
    ck_assert_double_eq_tol((double)rate_at(rig, 931 * US) / 18.9e9, 1.0, 0.01);
    const double cut_share = 1.0 - (double)rate_at(rig, 960 * US) / (double)rate_at(rig, 931 * US);
    ck_assert_double_eq_tol(cut_share, 0.0185, 0.006);
    rig_destroy(rig);
}
END_TEST

// -- at rest

START_TEST(stop_cancels_and_start_catches_up)
{
    rig_t *const rig = rig_create(&paper_config, LINE_BPS);
    rig_step(rig, 0, DO_START, 0);
    rig_cnp(rig, 10 * US);
    rig_cnp(rig, 20 * US);
    rig_step(rig, 30 * US, DO_STOP, 0);
    rig_step(rig, 20 * US + 3 * 55 * US, DO_START, 0); // the third increase is due now
    rig_run(rig, 200 * US);
    const uint64_t two_bps = half_way(half_way(10000 * MBPS, 20000 * MBPS), 20000 * MBPS);
    ck_assert_uint_eq(rate_at(rig, 185 * US - 1), 10000 * MBPS);
    ck_assert_uint_eq(rig->changes[3].time_ps, 185 * US);
    ck_assert_uint_eq(rig->changes[3].rate_bps, two_bps);
    ck_assert_uint_eq(rate_at(rig, 185 * US), half_way(two_bps, 20000 * MBPS));
    ck_assert_uint_eq(rig->timers_run, 1);
    rig_destroy(rig);
}
END_TEST

// -- parameters

START_TEST(defaults_are_the_vendors)
{
    nic_dcqcn_config_t config;
    memset(&config, 0, sizeof(config));
    sim_attrs_default(&nic_dcqcn_attrs, &config);
    ck_assert_uint_eq(nic_dcqcn_attrs.config_bytes, sizeof(config));
    ck_assert_uint_eq(config.variant, vendor_config.variant);
    ck_assert_uint_eq(config.rpg_time_reset_ps, vendor_config.rpg_time_reset_ps);
    ck_assert_uint_eq(config.rpg_byte_reset_bytes, vendor_config.rpg_byte_reset_bytes);
    ck_assert_uint_eq(config.rpg_threshold, vendor_config.rpg_threshold);
    ck_assert_uint_eq(config.rpg_ai_rate_bps, vendor_config.rpg_ai_rate_bps);
    ck_assert_uint_eq(config.rpg_hai_rate_bps, vendor_config.rpg_hai_rate_bps);
    ck_assert_uint_eq(config.rpg_max_rate_bps, vendor_config.rpg_max_rate_bps);
    ck_assert_uint_eq(config.rpg_min_rate_bps, vendor_config.rpg_min_rate_bps);
    ck_assert_uint_eq(config.rpg_gd, vendor_config.rpg_gd);
    ck_assert_uint_eq(config.rpg_min_dec_fac.num * 2, config.rpg_min_dec_fac.den);
    ck_assert_uint_eq(config.rate_to_set_on_first_cnp_bps, 0);
    ck_assert_uint_eq(config.initial_alpha_value, vendor_config.initial_alpha_value);
    ck_assert_uint_eq(config.dce_tcp_g, vendor_config.dce_tcp_g);
    ck_assert_uint_eq(config.dce_tcp_rtt_ps, vendor_config.dce_tcp_rtt_ps);
    ck_assert_uint_eq(config.rate_reduce_monitor_period_ps,
                      vendor_config.rate_reduce_monitor_period_ps);
    ck_assert_int_eq(config.clamp_tgt_rate, vendor_config.clamp_tgt_rate);
    ck_assert_int_eq(config.clamp_tgt_rate_after_time_inc,
                     vendor_config.clamp_tgt_rate_after_time_inc);
    sim_attrs_fini(&nic_dcqcn_attrs, &config);
}
END_TEST

START_TEST(parameters_have_the_vendors_names)
{
    static const char *const names[] = {
        "rpg-time-reset",      "rpg-byte-reset",
        "rpg-threshold",       "rpg-ai-rate",
        "rpg-hai-rate",        "rpg-max-rate",
        "rpg-min-rate",        "rpg-gd",
        "rpg-min-dec-fac",     "rate-to-set-on-first-cnp",
        "initial-alpha-value", "dce-tcp-g",
        "dce-tcp-rtt",         "rate-reduce-monitor-period",
        "clamp-tgt-rate",      "clamp-tgt-rate-after-time-inc",
    };
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        char path[64];
        snprintf(path, sizeof(path), "nic.dcqcn.%s", names[i]);
        ck_assert_ptr_nonnull(sim_attr_find(&nic_dcqcn_attrs, path));
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP(without_cnp_nothing_happens, 0, 2),
           CHECK_TEST(paper_cuts_at_each_cnp_then_raises_alpha),
           CHECK_LOOP(paper_alpha_decays_by_periods, 0, 40),
           CHECK_TEST(vendor_cuts_at_the_end_of_a_monitor_period),
           CHECK_TEST(vendor_alpha_follows_its_own_clock), CHECK_TEST(cut_is_bounded),
           CHECK_TEST(first_cnp_can_set_a_rate), CHECK_LOOP(recovery_by_time, 1, 8),
           CHECK_TEST(hyper_increase_needs_both_clocks), CHECK_TEST(recovery_by_bytes),
           CHECK_LOOP(clamp_rules, 0, 12), CHECK_LOOP(full_rate_is_reached_and_costs_nothing, 0, 2),
           CHECK_TEST(vendor_trace_of_an_incast), CHECK_TEST(vendor_trace_of_a_short_flow),
           CHECK_TEST(stop_cancels_and_start_catches_up), CHECK_TEST(defaults_are_the_vendors),
           CHECK_TEST(parameters_have_the_vendors_names))
