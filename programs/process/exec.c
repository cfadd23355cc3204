// SPDX-License-Identifier: Apache-2.0
// programs/process/exec.c - a process becomes another program, which loads the library again.
//
// The trap of the time stamp counter would survive, and meet the loader before the library can
// handle it. So it is off in between.

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "programs/process/sanitizers.h"
#include "programs/time/tsc.h"
#include "programs/turn.h"

#define WORDS_MAX 4096u

// Calls a function that becomes another program, or fails.
#define BECOME(call)                 \
    do {                             \
        if (turn_on()) {             \
            turn_prepare_exec();     \
            sanitizers_limit(true);  \
            tsc_trap(false);         \
        }                            \
        const int result_ = (call);  \
        const int error_ = errno;    \
        if (turn_on()) {             \
            tsc_trap(true);          \
            sanitizers_limit(false); \
        }                            \
        errno = error_;              \
        return result_;              \
    } while (0)

PROGRAM_EXPORT int execve(const char *path, char *const words[], char *const environment[])
{
    BECOME(PROGRAM_NEXT(execve)(path, words, environment));
}

PROGRAM_EXPORT int execv(const char *path, char *const words[])
{
    BECOME(PROGRAM_NEXT(execv)(path, words));
}

PROGRAM_EXPORT int execvp(const char *file, char *const words[])
{
    BECOME(PROGRAM_NEXT(execvp)(file, words));
}

PROGRAM_EXPORT int execvpe(const char *file, char *const words[], char *const environment[])
{
    BECOME(PROGRAM_NEXT(execvpe)(file, words, environment));
}

PROGRAM_EXPORT int fexecve(int file, char *const words[], char *const environment[])
{
    BECOME(PROGRAM_NEXT(fexecve)(file, words, environment));
}

// Copies the words of a list, which ends with NULL. Returns false if there are too many.
static bool take_words(const char *first, va_list *list, char *words[WORDS_MAX])
{
    size_t count = 0;
    union {
        const char *from;
        char *to;
    } word = {.from = first};
    while (word.to != NULL && count < WORDS_MAX - 1) {
        words[count++] = word.to;
        word.from = va_arg(*list, const char *);
    }
    words[count] = NULL;
    errno = E2BIG;
    return word.to == NULL;
}

PROGRAM_EXPORT int execl(const char *path, const char *first, ...)
{
    char *words[WORDS_MAX];
    va_list list;
    va_start(list, first);
    const bool good = take_words(first, &list, words);
    va_end(list);
    return good ? execv(path, words) : -1;
}

PROGRAM_EXPORT int execlp(const char *file, const char *first, ...)
{
    char *words[WORDS_MAX];
    va_list list;
    va_start(list, first);
    const bool good = take_words(first, &list, words);
    va_end(list);
    return good ? execvp(file, words) : -1;
}

PROGRAM_EXPORT int execle(const char *path, const char *first, ...)
{
    char *words[WORDS_MAX];
    va_list list;
    va_start(list, first);
    const bool good = take_words(first, &list, words);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return good ? execve(path, words, environment) : -1;
}
