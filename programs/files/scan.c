// SPDX-License-Identifier: Apache-2.0
// programs/files/scan.c - formatted reading of wide characters from streams of this library.
//
// The C library scans a file in memory with what the stream has so far. If that is not enough, the
// file gets one more line, and is scanned again. What is left over goes back.

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <wchar.h>

#include "programs/files/streams.h"
#include "programs/system.h"
#include "programs/turn.h"

// Moves bytes of a stream to the end of a file, up to the end of the line. Returns false at the end
// of the stream.
static bool add_line(FILE *file, FILE *stream)
{
    int next;
    do {
        next = fgetc(stream);
    } while (next != EOF && fputc(next, file) != EOF && next != '\n');
    return next != EOF;
}

// Gives the stream back what lies behind the place in the file.
static void give_back(FILE *file, long place, FILE *stream)
{
    for (long at = ftell(file) - 1; at >= place; at--) {
        if (fseek(file, at, SEEK_SET) != 0 || ungetc(fgetc(file), stream) == EOF) {
            return;
        }
    }
}

static int scan_bytes(FILE *stream, const wchar_t *format, va_list arguments)
{
    const int memory = (int)system_call(SYS_memfd_create, "scan", 0);
    const int other = memory < 0 ? -1 : (int)system_call(SYS_dup, memory);
    FILE *file = other < 0 ? NULL : PROGRAM_NEXT(fdopen)(memory, "w+");
    int found = EOF;
    for (bool more = file != NULL; more;) {
        more = add_line(file, stream);
        (void)fflush(file);
        const int copy = (int)system_call(SYS_dup, other);
        FILE *wide = copy < 0 ? NULL : PROGRAM_NEXT(fdopen)(copy, "r");
        if (wide == NULL) {
            break;
        }
        rewind(wide);
        va_list again;
        va_copy(again, arguments);
        found = PROGRAM_NEXT(vfwscanf)(wide, format, again);
        va_end(again);
        more = more && feof(wide) != 0;
        const long place = ftell(wide);
        (void)fclose(wide);
        (void)fseek(file, 0, SEEK_END);
        if (!more) {
            give_back(file, place, stream);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    system_call(SYS_close, other);
    return found;
}

// Programs call functions of these names, or those of ISO C99, which stand for them in the headers.
#define ALIAS(function)                                    \
    __typeof__(function) gnu_##function __asm__(#function) \
        __attribute__((alias("__isoc99_" #function), visibility("default")))

PROGRAM_EXPORT int vfwscanf(FILE *restrict stream, const wchar_t *restrict format,
                            va_list arguments)
{
    return streams_is_own(stream) ? scan_bytes(stream, format, arguments)
                                  : PROGRAM_NEXT(vfwscanf)(stream, format, arguments);
}

PROGRAM_EXPORT int vwscanf(const wchar_t *restrict format, va_list arguments)
{
    return vfwscanf(stdin, format, arguments);
}

PROGRAM_EXPORT int fwscanf(FILE *restrict stream, const wchar_t *restrict format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int found = vfwscanf(stream, format, arguments);
    va_end(arguments);
    return found;
}

PROGRAM_EXPORT int wscanf(const wchar_t *restrict format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int found = vfwscanf(stdin, format, arguments);
    va_end(arguments);
    return found;
}

extern ALIAS(vfwscanf);
extern ALIAS(vwscanf);
extern ALIAS(fwscanf);
extern ALIAS(wscanf);
