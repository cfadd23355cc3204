// SPDX-License-Identifier: Apache-2.0
// cli/studio_exec.c - finds rocesim-studio beside this program or in libexec, and starts it.
#include "cli/studio_exec.h"

#include "cli/command.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cli_studio_exec(int argc, const char *const *argv)
{
    static const char *const places[] = {"rocesim-studio", "../libexec/rocesim/rocesim-studio"};
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    folder[SIM_MAX(0, length)] = '\0';
    char *const slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    const char **const line = sim_alloc_array((size_t)argc + 1, sizeof(*line));
    line[0] = "rocesim-studio";
    for (int i = 2; i < argc; i++) {
        line[i - 1] = argv[i];
    }
    for (size_t i = 0; slash != NULL && i < SIM_COUNT_OF(places); i++) {
        char *const path = sim_format("%s/%s", folder, places[i]);
        (void)execv(path, (char *const *)(uintptr_t)line);
        sim_free(path);
    }
    sim_free(line);
    fprintf(stderr, "rocesim: the studio is not built here: make studio builds it\n");
    return CLI_EXIT_BAD_INPUT;
}
