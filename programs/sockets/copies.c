// SPDX-License-Identifier: Apache-2.0
// programs/sockets/copies.c - functions of the C library that write to descriptors by themselves.

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "programs/sockets/endpoint.h"
#include "programs/turn.h"

#define PIECE_BYTES 65536

// Writes all bytes unless an error comes before the first one. Returns how many were written, or
// -1.
static ssize_t write_all(int descriptor, const char *bytes, size_t count)
{
    size_t done = 0;
    while (done < count) {
        const ssize_t written = write(descriptor, bytes + done, count - done);
        if (written < 0) {
            return done != 0 ? (ssize_t)done : -1;
        }
        done += (size_t)written;
    }
    return (ssize_t)done;
}

PROGRAM_EXPORT int vdprintf(int descriptor, const char *format, va_list arguments)
{
    char *text;
    if (!endpoint_waits(descriptor)) {
        return PROGRAM_NEXT(vdprintf)(descriptor, format, arguments);
    }
    const int length = vasprintf(&text, format, arguments);
    if (length < 0) {
        return -1;
    }
    const ssize_t written = write_all(descriptor, text, (size_t)length);
    const int error = errno;
    free(text);
    errno = error;
    return (int)written;
}

PROGRAM_EXPORT int dprintf(int descriptor, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int written = vdprintf(descriptor, format, arguments);
    va_end(arguments);
    return written;
}

// Programs that are built with _FORTIFY_SOURCE call these. `level` asks for checks of the format.

__attribute__((format(printf, 3, 0))) int __vdprintf_chk(int descriptor, int level,
                                                         const char *format, va_list arguments);
PROGRAM_EXPORT int __vdprintf_chk(int descriptor, int level, const char *format, va_list arguments)
{
    (void)level;
    return vdprintf(descriptor, format, arguments);
}

__attribute__((format(printf, 3, 4))) int __dprintf_chk(int descriptor, int level,
                                                        const char *format, ...);
PROGRAM_EXPORT int __dprintf_chk(int descriptor, int level, const char *format, ...)
{
    (void)level;
    va_list arguments;
    va_start(arguments, format);
    const int written = vdprintf(descriptor, format, arguments);
    va_end(arguments);
    return written;
}

// Moves up to a piece of a file to a descriptor of the simulation. Returns the bytes that were
// written.
static ssize_t send_piece(int to, int from, off_t *place, size_t count)
{
    char bytes[PIECE_BYTES];
    const size_t wish = count < sizeof bytes ? count : sizeof bytes;
    const ssize_t got = place == NULL ? read(from, bytes, wish) : pread(from, bytes, wish, *place);
    if (got <= 0) {
        return got;
    }
    const ssize_t sent = write_all(to, bytes, (size_t)got);
    if (place != NULL && sent > 0) {
        *place += sent;
    } else if (place == NULL && sent < got) {
        (void)lseek(from, (sent < 0 ? 0 : sent) - got, SEEK_CUR);
    }
    return sent;
}

PROGRAM_EXPORT ssize_t sendfile(int to, int from, off_t *place, size_t count)
{
    if (!endpoint_waits(to)) {
        return PROGRAM_NEXT(sendfile)(to, from, place, count);
    }
    size_t done = 0;
    while (done < count) {
        const ssize_t sent = send_piece(to, from, place, count - done);
        if (sent <= 0) {
            return done != 0 ? (ssize_t)done : sent;
        }
        done += (size_t)sent;
    }
    return (ssize_t)done;
}

PROGRAM_EXPORT ssize_t sendfile64(int to, int from, off64_t *place, size_t count)
{
    return sendfile(to, from, place, count);
}
