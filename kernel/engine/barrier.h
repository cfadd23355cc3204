// SPDX-License-Identifier: Apache-2.0
// kernel/engine/barrier.h - where the threads of a simulation meet, twice in each window.
//
// Who comes early spins for a moment, as the others are mostly near, then yields, at last sleeps:
// where there are fewer processors than threads, the one that is missing needs the processor.
#ifndef KERNEL_ENGINE_BARRIER_H
#define KERNEL_ENGINE_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>

#include "kernel/base.h"

typedef struct sim__barrier {
    atomic_uint arrived;
    atomic_uint phase;    // meetings so far
    atomic_uint sleepers; // at the condition, or about to be
    pthread_mutex_t mutex;
    pthread_cond_t condition;
} sim__barrier_t;

void sim__barrier_init(sim__barrier_t *barrier);
void sim__barrier_fini(sim__barrier_t *barrier);

// Returns when thread_count threads have called it. What each did before, all see after.
void sim__barrier_meet(sim__barrier_t *barrier, unsigned thread_count);

#endif // KERNEL_ENGINE_BARRIER_H
