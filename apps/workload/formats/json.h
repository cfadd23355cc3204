// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/json.h - JSON of workloads, with the place of each value in its file.
//
// The values of a text stand in one list, in their order: an array or an object, then what it
// holds. Texts point into the file's bytes.
#ifndef APPS_WORKLOAD_FORMATS_JSON_H
#define APPS_WORKLOAD_FORMATS_JSON_H

#include "kernel/base.h"

typedef enum app__json_type {
    APP__JSON_WORD, // null, true, false
    APP__JSON_NUMBER,
    APP__JSON_TEXT,
    APP__JSON_ARRAY,
    APP__JSON_OBJECT
} app__json_type_t;

typedef struct app__json_value {
    const char *text; // of a text: between its quotes, escapes as they stand; others: whole
    const char *key;  // of a member of an object, between its quotes; NULL: none
    uint32_t length;
    uint32_t key_length;
    uint32_t line;
    uint32_t column;
    uint32_t count; // of elements or members
    uint32_t next;  // the value behind this one and all that it holds
    uint8_t type;   // app__json_type_t
} app__json_value_t;

typedef struct app__json {
    const char *file;
    app__json_value_t *values; // the first is an array of the texts that stand in the file
    size_t count;
    size_t capacity;
} app__json_t;

// Reads one JSON text, or several that stand one behind another. An error names the place. Call
// app__json_fini afterwards, also after an error.
SIM_MUST_CHECK sim_err_t app__json_parse(const char *file, const char *text, size_t size_bytes,
                                         app__json_t *json, sim_message_t *message);
void app__json_fini(app__json_t *json);

// Returns the member of an object with a name; 0: it has none, or the value is no object.
uint32_t app__json_member(const app__json_t *json, uint32_t object, const char *name);
// Returns the elements of the array that is a member; 0: there is none. *first is the first.
uint32_t app__json_list(const app__json_t *json, uint32_t object, const char *name,
                        uint32_t *first);
// Checks that every member with one of these names is an array, or null, wherever it stands.
SIM_MUST_CHECK sim_err_t app__json_need_lists(const app__json_t *json, const char *const *names,
                                              size_t count, sim_message_t *message);
// Returns whether a value is this text or word.
bool app__json_is(const app__json_t *json, uint32_t value, const char *text);
// Reads a whole number, which may stand in quotes; true and false are 1 and 0.
SIM_MUST_CHECK sim_err_t app__json_integer(const app__json_t *json, uint32_t value, int64_t least,
                                           int64_t most, int64_t *number, sim_message_t *message);
// Fails at a value. `problem` comes before the value, which is shown, and `expected` behind it.
sim_err_t app__json_fail(const app__json_t *json, uint32_t value, const char *problem,
                         const char *expected, sim_message_t *message);
// Returns whether a text begins like JSON and one of the words stands in its first bytes.
bool app__json_has(const char *text, size_t size_bytes, const char *const *words, size_t count);

#endif // APPS_WORKLOAD_FORMATS_JSON_H
