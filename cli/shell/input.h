// SPDX-License-Identifier: Apache-2.0
// cli/shell/input.h - lines of a person at a terminal, with history and completion where GNU
// Readline is, or lines of a script.
#ifndef CLI_SHELL_INPUT_H
#define CLI_SHELL_INPUT_H

#include "kernel/base.h"

#define CLI_INPUT_LINE_MAX ((size_t)1 << 20) // bytes

typedef struct cli_input cli_input_t;

// Returns word number i that completes the first word of a line; NULL: there are no more.
typedef const char *(*cli_input_word_fn)(const void *ctx, size_t i);

// Reads from the standard input. One input exists at a time, since Readline has global state.
cli_input_t *cli_input_open(cli_input_word_fn word, const void *ctx);
void cli_input_close(cli_input_t *input);
bool cli_input_is_terminal(const cli_input_t *input);
// Returns the next line without its end, valid until the next call; NULL: the input has ended, or
// `stops` returned true after a signal. `interrupted` returns true, once, if Ctrl-C was pressed,
// which drops a line at a terminal.
char *cli_input_line(cli_input_t *input, bool (*stops)(void), bool (*interrupted)(void));
// Returns whether the input has ended with a line that is longer than CLI_INPUT_LINE_MAX.
bool cli_input_is_too_long(const cli_input_t *input);

#endif // CLI_SHELL_INPUT_H
