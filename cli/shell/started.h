// SPDX-License-Identifier: Apache-2.0
// cli/shell/started.h - the programs that a shell starts.
#ifndef CLI_SHELL_STARTED_H
#define CLI_SHELL_STARTED_H

#include "cli/shell/shell_internal.h"

// Starts a command on a host, and waits for it unless it runs in the background.
SIM_MUST_CHECK sim_err_t cli__shell_start(cli_shell_t *shell, const char *host, const char *command,
                                          bool background);
// Copies to the terminal what the program in the foreground has printed since the last call, at
// most some 100 KB: a program may print faster than a terminal shows. Returns whether more is left.
bool cli__shell_show_foreground(cli_shell_t *shell);
// Shows what programs in the background have printed since the last call, and which have ended.
void cli__shell_show_background(cli_shell_t *shell);
// Waits for all programs, and names those that wait for ever.
void cli__shell_wait(cli_shell_t *shell);
// Returns the next program at or behind world->apps[*i], and advances *i past it; NULL: none.
app_t *cli__shell_next(const cli_shell_t *shell, size_t *i, app_programs_view_t *view);

#endif // CLI_SHELL_STARTED_H
