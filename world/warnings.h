// SPDX-License-Identifier: Apache-2.0
// world/warnings.h - a list of warnings about a valid scenario, each with its kind.
//
// summary.json keeps the list with the results, and sweeps print each kind once.
#ifndef WORLD_WARNINGS_H
#define WORLD_WARNINGS_H

#include "kernel/base.h"

#include <stdio.h>

SIM_C_BEGIN

typedef struct world_warning {
    const char *kind; // a name such as "rate-increase", static
    char *text;       // one line, without "warning: "
} world_warning_t;

typedef struct world_warnings {
    world_warning_t *items; // owned
    size_t count;
    size_t capacity;
} world_warnings_t;

// Adds a warning. kind is static; format makes the text.
void world_warn(world_warnings_t *warnings, const char *kind, const char *format, ...)
    SIM_PRINTF(3, 4);
// Prints a line "warning: ..." for each of them.
void world_warnings_print(const world_warnings_t *warnings, FILE *out);
void world_warnings_fini(world_warnings_t *warnings);

SIM_C_END

#endif // WORLD_WARNINGS_H
