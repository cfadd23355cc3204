// SPDX-License-Identifier: Apache-2.0
// kernel/engine/threads/processors.c - asks and sets where a thread runs, by Linux's
// affinity masks.
#define _GNU_SOURCE // sched_getcpu, CPU_SET NOLINT(bugprone-reserved-identifier)
#include "kernel/engine/threads/processors.h"

#include <sched.h>

unsigned sim__processors_allowed(void)
{
    cpu_set_t allowed;
    // This fails if the system has more processors than the set has room for.
    return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? (unsigned)CPU_COUNT(&allowed) : 0;
}

int sim__processor_now(void)
{
    return sched_getcpu();
}

bool sim__processor_leave(const int *taken, size_t count)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return false;
    }
    cpu_set_t open = allowed;
    for (size_t i = 0; i < count; i++) {
        if (taken[i] >= 0 && taken[i] < CPU_SETSIZE) {
            CPU_CLR((size_t)taken[i], &open);
        }
    }
    for (size_t p = 0; p < CPU_SETSIZE; p++) {
        if (CPU_ISSET(p, &open)) {
            cpu_set_t only;
            CPU_ZERO(&only);
            CPU_SET(p, &only);
            const bool moved = sched_setaffinity(0, sizeof(only), &only) == 0;
            return moved && sched_setaffinity(0, sizeof(allowed), &allowed) == 0;
        }
    }
    return false;
}
