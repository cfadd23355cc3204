// SPDX-License-Identifier: Apache-2.0
// cli/programs.c - finds the library that programs load.
#include "cli/programs.h"

#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void cli_programs_allow(cli_programs_t *programs)
{
    // Beside the program in a build; an installation has bin/ and lib/rocesim/.
    static const char *const places[] = {"", "/../lib/rocesim"};
    programs->permission = (app_programs_t){.start = true};
    char own[2048];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (length <= 0) {
        return;
    }
    own[length] = '\0';
    const char *const folder = dirname(own);
    for (size_t i = 0; i < SIM_COUNT_OF(places); i++) {
        (void)snprintf(programs->preload, sizeof(programs->preload),
                       "%s%s/librocesim-programs.so", folder, places[i]);
        (void)snprintf(programs->library_folder, sizeof(programs->library_folder),
                       "%s%s/programs-ibverbs", folder, places[i]);
        if (access(programs->preload, R_OK) == 0) {
            programs->permission.preload = programs->preload;
            programs->permission.library_folder = programs->library_folder;
            return;
        }
    }
}
