// SPDX-License-Identifier: Apache-2.0
// kernel/engine/barrier.h - where the threads of a simulation meet, twice in each window.
//
// Who comes early spins, about as long as a window takes, as the others are mostly near; then it
// yields, at last it sleeps. Where there are fewer processors than threads it yields almost at
// once: the one that is missing needs the processor. Two that find themselves on one processor
// while others are free part (kernel/engine/processors.h).
#ifndef KERNEL_ENGINE_BARRIER_H
#define KERNEL_ENGINE_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>

#include "kernel/sim.h"

typedef struct sim__barrier {
    atomic_uint arrived;
    atomic_uint phase;                  // meetings so far
    atomic_uint sleepers;               // at the condition, or about to be
    unsigned processors;                // that threads may run on
    atomic_int places[SIM_THREADS_MAX]; // by thread: the processor it last came from
    pthread_mutex_t mutex;
    pthread_cond_t condition;
} sim__barrier_t;

void sim__barrier_init(sim__barrier_t *barrier);
void sim__barrier_fini(sim__barrier_t *barrier);

// Returns when thread_count threads have called it, each with its number below that. What each did
// before, all see after.
void sim__barrier_meet(sim__barrier_t *barrier, unsigned thread, unsigned thread_count);

#endif // KERNEL_ENGINE_BARRIER_H
