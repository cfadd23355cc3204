// SPDX-License-Identifier: Apache-2.0
// programs/process/end.c - the end of a program, and calls that would leave the simulation.

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "programs/turn.h"

PROGRAM_EXPORT void _exit(int status)
{
    turn_bye(status);
    turn_quit(status);
}

PROGRAM_EXPORT void _Exit(int status)
{
    turn_bye(status);
    turn_quit(status);
}

PROGRAM_EXPORT void quick_exit(int status)
{
    turn_bye(status);
    PROGRAM_NEXT(quick_exit)(status);
    turn_quit(status);
}

// -- other processes

static int refuse(const char *function)
{
    turn_say("rocesim: the program called %s(), but programs start other processes by fork() only",
             function);
    errno = ENOSYS;
    return -1;
}

PROGRAM_EXPORT int daemon(int keep_folder, int keep_files)
{
    return turn_on() ? refuse("daemon") : PROGRAM_NEXT(daemon)(keep_folder, keep_files);
}

PROGRAM_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
                               const posix_spawn_file_actions_t *restrict actions,
                               const posix_spawnattr_t *restrict attributes,
                               char *const words[restrict], char *const environment[restrict])
{
    if (!turn_on()) {
        return PROGRAM_NEXT(posix_spawn)(pid, path, actions, attributes, words, environment);
    }
    (void)refuse("posix_spawn");
    return ENOSYS;
}

PROGRAM_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                                const posix_spawn_file_actions_t *restrict actions,
                                const posix_spawnattr_t *restrict attributes,
                                char *const words[restrict], char *const environment[restrict])
{
    if (!turn_on()) {
        return PROGRAM_NEXT(posix_spawnp)(pid, file, actions, attributes, words, environment);
    }
    (void)refuse("posix_spawnp");
    return ENOSYS;
}

PROGRAM_EXPORT FILE *popen(const char *command, const char *mode)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(popen)(command, mode);
    }
    (void)refuse("popen");
    return NULL;
}
