// SPDX-License-Identifier: Apache-2.0
// cli/shell/commands.h - the lines of a shell.
#ifndef CLI_SHELL_COMMANDS_H
#define CLI_SHELL_COMMANDS_H

#include "cli/shell/shell_internal.h"

// Runs a line. SIM_ERR_...: nothing of it was run, and shell->error says why.
SIM_MUST_CHECK sim_err_t cli__shell_run_line(cli_shell_t *shell, char *line);
// Returns name number i that may begin a line: a command or a host; NULL: there are no more.
const char *cli__shell_name_at(const void *shell, size_t i);

#endif // CLI_SHELL_COMMANDS_H
