// SPDX-License-Identifier: Apache-2.0
// labels: threads
// tests/kernel/test_background.c - background timers happen while the run lives, and do not keep it
// alive.
//
// Goal: a run ends at its last event whatever background timers are armed, with the same digest,
// events, end and records as without them; until then each fires at its time, also while all there
// is to come is a message on a long link; one that work waits for fires, however late.
// Method: two nodes that post each other a given number of messages, with background timers before,
// between and after them, on 1 and 2 threads, and in one unit.
// Not pinned: whether a background timer fires that shares a window with the last event.
#include "tests/check_main.h"

#include "kernel/event.h"
#include "kernel/record.h"

#define BACKGROUND_MAX 4u

typedef struct pair pair_t;
typedef struct side {
    sim_node_t node; // first
    pair_t *pair;
    sim_channel_t *channel;
    sim_timer_t start;
    sim_timer_t background[BACKGROUND_MAX];
    uint32_t fired[BACKGROUND_MAX];
    bool works; // its background timers end a piece of work
} side_t;

struct pair {
    sim_t *sim;
    side_t *sides[2];
    sim_time_t delay_ps;
    uint64_t messages;
    uint64_t records;
    sim_time_t last_record_ps;
    sim_stream_t *stream;
};

static void note(side_t *side)
{
    *(char *)sim_stream_put(side->pair->stream, &side->node, side->node.now_ps, 1) = 'x';
}

static void post(side_t *side, uint64_t left)
{
    if (left > 0) {
        sim_send(&side->node, side->channel, side->node.now_ps + side->pair->delay_ps,
                 (void *)(uintptr_t)left);
    }
}

static void started(sim_node_t *node, sim_timer_t *timer)
{
    side_t *const side = SIM_CONTAINER_OF(timer, side_t, start);
    SIM_CHECK(&side->node == node);
    post(side, side->pair->messages);
}

static void in_background(sim_node_t *node, sim_timer_t *timer)
{
    side_t *const side = (side_t *)(void *)node;
    side->fired[timer - side->background]++;
    note(side);
    if (side->works) {
        sim_work_end(node, 1);
    }
}

static void run(sim_node_t *node)
{
    side_t *const side = (side_t *)(void *)node;
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        if (event.kind == SIM_EVENT_TIMER) {
            event.timer->fn(node, event.timer);
        } else if (event.kind == SIM_EVENT_ARRIVAL) {
            note(side);
            post(side, (uint64_t)(uintptr_t)event.message - 1);
        }
    }
}

static void destroy(sim_node_t *node)
{
    sim_free(node);
}

static const sim_node_ops_t ops = {.kind = "side", .run = run, .destroy = destroy};

static void hear(sim_time_t time_ps, uint32_t node_index, const void *record, size_t record_bytes,
                 void *ctx)
{
    (void)node_index;
    (void)record;
    (void)record_bytes;
    pair_t *const pair = ctx;
    pair->records++;
    pair->last_record_ps = time_ps;
}

typedef struct shape {
    sim_time_t delay_ps;
    unsigned threads;
} shape_t;
// Shapes of the pair: in two units, in two units on two threads, in one unit, over the far path,
// and over the far path on two threads.
static const shape_t shapes[] = {
    {SIM_PS_PER_US, 1},      {SIM_PS_PER_US, 2},      {SIM_PS_PER_NS, 1},
    {10 * SIM_PS_PER_MS, 1}, {10 * SIM_PS_PER_MS, 2},
};

static void make(pair_t *pair, shape_t shape, uint64_t messages, sim_time_t until_ps)
{
    *pair = (pair_t){.delay_ps = shape.delay_ps, .messages = messages};
    pair->sim = sim_create(
        &(sim_options_t){.threads = shape.threads, .until_ps = until_ps, .stall_ps = SIM_PS_PER_S});
    pair->stream = sim_stream_create(pair->sim, hear, pair);
    for (int i = 0; i < 2; i++) {
        side_t *const side = sim_alloc_lines(sizeof(*side));
        sim_node_register(pair->sim, &side->node, &ops, i == 0 ? "left" : "right");
        side->pair = pair;
        sim_timer_init(&side->start, started);
        for (uint32_t b = 0; b < BACKGROUND_MAX; b++) {
            sim_timer_init_background(&side->background[b], in_background);
        }
        pair->sides[i] = side;
    }
    for (int i = 0; i < 2; i++) {
        pair->sides[i]->channel = sim_channel_create(pair->sim, &pair->sides[i]->node,
                                                     &pair->sides[1 - i]->node, 0, shape.delay_ps);
    }
    if (messages > 0) {
        sim_timer_arm(&pair->sides[0]->node, &pair->sides[0]->start, 0);
    }
}

static void arm(side_t *side, uint32_t timer, sim_time_t time_ps)
{
    sim_timer_arm(&side->node, &side->background[timer], time_ps);
}

START_TEST(nothing_else_is_done_at_once)
{
    pair_t pair;
    make(&pair, shapes[_i], 0, SIM_TIME_NEVER);
    arm(pair.sides[0], 0, 0);
    arm(pair.sides[1], 0, SIM_PS_PER_S);
    ck_assert_int_eq(sim_run(pair.sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(sim_end_time_ps(pair.sim), 0);
    ck_assert_uint_eq(sim_events(pair.sim), 0);
    ck_assert_uint_eq(pair.sides[0]->fired[0] + pair.sides[1]->fired[0], 0);
    sim_destroy(pair.sim);
}
END_TEST

START_TEST(the_run_ends_at_its_last_event)
{
    const uint64_t messages = 9;
    const sim_time_t delay_ps = shapes[_i].delay_ps;
    pair_t plain;
    make(&plain, shapes[_i], messages, SIM_TIME_NEVER);
    ck_assert_int_eq(sim_run(plain.sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(sim_end_time_ps(plain.sim), messages * delay_ps);

    pair_t pair;
    make(&pair, shapes[_i], messages, SIM_TIME_NEVER);
    arm(pair.sides[0], 0, 0);
    arm(pair.sides[0], 1, 3 * delay_ps + delay_ps / 3); // while only a message is on its way
    arm(pair.sides[1], 1, 5 * delay_ps);                // at the instant of an event elsewhere
    arm(pair.sides[0], 2, messages * delay_ps + 1);     // perhaps in the last window
    arm(pair.sides[1], 2, messages * delay_ps + 2);
    arm(pair.sides[0], 3, messages * delay_ps + SIM_PS_PER_S);
    arm(pair.sides[1], 3, messages * delay_ps + SIM_PS_PER_S);
    ck_assert_int_eq(sim_run(pair.sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(pair.sides[0]->fired[0], 1);
    ck_assert_uint_eq(pair.sides[0]->fired[1], 1);
    ck_assert_uint_eq(pair.sides[1]->fired[1], 1);
    ck_assert_uint_eq(pair.sides[0]->fired[3] + pair.sides[1]->fired[3], 0);
    ck_assert_uint_eq(sim_end_time_ps(pair.sim), messages * delay_ps);
    ck_assert_uint_eq(sim_events(pair.sim), sim_events(plain.sim));
    ck_assert_uint_eq(sim_digest(pair.sim), sim_digest(plain.sim));
    ck_assert_uint_eq(pair.records, plain.records + 3);
    ck_assert_uint_eq(pair.last_record_ps, messages * delay_ps);
    sim_destroy(plain.sim);
    sim_destroy(pair.sim);
}
END_TEST

// Background timers that are cancelled or moved leave the count of background timers right.
START_TEST(moved_and_cancelled)
{
    pair_t pair;
    make(&pair, shapes[_i], 4, SIM_TIME_NEVER);
    for (uint32_t b = 0; b < BACKGROUND_MAX; b++) {
        arm(pair.sides[1], b, SIM_PS_PER_S);
    }
    arm(pair.sides[1], 1, shapes[_i].delay_ps);
    sim_timer_cancel(&pair.sides[1]->node, &pair.sides[1]->background[2]);
    sim_timer_cancel(&pair.sides[1]->node, &pair.sides[1]->background[2]);
    ck_assert_uint_eq(pair.sides[1]->node.armed[SIM_TIMER_BACKGROUND], BACKGROUND_MAX - 1);
    ck_assert_int_eq(sim_run(pair.sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(pair.sides[1]->fired[1], 1);
    ck_assert_uint_eq(pair.sides[1]->node.armed[SIM_TIMER_BACKGROUND], 2);
    ck_assert_uint_eq(sim_end_time_ps(pair.sim), 4 * shapes[_i].delay_ps);
    sim_destroy(pair.sim);
}
END_TEST

START_TEST(work_waits_for_them)
{
    pair_t pair;
    make(&pair, shapes[_i], 1, SIM_TIME_NEVER);
    pair.sides[1]->works = true;
    sim_work_begin(&pair.sides[1]->node, 1);
    arm(pair.sides[0], 0, SIM_PS_PER_S);
    arm(pair.sides[1], 0, 2 * SIM_PS_PER_S);
    arm(pair.sides[0], 1, 3 * SIM_PS_PER_S);
    ck_assert_int_eq(sim_run(pair.sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(pair.sides[0]->fired[0], 1);
    ck_assert_uint_eq(pair.sides[1]->fired[0], 1);
    ck_assert_uint_eq(pair.sides[0]->fired[1], 0);
    sim_destroy(pair.sim);
}
END_TEST

START_TEST(work_that_none_of_them_ends_is_a_stall)
{
    pair_t pair;
    make(&pair, shapes[_i], 1, SIM_TIME_NEVER);
    sim_work_begin(&pair.sides[1]->node, 1);
    arm(pair.sides[0], 0, 2 * SIM_PS_PER_S);
    ck_assert_int_eq(sim_run(pair.sim), SIM_ENDED_STALLED);
    ck_assert_uint_eq(pair.sides[0]->fired[0], 1);
    ck_assert_uint_eq(sim_end_time_ps(pair.sim), 2 * SIM_PS_PER_S);
    ck_assert_uint_eq(pair.last_record_ps, 2 * SIM_PS_PER_S);
    sim_destroy(pair.sim);
}
END_TEST

// Timers beyond the time limit do not fire. The run reports that it reached its limit only if some
// work waited for them.
START_TEST(the_limit)
{
    for (int waiting = 0; waiting < 2; waiting++) {
        pair_t pair;
        make(&pair, shapes[_i], 1, SIM_PS_PER_S);
        if (waiting) {
            sim_work_begin(&pair.sides[1]->node, 1);
        }
        arm(pair.sides[0], 0, 2 * SIM_PS_PER_S);
        ck_assert_int_eq(sim_run(pair.sim), waiting ? SIM_ENDED_UNTIL : SIM_ENDED_DONE);
        ck_assert_uint_eq(sim_end_time_ps(pair.sim), waiting ? SIM_PS_PER_S : shapes[_i].delay_ps);
        sim_destroy(pair.sim);
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP(nothing_else_is_done_at_once, 0, (int)SIM_COUNT_OF(shapes)),
           CHECK_LOOP(the_run_ends_at_its_last_event, 0, (int)SIM_COUNT_OF(shapes)),
           CHECK_LOOP(moved_and_cancelled, 0, (int)SIM_COUNT_OF(shapes)),
           CHECK_LOOP(work_waits_for_them, 0, (int)SIM_COUNT_OF(shapes)),
           CHECK_LOOP(work_that_none_of_them_ends_is_a_stall, 0, (int)SIM_COUNT_OF(shapes)),
           CHECK_LOOP(the_limit, 0, (int)SIM_COUNT_OF(shapes)))
