// SPDX-License-Identifier: Apache-2.0
// tests/compat/test_scan_hpcc.c - the scheduler "scan", and what else a NIC needs to be like the
// HPCC simulator's.
//
// Goal: frames have the sizes given; packets leave at whole-nanosecond paces; queue pairs take
// turns from the one that came first; a packet may start while the window has any room; one timer
// wakes the port, however many wait; a new rate moves the last packet's end or leaves it.
// Method: two hosts on one link, send times worked out by hand: 83 ns a full frame of 1048 bytes,
// 4 ns an ACK, 1 us of delay, so that an ACK is back 2087 ns after its packet began. (8383 and 4191
// ns where 8384 and 4192 are meant: see compat_hpcc_time_ps.)
// Not pinned: ties (tests/test_hpcc_agreement.sh), losses.
#include "compat/hpcc/rules.h"
#include "net/port_pause.h"
#include "tests/drop_next.h"
#include "tests/nic_pair.h"

#define NS SIM_PS_PER_NS
#define START_PS (5000 * NS)
#define ACK_PS (2087 * NS) // from the start of a packet to its ACK

static void peer_links(net_config_t *config)
{
    config->framing = (sim_name_t){"bare"};
    config->timing = (sim_name_t){"hpcc"};
}

static pair_config_t config;
static pair_t *pair;
static compat_hpcc_scan_config_t scan;

static void prepare(void)
{
    pair_config_init(&config);
    config.change_net = peer_links;
    sim_attrs_default(&compat_hpcc_scan_config_attrs, &scan);
    config.nic.custom_scheduler = &compat_hpcc_scan;
    config.nic.custom_scheduler_config = &scan;
    sim_free(config.nic.frames);
    config.nic.frames = sim_strdup("bare");
    config.nic.mtu_bytes = 1000;
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

static uint64_t rate_bps;
static void set_rate(nic_qp_attr_t *attr)
{
    attr->rate_max_bps = rate_bps;
}

static void post(sim_time_t time_ps, const pair_qp_t *qps, uint64_t bytes)
{
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, bytes);
    pair_post_at(pair, time_ps, qps->qp[0], &wr);
}

START_TEST(frames_and_pace_are_as_given)
{
    prepare();
    pair = pair_create(&config);
    rate_bps = UINT64_C(7000000000);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, set_rate);
    post(START_PS, &qps, 20500);
    pair_run(pair);
    for (uint64_t k = 0; k <= 20; k++) {
        const pair_packet_t *const sent = pair_nth(pair, 0, k);
        ck_assert_uint_eq(sent->time_ps, START_PS + k * 1197 * NS); // 1197.71
        ck_assert_uint_eq(sent->packet.frame_bytes, k < 20 ? 1048 : 548);
    }
    ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.frame_bytes, 60);
    ck_assert_uint_eq(pair->done_count[0], 1);
    // 548 bytes take 43.84 ns, cut to 43.
    ck_assert_uint_eq(pair->done[0][0].time_ps, START_PS + (20 * 1197 + 43 + 1000 + 4 + 1000) * NS);
    tear_down();
}
END_TEST

START_TEST(queue_pairs_take_turns)
{
    prepare();
    pair = pair_create(&config);
    pair_qp_t qps[3];
    for (uint32_t i = 0; i < 3; i++) {
        pair_connect(pair, &qps[i], NIC_QPT_RC, NULL);
    }
    for (uint32_t i = 0; i < 3; i++) {
        post(START_PS, &qps[i], 4000);
    }
    pair_run(pair);
    for (uint64_t k = 0; k < 12; k++) {
        const pair_packet_t *const sent = pair_nth(pair, 0, k);
        ck_assert_uint_eq(sent->time_ps, START_PS + k * 83 * NS);
        ck_assert_uint_eq(sent->packet.destination_qp, nic_qp_num(qps[k % 3].qp[1]));
    }
    tear_down();
}
END_TEST

// Two packets fill 2000 bytes of a window of 2500: a third is sent only if it may overshoot.
START_TEST(a_packet_may_start_below_the_window)
{
    for (int overshoot = 0; overshoot < 2; overshoot++) {
        prepare();
        config.nic.window_bytes = 2500;
        config.nic.window_overshoot = overshoot;
        pair = pair_create(&config);
        pair_qp_t qps;
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        post(START_PS, &qps, 8000);
        pair_run(pair);
        const uint64_t at_once = overshoot ? 3 : 2;
        for (uint64_t k = 0; k < at_once; k++) {
            ck_assert_uint_eq(pair_nth(pair, 0, k)->time_ps, START_PS + k * 83 * NS);
        }
        ck_assert_uint_eq(pair_nth(pair, 0, at_once)->time_ps, START_PS + ACK_PS);
        tear_down();
    }
}
END_TEST

// The timer stands at the end of the slow QP's packet when the fast one comes: it is not moved, and
// the fast QP's second packet, due 838 ns after its first, waits for the next ACK.
START_TEST(one_timer_wakes_all)
{
    prepare();
    pair = pair_create(&config);
    pair_qp_t slow;
    pair_qp_t fast;
    rate_bps = UINT64_C(1000000000);
    pair_connect(pair, &slow, NIC_QPT_RC, set_rate);
    rate_bps = UINT64_C(10000000000);
    pair_connect(pair, &fast, NIC_QPT_RC, set_rate);
    post(START_PS, &slow, 2000);
    post(START_PS + 100 * NS, &fast, 2000);
    pair_run(pair);
    const struct {
        sim_time_t time_ps;
        const pair_qp_t *qps;
    } expected[] = {
        {START_PS, &slow},
        {START_PS + 100 * NS, &fast},
        {START_PS + ACK_PS, &fast},
        {START_PS + 8383 * NS, &slow},
    };
    for (uint64_t k = 0; k < SIM_COUNT_OF(expected); k++) {
        const pair_packet_t *const sent = pair_nth(pair, 0, k);
        ck_assert_uint_eq(sent->time_ps, expected[k].time_ps);
        ck_assert_uint_eq(sent->packet.destination_qp, nic_qp_num(expected[k].qps->qp[1]));
    }
    tear_down();
}
END_TEST

// -- a rate that doubles with the first ACK

static void slow_init(nic_cc_t *cc)
{
    cc->rate_bps = UINT64_C(1000000000);
}

static void faster(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    (void)ack;
    cc->rate_bps = UINT64_C(2000000000);
}

static const nic_cc_ops_t doubling = {
    .name = "doubling",
    .state_bytes = sizeof(nic_cc_t),
    .init = slow_init,
    .ack = faster,
};

START_TEST(a_new_rate_moves_the_end_or_not)
{
    static const struct {
        compat_hpcc_rate_change_t change;
        bool bound;
        uint64_t ns;
    } cases[] = {
        {COMPAT_HPCC_RATE_CHANGE_NEVER, true, 8383},
        {COMPAT_HPCC_RATE_CHANGE_LAST_PACKET, true, 4191},
        {COMPAT_HPCC_RATE_CHANGE_NEVER, false, 83},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        prepare();
        config.nic.custom_cc = &doubling;
        scan.rate_change = cases[i].change;
        scan.rate_bound = cases[i].bound;
        pair = pair_create(&config);
        pair_qp_t qps;
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        post(START_PS, &qps, 3000);
        pair_run(pair);
        const sim_time_t second_ps = START_PS + cases[i].ns * NS;
        const sim_time_t third_ps = second_ps + (cases[i].bound ? 4191 : 83) * NS;
        ck_assert_uint_eq(pair_nth(pair, 0, 1)->time_ps, second_ps);
        ck_assert_uint_eq(pair_nth(pair, 0, 2)->time_ps, third_ps);
        tear_down();
    }
}
END_TEST

// -- ACKs

static void pause_peer(pair_t *of, void *class)
{
    net_port_pause_queue(of->port[0], *(const uint32_t *)class, 1000);
    net_port_wake(of->port[0]);
}

// 1000 quanta are 5120 ns from the arrival of the pause, which is 4 ns and the delay after it was
// sent.
START_TEST(a_pause_of_one_class_holds_back_acks)
{
    static const struct {
        uint64_t ack_pause_class;
        uint32_t paused;
        uint64_t ns;
    } cases[] = {
        {0, 0, 4124},
        {0, 3, 1083},
        {SIM_AUTO, 0, 1083},
        {SIM_AUTO, 3, 4124},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        prepare();
        scan.ack_pause_class = cases[i].ack_pause_class;
        pair = pair_create(&config);
        pair_qp_t qps;
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        uint32_t class = cases[i].paused;
        pair_call_at(pair, 0, START_PS - 2000 * NS, pause_peer, &class);
        post(START_PS, &qps, 1000);
        pair_run(pair);
        ck_assert_uint_eq(pair_nth(pair, 1, 0)->time_ps, START_PS + cases[i].ns * NS);
        tear_down();
    }
}
END_TEST

// The first ACK is lost. The packet is retransmitted; an option decides whether the duplicate is
// answered.
START_TEST(duplicates_are_answered_or_not)
{
    for (int answered = 0; answered < 2; answered++) {
        prepare();
        config.nic.ack_duplicates = answered;
        config.nic.timeout = 2; // 16 us
        config.nic.retry_count = 2;
        pair = pair_create(&config);
        pair_qp_t qps;
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        test_drop_next(pair->port[1], 1);
        post(START_PS, &qps, 1000);
        pair_run(pair);
        ck_assert_uint_eq(pair->done_count[0], 1);
        ck_assert_int_eq(pair->done[0][0].wc.status,
                         answered ? NIC_WC_SUCCESS : NIC_WC_RETRY_EXC_ERR);
        tear_down();
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(frames_and_pace_are_as_given), CHECK_TEST(queue_pairs_take_turns),
           CHECK_TEST(a_packet_may_start_below_the_window), CHECK_TEST(one_timer_wakes_all),
           CHECK_TEST(a_new_rate_moves_the_end_or_not),
           CHECK_TEST(a_pause_of_one_class_holds_back_acks),
           CHECK_TEST(duplicates_are_answered_or_not))
