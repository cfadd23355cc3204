// SPDX-License-Identifier: Apache-2.0
// cli/arena/store.h - writes arena.json, and reads the controls of an earlier one.
#ifndef CLI_ARENA_STORE_H
#define CLI_ARENA_STORE_H

#include "cli/arena/arena.h"

// Returns arena.json. The caller owns it.
json_t *cli_arena_json(const cli_arena_t *arena);
// Adds the controls of an arena.json that do not run now. A file of another suite is refused.
SIM_MUST_CHECK sim_err_t cli_arena_add_baseline(cli_arena_t *arena, const char *file,
                                                world_error_t *error);

#endif // CLI_ARENA_STORE_H
