// SPDX-License-Identifier: Apache-2.0
// cli/arena/measure.h - turns the folder of a run into the numbers of the arena.
#ifndef CLI_ARENA_MEASURE_H
#define CLI_ARENA_MEASURE_H

#include "cli/arena/arena.h"

// Fills values[metric * seed_count + seed] of one run, whose folder and summary are given.
SIM_MUST_CHECK sim_err_t cli_arena_measure(const cli_arena_t *arena, const cli_arena_cell_t *cell,
                                           const char *folder, const json_t *summary, size_t seed,
                                           double *values, world_error_t *error);

#endif // CLI_ARENA_MEASURE_H
