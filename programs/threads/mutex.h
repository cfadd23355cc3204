// SPDX-License-Identifier: Apache-2.0
// programs/threads/mutex.h - what condition variables need of mutexes.
#ifndef PROGRAMS_THREADS_MUTEX_H
#define PROGRAMS_THREADS_MUTEX_H

#include <pthread.h>
#include <stdint.h>

// Locks a mutex, and waits until `end_ps` for it. Returns 0 or an errno value.
int mutex_lock(pthread_mutex_t *mutex, uint64_t end_ps);

// Unlocks a mutex, and wakes a thread that waits for it. Gives the turn to nobody.
int mutex_unlock(pthread_mutex_t *mutex);

#endif // PROGRAMS_THREADS_MUTEX_H
