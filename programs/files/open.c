// SPDX-License-Identifier: Apache-2.0
// programs/files/open.c - opens files. Files that would show this machine are replaced.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "programs/files/paths.h"
#include "programs/files/streams.h"
#include "programs/files/texts.h"
#include "programs/process/random.h"
#include "programs/process/signals.h"
#include "programs/sockets/endpoint.h"
#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/turn.h"

static bool is_random(const char *path)
{
    return turn_on() && path != NULL &&
           (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0);
}

// Opens a file in memory with a text, which is freed.
static int open_text(char *text, int flags)
{
    const int descriptor =
        (int)system_call(SYS_memfd_create, "text", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0u);
    if (descriptor >= 0) {
        system_call(SYS_write, descriptor, text, strlen(text));
        system_call(SYS_lseek, descriptor, 0, SEEK_SET);
    }
    free(text);
    return descriptor;
}

static int open_random(int flags)
{
    const int descriptor =
        (int)system_call(SYS_openat, AT_FDCWD, "/dev/zero", O_RDWR | (flags & O_CLOEXEC));
    if (descriptor >= 0 && endpoint_create(descriptor, ENDPOINT_RANDOM) == NULL) {
        system_call(SYS_close, descriptor);
        return -1;
    }
    return descriptor;
}

// -- named pipes

// Returns whether a named pipe that is open for reading has a writer, or has had one. Polls say
// nothing of a writer that has written nothing; tee() takes no bytes.
static bool has_writer(int descriptor)
{
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    int ends[2];
    if (system_call(SYS_poll, &ready, 1, 0) != 0 || system_call(SYS_pipe2, ends, 0) != 0) {
        return true;
    }
    const long copied = system_call(SYS_tee, descriptor, ends[1], 1, SPLICE_F_NONBLOCK);
    system_call(SYS_close, ends[0]);
    system_call(SYS_close, ends[1]);
    return copied != 0; // -1: there is a writer, whose bytes are to come
}

// Opens one end of a named pipe and waits until the other one is open, as the kernel would in real
// time.
static int open_pipe(int folder, const char *place, int flags)
{
    const uint64_t before = signals_interrupts;
    uint64_t step_ps = 0;
    int descriptor = -1;
    threads_become_many();
    endpoint_shares_pipes = true;
    turn_charge_call();
    threads_meet();
    for (;;) {
        if (descriptor < 0) {
            descriptor = (int)system_call(SYS_openat, folder, place, flags | O_NONBLOCK, 0);
            if (descriptor >= 0) {
                threads_touch_descriptors();
            } else if (errno != ENXIO) {
                return -1;
            }
        }
        if (descriptor >= 0 && ((flags & O_ACCMODE) != O_RDONLY || has_writer(descriptor))) {
            system_call(SYS_fcntl, descriptor, F_SETFL, flags & ~O_CREAT);
            return descriptor;
        }
        (void)turn_wait(PROGRAM_ON_SOCKET | PROGRAM_ON_EVENT | PROGRAM_ON_SIGNAL,
                        endpoint_step(&step_ps, PROGRAM_NEVER));
        threads_cancel_point();
        if (signals_interrupts != before) {
            if (descriptor >= 0) {
                system_call(SYS_close, descriptor);
            }
            errno = EINTR;
            return -1;
        }
    }
}

static bool is_named_pipe(int folder, const char *place)
{
    struct stat file;
    return place != NULL && turn_on() && turn_is_mine() && !turn_busy() &&
           system_call(SYS_newfstatat, folder, place, &file, 0) == 0 && S_ISFIFO(file.st_mode);
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    char place[PATH_MAX];
    if (is_random(path)) {
        return open_random(flags);
    }
    const char *real = paths_opened(folder, path, place);
    char *text = texts_of(path, real);
    if (text != NULL) {
        return open_text(text, flags);
    }
    if ((flags & (O_NONBLOCK | O_PATH)) == 0 && (flags & O_ACCMODE) != O_RDWR &&
        is_named_pipe(folder, real) && turn_enter("open")) {
        return open_pipe(folder, real, flags);
    }
    return (int)system_call(SYS_openat, folder, real, flags | O_LARGEFILE, mode);
}

// The mode comes only with flags that create a file.
#define MODE_OF(flags)                            \
    mode_t mode = 0;                              \
    if (((flags) & (O_CREAT | O_TMPFILE)) != 0) { \
        va_list arguments;                        \
        va_start(arguments, flags);               \
        mode = va_arg(arguments, mode_t);         \
        va_end(arguments);                        \
    }

PROGRAM_EXPORT int open(const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

PROGRAM_EXPORT int open64(const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

PROGRAM_EXPORT int openat(int folder, const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_at(folder, path, flags, mode);
}

PROGRAM_EXPORT int openat64(int folder, const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_at(folder, path, flags, mode);
}

int __open_2(const char *path, int flags);
PROGRAM_EXPORT int __open_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags);
PROGRAM_EXPORT int __open64_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

static ssize_t read_random(void *unused, char *bytes, size_t count)
{
    (void)unused;
    random_fill(bytes, count);
    return (ssize_t)count;
}

// Opens a stream by `open`, which is one of the two functions below of the C library.
static FILE *open_by(FILE *(*open)(const char *, const char *), const char *path, const char *mode)
{
    char place[PATH_MAX];
    if (is_random(path)) {
        return fopencookie(NULL, mode, (cookie_io_functions_t){.read = read_random});
    }
    const char *real = paths_opened(AT_FDCWD, path, place);
    char *text = texts_of(path, real);
    if (text != NULL) {
        const int descriptor = open_text(text, strchr(mode, 'e') != NULL ? O_CLOEXEC : 0);
        return descriptor < 0 ? NULL : fdopen(descriptor, mode);
    }
    if (!is_named_pipe(AT_FDCWD, real)) {
        return open(real, mode);
    }
    const int descriptor = open_at(AT_FDCWD, path,
                                   (strchr(mode, '+') != NULL ? O_RDWR
                                    : mode[0] == 'r'          ? O_RDONLY
                                                              : O_WRONLY) |
                                       (strchr(mode, 'e') != NULL ? O_CLOEXEC : 0),
                                   0);
    return descriptor < 0 ? NULL : streams_open(descriptor, mode);
}

PROGRAM_EXPORT FILE *fopen(const char *restrict path, const char *restrict mode)
{
    return open_by(PROGRAM_NEXT(fopen), path, mode);
}

PROGRAM_EXPORT FILE *fopen64(const char *restrict path, const char *restrict mode)
{
    return open_by(PROGRAM_NEXT(fopen64), path, mode);
}
