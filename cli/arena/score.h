// SPDX-License-Identifier: Apache-2.0
// cli/arena/score.h - the controls of an arena, and how they compare.
#ifndef CLI_ARENA_SCORE_H
#define CLI_ARENA_SCORE_H

#include "cli/arena/arena.h"

// Returns the spread of a metric over the seeds; count 0: there is no value.
results_spread_t cli_arena_spread(const cli_arena_t *arena, const cli_arena_result_t *result,
                                  size_t metric);

// Appends a control without values and returns it. It is valid until the next is added.
cli_arena_control_t *cli_arena_add(cli_arena_t *arena, const char *name);
void cli_arena_fini(cli_arena_t *arena);

// Returns the mean of a metric over the cells that have it, the geometric one for slowdowns; NAN if
// no cell has it.
double cli_arena_mean(const cli_arena_t *arena, const cli_arena_control_t *control, size_t metric);
// Fills in scores and places.
void cli_arena_score(cli_arena_t *arena);
// Returns the indices of the controls, the best first. Free the array with sim_free.
size_t *cli_arena_order(const cli_arena_t *arena);

#endif // CLI_ARENA_SCORE_H
