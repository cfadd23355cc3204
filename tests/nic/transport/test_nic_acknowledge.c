// SPDX-License-Identifier: Apache-2.0
// Goal: whatever single packet is lost, every request completes once, in order, and the data is
// delivered once; what cannot be repaired ends in the standard's error at the exact time.
// Method: the n-th packet of either host is dropped, for every n, with every kind of request in the
// queue; retry limits against sums of timeouts (IBA vol. 1, 9.7.6.1.3 and 9.7.6.1.4, table 45).
// Does not pin: which packets are sent again beyond their number and PSNs; random losses.
#include "tests/drop_next.h"
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)
#define TIMEOUT 8u // 1.05 ms
#define TIMEOUT_PS (UINT64_C(4096000) << TIMEOUT)
#define BYTES UINT64_C(20000) // 5 packets

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(void)
{
    pair_config_init(&config);
    config.nic.timeout = TIMEOUT;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

// Requests of a mix, each BYTES long: a letter is a request.
static void post_mix(const char *mix)
{
    uint32_t receives = 0;
    for (uint64_t i = 0; mix[i] != '\0'; i++) {
        const nic_wr_opcode_t opcode = mix[i] == 'w'   ? NIC_WR_RDMA_WRITE
                                       : mix[i] == 's' ? NIC_WR_SEND
                                       : mix[i] == 'i' ? NIC_WR_RDMA_WRITE_WITH_IMM
                                                       : NIC_WR_RDMA_READ;
        receives += mix[i] == 's' || mix[i] == 'i';
        nic_send_wr_t wr = pair_wr(pair, opcode, BYTES);
        wr.wr_id = i;
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_post_recvs(pair, &qps, receives, BYTES);
}

// Checks that all requests completed once and in order, and that all bytes were delivered once.
static void check_mix(const char *mix)
{
    const size_t count = strlen(mix);
    uint64_t read_bytes = 0;
    uint64_t written_bytes = 0;
    size_t receives = 0;
    ck_assert_uint_eq(pair->done_count[0], count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(pair->done[0][i].wc.wr_id, i);
        ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_SUCCESS);
        *(mix[i] == 'r' ? &read_bytes : &written_bytes) += BYTES;
        receives += mix[i] == 's' || mix[i] == 'i';
    }
    ck_assert_uint_eq(pair->done_count[1], receives);
    for (size_t i = 0; i < receives; i++) {
        ck_assert_uint_eq(pair->done[1][i].wc.wr_id, 1000 + i);
        ck_assert_uint_eq(pair->done[1][i].wc.byte_len, BYTES);
    }
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->rx_data_bytes, read_bytes);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->rx_data_bytes, written_bytes);
    ck_assert_int_eq(nic_qp_state(qps.qp[0]), NIC_QPS_RTS);
    ck_assert(nic_qp_quiet(qps.qp[0]) && nic_qp_quiet(qps.qp[1]));
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
}

static const char *const mixes[] = {"w",   "s",   "r",    "i",     "rr",
                                    "wsr", "rws", "rsrs", "srwir", "rrrrwwww"};

// Every packet of host `_i & 1` is lost in turn, with the mix `_i / 2`.
START_TEST(any_single_loss_is_repaired)
{
    const char *const mix = mixes[_i / 2];
    const uint32_t host = _i & 1;
    uint64_t packets = 1;
    for (uint64_t n = 0; n <= packets; n++) {
        set_up();
        post_mix(mix);
        if (n > 0) {
            test_drop_next(pair->port[host], n);
        }
        pair_run(pair);
        check_mix(mix);
        ck_assert_uint_eq(pair->port[host]->rare->drops[NET_DROP_LINK_LOSS], n > 0);
        if (n == 0) {
            packets = nic_get_counters(pair->nic[host])->tx_packets;
            ck_assert_uint_eq(nic_get_counters(pair->nic[0])->retransmitted_packets, 0);
        }
        tear_down();
    }
}
END_TEST

// Heavier: each of the first packets lost again and again, in both directions.
START_TEST(periodic_losses_are_repaired)
{
    const char *const mix = mixes[_i];
    for (uint64_t period = 3; period < 12; period++) {
        pair_config_init(&config);
        config.nic.timeout = TIMEOUT;
        config.nic.ack_interval = period % 4 + 1;
        config.link.loss_rate = (sim_ratio_t){1, period + 4};
        pair = pair_create(&config);
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        post_mix(mix);
        pair_run(pair);
        check_mix(mix);
        tear_down();
    }
}
END_TEST

// The gap is seen when the next packet arrives; the NAK comes back; go-back-N resends from the gap.
START_TEST(sequence_nak_goes_back_to_the_gap)
{
    set_up();
    post_mix("ww");
    test_drop_next(pair->port[0], 3);
    pair_run(pair);
    check_mix("ww");
    const nic_counters_t *const requester = nic_get_counters(pair->nic[0]);
    const nic_counters_t *const responder = nic_get_counters(pair->nic[1]);
    ck_assert_uint_eq(requester->packet_seq_err, 1);
    ck_assert_uint_eq(requester->local_ack_timeout_err, 0);
    ck_assert_uint_eq(responder->out_of_sequence, 7); // PSN 3 to 9
    ck_assert_uint_eq(requester->retransmitted_packets, 8);
    ck_assert_uint_eq(nic_qp_retransmitted_packets(qps.qp[0]), 8);
    size_t naks = 0;
    for (size_t i = 0; i < pair->wire_count; i++) {
        const pair_packet_t *const sent = &pair->wire[i];
        if (sent->host == 1 && sent->packet.aeth >> 24 == ROCE_SYNDROME_NAK) {
            naks++;
            ck_assert_uint_eq(sent->packet.psn, 2);
        }
    }
    ck_assert_uint_eq(naks, 1);
    tear_down();
}
END_TEST

static void few_retries(nic_qp_attr_t *attr)
{
    attr->retry_cnt = 3;
}

static void drop_all(pair_t *self, void *ctx)
{
    (void)ctx;
    net_port_own_config(self->port[0])->loss_rate = (sim_ratio_t){1, 1};
    self->port[0]->special = NET_SPECIAL_OTHERWISE;
}

// A packet sent at t is sent again at t + T, t + 2T...; after retry_cnt repetitions one more T.
START_TEST(retries_run_out_at_the_exact_time)
{
    pair_config_init(&config);
    config.nic.timeout = TIMEOUT;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, few_retries);
    pair_call_at(pair, 0, START_PS - 1, drop_all, NULL);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    for (wr.wr_id = 0; wr.wr_id < 3; wr.wr_id++) {
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair_count(pair, 0, ROCE_WRITE_ONLY), 3 * 4);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(pair_nth(pair, 0, 3 * i)->time_ps, START_PS + i * TIMEOUT_PS);
        ck_assert_int_eq(pair_nth(pair, 0, 3 * i)->packet.retransmission, i > 0);
    }
    ck_assert_uint_eq(pair->done_count[0], 3);
    ck_assert_uint_eq(pair->done[0][0].time_ps, START_PS + 4 * TIMEOUT_PS);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_RETRY_EXC_ERR);
    ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_WR_FLUSH_ERR);
    ck_assert_int_eq(pair->done[0][2].wc.status, NIC_WC_WR_FLUSH_ERR);
    ck_assert_int_eq(nic_qp_state(qps.qp[0]), NIC_QPS_ERR);
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_OK); // to be flushed
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->local_ack_timeout_err, 4);
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
    tear_down();
}
END_TEST

// Progress gives all retries back: a lossy link does not end a long message.
START_TEST(progress_resets_the_retry_count)
{
    pair_config_init(&config);
    config.nic.timeout = TIMEOUT;
    config.link.loss_rate = (sim_ratio_t){1, 20};
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, few_retries);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 2000000);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_uint_gt(nic_get_counters(pair->nic[0])->packet_seq_err, 4);
    tear_down();
}
END_TEST

// -- receiver not ready

static void rnr_code_1(nic_qp_attr_t *attr)
{
    attr->min_rnr_timer = 1; // 0.01 ms
    attr->rnr_retry = 2;
}

static void post_one_receive(pair_t *self, void *ctx)
{
    (void)self;
    pair_post_recvs(pair, &qps, 1, *(const uint64_t *)ctx);
}

// _i 0: the receive comes in time; 1: never.
START_TEST(receiver_not_ready_waits_and_gives_up)
{
    pair_config_init(&config);
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, rnr_code_1);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 100);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    wr.wr_id = 1;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    uint64_t bytes = 100;
    const sim_time_t wait_ps = 10 * SIM_PS_PER_US;
    const sim_time_t loop_ps = pair_reach_ps(PAIR_HEADERS + 100) + pair_reach_ps(PAIR_ACK_BYTES);
    if (_i == 0) {
        pair_call_at(pair, 1, START_PS + 2 * wait_ps, post_one_receive, &bytes);
        pair_call_at(pair, 1, START_PS + 2 * wait_ps, post_one_receive, &bytes);
    }
    pair_run(pair);
    // Tries at 0, W, 2W where W is the wait and one way there and back.
    ck_assert_uint_eq(pair_nth(pair, 0, 2)->time_ps, START_PS + loop_ps + wait_ps);
    ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.aeth, 0x21000000);
    if (_i == 0) {
        ck_assert_uint_eq(pair->done_count[0], 2);
        ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_SUCCESS);
        ck_assert_uint_eq(pair->done[0][0].time_ps, START_PS + 3 * loop_ps + 2 * wait_ps);
        ck_assert_uint_eq(nic_get_counters(pair->nic[0])->rnr_nak_retry_err, 2);
    } else {
        ck_assert_uint_eq(pair->done[0][0].time_ps, START_PS + 3 * loop_ps + 2 * wait_ps);
        ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_RNR_RETRY_EXC_ERR);
        ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_WR_FLUSH_ERR);
        ck_assert_uint_eq(nic_get_counters(pair->nic[1])->out_of_buffer, 3);
    }
    tear_down();
}
END_TEST

// Table 45 of the standard, in microseconds.
static const uint64_t rnr_us[32] = {655360, 10,    20,    30,     40,     60,     80,     120,
                                    160,    240,   320,   480,    640,    960,    1280,   1920,
                                    2560,   3840,  5120,  7680,   10240,  15360,  20480,  30720,
                                    40960,  61440, 81920, 122880, 163840, 245760, 327680, 491520};
static uint32_t rnr_code;

static void set_rnr_code(nic_qp_attr_t *attr)
{
    attr->min_rnr_timer = rnr_code;
}

START_TEST(rnr_waits_are_those_of_the_table)
{
    rnr_code = (uint32_t)_i;
    pair_config_init(&config);
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, set_rnr_code);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 100);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    uint64_t bytes = 100;
    pair_call_at(pair, 1, START_PS + 5 * SIM_PS_PER_US, post_one_receive, &bytes);
    pair_run(pair);
    const sim_time_t loop_ps = pair_reach_ps(PAIR_HEADERS + 100) + pair_reach_ps(PAIR_ACK_BYTES);
    ck_assert_uint_eq(pair_nth(pair, 0, 1)->time_ps,
                      START_PS + loop_ps + rnr_us[_i] * SIM_PS_PER_US);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    tear_down();
}
END_TEST

// -- READ

// A lost response is asked for again from where it is missing, with address and length moved on.
START_TEST(read_asks_again_for_the_missing_part)
{
    set_up();
    post_mix("r");
    test_drop_next(pair->port[1], 3);
    pair_run(pair);
    check_mix("r");
    const pair_packet_t *const again = pair_nth(pair, 0, 1);
    ck_assert_uint_eq(again->packet.opcode, ROCE_READ_REQUEST);
    ck_assert_uint_eq(again->packet.psn, 2);
    ck_assert_uint_eq(again->aside.reth.address, PAIR_MEMORY + 2 * 4096);
    ck_assert_uint_eq(again->aside.reth.length, BYTES - 2 * 4096);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->implied_nak_seq_err, 1);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->local_ack_timeout_err, 0);
    tear_down();
}
END_TEST

// A lost request has nobody to complain: the timer brings it back.
START_TEST(lost_read_request_times_out)
{
    set_up();
    post_mix("r");
    test_drop_next(pair->port[0], 1);
    pair_run(pair);
    check_mix("r");
    ck_assert_uint_eq(pair_nth(pair, 0, 1)->time_ps, START_PS + TIMEOUT_PS);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->local_ack_timeout_err, 1);
    tear_down();
}
END_TEST

// An ACK waits for the READ responses before it.
START_TEST(answers_keep_the_order_of_requests)
{
    set_up();
    post_mix("rsr");
    pair_run(pair);
    check_mix("rsr");
    bool acknowledged = false;
    for (size_t i = 0, responses = 0; i < pair->wire_count; i++) {
        if (pair->wire[i].host == 1) {
            acknowledged |= pair->wire[i].packet.opcode == ROCE_ACKNOWLEDGE;
            responses += pair->wire[i].packet.opcode != ROCE_ACKNOWLEDGE;
            ck_assert(!acknowledged || responses >= 5);
        }
    }
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->implied_nak_seq_err, 0);
    tear_down();
}
END_TEST

// The DSCP of an ACK is that of the class it is sent in: switches classify by it, and pause by it.
START_TEST(acknowledgements_say_their_class)
{
    static const uint8_t classes[] = {5, 3}; // ack-priority; auto
    for (size_t i = 0; i < 2; i++) {
        set_up();
        config.nic.ack_priority = i == 0 ? classes[i] : SIM_AUTO;
        pair_destroy(pair);
        pair = pair_create(&config);
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        post_mix("w");
        pair_run(pair);
        check_mix("w");
        size_t answers = 0;
        for (size_t k = 0; k < pair->wire_count; k++) {
            if (pair->wire[k].host == 1) {
                ck_assert_uint_eq(pair->wire[k].packet.priority, classes[i]);
                ck_assert_uint_eq(pair->wire[k].packet.dscp, classes[i] * 8u);
                answers++;
            }
        }
        ck_assert_uint_gt(answers, 0);
        tear_down();
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP(any_single_loss_is_repaired, 0, 20),
           CHECK_LOOP(periodic_losses_are_repaired, 0, 10),
           CHECK_TEST(sequence_nak_goes_back_to_the_gap),
           CHECK_TEST(retries_run_out_at_the_exact_time),
           CHECK_TEST(progress_resets_the_retry_count),
           CHECK_LOOP(receiver_not_ready_waits_and_gives_up, 0, 2),
           CHECK_LOOP(rnr_waits_are_those_of_the_table, 0, 32),
           CHECK_TEST(read_asks_again_for_the_missing_part),
           CHECK_TEST(lost_read_request_times_out), CHECK_TEST(answers_keep_the_order_of_requests),
           CHECK_TEST(acknowledgements_say_their_class))
