// SPDX-License-Identifier: Apache-2.0
// test_nic_misfortune.c - what goes wrong in a simulation ends as the standard says, not
// the program.
//
// Goal: an atomic with a key that no region has is refused by both NICs; what is posted to a queue
// pair in an error completes as flushed, a while later, so that a program that only posts again
// does not stop time; a UD queue pair that goes back to RTS in the callback of its error sends what
// is posted there, all of it and once; a callback may destroy the queue pair it is told of, or make
// it fail; programs are told when the NIC has finished moving, in order; a completion queue may get
// its core late, when it has grown; packets sent again pass the detailed NIC again; congestion
// control knows links whose frames have no overhead. Method: two hosts, and programs that do the
// worst in their callbacks; counters of detailed NICs add up at the end of each.
// Does not pin: applications (tests/apps/).
#include "nic/core.h"
#include "tests/drop_next.h"
#include "tests/nic_pair.h"

#define START_PS (10 * SIM_PS_PER_US)
#define FLUSH_PS SIM_PS_PER_US
#define BAD_KEY 0xffffff00u

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(int model)
{
    pair_config_init(&config);
    config.nic.model = model == 0 ? NIC_IDEAL : NIC_DETAILED;
    config.until_ps = SIM_PS_PER_S;
    pair = pair_create(&config);
}

static void tear_down(void)
{
    sim_message_t message;
    for (uint32_t h = 0; h < 2; h++) {
        ck_assert(nic_conserved(pair->nic[h]));
    }
    ck_assert_msg(net_conservation_ok(pair->net, &message), "%s", message.text);
    pair_destroy(pair);
    pair_config_fini(&config);
}

START_TEST(atomics_with_a_bad_key_are_refused)
{
    static const uint32_t keys[] = {BAD_KEY, 0, 0x00ffff01};
    for (size_t k = 0; k < SIM_COUNT_OF(keys); k++) {
        set_up(_i);
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_ATOMIC_FETCH_AND_ADD, 8);
        wr.atomic.remote_addr = 64;
        wr.atomic.rkey = keys[k];
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
        pair_run(pair);
        ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
        ck_assert_uint_eq(pair->done_count[0], 1);
        ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_REM_ACCESS_ERR);
        ck_assert_int_eq(nic_qp_state(qps.qp[0]), NIC_QPS_ERR);
        tear_down();
    }
}
END_TEST

// Posts again whatever happened, a number of times.
typedef struct again {
    nic_send_wr_t wr;
    uint32_t left;
} again_t;

static void post_again(pair_t *self, void *ctx)
{
    again_t *const again = ctx;
    if (self->done_count[0] != 0 && again->left != 0) {
        again->left--;
        ck_assert_int_eq(nic_post_send(qps.qp[0], &again->wr), SIM_OK);
    }
}

START_TEST(posts_to_a_failed_queue_pair_are_flushed)
{
    set_up(_i);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    again_t again = {.wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 64), .left = 100};
    nic_send_wr_t bad = again.wr;
    bad.rdma.rkey = BAD_KEY;
    pair->on_done = post_again;
    pair->on_done_ctx = &again;
    pair_post_at(pair, START_PS, qps.qp[0], &bad);
    pair_run(pair);
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
    ck_assert_uint_eq(again.left, 0);
    ck_assert_uint_eq(pair->done_count[0], 101);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_REM_ACCESS_ERR);
    for (size_t i = 1; i < 101; i++) {
        ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_WR_FLUSH_ERR);
        ck_assert_uint_ge(pair->done[0][i].time_ps, pair->done[0][i - 1].time_ps + FLUSH_PS);
    }
    // Receives too.
    const nic_recv_wr_t receive = {.wr_id = 7, .sge = {PAIR_MEMORY, 64, nic_mr_lkey(pair->mr[0])}};
    ck_assert_int_eq(nic_post_recv(qps.qp[0], &receive), SIM_OK);
    tear_down();
}
END_TEST

static void post_receive(pair_t *self, void *ctx)
{
    (void)ctx;
    const nic_recv_wr_t receive = {.wr_id = 7, .sge = {PAIR_MEMORY, 64, nic_mr_lkey(self->mr[0])}};
    ck_assert_int_eq(nic_post_recv(qps.qp[0], &receive), SIM_OK);
}

static void to_error(pair_t *self, void *ctx)
{
    (void)self;
    nic_qp_to_error(ctx);
}

START_TEST(receives_of_a_failed_queue_pair_are_flushed)
{
    set_up(_i);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    pair_call_at(pair, 0, START_PS, to_error, qps.qp[0]);
    pair_call_at(pair, 0, 2 * START_PS, post_receive, NULL);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_uint_eq(pair->done[0][0].wc.wr_id, 7);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_WR_FLUSH_ERR);
    ck_assert_uint_ge(pair->done[0][0].time_ps, 2 * START_PS + FLUSH_PS);
    tear_down();
}
END_TEST

// -- UD

#define DATAGRAMS 8u
#define MORE 3u

static nic_send_wr_t datagram(uint64_t wr_id, bool bad)
{
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 64);
    wr.wr_id = wr_id;
    wr.sge.lkey = bad ? BAD_KEY : wr.sge.lkey;
    wr.ud.remote_interface = 1;
    wr.ud.remote_qpn = nic_qp_num(qps.qp[1]);
    return wr;
}

// Moves the queue on when the datagram with this number has completed.
static void go_on(pair_t *self, void *ctx)
{
    const uint64_t when = *(const uint64_t *)ctx;
    const pair_done_t *const last = &self->done[0][self->done_count[0] - 1];
    if (self->done_count[0] == 0 || last->wc.wr_id != when ||
        nic_qp_state(qps.qp[0]) != NIC_QPS_SQE) {
        return;
    }
    sim_message_t message;
    ck_assert_int_eq(nic_qp_modify(qps.qp[0], NIC_QPS_RTS, NULL, &message), SIM_OK);
    for (uint32_t i = 0; i < MORE; i++) {
        const nic_send_wr_t wr = datagram(20 + i, false);
        ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_OK);
    }
}

// _i: model, and whether the program goes on at the first completion or at the last.
START_TEST(a_datagram_queue_goes_on_after_its_error)
{
    set_up(_i % 2);
    pair_connect(pair, &qps, NIC_QPT_UD, NULL);
    pair_post_recvs(pair, &qps, 16, 128);
    uint64_t when = _i / 2 == 0 ? DATAGRAMS - 1 : 0;
    pair->on_done = go_on;
    pair->on_done_ctx = &when;
    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        const nic_send_wr_t wr = datagram(i, i == 0);
        ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_OK);
    }
    pair_run(pair);
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
    ck_assert_uint_eq(pair->done_count[1], MORE);
    ck_assert_uint_eq(pair->done_count[0], DATAGRAMS + MORE);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_LOC_PROT_ERR);
    for (size_t i = 1; i < DATAGRAMS + MORE; i++) {
        const nic_wc_t *const wc = &pair->done[0][i].wc;
        ck_assert_uint_eq(wc->wr_id, i < DATAGRAMS ? i : 20 + i - DATAGRAMS);
        ck_assert_int_eq(wc->status, i < DATAGRAMS ? NIC_WC_WR_FLUSH_ERR : NIC_WC_SUCCESS);
    }
    ck_assert_int_eq(nic_qp_state(qps.qp[0]), NIC_QPS_RTS);
    ck_assert(nic_qp_quiet(qps.qp[0]));
    tear_down();
}
END_TEST

// -- callbacks

static void destroy_both(pair_t *self, void *ctx)
{
    (void)ctx;
    if (self->done_count[0] == 1) {
        nic_qp_destroy(qps.qp[0]);
    }
}

// A callback destroys its queue pair. Requests acknowledged by the same packet complete all the
// same.
START_TEST(a_callback_may_destroy_its_queue_pair)
{
    set_up(_i);
    config.nic.ack_interval = 256;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    pair->on_done = destroy_both;
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10000);
    for (wr.wr_id = 0; wr.wr_id < 10; wr.wr_id++) {
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_ge(pair->done_count[0], 1);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->qps_live, 0);
    tear_down();
}
END_TEST

typedef struct watch {
    bool inside;
    uint32_t told;
} watch_t;

static void fails_itself(pair_t *self, void *ctx)
{
    watch_t *const watch = ctx;
    ck_assert(!watch->inside); // one callback at a time, however much follows from it
    watch->inside = true;
    watch->told++;
    if (self->done_count[0] == 1) {
        nic_qp_to_error(qps.qp[0]);
        ck_assert_uint_eq(self->done_count[0], 1); // the rest is told when this one has returned
    }
    watch->inside = false;
}

START_TEST(callbacks_do_not_nest)
{
    set_up(_i);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    watch_t watch = {0};
    pair->on_done = fails_itself;
    pair->on_done_ctx = &watch;
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10000);
    for (wr.wr_id = 0; wr.wr_id < 10; wr.wr_id++) {
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(watch.told, 10);
    for (size_t i = 0; i < 10; i++) {
        ck_assert_uint_eq(pair->done[0][i].wc.wr_id, i);
    }
    tear_down();
}
END_TEST

// -- a core that comes late

static bool poll(nic_core_t *core, void *ctx)
{
    uint32_t *const seen = ctx;
    nic_wc_t wc;
    const uint32_t taken = nic_poll_cq(pair->cq[0], 1, &wc);
    *seen += taken;
    if (*seen == 20) {
        nic_core_stop(core);
    }
    return taken != 0;
}

static uint32_t seen;

static void give_core(pair_t *self, void *ctx)
{
    (void)ctx;
    ck_assert_uint_eq(self->done_count[0], 20);
    nic_core_t *const core = nic_core_create(self->node[0], poll, &seen);
    nic_cq_set_core(self->cq[0], core);
    nic_core_start(core, 2 * SIM_PS_PER_MS);
}

START_TEST(a_completion_queue_that_has_grown_gets_a_core)
{
    set_up(_i);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    seen = 0;
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 64);
    for (uint32_t i = 0; i < 20; i++) {
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
        pair_post_at(pair, 3 * SIM_PS_PER_MS, qps.qp[0], &wr);
    }
    pair_call_at(pair, 0, 2 * SIM_PS_PER_MS, give_core, NULL);
    pair_run(pair);
    ck_assert_uint_eq(seen, 20);
    tear_down();
}
END_TEST

// -- sent again

// Through the processing unit, and with its payload read again: it takes longer than the ideal NIC
// by what its first packet took.
START_TEST(what_is_sent_again_passes_the_nic_again)
{
    set_up(1);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    test_drop_next(pair->port[0], 1);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 1000);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_uint_eq(pair_count(pair, 0, ROCE_WRITE_ONLY), 2);
    const sim_time_t timeout_ps = UINT64_C(4096000) << nic_get_config(pair->nic[0])->timeout;
    const sim_time_t first_ps = pair_nth(pair, 0, 0)->time_ps;
    const sim_time_t again_ps = pair_nth(pair, 0, 1)->time_ps - (first_ps + timeout_ps);
    nic_detail_t detail;
    nic_detail_resolve(nic_get_config(pair->nic[0]), &detail);
    ck_assert_uint_ge(again_ps, detail.pu_send_fetched_ps + detail.read_latency_ps);
    ck_assert_uint_le(again_ps, SIM_PS_PER_US);
    tear_down();
}
END_TEST

// Work requests under way, lost ones among them, and a window that goes back again and again: all
// complete once and in order.
START_TEST(a_lossy_link_keeps_a_detailed_nic_in_order)
{
    pair_config_init(&config);
    config.nic.model = NIC_DETAILED;
    config.nic.timeout = 3;
    config.link.loss_rate = (sim_ratio_t){1, 20};
    config.until_ps = SIM_PS_PER_S;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 6000);
    for (wr.wr_id = 0; wr.wr_id < 400; wr.wr_id++) {
        wr.opcode = wr.wr_id % 7 == 3 ? NIC_WR_RDMA_READ : NIC_WR_RDMA_WRITE;
        pair_post_at(pair, START_PS + wr.wr_id * SIM_PS_PER_US / 4, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
    ck_assert_uint_eq(pair->done_count[0], 400);
    for (size_t i = 0; i < 400; i++) {
        ck_assert_uint_eq(pair->done[0][i].wc.wr_id, i);
        ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_SUCCESS);
    }
    tear_down();
}
END_TEST

// -- frames without overhead

static uint32_t told_bytes;

static void note_overhead(nic_cc_t *cc)
{
    told_bytes = cc->overhead_bytes;
}

static const nic_cc_ops_t listener = {
    .name = "listener",
    .state_bytes = sizeof(nic_cc_t),
    .init = note_overhead,
};

static void without_overhead(net_config_t *net)
{
    net->framing = (sim_name_t){"bare"};
}

// _i: whether frames have preamble, FCS and gap.
START_TEST(congestion_control_knows_what_frames_take)
{
    pair_config_init(&config);
    config.nic.custom_cc = &listener;
    config.change_net = _i == 0 ? without_overhead : NULL;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    ck_assert_uint_eq(told_bytes, PAIR_HEADERS + (_i == 0 ? 0 : NET_LINK_OVERHEAD_BYTES));
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(atomics_with_a_bad_key_are_refused, 0, 2),
           CHECK_LOOP(posts_to_a_failed_queue_pair_are_flushed, 0, 2),
           CHECK_LOOP(receives_of_a_failed_queue_pair_are_flushed, 0, 2),
           CHECK_LOOP(a_datagram_queue_goes_on_after_its_error, 0, 4),
           CHECK_LOOP(a_callback_may_destroy_its_queue_pair, 0, 2),
           CHECK_LOOP(callbacks_do_not_nest, 0, 2),
           CHECK_LOOP(a_completion_queue_that_has_grown_gets_a_core, 0, 2),
           CHECK_TEST(what_is_sent_again_passes_the_nic_again),
           CHECK_TEST(a_lossy_link_keeps_a_detailed_nic_in_order),
           CHECK_LOOP(congestion_control_knows_what_frames_take, 0, 2))
