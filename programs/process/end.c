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

#include "programs/process/random.h"
#include "programs/threads/threads.h"
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
    turn_say("rocesim: the program called %s(), but programs cannot start other processes",
             function);
    errno = ENOSYS;
    return -1;
}

PROGRAM_EXPORT pid_t fork(void)
{
    return turn_on() ? refuse("fork") : PROGRAM_NEXT(fork)();
}

PROGRAM_EXPORT pid_t _Fork(void)
{
    return turn_on() ? refuse("fork") : PROGRAM_NEXT(_Fork)();
}

// A child of vfork() uses its parent's stack, so this function cannot stand between them.
PROGRAM_EXPORT pid_t vfork(void)
{
    return fork();
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

PROGRAM_EXPORT int system(const char *command)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(system)(command);
    }
    return command == NULL ? 0 : refuse("system");
}

PROGRAM_EXPORT FILE *popen(const char *command, const char *mode)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(popen)(command, mode);
    }
    (void)refuse("popen");
    return NULL;
}

// -- the number of the process: the same in every run

PROGRAM_EXPORT pid_t getpid(void)
{
    return turn_on() ? random_pid() : (pid_t)syscall(SYS_getpid);
}

PROGRAM_EXPORT pid_t gettid(void)
{
    return turn_on() ? random_pid() + (pid_t)threads_own_number() : (pid_t)syscall(SYS_gettid);
}

// A program reaches itself and its group, which is its own, and no process of this machine.
PROGRAM_EXPORT int kill(pid_t pid, int number)
{
    if (turn_on()) {
        if (pid != random_pid() && pid != 0 && pid != -random_pid()) {
            errno = ESRCH;
            return -1;
        }
        pid = pid > 0 ? (pid_t)syscall(SYS_getpid) : 0;
    }
    return (int)syscall(SYS_kill, pid, number);
}
