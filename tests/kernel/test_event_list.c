// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_event_list.c - the list of pending events gives them back by (time, number).
//
// Goal: whatever the times, near, in the same bucket, beyond a turn or far beyond, and whatever the
// order of adding, events come in the order of (time, number), those of one instant and number in
// the order they were added; nothing is lost, also where the list grows or runs empty.
// Those that are stale do not count when the time of the next one is asked for, and looking up to
// some time leaves room for what is added from then on.
// Method: random schedules, each compared with an unsorted array whose least is looked for.
// Not pinned: the width and number of buckets.
#include "kernel/order/event_list.h"

#include <string.h>

#include "kernel/random.h"
#include "tests/check_main.h"

typedef struct pending {
    sim_time_t time_ps;
    uint64_t number;
    uint32_t serial;
} pending_t;

typedef struct reference {
    pending_t items[4096];
    size_t count;
    uint32_t serial;
} reference_t;

static void add(sim_event_list_t *list, reference_t *reference, sim_time_t time_ps, uint64_t number)
{
    const uint32_t serial = reference->serial++;
    SIM_CHECK(reference->count < SIM_COUNT_OF(reference->items));
    reference->items[reference->count++] = (pending_t){time_ps, number, serial};
    sim__list_add(list, time_ps, number,
                  (sim_list_what_t){.message = list, .node = serial, .port = 7, .kind = 1});
}

static pending_t least_of(reference_t *reference)
{
    size_t least = 0;
    for (size_t i = 1; i < reference->count; i++) {
        const pending_t *const a = &reference->items[i];
        const pending_t *const b = &reference->items[least];
        if (a->time_ps < b->time_ps ||
            (a->time_ps == b->time_ps &&
             (a->number < b->number || (a->number == b->number && a->serial < b->serial)))) {
            least = i;
        }
    }
    const pending_t found = reference->items[least];
    reference->items[least] = reference->items[--reference->count];
    return found;
}

static bool is_odd(const void *ctx, const sim_list_event_t *event)
{
    ck_assert_ptr_eq(ctx, event->what.message);
    return event->what.node % 2 == 1;
}

static sim_time_t next_even_ps(const reference_t *reference)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (size_t i = 0; i < reference->count; i++) {
        const pending_t *const item = &reference->items[i];
        next_ps = item->serial % 2 == 0 && item->time_ps < next_ps ? item->time_ps : next_ps;
    }
    return next_ps;
}

static pending_t take(sim_event_list_t *list, reference_t *reference)
{
    const pending_t expected = least_of(reference);
    sim_time_t time_ps;
    const sim_list_event_t *const event = sim__list_first(list, SIM_TIME_NEVER, &time_ps);
    ck_assert_ptr_nonnull(event);
    ck_assert_uint_eq(time_ps, expected.time_ps);
    ck_assert_uint_eq(sim__list_number(event), expected.number);
    ck_assert_uint_eq(event->what.node, expected.serial);
    ck_assert_ptr_eq(event->what.message, list);
    ck_assert_uint_eq(event->what.port, 7);
    sim__list_take(list);
    return expected;
}

// Draws how far ahead an event is added: within a bucket, a few buckets, a turn, beyond a turn, or
// any of these.
static sim_time_t draw_ahead(sim_random_t *random, int style)
{
    static const sim_time_t spans_ps[] = {900, 20000, 4194304, 40000000, SIM_PS_PER_MS};
    const int span = style < 5 ? style : (int)sim_random_below(random, 5);
    const sim_time_t ahead_ps = sim_random_below(random, spans_ps[span]);
    return sim_random_below(random, 2) == 0 ? ahead_ps / 1000 * 1000 : ahead_ps;
}

#define STYLES 6

static uint64_t seeds(void)
{
    return check_few(20, 3);
}

START_TEST(random_schedules_equal_reference)
{
    for (uint64_t seed = 1; seed <= seeds(); seed++) {
        sim_event_list_t *const list = sim__list_create();
        reference_t *const reference = sim_alloc(sizeof(*reference));
        sim_random_t random;
        sim_random_init(&random, seed, (uint64_t)_i, "events");
        uint64_t number = 100;
        pending_t last = {.time_ps = sim_random_below(&random, 5000), .number = 1};
        add(list, reference, last.time_ps, last.number);
        for (uint32_t step = 0; step < 2000 && reference->count > 0; step++) {
            last = take(list, reference);
            const uint64_t adds = step < 500 ? sim_random_below(&random, 4) : step % 2;
            for (uint64_t i = 0; i < adds || (reference->count == 0 && step < 1500); i++) {
                const sim_time_t ahead_ps = draw_ahead(&random, _i);
                // Most events get the next number; some get one reserved earlier, some the present
                // one.
                const uint64_t kind = sim_random_below(&random, 8);
                const uint64_t kept = ahead_ps == 0 ? last.number : number - kind;
                add(list, reference, last.time_ps + ahead_ps, kind < 4 ? kept : ++number);
            }
        }
        while (reference->count > 0) {
            (void)take(list, reference);
        }
        ck_assert_ptr_null(sim__list_first(list, SIM_TIME_NEVER, &last.time_ps));
        sim__list_destroy(list);
        sim_free(reference);
    }
}
END_TEST

START_TEST(many_of_one_instant_stay_in_order)
{
    sim_event_list_t *const list = sim__list_create();
    reference_t *const reference = sim_alloc(sizeof(*reference));
    for (uint32_t i = 0; i < 3000; i++) {
        add(list, reference, 84000, i % 3 == 0 ? 5 : 10 + i * 7 % 3000);
    }
    while (reference->count > 0) {
        (void)take(list, reference);
    }
    sim_time_t time_ps;
    ck_assert_ptr_null(sim__list_first(list, SIM_TIME_NEVER, &time_ps));
    sim__list_destroy(list);
    sim_free(reference);
}
END_TEST

// All events up to the end of each span are taken. Events added afterwards are due from there on,
// also before all that wait.
START_TEST(spans_leave_room_for_what_comes)
{
    for (uint64_t seed = 1; seed <= seeds(); seed++) {
        sim_event_list_t *const list = sim__list_create();
        reference_t *const reference = sim_alloc(sizeof(*reference));
        sim_random_t random;
        sim_random_init(&random, seed, (uint64_t)_i, "spans");
        sim_time_t end_ps = 0;
        for (uint32_t span = 0; span < 200; span++) {
            for (uint64_t adds = sim_random_below(&random, 6); adds > 0; adds--) {
                add(list, reference, end_ps + draw_ahead(&random, _i), 7 + span);
            }
            end_ps += 1 + sim_random_below(&random, 3000);
            sim_time_t time_ps;
            while (sim__list_first(list, end_ps, &time_ps) != NULL) {
                ck_assert_uint_lt(take(list, reference).time_ps, end_ps);
            }
        }
        while (reference->count > 0) {
            (void)take(list, reference);
        }
        sim__list_destroy(list);
        sim_free(reference);
    }
}
END_TEST

// Stale events that waited far ahead are removed when the next time is asked for; the others still
// come.
START_TEST(the_stale_do_not_count_as_next)
{
    for (uint64_t seed = 1; seed <= seeds(); seed++) {
        sim_event_list_t *const list = sim__list_create();
        reference_t *const reference = sim_alloc(sizeof(*reference));
        sim_random_t random;
        sim_random_init(&random, seed, (uint64_t)_i, "stale");
        for (uint32_t i = 0; i < 60; i++) {
            add(list, reference, draw_ahead(&random, _i), i);
        }
        for (sim_time_t end_ps = 0;;) {
            const sim_time_t next_ps = sim__list_next_ps(list, is_odd, list);
            ck_assert_uint_eq(next_ps, next_even_ps(reference));
            if (next_ps == SIM_TIME_NEVER) {
                break;
            }
            end_ps = next_ps + 1;
            sim_time_t time_ps;
            for (const sim_list_event_t *event;
                 (event = sim__list_first(list, end_ps, &time_ps)) != NULL;) {
                for (size_t r = 0; r < reference->count; r++) {
                    if (reference->items[r].serial == event->what.node) {
                        ck_assert_uint_eq(reference->items[r].time_ps, time_ps);
                        reference->items[r] = reference->items[--reference->count];
                    }
                }
                sim__list_take(list);
            }
        }
        sim__list_destroy(list);
        sim_free(reference);
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP(random_schedules_equal_reference, 0, STYLES),
           CHECK_TEST(many_of_one_instant_stay_in_order),
           CHECK_LOOP(spans_leave_room_for_what_comes, 0, STYLES),
           CHECK_LOOP(the_stale_do_not_count_as_next, 0, STYLES))
