// SPDX-License-Identifier: Apache-2.0
// labels: threads
// tests/kernel/test_run_end.c - a run ends at its last event, or where it makes no progress.
//
// Goal: a run ends at its last event, also for who samples it: a timer that was armed for later and
// cancelled leaves no window behind in which time would be seen to pass.
// Method: two or three nodes post messages around a ring; each message arms a timer of its receiver
// for some while after the last one, and the last that the node gets cancels it. Times from within
// the window of the last event to beyond all slots; windows in two colours, in one (an odd cycle),
// one unit, ties by insertion in one list and in windows; 1 to 3 threads. A run with work and no
// progress is a stall: one node with one timer, which works for ever or has long pauses. The digest
// of the run is the sum of those of nodes whose values are mixed in here one by one.
// Not pinned: background timers (test_background.c).
#include "tests/check_main.h"

#include "kernel/event.h"
#include "kernel/order/fifo.h"

#define NODES 3u
#define MESSAGES 6u
#define PERIOD_PS (SIM_PS_PER_US / 8)

typedef struct letter {
    uint64_t of_engine; // while it is on its way
    uint64_t left;
} letter_t;

typedef struct side {
    sim_node_t node;                // first
    letter_t letters[MESSAGES + 1]; // by `left`
    sim_channel_t *next;
    sim_timer_t start;
    sim_timer_t late; // never fires
    sim_time_t late_ps;
    uint64_t nodes;        // of the ring
    sim_time_t sampled_ps; // last
    uint64_t samples;
} side_t;

static void post(side_t *side, uint64_t left)
{
    if (left > 0) {
        letter_t *const letter = &side->letters[left];
        letter->left = left;
        sim_send(&side->node, side->next, side->node.now_ps + 3 * SIM_PS_PER_US / 2, letter);
    }
}

static void started(sim_node_t *node, sim_timer_t *timer)
{
    (void)timer;
    post((side_t *)(void *)node, MESSAGES);
}

static void too_late(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    (void)timer;
    ck_abort_msg("a timer that was cancelled fires");
}

static void arrived(side_t *side, uint64_t left)
{
    if (left <= side->nodes) { // it gets no more of them
        sim_timer_cancel(&side->node, &side->late);
    } else {
        // The timer is armed for a moment that is nearer to the end each time.
        sim_timer_arm(&side->node, &side->late,
                      side->node.now_ps + (left - 1) * 3 * SIM_PS_PER_US / 2 + side->late_ps);
    }
    post(side, left - 1);
}

static void arrive(sim_node_t *node, uint32_t port, void *message)
{
    (void)port;
    arrived((side_t *)(void *)node, ((const letter_t *)message)->left);
}

static void take(sim_node_t *node, const sim_event_t *event)
{
    if (event->kind == SIM_EVENT_TIMER) {
        event->timer->fn(node, event->timer);
    } else if (event->kind == SIM_EVENT_ARRIVAL) {
        arrive(node, event->port, event->message);
    }
}

static void run(sim_node_t *node)
{
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        take(node, &event);
    }
}

static void destroy(sim_node_t *node)
{
    sim_free(node);
}

static const sim_node_ops_t ops = {.kind = "side", .run = run, .destroy = destroy};
static const sim_node_ops_t taking_ops = {.kind = "side",
                                          .run = run,
                                          .arrive = arrive,
                                          .take = take,
                                          .destroy = destroy};

static void sample(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    side_t *const side = ctx;
    ck_assert_uint_eq(time_ps, side->samples * PERIOD_PS);
    side->samples++;
    side->sampled_ps = time_ps;
}

typedef struct shape {
    uint32_t nodes;      // of a ring: an odd one has no two colours
    sim_time_t delay_ps; // the least there is
    bool fifo;
    bool takes; // event by event: in windows, if `fifo`
} shape_t;
static const shape_t shapes[] = {
    {2, SIM_PS_PER_US, false, false}, {3, SIM_PS_PER_US, false, false},
    {3, SIM_PS_PER_NS, false, false}, {2, SIM_PS_PER_US, true, false},
    {3, SIM_PS_PER_US, true, true},
};
#define SHAPES ((int)SIM_COUNT_OF(shapes))

static void check(shape_t shape, unsigned threads, sim_time_t late_ps)
{
    sim_t *const sim = sim_create(
        &(sim_options_t){.threads = threads, .until_ps = SIM_TIME_NEVER, .fifo_ties = shape.fifo});
    side_t *sides[NODES];
    for (uint32_t i = 0; i < shape.nodes; i++) {
        sides[i] = sim_alloc_lines(sizeof(*sides[i]));
        sim_node_register(sim, &sides[i]->node, shape.takes ? &taking_ops : &ops, "side");
        sim_timer_init(&sides[i]->start, started);
        sim_timer_init(&sides[i]->late, too_late);
        sides[i]->late_ps = late_ps;
        sides[i]->nodes = shape.nodes;
        sim_sample(sim, &sides[i]->node, 0, PERIOD_PS, sample, sides[i]);
    }
    for (uint32_t i = 0; i < shape.nodes; i++) {
        sim_node_t *const next = &sides[(i + 1) % shape.nodes]->node;
        sides[i]->next = sim_channel_create(sim, &sides[i]->node, next, 0, shape.delay_ps);
    }
    sim_timer_arm(&sides[0]->node, &sides[0]->start, 0);
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert(sim_had_one_list(sim) == (shape.fifo && !shape.takes));
    const sim_time_t end_ps = MESSAGES * 3 * SIM_PS_PER_US / 2;
    ck_assert_uint_eq(sim_end_time_ps(sim), end_ps);
    for (uint32_t i = 0; i < shape.nodes; i++) {
        ck_assert_uint_le(sides[i]->sampled_ps, end_ps);
        ck_assert_uint_ge(sides[i]->sampled_ps + PERIOD_PS, end_ps);
    }
    sim_destroy(sim);
}

START_TEST(samplers_see_no_time_after_the_last_event)
{
    for (sim_time_t late_ps = SIM_PS_PER_US / 4; late_ps < 24 * SIM_PS_PER_US;
         late_ps += check_few(1, 6) * SIM_PS_PER_US / 2) {
        check(shapes[_i % SHAPES], 1 + (unsigned)(_i / SHAPES), late_ps);
    }
}
END_TEST

// -- stalls

typedef struct clock_node {
    sim_node_t node; // first
    sim_timer_t timer;
} clock_node_t;

static void clock_run(sim_node_t *node)
{
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        ck_assert_int_eq(event.kind, SIM_EVENT_TIMER);
        event.timer->fn(node, event.timer);
    }
}

static void clock_destroy(sim_node_t *node)
{
    sim_free(node);
}

// Creates a simulation that stalls after 1 ms, with a node whose timer fires first at first_ps.
static clock_node_t *clock_create(sim_timer_fn fired, sim_time_t first_ps)
{
    static const sim_node_ops_t clock_ops = {.kind = "clock",
                                             .run = clock_run,
                                             .destroy = clock_destroy};
    sim_t *const sim = sim_create(
        &(sim_options_t){.threads = 1, .until_ps = SIM_PS_PER_S, .stall_ps = SIM_PS_PER_MS});
    clock_node_t *const clock = sim_alloc(sizeof(*clock));
    sim_node_register(sim, &clock->node, &clock_ops, "clock");
    sim_timer_init(&clock->timer, fired);
    sim_timer_arm(&clock->node, &clock->timer, first_ps);
    return clock;
}

static void rearm(sim_node_t *node, sim_timer_t *timer)
{
    sim_timer_arm(node, timer, node->now_ps + 10 * SIM_PS_PER_US);
}

START_TEST(busy_without_progress_is_a_stall)
{
    clock_node_t *const clock = clock_create(rearm, 0);
    sim_t *const sim = clock->node.sim;
    sim_work_begin(&clock->node, 1);
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_STALLED);
    ck_assert_uint_ge(sim_end_time_ps(sim), SIM_PS_PER_MS / 2);
    ck_assert_uint_le(sim_end_time_ps(sim), 2 * SIM_PS_PER_MS);
    sim_destroy(sim);
}
END_TEST

static void begin_or_end(sim_node_t *node, sim_timer_t *timer)
{
    if (node->worker->work_count == 0) {
        sim_work_begin(node, 1);
        sim_timer_arm(node, timer, node->now_ps + 900 * SIM_PS_PER_US);
        return;
    }
    sim_work_end(node, 1);
    if (node->now_ps < 100 * SIM_PS_PER_MS) {
        sim_timer_arm(node, timer, node->now_ps + 10 * SIM_PS_PER_MS);
    }
}

// A node works for 0.9 ms after 10 ms of nothing to do, again and again.
START_TEST(silence_without_work_is_no_stall)
{
    sim_t *const sim = clock_create(begin_or_end, 10 * SIM_PS_PER_MS)->node.sim;
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_uint_gt(sim_end_time_ps(sim), 100 * SIM_PS_PER_MS);
    sim_destroy(sim);
}
END_TEST

// -- digests

// Values of nodes: none, few, and more than can wait.
#define COUNTS 7u
static const uint32_t counts[COUNTS] = {3, 0, 4094, 4095, 10000, 5, 9000};

static void add_values(const sim_node_t *node, sim_digest_t *digest)
{
    for (uint32_t i = 0; i < counts[node->index]; i++) {
        sim_digest_add(digest, sim_mix64(i) + node->index);
    }
}

static const sim_node_ops_t count_ops = {.kind = "counts",
                                         .run = clock_run,
                                         .digest = add_values,
                                         .destroy = clock_destroy};

START_TEST(digest_is_that_of_single_values)
{
    sim_t *const sim = sim_create(
        &(sim_options_t){.seed = 1, .threads = (unsigned)_i, .until_ps = SIM_TIME_NEVER});
    uint64_t expected = 0;
    for (uint32_t n = 0; n < COUNTS; n++) {
        sim_node_t *const node = sim_alloc(sizeof(*node));
        sim_node_register(sim, node, &count_ops, "node");
        sim_digest_t digest = {.value = sim_mix64((uint64_t)n + 1)};
        sim_digest_add(&digest, 0); // arrivals
        sim_digest_add(&digest, 0); // what happened
        add_values(node, &digest);
        expected += digest.value;
    }
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(sim_digest(sim), expected);
    sim_destroy(sim);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(samplers_see_no_time_after_the_last_event, 0, 3 * SHAPES),
           CHECK_TEST(busy_without_progress_is_a_stall),
           CHECK_TEST(silence_without_work_is_no_stall),
           CHECK_LOOP(digest_is_that_of_single_values, 1, 4))
