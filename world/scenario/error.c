// SPDX-License-Identifier: Apache-2.0
// world/scenario/error.c - composing messages about bad input.
#include "world/error.h"

#include "kernel/attribute.h"
#include "world/control_characters.h"
#include "world/registry/trade_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_BYTES_MAX 64u
// A message that would list more than NAMES_MAX names lists the first NAMES_SHOWN.
#define NAMES_MAX 10u
#define NAMES_SHOWN 8u

static void append(world_error_t *error, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static void append(world_error_t *error, const char *format, va_list arguments)
{
    const size_t used = strlen(error->text);
    vsnprintf(error->text + used, sizeof(error->text) - used, format, arguments);
}

sim_err_t world_fail(world_error_t *error, sim_err_t code, const world_place_t *place,
                     const char *format, ...)
{
    error->text[0] = '\0';
    error->input[0] = '\0';
    if (place != NULL && place->origin != NULL) {
        if (place->line > 0) {
            world_error_add(error, "%s:%d:%d: ", place->origin, place->line, place->column);
        } else {
            world_error_add(error, "%s: ", place->origin);
        }
    }
    va_list arguments;
    va_start(arguments, format);
    append(error, format, arguments);
    va_end(arguments);
    return code;
}

void world_error_about(world_error_t *error, const char *name, const char *path)
{
    static const char *const places[] = {
        ":1:1: ", ":2:1: ", ":3:1: ", ": the file does not begin", " line 1: ", ": line 1 column "};
    const char *const at = strstr(error->text, name);
    const char *const rest = at != NULL ? at + strlen(name) : "";
    const bool said = strncmp(rest, ":1:1: is ", 9) == 0; // what the file is
    for (size_t i = 0; i < SIM_COUNT_OF(places); i++) {
        if (!said && strncmp(rest, places[i], strlen(places[i])) == 0 &&
            strlen(path) < sizeof(error->input)) {
            (void)snprintf(error->input, sizeof(error->input), "%s", path);
        }
    }
}

void world_error_add(world_error_t *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(error, format, arguments);
    va_end(arguments);
}

bool world_error_add_nearest(world_error_t *error, const char *text, const char *const *names,
                             size_t count)
{
    const char *const meant = world_trade_word(text, names, count);
    const char *const nearest = meant != NULL ? meant : sim_nearest_name(text, names, count);
    if (nearest == NULL) {
        return false;
    }
    world_error_add(error, ", did you mean '%s'?", nearest);
    return true;
}

void world_error_add_expected(world_error_t *error, const char *what)
{
    const size_t used = strlen(error->text);
    const bool asked = used > 0 && error->text[used - 1] == '?';
    world_error_add(error, "%s%s", asked ? " Expected " : ", expected ", what);
}

void world_error_add_names(world_error_t *error, const char *const *names, size_t count,
                           const char *where)
{
    world_error_add_expected(error, "");
    world_error_add_list(error, count > 1 ? "one of " : "", names, count, where);
}

void world_error_add_list(world_error_t *error, const char *before, const char *const *names,
                          size_t count, const char *where)
{
    const bool all = count <= NAMES_MAX;
    world_error_add(error, "%s", before);
    for (size_t i = 0; i < (all ? count : NAMES_SHOWN); i++) {
        world_error_add(error, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    if (!all) {
        world_error_add(error, ", ... (%s lists all %zu)", where, count);
    }
}

const char *world_show(world_shown_t *buffer, const char *text)
{
    size_t used = 0;
    for (size_t size = strlen(text), at = 0; at < size;) {
        if (used >= SHOWN_BYTES_MAX) {
            memcpy(buffer->text + used, "...", 3);
            used += 3;
            break;
        }
        const unsigned char *const bytes = (const unsigned char *)text + at;
        const world_utf8_t c = world_utf8_decode(bytes, size - at);
        char *const to = buffer->text + used;
        const size_t room = sizeof(buffer->text) - used;
        if (c.size == 0 || (bytes[0] < 0x80 && (bytes[0] < 0x20 || bytes[0] == 0x7f))) {
            used += (size_t)snprintf(to, room, "\\x%02x", bytes[0]);
        } else if (world_must_show(c.code_point)) {
            used += (size_t)snprintf(to, room, "\\u%04x", c.code_point);
        } else {
            memcpy(to, bytes, c.size);
            used += c.size;
        }
        at += c.size > 0 ? c.size : 1;
    }
    SIM_CHECK(used < sizeof(buffer->text));
    buffer->text[used] = '\0';
    return buffer->text;
}
