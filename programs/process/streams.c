// SPDX-License-Identifier: Apache-2.0
// programs/process/streams.c - standard streams that a shell, or another program, made pipes of.
//
// The C library's own streams read and write by system calls that nobody sees: a call that waits
// would do so in real time, with the turn, and a reader would not hear of a write. So streams that
// call functions of this library stand in their places.

#include "programs/process/streams.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "programs/parts.h"
#include "programs/turn.h"

enum { STREAMS = STDERR_FILENO + 1 };

static FILE *own[STREAMS];    // by descriptor; NULL: that is no pipe
static FILE *before[STREAMS]; // the C library's

static ssize_t read_stream(void *cookie, char *bytes, size_t count)
{
    const int error = errno;
    const ssize_t done = read((int)(intptr_t)cookie, bytes, count);
    errno = done < 0 ? errno : error; // as the kernel does
    return done;
}

static ssize_t write_stream(void *cookie, const char *bytes, size_t count)
{
    const int error = errno;
    const ssize_t done = write((int)(intptr_t)cookie, bytes, count);
    errno = done < 0 ? errno : error;
    return done < 0 ? 0 : done;
}

static int close_stream(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

// Returns the stream that takes the place of another one, which is itself if it is no pipe.
static FILE *replace(int descriptor, FILE *stream)
{
    before[descriptor] = stream;
    const cookie_io_functions_t functions = {.read = read_stream,
                                             .write = write_stream,
                                             .close = close_stream};
    struct stat file;
    if (fstat(descriptor, &file) == 0 && (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode))) {
        own[descriptor] = fopencookie((void *)(intptr_t)descriptor,
                                      descriptor == STDIN_FILENO ? "r" : "w", functions);
    }
    return own[descriptor] == NULL ? stream : own[descriptor];
}

void streams_begin(void)
{
    stdin = replace(STDIN_FILENO, stdin);
    stdout = replace(STDOUT_FILENO, stdout);
    stderr = replace(STDERR_FILENO, stderr);
    (void)setvbuf(stderr, NULL, _IONBF, 0);
}

// After the end, the C library would write without the simulator, and wait for readers for ever.
void parts_before_end(void)
{
    if (own[STDOUT_FILENO] != NULL) {
        (void)fflush(own[STDOUT_FILENO]);
    }
}

// Returns the descriptor of a stream of this library, or -1.
static int descriptor_of(const FILE *stream)
{
    int i = STREAMS - 1;
    while (i >= 0 && (own[i] == NULL || own[i] != stream)) {
        i--;
    }
    return i;
}

bool streams_is_own(const FILE *stream)
{
    return descriptor_of(stream) >= 0;
}

PROGRAM_EXPORT int fileno(FILE *stream)
{
    const int descriptor = descriptor_of(stream);
    return descriptor < 0 ? PROGRAM_NEXT(fileno)(stream) : descriptor;
}

PROGRAM_EXPORT int fileno_unlocked(FILE *stream)
{
    return fileno(stream);
}

// The C library opens another file only with a stream of its own.
PROGRAM_EXPORT FILE *freopen(const char *path, const char *mode, FILE *stream)
{
    const int descriptor = descriptor_of(stream);
    if (descriptor >= 0) {
        (void)fflush(stream);
        own[descriptor] = NULL;
        stream = before[descriptor];
        *(descriptor == STDIN_FILENO    ? &stdin
          : descriptor == STDOUT_FILENO ? &stdout
                                        : &stderr) = stream;
    }
    return PROGRAM_NEXT(freopen)(path, mode, stream);
}

PROGRAM_EXPORT FILE *freopen64(const char *path, const char *mode, FILE *stream)
{
    return freopen(path, mode, stream);
}
