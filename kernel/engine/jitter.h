// SPDX-License-Identifier: Apache-2.0
// kernel/engine/jitter.h - holds threads up at random, and has windows shared or not at random, in
// builds that look for races (SIM_JITTER: ThreadSanitizer's). No result depends on when a thread
// comes where; a test on several threads sees it here if one does, which on an idle machine may
// take a thousand runs.
#ifndef KERNEL_ENGINE_JITTER_H
#define KERNEL_ENGINE_JITTER_H

#include "kernel/base.h"

#ifdef SIM_JITTER

#include "kernel/engine/share.h"

#include <sched.h>

// Below `count`. The clock is what is random.
static inline uint32_t sim__jitter_below(uint32_t count)
{
    const uint64_t here = (uint64_t)(uintptr_t)&count;
    return (uint32_t)(sim_mix64(sim__share_clock_ns() ^ here << 32) % count);
}

// Mostly not at all, at times for as long as a window, rarely for much longer.
static inline void sim__jitter(void)
{
    const uint32_t drawn = sim__jitter_below(256);
    if (drawn < 32) {
        (void)sched_yield();
    } else if (drawn < 64) {
        const uint64_t until_ns = sim__share_clock_ns() + sim__jitter_below(20000);
        while (sim__share_clock_ns() < until_ns) {
        }
    }
}

static inline bool sim__jitter_alone(bool alone)
{
    (void)alone;
    return sim__jitter_below(4) == 0;
}

#else

static inline void sim__jitter(void)
{
}

static inline bool sim__jitter_alone(bool alone)
{
    return alone;
}

#endif

#endif // KERNEL_ENGINE_JITTER_H
