// SPDX-License-Identifier: Apache-2.0
// programs/threads/holders.c - who holds locks, so that threads that wait for each other are named.

#include "programs/threads/holders.h"

#include "programs/threads/threads.h"

#define HELD_MAX 256u // at a time; more are not noted

typedef struct held {
    const volatile void *lock;
    uint32_t thread;
} held_t;

static held_t all[HELD_MAX];
static uint32_t count;

void holders_add(const volatile void *lock)
{
    if (count < HELD_MAX) {
        all[count++] = (held_t){lock, threads_own_number()};
    }
}

void holders_remove(const volatile void *lock)
{
    for (uint32_t i = count; i-- > 0;) {
        if (all[i].lock == lock && all[i].thread == threads_own_number()) {
            all[i] = all[--count];
            return;
        }
    }
}

uint32_t holders_of(const volatile void *lock)
{
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].lock == lock) {
            return all[i].thread;
        }
    }
    return PROGRAM_NO_THREAD;
}
