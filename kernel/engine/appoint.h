// SPDX-License-Identifier: Apache-2.0
// kernel/engine/appoint.h - when units want to run next.
#ifndef KERNEL_ENGINE_APPOINT_H
#define KERNEL_ENGINE_APPOINT_H

#include "kernel/engine/agree.h"
#include "kernel/engine/thread.h"

// Schedules the unit, which this thread runs, for the window that holds time_ps: a later one than
// the current, or any before the run has begun.
void sim__appoint(sim_thread_t *thread, sim_unit_t *unit, sim_time_t time_ps);
// Marks units with an appointment in sim->window as active, as it begins.
void sim__keep_appointments(sim_thread_t *thread);
// Appoints all units of a thread anew, for when they are due next.
void sim__appoint_all(sim_thread_t *thread);
// Sets thread->next_window, as sim->window ends for this thread.
void sim__publish_next(sim_thread_t *thread);
// Returns, between windows, whether everything due in `window`, which is the next, was cancelled or
// moved meanwhile. Removes units from its map that have nothing left to do in it.
bool sim__is_empty(const sim_t *sim, uint64_t window);
// Passes an empty window as if it had been run.
void sim__pass_empty(sim_t *sim, uint64_t window);

// Finds the inner units of this rank's threads, and whether windows may begin early at all.
void sim__early_find(sim_t *sim);
// Returns whether this rank may begin the next window before it has met the others after the
// present one. `own` holds its numbers.
bool sim__early_may_begin(const sim_t *sim, const sim__seen_t *own);
// Runs the inner units of all threads through the next window. Thread 0 calls it; the others wait
// for it at the meeting after a window, but where thread 0 runs windows alone.
void sim__early_begin(sim_t *sim);

#endif // KERNEL_ENGINE_APPOINT_H
