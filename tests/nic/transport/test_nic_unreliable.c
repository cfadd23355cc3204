// SPDX-License-Identifier: Apache-2.0
// Goal: UC delivers whole messages or nothing, UD packets with their source; neither answers.
// Method: each packet of a UC message lost in turn; UD with wrong keys, sizes and numbers.
// Source: IBA vol. 1, 9.8.2 (UC), 9.8.3 (UD). Does not pin: GRH, which completions do not count.
#include "tests/drop_next.h"
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(nic_qp_type_t type, pair_attr_fn change)
{
    pair_config_init(&config);
    pair = pair_create(&config);
    pair_connect(pair, &qps, type, change);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

// -- UC

// It completes when its last packet starts, and nothing comes back.
START_TEST(uc_completes_at_transmission)
{
    set_up(NIC_QPT_UC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10000);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_uint_eq(pair->done[0][0].time_ps, pair_nth(pair, 0, 2)->time_ps);
    ck_assert_uint_eq(pair_nth(pair, 0, 0)->packet.opcode, ROCE_UC | ROCE_WRITE_FIRST);
    ck_assert_uint_eq(pair_nth(pair, 0, 2)->packet.opcode, ROCE_UC | ROCE_WRITE_LAST);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->tx_packets, 0);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->rx_data_bytes, 10000);
    tear_down();
}
END_TEST

// Four messages of three packets; packet _i of the twelve is lost (_i == 0: none).
START_TEST(uc_loses_the_message_of_a_lost_packet_only)
{
    set_up(NIC_QPT_UC, NULL);
    pair_post_recvs(pair, &qps, 4, 10000);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 10000);
    for (uint32_t m = 0; m < 4; m++) {
        wr.wr_id = m;
        wr.sge.length = 10000 - m; // names the message
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    if (_i > 0) {
        test_drop_next(pair->port[0], (uint64_t)_i);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 4);
    ck_assert_uint_eq(pair->done_count[1], _i == 0 ? 4 : 3);
    const uint32_t lost = _i == 0 ? 4 : (uint32_t)(_i - 1) / 3;
    for (uint32_t m = 0, n = 0; m < 4; m++) {
        if (m != lost) {
            ck_assert_uint_eq(pair->done[1][n].wc.byte_len, 10000 - m);
            ck_assert_uint_eq(pair->done[1][n].wc.wr_id, 1000 + n); // receives are used in order
            n++;
        }
    }
    tear_down();
}
END_TEST

START_TEST(uc_without_a_fitting_receive_drops)
{
    set_up(NIC_QPT_UC, NULL);
    if (_i == 1) {
        pair_post_recvs(pair, &qps, 1, 9999);
    }
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 10000);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], 0);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->out_of_buffer, _i == 0 ? 1 : 0);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->resp_local_length_error, _i == 1 ? 1 : 0);
    ck_assert_int_eq(nic_qp_state(qps.qp[1]), NIC_QPS_RTS);
    tear_down();
}
END_TEST

START_TEST(uc_write_with_a_wrong_key_is_dropped)
{
    set_up(NIC_QPT_UC, NULL);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10000);
    wr.rdma.rkey ^= 1;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    wr.rdma.rkey ^= 1;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->rx_data_bytes, 10000); // the second
    ck_assert_int_eq(nic_qp_state(qps.qp[1]), NIC_QPS_RTS);
    tear_down();
}
END_TEST

// A local error stops the send queue; receiving goes on.
START_TEST(uc_local_error_stops_the_send_queue)
{
    set_up(NIC_QPT_UC, NULL);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    wr.sge.lkey = 0xbad;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    wr.sge.lkey = nic_mr_lkey(pair->mr[0]);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 3);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_LOC_PROT_ERR);
    ck_assert_int_eq(pair->done[0][2].wc.status, NIC_WC_WR_FLUSH_ERR);
    ck_assert_int_eq(nic_qp_state(qps.qp[0]), NIC_QPS_SQE);
    tear_down();
}
END_TEST

// -- UD

static void use_qkey(nic_qp_attr_t *attr)
{
    attr->qkey = 0x1234;
}

static nic_send_wr_t datagram(uint64_t bytes)
{
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND_WITH_IMM, bytes);
    wr.ud.remote_interface = 1;
    wr.ud.remote_qpn = nic_qp_num(qps.qp[1]);
    wr.ud.remote_qkey = 0x1234;
    return wr;
}

START_TEST(ud_delivers_with_its_source)
{
    set_up(NIC_QPT_UD, use_qkey);
    pair_post_recvs(pair, &qps, 1, 4096);
    const nic_send_wr_t wr = datagram(100);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    const pair_packet_t *const sent = pair_nth(pair, 0, 0);
    ck_assert_uint_eq(sent->packet.opcode, ROCE_UD | ROCE_SEND_ONLY_IMM);
    ck_assert_uint_eq(sent->aside.deth.source_qp, nic_qp_num(qps.qp[0]));
    ck_assert_uint_eq(sent->packet.flow_hash,
                      net_flow_hash(pair->net, 0, 1, sent->packet.udp_source_port));
    ck_assert_uint_eq(pair->done_count[1], 1);
    const nic_wc_t *const wc = &pair->done[1][0].wc;
    ck_assert_uint_eq(pair->done[1][0].time_ps, START_PS + pair_reach_ps(PAIR_HEADERS + 12 + 100));
    ck_assert_uint_eq(wc->src_interface, 0);
    ck_assert_uint_eq(wc->src_qp, nic_qp_num(qps.qp[0]));
    ck_assert_uint_eq(wc->byte_len, 100);
    ck_assert_uint_eq(wc->imm_data, 0x12345678);
    ck_assert_uint_eq(pair->done[0][0].time_ps, START_PS);
    tear_down();
}
END_TEST

// _i: 0 wrong Q_Key, 1 no receive, 2 receive too small, 3 no such QP.
START_TEST(ud_drops_what_does_not_fit)
{
    set_up(NIC_QPT_UD, use_qkey);
    if (_i != 1) {
        pair_post_recvs(pair, &qps, 1, _i == 2 ? 99 : 100);
    }
    nic_send_wr_t wr = datagram(100);
    wr.ud.remote_qkey += _i == 0;
    wr.ud.remote_qpn += _i == 3;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], 0);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->tx_packets, 0);
    ck_assert_uint_eq(pair->port[1]->rare->drops[NET_DROP_HOST], _i == 3);
    tear_down();
}
END_TEST

START_TEST(ud_takes_its_verbs_only)
{
    set_up(NIC_QPT_UD, use_qkey);
    nic_send_wr_t wr = datagram(4097);
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_ERR_RANGE);
    wr = datagram(10);
    wr.opcode = NIC_WR_RDMA_WRITE;
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_ERR_INVALID);
    wr = datagram(10);
    wr.ud.remote_interface = 2;
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_ERR_INVALID);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_TEST(uc_completes_at_transmission),
           CHECK_LOOP(uc_loses_the_message_of_a_lost_packet_only, 0, 13),
           CHECK_LOOP(uc_without_a_fitting_receive_drops, 0, 2),
           CHECK_TEST(uc_write_with_a_wrong_key_is_dropped),
           CHECK_TEST(uc_local_error_stops_the_send_queue), CHECK_TEST(ud_delivers_with_its_source),
           CHECK_LOOP(ud_drops_what_does_not_fit, 0, 4), CHECK_TEST(ud_takes_its_verbs_only))
