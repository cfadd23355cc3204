// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/json.c - reads JSON (RFC 8259) and keeps the place of each value.
#include "apps/workload/formats/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64u
#define VALUES_MAX (UINT32_C(1) << 26)
#define LOOKED_AT_BYTES ((size_t)1 << 16)

typedef struct scanner {
    app__json_t *json;
    const char *at;
    const char *end;
    const char *line_start;
    uint32_t line;
    sim_message_t *message;
    // The arrays and objects that are open, outermost first.
    uint32_t open[DEPTH_MAX];
    uint32_t depth;
} scanner_t;

static sim_err_t fail(const scanner_t *scanner, const char *expected)
{
    const bool ends = scanner->at == scanner->end;
    const unsigned byte = ends ? 0 : (uint8_t)*scanner->at;
    char shown[16] = "";
    (void)snprintf(shown, sizeof(shown), byte < ' ' || byte > '~' ? "byte 0x%02x" : "%c", byte);
    return sim_fail_in(scanner->message, SIM_ERR_INVALID, scanner->json->file, scanner->line,
                       (uint64_t)(scanner->at - scanner->line_start) + 1, "%s: '%s', expected %s",
                       ends ? "the file ends within JSON" : "this is no JSON", ends ? "" : shown,
                       expected);
}

static void skip_blanks(scanner_t *scanner)
{
    for (; scanner->at < scanner->end; scanner->at++) {
        if (*scanner->at == '\n') {
            scanner->line++;
            scanner->line_start = scanner->at + 1;
        } else if (*scanner->at != ' ' && *scanner->at != '\t' && *scanner->at != '\r') {
            return;
        }
    }
}

// Reads a text in quotes; *text and *length are what stands between them.
static sim_err_t read_text(scanner_t *scanner, const char **text, uint32_t *length)
{
    const char *at = scanner->at + 1;
    while (at < scanner->end && *at != '"' && (unsigned char)*at >= ' ') {
        at += *at == '\\' && at + 1 < scanner->end ? 2 : 1;
    }
    if (at >= scanner->end || *at != '"') {
        scanner->at = SIM_MIN(at, scanner->end);
        return fail(scanner, "the end of a text, \"");
    }
    *text = scanner->at + 1;
    *length = (uint32_t)(at - *text);
    scanner->at = at + 1;
    return SIM_OK;
}

static bool is_number(const char *text, size_t length)
{
    char copy[40];
    char *end = NULL;
    if (length >= sizeof(copy) || (text[0] != '-' && (text[0] < '0' || text[0] > '9'))) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    (void)strtod(copy, &end);
    return end == copy + length;
}

// Reads a number, or one of the words null, true and false.
static sim_err_t read_plain(scanner_t *scanner, app__json_value_t *value)
{
    static const char *const words[] = {"null", "true", "false"};
    const char *at = scanner->at;
    while (at < scanner->end && strchr(",:]} \t\r\n", *at) == NULL) {
        at++;
    }
    const size_t length = (size_t)(at - scanner->at);
    bool known = false;
    for (size_t i = 0; i < SIM_COUNT_OF(words); i++) {
        known = known || (length == strlen(words[i]) && memcmp(scanner->at, words[i], length) == 0);
    }
    if (length == 0 || (!known && !is_number(scanner->at, length))) {
        return fail(scanner, "a value");
    }
    value->type = known ? APP__JSON_WORD : APP__JSON_NUMBER;
    value->text = scanner->at;
    value->length = (uint32_t)length;
    scanner->at = at;
    return SIM_OK;
}

static uint32_t add(scanner_t *scanner, const app__json_value_t *value)
{
    app__json_t *const json = scanner->json;
    SIM_GROW(json->values, json->count, &json->capacity);
    json->values[json->count] = *value;
    json->values[json->count].next = (uint32_t)json->count + 1;
    if (scanner->depth > 0) {
        json->values[scanner->open[scanner->depth - 1]].count++;
    }
    return (uint32_t)json->count++;
}

// Reads the key of a member and the colon.
static sim_err_t read_key(scanner_t *scanner, app__json_value_t *value)
{
    if (scanner->at == scanner->end || *scanner->at != '"') {
        return fail(scanner, "the name of a member in quotes");
    }
    const sim_err_t error = read_text(scanner, &value->key, &value->key_length);
    if (error != SIM_OK) {
        return error;
    }
    skip_blanks(scanner);
    if (scanner->at == scanner->end || *scanner->at != ':') {
        return fail(scanner, "':'");
    }
    scanner->at++;
    skip_blanks(scanner);
    return SIM_OK;
}

// Reads a value; of an array or an object the opening only.
static sim_err_t read_value(scanner_t *scanner, app__json_value_t *value)
{
    const char first = scanner->at == scanner->end ? '\0' : *scanner->at;
    value->line = scanner->line;
    value->column = (uint32_t)(scanner->at - scanner->line_start) + 1;
    if (scanner->json->count == VALUES_MAX) {
        return fail(scanner, "a file with at most 67108864 values");
    }
    if (first == '{' || first == '[') {
        value->type = first == '{' ? APP__JSON_OBJECT : APP__JSON_ARRAY;
        value->text = scanner->at++;
        value->length = 1;
        const uint32_t index = add(scanner, value);
        if (scanner->depth == DEPTH_MAX) {
            return fail(scanner, "arrays and objects of at most 64 levels");
        }
        scanner->open[scanner->depth++] = index;
        return SIM_OK;
    }
    value->type = APP__JSON_TEXT;
    const sim_err_t error = first == '"' ? read_text(scanner, &value->text, &value->length)
                                         : read_plain(scanner, value);
    if (error == SIM_OK) {
        (void)add(scanner, value);
    }
    return error;
}

// Closes arrays and objects that end here, and takes a comma. *more: a value follows within them.
static sim_err_t close_all(scanner_t *scanner, bool *more)
{
    app__json_t *const json = scanner->json;
    *more = false;
    while (scanner->depth > 1) {
        app__json_value_t *const value = &json->values[scanner->open[scanner->depth - 1]];
        skip_blanks(scanner);
        const char next = scanner->at == scanner->end ? '\0' : *scanner->at;
        if (next == (value->type == APP__JSON_OBJECT ? '}' : ']')) {
            scanner->at++;
            value->next = (uint32_t)json->count;
            scanner->depth--;
        } else if (next == ',' && value->count > 0) {
            scanner->at++;
            skip_blanks(scanner);
            *more = true;
            return SIM_OK;
        } else if (value->count == 0) {
            *more = true;
            return SIM_OK;
        } else {
            return fail(scanner, value->type == APP__JSON_OBJECT ? "',' or '}' behind a member"
                                                                 : "',' or ']' behind a value");
        }
    }
    return SIM_OK;
}

// Reads one text of JSON, with all that it holds.
static sim_err_t read_document(scanner_t *scanner)
{
    sim_err_t error = SIM_OK;
    bool more = true;
    while (error == SIM_OK && more) {
        app__json_value_t value = {.text = NULL};
        const uint32_t holder = scanner->open[scanner->depth - 1];
        if (scanner->json->values[holder].type == APP__JSON_OBJECT) {
            error = read_key(scanner, &value);
        }
        error = error == SIM_OK ? read_value(scanner, &value) : error;
        error = error == SIM_OK ? close_all(scanner, &more) : error;
    }
    return error;
}

sim_err_t app__json_parse(const char *file, const char *text, size_t size_bytes, app__json_t *json,
                          sim_message_t *message)
{
    *json = (app__json_t){.file = file};
    scanner_t scanner = {
        .json = json,
        .at = text,
        .end = text + size_bytes,
        .line_start = text,
        .line = 1,
        .message = message,
    };
    const app__json_value_t root = {.type = APP__JSON_ARRAY, .text = "", .line = 1, .column = 1};
    scanner.open[0] = add(&scanner, &root);
    scanner.depth = 1;
    sim_err_t error = SIM_OK;
    for (skip_blanks(&scanner); error == SIM_OK && scanner.at < scanner.end;
         skip_blanks(&scanner)) {
        error = read_document(&scanner);
    }
    json->values[0].next = (uint32_t)json->count;
    return error;
}

void app__json_fini(app__json_t *json)
{
    sim_free(json->values);
    *json = (app__json_t){.file = NULL};
}

// -- looking at values

uint32_t app__json_member(const app__json_t *json, uint32_t object, const char *name)
{
    const app__json_value_t *const values = json->values;
    const size_t length = strlen(name);
    uint32_t at = object + 1;
    for (uint32_t i = 0; values[object].type == APP__JSON_OBJECT && i < values[object].count; i++) {
        if (values[at].key_length == length && memcmp(values[at].key, name, length) == 0) {
            return at;
        }
        at = values[at].next;
    }
    return 0;
}

uint32_t app__json_list(const app__json_t *json, uint32_t object, const char *name, uint32_t *first)
{
    const uint32_t list = app__json_member(json, object, name);
    *first = list + 1;
    return list != 0 && json->values[list].type == APP__JSON_ARRAY ? json->values[list].count : 0;
}

sim_err_t app__json_need_lists(const app__json_t *json, const char *const *names, size_t count,
                               sim_message_t *message)
{
    for (uint32_t i = 1; i < json->count; i++) {
        const app__json_value_t *const value = &json->values[i];
        if (value->key == NULL || value->type == APP__JSON_ARRAY || app__json_is(json, i, "null")) {
            continue;
        }
        for (size_t n = 0; n < count; n++) {
            if (value->key_length == strlen(names[n]) &&
                memcmp(value->key, names[n], value->key_length) == 0) {
                char *const problem = sim_format("%s is no list", names[n]);
                const sim_err_t error =
                    app__json_fail(json, i, problem, "a list, such as []", message);
                sim_free(problem);
                return error;
            }
        }
    }
    return SIM_OK;
}

bool app__json_is(const app__json_t *json, uint32_t value, const char *text)
{
    const app__json_value_t *const found = &json->values[value];
    return value != 0 && found->type <= APP__JSON_TEXT && found->length == strlen(text) &&
           memcmp(found->text, text, found->length) == 0;
}

sim_err_t app__json_fail(const app__json_t *json, uint32_t value, const char *problem,
                         const char *expected, sim_message_t *message)
{
    const app__json_value_t *const at = &json->values[value];
    const bool quotes = at->type != APP__JSON_OBJECT && at->type != APP__JSON_ARRAY;
    return sim_fail_in(message, SIM_ERR_INVALID, json->file, at->line, at->column,
                       "%s%s%.*s%s, expected %s", problem, quotes ? ": '" : "",
                       (int)(!quotes ? 0 : SIM_MIN(at->length, 60)), at->text, quotes ? "'" : "",
                       expected);
}

sim_err_t app__json_integer(const app__json_t *json, uint32_t value, int64_t least, int64_t most,
                            int64_t *number, sim_message_t *message)
{
    const app__json_value_t *const at = &json->values[value];
    char copy[24] = "";
    char *end = copy;
    *number = app__json_is(json, value, "true") ? 1 : 0;
    if (at->type == APP__JSON_WORD && at->text[0] != 'n' && least <= *number && *number <= most) {
        return SIM_OK;
    }
    if ((at->type == APP__JSON_NUMBER || at->type == APP__JSON_TEXT) && at->length > 0 &&
        at->length < 20 && at->text[0] != ' ') {
        memcpy(copy, at->text, at->length);
        copy[at->length] = '\0';
        *number = strtoll(copy, &end, 10);
        end += end > copy && *end == '.' ? 1 + strspn(end + 1, "0") : 0; // 4096.0 is whole, too
    }
    if (end == copy || *end != '\0' || *number < least || *number > most) {
        char *const expected =
            sim_format("a whole number from %lld to %lld", (long long)least, (long long)most);
        const sim_err_t error =
            app__json_fail(json, value, "the number is wrong", expected, message);
        sim_free(expected);
        return error;
    }
    return SIM_OK;
}

bool app__json_has(const char *text, size_t size_bytes, const char *const *words, size_t count)
{
    const size_t size = SIM_MIN(size_bytes, LOOKED_AT_BYTES);
    size_t first = 0;
    while (first < size && strchr(" \t\r\n", text[first]) != NULL && text[first] != '\0') {
        first++;
    }
    if (first == size || (text[first] != '{' && text[first] != '[')) {
        return false;
    }
    for (size_t w = 0; w < count; w++) {
        const size_t length = strlen(words[w]);
        for (size_t i = first; i + length <= size; i++) {
            if (memcmp(text + i, words[w], length) == 0) {
                return true;
            }
        }
    }
    return false;
}
