// SPDX-License-Identifier: Apache-2.0
// kernel/engine/agenda.h - the units a thread has to run in a window, and how others help.
//
// Units are dealt for good, but in each window other ones have something to do, and one thread may
// have more of them. So a thread takes its units from the front, some at a time, and one that has
// run out takes them from the back of another's, one by one. Who runs a unit shows in no result.
// What is left is one word, so that each is taken once: where it begins, and where it ends.
#ifndef KERNEL_ENGINE_AGENDA_H
#define KERNEL_ENGINE_AGENDA_H

#include <stdalign.h>
#include <stdatomic.h>

#include "kernel/sim.h"

struct sim_seat;

typedef struct sim__agenda {
    const struct sim_seat **seats;
    // begin << 32 | end, both of them SIM__AGENDA_BASE too large: helpers that find nothing any
    // more still count the end down, once each. Nothing is left where the end is not beyond the
    // begin, which is so between windows.
    alignas(SIM_CACHE_LINE) _Atomic uint64_t left;
    char pad[SIM_CACHE_LINE - sizeof(uint64_t)];
} sim__agenda_t;

#define SIM__AGENDA_BASE ((uint64_t)SIM_THREADS_MAX)
#define SIM__AGENDA_PARTS 8u // of what is left, that the owner takes at a time

// By the owner: seats[0, count) may be taken from now on.
static inline void sim__agenda_open(sim__agenda_t *agenda, size_t count)
{
    const uint64_t left = SIM__AGENDA_BASE << 32 | (SIM__AGENDA_BASE + count);
    atomic_store_explicit(&agenda->left, left, memory_order_release);
}

// By the owner, who has taken those before `begin`: returns the end of what it may run now. That is
// `begin` where nothing is left.
static inline size_t sim__agenda_take(sim__agenda_t *agenda, size_t begin)
{
    const uint64_t seen = atomic_load_explicit(&agenda->left, memory_order_relaxed);
    const size_t end = (uint32_t)seen - SIM__AGENDA_BASE;
    if (end <= begin) {
        return begin;
    }
    const uint64_t some = (end - begin) / SIM__AGENDA_PARTS + 1;
    const uint64_t old = atomic_fetch_add_explicit(&agenda->left, some << 32, memory_order_relaxed);
    const size_t now_end = (uint32_t)old - SIM__AGENDA_BASE;
    const size_t till = now_end < begin + some ? now_end : begin + some;
    return till > begin ? till : begin;
}

// By another thread: the last of what is left; NULL: nothing is, or nothing yet.
static inline const struct sim_seat *sim__agenda_help(sim__agenda_t *agenda)
{
    const uint64_t seen = atomic_load_explicit(&agenda->left, memory_order_relaxed);
    if ((uint32_t)seen <= seen >> 32) {
        return NULL;
    }
    const uint64_t old = atomic_fetch_sub_explicit(&agenda->left, 1, memory_order_acquire);
    if ((uint32_t)old <= old >> 32) {
        return NULL;
    }
    return agenda->seats[(uint32_t)old - SIM__AGENDA_BASE - 1];
}

#endif // KERNEL_ENGINE_AGENDA_H
