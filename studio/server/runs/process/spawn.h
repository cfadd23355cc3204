// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/process/spawn.h - starts the server's own program again, as one of its other
// parts.
#ifndef STUDIO_SERVER_RUNS_PROCESS_SPAWN_H
#define STUDIO_SERVER_RUNS_PROCESS_SPAWN_H

#include "kernel/base.h"

#include <spawn.h>
#include <sys/types.h>

// line: argv, with the name of the part in [1]; environment: all it gets, besides what a sanitizer
// was told; both end with NULL. actions: on its files; NULL: none. apart: POSIX_SPAWN_SETSID, for a
// session of its own, POSIX_SPAWN_SETPGROUP, for a group, or 0. No signal is blocked or ignored in
// it. -1: errno says why not.
pid_t studio_spawn(const char *const *line,
                   const char *const *environment,
                   const posix_spawn_file_actions_t *actions,
                   short apart);

#endif // STUDIO_SERVER_RUNS_PROCESS_SPAWN_H
