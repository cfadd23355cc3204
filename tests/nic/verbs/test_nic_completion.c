// SPDX-License-Identifier: Apache-2.0
// Goal: completion queues keep order, call back when they must, and fail as the standard says when
// they overflow; memory regions check what they are made of.
// Method: a CQ of small capacity, polled or not; regions at the edges of the address space.
// Source: IBA vol. 1, 11.2.8, 10.6. Does not pin: remote access (test_nic_responder).
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)

static pair_config_t config;
static pair_t *pair;

static void set_up(void)
{
    pair_config_init(&config);
    pair = pair_create(&config);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

static nic_qp_t *make_qp(nic_cq_t *cq)
{
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t init = {.qp_type = NIC_QPT_RC,
                                     .send_cq = cq,
                                     .recv_cq = cq,
                                     .max_send_wr = 100,
                                     .sq_sig_all = true};
    ck_assert_int_eq(nic_qp_create(pair->pd[0], &init, &qp), SIM_OK);
    pair_qp_t qps = {{qp, pair_make_qp(pair, 1, NIC_QPT_RC, 0)}};
    for (uint32_t h = 0; h < 2; h++) {
        nic_qp_attr_t attr;
        pair_attr(pair, &qps, h, &attr);
        pair_connect_end(&qps, h, &attr);
    }
    return qp;
}

static void post(nic_qp_t *qp, uint64_t count)
{
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    wr.send_flags = 0; // sq_sig_all signals
    for (wr.wr_id = 0; wr.wr_id < count; wr.wr_id++) {
        pair_post_at(pair, START_PS, qp, &wr);
    }
}

static void count_call(nic_cq_t *cq, void *ctx)
{
    (void)cq;
    ++*(uint32_t *)ctx;
}

// Nobody polls during the run: one call, and all completions in order afterwards.
START_TEST(unpolled_queue_calls_once_and_keeps_order)
{
    set_up();
    uint32_t calls = 0;
    nic_cq_t *const cq = nic_cq_create(pair->nic[0], 50, count_call, &calls);
    post(make_qp(cq), 50);
    pair_run(pair);
    ck_assert_uint_eq(calls, 1);
    nic_wc_t wc[64];
    ck_assert_uint_eq(nic_poll_cq(cq, 20, wc), 20);
    ck_assert_uint_eq(nic_poll_cq(cq, 64, wc + 20), 30);
    ck_assert_uint_eq(nic_poll_cq(cq, 1, wc), 0);
    for (uint64_t i = 0; i < 50; i++) {
        ck_assert_uint_eq(wc[i].wr_id, i);
        ck_assert_int_eq(wc[i].status, NIC_WC_SUCCESS);
    }
    ck_assert(!nic_cq_overflowed(cq));
    tear_down();
}
END_TEST

// One completion too many: the queue and its QP stop, others live on.
START_TEST(overflow_stops_the_queue_and_its_qps)
{
    set_up();
    nic_cq_t *const small = nic_cq_create(pair->nic[0], 7, NULL, NULL);
    nic_cq_t *const large = nic_cq_create(pair->nic[0], 100, NULL, NULL);
    nic_qp_t *const failing = make_qp(small);
    nic_qp_t *const living = make_qp(large);
    post(failing, 20);
    post(living, 20);
    pair_run(pair);
    ck_assert(nic_cq_overflowed(small));
    ck_assert_int_eq(nic_qp_state(failing), NIC_QPS_ERR);
    ck_assert_int_eq(nic_qp_state(living), NIC_QPS_RTS);
    nic_wc_t wc[100];
    ck_assert_uint_eq(nic_poll_cq(small, 100, wc), 7); // those written before
    ck_assert_uint_eq(nic_poll_cq(large, 100, wc), 20);
    tear_down();
}
END_TEST

typedef struct chain {
    nic_qp_t *qp;
    nic_send_wr_t wr;
    uint32_t left;
    sim_time_t last_ps;
} chain_t;

static void post_next(nic_cq_t *cq, void *ctx)
{
    chain_t *const chain = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        chain->last_ps = pair->node[0]->sim.now_ps;
        if (--chain->left > 0) {
            ck_assert_int_eq(nic_post_send(chain->qp, &chain->wr), SIM_OK);
        }
    }
}

// A message posted in the callback of the one before leaves at that instant.
START_TEST(posting_in_a_callback_sends_at_once)
{
    set_up();
    chain_t chain = {.left = 10, .wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100)};
    chain.qp = make_qp(nic_cq_create(pair->nic[0], 1, post_next, &chain));
    pair_post_at(pair, START_PS, chain.qp, &chain.wr);
    pair_run(pair);
    const sim_time_t loop_ps =
        pair_reach_ps(PAIR_HEADERS + 16 + 100) + pair_reach_ps(PAIR_ACK_BYTES);
    ck_assert_uint_eq(chain.last_ps, START_PS + 10 * loop_ps);
    tear_down();
}
END_TEST

START_TEST(regions_are_checked)
{
    set_up();
    nic_mr_t *mr = NULL;
    nic_pd_t *const pd = pair->pd[0];
    const uint32_t local = NIC_ACCESS_LOCAL_WRITE;
    ck_assert_int_eq(nic_mr_register(pd, 0, 0, local, &mr), SIM_ERR_INVALID);
    ck_assert_int_eq(nic_mr_register(pd, UINT64_MAX, 2, local, &mr), SIM_ERR_INVALID);
    ck_assert_int_eq(nic_mr_register(pd, 0, 10, NIC_ACCESS_REMOTE_WRITE, &mr), SIM_ERR_INVALID);
    ck_assert_int_eq(nic_mr_register(pd, 0, 10, NIC_ACCESS_REMOTE_ATOMIC, &mr), SIM_ERR_INVALID);
    ck_assert_int_eq(nic_mr_register(pd, UINT64_MAX, 1, NIC_ACCESS_REMOTE_READ, &mr), SIM_OK);
    const uint32_t old_key = nic_mr_rkey(mr);
    ck_assert_uint_ne(old_key, 0);
    nic_mr_deregister(mr);
    ck_assert_int_eq(nic_mr_register(pd, 0, 10, local, &mr), SIM_OK);
    ck_assert_uint_eq(nic_mr_rkey(mr) >> 8, old_key >> 8); // the place is used again
    ck_assert_uint_ne(nic_mr_rkey(mr), old_key);
    tear_down();
}
END_TEST

START_TEST(every_status_has_a_text_of_its_own)
{
    for (int s = NIC_WC_SUCCESS; s <= NIC_WC_GENERAL_ERR; s++) {
        const char *const text = nic_wc_status_text((nic_wc_status_t)s);
        ck_assert_str_ne(text, "");
        for (int other = NIC_WC_SUCCESS; other < s; other++) {
            ck_assert_str_ne(text, nic_wc_status_text((nic_wc_status_t)other));
        }
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(unpolled_queue_calls_once_and_keeps_order),
           CHECK_TEST(overflow_stops_the_queue_and_its_qps),
           CHECK_TEST(posting_in_a_callback_sends_at_once), CHECK_TEST(regions_are_checked),
           CHECK_TEST(every_status_has_a_text_of_its_own))
