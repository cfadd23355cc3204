// SPDX-License-Identifier: Apache-2.0
// studio/server/process/spawn.h - starts the server's own program as another process.
#ifndef STUDIO_SERVER_PROCESS_SPAWN_H
#define STUDIO_SERVER_PROCESS_SPAWN_H

#include "kernel/base.h"

#include <spawn.h>
#include <sys/types.h>

// Starts a process with no signal blocked or ignored; returns -1 with errno on failure. line is
// argv, with the command in [1]; environment is complete except for the sanitizers' options; NULL
// ends both. actions change its files; NULL: none. apart: POSIX_SPAWN_SETSID for its own session,
// POSIX_SPAWN_SETPGROUP for its own group, or 0.
pid_t studio_spawn(const char *const *line, const char *const *environment,
                   const posix_spawn_file_actions_t *actions, short apart);

#endif // STUDIO_SERVER_PROCESS_SPAWN_H
