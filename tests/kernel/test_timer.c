// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_timer.c - arming, re-arming and cancelling timers, against a naive list.
//
// Goal: timers fire in the order (time, armed last), once, at their time; re-arming moves them;
// cancelled ones never fire; any number is possible; freeing and re-arming from the callback works.
// Method: random operations on up to thousands of timers of one node, on a reference that searches
// a plain array, comparing every firing and every read of a time; the same on nodes with a wheel
// (kernel/engine/timers/wheel.h), with deadlines within its turn, beyond it, crowded in one bucket,
// and equally far beyond it, in the order in which they are armed.
// Not pinned: cost; order against arrivals and wakes (test_sim.c).
#include "kernel/timer.h"

#include <sys/wait.h>
#include <unistd.h>

#include "kernel/engine/timers/wheel.h"
#include "kernel/event.h"
#include "kernel/random.h"
#include "tests/check_main.h"

#define TIMERS_MAX 5000u

typedef struct model {
    sim_time_t time_ps;
    uint64_t sequence;
    bool armed;
} model_t;

typedef struct clockwork {
    sim_node_t node; // first
    sim_timer_t timers[TIMERS_MAX];
    model_t model[TIMERS_MAX];
    uint32_t count;
    uint64_t sequence;
    uint64_t fired;
    uint64_t budget; // operations left
    sim_random_t random;
    sim_time_t spread_ps; // deadlines lie within this
    sim_time_t far_ps;    // and every other one so far beyond that; 0: none
    uint32_t wheel_max;   // timers there when one fired, at most
    uint32_t late_max;    // of those, in the list of late ones
    uint32_t heap_max;
} clockwork_t;

static void arm(clockwork_t *clockwork, uint32_t i, sim_time_t time_ps)
{
    sim_timer_arm(&clockwork->node, &clockwork->timers[i], time_ps);
    clockwork->model[i] = (model_t){time_ps, clockwork->sequence++, true};
}

// Draws how long from now a timer fires.
static sim_time_t draw_deadline(clockwork_t *clockwork)
{
    if (clockwork->far_ps != 0 && sim_random_below(&clockwork->random, 2) == 0) {
        return clockwork->far_ps;
    }
    return sim_random_below(&clockwork->random, clockwork->spread_ps);
}

static void operate(clockwork_t *clockwork)
{
    const uint32_t i = (uint32_t)sim_random_below(&clockwork->random, clockwork->count);
    const sim_time_t now_ps = clockwork->node.now_ps;
    SIM_CHECK(sim_timer_armed(&clockwork->timers[i]) == clockwork->model[i].armed);
    if (clockwork->model[i].armed) {
        SIM_CHECK(sim_timer_time_ps(&clockwork->node, &clockwork->timers[i]) ==
                  clockwork->model[i].time_ps);
    }
    if (sim_random_below(&clockwork->random, 4) == 0) {
        sim_timer_cancel(&clockwork->node, &clockwork->timers[i]);
        clockwork->model[i].armed = false;
    } else {
        arm(clockwork, i, now_ps + draw_deadline(clockwork));
    }
}

static void fired(sim_node_t *node, sim_timer_t *timer)
{
    clockwork_t *const clockwork = (clockwork_t *)(void *)node;
    const uint32_t i = (uint32_t)(timer - clockwork->timers);
    uint32_t least = UINT32_MAX;
    for (uint32_t j = 0; j < clockwork->count; j++) {
        const model_t *const m = &clockwork->model[j];
        if (m->armed && (least == UINT32_MAX || m->time_ps < clockwork->model[least].time_ps ||
                         (m->time_ps == clockwork->model[least].time_ps &&
                          m->sequence < clockwork->model[least].sequence))) {
            least = j;
        }
    }
    SIM_CHECK(i == least);
    SIM_CHECK(node->now_ps == clockwork->model[i].time_ps);
    SIM_CHECK(!sim_timer_armed(timer));
    clockwork->model[i].armed = false;
    clockwork->fired++;
    for (uint64_t n = 1 + sim_random_below(&clockwork->random, 4); n > 0; n--) {
        if (clockwork->budget > 0) {
            clockwork->budget--;
            operate(clockwork);
        }
    }
    const uint32_t in_wheel = node->wheel == NULL ? 0 : node->wheel->count;
    clockwork->wheel_max = in_wheel > clockwork->wheel_max ? in_wheel : clockwork->wheel_max;
    const uint32_t late = node->wheel == NULL ? 0 : node->wheel->late_count;
    clockwork->late_max = late > clockwork->late_max ? late : clockwork->late_max;
    clockwork->heap_max =
        node->timer_count > clockwork->heap_max ? node->timer_count : clockwork->heap_max;
    if (clockwork->budget > 0 && node->timer_count + in_wheel == 0) {
        arm(clockwork, i, node->now_ps); // they must not die out early
    }
}

static void run(sim_node_t *node)
{
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        SIM_CHECK(event.kind == SIM_EVENT_TIMER);
        event.timer->fn(node, event.timer);
    }
}

static void destroy(sim_node_t *node)
{
    sim_free(node);
}

static const sim_node_ops_t ops = {.kind = "clockwork", .run = run, .destroy = destroy};

static sim_t *make(clockwork_t **clockwork, uint32_t count, sim_time_t spread_ps)
{
    const sim_options_t options = {.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER};
    sim_t *const sim = sim_create(&options);
    *clockwork = sim_alloc_lines(sizeof(**clockwork));
    sim_node_register(sim, &(*clockwork)->node, &ops, "clockwork");
    (*clockwork)->count = count;
    (*clockwork)->spread_ps = spread_ps;
    sim_random_init(&(*clockwork)->random, spread_ps, count, "timer-test");
    for (uint32_t i = 0; i < TIMERS_MAX; i++) {
        sim_timer_init(&(*clockwork)->timers[i], fired);
    }
    return sim;
}

START_TEST(timers_equal_a_list)
{
    static const struct {
        uint32_t count;
        sim_time_t spread_ps; // small: many ties
        uint64_t budget;
        bool wheel;
        uint32_t in_wheel_min; // so that the case is what it is meant to be
        uint32_t in_heap_min;
        sim_time_t far_ps;
        uint32_t late_min;
    } cases[] = {
        {1, 10, 2000, false, 0, 0, 0, 0},
        {2, 3, 2000, false, 0, 0, 0, 0},
        {7, 5, 5000, false, 0, 0, 0, 0},
        {100, 50, 20000, false, 0, 0, 0, 0},
        {5000, 1000000, 6000, false, 0, 0, 0, 0},
        {1, 10, 2000, true, 0, 0, 0, 0},
        {7, 5, 5000, true, 3, 0, 0, 0},
        {100, 50, 20000, true, 32, 1, 0, 0},       // one bucket, crowded: the rest goes to the heap
        {100, 20000, 20000, true, 50, 0, 0, 0},    // a few buckets
        {300, 2000000, 20000, true, 100, 0, 0, 0}, // the whole turn
        {300, 5000000, 20000, true, 50, 50, 0, 0}, // half of them beyond it
        {5000, 40000000, 6000, true, 50, 500, 0, 0},      // most of them beyond it
        {300, 20000, 20000, true, 100, 0, 3000000, 50},   // half of them beyond it, in order
        {300, 3, 20000, true, 100, 0, 3000000, 50},       // of those, many at one time
        {300, 5000000, 20000, true, 50, 20, 5000000, 20}, // and some between them
    };
    clockwork_t *clockwork = NULL;
    sim_t *const sim = make(&clockwork, cases[_i].count, cases[_i].spread_ps);
    if (cases[_i].wheel) {
        sim_expect_timers(&clockwork->node);
    }
    for (uint32_t i = 0; i < cases[_i].count; i++) {
        arm(clockwork, i, sim_random_below(&clockwork->random, cases[_i].spread_ps));
    }
    clockwork->far_ps = cases[_i].far_ps;
    clockwork->budget = cases[_i].budget;
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_uint_ge(clockwork->fired, cases[_i].budget / 8);
    ck_assert_uint_ge(clockwork->wheel_max, cases[_i].in_wheel_min);
    ck_assert_uint_ge(clockwork->late_max, cases[_i].late_min);
    ck_assert_uint_ge(clockwork->heap_max, cases[_i].in_heap_min);
    for (uint32_t i = 0; i < cases[_i].count; i++) {
        ck_assert(!clockwork->model[i].armed);
    }
    sim_destroy(sim);
}
END_TEST

// Timers of equal times fire in the order of their last arming, whatever the order before.
START_TEST(ties_fire_in_order_of_arming)
{
    clockwork_t *clockwork = NULL;
    sim_t *const sim = make(&clockwork, 50, 1);
    for (uint32_t i = 0; i < 50; i++) {
        arm(clockwork, i, 1000 + i);
    }
    for (uint32_t i = 0; i < 50; i++) {
        arm(clockwork, i * 7 % 50, 5000);
    }
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(clockwork->fired, 50);
    ck_assert_uint_eq(sim_end_time_ps(sim), 5000);
    sim_destroy(sim);
}
END_TEST

START_TEST(cancelling_is_idempotent)
{
    clockwork_t *clockwork = NULL;
    sim_t *const sim = make(&clockwork, 3, 1);
    sim_timer_cancel(&clockwork->node, &clockwork->timers[0]);
    arm(clockwork, 0, 10);
    arm(clockwork, 1, 20);
    sim_timer_cancel(&clockwork->node, &clockwork->timers[0]);
    sim_timer_cancel(&clockwork->node, &clockwork->timers[0]);
    clockwork->model[0].armed = false;
    ck_assert(!sim_timer_armed(&clockwork->timers[0]));
    ck_assert_uint_eq(sim_timer_time_ps(&clockwork->node, &clockwork->timers[1]), 20);
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(clockwork->fired, 1);
    sim_destroy(sim);
}
END_TEST

static void arm_in_the_past(sim_node_t *node, sim_timer_t *timer)
{
    sim_timer_arm(node, timer, node->now_ps - 1);
}

START_TEST(the_past_is_a_bug)
{
    clockwork_t *clockwork = NULL;
    sim_t *const sim = make(&clockwork, 1, 1);
    clockwork->timers[0].fn = arm_in_the_past;
    sim_timer_arm(&clockwork->node, &clockwork->timers[0], 100);
    (void)sim_run(sim);
}
END_TEST

START_TEST(never_is_a_bug)
{
    clockwork_t *clockwork = NULL;
    (void)make(&clockwork, 1, 1);
    sim_timer_arm(&clockwork->node, &clockwork->timers[0], SIM_TIME_NEVER);
}
END_TEST

static void arm_for_now(sim_node_t *node, sim_timer_t *timer)
{
    sim_timer_arm(node, timer, node->now_ps);
}

static void stand_still(bool with_wheel)
{
    clockwork_t *clockwork = NULL;
    sim_t *const sim = make(&clockwork, 1, 1);
    clockwork->timers[0].fn = arm_for_now;
    if (with_wheel) {
        sim_expect_timers(&clockwork->node);
    }
    sim_timer_arm(&clockwork->node, &clockwork->timers[0], 100);
    (void)sim_run(sim);
}

START_TEST(a_time_that_stands_still_ends_the_program)
{
    for (int with_wheel = 0; with_wheel < 2; with_wheel++) {
        const pid_t child = fork();
        if (child == 0) {
            (void)freopen("/dev/null", "w", stderr);
            stand_still(with_wheel != 0);
            _exit(0);
        }
        int status = 0;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 1);
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP(timers_equal_a_list, 0, 15), CHECK_TEST(ties_fire_in_order_of_arming),
           CHECK_TEST(cancelling_is_idempotent), CHECK_SIGNAL(the_past_is_a_bug, SIGABRT),
           CHECK_SIGNAL(never_is_a_bug, SIGABRT),
           CHECK_TEST(a_time_that_stands_still_ends_the_program))
