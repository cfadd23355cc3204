// SPDX-License-Identifier: Apache-2.0
// kernel/engine/share.h - whether threads share windows, or the first of them runs all alone.
//
// Two meetings cost each window a part of a microsecond where every thread has a processor, and
// milliseconds where something else wants it. Where windows hold less than that the first thread
// runs them all, while the others sleep. Which of the two it is shows in no result, so it goes by
// the time that was measured, over some windows in a row: shared ones against those before or after
// them that one thread ran. Where windows are wide, and all shares together took far longer than
// they did, there is nothing to find out.
// The slower way is tried again, as windows change, and costs at most a fiftieth of the time: what
// a try lost is waited for fifty times before the next one, or more often where shares look well.
#ifndef KERNEL_ENGINE_SHARE_H
#define KERNEL_ENGINE_SHARE_H

#include "kernel/base.h"

typedef struct sim__share {
    bool alone;
    bool compares;     // with the other way, right before this
    uint64_t other_ns; // what a window took then
    uint64_t until_ns; // no sooner is the other way tried
    unsigned patience; // how many times longer that is
    // of windows in a row, run one way
    uint32_t windows;
    uint64_t took_ns;
    uint64_t shares_ns; // shared: what all threads worked in them, added up
    uint64_t woke_ns;   // shared: what the first one lost, in which threads wake up
    uint64_t began_ns;  // alone
} sim__share_t;

// Any clock that never goes back.
uint64_t sim__share_clock_ns(void);

// A shared window is over: it took so long, its shares added up to that much. Sets alone where it
// is time to.
void sim__share_judge(sim__share_t *share, uint64_t now_ns, uint64_t took_ns, uint64_t shares_ns);

// A window run alone is over. Says whether to look at the clock, for sim__share_reconsider.
static inline bool sim__share_looks(sim__share_t *share)
{
    return (++share->windows & 63u) == 0;
}
// Clears alone where it is time for another try.
void sim__share_reconsider(sim__share_t *share, uint64_t now_ns);

#endif // KERNEL_ENGINE_SHARE_H
