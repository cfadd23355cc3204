// SPDX-License-Identifier: Apache-2.0
// cli/what_if/failures.h - `rocesim what-if`: lets the parts of a scenario fail, one at a time.
//
// changes.c lists the failures and changes, command.c runs them as a sweep does
// (cli/sweep/jobs.h), effects.c reads what came of each, table.c prints. docs/what-if.md
#ifndef CLI_WHAT_IF_FAILURES_H
#define CLI_WHAT_IF_FAILURES_H

#include "cli/args.h"

int cli_command_what_if(const cli_args_t *args);

#endif // CLI_WHAT_IF_FAILURES_H
