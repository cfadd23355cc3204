// SPDX-License-Identifier: Apache-2.0
// Goal: a channel cuts messages into pieces, keeps within its window, sends immediate values with
// last pieces only, ends each message once and in its order, and keeps its rules after an error.
// Method: two hosts on a switch; messages are sent in an event, and what ended is compared with
// what was sent. A responder that accepts no packet makes the channel fail.
// Does not pin: times, which tests/apps/flows/test_app_transfer.c does.
#include "apps/channel/channel.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define MESSAGES 8u
#define PIECE 8192u
#define WINDOW 3u
#define RECEIVES 64u

typedef struct mine {
    app__message_t message; // first
    uint32_t number;
} mine_t;

typedef struct rig {
    world_t world;
    app__channel_t channel;
    app__channel_ops_t ops;
    app__pair_t pair;
    sim_timer_t timer;
    sim_timer_t cancel;
    mine_t messages[MESSAGES];
    uint32_t count;
    uint64_t bytes;
    uint64_t repetitions;
    uint64_t most; // repetitions that may begin
    nic_wr_opcode_t opcode;
    bool deaf; // the responder accepts nothing
    bool closes;
    uint32_t ended[MESSAGES]; // numbers of messages, in the order of their ends
    uint32_t ended_count;
    uint32_t words[RECEIVES];
    uint32_t word_count;
    uint64_t filled;
} rig_t;

static rig_t rig;

static void ended(app__channel_t *channel, app__message_t *message)
{
    ck_assert_ptr_eq(channel, message->channel);
    ck_assert_uint_eq(message->completed, message->posted);
    ck_assert_uint_lt(rig.ended_count, MESSAGES);
    rig.ended[rig.ended_count++] = SIM_CONTAINER_OF(message, mine_t, message)->number;
}

static void idle(app__channel_t *channel)
{
    ck_assert(app__channel_is_idle(channel));
    if (rig.closes) {
        app__channel_close(channel);
    }
}

static bool goes_on(const app__message_t *message)
{
    return message->posted / message->pieces < rig.most;
}

static void fill(const app__message_t *message, uint64_t at, nic_send_wr_t *wr)
{
    ck_assert_uint_lt(message->channel->outstanding, message->channel->window);
    ck_assert_uint_le(at + wr->sge.length, message->bytes);
    ck_assert_uint_le(wr->sge.length, PIECE);
    rig.filled += wr->sge.length;
}

static void start(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    (void)timer;
    app__channel_open(&rig.channel, &rig.ops, &rig.pair, WINDOW, PIECE);
    for (uint32_t i = 0; i < rig.count; i++) {
        rig.messages[i].number = i;
        app__message_init(&rig.messages[i].message, rig.bytes, rig.opcode);
        rig.messages[i].message.word = 100 + i;
        app__channel_send(&rig.channel, &rig.messages[i].message, rig.repetitions);
    }
}

static void cancel(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    (void)timer;
    rig.messages[0].message.cancelled = true;
}

// -- the responder

static sim_time_t from_ps(const void *owner, uint32_t interface, uint64_t offset)
{
    (void)owner;
    (void)interface;
    (void)offset;
    return rig.deaf ? SIM_TIME_NEVER : 0;
}

static void receive(const app__passive_t *passive, uint32_t count)
{
    app__qp_receive(passive->qp, passive->endpoint, (uint64_t)(uintptr_t)passive, APP__NO_BUFFER,
                    count);
}

static void accept(void *owner, app__endpoint_t *endpoint, uint64_t offset, app__passive_t *passive)
{
    (void)owner;
    (void)offset;
    ck_assert_ptr_eq(endpoint, rig.pair.ends[APP__RESPONDER]);
    passive->qp = app__pair_make(&rig.pair, APP__RESPONDER, 1, RECEIVES);
    receive(passive, RECEIVES);
}

static bool finished(void *owner, const app__passive_t *passive)
{
    (void)owner;
    (void)passive;
    return false;
}

static void received(void *owner, app__endpoint_t *endpoint, app__passive_t *passive,
                     const nic_wc_t *wc)
{
    (void)owner;
    (void)endpoint;
    rig.words[rig.word_count++ % RECEIVES] = wc->imm_data;
    receive(passive, 1);
}

static const app__range_ops_t range_ops = {
    .passive_from_ps = from_ps,
    .accept = accept,
    .finished = finished,
    .received = received,
};

static void rig_begin(uint32_t count, uint64_t bytes)
{
    rig = (rig_t){
        .ops = {.ended = ended, .idle = idle, .goes_on = goes_on, .fill = fill},
        .count = count,
        .bytes = bytes,
        .repetitions = 1,
        .most = UINT64_MAX,
        .opcode = NIC_WR_RDMA_WRITE_WITH_IMM,
    };
    world_init(&rig.world);
    world_build(&rig.world, "star", "hosts=2; rate=100Gbps");
    rig.pair = (app__pair_t){
        .access = NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ,
        .first_psn = ROCE_PSN_MASK - 2, // it wraps
        .priority = APP__AS_THE_NIC,
    };
    for (uint32_t i = 0; i < 2; i++) {
        app__endpoint_t *const endpoint = app__endpoint_of(rig.world.runtime, i);
        rig.pair.ends[i] = endpoint;
        rig.pair.numbers[i] = app__qp_number(app__reserve_qps(endpoint, &range_ops, &rig, 1));
        app__register_buffers(endpoint);
    }
    sim_timer_init(&rig.timer, start);
    sim_timer_init(&rig.cancel, cancel);
    sim_timer_arm(rig.pair.ends[APP__REQUESTER]->node, &rig.timer, SIM_PS_PER_US);
}

static void assert_order(const uint32_t *order, uint32_t count)
{
    ck_assert_uint_eq(rig.ended_count, count);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_eq(rig.ended[i], order[i]);
    }
}

START_TEST(messages_are_cut_and_end_in_order)
{
    static const uint32_t order[] = {0, 1, 2, 3};
    rig_begin(4, 5 * PIECE / 2);
    rig.closes = true;
    world_run(&rig.world);
    assert_order(order, 4);
    const uint64_t mtu_bytes = rig.world.nic.mtu_bytes;
    uint64_t psn = rig.pair.first_psn;
    for (uint32_t i = 0; i < 4; i++) {
        const app__message_t *const message = &rig.messages[i].message;
        ck_assert_uint_eq(message->count, 3);
        ck_assert_uint_eq(message->posted, 3);
        ck_assert_uint_eq(message->status, NIC_WC_SUCCESS);
        ck_assert_uint_eq(message->first_psn, psn);
        psn += (rig.bytes + mtu_bytes - 1) / mtu_bytes;
        ck_assert_uint_eq(rig.words[i], 100 + i);
    }
    ck_assert_uint_eq(rig.word_count, 4); // only last pieces have an immediate value
    ck_assert_uint_eq(rig.filled, 4 * rig.bytes);
    ck_assert_ptr_null(rig.channel.qp);
    ck_assert(!rig.channel.failed);
    world_fini(&rig.world);
}
END_TEST

START_TEST(repetitions_stop_between_messages)
{
    static const uint32_t order[] = {0};
    rig_begin(1, 2 * PIECE);
    rig.repetitions = 10;
    rig.most = 4;
    world_run(&rig.world);
    assert_order(order, 1);
    ck_assert_uint_eq(rig.messages[0].message.count, 20);
    ck_assert_uint_eq(rig.messages[0].message.posted, 8);
    ck_assert_uint_eq(rig.word_count, 4);
    ck_assert_uint_eq(rig.messages[0].message.status, NIC_WC_SUCCESS);
    world_fini(&rig.world);
}
END_TEST

START_TEST(a_cancelled_message_ends_with_what_is_posted)
{
    static const uint32_t order[] = {0, 1};
    rig_begin(2, 20 * PIECE);
    sim_timer_arm(rig.pair.ends[APP__REQUESTER]->node, &rig.cancel, SIM_PS_PER_US + 1);
    world_run(&rig.world);
    assert_order(order, 2);
    ck_assert_uint_eq(rig.messages[0].message.posted, WINDOW);
    ck_assert_uint_eq(rig.messages[1].message.posted, 20);
    ck_assert_uint_eq(rig.word_count, 1);
    world_fini(&rig.world);
}
END_TEST

// A message of 0 bytes is a piece, too.
START_TEST(empty_messages_are_sent)
{
    static const uint32_t order[] = {0, 1, 2, 3, 4};
    rig_begin(5, 0);
    world_run(&rig.world);
    assert_order(order, 5);
    ck_assert_uint_eq(rig.word_count, 5);
    world_fini(&rig.world);
}
END_TEST

// Three messages of two pieces and a window of three: the first is posted, the second half.
static void run_deaf(void)
{
    rig.deaf = true;
    world_run(&rig.world);
    ck_assert(rig.channel.failed);
    ck_assert_uint_eq(rig.messages[0].message.status, NIC_WC_RETRY_EXC_ERR);
    ck_assert_uint_eq(rig.messages[1].message.status, NIC_WC_WR_FLUSH_ERR);
    ck_assert_uint_eq(rig.messages[2].message.status, NIC_WC_WR_FLUSH_ERR);
}

// Posted pieces end with completions of their own, after the message that is not posted.
START_TEST(messages_that_are_not_posted_fail_at_once)
{
    static const uint32_t order[] = {2, 0, 1};
    rig_begin(3, 2 * PIECE);
    run_deaf();
    assert_order(order, 3);
    ck_assert_uint_eq(rig.messages[1].message.posted, 1);
    ck_assert_uint_eq(rig.messages[2].message.posted, 0);
    world_fini(&rig.world);
}
END_TEST

START_TEST(messages_that_are_not_posted_may_fail_in_order)
{
    static const uint32_t order[] = {0, 1, 2};
    rig_begin(3, 2 * PIECE);
    rig.ops.ends_in_order = true;
    run_deaf();
    assert_order(order, 3);
    ck_assert_uint_eq(rig.messages[2].message.posted, 0);
    world_fini(&rig.world);
}
END_TEST

START_TEST(the_nic_may_flush_all_messages)
{
    static const uint32_t order[] = {0, 1, 2};
    rig_begin(3, 2 * PIECE);
    rig.ops.posts_on = true;
    run_deaf();
    assert_order(order, 3);
    ck_assert_uint_eq(rig.messages[1].message.posted, 2);
    ck_assert_uint_eq(rig.messages[2].message.posted, 2);
    world_fini(&rig.world);
}
END_TEST

START_TEST(messages_can_be_taken_out_of_a_channel)
{
    rig_begin(4, 2 * PIECE);
    rig.world.options.until_ps = 2 * SIM_PS_PER_US;
    start(NULL, NULL); // before the run: two messages are posted, at least in part
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_ptr_eq(app__channel_take(&rig.channel), &rig.messages[i].message);
    }
    ck_assert_ptr_null(app__channel_take(&rig.channel));
    ck_assert(app__channel_is_idle(&rig.channel));
    app__channel_close(&rig.channel);
    sim_timer_cancel(rig.pair.ends[APP__REQUESTER]->node, &rig.timer);
    world_run(&rig.world);
    ck_assert_uint_eq(rig.word_count, 0);
    world_fini(&rig.world);
}
END_TEST

CHECK_MAIN(CHECK_TEST(messages_are_cut_and_end_in_order),
           CHECK_TEST(repetitions_stop_between_messages),
           CHECK_TEST(a_cancelled_message_ends_with_what_is_posted),
           CHECK_TEST(empty_messages_are_sent),
           CHECK_TEST(messages_that_are_not_posted_fail_at_once),
           CHECK_TEST(messages_that_are_not_posted_may_fail_in_order),
           CHECK_TEST(the_nic_may_flush_all_messages),
           CHECK_TEST(messages_can_be_taken_out_of_a_channel))
