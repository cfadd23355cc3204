// SPDX-License-Identifier: Apache-2.0
// cli/command.h - the commands of the program. Each command returns the exit status.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/args.h"
#include "results/runner.h"
#include "world/world.h"

#define CLI_EXIT_DONE 0
#define CLI_EXIT_FAILED 1
#define CLI_EXIT_BAD_INPUT 2

// Runs the command that the command line names. Prints one message on stderr if it fails.
int cli_main(int argc, const char *const *argv);

// Prints the message and returns the exit status for it.
int cli_report_failure(const world_error_t *error, int status);

#endif // CLI_COMMAND_H
