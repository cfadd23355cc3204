// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_fifo.c - what kernel/order/fifo.h adds to ties by insertion.
//
// Goal: a wake gets the number its transmission kept for it, whenever it is asked for; a wake whose
// number is behind runs at once; a node can tell whether the end of its transmission has passed;
// numbers set aside are those of the timers armed with them; what was sent before the time limit
// and not read is seen; events that beget events at the same instant have their turns.
// Method: nodes that write into one stream, which comes in the order of events; each case where one
// thread and where two are asked for, over times of three sizes.
// (tests/kernel/test_sim.c compares random networks with a naive list.)
// Not pinned: the numbers themselves.
#include "kernel/order/fifo.h"

#include <string.h>

#include "kernel/record.h"
#include "tests/check_main.h"

typedef struct logbook {
    sim_stream_t *stream;
    char text[1024];
} logbook_t;

typedef struct actor {
    sim_node_t node; // first
    logbook_t *log;
    const char *name;
    sim_channel_t *out;
    sim_timer_t timers[3];
    sim_time_t send_ps; // when the timer fires: its message arrives then
    sim_time_t wake_ps; // and it asks for a wake at port 0 then; 0: it does not
    bool passed_before; // sim_fifo_passed as its message arrives elsewhere...
    bool ask;           // it notes that when a message arrives
    uint32_t chain;     // turns left
} actor_t;

static void hear(sim_time_t time_ps, uint32_t node_index, const void *record, size_t record_bytes,
                 void *ctx)
{
    (void)time_ps;
    (void)node_index;
    (void)record_bytes;
    logbook_t *const log = ctx;
    const size_t length = strlen(log->text);
    (void)snprintf(log->text + length, sizeof(log->text) - length, "%s%s", length > 0 ? " " : "",
                   (const char *)record);
}

static void note(actor_t *actor, const char *what)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%s%s", actor->name, what);
    char *const record =
        sim_stream_put(actor->log->stream, &actor->node, actor->node.now_ps, sizeof(text));
    memcpy(record, text, sizeof(text));
}

static void actor_run(sim_node_t *node)
{
    actor_t *const actor = (actor_t *)(void *)node;
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        switch (event.kind) {
        case SIM_EVENT_ARRIVAL:
            note(actor, event.port == 0 ? ":arrival0" : ":arrival1");
            if (actor->ask) {
                actor->passed_before = sim_fifo_passed(node, 0);
            }
            break;
        case SIM_EVENT_WAKE:
            note(actor, ":wake");
            break;
        case SIM_EVENT_TIMER:
            event.timer->fn(node, event.timer);
            break;
        }
    }
}

static void actor_destroy(sim_node_t *node)
{
    sim_free(node);
}

static const sim_node_ops_t actor_ops = {
    .kind = "actor",
    .run = actor_run,
    .destroy = actor_destroy,
};

static void send_fired(sim_node_t *node, sim_timer_t *timer)
{
    static int message;
    actor_t *const actor = SIM_CONTAINER_OF(timer, actor_t, timers[0]);
    note(actor, ":send");
    sim_send(node, actor->out, actor->send_ps, &message);
}

static void wake_fired(sim_node_t *node, sim_timer_t *timer)
{
    actor_t *const actor = SIM_CONTAINER_OF(timer, actor_t, timers[1]);
    note(actor, ":ask");
    sim_wake(node, actor->wake_ps, 0);
}

static void plain_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    note(SIM_CONTAINER_OF(timer, actor_t, timers[2]), ":timer");
}

static actor_t *actor_of(sim_t *sim, logbook_t *log, const char *name)
{
    actor_t *const actor = sim_alloc(sizeof(*actor));
    sim_node_register(sim, &actor->node, &actor_ops, name);
    actor->log = log;
    actor->name = name;
    sim_timer_init(&actor->timers[0], send_fired);
    sim_timer_init(&actor->timers[1], wake_fired);
    sim_timer_init(&actor->timers[2], plain_fired);
    return actor;
}

// Times are in a unit: with the first all is in a bucket or two of the list, and links are too
// short for a window; with the last, all but what is near lies beyond a turn of its buckets.
static const sim_time_t units_ps[] = {1, 200, 20000};
#define VARIANTS 6
#define THREADS_OF(variant) (1u + (unsigned)(variant) % 2)
#define UNIT_PS_OF(variant) units_ps[(variant) / 2]

static sim_t *fifo_sim(logbook_t *log, int variant, sim_time_t until_ps)
{
    sim_t *const sim = sim_create(&(sim_options_t){.seed = 1,
                                                   .threads = THREADS_OF(variant),
                                                   .fifo_ties = true,
                                                   .until_ps = until_ps});
    *log = (logbook_t){.stream = sim_stream_create(sim, hear, log)};
    return sim;
}

// a sends at 100 and b at 150; both messages arrive at c at 2000. A wake at 2000 that a asks for at
// 160 runs before both arrivals. b reserves no number, so its wake runs after them.
START_TEST(a_wake_has_the_place_of_its_transmission)
{
    const sim_time_t unit_ps = UNIT_PS_OF(_i);
    logbook_t log;
    sim_t *const sim = fifo_sim(&log, _i, SIM_TIME_NEVER);
    actor_t *const a = actor_of(sim, &log, "a");
    actor_t *const b = actor_of(sim, &log, "b");
    actor_t *const c = actor_of(sim, &log, "c");
    a->out = sim_channel_create(sim, &a->node, &c->node, 0, 1000 * unit_ps);
    b->out = sim_channel_create(sim, &b->node, &c->node, 1, 1000 * unit_ps);
    sim_channel_keeps_number(&a->node, a->out, 0);
    a->send_ps = b->send_ps = a->wake_ps = b->wake_ps = 2000 * unit_ps;
    sim_timer_arm(&a->node, &a->timers[0], 100 * unit_ps);
    sim_timer_arm(&b->node, &b->timers[0], 150 * unit_ps);
    sim_timer_arm(&b->node, &b->timers[1], 155 * unit_ps);
    sim_timer_arm(&a->node, &a->timers[1], 160 * unit_ps);
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_str_eq(log.text, "a:send b:send b:ask a:ask a:wake c:arrival0 c:arrival1 b:wake");
    sim_destroy(sim);
}
END_TEST

// Checks the order at 2000, when a's own transmission ends and a message from c arrives at a.
// Whichever was scheduled first comes first; a wake asked for then runs at once or in its place.
static void at_the_end(int variant, sim_time_t own_send, bool passed, const char *expected)
{
    const sim_time_t unit_ps = UNIT_PS_OF(variant);
    logbook_t log;
    sim_t *const sim = fifo_sim(&log, variant, SIM_TIME_NEVER);
    actor_t *const a = actor_of(sim, &log, "a");
    actor_t *const c = actor_of(sim, &log, "c");
    a->out = sim_channel_create(sim, &a->node, &c->node, 0, 1000 * unit_ps);
    c->out = sim_channel_create(sim, &c->node, &a->node, 0, 1000 * unit_ps);
    sim_channel_keeps_number(&a->node, a->out, 0);
    a->send_ps = 5000 * unit_ps;
    c->send_ps = a->wake_ps = 2000 * unit_ps;
    a->ask = true;
    sim_timer_arm(&c->node, &c->timers[0], 500 * unit_ps);
    sim_timer_arm(&a->node, &a->timers[0], own_send * unit_ps);
    sim_timer_arm(&a->node, &a->timers[1], 2000 * unit_ps);
    sim_timer_arm(&a->node, &a->timers[2], 2000 * unit_ps);
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_str_eq(log.text, expected);
    ck_assert_int_eq(a->passed_before, passed);
    sim_destroy(sim);
}

START_TEST(the_end_of_a_transmission_has_its_place)
{
    // The timers at 2000 were armed first; then follow the reserved number and c's message.
    at_the_end(_i, 400, true, "a:send c:send a:ask a:timer a:wake a:arrival0 c:arrival0");
    at_the_end(_i, 600, false, "c:send a:send a:ask a:timer a:arrival0 a:wake c:arrival0");
}
END_TEST

START_TEST(timers_take_numbers_set_aside)
{
    logbook_t log;
    sim_t *const sim = fifo_sim(&log, _i, SIM_TIME_NEVER);
    actor_t *const a = actor_of(sim, &log, "a");
    actor_t *const b = actor_of(sim, &log, "b");
    actor_t *const c = actor_of(sim, &log, "c");
    const uint64_t first = sim_fifo_reserve(sim, 2);
    ck_assert_uint_gt(first, 0);
    sim_timer_arm(&c->node, &c->timers[2], 700);
    sim_fifo_arm(&a->node, &a->timers[2], 700, first + 1);
    sim_fifo_arm(&b->node, &b->timers[2], 700, first);
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_str_eq(log.text, "b:timer a:timer c:timer");
    sim_destroy(sim);

    sim_t *const hashed = sim_create(&(sim_options_t){.threads = 1, .until_ps = SIM_TIME_NEVER});
    ck_assert_uint_eq(sim_fifo_reserve(hashed, 2), 0);
    sim_destroy(hashed);
}
END_TEST

START_TEST(the_limit_leaves_messages)
{
    for (int early = 0; early < 2; early++) {
        const sim_time_t unit_ps = UNIT_PS_OF(_i);
        logbook_t log;
        sim_t *const sim = fifo_sim(&log, _i, 2000 * unit_ps + (early ? 0 : 1));
        actor_t *const a = actor_of(sim, &log, "a");
        actor_t *const c = actor_of(sim, &log, "c");
        a->out = sim_channel_create(sim, &a->node, &c->node, 0, 1000 * unit_ps);
        a->send_ps = 2000 * unit_ps;
        sim_timer_arm(&a->node, &a->timers[0], 100 * unit_ps);
        ck_assert_int_eq(sim_run(sim), early ? SIM_ENDED_UNTIL : SIM_ENDED_DONE);
        ck_assert_str_eq(log.text, early ? "a:send" : "a:send c:arrival0");
        sim_destroy(sim);
    }
}
END_TEST

// Chains of timers at no distance, in many nodes at once: turns of one instant go round.
#define CROWD 40
static void chain_fired(sim_node_t *node, sim_timer_t *timer)
{
    actor_t *const actor = SIM_CONTAINER_OF(timer, actor_t, timers[0]);
    note(actor, "");
    if (actor->chain-- > 1) {
        sim_timer_arm(node, timer, node->now_ps);
    }
}

START_TEST(turns_at_one_instant)
{
    logbook_t log;
    sim_t *const sim = fifo_sim(&log, _i, SIM_TIME_NEVER);
    actor_t *actors[CROWD];
    char names[CROWD][4];
    char expected[sizeof(log.text)] = "";
    // Nodes in one order, their timers in another; one in three has three turns, the others two.
    for (uint32_t n = 0; n < CROWD; n++) {
        (void)snprintf(names[n], sizeof(names[n]), "%u", n);
        actors[n] = actor_of(sim, &log, names[n]);
        actors[n]->chain = n % 3 == 0 ? 3 : 2;
        actors[n]->timers[0].fn = chain_fired;
        if (n > 0) {
            (void)sim_channel_create(sim, &actors[n - 1]->node, &actors[n]->node, 0,
                                     1000 * UNIT_PS_OF(_i));
        }
    }
    for (uint32_t n = 0; n < CROWD; n++) {
        sim_timer_arm(&actors[n * 7 % CROWD]->node, &actors[n * 7 % CROWD]->timers[0], 500);
    }
    for (uint32_t turn = 0; turn < 3; turn++) {
        for (uint32_t n = 0; n < CROWD; n++) {
            if (turn < (n * 7 % CROWD % 3 == 0 ? 3 : 2)) {
                const size_t length = strlen(expected);
                (void)snprintf(expected + length, sizeof(expected) - length, "%s%u",
                               length > 0 ? " " : "", n * 7 % CROWD);
            }
        }
    }
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_str_eq(log.text, expected);
    sim_destroy(sim);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(a_wake_has_the_place_of_its_transmission, 0, VARIANTS),
           CHECK_LOOP(the_end_of_a_transmission_has_its_place, 0, VARIANTS),
           CHECK_LOOP(timers_take_numbers_set_aside, 0, VARIANTS),
           CHECK_LOOP(the_limit_leaves_messages, 0, VARIANTS),
           CHECK_LOOP(turns_at_one_instant, 0, VARIANTS))
