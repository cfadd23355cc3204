// SPDX-License-Identifier: Apache-2.0
// cli/shell/clock.c - lets simulated time pass, step by step, and listens to signals meanwhile.
//
// A step takes a blink of real time, so that output appears and Ctrl-C works at once. Neither the
// number of steps nor their times change a result (kernel/steps.h).
#include "cli/shell/clock.h"
#include "cli/shell/started.h"
#include "kernel/steps.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define BLINK_NS UINT64_C(50000000)

// -- signals

// They are global because a signal handler has no context argument.
static volatile sig_atomic_t interrupts; // Ctrl-C, since it was last answered
static volatile sig_atomic_t terminated;

static void on_interrupt(int number)
{
    (void)number;
    interrupts++;
}

static void on_end(int number)
{
    (void)number;
    terminated = 1;
}

static void handle(int number, void (*handler)(int number))
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void cli__shell_catch_signals(void)
{
    struct sigaction before;
    interrupts = 0;
    terminated = 0;
    handle(SIGINT, on_interrupt);
    handle(SIGTERM, on_end);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        handle(SIGHUP, on_end);
    }
}

void cli__shell_release_signals(void)
{
    handle(SIGINT, SIG_DFL);
    handle(SIGTERM, SIG_DFL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == on_end) {
        handle(SIGHUP, SIG_DFL);
    }
}

bool cli__shell_terminated(void)
{
    return terminated != 0;
}

bool cli__shell_interrupted(void)
{
    const bool interrupted = interrupts != 0;
    interrupts = 0;
    return interrupted;
}

const char *cli__shell_why_ends(const app_t *app, void *ctx)
{
    cli_shell_t *const shell = ctx;
    (void)cli__shell_show_foreground(shell);
    if (terminated != 0) {
        return "the program was ended while it was computing because the shell was ended";
    }
    // A second Ctrl-C ends what computes in the background.
    if (interrupts > (app == shell->foreground ? 0 : 1)) {
        interrupts = 0;
        shell->ctrl_c++;
        return "the program was interrupted while it was computing";
    }
    return NULL;
}

// Passes Ctrl-C on to the program in the foreground, the second time as SIGKILL.
static void interrupt_foreground(cli_shell_t *shell)
{
    shell->ctrl_c++;
    app_programs_signal(shell->foreground, shell->ctrl_c == 1 ? SIGINT : SIGKILL, shell->now_ps);
}

// -- time

static uint64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void cli__shell_look(sim_time_t window_end_ps, void *ctx)
{
    const cli_shell_t *const shell = ctx;
    if (interrupts != 0 || terminated != 0 || real_ns() - shell->step_began_ns > BLINK_NS) {
        sim_end_step(shell->world->sim, window_end_ps);
    }
}

// Runs up to stop_ps at the latest.
static sim_ended_t step(cli_shell_t *shell, sim_time_t stop_ps)
{
    shell->step_began_ns = real_ns();
    const sim_ended_t ended = sim_step_watched(shell->world->sim, stop_ps);
    shell->now_ps = SIM_MAX(sim_stepped_ps(shell->world->sim), shell->now_ps);
    return ended;
}

// Returns whether an awaited program runs, or waits for its start.
static bool any_runs(const cli_shell_t *shell, bool all_programs)
{
    app_programs_view_t view;
    if (shell->foreground != NULL) {
        return app_programs_look(shell->foreground, &view) && view.state != APP_PROGRAMS_ENDED;
    }
    for (size_t i = 0; all_programs && cli__shell_next(shell, &i, &view) != NULL;) {
        if (view.state != APP_PROGRAMS_ENDED) {
            return true;
        }
    }
    return !all_programs;
}

cli_shell_passed_t cli__shell_pass(cli_shell_t *shell, sim_time_t to_ps, bool all_programs)
{
    const sim_time_t until_ps = shell->scenario->run.until_ps;
    const bool to_time = shell->foreground == NULL && !all_programs && to_ps != SIM_TIME_END;
    while (any_runs(shell, all_programs) && shell->now_ps < to_ps) {
        if (shell->now_ps >= until_ps) {
            return CLI_SHELL_OVER;
        }
        const sim_ended_t ended = step(shell, SIM_MIN(to_ps, until_ps));
        (void)cli__shell_show_foreground(shell);
        if (terminated != 0) {
            return CLI_SHELL_INTERRUPTED;
        }
        if (interrupts != 0) {
            interrupts = 0;
            if (shell->foreground == NULL) {
                return CLI_SHELL_INTERRUPTED;
            }
            interrupt_foreground(shell);
        } else if (ended == SIM_ENDED_DONE && to_time) {
            (void)sim_step(shell->world->sim, to_ps); // nothing happens up to there
            shell->now_ps = to_ps;
        } else if ((ended == SIM_ENDED_DONE || ended == SIM_ENDED_STALLED) && !to_time &&
                   any_runs(shell, all_programs)) {
            return CLI_SHELL_QUIET;
        }
    }
    return CLI_SHELL_ARRIVED;
}
