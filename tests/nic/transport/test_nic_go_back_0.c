// SPDX-License-Identifier: Apache-2.0
// test_nic_go_back_0.c - what starts again when retransmission goes back to zero.
//
// Goal: a message (or chunk) with a gap starts again from its first packet, at both ends, and
// nothing before it does; and the known consequence, that long messages never get through a lossy
// link which going back N hardly notices.
// Method: packets on the wire between two hosts after a chosen loss. The livelock is that of Guo et
// al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.1: messages of 4 MB with one
// packet in 256 lost.
// Not pinned: that any loss is repaired (test_single_loss).
#include "tests/drop_next.h"
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)
#define MTU UINT64_C(1024)

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(uint64_t chunk_bytes)
{
    pair_config_init(&config);
    config.nic.mtu_bytes = MTU;
    config.nic.timeout = 8;
    config.nic.retransmission = NIC_GO_BACK_0;
    config.nic.chunk_bytes = chunk_bytes;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
}

static void post(nic_wr_opcode_t opcode, uint64_t bytes)
{
    const nic_send_wr_t wr = pair_wr(pair, opcode, bytes);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

// The first packet that host 0 sends again.
static const net_packet_t *first_again(void)
{
    for (size_t i = 0; i < pair->wire_count; i++) {
        if (pair->wire[i].host == 0 && pair->wire[i].packet.retransmission) {
            return &pair->wire[i].packet;
        }
    }
    ck_abort_msg("nothing was sent again");
    return NULL;
}

static const net_packet_t *only_nak(void)
{
    const net_packet_t *nak = NULL;
    for (size_t i = 0; i < pair->wire_count; i++) {
        const net_packet_t *const packet = &pair->wire[i].packet;
        if (packet->opcode == ROCE_ACKNOWLEDGE && packet->aeth >> 29 != 0) {
            ck_assert_ptr_null(nak);
            nak = packet;
        }
    }
    ck_assert_ptr_nonnull(nak);
    return nak;
}

// Two messages of ten packets, the seventh of the second lost. Where that starts again, and the
// payload given up: by chunk size.
static const struct {
    uint64_t chunk_bytes;
    uint32_t psn;
    uint64_t given_up_packets;
    uint8_t opcode;
} starts[] = {
    {0, 10, 6, ROCE_WRITE_FIRST},
    {100 * MTU, 10, 6, ROCE_WRITE_FIRST},
    {4 * MTU, 14, 2, ROCE_WRITE_MIDDLE},
    {4 * MTU + 1000, 14, 2, ROCE_WRITE_MIDDLE}, // rounded down to packets
    {3 * MTU, 16, 0, ROCE_WRITE_MIDDLE},        // the gap begins a chunk
    {MTU, 16, 0, ROCE_WRITE_MIDDLE},
    {1, 16, 0, ROCE_WRITE_MIDDLE},
};

START_TEST(message_or_chunk_starts_again)
{
    set_up(starts[_i].chunk_bytes);
    post(NIC_WR_RDMA_WRITE, 10 * MTU);
    post(NIC_WR_RDMA_WRITE, 10 * MTU);
    test_drop_next(pair->port[0], 17);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 2);
    ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_SUCCESS);
    ck_assert_uint_eq(only_nak()->psn, starts[_i].psn);
    ck_assert_uint_eq(first_again()->psn, starts[_i].psn);
    ck_assert_uint_eq(first_again()->opcode, starts[_i].opcode);
    const nic_counters_t *const requester = nic_get_counters(pair->nic[0]);
    const nic_counters_t *const responder = nic_get_counters(pair->nic[1]);
    ck_assert_uint_eq(requester->retransmitted_packets, 20 - starts[_i].psn);
    ck_assert_uint_eq(requester->local_ack_timeout_err, 0);
    ck_assert_uint_eq(responder->rx_restarted_bytes, starts[_i].given_up_packets * MTU);
    ck_assert_uint_eq(responder->rx_data_bytes - responder->rx_restarted_bytes, 20 * MTU);
    tear_down();
}
END_TEST

// A SEND's receive stays its own; what is asked of a READ again is all of it, or of its chunk.
// _i: whether there are chunks of two packets.
START_TEST(send_and_read_start_again)
{
    set_up(_i == 0 ? 0 : 2 * MTU);
    pair_post_recvs(pair, &qps, 2, 5 * MTU);
    post(NIC_WR_SEND, 5 * MTU);
    test_drop_next(pair->port[0], 4);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], 1);
    ck_assert_uint_eq(pair->done[1][0].wc.byte_len, 5 * MTU);
    ck_assert_uint_eq(first_again()->psn, _i == 0 ? 0 : 2);
    tear_down();

    set_up(_i == 0 ? 0 : 2 * MTU);
    post(NIC_WR_RDMA_READ, 5 * MTU);
    test_drop_next(pair->port[1], 4);
    pair_run(pair);
    const uint64_t kept = _i == 0 ? 0 : 2;
    const pair_packet_t *const again = pair_nth(pair, 0, 1);
    ck_assert_uint_eq(again->packet.opcode, ROCE_READ_REQUEST);
    ck_assert_uint_eq(again->packet.psn, kept);
    ck_assert_uint_eq(again->aside.reth.address, PAIR_MEMORY + kept * MTU);
    ck_assert_uint_eq(again->aside.reth.length, (5 - kept) * MTU);
    const nic_counters_t *const requester = nic_get_counters(pair->nic[0]);
    ck_assert_uint_eq(requester->rx_restarted_bytes, (3 - kept) * MTU);
    ck_assert_uint_eq(requester->rx_data_bytes - requester->rx_restarted_bytes, 5 * MTU);
    ck_assert_uint_eq(pair->done_count[0], 1);
    tear_down();
}
END_TEST

// A lost NAK: the requester's timer starts the message again as the responder expects it, although
// a part of it had been acknowledged.
START_TEST(timeout_starts_again_too)
{
    set_up(0);
    post(NIC_WR_RDMA_WRITE, 10 * MTU);
    test_drop_next(pair->port[0], 6);
    test_drop_next(pair->port[1], 6); // five ACKs, then the NAK
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->local_ack_timeout_err, 1);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->retransmitted_packets, 10);
    ck_assert_uint_eq(first_again()->psn, 0);
    tear_down();
}
END_TEST

static uint64_t finished_messages(uint32_t mode, uint64_t chunk_bytes, double *used)
{
    pair_config_init(&config);
    config.nic.mtu_bytes = MTU;
    config.nic.timeout = 4; // 66 us
    config.nic.retransmission = mode;
    config.nic.chunk_bytes = chunk_bytes;
    config.link.loss_rate = (sim_ratio_t){1, 256};
    config.until_ps = 4 * SIM_PS_PER_MS;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    for (int i = 0; i < 64; i++) {
        post(NIC_WR_RDMA_WRITE, 4096 * MTU);
    }
    pair_run(pair);
    const uint64_t done = pair->done_count[0];
    const double line = (double)config.until_ps / (double)pair_frame_ps(58 + MTU);
    *used = (double)nic_get_counters(pair->nic[0])->tx_data_bytes / (double)MTU / line;
    tear_down();
    return done;
}

START_TEST(long_messages_live_lock)
{
    double used[3];
    // (255/256)^4096 is 1e-7: none of about 70 attempts.
    ck_assert_uint_eq(finished_messages(NIC_GO_BACK_0, 0, &used[0]), 0);
    const uint64_t by_chunk = finished_messages(NIC_GO_BACK_0, 16 * MTU, &used[1]);
    const uint64_t by_packet = finished_messages(NIC_GO_BACK_N, 0, &used[2]);
    ck_assert_uint_ge(by_chunk, 4);
    ck_assert_uint_ge(by_packet, by_chunk);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_ge(used[i], 0.5); // the link is busy all the same
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP(message_or_chunk_starts_again, 0, 7),
           CHECK_LOOP(send_and_read_start_again, 0, 2), CHECK_TEST(timeout_starts_again_too),
           CHECK_TEST(long_messages_live_lock))
