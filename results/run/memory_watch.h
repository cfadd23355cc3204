// SPDX-License-Identifier: Apache-2.0
// results/run/memory_watch.h - holds a run to memory-max while it runs.
//
// A thread looks at the memory that the process occupies, ten times a second. Above the limit it
// interrupts the run. A run that still grows far beyond it, because it never leaves one instant, is
// ended with the process.
#ifndef RESULTS_RUN_MEMORY_WATCH_H
#define RESULTS_RUN_MEMORY_WATCH_H

#include "kernel/sim.h"

typedef struct results_memory_watch results_memory_watch_t;

// Begins to watch a run of which no copies are forked. max_bytes: memory-max; SIM_AUTO: no limit,
// and the result is NULL.
results_memory_watch_t *results__memory_watch_begin(sim_t *sim, uint64_t max_bytes);
// Ends watching and frees the watch, which may be NULL. Returns whether it interrupted the run.
bool results__memory_watch_end(results_memory_watch_t *watch);

#endif // RESULTS_RUN_MEMORY_WATCH_H
