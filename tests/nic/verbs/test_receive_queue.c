// SPDX-License-Identifier: Apache-2.0
// test_receive_queue.c - receives shared by several queue pairs.
//
// Goal: messages of all queue pairs take the oldest receive; without one the sender hears receiver
// not ready (RC) or the message is dropped (UD); an error takes away only what it had taken.
// Method: two hosts, two or three queue pairs into one shared queue, on the ideal and on the
// detailed NIC (IBA vol. 1, 10.2.9, 10.8.3.2).
// Not pinned: times.
#include "tests/drop_next.h"
#include "tests/nic_pair.h"

#define RECEIVES 8u

static pair_config_t config;
static pair_t *pair;
static nic_srq_t *srq;
static nic_pd_t *domain; // of the queue
static bool apart;       // it is not that of the QPs
static pair_qp_t qps[2];

static nic_qp_t *make_qp(uint32_t host, nic_qp_type_t type)
{
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t attr = {
        .qp_type = type,
        .send_cq = pair->cq[host],
        .recv_cq = pair->cq[host],
        .max_send_wr = 16,
        .srq = host == 1 ? srq : NULL,
    };
    ck_assert_int_eq(nic_qp_create(pair->pd[host], &attr, &qp), SIM_OK);
    return qp;
}

static void set_up(int model, nic_qp_type_t type)
{
    pair_config_init(&config);
    config.nic.model = model == 0 ? NIC_IDEAL : NIC_DETAILED;
    config.nic.min_rnr_timer = 1; // 10 us
    config.until_ps = SIM_PS_PER_S;
    pair = pair_create(&config);
    domain = apart ? nic_pd_alloc(pair->nic[1]) : pair->pd[1];
    srq = nic_srq_create(domain, RECEIVES);
    for (uint32_t q = 0; q < 2; q++) {
        for (uint32_t h = 0; h < 2; h++) {
            qps[q].qp[h] = make_qp(h, type);
        }
        for (uint32_t h = 0; h < 2; h++) {
            nic_qp_attr_t attr;
            pair_attr(pair, &qps[q], h, &attr);
            pair_connect_end(&qps[q], h, &attr);
        }
    }
}

static void tear_down(void)
{
    ck_assert(nic_conserved(pair->nic[0]) && nic_conserved(pair->nic[1]));
    pair_destroy(pair);
    pair_config_fini(&config);
}

static void post(uint32_t count, uint64_t first)
{
    for (uint32_t i = 0; i < count; i++) {
        const nic_recv_wr_t wr = {.wr_id = first + i,
                                  .sge = {PAIR_MEMORY, 5000, nic_mr_lkey(pair->mr[1])}};
        uint32_t posted = 0;
        ck_assert_int_eq(nic_post_srq_recv(srq, &wr, 1, &posted), SIM_OK);
        ck_assert_uint_eq(posted, 1);
    }
}

static void post_late(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    post(2, 200);
}

static void send_at(sim_time_t time_ps, uint32_t q, uint64_t bytes)
{
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, bytes);
    wr.ud.remote_interface = 1;
    wr.ud.remote_qpn = nic_qp_num(qps[q].qp[1]);
    pair_post_at(pair, time_ps, qps[q].qp[0], &wr);
}

START_TEST(the_oldest_receive_is_taken)
{
    set_up(_i, NIC_QPT_RC);
    post(6, 100);
    for (uint32_t i = 0; i < 6; i++) {
        send_at(10 * i * SIM_PS_PER_US, i % 2, 100 + i);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], 6);
    for (uint32_t i = 0; i < 6; i++) {
        const nic_wc_t *const wc = &pair->done[1][i].wc;
        ck_assert_uint_eq(wc->wr_id, 100 + i);
        ck_assert_uint_eq(wc->byte_len, 100 + i);
        ck_assert_uint_eq(wc->qp_num, nic_qp_num(qps[i % 2].qp[1]));
    }
    ck_assert_uint_eq(nic_srq_posted(srq), 0);
    tear_down();
}
END_TEST

// Receives lie in regions of the queue's own domain, whatever that of a QP is.
START_TEST(its_domain_counts)
{
    apart = true;
    set_up(_i / 2, NIC_QPT_RC);
    apart = false;
    nic_mr_t *mr = NULL;
    ck_assert_int_eq(nic_mr_register(domain, PAIR_MEMORY, 5000, NIC_ACCESS_LOCAL_WRITE, &mr),
                     SIM_OK);
    const bool matches = _i % 2 == 0;
    const uint32_t lkey = nic_mr_lkey(matches ? mr : pair->mr[1]);
    const nic_recv_wr_t wr = {.wr_id = 1, .sge = {PAIR_MEMORY, 5000, lkey}};
    uint32_t posted = 0;
    ck_assert_int_eq(nic_post_srq_recv(srq, &wr, 1, &posted), SIM_OK);
    send_at(0, 0, 100);
    pair_run(pair);
    ck_assert_int_eq(pair->done[1][0].wc.status, matches ? NIC_WC_SUCCESS : NIC_WC_LOC_PROT_ERR);
    tear_down();
}
END_TEST

START_TEST(two_messages_at_a_time_take_one_each)
{
    set_up(_i, NIC_QPT_RC);
    post(2, 100);
    send_at(1000, 0, 5000); // of two packets each
    send_at(1000, 1, 5000);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], 2);
    ck_assert_uint_eq(pair->done[1][0].wc.wr_id + pair->done[1][1].wc.wr_id, 201);
    tear_down();
}
END_TEST

START_TEST(an_empty_queue_is_not_ready)
{
    set_up(_i, NIC_QPT_RC);
    send_at(1000, 0, 10);
    send_at(1000, 1, 10);
    pair_call_at(pair, 1, 100 * SIM_PS_PER_US, post_late, NULL);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], 2);
    ck_assert_uint_gt(nic_get_counters(pair->nic[0])->rnr_nak_retry_err, 2);
    tear_down();
}
END_TEST

START_TEST(datagrams_share_too)
{
    set_up(_i, NIC_QPT_UD);
    post(2, 100);
    for (uint32_t i = 0; i < 3; i++) {
        send_at(10 * i * SIM_PS_PER_US, i % 2, 10);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], 2);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->out_of_buffer, 1);
    tear_down();
}
END_TEST

static void fail_first(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    nic_qp_to_error(qps[0].qp[1]);
}

// The error comes between the packets of a message of two; the other queue pair goes on.
START_TEST(an_error_takes_what_was_taken)
{
    set_up(_i, NIC_QPT_RC);
    post(3, 100);
    test_drop_next(pair->port[0], 2);
    send_at(1000, 0, 5000);
    pair_call_at(pair, 1, 20 * SIM_PS_PER_US, fail_first, NULL);
    send_at(30 * SIM_PS_PER_US, 1, 10);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], 2);
    ck_assert_uint_eq(pair->done[1][0].wc.wr_id, 100);
    ck_assert_int_eq(pair->done[1][0].wc.status, NIC_WC_WR_FLUSH_ERR);
    ck_assert_uint_eq(pair->done[1][1].wc.wr_id, 101);
    ck_assert_int_eq(pair->done[1][1].wc.status, NIC_WC_SUCCESS);
    ck_assert_uint_eq(nic_srq_posted(srq), 1);
    tear_down();
}
END_TEST

typedef struct limit {
    uint32_t calls;
    uint32_t left[4]; // receives when it was called
    bool again;
} limit_t;

static void limit_reached(nic_srq_t *queue, void *ctx)
{
    limit_t *const limit = ctx;
    ck_assert_ptr_eq(queue, srq);
    limit->left[limit->calls++] = nic_srq_posted(queue);
    if (limit->again) {
        post(3, 300);
        nic_srq_set_limit(queue, 3, limit_reached, limit);
    }
}

// Six receives, six messages: the limit of 3 is reached once, when the fourth message leaves two;
// or after three more receives and a limit set again, once more.
START_TEST(a_limit_is_told_once)
{
    for (uint32_t again = 0; again < 2; again++) {
        set_up(_i, NIC_QPT_RC);
        post(6, 100);
        limit_t limit = {.again = again != 0};
        nic_srq_set_limit(srq, 3, limit_reached, &limit);
        for (uint32_t i = 0; i < 6 + 2 * again; i++) {
            send_at(10 * i * SIM_PS_PER_US, i % 2, 100);
        }
        pair_run(pair);
        ck_assert_uint_eq(pair->done_count[1], 6 + 2 * again);
        ck_assert_uint_eq(limit.calls, 1 + again);
        ck_assert_uint_eq(limit.left[0], 2);
        if (again != 0) {
            ck_assert_uint_eq(limit.left[1], 2);
            ck_assert_uint_eq(nic_srq_posted(srq), 4);
        }
        tear_down();
    }
}
END_TEST

START_TEST(its_limits)
{
    set_up(_i, NIC_QPT_RC);
    nic_recv_wr_t list[RECEIVES + 1];
    for (uint32_t i = 0; i <= RECEIVES; i++) {
        list[i] = (nic_recv_wr_t){.wr_id = i, .sge = {PAIR_MEMORY, 1, nic_mr_lkey(pair->mr[1])}};
    }
    uint32_t posted = 0;
    ck_assert_int_eq(nic_post_srq_recv(srq, list, RECEIVES + 1, &posted), SIM_ERR_FULL);
    ck_assert_uint_eq(posted, RECEIVES);
    ck_assert_int_eq(nic_post_recv(qps[0].qp[1], list), SIM_ERR_INVALID);
    pair_run(pair);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(the_oldest_receive_is_taken, 0, 2), CHECK_LOOP(its_domain_counts, 0, 4),
           CHECK_LOOP(two_messages_at_a_time_take_one_each, 0, 2),
           CHECK_LOOP(an_empty_queue_is_not_ready, 0, 2), CHECK_LOOP(datagrams_share_too, 0, 2),
           CHECK_LOOP(an_error_takes_what_was_taken, 0, 2), CHECK_LOOP(a_limit_is_told_once, 0, 2),
           CHECK_LOOP(its_limits, 0, 2))
