// SPDX-License-Identifier: Apache-2.0
// kernel/barrier.c - meeting by a counter; sleeping where it takes long.
//
// Nobody sleeps on: the last to arrive moves the phase and then looks for sleepers, a sleeper says
// that it is one and then looks at the phase. In one order of all (memory_order_seq_cst) at least
// one of the two sees the other.
#include "kernel/barrier.h"

#define SPINS_BEFORE_SLEEP 4096u

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
    for (unsigned spins = 0; spins < SPINS_BEFORE_SLEEP; spins++) {
        if (atomic_load_explicit(&barrier->phase, memory_order_acquire) != phase) {
            return;
        }
    }
    sleep_until_moved(barrier, phase);
}
