// SPDX-License-Identifier: Apache-2.0
// Goal: a NIC sends to itself without its port: at the rate of its link, 100 ns later, in order.
// Method: closed forms of WRITEs and READs of 1 to 8 packets; datagrams to itself and to the peer
// in turn; two queue pairs that share the loopback; a paused port. Does not pin: the detailed NIC,
// of which tests/programs/test_programs_loopback.sh looks at the rate.
#include "nic/ideal.h"
#include "nic/schedule/loopback.h"
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)
#define MTU_BYTES UINT64_C(1024)

static pair_config_t config;
static pair_t *pair;

static void set_up(void)
{
    pair_config_init(&config);
    config.nic.mtu_bytes = MTU_BYTES;
    config.nic.ack_interval = 1000; // else ACKs take the way of data, between them
    pair = pair_create(&config);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

// Connects two queue pairs of NIC 0 to each other.
static void connect_to_itself(pair_qp_t *qps, nic_qp_type_t type)
{
    qps->qp[0] = pair_make_qp(pair, 0, type, 0);
    qps->qp[1] = pair_make_qp(pair, 0, type, 0);
    for (uint32_t end = 0; end < 2; end++) {
        nic_qp_attr_t attr;
        nic_qp_attr_default(pair->nic[0], &attr);
        attr.dest_interface = 0;
        attr.dest_qp_num = nic_qp_num(qps->qp[1 - end]);
        pair_connect_end(qps, end, &attr);
    }
}

static nic_send_wr_t wr_to_itself(nic_wr_opcode_t opcode, uint64_t bytes)
{
    nic_send_wr_t wr = pair_wr(pair, opcode, bytes);
    wr.rdma.rkey = nic_mr_rkey(pair->mr[0]);
    return wr;
}

// Returns the time on the way of frames with bodies of `body_bytes` altogether.
static sim_time_t way_ps(uint64_t frames, uint64_t body_bytes)
{
    const uint64_t overhead_bytes = PAIR_HEADERS + NET_LINK_OVERHEAD_BYTES;
    return (frames * overhead_bytes + body_bytes - NET_GAP_BYTES) * PAIR_BYTE_PS +
           NIC_LOOPBACK_DELAY_PS;
}

static sim_time_t ideal_ps(nic_wr_opcode_t opcode, uint64_t bytes)
{
    const nic_ideal_t ideal = {.net = pair->net,
                               .opcode = opcode,
                               .mtu_bytes = MTU_BYTES,
                               .message_bytes = bytes,
                               .messages = 1,
                               .piece_bytes = NIC_MESSAGE_BYTES_MAX,
                               .service = NIC_QPT_RC};
    return nic_ideal_ps(&ideal);
}

START_TEST(write_takes_the_time_of_its_frames)
{
    set_up();
    pair_qp_t qps;
    connect_to_itself(&qps, NIC_QPT_RC);
    const uint64_t frames = (uint64_t)_i;
    const nic_send_wr_t wr = wr_to_itself(NIC_WR_RDMA_WRITE, frames * MTU_BYTES);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    const sim_time_t took_ps = pair->done[0][0].time_ps - START_PS;
    ck_assert_uint_eq(took_ps, way_ps(frames, ROCE_RETH_BYTES + frames * MTU_BYTES) +
                                   way_ps(1, ROCE_AETH_BYTES));
    ck_assert_uint_eq(took_ps, ideal_ps(NIC_WR_RDMA_WRITE, frames * MTU_BYTES));
    ck_assert_uint_eq(pair->wire_count, 0);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->rx_data_bytes, frames * MTU_BYTES);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->tx_packets, frames + 1);
    tear_down();
}
END_TEST

START_TEST(read_takes_the_time_of_its_frames)
{
    set_up();
    pair_qp_t qps;
    connect_to_itself(&qps, NIC_QPT_RC);
    const uint64_t frames = (uint64_t)_i;
    const nic_send_wr_t wr = wr_to_itself(NIC_WR_RDMA_READ, frames * MTU_BYTES);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    const uint64_t aeth_bytes = frames == 1 ? ROCE_AETH_BYTES : 2 * ROCE_AETH_BYTES;
    const sim_time_t took_ps = pair->done[0][0].time_ps - START_PS;
    ck_assert_uint_eq(took_ps,
                      way_ps(1, ROCE_RETH_BYTES) + way_ps(frames, aeth_bytes + frames * MTU_BYTES));
    ck_assert_uint_eq(took_ps, ideal_ps(NIC_WR_RDMA_READ, frames * MTU_BYTES));
    ck_assert_uint_eq(pair->wire_count, 0);
    tear_down();
}
END_TEST

// The port is paused for good, which concerns no packet to the NIC itself.
START_TEST(two_queue_pairs_share_the_loopback)
{
    set_up();
    pair_qp_t qps[2];
    connect_to_itself(&qps[0], NIC_QPT_RC);
    connect_to_itself(&qps[1], NIC_QPT_UC);
    pair->port[0]->paused = UINT8_MAX;
    const uint64_t bytes = 100 * MTU_BYTES;
    const nic_send_wr_t wr = wr_to_itself(NIC_WR_RDMA_WRITE, bytes);
    pair_post_at(pair, START_PS, qps[0].qp[0], &wr);
    pair_post_at(pair, START_PS, qps[1].qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 2);
    const sim_time_t frame_ps = (PAIR_HEADERS + NET_LINK_OVERHEAD_BYTES + MTU_BYTES) * PAIR_BYTE_PS;
    for (uint32_t i = 0; i < 2; i++) { // they end together: each has sent every other frame
        const sim_time_t took_ps = pair->done[0][i].time_ps - START_PS;
        ck_assert_uint_ge(took_ps, 198 * frame_ps);
        ck_assert_uint_le(took_ps, 204 * frame_ps);
    }
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->rx_data_bytes, 2 * bytes);
    ck_assert_uint_eq(pair->wire_count, 0);
    tear_down();
}
END_TEST

// Every other datagram is for the NIC itself. Each end gets its own, in order.
START_TEST(datagrams_go_both_ways)
{
    set_up();
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_UD, NULL);
    nic_qp_t *const own = pair_make_qp(pair, 0, NIC_QPT_UD, 0);
    nic_qp_attr_t attr;
    nic_qp_attr_default(pair->nic[0], &attr);
    sim_message_t message;
    ck_assert_int_eq(nic_qp_connect(own, &attr, &message), SIM_OK);
    nic_qp_t *const receivers[] = {own, qps.qp[1]};
    for (uint32_t i = 0; i < 20; i++) {
        const uint32_t to = i % 2;
        const nic_recv_wr_t receive = {
            .wr_id = i,
            .sge = {PAIR_MEMORY, MTU_BYTES + 40, nic_mr_lkey(pair->mr[to])}};
        ck_assert_int_eq(nic_post_recv(receivers[to], &receive), SIM_OK);
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 100 + i);
        wr.send_flags = 0;
        wr.ud.remote_interface = to;
        wr.ud.remote_qpn = nic_qp_num(receivers[to]);
        wr.ud.remote_qkey = 0;
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->wire_count, 10);
    for (uint32_t to = 0; to < 2; to++) {
        ck_assert_uint_eq(pair->done_count[to], 10);
        for (uint32_t i = 0; i < 10; i++) {
            ck_assert_uint_eq(pair->done[to][i].wc.wr_id, 2 * i + to);
            ck_assert_uint_eq(pair->done[to][i].wc.byte_len, 100 + 2 * i + to);
        }
    }
    tear_down();
}
END_TEST

// With other transports only a switch sends back what is for the NIC itself, and there is none.
START_TEST(another_transport_is_refused)
{
    pair_config_init(&config);
    sim_free(config.nic.transport);
    config.nic.transport = sim_strdup("irn");
    pair = pair_create(&config);
    nic_qp_t *const qp = pair_make_qp(pair, 0, NIC_QPT_RC, 0);
    nic_qp_attr_t attr;
    nic_qp_attr_default(pair->nic[0], &attr);
    attr.dest_interface = 0;
    attr.dest_qp_num = nic_qp_num(qp);
    sim_message_t message;
    ck_assert_int_eq(nic_qp_connect(qp, &attr, &message), SIM_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(message.text, "no switch sends its packets back"));
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(write_takes_the_time_of_its_frames, 1, 9),
           CHECK_LOOP(read_takes_the_time_of_its_frames, 1, 9),
           CHECK_TEST(two_queue_pairs_share_the_loopback), CHECK_TEST(datagrams_go_both_ways),
           CHECK_TEST(another_transport_is_refused))
