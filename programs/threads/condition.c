// SPDX-License-Identifier: Apache-2.0
// programs/threads/condition.c - condition variables of POSIX and C11.
//
// A condition variable has no state of its own, except for its clock: who waits is known to the
// simulator.

#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "programs/threads/mutex.h"
#include "programs/threads/shared.h"
#include "programs/threads/threads.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"

#define CLOCK_MONOTONIC_BIT 2u // in __wrefs, as glibc has it

// Waits. Returns 0, ETIMEDOUT or the error of unlocking.
static int wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t end_ps)
{
    (void)shared_object(condition);
    turn_charge_call();
    threads_meet();
    int error = mutex_unlock(mutex);
    if (error != 0) {
        return error;
    }
    uint32_t reasons;
    bool cancelled = false;
    do {
        const uint64_t left_ps = moment_until(end_ps);
        reasons = left_ps == 0
                      ? 0
                      : threads_wait(condition, PROGRAM_AT_CONDITION, PROGRAM_NO_THREAD, left_ps);
        cancelled = threads_is_cancelled();
    } while (reasons == PROGRAM_ON_SIGNAL && !cancelled);
    error = mutex_lock(mutex, PROGRAM_NEVER);
    threads_cancel_point();
    return error != 0 ? error : reasons == 0 ? ETIMEDOUT : 0;
}

PROGRAM_EXPORT int pthread_cond_wait(pthread_cond_t *restrict condition,
                                     pthread_mutex_t *restrict mutex)
{
    return turn_enter("pthread_cond_wait") ? wait(condition, mutex, PROGRAM_NEVER)
                                           : PROGRAM_NEXT(pthread_cond_wait)(condition, mutex);
}

PROGRAM_EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict condition,
                                          pthread_mutex_t *restrict mutex, clockid_t clock,
                                          const struct timespec *restrict time)
{
    if (!turn_enter("pthread_cond_clockwait")) {
        return PROGRAM_NEXT(pthread_cond_clockwait)(condition, mutex, clock, time);
    }
    return threads_is_no_time(time)
               ? EINVAL
               : wait(condition, mutex, threads_end_ps(clocks_kind(clock), time));
}

PROGRAM_EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition,
                                          pthread_mutex_t *restrict mutex,
                                          const struct timespec *restrict time)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(pthread_cond_timedwait)(condition, mutex, time);
    }
    const bool monotonic = (condition->__data.__wrefs & CLOCK_MONOTONIC_BIT) != 0;
    return pthread_cond_clockwait(condition, mutex, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME,
                                  time);
}

static int wake(const pthread_cond_t *condition, uint32_t count)
{
    (void)shared_object(condition);
    threads_meet_in_memory();
    (void)threads_wake(condition, count);
    return 0;
}

PROGRAM_EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
    return turn_enter("pthread_cond_signal") ? wake(condition, 1)
                                             : PROGRAM_NEXT(pthread_cond_signal)(condition);
}

PROGRAM_EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
    return turn_enter("pthread_cond_broadcast") ? wake(condition, UINT32_MAX)
                                                : PROGRAM_NEXT(pthread_cond_broadcast)(condition);
}

// -- condition variables of C11 are those of POSIX

static pthread_cond_t *condition_of(cnd_t *condition)
{
    return (pthread_cond_t *)(void *)condition;
}

static pthread_mutex_t *mutex_of(mtx_t *mutex)
{
    return (pthread_mutex_t *)(void *)mutex;
}

PROGRAM_EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return pthread_cond_wait(condition_of(condition), mutex_of(mutex)) == 0 ? thrd_success
                                                                            : thrd_error;
}

PROGRAM_EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                                 const struct timespec *restrict time)
{
    const int error = pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), time);
    return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : thrd_error;
}

PROGRAM_EXPORT int cnd_signal(cnd_t *condition)
{
    return pthread_cond_signal(condition_of(condition)) == 0 ? thrd_success : thrd_error;
}

PROGRAM_EXPORT int cnd_broadcast(cnd_t *condition)
{
    return pthread_cond_broadcast(condition_of(condition)) == 0 ? thrd_success : thrd_error;
}
