// SPDX-License-Identifier: Apache-2.0
// studio/server/library/further_errors.c - finds the errors of a scenario behind the first one.
//
// The loader stops at the first error. This code blanks the entry with the error, in {...} or [...]
// that entry alone, otherwise the line and the lines nested below it, and loads again, a few times.
// An error that the blanking may have caused, in a mapping around the entry, is not reported.
#include "studio/server/library/further_errors.h"

#include <stdlib.h>
#include <string.h>

#define ERRORS_MAX 20u // with the first one
#define BUILDS_MAX 4u  // of a network, which may be large
#define DEPTH_MAX 64u
#define ORIGIN "-" // the name that world_scenario_load gives to its standard input

typedef struct text {
    char *bytes;
    size_t size;
} text_t;

// A part of the text that was blanked.
typedef struct part {
    size_t from;
    size_t to;
    int line;     // 0: an entry within {...} or [...]
    bool is_deep; // it had entries of its own, whose errors are not known
} part_t;

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

// Reads LINE and COLUMN of "-:LINE:COLUMN: ..."; false if the message names no place of this text.
static bool place_of(const char *message, int *line, size_t *column)
{
    char *end = NULL;
    if (strncmp(message, ORIGIN ":", strlen(ORIGIN) + 1) != 0) {
        return false;
    }
    *line = (int)strtol(message + strlen(ORIGIN) + 1, &end, 10);
    *column = *end == ':' ? strtoul(end + 1, NULL, 10) : 1;
    return *line > 0;
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

// Returns the place behind a quoted text or a comment that begins at `at`; otherwise `at`.
static size_t skip_quiet(const text_t *text, size_t at)
{
    const char first = text->bytes[at];
    const char before = at == 0 ? '\n' : text->bytes[at - 1];
    if (first == '#' && strchr(" \t\n", before) != NULL) {
        const char *const end = memchr(text->bytes + at, '\n', text->size - at);
        return end == NULL ? text->size : (size_t)(end - text->bytes);
    }
    // A quote begins a text only where a value may begin.
    if ((first != '"' && first != '\'') || strchr(" \t\n,[{:", before) == NULL) {
        return at;
    }
    for (size_t i = at + 1; i < text->size; i++) {
        if (first == '"' && text->bytes[i] == '\\') {
            i++;
        } else if (text->bytes[i] == first) {
            return i + 1;
        }
    }
    return text->size;
}

// Finds the entry within {...} or [...] that stands at a place; false if the place is in none, or
// its bracket is not closed.
static bool find_entry(const text_t *text, size_t place, part_t *part)
{
    size_t starts[DEPTH_MAX]; // of the entry at each depth
    size_t depth = 0;
    size_t wanted = 0; // the depth of the entry; 0: not reached yet
    *part = (part_t){0};
    for (size_t at = 0; at < text->size; at++) {
        const size_t behind = skip_quiet(text, at);
        if (wanted == 0 && behind + (behind == at) > place) {
            if (depth == 0 || depth > DEPTH_MAX) {
                return false;
            }
            wanted = depth;
            part->from = starts[depth - 1];
        }
        if (behind > at) {
            at = behind - 1;
            continue;
        }
        const char c = text->bytes[at];
        const bool ends = wanted != 0 && depth == wanted && strchr(",]}", c) != NULL;
        if (c != '\0' && ends) {
            part->to = at;
            return true;
        }
        if (c == '{' || c == '[') {
            part->is_deep = part->is_deep || wanted != 0;
            if (depth++ < DEPTH_MAX) {
                starts[depth - 1] = at + 1;
            }
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        } else if (c == ',' && depth > 0 && depth <= DEPTH_MAX) {
            starts[depth - 1] = at + 1;
        }
    }
    return false;
}

static void blank(const text_t *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        text->bytes[i] = text->bytes[i] == '\n' ? '\n' : ' ';
    }
}

// Blanks an entry and the comma on one side of it.
static void blank_entry(const text_t *text, part_t *part)
{
    size_t from = part->from;
    size_t to = part->to;
    if (from > 0 && text->bytes[from - 1] == ',') {
        from--;
    } else if (text->bytes[to] == ',') {
        to++;
    }
    blank(text, from, to);
}

// Blanks a line and the lines nested below it with spaces, so that all places stay the same.
static void blank_lines(const text_t *text, int line, part_t *part)
{
    const char *at = line_at(text, line);
    const size_t indent = indent_of(at);
    *part = (part_t){.from = (size_t)(at - text->bytes), .line = line};
    bool first = true;
    while (at != NULL && (first || !has_words(at) || indent_of(at) > indent)) {
        const char *const end = memchr(at, '\n', (size_t)(text->bytes + text->size - at));
        const size_t size = strcspn(at, "\n");
        part->is_deep = part->is_deep || (first ? memchr(at, '{', size) != NULL : has_words(at));
        part->to = end == NULL ? text->size : (size_t)(end - text->bytes);
        at = end == NULL || end + 1 == text->bytes + text->size ? NULL : end + 1;
        first = false;
    }
    blank(text, part->from, part->to);
}

// Returns whether leaving out the line `other` may have caused the error at `line`: the mapping or
// list at `line` contained it. The outermost mapping starts at the first line that is left.
static bool is_line_around(const text_t *whole, const text_t *left, int line, int other)
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

// Returns the number of the line of a place, counted from 1.
static int line_number(const text_t *text, size_t place)
{
    int line = 1;
    for (size_t i = 0; i < place; i++) {
        line += text->bytes[i] == '\n';
    }
    return line;
}

// Returns whether the mapping or list at a place contained an entry within brackets: a bracket
// between the two is open, and neither a closing bracket nor a line that is not indented ends it.
static bool is_entry_around(const text_t *whole, size_t place, const part_t *part)
{
    size_t depth = 0;
    if (place >= part->from) {
        return place < part->to;
    }
    const size_t indent = indent_of(line_at(whole, line_number(whole, place)));
    for (size_t at = place; at < part->from; at++) {
        const size_t behind = skip_quiet(whole, at);
        if (behind > at) {
            at = behind - 1;
            continue;
        }
        const char c = whole->bytes[at];
        const char *const next = whole->bytes + at + 1;
        const bool closes = c == '}' || c == ']';
        if (depth == 0 && (closes || (c == '\n' && has_words(next) && indent_of(next) <= indent))) {
            return false;
        }
        depth += c == '{' || c == '[';
        depth -= closes;
    }
    return depth > 0;
}

static bool is_around(const text_t *whole, const text_t *left, size_t place, const part_t *part)
{
    const int line = line_number(whole, place);
    if (part->line != 0) {
        return is_line_around(whole, left, line, part->line);
    }
    const int other = line_number(whole, part->from);
    return is_entry_around(whole, place, part) ||
           (line != other && is_line_around(whole, left, line, other));
}

// Loads the text and builds its network and traffic, at most *builds times.
static sim_err_t try_out(const text_t *text, const world_override_t *overrides, size_t count,
                         unsigned *builds, world_error_t *error)
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
                                      document, root, ORIGIN, overrides, count, &scenario, error);
    if (result == SIM_OK && *builds == 0) {
        result = world_fail(error, SIM_ERR_RANGE, NULL, "not built");
    } else if (result == SIM_OK) {
        world_t *world = NULL;
        (*builds)--;
        result = world_create(scenario, WORLD_BUILD_ALL, &world, error);
        world_destroy(world);
    }
    world_scenario_destroy(scenario);
    return result;
}

// Finds the place of an error in the text; false if there is none, or it is blank already.
static bool find_place(const text_t *text, const char *message, int *line, size_t *place)
{
    size_t column = 1;
    const char *const at = place_of(message, line, &column) ? line_at(text, *line) : NULL;
    if (at == NULL || !has_words(at)) {
        return false;
    }
    const size_t size = strcspn(at, "\n");
    *place = (size_t)(at - text->bytes) + SIM_MIN(column - 1, size);
    return true;
}

bool studio__further_errors(const char *yaml, size_t size, const world_override_t *overrides,
                            size_t count, const char *first, studio__error_fn fn, void *ctx)
{
    part_t parts[ERRORS_MAX];
    size_t found = 0;
    size_t place = 0;
    int line = 0;
    unsigned builds = BUILDS_MAX;
    bool is_whole = false;
    bool is_deep = false;
    const text_t whole = {sim_strdup(yaml), size};
    const text_t text = {sim_strdup(yaml), size};
    bool goes_on = find_place(&text, first, &line, &place);
    while (goes_on && found < ERRORS_MAX) {
        world_error_t error;
        part_t *const part = &parts[found++];
        if (find_entry(&text, place, part)) {
            blank_entry(&text, part);
        } else {
            blank_lines(&text, line, part);
        }
        is_deep = is_deep || part->is_deep;
        is_whole = try_out(&text, overrides, count, &builds, &error) == SIM_OK;
        goes_on = !is_whole && find_place(&text, error.text, &line, &place);
        bool is_caused = false;
        for (size_t i = 0; goes_on && i < found; i++) {
            if (is_around(&whole, &text, place, &parts[i])) {
                // A part that lacks an entry is left out, too. Lines are not: much could depend on
                // them.
                is_caused = true;
                goes_on = parts[i].line == 0;
            }
        }
        if (goes_on && !is_caused && found < ERRORS_MAX) {
            fn(error.text, ctx);
        }
    }
    sim_free(text.bytes);
    sim_free(whole.bytes);
    return is_whole && !is_deep;
}
