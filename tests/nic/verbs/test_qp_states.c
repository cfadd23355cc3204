// SPDX-License-Identifier: Apache-2.0
// test_qp_states.c - the states of a queue pair and the ways between them.
//
// Goal: exactly the standard's transitions exist (IBA vol. 1, 10.3.1), a queue pair receives from
// RTR on and sends from RTS on, and one that failed works again after RESET.
// Method: all pairs of states are tried; two hosts, on the ideal and on the detailed NIC.
// Not pinned: times; what errors do (test_nic_qp.c).
#include "tests/nic_pair.h"

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(int model)
{
    pair_config_init(&config);
    config.nic.model = model == 0 ? NIC_IDEAL : NIC_DETAILED;
    pair = pair_create(&config);
    for (uint32_t h = 0; h < 2; h++) {
        qps.qp[h] = pair_make_qp(pair, h, NIC_QPT_RC, 0);
    }
}

static void tear_down(void)
{
    ck_assert(nic_conserved(pair->nic[0]) && nic_conserved(pair->nic[1]));
    pair_destroy(pair);
    pair_config_fini(&config);
}

static sim_err_t modify(uint32_t host, nic_qp_state_t state)
{
    nic_qp_attr_t attr;
    sim_message_t message;
    pair_attr(pair, &qps, host, &attr);
    return nic_qp_modify(qps.qp[host], state, &attr, &message);
}

static void go_to(uint32_t host, nic_qp_state_t state)
{
    static const nic_qp_state_t way[] = {NIC_QPS_INIT, NIC_QPS_RTR, NIC_QPS_RTS, NIC_QPS_SQD};
    ck_assert_int_eq(modify(host, NIC_QPS_RESET), SIM_OK);
    for (uint32_t i = 0; i < 4 && state != NIC_QPS_RESET; i++) {
        ck_assert_int_eq(modify(host, way[i]), SIM_OK);
        if (way[i] == state) {
            return;
        }
    }
    if (state == NIC_QPS_ERR) {
        ck_assert_int_eq(modify(host, NIC_QPS_ERR), SIM_OK);
    }
}

START_TEST(transitions)
{
    static const nic_qp_state_t states[] = {NIC_QPS_RESET, NIC_QPS_INIT, NIC_QPS_RTR,
                                            NIC_QPS_RTS,   NIC_QPS_SQD,  NIC_QPS_ERR};
    // By from and to, in that order.
    static const bool allowed[6][6] = {
        {true, true, false, false, false, false}, {true, false, true, false, false, true},
        {true, false, false, true, false, true},  {true, false, false, true, true, true},
        {true, false, false, true, false, true},  {true, false, false, false, false, true},
    };
    set_up(_i);
    for (uint32_t from = 0; from < 6; from++) {
        for (uint32_t to = 0; to < 6; to++) {
            go_to(0, states[from]);
            ck_assert_int_eq(nic_qp_state(qps.qp[0]), states[from]);
            ck_assert_msg((modify(0, states[to]) == SIM_OK) == allowed[from][to], "from %u to %u",
                          from, to);
            ck_assert_int_eq(nic_qp_state(qps.qp[0]), states[allowed[from][to] ? to : from]);
        }
    }
    pair_run(pair);
    tear_down();
}
END_TEST

START_TEST(ready_to_receive_answers_and_does_not_send)
{
    set_up(_i);
    go_to(0, NIC_QPS_RTS);
    go_to(1, NIC_QPS_RTR);
    const nic_send_wr_t write = pair_wr(pair, NIC_WR_RDMA_WRITE, 10000);
    const nic_send_wr_t read = pair_wr(pair, NIC_WR_RDMA_READ, 10000);
    ck_assert_int_eq(nic_post_send(qps.qp[1], &write), SIM_ERR_STATE);
    pair_post_at(pair, 1000, qps.qp[0], &write);
    pair_post_at(pair, 1000, qps.qp[0], &read);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 2);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_SUCCESS);
    ck_assert_int_eq(nic_qp_state(qps.qp[1]), NIC_QPS_RTR);
    tear_down();
}
END_TEST

static void start_over(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    go_to(0, NIC_QPS_RTS);
    go_to(1, NIC_QPS_RTS);
}

static void begin_to_drain(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    ck_assert_int_eq(modify(0, NIC_QPS_SQD), SIM_OK);
}

static void must_have_drained(pair_t *self, void *ctx)
{
    const size_t *const begun = ctx;
    ck_assert(nic_qp_drained(qps.qp[0]));
    ck_assert_uint_eq(self->done_count[0], *begun);
    sim_message_t why;
    ck_assert(nic_qp_explain(qps.qp[0], &why));
    ck_assert_str_eq(why.text, "its send queue drains");
    // The other direction works.
    ck_assert_uint_eq(self->done_count[1], 1);
}

static void go_on(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    ck_assert_int_eq(modify(0, NIC_QPS_RTS), SIM_OK);
    ck_assert(!nic_qp_drained(qps.qp[0]));
}

// The first of three requests has begun when the send queue is to drain, or, behind a READ, which
// is one packet, the first two; a fourth is posted meanwhile. What began is finished, and what is
// lost of it sent again; the others wait.
START_TEST(a_draining_queue_finishes_what_it_began)
{
    static const nic_wr_opcode_t first[] = {NIC_WR_RDMA_WRITE, NIC_WR_RDMA_READ};
    for (uint32_t kind = 0; kind < 4; kind++) {
        size_t begun = 1 + kind / 2;
        set_up(_i);
        go_to(0, NIC_QPS_RTS);
        go_to(1, NIC_QPS_RTS);
        nic_send_wr_t wr = pair_wr(pair, first[kind / 2], 500000); // 40 us of 100 Gbps
        pair_post_at(pair, 1000, qps.qp[0], &wr);
        wr.opcode = NIC_WR_RDMA_WRITE;
        for (uint64_t i = 1; i < 4; i++) {
            wr.wr_id = i;
            pair_post_at(pair, (i == 3 ? 200 : 2) * SIM_PS_PER_US, qps.qp[0], &wr);
        }
        if (kind % 2 != 0) {
            net_port_own_config(pair->port[0])->loss_rate = (sim_ratio_t){1, 100};
            pair->port[0]->special = NET_SPECIAL_OTHERWISE;
        }
        nic_send_wr_t back = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
        back.sge.lkey = nic_mr_lkey(pair->mr[1]);
        back.rdma.rkey = nic_mr_rkey(pair->mr[0]);
        pair_post_at(pair, 300 * SIM_PS_PER_US, qps.qp[1], &back);
        pair_call_at(pair, 0, 10 * SIM_PS_PER_US, begin_to_drain, NULL);
        pair_call_at(pair, 0, SIM_PS_PER_S, must_have_drained, &begun);
        pair_call_at(pair, 0, SIM_PS_PER_S + 1, go_on, NULL);
        pair_run(pair);
        ck_assert_uint_eq(pair->done_count[0], 4);
        for (uint64_t i = 0; i < 4; i++) {
            ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_SUCCESS);
            ck_assert_uint_eq(pair->done[0][i].wc.wr_id, i);
        }
        ck_assert_uint_lt(pair->done[0][begun - 1].time_ps, SIM_PS_PER_S);
        ck_assert_uint_gt(pair->done[0][begun].time_ps, SIM_PS_PER_S);
        tear_down();
    }
}
END_TEST

// In the middle of a READ and a WRITE both ends start over: nothing of before shows, and what is
// posted then completes.
START_TEST(reset_forgets)
{
    set_up(_i);
    go_to(0, NIC_QPS_RTS);
    go_to(1, NIC_QPS_RTS);
    nic_send_wr_t write = pair_wr(pair, NIC_WR_RDMA_WRITE, 1000000);
    const nic_send_wr_t read = pair_wr(pair, NIC_WR_RDMA_READ, 1000000);
    pair_post_at(pair, 1000, qps.qp[0], &read);
    pair_post_at(pair, 1000, qps.qp[0], &write);
    pair_call_at(pair, 0, 20 * SIM_PS_PER_US, start_over, NULL);
    write.wr_id = 7;
    write.sge.length = 5000;
    pair_post_at(pair, 200 * SIM_PS_PER_US, qps.qp[0], &write);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_uint_eq(pair->done[0][0].wc.wr_id, 7);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert(nic_qp_quiet(qps.qp[0]) && nic_qp_quiet(qps.qp[1]));
    tear_down();
}
END_TEST

START_TEST(a_failed_queue_pair_works_again)
{
    set_up(_i);
    go_to(0, NIC_QPS_RTS);
    go_to(1, NIC_QPS_RTS);
    nic_send_wr_t write = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    write.rdma.rkey++; // no such key
    pair_post_at(pair, 1000, qps.qp[0], &write);
    pair_call_at(pair, 0, 100 * SIM_PS_PER_US, start_over, NULL);
    write.rdma.rkey--;
    write.wr_id = 7;
    pair_post_at(pair, 200 * SIM_PS_PER_US, qps.qp[0], &write);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 2);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_REM_ACCESS_ERR);
    ck_assert_uint_eq(pair->done[0][1].wc.wr_id, 7);
    ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_SUCCESS);
    tear_down();
}
END_TEST

START_TEST(a_queue_pair_keeps_the_programs_pointer)
{
    set_up(_i);
    int mine = 0;
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t attr = {.qp_type = NIC_QPT_RC,
                                     .send_cq = pair->cq[0],
                                     .recv_cq = pair->cq[0],
                                     .max_send_wr = 1,
                                     .ctx = &mine};
    ck_assert_int_eq(nic_qp_create(pair->pd[0], &attr, &qp), SIM_OK);
    ck_assert_ptr_eq(nic_qp_ctx(qp), &mine);
    ck_assert_int_eq(nic_qp_modify(qp, NIC_QPS_RESET, NULL, NULL), SIM_OK);
    ck_assert_ptr_eq(nic_qp_ctx(qp), &mine);
    ck_assert_ptr_null(nic_qp_ctx(qps.qp[0]));
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(transitions, 0, 2), CHECK_LOOP(a_queue_pair_keeps_the_programs_pointer, 0, 2),
           CHECK_LOOP(ready_to_receive_answers_and_does_not_send, 0, 2),
           CHECK_LOOP(a_draining_queue_finishes_what_it_began, 0, 2),
           CHECK_LOOP(reset_forgets, 0, 2), CHECK_LOOP(a_failed_queue_pair_works_again, 0, 2))
