// SPDX-License-Identifier: Apache-2.0
// results/file.c - buffered writing with sticky errors.
#include "results/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 16)

struct results_file {
    FILE *stream;
    char *path;
    char *buffer;
    int error; // errno of the first failure; 0: none
};

sim_err_t results_file_open(const char *path, results_file_t **file, world_error_t *error)
{
    FILE *const stream = fopen(path, "we");
    if (stream == NULL) {
        const world_place_t place = {path, 0, 0};
        return world_fail(error, SIM_ERR_IO, &place, "cannot create: %s", strerror(errno));
    }
    results_file_t *const made = sim_alloc(sizeof(*made));
    made->stream = stream;
    made->path = sim_strdup(path);
    made->buffer = sim_alloc(BUFFER_BYTES);
    setvbuf(stream, made->buffer, _IOFBF, BUFFER_BYTES);
    *file = made;
    return SIM_OK;
}

static void note(results_file_t *file, bool failed)
{
    if (failed && file->error == 0) {
        file->error = errno != 0 ? errno : EIO;
    }
}

void results_file_print(results_file_t *file, const char *format, ...)
{
    if (file->error != 0) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    errno = 0;
    note(file, vfprintf(file->stream, format, arguments) < 0);
    va_end(arguments);
}

void results_file_put(results_file_t *file, const char *text)
{
    if (file->error == 0) {
        errno = 0;
        note(file, fputs(text, file->stream) < 0);
    }
}

void results_file_put_u64(results_file_t *file, uint64_t value)
{
    char digits[24];
    char *p = digits + sizeof(digits);
    *--p = '\0';
    do {
        *--p = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    results_file_put(file, p);
}

void results_file_put_ns(results_file_t *file, sim_time_t time_ps)
{
    results_file_put_u64(file, time_ps / SIM_PS_PER_NS);
    const unsigned rest = (unsigned)(time_ps % SIM_PS_PER_NS);
    if (rest > 0) {
        results_file_print(file, ".%03u", rest);
    }
}

void results_file_put_csv(results_file_t *file, const char *text)
{
    if (strpbrk(text, ",\"\n\r") == NULL) {
        results_file_put(file, text);
        return;
    }
    results_file_put(file, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        const char one[3] = {*p, *p == '"' ? '"' : '\0', '\0'};
        results_file_put(file, one);
    }
    results_file_put(file, "\"");
}

sim_err_t results_file_close(results_file_t *file, world_error_t *error)
{
    errno = 0;
    note(file, fflush(file->stream) != 0);
    errno = 0;
    note(file, fclose(file->stream) != 0);
    sim_err_t result = SIM_OK;
    if (file->error != 0) {
        const world_place_t place = {file->path, 0, 0};
        result = world_fail(error,
                            SIM_ERR_IO,
                            &place,
                            "cannot write: %s; the file is not whole",
                            strerror(file->error));
    }
    sim_free(file->buffer);
    sim_free(file->path);
    sim_free(file);
    return result;
}
