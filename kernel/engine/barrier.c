// SPDX-License-Identifier: Apache-2.0
// kernel/engine/barrier.c - meeting by a counter; sleeping where it takes long.
//
// To sleep and to be woken takes some ten microseconds, as long as a whole window of a few hundred
// packets: so a thread first gives its processor to whoever wants it, again and again, and sleeps
// only where the others stay away for long.
//
// Nobody sleeps on: the last to arrive moves the phase and then looks for sleepers, a sleeper says
// that it is one and then looks at the phase. In one order of all (memory_order_seq_cst) at least
// one of the two sees the other.
#include "kernel/engine/barrier.h"

#include <sched.h>

#define SPINS_BEFORE_YIELD 4096u // some microseconds
#define YIELDS_BEFORE_SLEEP 512u // some hundred microseconds, where nobody else wants to run

void sim__barrier_init(sim__barrier_t *barrier)
{
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->phase, 0);
    atomic_init(&barrier->sleepers, 0);
    SIM_CHECK(pthread_mutex_init(&barrier->mutex, NULL) == 0);
    SIM_CHECK(pthread_cond_init(&barrier->condition, NULL) == 0);
}

void sim__barrier_fini(sim__barrier_t *barrier)
{
    SIM_CHECK(atomic_load(&barrier->sleepers) == 0);
    pthread_cond_destroy(&barrier->condition);
    pthread_mutex_destroy(&barrier->mutex);
}

static void sleep_until_moved(sim__barrier_t *barrier, unsigned phase)
{
    pthread_mutex_lock(&barrier->mutex);
    atomic_fetch_add(&barrier->sleepers, 1);
    while (atomic_load(&barrier->phase) == phase) {
        pthread_cond_wait(&barrier->condition, &barrier->mutex);
    }
    atomic_fetch_sub(&barrier->sleepers, 1);
    pthread_mutex_unlock(&barrier->mutex);
}

void sim__barrier_meet(sim__barrier_t *barrier, unsigned thread_count)
{
    const unsigned phase = atomic_load_explicit(&barrier->phase, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 == thread_count) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        atomic_store(&barrier->phase, phase + 1);
        if (SIM_UNLIKELY(atomic_load(&barrier->sleepers) > 0)) {
            pthread_mutex_lock(&barrier->mutex);
            pthread_cond_broadcast(&barrier->condition);
            pthread_mutex_unlock(&barrier->mutex);
        }
        return;
    }
    for (unsigned tries = 0; tries < SPINS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP; tries++) {
        if (atomic_load_explicit(&barrier->phase, memory_order_acquire) != phase) {
            return;
        }
        if (tries >= SPINS_BEFORE_YIELD) {
            (void)sched_yield();
        }
    }
    sleep_until_moved(barrier, phase);
}
