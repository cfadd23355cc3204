// SPDX-License-Identifier: Apache-2.0
// kernel/engine/threads/share.h - decides whether threads share windows, or thread 0 runs them
// alone.
//
// The two meetings of a window cost a part of a microsecond if every thread has a processor, and
// milliseconds if another program wants it. If windows hold less work than that, thread 0 runs them
// alone and the others sleep. The choice shows in no result, so measured time decides: some windows
// in a row are run each way and compared. If windows are wide and all shares added up took far
// longer than the windows, sharing clearly pays and nothing is tried.
// Windows change, so the slower way is tried again from time to time. After a try that lost time,
// the next one waits at least fifty times as long, so tries cost at most a fiftieth of the run.
#ifndef KERNEL_ENGINE_THREADS_SHARE_H
#define KERNEL_ENGINE_THREADS_SHARE_H

#include "kernel/base.h"

typedef struct sim__share {
    bool alone;
    bool compares;     // this row is a try: it is compared with the row before, run the other way
    uint64_t other_ns; // mean wall time of a window of that row
    uint64_t until_ns; // the other way is not tried before this time
    unsigned patience; // factor on the wait before the next try
    // windows in a row that are run one way
    uint32_t windows;
    uint64_t took_ns;   // shared: their wall time
    uint64_t shares_ns; // shared: the work of all threads in them, added up
    uint64_t woke_ns;   // shared: time lost in the first window, in which threads wake up
    uint64_t began_ns;  // alone: when the row began
} sim__share_t;

// Returns the time of a clock that never goes back.
uint64_t sim__share_clock_ns(void);

// Judges a shared window that took took_ns and whose shares add up to shares_ns. Sets share->alone
// when thread 0 is to run alone.
void sim__share_judge(sim__share_t *share, uint64_t now_ns, uint64_t took_ns, uint64_t shares_ns);

// Counts a window run alone. Returns whether to read the clock and call sim__share_reconsider.
static inline bool sim__share_looks(sim__share_t *share)
{
    return (++share->windows & 63u) == 0;
}
// Judges windows run alone. Clears share->alone when threads are to share again.
void sim__share_reconsider(sim__share_t *share, uint64_t now_ns);

#endif // KERNEL_ENGINE_THREADS_SHARE_H
