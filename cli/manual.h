// SPDX-License-Identifier: Apache-2.0
// cli/manual.h - manual pages and shell completions, made from the texts of --help and the tables
// of the command line.
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "cli/args.h"

#include <stdio.h>

// Prints the manual page (roff, section 1) of a command; CLI_PROGRAM: of the program.
void cli_manual_page(cli_command_t command, FILE *out);

// Prints the script that completes command lines in a shell: "bash" or "zsh". Returns
// SIM_ERR_INVALID with a message for any other name.
SIM_MUST_CHECK sim_err_t cli_manual_completion(const char *shell, FILE *out, world_error_t *error);

#endif // CLI_MANUAL_H
