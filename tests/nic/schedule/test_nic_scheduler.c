// SPDX-License-Identifier: Apache-2.0
// Goal: packets leave a NIC in the promised order and exactly at the promised pace.
// Method: send times against sums of exact frame times; shares of queue pairs and classes counted.
// Does not pin: the algorithms that set a rate (test_cc_*), pause frames on the wire.
#include "nic/scheduler.h"
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

// -- pace

static const uint64_t rates[] = {
    UINT64_C(33333333333), // a third of the line, rounded down
    UINT64_C(50000000000), // ends of pauses and frames coincide
    UINT64_C(99999999999), // just below the line
    UINT64_C(7000000001),  UINT64_C(1000000),
};
static uint64_t rate_bps;

static void set_rate(nic_qp_attr_t *attr)
{
    attr->rate_max_bps = rate_bps;
}

// Packet k of a QP that paces equal packets starts at floor(k x bits / rate): nothing drifts. (A
// packet cannot start while the one before is on the link, which matters just below its rate.)
START_TEST(paced_packets_start_exactly)
{
    set_up();
    rate_bps = rates[_i];
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, set_rate);
    const uint32_t count = 100;
    pair_post_recvs(pair, &qps, count, 4096);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 4096);
    for (uint32_t i = 0; i < count; i++) {
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
    pair_run(pair);
    const uint64_t bits = (PAIR_HEADERS + 4096 + 24) * 8;
    for (uint64_t k = 0; k < count; k++) {
        ck_assert_uint_eq(pair_nth(pair, 0, k)->time_ps,
                          START_PS + k * bits * SIM_PS_PER_S / rate_bps);
    }
    ck_assert_uint_eq(pair->done_count[0], count);
    tear_down();
}
END_TEST

// The pace holds between messages too, however late they are posted within it.
START_TEST(pace_holds_across_messages)
{
    set_up();
    rate_bps = UINT64_C(10000000000);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, set_rate);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 4096);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_post_at(pair, START_PS + 2 * SIM_PS_PER_US, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair_nth(pair, 0, 1)->time_ps,
                      START_PS + 10 * pair_frame_ps(PAIR_HEADERS + 16 + 4096));
    tear_down();
}
END_TEST

// READ responses are paced by the QP that sends them.
START_TEST(read_responses_are_paced)
{
    set_up();
    rate_bps = UINT64_C(25000000000);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, set_rate);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, 10 * 4096);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    for (uint32_t k = 2; k < 9; k++) {
        ck_assert_uint_eq(pair_nth(pair, 1, k)->time_ps - pair_nth(pair, 1, k - 1)->time_ps,
                          4 * pair_frame_ps(PAIR_HEADERS + 4096));
    }
    tear_down();
}
END_TEST

// -- turns

// _i QPs with long messages: once all have posted (the first packet was sent before), the same
// order for ever, each QP once in it, back to back.
START_TEST(queue_pairs_take_turns)
{
    set_up();
    const uint32_t count = (uint32_t)_i;
    pair_qp_t qps[9];
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 20 * 4096);
    for (uint32_t q = 0; q < count; q++) {
        pair_connect(pair, &qps[q], NIC_QPT_RC, NULL);
        pair_post_at(pair, START_PS, qps[q].qp[0], &wr);
    }
    pair_run(pair);
    for (size_t n = 1; n < 18 * count; n++) {
        const pair_packet_t *const packet = pair_nth(pair, 0, n);
        const uint32_t qp = packet->packet.destination_qp;
        for (uint32_t later = 1; later < count; later++) {
            ck_assert_uint_ne(pair_nth(pair, 0, n + later)->packet.destination_qp, qp);
        }
        ck_assert_uint_eq(pair_nth(pair, 0, n + count)->packet.destination_qp, qp);
        ck_assert_uint_le(packet->time_ps - pair_nth(pair, 0, n - 1)->time_ps,
                          pair_frame_ps(PAIR_HEADERS + 16 + 4096));
    }
    tear_down();
}
END_TEST

// A QP both asked for data and sending its own alternates.
START_TEST(responses_and_requests_take_turns)
{
    set_up();
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t read = pair_wr(pair, NIC_WR_RDMA_READ, 20 * 4096);
    nic_send_wr_t write = pair_wr(pair, NIC_WR_RDMA_WRITE, 20 * 4096);
    write.sge.lkey = nic_mr_lkey(pair->mr[1]);
    write.rdma.rkey = nic_mr_rkey(pair->mr[0]);
    pair_post_at(pair, START_PS, qps.qp[0], &read);
    pair_post_at(pair, START_PS + 1010 * SIM_PS_PER_NS, qps.qp[1], &write);
    pair_run(pair);
    for (size_t n = 4; n < 20; n += 2) {
        const bool a = pair_nth(pair, 1, n)->packet.opcode == ROCE_WRITE_MIDDLE;
        const bool b = pair_nth(pair, 1, n + 1)->packet.opcode == ROCE_WRITE_MIDDLE;
        ck_assert(a != b);
    }
    ck_assert_uint_eq(pair->done_count[0] + pair->done_count[1], 2);
    tear_down();
}
END_TEST

// -- classes

static uint8_t priority;

static void set_priority(nic_qp_attr_t *attr)
{
    attr->priority = priority;
}

// Two classes with equal weights get equal bytes while both have something.
START_TEST(classes_share_by_deficit_round_robin)
{
    set_up();
    pair_qp_t qps[2];
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 50 * 4096);
    for (uint8_t q = 0; q < 2; q++) {
        priority = q == 0 ? 1 : 4;
        pair_connect(pair, &qps[q], NIC_QPT_RC, set_priority);
        pair_post_at(pair, START_PS, qps[q].qp[0], &wr);
    }
    pair_run(pair);
    int64_t lead = 0;
    for (size_t n = 0; n < 90; n++) {
        lead += pair_nth(pair, 0, n)->packet.priority == 1 ? 1 : -1;
        ck_assert_int_le(lead * lead, 4);
    }
    tear_down();
}
END_TEST

static void pause(pair_t *self, void *ctx)
{
    (void)ctx;
    self->port[0]->paused = 1u << 3;
}

static void resume(pair_t *self, void *ctx)
{
    (void)ctx;
    self->port[0]->paused = 0;
    net_port_wake(self->port[0]);
}

// A paused class stops at the end of its packet; another goes on; work resumes at once.
START_TEST(pause_stops_its_class_only)
{
    set_up();
    pair_qp_t qps[2];
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 20 * 4096);
    for (uint8_t q = 0; q < 2; q++) {
        priority = q == 0 ? 3 : 4;
        pair_connect(pair, &qps[q], NIC_QPT_RC, set_priority);
        pair_post_at(pair, START_PS, qps[q].qp[0], &wr);
    }
    const sim_time_t pause_ps = SIM_PS_PER_US;
    const sim_time_t resume_ps = 50 * SIM_PS_PER_US;
    pair_call_at(pair, 0, pause_ps, pause, NULL);
    pair_call_at(pair, 0, resume_ps, resume, NULL);
    pair_run(pair);
    size_t paused = 0;
    bool resumed = false;
    for (size_t n = 0; n < pair->wire_count; n++) {
        const pair_packet_t *const packet = &pair->wire[n];
        if (packet->host == 0) {
            const bool between = packet->time_ps > pause_ps && packet->time_ps < resume_ps;
            paused += between;
            ck_assert(!between || packet->packet.priority == 4);
            resumed |= packet->time_ps == resume_ps;
        }
    }
    ck_assert_uint_gt(paused, 15);
    ck_assert(resumed);
    ck_assert_uint_eq(pair->done_count[0], 2);
    tear_down();
}
END_TEST

static void explain(pair_t *self, void *ctx)
{
    sim_message_t why;
    const nic_qp_t *const qp = ctx;
    (void)self;
    ck_assert(nic_qp_explain(qp, &why));
    ck_assert_str_eq(why.text, "class 3 paused by b");
}

START_TEST(paused_queue_pair_says_so)
{
    set_up();
    pair_qp_t qps;
    sim_message_t why;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 20 * 4096);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_call_at(pair, 0, 100, pause, NULL);
    pair_call_at(pair, 0, SIM_PS_PER_US, explain, qps.qp[0]);
    pair_call_at(pair, 0, 2 * SIM_PS_PER_US, resume, NULL);
    pair_run(pair);
    ck_assert(!nic_qp_explain(qps.qp[0], &why)); // nothing unfinished
    tear_down();
}
END_TEST

// -- events

// An idle port sends at once: a message of n packets is 2n arrivals, n - 1 wakes at the sender, and
// none at the receiver.
START_TEST(events_are_few)
{
    set_up();
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100 * 4096);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(sim_events(pair->sim), 1 + 100 + 100 + 99);
    tear_down();
}
END_TEST

// -- schedulers that a program brings

// Returns a digest of the times at which four queue pairs send: two share a class, two have their
// own.
static uint64_t digest_with(const nic_scheduler_ops_t *ops, uint32_t *first_packets_of)
{
    pair_config_init(&config);
    config.nic.custom_scheduler = ops;
    pair = pair_create(&config);
    pair_qp_t qps[4];
    static const uint64_t sizes[] = {400000, 20000, 60000, 100000};
    for (uint32_t i = 0; i < 4; i++) {
        rate_bps = i == 3 ? UINT64_C(30000000000) : UINT64_C(100000000000);
        pair_connect(pair, &qps[i], NIC_QPT_RC, set_rate);
        const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, sizes[i]);
        pair_post_at(pair, START_PS, qps[i].qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 4);
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t number = pair_nth(pair, 0, k)->packet.destination_qp;
        for (uint32_t i = 0; i < 4; i++) {
            first_packets_of[k] = nic_qp_num(qps[i].qp[1]) == number ? i : first_packets_of[k];
        }
    }
    const uint64_t digest = sim_digest(pair->sim);
    tear_down();
    return digest;
}

START_TEST(the_ring_by_its_table_is_the_ring)
{
    nic_scheduler_ops_t other = nic_scheduler_ring; // another table: it is not compiled in
    uint32_t first[4];
    ck_assert_uint_eq(digest_with(&other, first), digest_with(NULL, first));
    // The first was alone when it began: its turn comes again, then that of those behind it.
    for (uint32_t k = 1; k < 4; k++) {
        ck_assert_uint_eq(first[k], k - 1);
    }
}
END_TEST

// The last that came goes first, always.
typedef struct stack {
    nic_qp_t *qps[8];
    uint32_t count;
} turns_t;

static void stack_join(nic_t *nic, nic_qp_t *qp)
{
    turns_t *const stack = nic_scheduler_state(nic);
    uint32_t *const joined = nic_scheduler_qp_state(qp);
    (*joined)++;
    stack->qps[stack->count++] = qp;
}

static void stack_leave(nic_t *nic, nic_qp_t *qp)
{
    turns_t *const stack = nic_scheduler_state(nic);
    ck_assert_uint_gt(*(uint32_t *)nic_scheduler_qp_state(qp), 0);
    uint32_t to = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        stack->qps[to] = stack->qps[i];
        to += stack->qps[i] != qp;
    }
    ck_assert_uint_eq(to + 1, stack->count);
    stack->count = to;
}

static nic_qp_t *stack_next(nic_t *nic, uint32_t class)
{
    const turns_t *const stack = nic_scheduler_state(nic);
    ck_assert_uint_gt(stack->count, 0);
    ck_assert_uint_eq(nic_scheduler_class(stack->qps[stack->count - 1]), class);
    return stack->qps[stack->count - 1];
}

START_TEST(a_scheduler_of_ones_own_decides)
{
    static const nic_scheduler_ops_t stack = {
        .name = "stack",
        .state_bytes = sizeof(turns_t),
        .qp_state_bytes = SIM_CACHE_LINE,
        .join = stack_join,
        .leave = stack_leave,
        .next = stack_next,
    };
    uint32_t first[4];
    (void)digest_with(&stack, first);
    // The first had the port when it came; of the others the paced one sends when its time comes.
    ck_assert_uint_eq(first[0], 0);
    ck_assert_uint_eq(first[1], 3);
    ck_assert_uint_eq(first[2], 2);
    ck_assert_uint_eq(first[3], 2);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(paced_packets_start_exactly, 0, 5), CHECK_TEST(pace_holds_across_messages),
           CHECK_TEST(read_responses_are_paced), CHECK_LOOP(queue_pairs_take_turns, 1, 9),
           CHECK_TEST(responses_and_requests_take_turns),
           CHECK_TEST(classes_share_by_deficit_round_robin), CHECK_TEST(pause_stops_its_class_only),
           CHECK_TEST(paused_queue_pair_says_so), CHECK_TEST(events_are_few),
           CHECK_TEST(the_ring_by_its_table_is_the_ring),
           CHECK_TEST(a_scheduler_of_ones_own_decides))
