// SPDX-License-Identifier: Apache-2.0
// tests/programs/streams/wide.c - wide characters on standard streams, which may be pipes.
//
// Goal: functions for wide characters write and read what they do on files. Method: prints the
// results and what it reads. test_small_programs.sh compares the output on pipes with that on
// files.
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static int print(const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int written = vwprintf(format, arguments);
    va_end(arguments);
    return written;
}

int main(void)
{
    wchar_t line[16] = L"";
    if (setlocale(LC_ALL, "C.UTF-8") == NULL) {
        return EXIT_FAILURE;
    }
    const int first = wprintf(L"%ls %d \u00e9\n", L"wide", 7);
    const int second = fwprintf(stdout, L"%5.2f|%-4lc|\n", 2.5, L'\u20ac');
    const int third = print(L"results %d %d\n", first, second);
    if (third < 0 || fputws(L"next\u20ac\n", stdout) < 0 || fwide(stdout, 0) < 0) {
        return EXIT_FAILURE;
    }
    putwchar(L'\u00df');
    putwc(L'\n', stdout);
    for (int i = 0; i < 2; i++) {
        wprintf(L"read %ls", fgetws(line, i == 0 ? 3 : 16, stdin) == NULL ? L"nothing" : line);
    }
    const wint_t last = getwchar();
    wprintf(L"then %x, %d\n", (unsigned)last, getwchar() == WEOF);
    return EXIT_SUCCESS;
}
