// SPDX-License-Identifier: Apache-2.0
// kernel/engine/window.h - one thread's share of a window: runs units, samples.
#ifndef KERNEL_ENGINE_WINDOW_H
#define KERNEL_ENGINE_WINDOW_H

#include "kernel/engine/thread.h"

void sim__wake_with_room(sim_node_t *node, sim_time_t time_ps, uint32_t port);
void sim__run_units(sim_thread_t *thread, sim_time_t end_ps);

// Runs the thread's units through sim->window.
void sim__run_window(sim_thread_t *thread);
// Runs the thread's inner units through sim->window; sim__run_window then runs the rest of the
// window.
void sim__run_early(sim_thread_t *thread);
// Runs all samplers of this thread's nodes that are due before bound_ps.
void sim__sample_until(sim_thread_t *thread, sim_time_t bound_ps);
// Puts a node whose next event may have become earlier into its place in its unit's heap.
void sim__heap_lower(sim_unit_t *unit, sim_node_t *node);

#endif // KERNEL_ENGINE_WINDOW_H
