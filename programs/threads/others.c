// SPDX-License-Identifier: Apache-2.0
// programs/threads/others.c - barriers, semaphores, read-write locks, and what runs once.

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "programs/process/code.h"
#include "programs/threads/holders.h"
#include "programs/threads/shared.h"
#include "programs/threads/threads.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"

static bool simulated(const volatile void *object)
{
    return (threads_many || shared_object(object)) && turn_on() && turn_is_mine();
}

// Tries again and again until the attempt shows no EBUSY, and waits for the key in between.
typedef int (*attempt_fn)(void *object);

static int attempt_until(attempt_fn attempt, void *object, uint32_t kind, uint64_t end_ps)
{
    for (;;) {
        const int error = attempt(object);
        if (error != EBUSY) {
            return error;
        }
        const uint64_t left_ps = moment_until(end_ps);
        if (left_ps == 0) {
            return ETIMEDOUT;
        }
        (void)threads_wait(object, kind, holders_of(object), left_ps);
    }
}

// -- barriers: glibc's struct, with a meaning of our own while the program runs here

typedef struct barrier {
    unsigned int in; // threads that have come
    unsigned int round;
    unsigned int count;
    int shared;
    unsigned int out;
} barrier_t;

PROGRAM_EXPORT int pthread_barrier_wait(pthread_barrier_t *object)
{
    barrier_t *barrier = (barrier_t *)(void *)object;
    if (!turn_enter("pthread_barrier_wait")) {
        return PROGRAM_NEXT(pthread_barrier_wait)(object);
    }
    (void)shared_object(object);
    turn_charge_call();
    threads_meet();
    const unsigned int round = barrier->round;
    barrier->in++;
    if (barrier->in >= barrier->count) {
        barrier->in = 0;
        barrier->round++;
        (void)threads_wake(barrier, UINT32_MAX);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    while (*(volatile unsigned int *)&barrier->round == round) {
        (void)threads_wait(barrier, PROGRAM_AT_BARRIER, PROGRAM_NO_THREAD, PROGRAM_NEVER);
    }
    return 0;
}

PROGRAM_EXPORT int pthread_barrier_destroy(pthread_barrier_t *object)
{
    return turn_on() ? 0 : PROGRAM_NEXT(pthread_barrier_destroy)(object);
}

// -- semaphores

// sem_trywait() of the C library.
static int try_semaphore(void *object)
{
    return PROGRAM_NEXT(sem_trywait)((sem_t *)object) == 0 ? 0 : errno == EAGAIN ? EBUSY : errno;
}

static int wait_semaphore(sem_t *semaphore, uint64_t end_ps)
{
    (void)shared_object(semaphore);
    threads_meet_in_memory();
    const int error = attempt_until(try_semaphore, semaphore, PROGRAM_AT_SEMAPHORE, end_ps);
    threads_cancel_point();
    if (error != 0) {
        errno = error;
    }
    return error == 0 ? 0 : -1;
}

PROGRAM_EXPORT int sem_wait(sem_t *semaphore)
{
    return turn_enter("sem_wait") ? wait_semaphore(semaphore, PROGRAM_NEVER)
                                  : PROGRAM_NEXT(sem_wait)(semaphore);
}

PROGRAM_EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                                 const struct timespec *restrict time)
{
    if (!turn_enter("sem_clockwait")) {
        return PROGRAM_NEXT(sem_clockwait)(semaphore, clock, time);
    }
    if (threads_is_no_time(time)) {
        errno = EINVAL;
        return -1;
    }
    return wait_semaphore(semaphore, threads_end_ps(clocks_kind(clock), time));
}

PROGRAM_EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict time)
{
    return turn_on() ? sem_clockwait(semaphore, CLOCK_REALTIME, time)
                     : PROGRAM_NEXT(sem_timedwait)(semaphore, time);
}

PROGRAM_EXPORT int sem_trywait(sem_t *semaphore)
{
    static turn_idle_t idle;
    int error = 0;
    if (simulated(semaphore)) {
        threads_meet_in_memory();
        if (try_semaphore(semaphore) == 0) {
            return 0;
        }
        (void)turn_idle_wait(&idle);
    }
    error = try_semaphore(semaphore);
    errno = error == EBUSY ? EAGAIN : error == 0 ? errno : error;
    return error == 0 ? 0 : -1;
}

PROGRAM_EXPORT int sem_post(sem_t *semaphore)
{
    if (simulated(semaphore)) {
        threads_meet_in_memory();
    }
    const int error = PROGRAM_NEXT(sem_post)(semaphore);
    if (error == 0 && simulated(semaphore)) {
        (void)threads_wake(semaphore, 1);
    }
    return error;
}

// -- read-write locks

static int try_read(void *object)
{
    return PROGRAM_NEXT(pthread_rwlock_tryrdlock)((pthread_rwlock_t *)object);
}

static int try_write(void *object)
{
    return PROGRAM_NEXT(pthread_rwlock_trywrlock)((pthread_rwlock_t *)object);
}

static int lock(pthread_rwlock_t *object, attempt_fn attempt, clockid_t clock,
                const struct timespec *time)
{
    if (threads_is_no_time(time)) {
        return EINVAL;
    }
    threads_meet_at_lock();
    const int error =
        attempt_until(attempt, object, PROGRAM_AT_RWLOCK, threads_end_ps(clocks_kind(clock), time));
    if (error == 0) {
        holders_add(object);
    }
    return error;
}

PROGRAM_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *object)
{
    return simulated(object) ? lock(object, try_read, CLOCK_REALTIME, NULL)
                             : PROGRAM_NEXT(pthread_rwlock_rdlock)(object);
}

PROGRAM_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *object)
{
    return simulated(object) ? lock(object, try_write, CLOCK_REALTIME, NULL)
                             : PROGRAM_NEXT(pthread_rwlock_wrlock)(object);
}

PROGRAM_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict object,
                                              const struct timespec *restrict time)
{
    return simulated(object) ? lock(object, try_read, CLOCK_REALTIME, time)
                             : PROGRAM_NEXT(pthread_rwlock_timedrdlock)(object, time);
}

PROGRAM_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict object,
                                              const struct timespec *restrict time)
{
    return simulated(object) ? lock(object, try_write, CLOCK_REALTIME, time)
                             : PROGRAM_NEXT(pthread_rwlock_timedwrlock)(object, time);
}

PROGRAM_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict object, clockid_t clock,
                                              const struct timespec *restrict time)
{
    return simulated(object) ? lock(object, try_read, clock, time)
                             : PROGRAM_NEXT(pthread_rwlock_clockrdlock)(object, clock, time);
}

PROGRAM_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict object, clockid_t clock,
                                              const struct timespec *restrict time)
{
    return simulated(object) ? lock(object, try_write, clock, time)
                             : PROGRAM_NEXT(pthread_rwlock_clockwrlock)(object, clock, time);
}

PROGRAM_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *object)
{
    if (simulated(object)) {
        threads_meet_in_memory();
    }
    holders_remove(object);
    const int error = PROGRAM_NEXT(pthread_rwlock_unlock)(object);
    if (error == 0 && simulated(object)) {
        (void)threads_wake(object, UINT32_MAX);
    }
    return error;
}

// -- once. In glibc's word, bit 0 says that a thread runs the function, bit 1 that one has.

#define ONCE_RUNS 1
#define ONCE_DONE 2

static bool runs_elsewhere(pthread_once_t *once)
{
    return (*(volatile pthread_once_t *)once & (ONCE_RUNS | ONCE_DONE)) == ONCE_RUNS;
}

static __attribute__((noinline)) int run_once(pthread_once_t *once, void (*function)(void))
{
    if (!simulated(once)) {
        return PROGRAM_NEXT(pthread_once)(once, function);
    }
    threads_meet_in_memory();
    while (runs_elsewhere(once)) {
        (void)threads_wait(once, PROGRAM_AT_ONCE, PROGRAM_NO_THREAD, PROGRAM_NEVER);
    }
    const int error = PROGRAM_NEXT(pthread_once)(once, function);
    (void)threads_wake(once, UINT32_MAX);
    return error;
}

// Loops that wait for memory may ask again and again whether something was done once.
PROGRAM_EXPORT CODE_OF_PROGRAM int pthread_once(pthread_once_t *once, void (*function)(void))
{
    return (*(volatile pthread_once_t *)once & ONCE_DONE) != 0 ? 0 : run_once(once, function);
}

PROGRAM_EXPORT void call_once(once_flag *flag, void (*function)(void))
{
    (void)pthread_once((pthread_once_t *)(void *)flag, function);
}
