// SPDX-License-Identifier: Apache-2.0
// tests/apps/workload/test_schedule.c - what a schedule counts when it has collectives.
//
// Goal: the longest chain goes through every call of a collective, and a call that some rank never
// makes counts as stuck, with all that waits for it.
// Method: schedules of three ranks that are small enough to count by hand.
#include "tests/check_main.h"

#include "apps/workload/schedule.h"

#define RANKS 3u

// Makes ranks that compute rank + 1 times, one computation after the other, and then call a
// collective; rank 0 computes once more afterwards. Rank `absent` never calls.
static app__schedule_t *make(uint32_t absent)
{
    static const uint32_t all[RANKS] = {0, 1, 2};
    app__schedule_t *const schedule = app__schedule_create(RANKS);
    const app__call_t call = {
        .group = app__schedule_group(schedule, all, RANKS),
        .kind = APP__COLL_ALL_REDUCE,
        .dimension = APP__DIM_TP,
        .bytes = 1000,
    };
    const uint32_t number = app__schedule_call(schedule, &call);
    const app__op_t calc = {.type = APP__OP_CALC, .size = 10};
    const app__op_t part = {.type = APP__OP_COLL, .peer = number, .dimension = APP__DIM_TP};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        app__dependency_t list[RANKS + 2];
        const uint32_t calcs = rank + 1 + (rank == 0);
        uint32_t ops = 0;
        for (uint32_t i = 0; i < rank + 1; i++) {
            (void)app__schedule_add(schedule, rank, &calc);
            ops++;
        }
        if (rank != absent) {
            (void)app__schedule_add(schedule, rank, &part);
            ops++;
        }
        if (rank == 0) {
            (void)app__schedule_add(schedule, rank, &calc);
            ops++;
        }
        for (uint32_t i = 0; i + 1 < ops; i++) {
            list[i] = (app__dependency_t){.after = i + 1, .before = i};
        }
        ck_assert_uint_eq(ops, calcs + (rank != absent));
        app__schedule_order(schedule, rank, list, ops - 1);
    }
    app__schedule_finish(schedule);
    return schedule;
}

START_TEST(the_chain_goes_through_the_call)
{
    app__schedule_t *const schedule = make(RANKS);
    ck_assert_uint_eq(schedule->counts.calcs, 7);
    ck_assert_uint_eq(schedule->counts.colls, 3);
    ck_assert_uint_eq(schedule->counts.sends + schedule->counts.bytes, 0);
    ck_assert_uint_eq(schedule->counts.stuck, 0);
    ck_assert_uint_eq(schedule->counts.depth, 5); // 3 of rank 2, the call, 1 of rank 0
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(a_call_without_all_ranks_is_stuck)
{
    app__schedule_t *const schedule = make(2);
    ck_assert_uint_eq(schedule->counts.colls, 2);
    ck_assert_uint_eq(schedule->counts.stuck, 3); // both calls, and what follows on rank 0
    app__schedule_destroy(schedule);
}
END_TEST

CHECK_MAIN(CHECK_TEST(the_chain_goes_through_the_call),
           CHECK_TEST(a_call_without_all_ranks_is_stuck))
