// SPDX-License-Identifier: Apache-2.0
// test_nic_windows.c - windows of the bandwidth-delay product, bursts, marks in ACKs.
//
// Goal: nic.bdp-window bounds what is in flight as it says, with any algorithm, and stalls nobody;
// Goal: nic.bdp-window bounds what is in flight, with any algorithm, and stalls nobody;
// Method: in-flight bytes and queues against sums of windows; start times of packets of an
// algorithm of the test's own, to the picosecond; counters of both ends.
// Not pinned: what windows are good for.
#include "nic/cc/dcqcn.h"
#include "nic/objects/qp.h"
#include "tests/cc_star.h"
#include "tests/nic_pair.h"

#define US SIM_PS_PER_US
#define MTU UINT64_C(1024)
#define LINK_BYTES (MTU + 82)

static void windowed(star_config_t *config, const char *algorithm, uint32_t window)
{
    star_config_init(config);
    star_use(config, algorithm);
    config->link.rate_bps = 25000000000;
    config->nic.mtu_bytes = MTU;
    config->nic.bdp_window = window;
    config->sw.ecn_scale = false;
    config->sw.ecn_kmin_bytes = 5000;
    config->sw.ecn_kmax_bytes = 50000;
    config->sample_ps = 5 * US;
    config->options.until_ps = 4001 * US;
}

// Windows that are full lie on the path or in the queue: N BDP = BDP + queue.
START_TEST(fixed_windows_bound_the_queue)
{
    const uint32_t senders = (uint32_t)_i;
    star_config_t config;
    windowed(&config, "none", NIC_BDP_WINDOW_FIXED);
    config.sender_count = senders;
    star_t *const star = star_create(&config);
    star_run(star);
    const nic_cc_t *const cc = nic__cc(star->flows[0].qp);
    // 4 us of delay, a full packet over two links, its ACK over two.
    ck_assert_uint_eq(cc->base_rtt_ps, 4 * US + 2 * (LINK_BYTES - 12 + 86 - 12) * 320);
    ck_assert_uint_eq(cc->bdp_bytes, cc->base_rtt_ps / 320);
    double sum_bps = 0.0;
    for (uint32_t i = 0; i < senders; i++) {
        const nic_qp_t *const qp = star->flows[i].qp;
        ck_assert_uint_eq(star_qp_metric(qp, "window_bytes"), cc->bdp_bytes);
        ck_assert_uint_lt(star_qp_metric(qp, "in_flight_bytes"), cc->bdp_bytes + MTU);
        sum_bps += star_mean_bps(star, i, 1000 * US, 4000 * US);
    }
    ck_assert_double_ge(sum_bps / (25e9 * (double)MTU / (double)LINK_BYTES), 0.98);
    const double in_windows = (double)(senders * cc->bdp_bytes) * (double)LINK_BYTES / (double)MTU;
    const double queue = star_mean_queue(star, 1000 * US, 4000 * US);
    ck_assert_double_le(queue, in_windows - (double)cc->bdp_bytes + 2.0 * senders * (double)MTU);
    ck_assert_double_ge(queue, in_windows - (double)cc->bdp_bytes - 3.0 * (double)LINK_BYTES);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

static void check_scaled(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    (void)time_ps;
    const nic_qp_t *const qp = ctx;
    const nic_cc_t *const cc = nic__cc_const(qp);
    SIM_CHECK(qp->window_bytes == cc->bdp_bytes * cc->rate_bps / cc->line_bps);
}

// The window follows the rate; packets without AckReq do not leave it shut (ack-interval).
START_TEST(scaled_windows_follow_the_rate)
{
    star_config_t config;
    windowed(&config, _i == 0 ? "dcqcn" : "dctcp", NIC_BDP_WINDOW_SCALED);
    config.sender_count = 4;
    config.nic.ack_interval = 64;
    star_t *const star = star_create(&config);
    for (uint32_t i = 0; i < config.sender_count; i++) {
        star_flow_t *const flow = &star->flows[i];
        sim_sample(star->sim, flow->node, 0, 3 * US, check_scaled, flow->qp);
    }
    star_run(star);
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < config.sender_count; i++) {
        const nic_qp_t *const qp = star->flows[i].qp;
        least = qp->window_bytes < least ? qp->window_bytes : least;
        ck_assert_uint_eq(nic_get_counters(qp->nic)->local_ack_timeout_err, 0);
        ck_assert_uint_gt(star->flows[i].done, 3);
    }
    ck_assert_uint_lt(least, nic__cc(star->flows[0].qp)->bdp_bytes);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// A configured window counts where it is the smaller one.
START_TEST(the_smaller_window_counts)
{
    star_config_t config;
    windowed(&config, "none", NIC_BDP_WINDOW_FIXED);
    config.nic.window_bytes = 3000;
    star_t *const star = star_create(&config);
    ck_assert_uint_eq(star_qp_metric(star->flows[0].qp, "window_bytes"), 3000);
    star_run(star);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// -- bursts

#define BURST 4u
#define RATE_BPS UINT64_C(10000000000) // 800 ps a byte, of a line of 80

static void bursting_init(nic_cc_t *cc)
{
    cc->rate_bps = RATE_BPS;
    cc->burst_bytes = BURST * (uint32_t)LINK_BYTES;
}

static const nic_cc_ops_t bursting = {
    .name = "bursting",
    .state_bytes = sizeof(nic_cc_t),
    .init = bursting_init,
};

START_TEST(bursts_and_pauses_make_the_rate)
{
    pair_config_t config;
    pair_config_init(&config);
    config.nic.mtu_bytes = MTU;
    config.nic.custom_cc = &bursting;
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 64 * MTU);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    sim_time_t burst_ps = 1000;
    sim_time_t now_ps = 1000;
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < 64; k++) {
        ck_assert_uint_eq(pair_nth(pair, 0, k)->time_ps, now_ps);
        const uint64_t size = LINK_BYTES + (k == 0 ? 16 : 0); // RETH
        bytes += size;
        now_ps += size * PAIR_BYTE_PS;
        if (k % BURST == BURST - 1) {
            burst_ps += bytes * 800;
            now_ps = burst_ps;
            bytes = 0;
        }
    }
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// A message of one packet and a half burst later: the rest of the burst is gone with the rest.
START_TEST(a_rest_begins_a_new_burst)
{
    pair_config_t config;
    pair_config_init(&config);
    config.nic.mtu_bytes = MTU;
    config.nic.custom_cc = &bursting;
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t one = pair_wr(pair, NIC_WR_RDMA_WRITE, MTU);
    const nic_send_wr_t five = pair_wr(pair, NIC_WR_RDMA_WRITE, 5 * MTU);
    pair_post_at(pair, 1000, qps.qp[0], &one);
    pair_post_at(pair, 20 * US, qps.qp[0], &five);
    pair_run(pair);
    ck_assert_uint_eq(pair_nth(pair, 0, 1)->time_ps, 20 * US);
    // Four of the five at once, the fifth when the four had their time.
    ck_assert_uint_eq(pair_nth(pair, 0, 4)->time_ps, 20 * US + (3 * LINK_BYTES + 16) * 80);
    ck_assert_uint_eq(pair_nth(pair, 0, 5)->time_ps, 20 * US + (4 * LINK_BYTES + 16) * 800);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// -- marks in ACKs

// _i: nic.dcqcn.feedback. Either way marks are heard and rates fall.
START_TEST(dcqcn_hears_of_marks)
{
    star_config_t config;
    windowed(&config, "dcqcn", NIC_BDP_WINDOW_NONE);
    nic_dcqcn_config_t *const dcqcn = star_cc_config(&config, &nic_cc_dcqcn);
    dcqcn->feedback = (uint32_t)_i;
    config.nic.ack_interval = 64;
    star_t *const star = star_create(&config);
    star_run(star);
    const nic_counters_t *const receiver = nic_get_counters(nic_at(star->receiver, 0));
    const nic_counters_t *const sender = nic_get_counters(star->flows[0].qp->nic);
    ck_assert_uint_gt(receiver->np_ecn_marked_roce_packets, 100);
    uint64_t least_bps = UINT64_MAX;
    for (size_t k = 0; k < star->flows[0].sample_count; k++) {
        const uint64_t rate_bps = star->flows[0].samples[k].rate_bps;
        least_bps = rate_bps < least_bps ? rate_bps : least_bps;
    }
    ck_assert_uint_lt(least_bps, config.link.rate_bps / 2);
    // By ACK, each packet has its own; by CNP, one in 64 and the last of a message.
    const double answers = (double)receiver->tx_packets / (double)receiver->rx_packets;
    if (_i == NIC_DCQCN_FEEDBACK_ACK) {
        ck_assert_uint_eq(receiver->np_cnp_sent, 0);
        ck_assert_uint_eq(sender->rp_cnp_handled, 0);
        ck_assert_double_ge(answers, 0.99);
    } else {
        ck_assert_uint_gt(receiver->np_cnp_sent, 50);
        ck_assert_uint_gt(sender->rp_cnp_handled, 20);
        ck_assert_double_le(answers, 0.5);
    }
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(fixed_windows_bound_the_queue, 1, 6),
           CHECK_LOOP(scaled_windows_follow_the_rate, 0, 2), CHECK_TEST(the_smaller_window_counts),
           CHECK_TEST(bursts_and_pauses_make_the_rate), CHECK_TEST(a_rest_begins_a_new_burst),
           CHECK_LOOP(dcqcn_hears_of_marks, 0, 2))
