// SPDX-License-Identifier: Apache-2.0
// Goal: each trace point of a NIC is told at its moment, with its value, to those who listen, and
// listening changes nothing.
// Method: two hosts on one link, a few packets, moments by hand: 80 ps a byte, 1 us of delay.
// Does not pin: the order of points within one instant where no cause orders them; cost.
#include "nic/cc/dcqcn.h"
#include "nic/trace.h"
#include "tests/drop_next.h"
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)
#define MTU 4096u
#define BYTES UINT64_C(12288) // 3 packets
#define MOMENTS_MAX 64u

// Frames of a WRITE of three packets: the first has a RETH.
#define FIRST_BYTES (PAIR_HEADERS + 16u + MTU)
#define OTHER_BYTES (PAIR_HEADERS + MTU)

typedef struct log {
    nic_trace_t traces[MOMENTS_MAX];
    nic_wc_t wcs[MOMENTS_MAX];
    size_t count;
} log_t;

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;
static log_t logs[2];

static void note(const nic_trace_t *trace, void *ctx)
{
    log_t *const log = ctx;
    SIM_CHECK(log->count < MOMENTS_MAX);
    log->traces[log->count] = *trace;
    if (trace->wc != NULL) {
        log->wcs[log->count] = *trace->wc;
    }
    log->count++;
}

static void set_up(const char *algorithm)
{
    memset(logs, 0, sizeof(logs));
    pair_config_init(&config);
    sim_free(config.nic.congestion_control);
    config.nic.congestion_control = sim_strdup(algorithm);
    config.nic.ack_interval = 256; // one ACK for the message
    config.nic.timeout = 4;        // 65.536 us
}

static void start(uint32_t points)
{
    pair = pair_create(&config);
    for (uint32_t h = 0; h < 2 && points != 0; h++) {
        nic_listen(pair->nic[h], points, note, &logs[h]);
    }
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
}

static void post(uint64_t bytes, uint32_t flags)
{
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, bytes);
    wr.wr_id = 77;
    wr.send_flags = flags;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

// Checks the n-th trace record of a host.
static void check(uint32_t host, size_t n, nic_trace_point_t point, sim_time_t time_ps,
                  uint64_t value, uint64_t before)
{
    ck_assert_uint_lt(n, logs[host].count);
    const nic_trace_t *const trace = &logs[host].traces[n];
    ck_assert_uint_eq(trace->point, point);
    ck_assert_uint_eq(trace->time_ps, time_ps);
    ck_assert_uint_eq(trace->value, value);
    ck_assert_uint_eq(trace->before, before);
    ck_assert_ptr_eq(trace->nic, pair->nic[host]);
    ck_assert_ptr_eq(trace->qp, point == NIC_TRACE_RECEIVE ? NULL : qps.qp[host]);
}

START_TEST(a_write_in_all_its_moments)
{
    set_up("none");
    start(~0u);
    post(BYTES, NIC_SEND_SIGNALED);
    pair_run(pair);

    const uint64_t line_bps = UINT64_C(100000000000);
    const sim_time_t second_ps = START_PS + pair_frame_ps(FIRST_BYTES);
    const sim_time_t third_ps = second_ps + pair_frame_ps(OTHER_BYTES);
    const sim_time_t acked_ps =
        third_ps + pair_reach_ps(OTHER_BYTES) + pair_reach_ps(PAIR_ACK_BYTES);
    ck_assert_uint_eq(acked_ps, 3013960); // so that the formulas above are not only our own
    size_t n = 0;
    check(0, n++, NIC_TRACE_LIFE, 0, 1, 0);
    check(0, n++, NIC_TRACE_RATE, 0, line_bps, 0);
    check(0, n++, NIC_TRACE_WINDOW, 0, NIC_WINDOW_UNLIMITED, 0);
    check(0, n++, NIC_TRACE_CONTROL, 0, 0, 0);
    check(0, n++, NIC_TRACE_STATE, 0, NIC_QPS_RTS, NIC_QPS_RESET);
    check(0, n, NIC_TRACE_POST, START_PS, BYTES, 0);
    ck_assert_ptr_nonnull(logs[0].traces[n++].wr);
    check(0, n++, NIC_TRACE_SEND, START_PS, MTU, 0);
    check(0, n++, NIC_TRACE_SEND, second_ps, MTU, 0);
    check(0, n++, NIC_TRACE_SEND, third_ps, MTU, 0);
    check(0, n, NIC_TRACE_COMPLETION, acked_ps, 0, 0);
    ck_assert_uint_eq(logs[0].wcs[n].wr_id, 77);
    ck_assert_int_eq(logs[0].wcs[n++].status, NIC_WC_SUCCESS);
    check(0, n++, NIC_TRACE_ACK, acked_ps, acked_ps - third_ps, 0);
    check(0, n++, NIC_TRACE_RECEIVE, acked_ps, 0, 0);
    ck_assert_uint_eq(logs[0].count, n);

    ck_assert_uint_eq(logs[1].count, 5 + 3);
    check(1, 5, NIC_TRACE_RECEIVE, START_PS + pair_reach_ps(FIRST_BYTES), 0, 0);
    check(1, 6, NIC_TRACE_RECEIVE, second_ps + pair_reach_ps(OTHER_BYTES), 0, 0);
    check(1, 7, NIC_TRACE_RECEIVE, third_ps + pair_reach_ps(OTHER_BYTES), 0, 0);
    tear_down();
}
END_TEST

START_TEST(an_unsignaled_request_completes_without_a_completion)
{
    set_up("none");
    start(NIC_TRACE_COMPLETION);
    post(BYTES, 0);
    pair_run(pair);
    ck_assert_uint_eq(logs[0].count, 1);
    ck_assert_ptr_null(logs[0].traces[0].wc);
    tear_down();
}
END_TEST

// Time 0 is a time like any other: a packet sent then has a round trip.
START_TEST(a_packet_of_time_0_has_a_round_trip)
{
    set_up("none");
    start(NIC_TRACE_ACK);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    pair_post_at(pair, 0, qps.qp[0], &wr);
    pair_run(pair);
    const sim_time_t acked_ps =
        pair_reach_ps(PAIR_HEADERS + 16 + 8) + pair_reach_ps(PAIR_ACK_BYTES);
    ck_assert_uint_eq(logs[0].count, 1);
    check(0, 0, NIC_TRACE_ACK, acked_ps, acked_ps, 0);
    tear_down();
}
END_TEST

// The second packet is lost: the third causes a NAK, and both are retransmitted.
START_TEST(a_nak_and_what_follows)
{
    set_up("none");
    start(NIC_TRACE_NAK_SENT | NIC_TRACE_NAK_RECEIVED | NIC_TRACE_RETRANSMIT | NIC_TRACE_TIMEOUT |
          NIC_TRACE_ACK);
    post(BYTES, NIC_SEND_SIGNALED);
    test_drop_next(pair->port[0], 2);
    pair_run(pair);

    const uint64_t syndrome = ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE;
    const sim_time_t third_ps = START_PS + pair_frame_ps(FIRST_BYTES) + pair_frame_ps(OTHER_BYTES);
    const sim_time_t refused_ps = third_ps + pair_reach_ps(OTHER_BYTES);
    const sim_time_t known_ps = refused_ps + pair_reach_ps(PAIR_ACK_BYTES);
    ck_assert_uint_eq(logs[1].count, 1);
    check(1, 0, NIC_TRACE_NAK_SENT, refused_ps, syndrome, 0);
    ck_assert_uint_eq(logs[0].count, 4);
    check(0, 0, NIC_TRACE_ACK, known_ps, known_ps - third_ps, 0); // of the first packet
    check(0, 1, NIC_TRACE_NAK_RECEIVED, known_ps, syndrome, 0);
    check(0, 2, NIC_TRACE_RETRANSMIT, known_ps, 2, 0);
    // Retransmitted packets give no round-trip time.
    const sim_time_t done_ps = known_ps + pair_frame_ps(OTHER_BYTES) + pair_reach_ps(OTHER_BYTES) +
                               pair_reach_ps(PAIR_ACK_BYTES);
    check(0, 3, NIC_TRACE_ACK, done_ps, 0, 0);
    tear_down();
}
END_TEST

// The last packet is lost: only the timer, which starts with the first packet, notices it.
START_TEST(a_timeout_and_what_follows)
{
    set_up("none");
    start(NIC_TRACE_RETRANSMIT | NIC_TRACE_TIMEOUT);
    post(BYTES, NIC_SEND_SIGNALED);
    test_drop_next(pair->port[0], 3);
    pair_run(pair);
    ck_assert_uint_eq(logs[0].count, 2);
    check(0, 0, NIC_TRACE_TIMEOUT, START_PS + (UINT64_C(4096000) << 4), 0, 0);
    check(0, 1, NIC_TRACE_RETRANSMIT, START_PS + (UINT64_C(4096000) << 4), 3, 0);
    tear_down();
}
END_TEST

static void mark(const net_trace_t *trace, void *ctx)
{
    (void)ctx;
    net_packet_t *const packet = (net_packet_t *)(uintptr_t)trace->packet;
    packet->ecn = packet->payload_bytes != 0 ? NET_ECN_CE : packet->ecn;
}

// The first of three packets is marked: its CNP cuts the rate to 1 - 1023/2048 of the line's.
START_TEST(a_cnp_and_the_rate_it_sets)
{
    set_up("dcqcn");
    ((nic_dcqcn_config_t *)nic_config_part(&config.nic, nic_cc_dcqcn.attrs))
        ->rate_reduce_monitor_period_ps = 0;
    start(NIC_TRACE_CNP_SENT | NIC_TRACE_CNP_RECEIVED | NIC_TRACE_RATE);
    net_port_listen(pair->port[0], NET_TRACE_TX, mark, NULL);
    post(200000, NIC_SEND_SIGNALED);
    pair_run(pair);

    const uint64_t line_bps = UINT64_C(100000000000);
    const sim_time_t marked_ps = START_PS + pair_reach_ps(FIRST_BYTES);
    const sim_time_t told_ps = marked_ps + pair_reach_ps(PAIR_HEADERS + 16);
    ck_assert_uint_ge(logs[1].count, 2);
    check(1, 0, NIC_TRACE_RATE, 0, line_bps, 0);
    check(1, 1, NIC_TRACE_CNP_SENT, marked_ps, 0, 0);
    check(0, 0, NIC_TRACE_RATE, 0, line_bps, 0);
    check(0, 1, NIC_TRACE_CNP_RECEIVED, told_ps, 1, 0);
    check(0, 2, NIC_TRACE_RATE, told_ps, line_bps * 1025 / 2048, line_bps);
    // Each change begins at the rate where the one before ended.
    uint64_t rate_bps = line_bps * 1025 / 2048;
    for (size_t n = 3; n < logs[0].count; n++) {
        if (logs[0].traces[n].point == NIC_TRACE_RATE) {
            ck_assert_uint_eq(logs[0].traces[n].before, rate_bps);
            rate_bps = logs[0].traces[n].value;
        }
    }
    tear_down();
}
END_TEST

// Adds a listener late: it hears later changes, beginning with the rate at that time.
static void listen_late(pair_t *p, void *ctx)
{
    (void)ctx;
    nic_listen(p->nic[0], NIC_TRACE_RATE, note, &logs[0]);
}

START_TEST(a_late_listener_hears_changes_only)
{
    set_up("dcqcn");
    start(0);
    net_port_listen(pair->port[0], NET_TRACE_TX, mark, NULL);
    post(2000000, NIC_SEND_SIGNALED);
    pair_call_at(pair, 0, 60 * SIM_PS_PER_US, listen_late, NULL);
    pair_run(pair);
    ck_assert_uint_gt(logs[0].count, 1);
    ck_assert_uint_lt(logs[0].traces[0].before, UINT64_C(100000000000));
    ck_assert_uint_gt(logs[0].traces[0].before, 0);
    for (size_t n = 0; n < logs[0].count; n++) {
        ck_assert_uint_ne(logs[0].traces[n].value, logs[0].traces[n].before);
    }
    tear_down();
}
END_TEST

START_TEST(a_listener_of_one_queue_pair_hears_no_other)
{
    set_up("none");
    start(0);
    pair_qp_t others;
    pair_connect(pair, &others, NIC_QPT_RC, NULL);
    nic_qp_listen(qps.qp[0], NIC_TRACE_POST, note, &logs[0]);
    nic_qp_listen(others.qp[0], NIC_TRACE_SEND, note, &logs[1]);
    post(BYTES, NIC_SEND_SIGNALED);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    pair_post_at(pair, 2 * START_PS, others.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(logs[0].count, 1);
    check(0, 0, NIC_TRACE_POST, START_PS, BYTES, 0);
    ck_assert_uint_eq(logs[1].count, 1);
    ck_assert_ptr_eq(logs[1].traces[0].qp, others.qp[0]);
    ck_assert_uint_eq(logs[1].traces[0].value, 100);
    tear_down();
}
END_TEST

static void destroy_first(pair_t *p, void *ctx)
{
    (void)p;
    (void)ctx;
    nic_qp_destroy(qps.qp[0]);
}

// A queue pair's end is reported, and then it has no listeners; the NIC's own listeners stay.
START_TEST(states_and_ends)
{
    set_up("none");
    start(NIC_TRACE_STATE | NIC_TRACE_LIFE);
    nic_qp_listen(qps.qp[0], NIC_TRACE_LIFE | NIC_TRACE_SEND, note, &logs[1]);
    nic_qp_to_error(qps.qp[1]);
    pair_call_at(pair, 0, START_PS, destroy_first, NULL);
    pair_run(pair);
    ck_assert_uint_eq(logs[0].count, 3);
    check(0, 2, NIC_TRACE_LIFE, START_PS, 0, 0);
    ck_assert_uint_eq(logs[1].count, 4);
    check(1, 2, NIC_TRACE_STATE, 0, NIC_QPS_ERR, NIC_QPS_RTS);
    ck_assert_ptr_eq(logs[1].traces[3].qp, qps.qp[0]);
    ck_assert_uint_eq(logs[1].traces[3].point, NIC_TRACE_LIFE);
    tear_down();
}
END_TEST

START_TEST(listening_changes_nothing)
{
    uint64_t digests[2] = {0, 0};
    for (uint32_t i = 0; i < 2; i++) {
        set_up("dcqcn");
        start(i == 0 ? 0 : (uint32_t)(NIC_TRACE_RECEIVE | NIC_TRACE_STATE | NIC_TRACE_WINDOW));
        net_port_listen(pair->port[0], NET_TRACE_TX, mark, NULL);
        post(100000, NIC_SEND_SIGNALED);
        test_drop_next(pair->port[0], 5);
        pair_run(pair);
        digests[i] = sim_digest(pair->sim);
        tear_down();
    }
    ck_assert_uint_eq(digests[0], digests[1]);
    ck_assert_uint_gt(logs[0].count, 3);
}
END_TEST

CHECK_MAIN(CHECK_TEST(a_write_in_all_its_moments), CHECK_TEST(a_packet_of_time_0_has_a_round_trip),
           CHECK_TEST(an_unsignaled_request_completes_without_a_completion),
           CHECK_TEST(a_nak_and_what_follows), CHECK_TEST(a_timeout_and_what_follows),
           CHECK_TEST(a_cnp_and_the_rate_it_sets), CHECK_TEST(a_late_listener_hears_changes_only),
           CHECK_TEST(a_listener_of_one_queue_pair_hears_no_other), CHECK_TEST(states_and_ends),
           CHECK_TEST(listening_changes_nothing))
