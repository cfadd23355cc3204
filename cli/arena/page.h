// SPDX-License-Identifier: Apache-2.0
// cli/arena/page.h - writes the results of the arena for people.
#ifndef CLI_ARENA_PAGE_H
#define CLI_ARENA_PAGE_H

#include "cli/arena/arena.h"
#include "results/file.h"

// Write the page and the table for papers; `arena` is a cli_arena_t (results_put_fn).
void cli_arena_put_page(results_file_t *file, const void *arena);
void cli_arena_put_latex(results_file_t *file, const void *arena);
// Prints the table for people.
void cli_arena_print(const cli_arena_t *arena, FILE *out);

#endif // CLI_ARENA_PAGE_H
