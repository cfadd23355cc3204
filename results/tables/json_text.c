// SPDX-License-Identifier: Apache-2.0
// results/tables/json_text.c - writes JSON as text.
#include "results/tables/json_text.h"

#include <stdio.h>
#include <string.h>

#define ESCAPE_BYTES 8u // the longest escape is \u001f, and snprintf adds a zero

// Appends bytes as they are.
static void append(results_json_text_t *json, const char *bytes, size_t size)
{
    SIM_RESERVE(json->text, json->size + size + 1, &json->room);
    memcpy(json->text + json->size, bytes, size);
    json->size += size;
    json->text[json->size] = '\0';
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte != '"' && byte != '\\';
}

// Appends the escape of a byte that may not stand in a JSON string as it is.
static void append_escape(results_json_text_t *json, unsigned char byte)
{
    static const char letters[][2] = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
                                      {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};
    char escape[ESCAPE_BYTES];
    for (size_t i = 0; i < SIM_COUNT_OF(letters); i++) {
        if (letters[i][0] == (char)byte) {
            escape[0] = '\\';
            escape[1] = letters[i][1];
            append(json, escape, 2);
            return;
        }
    }
    const int size = snprintf(escape, sizeof(escape), "\\u%04X", (unsigned)byte);
    append(json, escape, (size_t)size);
}

static void append_string(results_json_text_t *json, const char *value, size_t size)
{
    append(json, "\"", 1);
    for (size_t i = 0; i < size;) {
        size_t plain = 0;
        while (i + plain < size && is_plain((unsigned char)value[i + plain])) {
            plain++;
        }
        append(json, value + i, plain);
        i += plain;
        if (i < size) {
            append_escape(json, (unsigned char)value[i++]);
        }
    }
    append(json, "\"", 1);
}

// Appends what comes before a value: a comma, and the value's key if it has one.
static void append_key(results_json_text_t *json, const char *key)
{
    if (json->follows) {
        append(json, ",", 1);
    }
    json->follows = true;
    if (key != NULL) {
        append_string(json, key, strlen(key));
        append(json, ":", 1);
    }
}

void results_json_text_begin(results_json_text_t *json, const char *key, char bracket)
{
    SIM_CHECK(bracket == '{' || bracket == '[');
    append_key(json, key);
    append(json, &bracket, 1);
    json->depth++;
    json->follows = false;
}

void results_json_text_end(results_json_text_t *json, char bracket)
{
    SIM_CHECK(bracket == '}' || bracket == ']');
    SIM_CHECK(json->depth > 0);
    append(json, &bracket, 1);
    json->depth--;
    json->follows = true;
}

void results_json_text_add_part(results_json_text_t *json, const char *key, const char *value,
                                size_t size)
{
    append_key(json, key);
    append_string(json, value, size);
}

void results_json_text_add(results_json_text_t *json, const char *key, const char *value)
{
    results_json_text_add_part(json, key, value, strlen(value));
}

void results_json_text_add_raw(results_json_text_t *json, const char *key, const char *value)
{
    append_key(json, key);
    append(json, value, strlen(value));
}

char *results_json_text_finish(results_json_text_t *json)
{
    SIM_CHECK(json->depth == 0);
    append(json, "\n", 1);
    char *const text = json->text;
    *json = (results_json_text_t){0};
    return text;
}
