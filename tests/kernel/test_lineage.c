// SPDX-License-Identifier: Apache-2.0
// labels: threads clang
// tests/kernel/test_lineage.c - ties by insertion in windows: what has gone in step for long.
//
// Goal: events that tie again and again are told apart by how they began, however long ago that was
// and whatever was compared meanwhile (the memory of comparisons, kernel/order/lineage.c).
// Method: two clocks whose timers fire at the same instants, armed in one order or the other. They
// take turns only after more ticks than one comparison remembers the way of, then again at timers
// that each of them armed long before: turns come in the order in which the clocks were started.
// After its last turn a clock has one more event, in the same window: the run ends with that.
// Not pinned: what a comparison costs.
#include "tests/check_main.h"

#include "kernel/engine_internal.h"
#include "kernel/order/order_internal.h"

#define TICK_PS SIM_PS_PER_US
#define TICKS 2000u
#define LATE_AT 100u     // the tick that arms `late`...
#define TURNS_FROM 1500u // ...and the first that takes a turn
#define AFTER_PS (TICK_PS / 100)
#define TURNS_MAX (2 * TICKS)

typedef struct side {
    sim_node_t node; // first
    sim_timer_t tick;
    sim_timer_t early; // armed before the run, for when `late` is due
    sim_timer_t late;
    uint32_t ticks;
    struct clocks *all;
} side_t;

typedef struct clocks {
    side_t *two[2];
    uint32_t turns[TURNS_MAX]; // by which clock
    uint32_t turn_count;
} clocks_t;

static void turn(sim_node_t *node, void *ctx, uint64_t value)
{
    (void)node;
    clocks_t *const all = ctx;
    SIM_CHECK(all->turn_count < TURNS_MAX);
    all->turns[all->turn_count++] = (uint32_t)value;
}

static void tick(sim_node_t *node, sim_timer_t *timer)
{
    side_t *const side = (side_t *)(void *)node;
    side->ticks++;
    if (side->ticks == LATE_AT) {
        sim_timer_arm(node, &side->late, (TICKS + 1) * TICK_PS);
    }
    if (side->ticks >= TURNS_FROM && side->ticks <= TICKS) {
        sim_take_turn(node, turn, side->all, node->index);
    }
    if (side->ticks < TICKS) {
        sim_timer_arm(node, timer, node->now_ps + TICK_PS);
    }
}

#define EARLY 2u
static void early(sim_node_t *node, sim_timer_t *timer)
{
    (void)timer;
    sim_take_turn(node, turn, ((side_t *)(void *)node)->all, node->index + EARLY);
}

static void late(sim_node_t *node, sim_timer_t *timer)
{
    (void)timer;
    side_t *const side = (side_t *)(void *)node;
    sim_take_turn(node, turn, side->all, node->index);
    sim_timer_arm(node, &side->tick, node->now_ps + AFTER_PS);
}

static void arrive(sim_node_t *node, uint32_t port, void *message)
{
    (void)node;
    (void)port;
    (void)message;
    ck_abort_msg("nothing was sent");
}

static void take(sim_node_t *node, const sim_event_t *event)
{
    ck_assert_int_eq(event->kind, SIM_EVENT_TIMER);
    event->timer->fn(node, event->timer);
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

static const sim_node_ops_t ops = {
    .kind = "clock",
    .run = run,
    .arrive = arrive,
    .take = take,
    .destroy = destroy,
};

static void check(uint32_t first, unsigned threads, bool replace_always)
{
    clocks_t all = {.turn_count = 0};
    sim_t *const sim = sim_create(
        &(sim_options_t){.threads = threads, .until_ps = SIM_TIME_NEVER, .fifo_ties = true});
    sim->fifo->replace_always = replace_always;
    for (uint32_t i = 0; i < 2; i++) {
        all.two[i] = sim_alloc_lines(sizeof(*all.two[i]));
        sim_node_register(sim, &all.two[i]->node, &ops, "clock");
        sim_timer_init(&all.two[i]->tick, tick);
        sim_timer_init(&all.two[i]->early, early);
        sim_timer_init(&all.two[i]->late, late);
        all.two[i]->all = &all;
    }
    for (uint32_t i = 0; i < 2; i++) {
        (void)sim_channel_create(sim, &all.two[i]->node, &all.two[1 - i]->node, 0, SIM_PS_PER_US);
    }
    for (uint32_t i = 0; i < 2; i++) {
        side_t *const side = all.two[(first + i) % 2];
        sim_timer_arm(&side->node, &side->tick, TICK_PS);
        sim_timer_arm(&side->node, &side->early, (TICKS + 1) * TICK_PS);
    }
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert(!sim_had_one_list(sim));
    ck_assert_uint_eq(sim_end_time_ps(sim), (TICKS + 1) * TICK_PS + AFTER_PS);
    const uint32_t count = 2 * (TICKS - TURNS_FROM + 1) + 4;
    ck_assert_uint_eq(all.turn_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t expected = (first + i) % 2 + (i / 2 == count / 2 - 2 ? EARLY : 0);
        ck_assert_msg(all.turns[i] == expected, "clock %u was first: turn %u is %u, not %u", first,
                      i, all.turns[i], expected);
    }
    sim_destroy(sim);
}

START_TEST(turns_come_as_timers_were_armed)
{
    check((uint32_t)_i % 2, 1 + (unsigned)_i / 2 % 2, _i / 4 != 0);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(turns_come_as_timers_were_armed, 0, 8))
