// SPDX-License-Identifier: Apache-2.0
// programs/process/close.c - closing and copying descriptors.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "programs/process/descriptors.h"
#include "programs/sockets/endpoint.h"
#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/turn.h"

static int refuse(void)
{
    errno = EBADF;
    return -1;
}

// Notes that a descriptor of the program is about to be closed.
static void forget(int descriptor)
{
    if (turn_is_mine()) {
        endpoint_close(descriptor);
    }
}

PROGRAM_EXPORT int close(int descriptor)
{
    if (descriptors_hidden(descriptor)) {
        return refuse();
    }
    forget(descriptor);
    const int error = PROGRAM_NEXT(close)(descriptor);
    threads_touch_descriptors();
    return error;
}

PROGRAM_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
    if (!turn_on() || flags != 0) {
        return PROGRAM_NEXT(close_range)(first, last, flags);
    }
    if (first > last) {
        errno = EINVAL;
        return -1;
    }
    for (unsigned int at = first; at <= last && at < 65536; at++) {
        if (!descriptors_hidden((int)at)) {
            forget((int)at);
            system_call(SYS_close, at);
        }
    }
    return 0;
}

PROGRAM_EXPORT void closefrom(int first)
{
    (void)close_range(first < 0 ? 0 : (unsigned int)first, ~0u, 0);
}

PROGRAM_EXPORT int dup(int descriptor)
{
    if (descriptors_hidden(descriptor)) {
        return refuse();
    }
    const int copy = PROGRAM_NEXT(dup)(descriptor);
    if (copy >= 0) {
        endpoint_copy(descriptor, copy);
    }
    return copy;
}

PROGRAM_EXPORT int dup3(int descriptor, int copy, int flags)
{
    if (descriptors_hidden(descriptor) || descriptors_hidden(copy)) {
        return refuse();
    }
    const int result = PROGRAM_NEXT(dup3)(descriptor, copy, flags);
    if (result >= 0) {
        endpoint_copy(descriptor, copy);
    }
    return result;
}

PROGRAM_EXPORT int dup2(int descriptor, int copy)
{
    if (descriptors_hidden(descriptor) || descriptors_hidden(copy)) {
        return refuse();
    }
    const int result = PROGRAM_NEXT(dup2)(descriptor, copy);
    if (result >= 0) {
        endpoint_copy(descriptor, copy);
    }
    return result;
}

static int control(int descriptor, int command, void *argument)
{
    if (descriptors_hidden(descriptor)) {
        return refuse();
    }
    if (command == F_SETOWN && turn_on() && (pid_t)(intptr_t)argument == getpid()) {
        argument = (void *)(intptr_t)system_call(SYS_getpid);
    }
    const long result = system_call(SYS_fcntl, descriptor, command, argument);
    if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) {
        endpoint_copy(descriptor, (int)result);
    }
    return (int)result;
}

PROGRAM_EXPORT int fcntl(int descriptor, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return control(descriptor, command, argument);
}

PROGRAM_EXPORT int fcntl64(int descriptor, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return control(descriptor, command, argument);
}

PROGRAM_EXPORT int fclose(FILE *file)
{
    const int descriptor = fileno(file);
    if (descriptor >= 0) {
        forget(descriptor);
    }
    return PROGRAM_NEXT(fclose)(file);
}
