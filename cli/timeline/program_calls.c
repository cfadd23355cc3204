// SPDX-License-Identifier: Apache-2.0
// cli/timeline/program_calls.c - reads what `run --program-trace` has written.
#include "cli/timeline/program_calls.h"

#include "kernel/base.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_OF_PS 6 // behind the point of a time in us

// Reads "12.000345 7 TEXT\n". Returns false if the line is no such.
static bool parse(char *line, cli_call_t *call)
{
    char *at = NULL;
    const unsigned long long us = strtoull(line, &at, 10);
    if (at == line || *at != '.' || strspn(at + 1, "0123456789") != DIGITS_OF_PS) {
        return false;
    }
    const unsigned long long ps = strtoull(at + 1, &at, 10);
    call->time_ps = us * SIM_PS_PER_US + ps;
    char *const number = at;
    call->thread = strtoull(number, &at, 10);
    if (at == number || *at != ' ') {
        return false;
    }
    call->text = at + 1;
    at[strcspn(at, "\n")] = '\0';
    call->name_bytes = strcspn(call->text, "(");
    return call->name_bytes != 0;
}

// Reads one file, "host3-0.trace".
static bool read_file(const char *path, const char *name, cli_call_fn fn, void *ctx)
{
    FILE *const file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    const char *const dash = strrchr(name, '-');
    const cli_call_t program = {
        .host = name,
        .host_bytes = (size_t)(dash - name),
        .program = strtoull(dash + 1, NULL, 10),
    };
    while (file != NULL && getline(&line, &capacity, file) >= 0) {
        cli_call_t call = program;
        if (parse(line, &call)) {
            fn(&call, ctx);
        }
    }
    const bool good = file != NULL && ferror(file) == 0;
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
    return good;
}

static int is_trace(const struct dirent *entry)
{
    const char *const dot = strrchr(entry->d_name, '.');
    const char *const dash = strrchr(entry->d_name, '-');
    return dot != NULL && dash != NULL && dash < dot && strcmp(dot, ".trace") == 0;
}

sim_err_t cli__timeline_calls(const char *folder, cli_call_fn fn, void *ctx, world_error_t *error)
{
    char *const programs = sim_format("%s/programs", folder);
    struct dirent **entries = NULL;
    const int count = scandir(programs, &entries, is_trace, alphasort);
    sim_err_t result = SIM_OK;
    for (int i = 0; i < count; i++) {
        char *const path = sim_format("%s/%s", programs, entries[i]->d_name);
        if (result == SIM_OK && !read_file(path, entries[i]->d_name, fn, ctx)) {
            result = world_fail(error, SIM_ERR_IO, NULL, "%s: %s", path, strerror(errno));
        }
        sim_free(path);
        free(entries[i]);
    }
    free((void *)entries);
    sim_free(programs);
    return result;
}
