// SPDX-License-Identifier: Apache-2.0
// studio/tests/test_studio_heavy_requests.c - turns of heavy requests.
//
// Goal: a user with many requests waits, other users do not, and too many requests are refused.
// Method: threads that take turns and count themselves. Not pinned: the order of those who wait.
#include "tests/check_main.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "studio/server/data/heavy_requests.h"

// The limits of studio/server/data/heavy_requests.c.
enum { AT_ONCE = 4, OF_A_USER = 2, WAITING = 32 };

typedef struct asking {
    studio_turns_t *turns;
    atomic_int entered;
    atomic_int refused;
    atomic_int left;
    atomic_bool go;
    atomic_int most;
    atomic_int inside;
} asking_t;

static void pause_for(long milliseconds)
{
    const struct timespec pause = {0, milliseconds * 1000000L};
    (void)nanosleep(&pause, NULL);
}

static void *ask(void *ctx)
{
    asking_t *const asking = ctx;
    if (!studio_turns_enter(asking->turns, 7)) {
        atomic_fetch_add(&asking->refused, 1);
        return NULL;
    }
    const int inside = atomic_fetch_add(&asking->inside, 1) + 1;
    int most = atomic_load(&asking->most);
    while (inside > most && !atomic_compare_exchange_weak(&asking->most, &most, inside)) {
    }
    atomic_fetch_add(&asking->entered, 1);
    while (!atomic_load(&asking->go)) {
        pause_for(1);
    }
    atomic_fetch_sub(&asking->inside, 1);
    studio_turns_leave(asking->turns, 7);
    atomic_fetch_add(&asking->left, 1);
    return NULL;
}

START_TEST(of_one_user_two_work_and_what_cannot_wait_is_refused)
{
    enum { THREADS = OF_A_USER + WAITING + 5 };
    asking_t asking = {.turns = studio_turns_create()};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, &asking), 0);
    }
    for (int i = 0; i < 5000 && atomic_load(&asking.refused) < 5; i++) {
        pause_for(1);
    }
    ck_assert_int_eq(atomic_load(&asking.refused), 5);
    ck_assert_int_le(atomic_load(&asking.entered), OF_A_USER);
    // Somebody else has a place at once, whoever waits.
    ck_assert(studio_turns_enter(asking.turns, 8));
    studio_turns_leave(asking.turns, 8);
    atomic_store(&asking.go, true);
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(atomic_load(&asking.left), OF_A_USER + WAITING);
    ck_assert_int_eq(atomic_load(&asking.most), OF_A_USER);
    studio_turns_destroy(asking.turns);
}
END_TEST

CHECK_MAIN(CHECK_TEST(of_one_user_two_work_and_what_cannot_wait_is_refused))
