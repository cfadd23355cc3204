// SPDX-License-Identifier: Apache-2.0
// tests/nic/path/test_reps.c - REPS's ring of entropies, step by step.
//
// Goal: an entropy that came back unmarked is used once, the oldest first; a marked one is not; the
// ring forgets the oldest; after a time-out only the ring is used, as long as `freeze`, then some
// packets explore. Method: the operations are called with made-up answers. Not pinned: that this
// balances (tests/cli/run/test_cli_balance.sh).
#include <string.h>

#include "nic/path/reps.h"
#include "tests/check_main.h"

#define ENTROPIES 1000

typedef struct rig {
    nic_reps_config_t config;
    nic_reps_t reps;
    sim_random_t random;
    sim_time_t now_ps;
} rig_t;

static rig_t begin(void)
{
    rig_t rig = {
        .config = {.cache = 4, .entropies = ENTROPIES, .freeze_ps = 100, .explore = 3},
    };
    sim_random_init(&rig.random, 1, 2, "test");
    return rig;
}

static uint16_t draw(rig_t *rig)
{
    return nic__reps_next_entropy(&rig->reps, &rig->config, &rig->random, ENTROPIES, rig->now_ps);
}

static void back(rig_t *rig, uint16_t entropy, bool marked)
{
    nic__reps_ack(&rig->reps, &rig->config, entropy, marked, rig->now_ps);
}

// Draws an entropy of the ring, which takes nothing off the random numbers.
static void must_draw(rig_t *rig, uint16_t entropy)
{
    const sim_random_t random = rig->random;
    ck_assert_uint_eq(draw(rig), entropy);
    ck_assert_mem_eq(&rig->random, &random, sizeof(random));
}

// Draws the next random one.
static void must_explore(rig_t *rig)
{
    sim_random_t random = rig->random;
    const uint64_t expected = sim_random_below(&random, ENTROPIES);
    ck_assert_uint_eq(draw(rig), expected);
    ck_assert_mem_eq(&rig->random, &random, sizeof(random));
}

START_TEST(unmarked_entropies_are_used_once_more)
{
    rig_t rig = begin();
    must_explore(&rig);
    back(&rig, 11, false);
    back(&rig, 12, true);
    back(&rig, 13, false);
    must_draw(&rig, 11);
    must_draw(&rig, 13);
    must_explore(&rig);
    for (uint16_t i = 21; i <= 26; i++) {
        back(&rig, i, false);
    }
    for (uint16_t i = 23; i <= 26; i++) { // four places
        must_draw(&rig, i);
    }
    must_explore(&rig);
}
END_TEST

START_TEST(ring_freezes_after_a_time_out)
{
    rig_t rig = begin();
    for (uint16_t i = 1; i <= 3; i++) {
        back(&rig, i, false);
    }
    must_draw(&rig, 1);
    rig.now_ps = 1000;
    ck_assert(nic__reps_timeout(&rig.reps, &rig.config, rig.now_ps));
    ck_assert(!nic__reps_timeout(&rig.reps, &rig.config, rig.now_ps));
    must_draw(&rig, 2);
    must_draw(&rig, 3);
    for (uint32_t i = 0; i < 7; i++) { // all of the ring again and again
        must_draw(&rig, (uint16_t)(1 + i % 3));
    }
    back(&rig, 9, false); // a new one comes first
    must_draw(&rig, 9);
    rig.now_ps = 1099;
    must_draw(&rig, 2); // still one of the ring
    rig.now_ps = 1100;
    back(&rig, 10, true);
    ck_assert(!nic__reps_timeout(&rig.reps, &rig.config, rig.now_ps)); // it explores
    back(&rig, 5, false);
    for (uint32_t i = 0; i < 3; i++) {
        must_explore(&rig);
    }
    must_draw(&rig, 5);
    must_explore(&rig); // the ring is not used as a whole any more
    ck_assert(nic__reps_timeout(&rig.reps, &rig.config, rig.now_ps));
    rig.now_ps += 100; // the next packet ends the time, too
    for (uint32_t i = 0; i < 3; i++) {
        must_explore(&rig);
    }
}
END_TEST

START_TEST(empty_rings_only_explore)
{
    rig_t rig = begin();
    rig.config.cache = 0;
    back(&rig, 1, false);
    must_explore(&rig);
    ck_assert(nic__reps_timeout(&rig.reps, &rig.config, rig.now_ps));
    must_explore(&rig);
    rig = begin();
    rig.config.freeze_ps = 0;
    back(&rig, 1, false);
    must_draw(&rig, 1);
    ck_assert(!nic__reps_timeout(&rig.reps, &rig.config, rig.now_ps));
    must_explore(&rig);
}
END_TEST

CHECK_MAIN(CHECK_TEST(unmarked_entropies_are_used_once_more),
           CHECK_TEST(ring_freezes_after_a_time_out), CHECK_TEST(empty_rings_only_explore))
