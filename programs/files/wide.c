// SPDX-License-Identifier: Apache-2.0
// programs/files/wide.c - wide characters on standard streams that are pipes.
//
// The C library's streams that call functions take bytes only. So wide characters become bytes of
// the locale here, as they do in its own streams. What is read goes the other way.

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "programs/files/streams.h"
#include "programs/turn.h"

// Writes characters to a stream of this library. Returns false if one is not of the locale.
static bool put_all(const wchar_t *text, size_t count, FILE *stream)
{
    mbstate_t state = {0};
    char bytes[MB_LEN_MAX];
    for (size_t i = 0; i < count; i++) {
        const size_t length = wcrtomb(bytes, text[i], &state);
        if (length == (size_t)-1 || fwrite(bytes, 1, length, stream) != length) {
            return false;
        }
    }
    return true;
}

static int print(FILE *stream, const wchar_t *format, va_list arguments)
{
    wchar_t *text = NULL;
    size_t count = 0;
    FILE *memory = open_wmemstream(&text, &count);
    if (memory == NULL) {
        return -1;
    }
    int written = PROGRAM_NEXT(vfwprintf)(memory, format, arguments);
    (void)fclose(memory);
    if (written >= 0 && !put_all(text, count, stream)) {
        written = -1;
    }
    free(text);
    return written;
}

PROGRAM_EXPORT int vfwprintf(FILE *restrict stream, const wchar_t *restrict format,
                             va_list arguments)
{
    return streams_is_own(stream) ? print(stream, format, arguments)
                                  : PROGRAM_NEXT(vfwprintf)(stream, format, arguments);
}

PROGRAM_EXPORT int vwprintf(const wchar_t *restrict format, va_list arguments)
{
    return vfwprintf(stdout, format, arguments);
}

PROGRAM_EXPORT int fwprintf(FILE *restrict stream, const wchar_t *restrict format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int written = vfwprintf(stream, format, arguments);
    va_end(arguments);
    return written;
}

PROGRAM_EXPORT int wprintf(const wchar_t *restrict format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int written = vfwprintf(stdout, format, arguments);
    va_end(arguments);
    return written;
}

// Programs that are built with _FORTIFY_SOURCE call these. `level` asks for checks of the format.

int __vfwprintf_chk(FILE *stream, int level, const wchar_t *format, va_list arguments);
PROGRAM_EXPORT int __vfwprintf_chk(FILE *stream, int level, const wchar_t *format,
                                   va_list arguments)
{
    (void)level;
    return vfwprintf(stream, format, arguments);
}

int __vwprintf_chk(int level, const wchar_t *format, va_list arguments);
PROGRAM_EXPORT int __vwprintf_chk(int level, const wchar_t *format, va_list arguments)
{
    (void)level;
    return vfwprintf(stdout, format, arguments);
}

int __fwprintf_chk(FILE *stream, int level, const wchar_t *format, ...);
PROGRAM_EXPORT int __fwprintf_chk(FILE *stream, int level, const wchar_t *format, ...)
{
    (void)level;
    va_list arguments;
    va_start(arguments, format);
    const int written = vfwprintf(stream, format, arguments);
    va_end(arguments);
    return written;
}

int __wprintf_chk(int level, const wchar_t *format, ...);
PROGRAM_EXPORT int __wprintf_chk(int level, const wchar_t *format, ...)
{
    (void)level;
    va_list arguments;
    va_start(arguments, format);
    const int written = vfwprintf(stdout, format, arguments);
    va_end(arguments);
    return written;
}

PROGRAM_EXPORT wint_t fputwc(wchar_t character, FILE *stream)
{
    if (!streams_is_own(stream)) {
        return PROGRAM_NEXT(fputwc)(character, stream);
    }
    return put_all(&character, 1, stream) ? (wint_t)character : WEOF;
}

PROGRAM_EXPORT wint_t putwc(wchar_t character, FILE *stream)
{
    return fputwc(character, stream);
}

PROGRAM_EXPORT wint_t putwchar(wchar_t character)
{
    return fputwc(character, stdout);
}

PROGRAM_EXPORT int fputws(const wchar_t *restrict text, FILE *restrict stream)
{
    if (!streams_is_own(stream)) {
        return PROGRAM_NEXT(fputws)(text, stream);
    }
    return put_all(text, wcslen(text), stream) ? 1 : -1;
}

// A stream of this library takes both.
PROGRAM_EXPORT int fwide(FILE *stream, int mode)
{
    return streams_is_own(stream) ? mode : PROGRAM_NEXT(fwide)(stream, mode);
}

// -- reading

PROGRAM_EXPORT wint_t fgetwc(FILE *stream)
{
    if (!streams_is_own(stream)) {
        return PROGRAM_NEXT(fgetwc)(stream);
    }
    mbstate_t state = {0};
    wchar_t character = L'\0';
    size_t length = (size_t)-2;
    while (length == (size_t)-2) {
        const int next = fgetc(stream);
        const char byte = (char)next;
        if (next == EOF) {
            return WEOF;
        }
        length = mbrtowc(&character, &byte, 1, &state);
    }
    return length == (size_t)-1 ? WEOF : (wint_t)character;
}

PROGRAM_EXPORT wint_t getwc(FILE *stream)
{
    return fgetwc(stream);
}

PROGRAM_EXPORT wint_t getwchar(void)
{
    return fgetwc(stdin);
}

PROGRAM_EXPORT wint_t ungetwc(wint_t character, FILE *stream)
{
    mbstate_t state = {0};
    char bytes[MB_LEN_MAX];
    if (!streams_is_own(stream)) {
        return PROGRAM_NEXT(ungetwc)(character, stream);
    }
    size_t left = character == WEOF ? (size_t)-1 : wcrtomb(bytes, (wchar_t)character, &state);
    if (left == (size_t)-1) {
        return WEOF;
    }
    while (left != 0) {
        if (ungetc((unsigned char)bytes[--left], stream) == EOF) {
            return WEOF;
        }
    }
    return character;
}

PROGRAM_EXPORT wchar_t *fgetws(wchar_t *restrict text, int count, FILE *restrict stream)
{
    if (!streams_is_own(stream)) {
        return PROGRAM_NEXT(fgetws)(text, count, stream);
    }
    int done = 0;
    for (wint_t next = L'\0'; done + 1 < count && next != L'\n'; text[done++] = (wchar_t)next) {
        next = fgetwc(stream);
        if (next == WEOF) {
            break;
        }
    }
    if (done == 0) {
        return NULL;
    }
    text[done] = L'\0';
    return text;
}

wchar_t *__fgetws_chk(wchar_t *text, size_t room, int count, FILE *stream);
PROGRAM_EXPORT wchar_t *__fgetws_chk(wchar_t *text, size_t room, int count, FILE *stream)
{
    return count < 0 || (size_t)count > room ? PROGRAM_NEXT(__fgetws_chk)(text, room, count, stream)
                                             : fgetws(text, count, stream);
}
