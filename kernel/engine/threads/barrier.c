// SPDX-License-Identifier: Apache-2.0
// kernel/engine/threads/barrier.c - threads meet by a counter, and sleep if a meeting takes long.
//
// To sleep and be woken takes some ten microseconds, as long as a whole window of a few hundred
// packets. To yield costs as much if another program wants the processor. So a thread first spins,
// then yields again and again, and sleeps only if the others stay away for long.
//
// No thread sleeps for ever. The last to arrive moves the phase and then looks for sleepers; a
// sleeper announces itself and then looks at the phase. All four steps have one total order
// (memory_order_seq_cst), so at least one of the two sees the other.
#include "kernel/engine/threads/barrier.h"

#include <sched.h>

#include "kernel/engine/jitter.h"
#include "kernel/engine/threads/processors.h"

#define SPINS_OF_MANY 2048u      // ten to a hundred microseconds; where each thread has a processor
#define SPINS_OF_FEW 64u         // where there are fewer processors than threads
#define YIELDS_BEFORE_SLEEP 512u // some hundred microseconds, if nobody else wants to run

void sim__barrier_init(sim__barrier_t *barrier)
{
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->phase, 0);
    atomic_init(&barrier->sleepers, 0);
    barrier->processors = sim__processors_allowed();
    for (unsigned t = 0; t < SIM_THREADS_MAX; t++) {
        atomic_init(&barrier->places[t], -1);
    }
    SIM_CHECK(pthread_mutex_init(&barrier->mutex, NULL) == 0);
    SIM_CHECK(pthread_cond_init(&barrier->condition, NULL) == 0);
}

void sim__barrier_fini(sim__barrier_t *barrier)
{
    SIM_CHECK(atomic_load(&barrier->sleepers) == 0);
    pthread_cond_destroy(&barrier->condition);
    pthread_mutex_destroy(&barrier->mutex);
}

static inline void pause_a_moment(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
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

// Notes the processor that the thread runs on. Writes only a change, so that the cache line stays
// shared.
static void note_place(sim__barrier_t *barrier, unsigned thread)
{
    atomic_int *const place = &barrier->places[thread];
    const int now = sim__processor_now();
    if (atomic_load_explicit(place, memory_order_relaxed) != now) {
        atomic_store_explicit(place, now, memory_order_relaxed);
    }
}

// Moves this thread, which has waited long, to another processor if another thread was last seen on
// its own: that thread may be waiting for this processor only.
static void part(sim__barrier_t *barrier, unsigned thread, unsigned thread_count)
{
    int places[SIM_THREADS_MAX];
    bool together = false;
    for (unsigned t = 0; t < thread_count; t++) {
        places[t] = atomic_load_explicit(&barrier->places[t], memory_order_relaxed);
    }
    for (unsigned t = 0; t < thread_count; t++) {
        together = together || (t != thread && places[t] >= 0 && places[t] == places[thread]);
    }
    if (together) {
        (void)sim__processor_leave(places, thread_count);
    }
}

static void meet(sim__barrier_t *barrier, unsigned thread, unsigned thread_count)
{
    const bool many = thread_count <= barrier->processors;
    const unsigned spins = many ? SPINS_OF_MANY : SPINS_OF_FEW;
    const unsigned phase = atomic_load_explicit(&barrier->phase, memory_order_relaxed);
    note_place(barrier, thread);
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
    for (unsigned tries = 0; tries < spins + YIELDS_BEFORE_SLEEP; tries++) {
        if (atomic_load_explicit(&barrier->phase, memory_order_acquire) != phase) {
            return;
        }
        if (tries < spins) {
            pause_a_moment();
            continue;
        }
        if (tries == spins && many) {
            part(barrier, thread, thread_count);
        }
        (void)sched_yield();
    }
    sleep_until_moved(barrier, phase);
}

void sim__barrier_meet(sim__barrier_t *barrier, unsigned thread, unsigned thread_count)
{
    sim__jitter();
    meet(barrier, thread, thread_count);
    sim__jitter();
}
