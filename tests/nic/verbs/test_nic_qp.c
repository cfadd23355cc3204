// SPDX-License-Identifier: Apache-2.0
// Goal: queue pairs can be made, connected, failed and destroyed at any moment, also by the program
// that hears of their completions, and numbers find the right one.
// Method: the verbs in every state; destruction from inside callbacks and with packets under way,
// under the address sanitizer. Does not pin: transport (test_nic_requester and others).
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(void)
{
    pair_config_init(&config);
    config.nic.timeout = 8;
    pair = pair_create(&config);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

// -- numbers

START_TEST(numbers_rise_and_are_not_used_again_soon)
{
    set_up();
    nic_qp_t *const first = pair_make_qp(pair, 0, NIC_QPT_RC, 0);
    nic_qp_t *const second = pair_make_qp(pair, 0, NIC_QPT_RC, 0);
    ck_assert_uint_eq(nic_qp_num(first), 2); // 0 and 1 are for management
    ck_assert_uint_eq(nic_qp_num(second), 3);
    nic_qp_destroy(first);
    ck_assert_uint_eq(nic_qp_num(pair_make_qp(pair, 0, NIC_QPT_RC, 0)), 4);
    ck_assert_uint_eq(nic_qp_num(pair_make_qp(pair, 0, NIC_QPT_RC, 2)), 2);
    ck_assert_uint_eq(nic_qp_num(pair_make_qp(pair, 0, NIC_QPT_RC, 0xffffff)), 0xffffff);
    tear_down();
}
END_TEST

START_TEST(numbers_in_use_or_out_of_range_are_refused)
{
    set_up();
    nic_qp_t *qp = pair_make_qp(pair, 0, NIC_QPT_RC, 77);
    nic_qp_init_attr_t attr = {.qp_type = NIC_QPT_RC,
                               .send_cq = pair->cq[0],
                               .recv_cq = pair->cq[0],
                               .max_send_wr = 1,
                               .qp_num = 77};
    ck_assert_int_eq(nic_qp_create(pair->pd[0], &attr, &qp), SIM_ERR_EXISTS);
    attr.qp_num = 1;
    ck_assert_int_eq(nic_qp_create(pair->pd[0], &attr, &qp), SIM_ERR_RANGE);
    attr.qp_num = 0x1000000;
    ck_assert_int_eq(nic_qp_create(pair->pd[0], &attr, &qp), SIM_ERR_RANGE);
    tear_down();
}
END_TEST

static void note_number(const nic_qp_t *qp, void *ctx)
{
    uint32_t *const last = ctx;
    ck_assert_uint_gt(nic_qp_num(qp), *last);
    *last = nic_qp_num(qp);
}

START_TEST(visits_are_in_order_of_number)
{
    set_up();
    static const uint32_t numbers[] = {500, 3, 70000, 2, 64, 65, 66};
    for (size_t i = 0; i < SIM_COUNT_OF(numbers); i++) {
        (void)pair_make_qp(pair, 0, NIC_QPT_RC, numbers[i]);
    }
    uint32_t last = 0;
    nic_for_each_qp(pair->nic[0], note_number, &last);
    ck_assert_uint_eq(last, 70000);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->qps_live, 7);
    tear_down();
}
END_TEST

// -- connecting

START_TEST(attributes_are_checked)
{
    set_up();
    sim_message_t message;
    qps.qp[0] = pair_make_qp(pair, 0, NIC_QPT_RC, 0);
    qps.qp[1] = pair_make_qp(pair, 1, NIC_QPT_RC, 0);
    const struct {
        size_t offset;
        uint32_t value;
    } wrong[] = {
        {offsetof(nic_qp_attr_t, dest_interface), 2}, {offsetof(nic_qp_attr_t, dest_qp_num), 1},
        {offsetof(nic_qp_attr_t, rq_psn), 0x1000000}, {offsetof(nic_qp_attr_t, sq_psn), 0x1000000},
        {offsetof(nic_qp_attr_t, path_mtu), 128},     {offsetof(nic_qp_attr_t, path_mtu), 1500},
        {offsetof(nic_qp_attr_t, timeout), 32},       {offsetof(nic_qp_attr_t, retry_cnt), 8},
        {offsetof(nic_qp_attr_t, rnr_retry), 8},      {offsetof(nic_qp_attr_t, min_rnr_timer), 32},
        {offsetof(nic_qp_attr_t, max_rd_atomic), 0},  {offsetof(nic_qp_attr_t, max_rd_atomic), 256},
    };
    nic_qp_attr_t attr;
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        pair_attr(pair, &qps, 0, &attr);
        memcpy((char *)&attr + wrong[i].offset, &wrong[i].value, sizeof(wrong[i].value));
        message.text[0] = '\0';
        ck_assert_int_ne(nic_qp_connect(qps.qp[0], &attr, &message), SIM_OK);
        ck_assert_str_ne(message.text, "");
        ck_assert_int_eq(nic_qp_state(qps.qp[0]), NIC_QPS_RESET);
    }
    pair_attr(pair, &qps, 0, &attr);
    ck_assert_int_eq(nic_qp_connect(qps.qp[0], &attr, &message), SIM_OK);
    ck_assert_int_eq(nic_qp_connect(qps.qp[0], &attr, &message), SIM_ERR_STATE);
    tear_down();
}
END_TEST

START_TEST(queues_hold_what_they_were_made_for)
{
    set_up();
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t init = {.qp_type = NIC_QPT_RC,
                                     .send_cq = pair->cq[0],
                                     .recv_cq = pair->cq[0],
                                     .max_send_wr = 3,
                                     .max_recv_wr = 2};
    ck_assert_int_eq(nic_qp_create(pair->pd[0], &init, &qp), SIM_OK);
    qps = (pair_qp_t){{qp, pair_make_qp(pair, 1, NIC_QPT_RC, 0)}};
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 1);
    const nic_recv_wr_t receive = {.wr_id = 1};
    ck_assert_int_eq(nic_post_send(qp, &wr), SIM_ERR_STATE); // not connected yet
    ck_assert_int_eq(nic_post_recv(qp, &receive), SIM_OK);
    ck_assert_int_eq(nic_post_recv(qp, &receive), SIM_OK);
    ck_assert_int_eq(nic_post_recv(qp, &receive), SIM_ERR_FULL);
    nic_qp_attr_t attr;
    pair_attr(pair, &qps, 0, &attr);
    pair_connect_end(&qps, 0, &attr);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(nic_post_send(qp, &wr), SIM_OK);
    }
    ck_assert_int_eq(nic_post_send(qp, &wr), SIM_ERR_FULL);
    tear_down();
}
END_TEST

// Another QP to the same peer takes another port, and so, maybe, another path.
START_TEST(source_ports_differ_between_qps)
{
    set_up();
    uint32_t same = 0;
    uint32_t last_hash = 0;
    for (int i = 0; i < 64; i++) {
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        same += nic_qp_flow_hash(qps.qp[0]) == last_hash;
        last_hash = nic_qp_flow_hash(qps.qp[0]);
    }
    ck_assert_uint_le(same, 1);
    tear_down();
}
END_TEST

// -- destroying

static nic_qp_t *fresh;

static void destroy_now(pair_t *self, void *ctx)
{
    (void)self;
    nic_qp_t **const qp = ctx;
    if (*qp != NULL) {
        nic_qp_destroy(*qp);
        *qp = NULL;
    }
}

// Destroyed by its own completion, of a message acknowledged together with others.
START_TEST(destroyed_inside_its_completion)
{
    set_up();
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_wr_opcode_t opcode = _i == 2 ? NIC_WR_RDMA_READ : NIC_WR_RDMA_WRITE;
    const nic_send_wr_t wr = pair_wr(pair, opcode, 100);
    for (int i = 0; i < 5; i++) {
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair->on_done = destroy_now;
    pair->on_done_ctx = _i == 1 ? &qps.qp[1] : &qps.qp[0]; // 1: that of the other host, too early
    if (_i == 1) {
        pair->on_done = NULL;
        pair_call_at(pair, 1, START_PS + 1010 * SIM_PS_PER_NS, destroy_now, &qps.qp[1]);
    }
    pair_run(pair);
    ck_assert_uint_ge(pair->done_count[0], 1);
    ck_assert_uint_eq(nic_get_counters(pair->nic[_i == 1])->qps_live, 0);
    if (_i == 1) {
        ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_RETRY_EXC_ERR);
        ck_assert_uint_gt(pair->port[1]->rare->drops[NET_DROP_HOST], 0);
    } else {
        ck_assert_uint_eq(pair->done_count[0], 1);
    }
    tear_down();
}
END_TEST

// UC completes while it transmits: the same from there.
START_TEST(destroyed_inside_its_transmission)
{
    set_up();
    pair_connect(pair, &qps, NIC_QPT_UC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 5000);
    for (int i = 0; i < 5; i++) {
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair->on_done = destroy_now;
    pair->on_done_ctx = &qps.qp[0];
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_uint_eq(pair_count(pair, 0, ROCE_UC | ROCE_WRITE_LAST), 1);
    tear_down();
}
END_TEST

// At any time of a transfer, either end: packets are conserved and nothing is touched afterwards.
START_TEST(destroyed_at_any_time)
{
    for (uint64_t t = 0; t < 60; t++) {
        set_up();
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        pair_post_recvs(pair, &qps, 1, 10000);
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, 10000);
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
        wr = pair_wr(pair, NIC_WR_SEND, 10000);
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
        pair_call_at(pair, (uint32_t)_i, START_PS + t * 100 * SIM_PS_PER_NS, destroy_now,
                     &qps.qp[_i]);
        pair_run(pair);
        ck_assert_uint_eq(nic_get_counters(pair->nic[_i])->qps_live, 0);
        tear_down();
    }
}
END_TEST

static void fail_now(pair_t *self, void *ctx)
{
    (void)self;
    nic_qp_to_error(ctx);
}

START_TEST(error_state_flushes_everything)
{
    set_up();
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    nic_recv_wr_t receive = {.wr_id = 9};
    ck_assert_int_eq(nic_post_recv(qps.qp[0], &receive), SIM_OK);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100000);
    wr.send_flags = 0; // failures are told of all the same
    for (wr.wr_id = 0; wr.wr_id < 3; wr.wr_id++) {
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_call_at(pair, 0, START_PS + SIM_PS_PER_US, fail_now, qps.qp[0]);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_WR_FLUSH_ERR);
        ck_assert_uint_eq(pair->done[0][i].wc.wr_id, i < 3 ? i : 9);
        ck_assert_uint_eq(pair->done[0][i].time_ps, START_PS + SIM_PS_PER_US);
    }
    ck_assert_int_eq(nic_post_recv(qps.qp[0], &receive), SIM_OK); // to be flushed
    tear_down();
}
END_TEST

// A request whose memory is not the application's fails in its turn, after those before it.
START_TEST(local_protection_error_waits_its_turn)
{
    set_up();
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    nic_send_wr_t wr = pair_wr(pair, _i == 0 ? NIC_WR_RDMA_WRITE : NIC_WR_RDMA_READ, 20000);
    for (wr.wr_id = 0; wr.wr_id < 4; wr.wr_id++) {
        wr.sge.lkey = wr.wr_id == 2 ? 0xbad : nic_mr_lkey(pair->mr[0]);
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_run(pair);
    static const nic_wc_status_t expected[] = {NIC_WC_SUCCESS, NIC_WC_SUCCESS, NIC_WC_LOC_PROT_ERR,
                                               NIC_WC_WR_FLUSH_ERR};
    ck_assert_uint_eq(pair->done_count[0], 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(pair->done[0][i].wc.status, expected[i]);
    }
    tear_down();
}
END_TEST

// -- accepting

static nic_qp_t *accept_qp(nic_t *nic, uint32_t number, void *ctx)
{
    (void)nic;
    (void)ctx;
    if (number != 5000) {
        return NULL;
    }
    fresh = pair_make_qp(pair, 1, NIC_QPT_RC, number);
    nic_qp_attr_t attr;
    nic_qp_attr_default(pair->nic[1], &attr);
    attr.dest_interface = 0;
    attr.dest_qp_num = nic_qp_num(qps.qp[0]);
    sim_message_t message;
    ck_assert_int_eq(nic_qp_connect(fresh, &attr, &message), SIM_OK);
    return fresh;
}

START_TEST(unknown_numbers_can_be_accepted)
{
    set_up();
    qps.qp[0] = pair_make_qp(pair, 0, NIC_QPT_RC, 0);
    nic_on_unknown_qp(pair->nic[1], accept_qp, NULL);
    nic_qp_attr_t attr;
    nic_qp_attr_default(pair->nic[0], &attr);
    attr.dest_interface = 1;
    attr.dest_qp_num = _i == 0 ? 5000 : 5001;
    pair_connect_end(&qps, 0, &attr);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10000);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_int_eq(pair->done[0][0].wc.status, _i == 0 ? NIC_WC_SUCCESS : NIC_WC_RETRY_EXC_ERR);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->qps_created, _i == 0);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_TEST(numbers_rise_and_are_not_used_again_soon),
           CHECK_TEST(numbers_in_use_or_out_of_range_are_refused),
           CHECK_TEST(visits_are_in_order_of_number), CHECK_TEST(attributes_are_checked),
           CHECK_TEST(queues_hold_what_they_were_made_for),
           CHECK_TEST(source_ports_differ_between_qps),
           CHECK_LOOP(destroyed_inside_its_completion, 0, 3),
           CHECK_TEST(destroyed_inside_its_transmission), CHECK_LOOP(destroyed_at_any_time, 0, 2),
           CHECK_TEST(error_state_flushes_everything),
           CHECK_LOOP(local_protection_error_waits_its_turn, 0, 2),
           CHECK_LOOP(unknown_numbers_can_be_accepted, 0, 2))
