// SPDX-License-Identifier: Apache-2.0
// cli/arena/health.h - finds what is wrong with a control.
#ifndef CLI_ARENA_HEALTH_H
#define CLI_ARENA_HEALTH_H

#include "cli/arena/arena.h"

// Finds what is wrong with each control.
void cli_arena_examine(cli_arena_t *arena);
const char *cli_arena_state_name(cli_arena_state_t state);
// Returns one sentence about a control's health. Free it with sim_free.
char *cli_arena_sentence(const cli_arena_control_t *control);

#endif // CLI_ARENA_HEALTH_H
