// SPDX-License-Identifier: Apache-2.0
// cli/shell/clock.h - lets simulated time pass while a person waits.
#ifndef CLI_SHELL_CLOCK_H
#define CLI_SHELL_CLOCK_H

#include "cli/shell/shell_internal.h"

typedef enum cli_shell_passed {
    CLI_SHELL_ARRIVED, // at the time, or at the end of the awaited programs
    CLI_SHELL_QUIET,   // nothing useful is left to happen
    CLI_SHELL_OVER,    // the scenario's `until` is reached
    CLI_SHELL_INTERRUPTED,
} cli_shell_passed_t;

// Lets simulated time pass up to to_ps, or until no awaited program runs: the one in the foreground
// or, without one, with all_programs, each.
cli_shell_passed_t cli__shell_pass(cli_shell_t *shell, sim_time_t to_ps, bool all_programs);
// Ends a step that has taken long enough (sim_on_window); ctx is the shell.
void cli__shell_look(sim_time_t window_end_ps, void *ctx);
void cli__shell_catch_signals(void);
void cli__shell_release_signals(void);
// Returns whether a signal other than Ctrl-C has asked for the end.
bool cli__shell_terminated(void);
// Returns whether Ctrl-C was pressed since the last call.
bool cli__shell_interrupted(void);
// Returns why a program that computes has to end (app_programs_t.ends); ctx is the shell.
const char *cli__shell_why_ends(const app_t *app, void *ctx);

#endif // CLI_SHELL_CLOCK_H
