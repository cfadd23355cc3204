// SPDX-License-Identifier: Apache-2.0
// results/tables/json_text.h - writes JSON as text, value by value, laid out as jansson's
// JSON_COMPACT does.
//
// Every run writes schema.json, which is large. Writing its text directly takes a fraction of the
// time that building and printing a tree of jansson's objects takes.
#ifndef RESULTS_TABLES_JSON_TEXT_H
#define RESULTS_TABLES_JSON_TEXT_H

#include "kernel/base.h"

#include <stdbool.h>
#include <stddef.h>

SIM_C_BEGIN

// A text that grows. Start from {0}; end with results_json_text_finish.
typedef struct results_json_text {
    char *text;
    size_t size; // without the zero
    size_t room;
    unsigned depth; // of objects and lists that are not ended
    bool follows;   // the next value needs a comma before it
} results_json_text_t;

// In each of these functions, `key` is the value's name in the object around it; NULL in a list.
// Texts must be UTF-8.

// Begins an object ('{') or a list ('['). Each is ended by results_json_text_end with '}' or ']'.
void results_json_text_begin(results_json_text_t *json, const char *key, char bracket);
void results_json_text_end(results_json_text_t *json, char bracket);
// Adds a string: the first `size` bytes of `value`, or all of it.
void results_json_text_add_part(results_json_text_t *json, const char *key, const char *value,
                                size_t size);
void results_json_text_add(results_json_text_t *json, const char *key, const char *value);
// Adds `value` as it stands: a number, a truth value, or text that is JSON already.
void results_json_text_add_raw(results_json_text_t *json, const char *key, const char *value);
// Ends the text with a newline and returns it. The caller frees it with sim_free.
char *results_json_text_finish(results_json_text_t *json);

SIM_C_END

#endif // RESULTS_TABLES_JSON_TEXT_H
