// SPDX-License-Identifier: Apache-2.0
// programs/files/open.c - opens files. Files that would show this machine are replaced.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "programs/files/paths.h"
#include "programs/process/random.h"
#include "programs/sockets/endpoint.h"
#include "programs/system.h"
#include "programs/turn.h"

static const char *processor_text(void)
{
    static char text[1024];
    const uint64_t khz = turn_shared->tsc_hz / 1000;
    if (text[0] == '\0') {
        snprintf(text, sizeof text,
                 "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
                 "model name\t: simulated\nstepping\t: 1\n"
                 "cpu MHz\t\t: %lu.%03lu\ncache size\t: 32768 KB\nphysical id\t: 0\n"
                 "siblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\nfpu\t\t: yes\n"
                 "flags\t\t: fpu tsc msr cx8 cmov mmx fxsr sse sse2 rdtscp lm constant_tsc "
                 "nonstop_tsc ssse3 cx16 sse4_1 sse4_2 popcnt\n"
                 "clflush size\t: 64\ncache_alignment\t: 64\n\n",
                 (unsigned long)(khz / 1000), (unsigned long)(khz % 1000));
    }
    return text;
}

static bool is_processor(const char *path)
{
    return turn_on() && path != NULL && strcmp(path, "/proc/cpuinfo") == 0;
}

static bool is_random(const char *path)
{
    return turn_on() && path != NULL &&
           (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0);
}

static int open_processor(int flags)
{
    const char *text = processor_text();
    const int descriptor =
        (int)system_call(SYS_memfd_create, "cpuinfo", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0u);
    if (descriptor >= 0) {
        system_call(SYS_write, descriptor, text, strlen(text));
        system_call(SYS_lseek, descriptor, 0, SEEK_SET);
    }
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

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    char place[PATH_MAX];
    if (is_processor(path)) {
        return open_processor(flags);
    }
    if (is_random(path)) {
        return open_random(flags);
    }
    return (int)system_call(SYS_openat, folder, paths_opened(folder, path, place),
                            flags | O_LARGEFILE, mode);
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

// Returns a stream for one of the files, or NULL.
static FILE *open_stream(const char *path, const char *mode)
{
    if (is_processor(path)) {
        const int descriptor = open_processor(0);
        return descriptor < 0 ? NULL : fdopen(descriptor, "r");
    }
    const cookie_io_functions_t functions = {.read = read_random};
    return fopencookie(NULL, mode, functions);
}

PROGRAM_EXPORT FILE *fopen(const char *restrict path, const char *restrict mode)
{
    char place[PATH_MAX];
    return is_processor(path) || is_random(path)
               ? open_stream(path, mode)
               : PROGRAM_NEXT(fopen)(paths_opened(AT_FDCWD, path, place), mode);
}

PROGRAM_EXPORT FILE *fopen64(const char *restrict path, const char *restrict mode)
{
    char place[PATH_MAX];
    return is_processor(path) || is_random(path)
               ? open_stream(path, mode)
               : PROGRAM_NEXT(fopen64)(paths_opened(AT_FDCWD, path, place), mode);
}
