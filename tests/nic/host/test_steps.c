// SPDX-License-Identifier: Apache-2.0
// test_steps.c - steps of a host's lanes among its timers, wakes and mail.
//
// Goal: steps happen at their times, in the order in which timers armed at the same moments would
// fire: by time, at one instant by who was booked first, whether a lane or a timer has them; after
// a wake of the same instant; across windows; and where a lane does not take one, it says so.
// Method: booked from a timer of a host, at few different times so that many tie, in all lanes and
// as timers; each writes down its number when it happens. A step books the next one, too.
#include "tests/nic_pair.h"

#include "nic/host/steps.h"
#include "nic/objects/objects.h"

#define COUNT 3000u

typedef struct book book_t;
typedef struct entry {
    nic_step_t step; // first
    sim_timer_t timer;
    book_t *book;
    sim_time_t time_ps;
    uint32_t number; // order of booking
} entry_t;

struct book {
    sim_timer_t start;
    nic_host_t *host;
    uint64_t state;
    uint32_t booked;
    uint32_t happened;
    uint32_t by_timer;
    uint32_t refused;
    sim_time_t last_ps;
    uint32_t last_number;
    sim_time_t spread_ps;
    entry_t entries[COUNT];
};

static uint64_t draw(book_t *book, uint64_t below)
{
    book->state = book->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (book->state >> 33) % below;
}

static void book_one(book_t *book)
{
    sim_node_t *const node = &book->host->node.sim;
    entry_t *const entry = &book->entries[book->booked];
    entry->book = book;
    entry->number = book->booked++;
    entry->time_ps = node->now_ps + draw(book, book->spread_ps);
    const uint64_t lane = draw(book, NIC_LANE_COUNT + 1);
    if (lane == NIC_LANE_COUNT) {
        book->by_timer++;
        sim_timer_arm(node, &entry->timer, entry->time_ps);
    } else if (!nic__step_at(book->host, (nic_lane_index_t)lane, &entry->step, entry->time_ps)) {
        book->refused++;
        sim_timer_arm(node, &entry->timer, entry->time_ps);
    }
}

static void happen(entry_t *entry)
{
    book_t *const book = entry->book;
    ck_assert_uint_eq(book->host->node.sim.now_ps, entry->time_ps);
    ck_assert(entry->time_ps > book->last_ps ||
              (entry->time_ps == book->last_ps && entry->number > book->last_number));
    book->last_ps = entry->time_ps;
    book->last_number = entry->number;
    book->happened++;
    if (book->booked < COUNT) {
        book_one(book);
    }
}

static void step(nic_step_t *step)
{
    happen(SIM_CONTAINER_OF(step, entry_t, step));
}

static void fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    happen(SIM_CONTAINER_OF(timer, entry_t, timer));
}

static void start(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    book_t *const book = SIM_CONTAINER_OF(timer, book_t, start);
    for (uint32_t i = 0; i < 60; i++) {
        book_one(book);
    }
}

// Makes a host whose NIC is detailed, so that it has lanes, and replaces their functions by the
// test's.
static pair_t *make_pair(book_t *book, sim_time_t spread_ps)
{
    pair_config_t config;
    pair_config_init(&config);
    config.nic.model = NIC_DETAILED;
    pair_t *const pair = pair_create(&config);
    pair_config_fini(&config);
    book->host = nic__host_of(nic_node(pair->nic[0]));
    book->spread_ps = spread_ps;
    book->state = spread_ps;
    ck_assert_ptr_nonnull(book->host->steps);
    for (uint32_t i = 0; i < NIC_LANE_COUNT; i++) {
        book->host->steps->lanes[i].fn = step;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        sim_timer_init(&book->entries[i].timer, fired);
    }
    sim_timer_init(&book->start, start);
    return pair;
}

static void check_order(sim_time_t spread_ps)
{
    book_t *const book = sim_alloc(sizeof(*book));
    pair_t *const pair = make_pair(book, spread_ps);
    // While the host is not running, no event would bring it back for a step.
    ck_assert(!nic__step_at(book->host, NIC_LANE_HOST, &book->entries[0].step, 5));
    sim_timer_arm(&book->host->node.sim, &book->start, 1000);
    pair_run(pair);
    ck_assert_uint_eq(book->happened, COUNT);
    ck_assert_uint_gt(book->by_timer, COUNT / 10);
    ck_assert_uint_lt(book->refused, COUNT);
    // If all times are equal, no step is behind another one.
    ck_assert(spread_ps != 1 || book->refused == 0);
    ck_assert(spread_ps < 1000 || book->refused > 0);
    const uint64_t events = book->host->node.sim.events;
    ck_assert_uint_lt(events, COUNT);
    pair_destroy(pair);
    sim_free(book);
}

START_TEST(in_the_order_of_timers)
{
    check_order(1);
    check_order(7);
    check_order(1000);
    check_order(10000000); // some windows further
}
END_TEST

CHECK_MAIN(CHECK_TEST(in_the_order_of_timers))
