// SPDX-License-Identifier: Apache-2.0
// Goal: a work request becomes the packets the standard says, at the picosecond they must be sent.
// Method: one message between two hosts on a link; times against closed forms made of frame sizes,
// opcodes and PSNs against the standard's segmentation rules (IBA vol. 1, 9.7.2 to 9.7.4).
// Does not pin: losses (test_nic_acknowledge), several QPs (test_nic_scheduler).
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(void)
{
    pair_config_init(&config);
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

static const uint64_t sizes[] = {0, 1, 3, 4, 100, 4095, 4096, 4097, 8192, 10000, 1000001, 8000000};

START_TEST(write_completes_at_the_closed_form)
{
    set_up();
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, sizes[_i]);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    // All frames back to back, the last without its gap; then the ACK comes back.
    const sim_time_t expected_ps = START_PS + pair_message_ps(sizes[_i], 4096, 16) -
                                   12 * PAIR_BYTE_PS + PAIR_DELAY_PS +
                                   pair_reach_ps(PAIR_ACK_BYTES);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_uint_eq(pair->done[0][0].time_ps, expected_ps);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_int_eq(pair->done[0][0].wc.opcode, NIC_WC_RDMA_WRITE);
    // The run ends with the completion: no timer is left behind.
    ck_assert_uint_eq(sim_end_time_ps(pair->sim), expected_ps);
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
    ck_assert(nic_qp_quiet(qps.qp[0]) && nic_qp_quiet(qps.qp[1]));
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->rx_data_bytes, sizes[_i]);
    tear_down();
}
END_TEST

START_TEST(send_completes_both_ends_at_the_closed_form)
{
    set_up();
    pair_post_recvs(pair, &qps, 1, sizes[_i] + 10);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND_WITH_IMM, sizes[_i]);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    const sim_time_t arrival_ps =
        START_PS + pair_message_ps(sizes[_i], 4096, 4) - 12 * PAIR_BYTE_PS + PAIR_DELAY_PS;
    ck_assert_uint_eq(pair->done_count[1], 1);
    ck_assert_uint_eq(pair->done[1][0].time_ps, arrival_ps);
    ck_assert_uint_eq(pair->done[1][0].wc.wr_id, 1000);
    ck_assert_uint_eq(pair->done[1][0].wc.byte_len, sizes[_i]);
    ck_assert_uint_eq(pair->done[1][0].wc.imm_data, 0x12345678);
    ck_assert_uint_eq(pair->done[1][0].wc.wc_flags, NIC_WC_WITH_IMM);
    ck_assert_int_eq(pair->done[1][0].wc.opcode, NIC_WC_RECV);
    ck_assert_uint_eq(pair->done[0][0].time_ps, arrival_ps + pair_reach_ps(PAIR_ACK_BYTES));
    tear_down();
}
END_TEST

START_TEST(read_completes_at_the_closed_form)
{
    set_up();
    const uint64_t bytes = sizes[_i];
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, bytes);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    // The request reaches the peer, which sends FIRST and LAST with 4 bytes of AETH each.
    const uint32_t aeths = bytes <= 4096 ? 4 : 8;
    const sim_time_t expected_ps = START_PS + pair_reach_ps(PAIR_HEADERS + 16) +
                                   pair_message_ps(bytes, 4096, aeths) - 12 * PAIR_BYTE_PS +
                                   PAIR_DELAY_PS;
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_uint_eq(pair->done[0][0].time_ps, expected_ps);
    ck_assert_uint_eq(pair->done[0][0].wc.byte_len, bytes);
    ck_assert_int_eq(pair->done[0][0].wc.opcode, NIC_WC_RDMA_READ);
    ck_assert_uint_eq(pair_count(pair, 1, ROCE_ACKNOWLEDGE), 0);
    ck_assert_uint_eq(sim_end_time_ps(pair->sim), expected_ps);
    tear_down();
}
END_TEST

// _i: 0..4 is the MTU, for all message sizes around its multiples.
START_TEST(segmentation_follows_the_path_mtu)
{
    const uint32_t mtu = 256u << _i;
    for (uint32_t packets = 1; packets <= 4; packets++) {
        for (uint32_t short_of = 0; short_of < 3; short_of++) {
            pair_config_init(&config);
            config.nic.mtu_bytes = mtu;
            pair = pair_create(&config);
            pair_connect(pair, &qps, NIC_QPT_RC, NULL);
            const uint32_t bytes = packets * mtu - short_of;
            const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, bytes);
            pair_post_at(pair, START_PS, qps.qp[0], &wr);
            pair_run(pair);
            for (uint32_t i = 0; i < packets; i++) {
                const pair_packet_t *const sent = pair_nth(pair, 0, i);
                const uint32_t opcode = packets == 1       ? ROCE_WRITE_ONLY
                                        : i == 0           ? ROCE_WRITE_FIRST
                                        : i == packets - 1 ? ROCE_WRITE_LAST
                                                           : ROCE_WRITE_MIDDLE;
                ck_assert_uint_eq(sent->packet.opcode, opcode);
                ck_assert_uint_eq(sent->packet.psn, i);
                ck_assert_uint_eq(sent->packet.payload_bytes,
                                  i == packets - 1 ? mtu - short_of : mtu);
                if (i == 0) {
                    ck_assert_uint_eq(sent->aside.reth.length, bytes);
                    ck_assert_uint_eq(sent->aside.reth.address, PAIR_MEMORY);
                }
            }
            ck_assert_uint_eq(nic_get_counters(pair->nic[0])->tx_packets, packets);
            ck_assert_uint_eq(nic_get_counters(pair->nic[0])->tx_data_bytes, bytes);
            tear_down();
        }
    }
}
END_TEST

// pair_note_packet compares each frame's size with the codec's. _i: tagged, IPv6.
START_TEST(frames_have_the_sizes_of_the_codec)
{
    pair_config_init(&config);
    config.tagged = (_i & 1) != 0;
    config.ipv6 = (_i & 2) != 0;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    static const nic_wr_opcode_t opcodes[] = {NIC_WR_SEND, NIC_WR_SEND_WITH_IMM, NIC_WR_RDMA_WRITE,
                                              NIC_WR_RDMA_WRITE_WITH_IMM, NIC_WR_RDMA_READ};
    pair_post_recvs(pair, &qps, 3 * SIM_COUNT_OF(sizes), 8000000);
    for (size_t o = 0; o < SIM_COUNT_OF(opcodes); o++) {
        for (size_t s = 0; s < SIM_COUNT_OF(sizes) - 2; s++) {
            const nic_send_wr_t wr = pair_wr(pair, opcodes[o], sizes[s]);
            pair_post_at(pair, START_PS, qps.qp[0], &wr);
        }
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], SIM_COUNT_OF(opcodes) * (SIM_COUNT_OF(sizes) - 2));
    for (size_t i = 0; i < pair->done_count[0]; i++) {
        ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_SUCCESS);
    }
    tear_down();
}
END_TEST

static void near_wrap(nic_qp_attr_t *attr)
{
    attr->sq_psn = 0xfffffe;
    attr->rq_psn = 0xfffffe;
}

// _i: WRITE or READ.
START_TEST(psn_wraps_at_24_bits)
{
    pair_config_init(&config);
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, near_wrap);
    const nic_send_wr_t wr =
        pair_wr(pair, _i == 0 ? NIC_WR_RDMA_WRITE : NIC_WR_RDMA_READ, 5 * 4096);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    static const uint32_t expected[] = {0xfffffe, 0xffffff, 0, 1, 2, 3, 4};
    for (size_t i = 0; i < SIM_COUNT_OF(expected); i++) {
        ck_assert_uint_eq(pair_nth(pair, _i == 0 ? 0 : 1, i)->packet.psn, expected[i]);
    }
    ck_assert_uint_eq(pair->done_count[0], 2);
    ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_SUCCESS);
    ck_assert_uint_eq(nic_qp_rq_psn(qps.qp[1]), 8);
    tear_down();
}
END_TEST

START_TEST(ack_request_follows_the_interval)
{
    pair_config_init(&config);
    config.nic.ack_interval = 4;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10 * 4096);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    for (uint32_t i = 0; i < 10; i++) {
        ck_assert_int_eq(pair_nth(pair, 0, i)->packet.ack_request, i == 3 || i == 7 || i == 9);
    }
    ck_assert_uint_eq(pair_count(pair, 1, ROCE_ACKNOWLEDGE), 3);
    ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.psn, 3);
    ck_assert_uint_eq(pair_nth(pair, 1, 2)->packet.psn, 9);
    ck_assert_uint_eq(pair_nth(pair, 1, 2)->packet.aeth, 0x1f000001); // no credits, one message
    tear_down();
}
END_TEST

static void window_of_three(nic_qp_attr_t *attr)
{
    attr->window_bytes = 3 * 4096;
}

// Three packets per round trip, whatever the ACK interval says.
START_TEST(window_limits_bytes_in_flight)
{
    pair_config_init(&config);
    config.nic.ack_interval = 256;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, window_of_three);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 9 * 4096);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    const sim_time_t data_ps = pair_frame_ps(PAIR_HEADERS + 4096);
    const sim_time_t loop_ps = pair_reach_ps(PAIR_HEADERS + 4096) + pair_reach_ps(PAIR_ACK_BYTES);
    sim_time_t burst_ps = START_PS;
    for (uint32_t i = 0; i < 9; i += 3) {
        const sim_time_t first_ps = i == 0 ? pair_frame_ps(PAIR_HEADERS + 16 + 4096) : data_ps;
        ck_assert_uint_eq(pair_nth(pair, 0, i)->time_ps, burst_ps);
        ck_assert_uint_eq(pair_nth(pair, 0, i + 2)->time_ps, burst_ps + first_ps + data_ps);
        burst_ps += first_ps + data_ps + loop_ps;
    }
    ck_assert_uint_eq(pair->done[0][0].time_ps, burst_ps);
    tear_down();
}
END_TEST

static void three_reads(nic_qp_attr_t *attr)
{
    attr->max_rd_atomic = 3;
}

START_TEST(reads_outstanding_are_limited)
{
    pair_config_init(&config);
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, three_reads);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, 100);
    for (int i = 0; i < 7; i++) {
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 7);
    // The fourth request leaves when the first response is in.
    ck_assert_uint_eq(pair_nth(pair, 0, 3)->time_ps, pair->done[0][0].time_ps);
    ck_assert_uint_lt(pair_nth(pair, 0, 2)->time_ps, pair->done[0][0].time_ps);
    tear_down();
}
END_TEST

START_TEST(fence_waits_for_reads)
{
    set_up();
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, 100);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    wr.send_flags |= NIC_SEND_FENCE;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair_nth(pair, 0, 1)->time_ps, pair->done[0][0].time_ps);
    ck_assert_uint_eq(pair->done_count[0], 2);
    tear_down();
}
END_TEST

START_TEST(unsignaled_requests_complete_silently)
{
    set_up();
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    wr.send_flags = 0;
    for (uint64_t i = 0; i < 5; i++) {
        wr.wr_id = i;
        wr.send_flags = i == 4 ? NIC_SEND_SIGNALED : 0;
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_uint_eq(pair->done[0][0].wc.wr_id, 4);
    tear_down();
}
END_TEST

// Before the run there is no event to post in: the message starts at time 0.
START_TEST(posting_before_the_run_starts_at_zero)
{
    set_up();
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_OK);
    pair_run(pair);
    ck_assert_uint_eq(pair_nth(pair, 0, 0)->time_ps, 0);
    ck_assert_uint_eq(pair->done_count[0], 1);
    tear_down();
}
END_TEST

// The longest message the standard allows, at the smallest MTU, has exactly 2^23 packets: half of
// the PSN space. (As a READ: the request is one packet, and the run is cut after it.)
START_TEST(longest_message_spans_half_the_psn_space)
{
    pair_config_init(&config);
    config.nic.mtu_bytes = 256;
    config.until_ps = 100 * SIM_PS_PER_US;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, UINT64_C(1) << 31);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(nic_qp_rq_psn(qps.qp[1]), 1u << 23);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->tx_packets, 1); // the second must wait
    ck_assert_uint_gt(nic_get_counters(pair->nic[0])->rx_data_bytes, 900000);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->implied_nak_seq_err, 0);
    wr.sge.length++;
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_ERR_RANGE);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(write_completes_at_the_closed_form, 0, 12),
           CHECK_LOOP(send_completes_both_ends_at_the_closed_form, 0, 12),
           CHECK_LOOP(read_completes_at_the_closed_form, 0, 12),
           CHECK_LOOP(segmentation_follows_the_path_mtu, 0, 5),
           CHECK_LOOP(frames_have_the_sizes_of_the_codec, 0, 4),
           CHECK_LOOP(psn_wraps_at_24_bits, 0, 2), CHECK_TEST(ack_request_follows_the_interval),
           CHECK_TEST(window_limits_bytes_in_flight), CHECK_TEST(reads_outstanding_are_limited),
           CHECK_TEST(fence_waits_for_reads), CHECK_TEST(unsignaled_requests_complete_silently),
           CHECK_TEST(posting_before_the_run_starts_at_zero),
           CHECK_TEST(longest_message_spans_half_the_psn_space))
