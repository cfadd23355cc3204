// SPDX-License-Identifier: Apache-2.0
// programs/process/end.c - the end of a program, and calls that would leave the simulation.

#include <errno.h>
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

PROGRAM_EXPORT int daemon(int keep_folder, int keep_files)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(daemon)(keep_folder, keep_files);
    }
    turn_say("rocesim: the program called daemon(), but a program ends with its first process");
    errno = ENOSYS;
    return -1;
}
