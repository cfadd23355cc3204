// SPDX-License-Identifier: Apache-2.0
// kernel/engine/jitter.h - random delays of threads, in builds that look for races.
//
// With SIM_JITTER (builds with ThreadSanitizer) threads stop at random, and windows are shared or
// not at random. No result may depend on when a thread comes where. A test on several threads then
// shows such a fault soon, which on an idle machine may take a thousand runs.
#ifndef KERNEL_ENGINE_JITTER_H
#define KERNEL_ENGINE_JITTER_H

#include "kernel/base.h"

#ifdef SIM_JITTER

#include "kernel/engine/threads/share.h"

#include <sched.h>

// Returns a number below `count`. Its randomness comes from the clock.
static inline uint32_t sim__jitter_below(uint32_t count)
{
    const uint64_t here = (uint64_t)(uintptr_t)&count;
    return (uint32_t)(sim_mix64(sim__share_clock_ns() ^ here << 32) % count);
}

// Delays the calling thread: mostly not at all, sometimes by about as long as a window takes.
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
