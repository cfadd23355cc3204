// SPDX-License-Identifier: Apache-2.0
// world/explain.h - says who waits for whom in a stalled simulation.
#ifndef WORLD_EXPLAIN_H
#define WORLD_EXPLAIN_H

#include "kernel/ranks.h"
#include "world/world.h"

#include <stdio.h>

SIM_C_BEGIN

// Prints the QPs with unfinished work and what each waits for, the ports that are stopped, and a
// cycle of them if there is one.
void world_explain(const world_t *world, FILE *out);

// Carry to rank 0 which queue pairs of this rank have unfinished work, after a run in ranks
// (kernel/ranks.h): leave appends it, take adds what another rank left.
void world_explain_leave(const world_t *world, sim_buffer_t *bytes);
void world_explain_take(world_t *world, sim_reader_t *bytes);

// Finds a cycle in a graph of count vertices: next(v, i) gives the i-th vertex that v waits for,
// SIZE_MAX after the last. Fills cycle (room for count) with its vertices in order. Returns how
// many they are, 0 if there is no cycle.
typedef size_t (*world_next_fn)(size_t vertex, size_t index, const void *ctx);
size_t world_find_cycle(size_t count, world_next_fn next, const void *ctx, size_t *cycle);

SIM_C_END

#endif // WORLD_EXPLAIN_H
