// SPDX-License-Identifier: Apache-2.0
// tests/kernel/test_stepwise.c - a run by steps is the run in one go.
//
// Goal: wherever a run stops, its events, their digest and its end are those of a run that does not
// stop; nothing at or after the stop has happened then; timers that are armed between steps fire.
// Method: nodes in a ring with chords answer each message after a while that a hash draws, by
// timers and by messages near and far. Delays make windows of one node, units of several, and
// messages beyond the slots.
#include "tests/check_main.h"

#include "kernel/event.h"
#include "kernel/random.h"
#include "kernel/steps.h"

#define NODES 6u
#define LETTERS 4000u

typedef struct letter {
    uint64_t of_engine; // while it is on its way
    uint64_t number;
} letter_t;

typedef struct station {
    sim_node_t node; // first
    sim_channel_t *out[2];
    sim_time_t delay_ps[2];
    sim_timer_t start;
    sim_timer_t later;
    letter_t *letters; // of all stations, by number
    uint64_t first;    // number of its own first letter
    uint64_t posted;
    sim_time_t last_ps; // of its latest event
    sim_time_t cut_ps;  // of its latest event that ended a step
} station_t;

static void post(station_t *station, uint64_t draw)
{
    const uint32_t way = (uint32_t)draw & 1;
    const sim_time_t far_ps = draw % 64 == 0 ? 40 * SIM_PS_PER_US : draw % (3 * SIM_PS_PER_US);
    if (station->posted < LETTERS / NODES) {
        letter_t *const letter = &station->letters[station->first + station->posted++];
        letter->number = draw;
        // Messages of one channel arrive in order.
        const sim_time_t arrive_ps = station->node.now_ps + station->delay_ps[way] + far_ps;
        static const sim_time_t step_ps = 1;
        station->last_ps = arrive_ps > station->last_ps ? arrive_ps : station->last_ps + step_ps;
        sim_send(&station->node, station->out[way], station->last_ps, letter);
    }
}

static void started(sim_node_t *node, sim_timer_t *timer)
{
    (void)timer;
    station_t *const station = (station_t *)(void *)node;
    sim_happened(node, 's', node->now_ps, 1);
    post(station, sim_mix64(node->now_ps + node->index));
    post(station, sim_mix64(node->now_ps + node->index + 77));
}

static void later(sim_node_t *node, sim_timer_t *timer)
{
    (void)timer;
    sim_happened(node, 'l', node->now_ps, 2);
    if (node->watched && sim_mix64(node->now_ps) % 4 == 0) {
        ((station_t *)(void *)node)->cut_ps = node->now_ps;
        sim_cut_step(node);
    }
    post((station_t *)(void *)node, sim_mix64(node->now_ps ^ node->index));
}

static void run(sim_node_t *node)
{
    station_t *const station = (station_t *)(void *)node;
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        if (event.kind == SIM_EVENT_TIMER) {
            event.timer->fn(node, event.timer);
        } else if (event.kind == SIM_EVENT_ARRIVAL) {
            const uint64_t draw = sim_mix64(((const letter_t *)event.message)->number + event.port);
            sim_happened(node, 'a', node->now_ps, draw);
            sim_timer_arm(node, &station->later, node->now_ps + draw % (20 * SIM_PS_PER_US));
            post(station, draw);
        }
    }
}

static void destroy(sim_node_t *node)
{
    sim_free(node);
}

static const sim_node_ops_t ops = {.kind = "station", .run = run, .destroy = destroy};

static sim_t *make(bool steps, sim_time_t delay_ps, station_t **stations, letter_t *letters)
{
    sim_t *const sim = sim_create(
        &(sim_options_t){.threads = 1, .until_ps = SIM_TIME_NEVER, .tie_seed = 5, .steps = steps});
    for (uint32_t i = 0; i < NODES; i++) {
        stations[i] = sim_alloc_lines(sizeof(*stations[i]));
        sim_node_register(sim, &stations[i]->node, &ops, "station");
        sim_timer_init(&stations[i]->start, started);
        sim_timer_init(&stations[i]->later, later);
        stations[i]->letters = letters;
        stations[i]->first = i * (LETTERS / NODES);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        for (uint32_t way = 0; way < 2; way++) {
            sim_node_t *const to = &stations[(i + 1 + 2 * way) % NODES]->node;
            stations[i]->delay_ps[way] = way == 0 && i % 3 == 0 ? delay_ps : SIM_PS_PER_US;
            stations[i]->out[way] =
                sim_channel_create(sim, &stations[i]->node, to, way, stations[i]->delay_ps[way]);
        }
    }
    return sim;
}

static const sim_time_t delays_ps[] = {SIM_PS_PER_US, 10 * SIM_PS_PER_NS, 300 * SIM_PS_PER_NS};
static const sim_time_t starts_ps[] = {0, 700 * SIM_PS_PER_NS, 3 * SIM_PS_PER_MS};

// Arms the timers that begin at starts_ps[i]; several stations begin at a time.
static void arm(station_t **stations, uint32_t i, bool touches)
{
    for (uint32_t s = i; s < NODES; s += 3) {
        sim_timer_arm(&stations[s]->node, &stations[s]->start, starts_ps[i]);
        if (touches) {
            sim_touch(&stations[s]->node);
        }
    }
}

START_TEST(steps_change_nothing)
{
    const sim_time_t delay_ps = delays_ps[_i % 3];
    letter_t *const letters = sim_alloc_array(LETTERS, sizeof(*letters));
    station_t *stations[NODES];
    sim_t *whole = make(false, delay_ps, stations, letters);
    for (uint32_t i = 0; i < SIM_COUNT_OF(starts_ps); i++) {
        arm(stations, i, false);
    }
    ck_assert_int_eq(sim_run(whole), SIM_ENDED_DONE);
    ck_assert_uint_gt(sim_events(whole), LETTERS / 2);

    letter_t *const others = sim_alloc_array(LETTERS, sizeof(*others));
    sim_t *const steps = make(true, delay_ps, stations, others);
    sim_random_t random;
    sim_random_init(&random, (uint64_t)_i, 0, "stops");
    sim_time_t stop_ps = 0;
    uint32_t armed = 0;
    unsigned idle = 0;
    while (armed < SIM_COUNT_OF(starts_ps) || idle < 3) {
        const sim_time_t most_ps = _i % 2 == 0 ? SIM_PS_PER_US / 3 : 30 * SIM_PS_PER_US;
        // Timers are armed in the last step before they are due, at times even at their moment.
        const sim_time_t next_ps = stop_ps + sim_random_below(&random, most_ps);
        while (armed < SIM_COUNT_OF(starts_ps) && next_ps >= starts_ps[armed]) {
            if (_i % 4 < 2) {
                (void)sim_step(steps, starts_ps[armed]);
            }
            arm(stations, armed++, true);
        }
        stop_ps = next_ps;
        const sim_ended_t ended = sim_step(steps, stop_ps);
        ck_assert(ended == SIM_ENDED_DONE || ended == SIM_ENDED_UNTIL);
        idle = ended == SIM_ENDED_DONE ? idle + 1 : 0;
        for (uint32_t i = 0; i < NODES; i++) {
            ck_assert(stations[i]->node.now_ps < stop_ps || stop_ps == 0);
        }
        if (armed < SIM_COUNT_OF(starts_ps) && ended == SIM_ENDED_DONE &&
            starts_ps[armed] > stop_ps + most_ps) {
            stop_ps = starts_ps[armed] - most_ps; // quiet time
        }
    }
    ck_assert_int_eq(sim_last_step(steps), SIM_ENDED_DONE);
    ck_assert_uint_eq(sim_events(steps), sim_events(whole));
    ck_assert_uint_eq(sim_end_time_ps(steps), sim_end_time_ps(whole));
    ck_assert_uint_eq(sim_digest(steps), sim_digest(whole));
    sim_destroy(whole);
    sim_destroy(steps);
    sim_free(letters);
    sim_free(others);
}
END_TEST

// A step of sim_step_watched ends 1 ps after the first event that says so: nothing later has
// happened then, at any station, and the run is that in one go.
START_TEST(steps_end_with_events)
{
    const sim_time_t delay_ps = delays_ps[_i % 3];
    letter_t *const letters = sim_alloc_array(LETTERS, sizeof(*letters));
    letter_t *const others = sim_alloc_array(LETTERS, sizeof(*others));
    station_t *stations[NODES];
    sim_t *const whole = make(false, delay_ps, stations, letters);
    for (uint32_t i = 0; i < SIM_COUNT_OF(starts_ps); i++) {
        arm(stations, i, false);
    }
    ck_assert_int_eq(sim_run(whole), SIM_ENDED_DONE);
    sim_t *const steps = make(true, delay_ps, stations, others);
    for (uint32_t i = 0; i < NODES; i += 1 + (uint32_t)_i / 3) {
        sim_watch(&stations[i]->node);
    }
    for (uint32_t i = 0; i < SIM_COUNT_OF(starts_ps); i++) {
        arm(stations, i, false);
    }
    unsigned cuts = 0;
    sim_ended_t ended = SIM_ENDED_UNTIL;
    while (ended == SIM_ENDED_UNTIL) {
        const sim_time_t limit_ps = sim_stepped_ps(steps) + 50 * SIM_PS_PER_US;
        ended = sim_step_watched(steps, cuts % 3 == 2 ? limit_ps : SIM_TIME_END - 1);
        const sim_time_t stepped_ps = sim_stepped_ps(steps);
        sim_time_t last_ps = 0;
        for (uint32_t i = 0; i < NODES; i++) {
            ck_assert_uint_lt(stations[i]->node.now_ps, stepped_ps);
            last_ps = SIM_MAX(stations[i]->cut_ps, last_ps);
        }
        ck_assert_uint_le(last_ps + 1, stepped_ps);
        ck_assert(ended == SIM_ENDED_DONE || last_ps + 1 == stepped_ps || stepped_ps == limit_ps);
        cuts++;
    }
    ck_assert_int_eq(ended, SIM_ENDED_DONE);
    ck_assert_uint_gt(cuts, 20);
    ck_assert_int_eq(sim_last_step(steps), SIM_ENDED_DONE);
    ck_assert_uint_eq(sim_events(steps), sim_events(whole));
    ck_assert_uint_eq(sim_end_time_ps(steps), sim_end_time_ps(whole));
    ck_assert_uint_eq(sim_digest(steps), sim_digest(whole));
    sim_destroy(whole);
    sim_destroy(steps);
    sim_free(letters);
    sim_free(others);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(steps_change_nothing, 0, 24), CHECK_LOOP(steps_end_with_events, 0, 6))
