// SPDX-License-Identifier: Apache-2.0
// cli/shell/shell.h - `rocesim shell`: a person starts programs on simulated hosts, line by line.
#ifndef CLI_SHELL_SHELL_H
#define CLI_SHELL_SHELL_H

#include "cli/args.h"

int cli_command_shell(const cli_args_t *args);

#endif // CLI_SHELL_SHELL_H
