// SPDX-License-Identifier: Apache-2.0
// studio/server/library/further_errors.c - finds the errors of a scenario behind the first one.
//
// The loader stops at the first error. This code blanks that line and the lines nested below it,
// and loads again, a few times. An error that the blanking may have caused, in a mapping around the
// line, is not reported.
#include "studio/server/library/further_errors.h"

#include <stdlib.h>
#include <string.h>

#define ERRORS_MAX 8u
#define ORIGIN "-" // the name that world_scenario_load gives to its standard input

typedef struct text {
    char *bytes;
    size_t size;
} text_t;

// Returns the start of a line, counted from 1; NULL if there are fewer lines.
static char *line_at(const text_t *text, int line)
{
    char *at = text->bytes;
    for (int i = 1; i < line; i++) {
        at = memchr(at, '\n', (size_t)(text->bytes + text->size - at));
        if (at == NULL || at + 1 == text->bytes + text->size) {
            return NULL;
        }
        at++;
    }
    return at;
}

static size_t indent_of(const char *line)
{
    return strspn(line, " ");
}

static bool has_words(const char *line)
{
    const char first = line[indent_of(line)];
    return first != '\0' && first != '\n' && first != '\r' && first != '#';
}

// Returns LINE of "-:LINE:COLUMN: ..."; 0 if the message names no line of this text.
static int line_of(const char *message)
{
    return strncmp(message, ORIGIN ":", strlen(ORIGIN) + 1) == 0
               ? (int)strtol(message + strlen(ORIGIN) + 1, NULL, 10)
               : 0;
}

// Returns the number of the first line that is not blank; 0 if there is none.
static int first_line(const text_t *text)
{
    int line = 1;
    const char *at = line_at(text, line);
    while (at != NULL && !has_words(at)) {
        at = line_at(text, ++line);
    }
    return at == NULL ? 0 : line;
}

// Tells whether leaving out the line `other` may have caused the error at `line`: the mapping or
// list at `line` contained it. The outermost mapping starts at the first line that is left.
static bool is_around(const text_t *whole, const text_t *left, int line, int other)
{
    const char *const outer = line_at(whole, line);
    const char *const inner = line_at(whole, other);
    if (outer == NULL || inner == NULL || line == other) {
        return true;
    }
    if (indent_of(inner) == 0) {
        return line <= first_line(left) || first_line(left) == 0;
    }
    for (int i = line + 1; i <= other; i++) {
        const char *const between = line_at(whole, i);
        if (has_words(between) && indent_of(between) <= indent_of(outer)) {
            return false;
        }
    }
    return line < other;
}

// Blanks a line and the lines nested below it with spaces, so that all places stay the same.
static void leave_out(const text_t *text, int line)
{
    char *at = line_at(text, line);
    const size_t indent = indent_of(at);
    for (bool first = true; at != NULL; first = false) {
        char *const end = memchr(at, '\n', (size_t)(text->bytes + text->size - at));
        if (!first && has_words(at) && indent_of(at) <= indent) {
            return;
        }
        memset(at, ' ', end == NULL ? (size_t)(text->bytes + text->size - at) : (size_t)(end - at));
        at = end == NULL || end + 1 == text->bytes + text->size ? NULL : end + 1;
    }
}

static sim_err_t load(const text_t *text,
                      const world_override_t *overrides,
                      size_t count,
                      world_error_t *error)
{
    world_document_t *const document = world_document_create();
    world_tree_t *root = NULL;
    world_scenario_t *scenario = NULL;
    sim_err_t result =
        world_yaml_parse(document, ORIGIN, true, text->bytes, text->size, &root, error);
    if (result != SIM_OK) {
        world_document_destroy(document);
        return result;
    }
    result = world_scenario_load_tree(NULL, // takes the document
                                      document,
                                      root,
                                      ORIGIN,
                                      overrides,
                                      count,
                                      &scenario,
                                      error);
    world_scenario_destroy(scenario);
    return result;
}

void studio__further_errors(const char *yaml,
                            size_t size,
                            const world_override_t *overrides,
                            size_t count,
                            const char *first,
                            studio__error_fn fn,
                            void *ctx)
{
    int lines[ERRORS_MAX];
    size_t found = 0;
    int line = line_of(first);
    const text_t whole = {sim_strdup(yaml), size};
    const text_t text = {sim_strdup(yaml), size};
    while (line > 0 && found < ERRORS_MAX && line_at(&text, line) != NULL) {
        world_error_t error;
        lines[found++] = line;
        leave_out(&text, line);
        if (load(&text, overrides, count, &error) == SIM_OK) {
            break;
        }
        line = line_of(error.text);
        for (size_t i = 0; i < found; i++) {
            line = line > 0 && is_around(&whole, &text, line, lines[i]) ? 0 : line;
        }
        if (line > 0) {
            fn(error.text, ctx);
        }
    }
    sim_free(text.bytes);
    sim_free(whole.bytes);
}
