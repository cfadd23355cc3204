// SPDX-License-Identifier: Apache-2.0
// labels: threads
// tests/kernel/test_barrier.c - no thread passes a meeting before all have come, none stays behind.
//
// Goal: with more threads than processors, with threads that come late enough for the others to
// sleep, over many meetings: what each wrote before a meeting every other reads after it, and the
// program comes to its end. What waits for long does not use the processor. A thread that leaves
// its processor comes to another of those that it may run on, and still may run on all of them.
// Method: each thread counts its rounds in a plain variable that the others read between two
// meetings (ThreadSanitizer would object if the meeting did not order them); processor time of a
// wait of 200 ms is read from the clock of the process.
// Not pinned: speed.
#include "kernel/engine/threads/barrier.h"

#include <time.h>

#include "kernel/engine/threads/processors.h"
#include "tests/check_main.h"

#define THREADS_MAX 16u

typedef struct party {
    sim__barrier_t barrier;
    unsigned thread_count;
    unsigned rounds;
    unsigned late_every; // rounds; 0: never
    unsigned counts[THREADS_MAX];
    unsigned wrong[THREADS_MAX];
} party_t;

typedef struct guest {
    party_t *party;
    unsigned index;
    pthread_t handle;
} guest_t;

static void sleep_ns(long ns)
{
    const struct timespec time = {ns / 1000000000, ns % 1000000000};
    (void)nanosleep(&time, NULL);
}

static void *attend(void *argument)
{
    const guest_t *const guest = argument;
    party_t *const party = guest->party;
    for (unsigned round = 1; round <= party->rounds; round++) {
        if (party->late_every != 0 && (round + guest->index) % party->late_every == 0) {
            sleep_ns(200000);
        }
        party->counts[guest->index] = round;
        sim__barrier_meet(&party->barrier, guest->index, party->thread_count);
        for (unsigned t = 0; t < party->thread_count; t++) {
            party->wrong[guest->index] += party->counts[t] != round;
        }
        sim__barrier_meet(&party->barrier, guest->index, party->thread_count);
    }
    return NULL;
}

static void hold(party_t *party)
{
    guest_t guests[THREADS_MAX];
    sim__barrier_init(&party->barrier);
    for (unsigned t = 0; t < party->thread_count; t++) {
        guests[t] = (guest_t){.party = party, .index = t};
        ck_assert_int_eq(pthread_create(&guests[t].handle, NULL, attend, &guests[t]), 0);
    }
    for (unsigned t = 0; t < party->thread_count; t++) {
        pthread_join(guests[t].handle, NULL);
        ck_assert_uint_eq(party->wrong[t], 0);
        ck_assert_uint_eq(party->counts[t], party->rounds);
    }
    sim__barrier_fini(&party->barrier);
}

START_TEST(all_meet_each_time)
{
    static const unsigned shapes[][3] = {
        {1, 1000, 0}, {2, 20000, 0}, {2, 500, 5}, {4, 2000, 0},
        {4, 300, 7},  {16, 200, 0},  {16, 60, 3},
    };
    party_t party = {
        .thread_count = shapes[_i][0],
        .rounds = shapes[_i][1],
        .late_every = shapes[_i][2],
    };
    hold(&party);
}
END_TEST

static void *come_late(void *argument)
{
    sleep_ns(200000000);
    sim__barrier_meet(argument, 1, 2);
    return NULL;
}

START_TEST(a_long_wait_is_slept)
{
    sim__barrier_t barrier;
    sim__barrier_init(&barrier);
    pthread_t handle;
    struct timespec before;
    struct timespec after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    ck_assert_int_eq(pthread_create(&handle, NULL, come_late, &barrier), 0);
    sim__barrier_meet(&barrier, 0, 2);
    pthread_join(handle, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const double used_s =
        (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    ck_assert_double_lt(used_s, 0.1);
    sim__barrier_fini(&barrier);
}
END_TEST

START_TEST(two_on_one_processor_part)
{
    const unsigned allowed = sim__processors_allowed();
    const int here = sim__processor_now();
    if (allowed < 2) {
        return; // nowhere to go
    }
    ck_assert_int_ge(here, 0);
    // The system may move the thread back at any moment, but not each time.
    unsigned moved = 0;
    for (unsigned i = 0; i < 20; i++) {
        const int now = sim__processor_now();
        ck_assert(sim__processor_leave(&now, 1));
        moved += sim__processor_now() != now;
    }
    ck_assert_uint_ge(moved, 10);
    ck_assert_uint_eq(sim__processors_allowed(), allowed);
    int all[1024];
    for (int p = 0; p < 1024; p++) {
        all[p] = p;
    }
    ck_assert(!sim__processor_leave(all, 1024));
    ck_assert_uint_eq(sim__processors_allowed(), allowed);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(all_meet_each_time, 0, 7), CHECK_TEST(a_long_wait_is_slept),
           CHECK_TEST(two_on_one_processor_part))
