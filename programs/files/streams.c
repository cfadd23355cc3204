// SPDX-License-Identifier: Apache-2.0
// programs/files/streams.c - streams of pipes and sockets: standard ones, and those of fdopen().
//
// The C library's own streams read and write by system calls that nobody sees: a call that waits
// would do so in real time, with the turn, and a reader would not hear of a write. So streams that
// call functions of this library stand in their places.

#include "programs/files/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "programs/files/terminals.h"
#include "programs/parts.h"
#include "programs/sockets/endpoint.h"
#include "programs/turn.h"

enum { STREAMS = STDERR_FILENO + 1 };

// A stream of this library.
typedef struct stream {
    FILE *file;
    int descriptor;
    struct stream *next;
} stream_t;

static stream_t *streams;
static FILE *before[STREAMS]; // the C library's standard streams

static ssize_t read_stream(void *cookie, char *bytes, size_t count)
{
    const int error = errno;
    const ssize_t done = read(((const stream_t *)cookie)->descriptor, bytes, count);
    errno = done < 0 ? errno : error; // as the kernel does
    return done;
}

static ssize_t write_stream(void *cookie, const char *bytes, size_t count)
{
    const int error = errno;
    const ssize_t done = write(((const stream_t *)cookie)->descriptor, bytes, count);
    errno = done < 0 ? errno : error;
    return done < 0 ? 0 : done;
}

static void forget(const stream_t *stream)
{
    stream_t **at = &streams;
    while (*at != NULL && *at != stream) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = stream->next;
    }
}

static int close_stream(void *cookie)
{
    stream_t *stream = cookie;
    const int descriptor = stream->descriptor;
    forget(stream);
    free(stream);
    return close(descriptor);
}

FILE *streams_open(int descriptor, const char *mode)
{
    const cookie_io_functions_t functions = {.read = read_stream,
                                             .write = write_stream,
                                             .close = close_stream};
    stream_t *stream = malloc(sizeof *stream);
    FILE *file = stream == NULL ? NULL : fopencookie(stream, mode, functions);
    if (file == NULL) {
        free(stream);
        return NULL;
    }
    *stream = (stream_t){.file = file, .descriptor = descriptor, .next = streams};
    streams = stream;
    return file;
}

PROGRAM_EXPORT FILE *fdopen(int descriptor, const char *mode)
{
    if (!endpoint_waits(descriptor)) {
        return PROGRAM_NEXT(fdopen)(descriptor, mode);
    }
    FILE *file = streams_open(descriptor, mode);
    if (file != NULL && strchr(mode, 'e') != NULL) {
        (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
    return file;
}

// Returns the stream that takes the place of another one, which is itself if it is no pipe.
static FILE *replace(int descriptor, FILE *stream)
{
    struct statfs kind;
    before[descriptor] = stream;
    if (endpoint_waits(descriptor) && fstatfs(descriptor, &kind) == 0 &&
        kind.f_type != PIPEFS_MAGIC && kind.f_type != SOCKFS_MAGIC) {
        endpoint_shares_pipes = true;
    }
    FILE *own = endpoint_waits(descriptor)
                    ? streams_open(descriptor, descriptor == STDIN_FILENO ? "r" : "w")
                    : NULL;
    return own == NULL ? stream : own;
}

void streams_begin(void)
{
    stdin = replace(STDIN_FILENO, stdin);
    stdout = replace(STDOUT_FILENO, stdout);
    stderr = replace(STDERR_FILENO, stderr);
    (void)setvbuf(stderr, NULL, _IONBF, 0);
    if (terminals_has(STDOUT_FILENO)) {
        (void)setvbuf(stdout, NULL, _IOLBF, 0);
    }
}

// Returns the entry of a stream of this library, or NULL.
static const stream_t *find(const FILE *file)
{
    const stream_t *stream = streams;
    while (stream != NULL && stream->file != file) {
        stream = stream->next;
    }
    return stream;
}

// After the end, the C library would write without the simulator, and wait for readers for ever.
void parts_before_end(void)
{
    for (const stream_t *stream = streams; stream != NULL; stream = stream->next) {
        (void)fflush(stream->file);
    }
}

bool streams_is_own(const FILE *stream)
{
    return find(stream) != NULL;
}

PROGRAM_EXPORT int fileno(FILE *stream)
{
    const stream_t *own = find(stream);
    return own == NULL ? PROGRAM_NEXT(fileno)(stream) : own->descriptor;
}

PROGRAM_EXPORT int fileno_unlocked(FILE *stream)
{
    return fileno(stream);
}

// The C library opens another file only with a stream of its own.
PROGRAM_EXPORT FILE *freopen(const char *path, const char *mode, FILE *stream)
{
    const stream_t *own = find(stream);
    const int descriptor = own == NULL ? STREAMS : own->descriptor;
    if (descriptor < STREAMS) {
        (void)fflush(stream);
        forget(own);
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
