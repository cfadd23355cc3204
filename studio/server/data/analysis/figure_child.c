// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/figure_child.c - confines `rocesim plot` and its gnuplot to their
// folders.
#include "studio/server/data/analysis/figure_child.h"

#include "studio/server/process/confine.h"
#include "studio/server/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CPU_S 30u
#define MEMORY_BYTES (UINT64_C(2) << 30)

// -- the server's side

pid_t studio_figure_spawn(const studio_figure_order_t *order)
{
    const char *line[4 + STUDIO_FIGURE_RUNS_MAX + 1 + 64];
    size_t count = 0;
    line[count++] = "rocesim-studio";
    line[count++] = "draw";
    line[count++] = order->folder;
    line[count++] = order->program;
    for (size_t i = 0; order->results[i] != NULL; i++) {
        line[count++] = order->results[i];
    }
    line[count++] = "--";
    for (size_t i = 0; order->arguments[i] != NULL; i++) {
        SIM_CHECK(count + 1 < SIM_COUNT_OF(line));
        line[count++] = order->arguments[i];
    }
    line[count] = NULL;
    char *const temporary = sim_format("TMPDIR=%s", order->folder);
    char *const home = sim_format("HOME=%s", order->folder);
    const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8",
                                       temporary, home, NULL};
    posix_spawn_file_actions_t actions;
    SIM_CHECK(posix_spawn_file_actions_init(&actions) == 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
                                           order->output == NULL ? "/dev/null" : order->output,
                                           O_WRONLY | O_CREAT | O_TRUNC, 0600);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, order->message,
                                           O_WRONLY | O_CREAT | O_TRUNC, 0600);
    // A process group of its own, so that gnuplot ends with it.
    const pid_t process = studio_spawn(line, environment, &actions, POSIX_SPAWN_SETPGROUP);
    const int reason = errno;
    (void)posix_spawn_file_actions_destroy(&actions);
    sim_free(home);
    sim_free(temporary);
    errno = reason;
    return process;
}

// -- its own side

int studio_figure_child_main(const char *const *arguments)
{
    // gnuplot looks for fonts where the system configures them.
    const char *readable[STUDIO_FIGURE_RUNS_MAX + 3] = {"/etc/fonts", "/var/cache/fontconfig"};
    size_t count = 2;
    size_t at = 2;
    if (arguments[0] == NULL || arguments[1] == NULL) {
        return 2;
    }
    for (; arguments[at] != NULL && strcmp(arguments[at], "--") != 0; at++) {
        if (count + 1 == SIM_COUNT_OF(readable)) {
            return 2;
        }
        readable[count++] = arguments[at];
    }
    if (arguments[at] == NULL || arguments[at + 1] == NULL || chdir(arguments[0]) != 0) {
        return 2;
    }
    const studio_confine_t confine = {
        .writable = arguments[0],
        .also_readable = readable,
        .program = arguments[1],
        .memory_bytes = MEMORY_BYTES,
        .file_bytes = STUDIO_FIGURE_BYTES_MAX,
        .cpu_s = CPU_S,
    };
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (studio_confine(&confine)) {
        (void)execv(arguments[1], (char *const *)(uintptr_t)(arguments + at + 1));
    }
    fprintf(stderr, "rocesim plot: it cannot be started: %s\n", strerror(errno));
    return 126;
}
