// SPDX-License-Identifier: Apache-2.0
// kernel/engine/threads/share.c - measures whether threads that share windows gain by it.
#include "kernel/engine/threads/share.h"

#include <time.h>

#define WINDOWS_IN_A_ROW 64u
#define LOSS_LIMIT_NS 100000u // a row of shared windows that loses more ends at once
#define STAY_LEAST_NS 1000000u
#define STAY_PER_LOSS 50u
#define PATIENCE_WHEN_FULL 8u   // where sharing seems to pay, running alone is tried less often
#define WINDOW_NARROW_NS 12000u // in wider windows sharing does pay where it seems to
#define WINDOW_LEAST_NS 1000u   // narrower windows never gain: two meetings take a third of this

uint64_t sim__share_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void begin_row(sim__share_t *share, uint64_t now_ns)
{
    share->windows = 0;
    share->took_ns = 0;
    share->shares_ns = 0;
    share->woke_ns = 0;
    share->began_ns = now_ns;
}

// Decides for one way, and waits with the next try in proportion to what this one lost.
static void stay(sim__share_t *share, bool alone, uint64_t now_ns, uint64_t lost_ns)
{
    const uint64_t wait_ns = lost_ns * STAY_PER_LOSS * share->patience;
    share->compares = false;
    share->alone = alone;
    share->until_ns = now_ns + SIM_MAX(wait_ns, STAY_LEAST_NS);
    begin_row(share, now_ns);
}

// Runs the next row of windows the other way, to compare.
static void try_other(sim__share_t *share, uint64_t window_ns, uint64_t now_ns, unsigned patience)
{
    share->compares = true;
    share->patience = patience;
    share->other_ns = window_ns;
    share->alone = !share->alone;
    begin_row(share, now_ns);
}

// Returns by how much a exceeds b, at least 0.
static uint64_t more(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

void sim__share_judge(sim__share_t *share, uint64_t now_ns, uint64_t took_ns, uint64_t shares_ns)
{
    if (share->windows++ == 0) {
        share->woke_ns = more(took_ns, shares_ns);
        return;
    }
    share->took_ns += took_ns;
    share->shares_ns += shares_ns;
    if (more(share->took_ns, share->shares_ns) > LOSS_LIMIT_NS) {
        share->patience = 1;
        stay(share, true, now_ns, share->woke_ns + share->took_ns - share->shares_ns);
        return;
    }
    if (share->windows < WINDOWS_IN_A_ROW) {
        return;
    }
    const uint64_t window_ns = share->took_ns / (share->windows - 1);
    const uint64_t lost_ns = share->woke_ns + more(window_ns, share->other_ns) * share->windows;
    // Work on data from another core's cache takes up to twice as long, so a sum of shares that
    // exceeds the wall time a little proves nothing.
    const bool full = share->took_ns * 8 <= share->shares_ns * 5;
    if (full && window_ns >= WINDOW_NARROW_NS) {
        share->compares = false;
        begin_row(share, now_ns);
        share->windows = 1; // no thread needs to wake up
    } else if (share->compares) {
        stay(share, window_ns >= share->other_ns, now_ns, lost_ns);
    } else if (now_ns >= share->until_ns) {
        try_other(share, window_ns, now_ns, full ? PATIENCE_WHEN_FULL : 1);
    } else {
        begin_row(share, now_ns);
        share->windows = 1;
    }
}

void sim__share_reconsider(sim__share_t *share, uint64_t now_ns)
{
    SIM_CHECK(share->windows > 0 && now_ns >= share->began_ns);
    const uint64_t window_ns = (now_ns - share->began_ns) / share->windows;
    const uint64_t lost_ns = more(window_ns, share->other_ns) * share->windows;
    if (share->compares) {
        stay(share, window_ns <= share->other_ns, now_ns, lost_ns);
    } else if (now_ns >= share->until_ns && window_ns >= WINDOW_LEAST_NS) {
        try_other(share, window_ns, now_ns, 1);
    } else {
        begin_row(share, now_ns);
    }
}
