// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cc_dctcp.c - the law of DCTCP on rates, ACK by ACK.
//
// Goal: rounds, alpha, cuts, increases and bounds against values worked out by hand.
// Method: the operations of one queue pair with a script of ACKs; no network.
// Source: docs/models/dctcp.md. Not pinned: what comes of it.
#include "nic/cc/dctcp.h"
#include "tests/check_main.h"

#define MBPS UINT64_C(1000000)
#define LINE_BPS UINT64_C(100000000000)

static nic_dctcp_config_t config;
static nic_dctcp_t dctcp;

static void set_up(void)
{
    memset(&dctcp, 0, sizeof(dctcp));
    sim_attrs_default(&nic_dctcp_attrs, &config);
    dctcp.cc = (nic_cc_t){.ops = &nic_cc_dctcp, .config = &config, .line_bps = LINE_BPS};
    nic_cc_dctcp.init(&dctcp.cc);
    ck_assert_uint_eq(dctcp.cc.rate_bps, LINE_BPS);
}

static uint64_t ack(uint64_t psn, uint64_t next_psn, bool marked)
{
    const nic_cc_ack_t what = {
        .acked_bytes = 1000,
        .acked_psn = psn,
        .next_psn = next_psn,
        .ecn_echo = marked,
    };
    nic_cc_dctcp.ack(&dctcp.cc, &what);
    return dctcp.cc.rate_bps;
}

START_TEST(rounds_cuts_and_increases)
{
    set_up();
    const uint64_t half = LINE_BPS / 2;
    // The first ACK ends an empty round; the first mark halves the rate, for the packets up to 10.
    ck_assert_uint_eq(ack(1, 9, false), LINE_BPS);
    ck_assert_uint_eq(ack(2, 10, true), half);
    for (uint64_t psn = 3; psn <= 9; psn++) {
        ck_assert_uint_eq(ack(psn, psn + 8, true), half);
    }
    ck_assert_double_eq(dctcp.alpha, 1.0);
    // PSN 10 ends the round of 1 + 8: nine ACKs, one of them without a mark. The cut still covers
    // it.
    ck_assert_uint_eq(ack(10, 18, false), half);
    double alpha = 15.0 / 16.0 + 8.0 / 9.0 / 16.0;
    ck_assert_double_eq_tol(dctcp.alpha, alpha, 1e-15);
    // From PSN 11 on a mark cuts again, by the new alpha.
    const uint64_t second = (uint64_t)((double)half * (1.0 - dctcp.alpha / 2.0));
    ck_assert_uint_eq(ack(11, 19, true), second);
    for (uint64_t psn = 12; psn <= 18; psn++) {
        ck_assert_uint_eq(ack(psn, psn + 8, false), second);
    }
    // PSN 19 ends a round that the cut covers; 27 and 35 end rounds without marks.
    ck_assert_uint_eq(ack(19, 27, false), second);
    alpha = alpha * 15.0 / 16.0 + 1.0 / 8.0 / 16.0; // 11 to 18, and 19
    ck_assert_double_eq_tol(dctcp.alpha, alpha, 0.001);
    for (uint64_t psn = 20; psn <= 27; psn++) {
        ck_assert_uint_eq(ack(psn, psn + 8, false), second);
    }
    ck_assert_uint_eq(ack(28, 36, false), second + 615 * MBPS);
    for (uint64_t psn = 29; psn <= 36; psn++) {
        ck_assert_uint_eq(ack(psn, psn + 8, false), second + 615 * MBPS);
    }
    // A round that ends with a mark cuts instead of increasing.
    ck_assert_uint_lt(ack(37, 45, true), second + 615 * MBPS);
    ck_assert_uint_eq(nic_cc_dctcp.metric(&dctcp.cc, 0), (uint64_t)(dctcp.alpha * 1e6 + 0.5));
}
END_TEST

START_TEST(rates_have_bounds)
{
    set_up();
    dctcp.cc.rate_bps = LINE_BPS - MBPS;
    (void)ack(1, 1, false);
    ck_assert_uint_eq(ack(2, 2, false), LINE_BPS);
    ck_assert_uint_eq(ack(3, 3, false), LINE_BPS);
    for (uint64_t psn = 4; psn < 40; psn++) {
        (void)ack(psn, psn, true);
    }
    ck_assert_uint_eq(dctcp.cc.rate_bps, 100 * MBPS);
    config.min_rate_bps = 2 * LINE_BPS;
    ck_assert_uint_eq(ack(41, 41, true), LINE_BPS);
}
END_TEST

// After going back N, fewer packets are sent than the round and the cut wait for.
START_TEST(going_back_ends_rounds)
{
    set_up();
    (void)ack(1, 100, true);
    ck_assert_uint_eq(dctcp.round_psn, 100);
    (void)ack(2, 10, false);
    ck_assert_uint_eq(dctcp.round_psn, 10);
    ck_assert_uint_eq(dctcp.cut_psn, 10);
    const uint64_t rate = dctcp.cc.rate_bps;
    ck_assert_uint_eq(ack(11, 20, false), rate + 615 * MBPS);
}
END_TEST

CHECK_MAIN(CHECK_TEST(rounds_cuts_and_increases), CHECK_TEST(rates_have_bounds),
           CHECK_TEST(going_back_ends_rounds))
