// SPDX-License-Identifier: Apache-2.0
// kernel/engine/threads/barrier.h - where the threads of a simulation meet, twice in each window.
//
// A thread that comes early spins for about as long as a window takes, since the others are mostly
// near. Then it yields, and at last it sleeps. With fewer processors than threads it yields almost
// at once, since the missing thread needs the processor. Two threads on one processor part if
// another one is free (kernel/engine/threads/processors.h).
#ifndef KERNEL_ENGINE_THREADS_BARRIER_H
#define KERNEL_ENGINE_THREADS_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>

#include "kernel/sim.h"

typedef struct sim__barrier {
    atomic_uint arrived;                // threads that wait for this meeting
    atomic_uint phase;                  // meetings so far
    atomic_uint sleepers;               // threads that sleep at the condition or are about to
    unsigned processors;                // how many threads may run on
    atomic_int places[SIM_THREADS_MAX]; // by thread: the processor it last came from
    pthread_mutex_t mutex;
    pthread_cond_t condition;
} sim__barrier_t;

void sim__barrier_init(sim__barrier_t *barrier);
void sim__barrier_fini(sim__barrier_t *barrier);

// Returns when thread_count threads have called it, each with its own number below thread_count.
// Everything a thread wrote before the meeting is visible to all after it.
void sim__barrier_meet(sim__barrier_t *barrier, unsigned thread, unsigned thread_count);

#endif // KERNEL_ENGINE_THREADS_BARRIER_H
