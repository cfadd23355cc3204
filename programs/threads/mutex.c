// SPDX-License-Identifier: Apache-2.0
// programs/threads/mutex.c - mutexes of POSIX and C11, and spin locks.
//
// The C library tries; where it would wait, the simulator does. So all types of mutexes work as in
// the C library, and a mutex that the program initialises itself needs nothing else.

#include "programs/threads/mutex.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "programs/threads/holders.h"
#include "programs/threads/shared.h"
#include "programs/threads/threads.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"

#define TYPE_BITS 3

static bool simulated(const volatile void *object)
{
    return (threads_many || shared_object(object)) && turn_on() && turn_is_mine();
}

int mutex_lock(pthread_mutex_t *mutex, uint64_t end_ps)
{
    for (;;) {
        const int error = PROGRAM_NEXT(pthread_mutex_trylock)(mutex);
        if (error != EBUSY) {
            return error;
        }
        const uint32_t owner = threads_number_of(mutex->__data.__owner);
        if (owner == threads_own_number() &&
            (mutex->__data.__kind & TYPE_BITS) == PTHREAD_MUTEX_ERRORCHECK) {
            return EDEADLK;
        }
        const uint64_t left_ps = moment_until(end_ps);
        if (left_ps == 0) {
            return ETIMEDOUT;
        }
        (void)threads_wait(mutex, PROGRAM_AT_MUTEX, owner, left_ps);
    }
}

int mutex_unlock(pthread_mutex_t *mutex)
{
    const int error = PROGRAM_NEXT(pthread_mutex_unlock)(mutex);
    if (error == 0 && mutex->__data.__owner == 0) {
        threads_unlock(mutex);
    }
    return error;
}

PROGRAM_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!simulated(mutex)) {
        return PROGRAM_NEXT(pthread_mutex_lock)(mutex);
    }
    threads_meet_at_lock();
    return mutex_lock(mutex, PROGRAM_NEVER);
}

PROGRAM_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    static turn_idle_t idle;
    if (!simulated(mutex)) {
        return PROGRAM_NEXT(pthread_mutex_trylock)(mutex);
    }
    threads_meet_in_memory();
    int error = PROGRAM_NEXT(pthread_mutex_trylock)(mutex);
    if (error == EBUSY && turn_idle_wait(&idle)) {
        error = PROGRAM_NEXT(pthread_mutex_trylock)(mutex);
    }
    return error;
}

PROGRAM_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                           const struct timespec *time)
{
    if (!simulated(mutex)) {
        return PROGRAM_NEXT(pthread_mutex_clocklock)(mutex, clock, time);
    }
    if (threads_is_no_time(time)) {
        return EINVAL;
    }
    threads_meet_at_lock();
    return mutex_lock(mutex, threads_end_ps(clocks_kind(clock), time));
}

PROGRAM_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                                           const struct timespec *restrict time)
{
    return simulated(mutex) ? pthread_mutex_clocklock(mutex, CLOCK_REALTIME, time)
                            : PROGRAM_NEXT(pthread_mutex_timedlock)(mutex, time);
}

PROGRAM_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!simulated(mutex)) {
        return PROGRAM_NEXT(pthread_mutex_unlock)(mutex);
    }
    threads_meet_in_memory();
    return mutex_unlock(mutex);
}

// -- mutexes of C11 are those of POSIX

static int c11_result(int error)
{
    return error == 0           ? thrd_success
           : error == EBUSY     ? thrd_busy
           : error == ETIMEDOUT ? thrd_timedout
           : error == ENOMEM    ? thrd_nomem
                                : thrd_error;
}

static pthread_mutex_t *mutex_of(mtx_t *mutex)
{
    return (pthread_mutex_t *)(void *)mutex;
}

PROGRAM_EXPORT int mtx_lock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_lock(mutex_of(mutex)));
}

PROGRAM_EXPORT int mtx_trylock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_trylock(mutex_of(mutex)));
}

PROGRAM_EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict time)
{
    return c11_result(pthread_mutex_timedlock(mutex_of(mutex), time));
}

PROGRAM_EXPORT int mtx_unlock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_unlock(mutex_of(mutex)));
}

// -- spin locks

PROGRAM_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
    if (!simulated((const volatile void *)lock)) {
        return PROGRAM_NEXT(pthread_spin_lock)(lock);
    }
    threads_meet_at_lock();
    while (PROGRAM_NEXT(pthread_spin_trylock)(lock) != 0) {
        (void)threads_wait(lock, PROGRAM_AT_SPIN_LOCK, holders_of(lock), PROGRAM_NEVER);
    }
    holders_add(lock);
    return 0;
}

PROGRAM_EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    static turn_idle_t idle;
    if (!simulated((const volatile void *)lock)) {
        return PROGRAM_NEXT(pthread_spin_trylock)(lock);
    }
    threads_meet_in_memory();
    int error = PROGRAM_NEXT(pthread_spin_trylock)(lock);
    if (error == EBUSY && turn_idle_wait(&idle)) {
        error = PROGRAM_NEXT(pthread_spin_trylock)(lock);
    }
    if (error == 0) {
        holders_add(lock);
    }
    return error;
}

PROGRAM_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    if (!simulated((const volatile void *)lock)) {
        return PROGRAM_NEXT(pthread_spin_unlock)(lock);
    }
    threads_meet_in_memory();
    holders_remove(lock);
    (void)PROGRAM_NEXT(pthread_spin_unlock)(lock);
    threads_unlock(lock);
    return 0;
}
