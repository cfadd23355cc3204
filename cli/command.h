// SPDX-License-Identifier: Apache-2.0
// cli/command.h - the commands of the program; each returns the exit status.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/args.h"

#define CLI_EXIT_DONE 0
#define CLI_EXIT_FAILED 1
#define CLI_EXIT_BAD_INPUT 2

// Does what the command line says. Prints one message on stderr for anything that fails.
int cli_main(int argc, const char *const *argv);

int cli_command_run(const cli_args_t *args);
int cli_command_check(const cli_args_t *args);
int cli_command_topo(const cli_args_t *args);

// Prints the message and returns the exit status for it.
int cli_report_failure(const cli_error_t *error, int status);

#endif // CLI_COMMAND_H
