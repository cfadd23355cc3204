// SPDX-License-Identifier: Apache-2.0
// studio/server/process/spawn.c - starts the server's own program as another process.
#include "studio/server/process/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

pid_t studio_spawn(const char *const *line, const char *const *environment,
                   const posix_spawn_file_actions_t *actions, short apart)
{
    size_t count = 0;
    while (environment[count] != NULL) {
        count++;
    }
    const char *const sanitizer = getenv("ASAN_OPTIONS");
    char *const options = sim_format("ASAN_OPTIONS=%s", sanitizer == NULL ? "" : sanitizer);
    // Runs load plug-ins only from the folder that the administrator names so; "": none.
    const char *const plugins = getenv("ROCESIM_PLUGIN_FOLDER");
    char *const folder = sim_format("ROCESIM_PLUGIN_FOLDER=%s", plugins == NULL ? "" : plugins);
    const char **const all = sim_alloc_array(count + 3, sizeof(*all));
    memcpy(all, environment, count * sizeof(*all));
    all[count] = options;
    all[count + 1] = folder;
    posix_spawnattr_t attributes;
    sigset_t no_signal;
    sigset_t every_signal;
    sigemptyset(&no_signal);
    sigfillset(&every_signal);
    SIM_CHECK(posix_spawnattr_init(&attributes) == 0);
    (void)posix_spawnattr_setflags(&attributes,
                                   (short)(apart | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    (void)posix_spawnattr_setsigmask(&attributes, &no_signal);
    (void)posix_spawnattr_setsigdefault(&attributes, &every_signal);
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    pid_t process = -1;
    const int reason = posix_spawn(&process, "/proc/self/exe", actions, &attributes,
                                   (char *const *)(uintptr_t)line, (char *const *)(uintptr_t)all);
    (void)posix_spawnattr_destroy(&attributes);
    SIM_FREE_ALL(all, folder, options);
    errno = reason;
    return reason == 0 ? process : -1;
}
