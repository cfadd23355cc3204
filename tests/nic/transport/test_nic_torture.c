// SPDX-License-Identifier: Apache-2.0
// labels: clang
// Goal: no mixture of verbs, options, losses and pauses breaks the promises: each request completes
// once, in order, with success; each byte arrives once; nothing is left over.
// Method: random programs (a stream per seed) of requests on several QPs in both directions, over
// lossy links, with random windows, ACK intervals, rates, classes and MTUs. Long timeouts of lost
// last packets are part of it. A failure names the seed: CK_RUN_CASE with _i the seed.
// Does not pin: times; failures of requests (test_nic_responder, test_nic_acknowledge).
#include "tests/nic_pair.h"

#define QPS 6
#define REQUESTS 12

static const uint64_t sizes[] = {0, 1, 100, 256, 257, 4096, 5000, 12288, 33333, 100000};

typedef struct expectation {
    uint64_t next[2];      // wr_id expected next from the send queue of each end
    uint64_t next_recv[2]; // and from its receive queue
    uint64_t posted[2];
    uint64_t receives[2];
} expectation_t;

static sim_random_t random_stream;

static uint64_t draw(uint64_t limit)
{
    return sim_random_below(&random_stream, limit);
}

static void randomize(nic_qp_attr_t *attr)
{
    attr->window_bytes = draw(2) == 0 ? SIM_AUTO : 1 + draw(100000);
    attr->rate_max_bps =
        draw(2) == 0 ? SIM_AUTO : UINT64_C(5000000000) + draw(UINT64_C(90000000000));
    attr->max_rd_atomic = 1 + (uint32_t)draw(5);
    attr->max_dest_rd_atomic = 5;
    attr->sq_psn = 0xffffe0; // wraps soon; both ends alike
    attr->rq_psn = 0xffffe0;
    attr->priority = draw(2) == 0 ? 3 : 4;
}

static void post_program(pair_t *pair, const pair_qp_t *qps, expectation_t *expected,
                         uint64_t *bytes)
{
    for (uint32_t end = 0; end < 2; end++) {
        for (uint64_t i = 0; i < REQUESTS; i++) {
            const nic_wr_opcode_t opcode = (nic_wr_opcode_t)draw(5);
            nic_send_wr_t wr = pair_wr(pair, opcode, sizes[draw(SIM_COUNT_OF(sizes))]);
            wr.wr_id = i;
            wr.sge.lkey = nic_mr_lkey(pair->mr[end]);
            wr.rdma.rkey = nic_mr_rkey(pair->mr[1 - end]);
            wr.send_flags |= draw(4) == 0 ? NIC_SEND_FENCE : 0;
            pair_post_at(pair, 1 + draw(100 * SIM_PS_PER_US), qps->qp[end], &wr);
            bytes[opcode == NIC_WR_RDMA_READ ? end : 1 - end] += wr.sge.length;
            if (opcode != NIC_WR_RDMA_WRITE && opcode != NIC_WR_RDMA_READ) {
                const nic_recv_wr_t receive = {
                    .wr_id = 1000 + expected->receives[1 - end]++,
                    .sge = {PAIR_MEMORY, 100000, nic_mr_lkey(pair->mr[1 - end])}};
                ck_assert_int_eq(nic_post_recv(qps->qp[1 - end], &receive), SIM_OK);
            }
        }
        expected->posted[end] = REQUESTS;
    }
}

static void toggle_pause(pair_t *pair, void *ctx)
{
    net_port_t *const port = ctx;
    (void)pair;
    port->paused ^= 1u << 3;
    net_port_wake(port);
}

// Requests are posted at random times, so wr_ids come in the order of posting, not of number: the
// set is checked, and the receives' order.
static void check(const pair_t *pair, const pair_qp_t *qps, expectation_t *expected)
{
    for (uint32_t end = 0; end < 2; end++) {
        bool seen[QPS][REQUESTS] = {{false}};
        for (size_t i = 0; i < pair->done_count[end]; i++) {
            const nic_wc_t *const wc = &pair->done[end][i].wc;
            ck_assert_msg(wc->status == NIC_WC_SUCCESS, "%s", nic_wc_status_text(wc->status));
            uint32_t q = 0;
            while (nic_qp_num(qps[q].qp[end]) != wc->qp_num) {
                q++;
            }
            if (wc->opcode == NIC_WC_RECV || wc->opcode == NIC_WC_RECV_RDMA_WITH_IMM) {
                ck_assert_uint_eq(wc->wr_id, 1000 + expected[q].next_recv[end]);
                expected[q].next_recv[end]++;
            } else {
                ck_assert(!seen[q][wc->wr_id]);
                seen[q][wc->wr_id] = true;
                expected[q].next[end]++;
            }
        }
        for (uint32_t q = 0; q < QPS; q++) {
            ck_assert_uint_eq(expected[q].next[end], expected[q].posted[end]);
            ck_assert_uint_eq(expected[q].next_recv[end], expected[q].receives[end]);
            ck_assert(nic_qp_quiet(qps[q].qp[end]));
        }
    }
}

START_TEST(random_programs_complete)
{
    sim_random_init(&random_stream, (uint64_t)_i, 0, "torture");
    pair_config_t config;
    pair_config_init(&config);
    config.nic.timeout = 6; // 262 us
    config.nic.retry_count = 7;
    config.nic.mtu_bytes = UINT64_C(256) << draw(5);
    config.nic.ack_interval = 1 + draw(8);
    config.nic.nak_interval_ps = draw(2) * 10 * SIM_PS_PER_US;
    config.nic.ack_priority = draw(2) == 0 ? SIM_AUTO : 5;
    if (draw(2) == 0) {
        sim_free(config.nic.congestion_control);
        config.nic.congestion_control = sim_strdup("dcqcn");
    }
    config.link.loss_rate = (sim_ratio_t){draw(3), 50};
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps[QPS];
    expectation_t expected[QPS] = {{{0}, {0}, {0}, {0}}};
    uint64_t bytes[2] = {0, 0};
    for (uint32_t q = 0; q < QPS; q++) {
        pair_connect(pair, &qps[q], NIC_QPT_RC, randomize);
        post_program(pair, &qps[q], &expected[q], bytes);
    }
    for (uint32_t i = 0; i < 8; i++) { // an even number for each end: nothing stays paused
        const sim_time_t time_ps = 1 + draw(200 * SIM_PS_PER_US);
        pair_call_at(pair, i / 4, time_ps, toggle_pause, pair->port[i / 4]);
    }
    pair_run(pair);
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
    check(pair, qps, expected);
    for (uint32_t end = 0; end < 2; end++) {
        ck_assert_uint_eq(nic_get_counters(pair->nic[end])->rx_data_bytes, bytes[end]);
    }
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(random_programs_complete, 0, 200, 20))
