// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cc_timely.c - the laws of TIMELY and patched TIMELY, update by update.
//
// Goal: every branch of both laws, what counts as an update, and the bounds, against values worked
// out by hand.
// Method: the operations of one queue pair, called with round-trip times of a script; no network.
// Source: docs/models/timely.md. Not pinned: what comes of it (test_cc_timely_fluid).
#include "nic/cc/timely.h"
#include "tests/check_main.h"

#define US SIM_PS_PER_US
#define MBPS UINT64_C(1000000)
#define LINE_BPS UINT64_C(10000000000)
#define MTU 1024u
#define SEGMENT 16u // packets

static sim_node_t node;
static nic_timely_config_t config;
static nic_timely_t timely;
static const nic_cc_ops_t *law;
static uint64_t acked;

static void set_up(const nic_cc_ops_t *ops, uint64_t rate_bps)
{
    law = ops;
    acked = 0;
    memset(&node, 0, sizeof(node));
    memset(&timely, 0, sizeof(timely));
    sim_attrs_default(ops->attrs, &config);
    config.segment_bytes = SEGMENT * MTU;
    config.burst = false;
    config.start = NIC_TIMELY_START_LINE;
    config.exclude_serialisation = false;
    timely.cc = (nic_cc_t){
        .ops = ops,
        .config = &config,
        .node = &node,
        .line_bps = LINE_BPS,
        .mtu_bytes = MTU,
        .overhead_bytes = 82,
    };
    ops->init(&timely.cc);
    ops->start(&timely.cc);
    ck_assert_uint_eq(timely.cc.rate_bps, LINE_BPS);
    timely.cc.rate_bps = rate_bps;
}

static void ack(uint64_t psn, sim_time_t rtt_ps, uint64_t next_psn)
{
    const nic_cc_ack_t what = {
        .rtt_ps = rtt_ps,
        .acked_bytes = MTU,
        .acked_psn = psn,
        .next_psn = next_psn,
    };
    law->ack(&timely.cc, &what);
}

// Completes the next segment, long after the one before. Returns the rate.
static uint64_t sample(sim_time_t rtt_ps)
{
    node.now_ps += 100000 * US;
    acked += SEGMENT;
    ack(acked, rtt_ps, acked + 1);
    return timely.cc.rate_bps;
}

// Checks a rate in whole bit/s, rounded down from a double that may lie just below.
static void check_rate(uint64_t rate_bps, uint64_t expected_bps)
{
    ck_assert_uint_le(rate_bps, expected_bps);
    ck_assert_uint_ge(rate_bps + 1, expected_bps);
}

START_TEST(original_law)
{
    const uint64_t rate = 1000 * MBPS;
    set_up(&nic_cc_timely, rate);
    check_rate(sample(100 * US), rate); // nothing to be compared with
    // diff is 0.875 x 10 us, g is 8.75 / 20, and the rate becomes R (1 - 0.8 g).
    check_rate(sample(110 * US), 650 * MBPS);
    // diff is 8.75 / 8, g is 1.09375 / 20, and the rate becomes R (1 - 0.8 g).
    check_rate(sample(110 * US), 621562500);
    // While diff is negative, each sample adds ten Mbit/s, five times; then fifty.
    uint64_t expected = timely.cc.rate_bps;
    for (sim_time_t i = 1; i <= 8; i++) {
        expected += i <= 5 ? 10 * MBPS : 50 * MBPS;
        check_rate(sample((110 - i) * US), expected);
    }
    // Below T_low the sample adds ten Mbit/s and ends the row of increases.
    expected += 10 * MBPS;
    check_rate(sample(49 * US), expected);
    // diff is still below 0 at a rise of 5 us to 54: 0.125 diff + 0.875 x 5. One sample far above
    // T_high resets it.
    timely.cc.rate_bps = rate;
    check_rate(sample(600 * US), 866666666);
    timely.cc.rate_bps = rate;
    check_rate(sample(500 * US), rate + 10 * MBPS); // T_high itself is not above it
    // A rise of 100 us gives g > 1 / beta.
    check_rate(sample(100 * US), rate + 20 * MBPS);
    check_rate(sample(300 * US), 100 * MBPS);
}
END_TEST

START_TEST(patched_law)
{
    const uint64_t rate = 1000 * MBPS;
    set_up(&nic_cc_timely_patched, rate);
    (void)sample(100 * US);
    // The time is steady at 100 us: w is 1/2, error 1: 5 Mbps + R (1 - 0.004).
    check_rate(sample(100 * US), 1001 * MBPS);
    timely.cc.rate_bps = rate;
    // diff is 8.75 us, g 0.4375, w 1 and error 1.2: R (1 - 0.0096).
    check_rate(sample(110 * US), 990400000);
    timely.cc.rate_bps = rate;
    // diff is 1.09375, g 0.0546875, w 0.609375: 3.90625 Mbps + R (1 - 0.00585).
    check_rate(sample(110 * US), 998056250);
    timely.cc.rate_bps = rate;
    // diff is 0.13671875 - 0.875 x 20, so g < -1/4 and w is 0.
    check_rate(sample(90 * US), rate + 10 * MBPS);
    // At the reference no sample decreases the rate, whatever the gradient.
    for (int i = 0; i < 40; i++) {
        (void)sample(50 * US);
    }
    timely.cc.rate_bps = rate;
    check_rate(sample(50 * US), rate + 5 * MBPS);
    timely.cc.rate_bps = rate;
    check_rate(sample(40 * US), rate + 10 * MBPS);
    timely.cc.rate_bps = rate;
    // Above T_high the original law applies: R (1 - 0.8 (1 - 500/1000)).
    check_rate(sample(1000 * US), 600 * MBPS);
    timely.cc.rate_bps = rate;
    config.beta_high = (sim_ratio_t){8, 1000};
    check_rate(sample(1000 * US), 996 * MBPS);
}
END_TEST

START_TEST(rates_have_bounds)
{
    const nic_cc_ops_t *const ops = _i == 0 ? &nic_cc_timely : &nic_cc_timely_patched;
    set_up(ops, LINE_BPS - 5 * MBPS);
    (void)sample(20 * US);
    ck_assert_uint_eq(sample(20 * US), LINE_BPS);
    ck_assert_uint_eq(sample(20 * US), LINE_BPS);
    config.beta_high = (sim_ratio_t){1, 1};
    ck_assert_uint_lt(sample(100000 * US), LINE_BPS / 2);
    timely.cc.rate_bps = 101 * MBPS;
    ck_assert_uint_eq(sample(1000000 * US), 100 * MBPS);
    config.min_rate_bps = 2 * LINE_BPS; // no more than there is
    ck_assert_uint_eq(sample(1000000 * US), LINE_BPS);
}
END_TEST

// Updates need a whole segment, sent max(segment / rate, minRTT) after the last one's.
START_TEST(updates_per_segment)
{
    const uint64_t rate = 1000 * MBPS; // a segment takes 131.072 us
    set_up(&nic_cc_timely, rate);
    node.now_ps = 1000 * US;
    ack(SEGMENT - 1, 10 * US, 100);
    ck_assert(!timely.measured);
    ack(SEGMENT, 10 * US, 100); // sent at 990 us
    ck_assert(timely.measured);
    node.now_ps = 990 * US + 131 * US + 40 * US;
    ack(2 * SEGMENT, 40 * US, 100); // sent 131 us after
    ck_assert_uint_eq(timely.cc.rate_bps, rate);
    node.now_ps += 2 * US; // acknowledged soon after, but sent later
    ack(3 * SEGMENT + 3, 10 * US, 100);
    ck_assert_uint_eq(timely.cc.rate_bps, rate + 10 * MBPS);
    node.now_ps += 1000 * US;
    ack(4 * SEGMENT - 1, 10 * US, 100); // the rest of the one before
    ck_assert_uint_eq(timely.cc.rate_bps, rate + 10 * MBPS);
    // When the QP rests, the part of a segment that has completed counts.
    law->stop(&timely.cc);
    ck_assert_uint_eq(timely.cc.rate_bps, rate + 20 * MBPS);
    law->stop(&timely.cc);
    ck_assert_uint_eq(timely.cc.rate_bps, rate + 20 * MBPS);
    // At eight times the rate, minRTT is longer than a segment.
    timely.cc.rate_bps = 8000 * MBPS;
    node.now_ps += 19 * US;
    ack(5 * SEGMENT, 10 * US, 100);
    ck_assert_uint_eq(timely.cc.rate_bps, 8000 * MBPS);
    node.now_ps += 1 * US;
    ack(6 * SEGMENT, 10 * US, 100);
    ck_assert_uint_eq(timely.cc.rate_bps, 8010 * MBPS);
}
END_TEST

// The rate is updated once per round trip; increases below T_low are counted too.
START_TEST(updates_per_rtt)
{
    set_up(&nic_cc_timely, 1000 * MBPS);
    config.update = NIC_TIMELY_PER_RTT;
    law->init(&timely.cc);
    timely.cc.rate_bps = 1000 * MBPS;
    uint64_t expected = 1000 * MBPS;
    ack(1, 10 * US, 20);
    ck_assert(timely.measured);
    ack(20, 10 * US, 40);
    ck_assert_uint_eq(timely.cc.rate_bps, expected);
    for (uint64_t i = 1; i <= 7; i++) {
        ack(20 * i + 1, 10 * US, 20 * i + 20);
        expected += i <= 5 ? 10 * MBPS : 50 * MBPS;
        ck_assert_uint_eq(timely.cc.rate_bps, expected);
        ack(20 * i + 20, 10 * US, 20 * i + 40);
        ck_assert_uint_eq(timely.cc.rate_bps, expected);
    }
    // The QP went back to PSN 100: the next update does not wait for 160 again.
    ack(90, 10 * US, 100);
    ack(101, 10 * US, 120);
    ck_assert_uint_eq(timely.cc.rate_bps, expected + 50 * MBPS);
}
END_TEST

// Each whole segment updates the rate, with its own packets' time; the first is compared with the
// time of one packet.
START_TEST(updates_per_burst)
{
    const sim_time_t packet_ps = (MTU + 82) * 800; // 0.8848 us
    set_up(&nic_cc_timely, 1000 * MBPS);
    config.update = NIC_TIMELY_PER_BURST;
    config.exclude_serialisation = true;
    law->init(&timely.cc);
    timely.cc.rate_bps = 1000 * MBPS;
    node.now_ps = 1000 * US;
    ack(SEGMENT - 1, 90 * US, 100);
    law->stop(&timely.cc); // what is no whole segment never counts
    ck_assert_uint_eq(timely.cc.rate_bps, 1000 * MBPS);
    ck_assert(!timely.measured);
    // The time is 20 us besides its own 15 packets and the last one: below T_low although nothing
    // was known.
    ack(SEGMENT, 20 * US + packet_ps, 100);
    ck_assert_uint_eq(timely.rtt_ps, 20 * US + 15 * packet_ps);
    ck_assert_uint_eq(timely.cc.rate_bps, 1010 * MBPS);
    // The ACK comes at the same instant: updates need no distance. Its own packets lift it
    // above T_low: a step of 18 us, smoothed with the 32.388 before by 0.875, g 0.98993: R (1 - 0.8
    // g).
    ack(2 * SEGMENT, 38 * US + packet_ps, 100);
    const double smoothed_us = 0.125 * (0.875 * (33.272 - 0.8848)) + 0.875 * 18;
    check_rate(timely.cc.rate_bps, (uint64_t)(1010e6 * (1 - 0.8 * smoothed_us / 20)));
    // A flow that starts behind a queue is cut at once: 0.875 x 72.4 us is a gradient of 3.
    set_up(&nic_cc_timely, LINE_BPS);
    config.update = NIC_TIMELY_PER_BURST;
    law->init(&timely.cc);
    node.now_ps = 1000 * US;
    ack(SEGMENT, 60 * US, 100);
    ck_assert_uint_eq(timely.cc.rate_bps, 100 * MBPS);
}
END_TEST

START_TEST(samples)
{
    set_up(&nic_cc_timely, LINE_BPS);
    config.exclude_serialisation = true;
    (void)sample(100 * US);
    ck_assert_uint_eq(timely.rtt_ps, 100 * US - (MTU + 82) * 800);
    // A shorter last packet takes less time; no time subtracted is larger than the sample.
    node.now_ps += 1000 * US;
    acked += SEGMENT;
    law->ack(&timely.cc,
             &(nic_cc_ack_t){.rtt_ps = 100 * US, .acked_bytes = 100, .acked_psn = acked});
    ck_assert_uint_eq(timely.rtt_ps, 100 * US - (100 + 82) * 800);
    (void)sample(1);
    ck_assert_uint_eq(timely.rtt_ps, 1);
    // The time of a retransmitted packet or of a NAK is no sample.
    acked += SEGMENT;
    node.now_ps += 1000 * US;
    ack(acked, 0, acked);
    law->ack(&timely.cc, &(nic_cc_ack_t){.rtt_ps = 77 * US, .acked_psn = acked, .nak = true});
    ck_assert_uint_eq(timely.rtt_ps, 1);
    ck_assert_uint_eq(law->metric(&timely.cc, 0), 1);
}
END_TEST

CHECK_MAIN(CHECK_TEST(original_law), CHECK_TEST(patched_law), CHECK_LOOP(rates_have_bounds, 0, 2),
           CHECK_TEST(updates_per_segment), CHECK_TEST(updates_per_rtt),
           CHECK_TEST(updates_per_burst), CHECK_TEST(samples))
