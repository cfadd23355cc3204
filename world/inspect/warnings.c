// SPDX-License-Identifier: Apache-2.0
// world/inspect/warnings.c - the list of warnings.
#include "world/warnings.h"

#include <stdarg.h>

void world_warn(world_warnings_t *warnings, const char *kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = sim_format_list(format, arguments);
    va_end(arguments);
    SIM_APPEND(warnings->items, warnings->count, warnings->capacity, (world_warning_t){kind, text});
}

void world_warnings_print(const world_warnings_t *warnings, FILE *out)
{
    for (size_t i = 0; i < warnings->count; i++) {
        (void)fprintf(out, "warning: %s\n", warnings->items[i].text);
    }
}

void world_warnings_fini(world_warnings_t *warnings)
{
    for (size_t i = 0; i < warnings->count; i++) {
        sim_free(warnings->items[i].text);
    }
    sim_free(warnings->items);
    *warnings = (world_warnings_t){NULL, 0, 0};
}
