// SPDX-License-Identifier: Apache-2.0
// results/run/file.c - buffered writing with sticky errors.
#include "results/file.h"

#include "kernel/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)1 << 16)

// A file with a buffer of its own: tables are written in cells of a few bytes, and a call of the C
// library for each cell would cost more than everything else.
struct results_file {
    int descriptor;
    int error; // errno of the first failure; 0: none
    char *path;
    size_t used;
    char buffer[BUFFER_BYTES];
};

sim_err_t results_file_open(const char *path, results_file_t **file, world_error_t *error)
{
    const int descriptor = sim_own_file_open(path, O_WRONLY);
    if (descriptor < 0) {
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot create: %s",
                          sim_own_file_reason(errno));
    }
    *file = results_file_on(descriptor, path);
    return SIM_OK;
}

results_file_t *results_file_on(int descriptor, const char *name)
{
    results_file_t *const made = sim_alloc(sizeof(*made));
    made->descriptor = descriptor;
    made->path = sim_strdup(name);
    return made;
}

static void flush(results_file_t *file)
{
    for (size_t done = 0; done < file->used && file->error == 0;) {
        const ssize_t count = write(file->descriptor, file->buffer + done, file->used - done);
        if (count >= 0) {
            done += (size_t)count;
        } else if (errno != EINTR) {
            file->error = errno;
        }
    }
    file->used = 0;
}

static void put(results_file_t *file, const char *text, size_t size)
{
    while (SIM_UNLIKELY(size > BUFFER_BYTES - file->used)) {
        const size_t part = BUFFER_BYTES - file->used;
        memcpy(file->buffer + file->used, text, part);
        file->used += part;
        text += part;
        size -= part;
        flush(file);
    }
    memcpy(file->buffer + file->used, text, size);
    file->used += size;
}

void results_file_print(results_file_t *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char text[256];
    va_list again;
    va_copy(again, arguments);
    const int size = vsnprintf(text, sizeof(text), format, arguments);
    SIM_CHECKF(size >= 0, "format \"%s\"", format);
    if ((size_t)size < sizeof(text)) {
        put(file, text, (size_t)size);
    } else {
        char *const all = sim_alloc((size_t)size + 1);
        vsnprintf(all, (size_t)size + 1, format, again);
        put(file, all, (size_t)size);
        sim_free(all);
    }
    va_end(again);
    va_end(arguments);
}

void results_file_put(results_file_t *file, const char *text)
{
    put(file, text, strlen(text));
}

void results_file_put_char(results_file_t *file, char one)
{
    if (SIM_UNLIKELY(file->used == BUFFER_BYTES)) {
        flush(file);
    }
    file->buffer[file->used++] = one;
}

// Writes the digits of value before `end` and returns where they begin.
static char *put_digits(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

void results_file_put_u64(results_file_t *file, uint64_t value)
{
    if (value < 10) { // most of what a table has
        results_file_put_char(file, (char)('0' + value));
        return;
    }
    char digits[24];
    char *const end = digits + sizeof(digits);
    const char *const begin = put_digits(end, value);
    put(file, begin, (size_t)(end - begin));
}

void results_file_put_decimal(results_file_t *file, uint64_t value, unsigned decimals)
{
    SIM_CHECK(decimals <= 9);
    char digits[32];
    char *const end = digits + sizeof(digits);
    char *begin = end;
    for (unsigned i = 0; i < decimals; i++) {
        *--begin = (char)('0' + value % 10);
        value /= 10;
    }
    if (decimals > 0) {
        *--begin = '.';
    }
    begin = put_digits(begin, value);
    put(file, begin, (size_t)(end - begin));
}

void results_file_put_ns(results_file_t *file, sim_time_t time_ps)
{
    static_assert(SIM_PS_PER_NS == 1000, "three decimals");
    if (time_ps % SIM_PS_PER_NS == 0) {
        results_file_put_u64(file, time_ps / SIM_PS_PER_NS);
    } else {
        results_file_put_decimal(file, time_ps, 3);
    }
}

void results_file_put_csv(results_file_t *file, const char *text)
{
    const size_t plain = strcspn(text, ",\"\n\r");
    if (text[plain] == '\0') {
        put(file, text, plain);
        return;
    }
    results_file_put_char(file, '"');
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"') {
            results_file_put_char(file, '"');
        }
        results_file_put_char(file, *p);
    }
    results_file_put_char(file, '"');
}

sim_err_t results_file_close(results_file_t *file, world_error_t *error)
{
    flush(file);
    if (close(file->descriptor) != 0 && file->error == 0) {
        file->error = errno;
    }
    sim_err_t result = SIM_OK;
    if (file->error != 0) {
        result = world_fail(error, SIM_ERR_IO, WORLD_FILE(file->path),
                            "cannot write: %s; the file is incomplete", strerror(file->error));
    }
    sim_free(file->path);
    sim_free(file);
    return result;
}

sim_err_t results_file_write(const char *folder, const char *name, results_put_fn put_what,
                             const void *what, world_error_t *error)
{
    char *const path = sim_format("%s/%s", folder, name);
    results_file_t *file = NULL;
    const sim_err_t result = results_file_open(path, &file, error);
    sim_free(path);
    if (file == NULL) {
        return result;
    }
    put_what(file, what);
    return results_file_close(file, error);
}
