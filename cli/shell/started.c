// SPDX-License-Identifier: Apache-2.0
// cli/shell/started.c - programs that a shell starts: waiting for them, and what they print.
#include "cli/shell/started.h"
#include "cli/shell/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)256 << 10)

app_t *cli__shell_next(const cli_shell_t *shell, size_t *i, app_programs_view_t *view)
{
    while (*i < shell->world->app_count) {
        app_t *const app = shell->world->apps[(*i)++];
        if (app_programs_look(app, view)) {
            return app;
        }
    }
    return NULL;
}

static cli_shell_program_t *state_of(cli_shell_t *shell, size_t index)
{
    while (shell->program_count <= index) {
        SIM_APPEND(shell->programs, shell->program_count, shell->program_capacity,
                   ((cli_shell_program_t){{0, 0}, false}));
    }
    return &shell->programs[index];
}

static size_t index_of(const cli_shell_t *shell, const app_t *app)
{
    size_t index = 0;
    while (shell->world->apps[index] != app) {
        index++;
    }
    return index;
}

// -- what they print

static void write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno != EINTR) {
            return; // nobody reads it
        }
        bytes += SIM_MAX(written, 0);
        size -= (size_t)SIM_MAX(written, 0);
    }
}

bool cli__shell_show_foreground(cli_shell_t *shell)
{
    if (shell->foreground == NULL) {
        return false;
    }
    cli_shell_program_t *const state = state_of(shell, index_of(shell, shell->foreground));
    char bytes[CHUNK_BYTES];
    bool more = false;
    fflush(stdout);
    for (int error = 0; error <= 1; error++) {
        const size_t size = app_programs_read(shell->foreground, error == 1,
                                              state->shown_bytes[error], bytes, sizeof(bytes));
        write_all(error == 1 ? STDERR_FILENO : STDOUT_FILENO, bytes, size);
        state->shown_bytes[error] += size;
        more = more || size == sizeof(bytes);
    }
    return more;
}

// Shows whole lines of a program, each behind its name; those of a program that has ended to the
// last byte.
static void show_lines(const app_t *app, const app_programs_view_t *view, bool error,
                       uint64_t *shown_bytes)
{
    char bytes[CHUNK_BYTES];
    FILE *const to = error ? stderr : stdout;
    size_t size;
    while ((size = app_programs_read(app, error, *shown_bytes, bytes, sizeof(bytes))) > 0) {
        const char *at = bytes;
        const char *const end = bytes + size;
        const char *stop;
        while (at < end && (stop = memchr(at, '\n', (size_t)(end - at))) != NULL) {
            fprintf(to, "%s-%u | %.*s\n", view->host, view->number, (int)(stop - at), at);
            at = stop + 1;
        }
        if (at == bytes || (view->state == APP_PROGRAMS_ENDED && size < sizeof(bytes))) {
            if (size < sizeof(bytes) && view->state != APP_PROGRAMS_ENDED) {
                return; // the line may go on
            }
            if (at < end) {
                fprintf(to, "%s-%u | %.*s\n", view->host, view->number, (int)(end - at), at);
            }
            at = end;
        }
        *shown_bytes += (uint64_t)(at - bytes);
    }
}

void cli__shell_show_background(cli_shell_t *shell)
{
    app_programs_view_t view;
    app_t *app;
    for (size_t i = 0; (app = cli__shell_next(shell, &i, &view)) != NULL;) {
        cli_shell_program_t *const state = state_of(shell, i - 1);
        if (state->end_shown) {
            continue;
        }
        show_lines(app, &view, false, &state->shown_bytes[0]);
        show_lines(app, &view, true, &state->shown_bytes[1]);
        state->end_shown = view.state == APP_PROGRAMS_ENDED;
        if (state->end_shown && (!view.succeeded || cli_input_is_terminal(shell->input))) {
            fprintf(stderr, "%s-%u: %s\n", view.host, view.number, view.text);
        }
    }
}

// -- waiting

// Names the programs that wait for ever.
static void print_waiting(const cli_shell_t *shell, const app_t *only)
{
    app_programs_view_t view;
    const app_t *app;
    for (size_t i = 0; (app = cli__shell_next(shell, &i, &view)) != NULL;) {
        if (view.state != APP_PROGRAMS_ENDED && (only == NULL || app == only)) {
            fprintf(stderr, "%s-%u waits%s, and nothing else happens; it stays in the background\n",
                    view.host, view.number, view.text);
        }
    }
}

static void print_over(const cli_shell_t *shell)
{
    fprintf(stderr, "the time of the scenario is over (until)%s\n",
            shell->foreground != NULL ? "; the program stays in the background" : "");
}

static void wait_for_foreground(cli_shell_t *shell)
{
    app_t *const app = shell->foreground;
    shell->ctrl_c = 0;
    const cli_shell_passed_t passed = cli__shell_pass(shell, SIM_TIME_END, false);
    if (passed == CLI_SHELL_QUIET) {
        print_waiting(shell, app);
    } else if (passed == CLI_SHELL_OVER) {
        print_over(shell);
    }
    while (cli__shell_show_foreground(shell) && shell->ctrl_c == 0) {
        shell->ctrl_c += cli__shell_interrupted();
    }
    app_programs_view_t view;
    shell->foreground = NULL;
    if (app_programs_look(app, &view) && view.state == APP_PROGRAMS_ENDED) {
        state_of(shell, index_of(shell, app))->end_shown = true;
        if (!view.succeeded) {
            fprintf(stderr, "%s-%u: %s\n", view.host, view.number, view.text);
        }
    }
}

void cli__shell_wait(cli_shell_t *shell)
{
    const cli_shell_passed_t passed = cli__shell_pass(shell, SIM_TIME_END, true);
    if (passed == CLI_SHELL_QUIET) {
        print_waiting(shell, NULL);
    } else if (passed == CLI_SHELL_OVER) {
        print_over(shell);
    }
}

sim_err_t cli__shell_start(cli_shell_t *shell, const char *host, const char *command,
                           bool background)
{
    app_t *app = NULL;
    const sim_err_t result = world_add_program(shell->world, shell->scenario, &shell->place, host,
                                               command, shell->now_ps, &app, &shell->error);
    if (result != SIM_OK) {
        return result;
    }
    if (!background) {
        shell->foreground = app;
        wait_for_foreground(shell);
    } else if (cli_input_is_terminal(shell->input)) {
        app_programs_view_t view;
        if (app_programs_look(app, &view)) {
            printf("%s-%u runs in the background\n", view.host, view.number);
        }
    }
    return SIM_OK;
}
