// SPDX-License-Identifier: Apache-2.0
// programs/process/end.c - the end of a program, and calls that would leave the simulation.

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "programs/parts.h"

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

PROGRAM_EXPORT int daemon(int keep_folder, int keep_files)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(daemon)(keep_folder, keep_files);
    }
    turn_say("rocesim: the program called daemon(), but a program ends with its first process");
    errno = ENOSYS;
    return -1;
}

// Refuses what processes of this machine would share with those of all simulated hosts.
static int refuse(const char *function, const char *instead)
{
    turn_say("rocesim: the program called %s(), which is not simulated; %s is", function, instead);
    errno = ENOSYS;
    return -1;
}

PROGRAM_EXPORT int semget(key_t key, int count, int flags)
{
    return turn_on() ? refuse("semget", "sem_open()") : PROGRAM_NEXT(semget)(key, count, flags);
}

PROGRAM_EXPORT int msgget(key_t key, int flags)
{
    return turn_on() ? refuse("msgget", "a pipe or a socket") : PROGRAM_NEXT(msgget)(key, flags);
}

PROGRAM_EXPORT mqd_t mq_open(const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    struct mq_attr *limits = (flags & O_CREAT) != 0 ? va_arg(arguments, struct mq_attr *) : NULL;
    va_end(arguments);
    return turn_on() ? refuse("mq_open", "a pipe or a socket")
                     : PROGRAM_NEXT(mq_open)(name, flags, mode, limits);
}

int parts_refuse_uring(void)
{
    return refuse("io_uring_setup", "epoll_wait()");
}
