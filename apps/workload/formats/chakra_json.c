// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/chakra_json.c - reads a Chakra trace in JSON.
//
// Chakra's tools write two forms: its jsonizer writes the messages of protobuf one behind another,
// and feeders read one object with the list `workload_graph`. Names of members differ.
#include "apps/workload/formats/chakra_json.h"
#include "apps/workload/formats/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX (UINT32_C(1) << 24)
#define NAMES_MAX 3u

// The names of a node's members, in both forms.
static const char *const ids[NAMES_MAX] = {"id", "Id"};
static const char *const names[NAMES_MAX] = {"name", "Name"};
static const char *const types[NAMES_MAX] = {"type", "NodeType"};
static const char *const ctrl_deps[NAMES_MAX] = {"ctrlDeps", "ctrl_deps"};
static const char *const data_deps[NAMES_MAX] = {"dataDeps", "data_deps"};
static const char *const durations[NAMES_MAX] = {"durationMicros", "duration_micros", "runtime"};

static const char *const type_names[APP__CHAKRA_TYPES] = {
    [APP__CHAKRA_INVALID] = "INVALID_NODE",   [APP__CHAKRA_METADATA] = "METADATA_NODE",
    [APP__CHAKRA_MEM_LOAD] = "MEM_LOAD_NODE", [APP__CHAKRA_MEM_STORE] = "MEM_STORE_NODE",
    [APP__CHAKRA_COMP] = "COMP_NODE",         [APP__CHAKRA_SEND] = "COMM_SEND_NODE",
    [APP__CHAKRA_RECV] = "COMM_RECV_NODE",    [APP__CHAKRA_COLL] = "COMM_COLL_NODE",
};

typedef struct reader {
    app__json_t json;
    app__chakra_trace_t *trace;
    sim_message_t *message;
} reader_t;

static uint32_t member_of(const reader_t *reader, uint32_t object, const char *const *list)
{
    uint32_t found = 0;
    for (size_t i = 0; found == 0 && i < NAMES_MAX && list[i] != NULL; i++) {
        found = app__json_member(&reader->json, object, list[i]);
    }
    return found;
}

static app__chakra_text_t text_of(const reader_t *reader, uint32_t value)
{
    const app__json_value_t *const at = &reader->json.values[value];
    return value != 0 && at->type == APP__JSON_TEXT ? (app__chakra_text_t){at->text, at->length}
                                                    : (app__chakra_text_t){NULL, 0};
}

static sim_err_t read_type(reader_t *reader, uint32_t value, app__chakra_node_t *node)
{
    int64_t number = 0;
    for (int i = 0; i < APP__CHAKRA_TYPES; i++) {
        if (app__json_is(&reader->json, value, type_names[i])) {
            node->type = (uint8_t)i;
            return SIM_OK;
        }
    }
    if (reader->json.values[value].type == APP__JSON_TEXT) {
        return app__json_fail(&reader->json, value, "the type of a node is unknown",
                              "COMP_NODE, COMM_SEND_NODE, COMM_RECV_NODE, COMM_COLL_NODE, "
                              "MEM_LOAD_NODE, MEM_STORE_NODE or METADATA_NODE",
                              reader->message);
    }
    const sim_err_t error =
        app__json_integer(&reader->json, value, 0, INT32_MAX, &number, reader->message);
    node->type = number < APP__CHAKRA_TYPES ? (uint8_t)number : 0;
    return error;
}

// Reads a duration in us, which may have a fraction.
static sim_err_t read_duration(reader_t *reader, uint32_t value, app__chakra_node_t *node)
{
    const app__json_value_t *const at = &reader->json.values[value];
    char copy[40] = "";
    char *end = copy;
    double us = -1;
    if (at->type == APP__JSON_NUMBER || at->type == APP__JSON_TEXT) {
        memcpy(copy, at->text, at->length < sizeof(copy) ? at->length : 0);
        us = strtod(copy, &end);
    }
    if (end == copy || *end != '\0' || !(us >= 0) || us >= (double)(UINT64_C(1) << 43)) {
        return app__json_fail(&reader->json, value, "the duration is wrong",
                              "a number of microseconds", reader->message);
    }
    node->duration_us = (uint64_t)(us + 0.5);
    return SIM_OK;
}

static sim_err_t read_deps(reader_t *reader, uint32_t object, app__chakra_node_t *node)
{
    app__chakra_trace_t *const trace = reader->trace;
    const uint32_t list = member_of(reader, object, data_deps);
    const uint32_t controls = member_of(reader, object, ctrl_deps);
    trace->ctrl_deps += controls == 0 ? 0 : reader->json.values[controls].count;
    uint32_t at = list + 1;
    for (uint32_t i = 0; list != 0 && i < reader->json.values[list].count; i++) {
        int64_t id = 0;
        const sim_err_t error =
            app__json_integer(&reader->json, at, 0, INT64_MAX, &id, reader->message);
        if (error != SIM_OK) {
            return error;
        }
        SIM_APPEND(trace->deps, trace->dep_count, trace->dep_capacity, (uint64_t)id);
        node->dep_count++;
        at = reader->json.values[at].next;
    }
    return SIM_OK;
}

// Returns whether a text is the name of a collective, in any letters and with or without '_'. A V
// behind it means unequal parts.
static bool is_collective(const app__chakra_text_t *text, const char *name)
{
    size_t at = 0;
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '_') {
            at += at < text->length && text->text[at] == '_';
        } else if (at < text->length && toupper((unsigned char)text->text[at]) == *c) {
            at++;
        } else {
            return false;
        }
    }
    at += at + 1 < text->length && text->text[at] == '_';
    at += at < text->length && toupper((unsigned char)text->text[at]) == 'V';
    return at == text->length;
}

// Takes an attribute that a schedule needs; others are skipped.
static sim_err_t take_attr(reader_t *reader, const app__chakra_text_t *name, uint32_t value,
                           app__chakra_node_t *node)
{
    const app__chakra_text_t text = text_of(reader, value);
    const int known = app__chakra_attr_of(name);
    int64_t number = 0;
    if (text.text != NULL && name->length == 7 && memcmp(name->text, "pg_name", 7) == 0) {
        node->group = text;
    }
    if (known < 0) {
        return SIM_OK;
    }
    for (uint64_t type = 0; known == APP__CHAKRA_COMM_TYPE && text.text != NULL && type < 16;
         type++) {
        const char *const word = app__chakra_comm_name(type);
        if (word != NULL && is_collective(&text, word)) {
            node->values[known] = type;
            node->has = (uint8_t)(node->has | 1u << known);
            return SIM_OK;
        }
    }
    if (known == APP__CHAKRA_COMM_TYPE && text.text != NULL && text.length > 0 &&
        (text.text[0] < '0' || text.text[0] > '9')) {
        return app__json_fail(&reader->json, value, "the collective is unknown",
                              "ALL_REDUCE, REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, "
                              "REDUCE_SCATTER or BARRIER",
                              reader->message);
    }
    const sim_err_t error =
        app__json_integer(&reader->json, value, INT64_MIN, INT64_MAX, &number, reader->message);
    node->values[known] = (uint64_t)number;
    node->has = (uint8_t)(node->has | 1u << known);
    return error;
}

// Reads attributes: members of the node itself, and the list `attr` of names and values.
static sim_err_t read_attrs(reader_t *reader, uint32_t object, app__chakra_node_t *node)
{
    const app__json_value_t *const values = reader->json.values;
    sim_err_t error = SIM_OK;
    uint32_t at = object + 1;
    for (uint32_t i = 0; i < values[object].count && error == SIM_OK; i++) {
        const app__chakra_text_t key = {values[at].key, values[at].key_length};
        error = take_attr(reader, &key, at, node);
        at = values[at].next;
    }
    const uint32_t count = app__json_list(&reader->json, object, "attr", &at);
    for (uint32_t i = 0; i < count && error == SIM_OK; i++) {
        const app__chakra_text_t name =
            text_of(reader, app__json_member(&reader->json, at, "name"));
        uint32_t member = at + 1;
        for (uint32_t m = 0; name.text != NULL && m < values[at].count; m++) {
            const bool has_value =
                values[member].key_length > 3 &&
                memcmp(values[member].key + values[member].key_length - 3, "Val", 3) == 0;
            if (has_value && error == SIM_OK) {
                error = take_attr(reader, &name, member, node);
            }
            member = values[member].next;
        }
        at = values[at].next;
    }
    return error;
}

static sim_err_t read_node(reader_t *reader, uint32_t object)
{
    app__chakra_trace_t *const trace = reader->trace;
    app__chakra_node_t node = {.dep_first = (uint32_t)trace->dep_count};
    const uint32_t id = member_of(reader, object, ids);
    const uint32_t type = member_of(reader, object, types);
    const uint32_t duration = member_of(reader, object, durations);
    int64_t number = 0;
    if (reader->json.values[object].type != APP__JSON_OBJECT || type == 0) {
        return app__json_fail(&reader->json, object, "this is no node of Chakra",
                              "an object with id and type, or Id and NodeType", reader->message);
    }
    // The jsonizer leaves out what is 0, such as the id of the first node.
    sim_err_t error =
        id == 0 ? SIM_OK
                : app__json_integer(&reader->json, id, 0, INT64_MAX, &number, reader->message);
    node.id = (uint64_t)number;
    node.name = text_of(reader, member_of(reader, object, names));
    error = error == SIM_OK ? read_type(reader, type, &node) : error;
    if (error == SIM_OK && duration != 0) {
        error = read_duration(reader, duration, &node);
    }
    error = error == SIM_OK ? read_deps(reader, object, &node) : error;
    error = error == SIM_OK ? read_attrs(reader, object, &node) : error;
    if (error == SIM_OK && (trace->node_count == NODES_MAX || trace->dep_count > UINT32_MAX)) {
        error = app__json_fail(&reader->json, object, "there are too many nodes",
                               "a trace of at most 16777216 nodes", reader->message);
    }
    if (error == SIM_OK) {
        SIM_APPEND(trace->nodes, trace->node_count, trace->node_capacity, node);
    }
    return error;
}

// Reads one object of the file: a node, a list of nodes, or what the file says of itself.
static sim_err_t read_object(reader_t *reader, uint32_t object)
{
    static const char *const lists[] = {"workload_graph", "nodes"};
    const app__json_t *const json = &reader->json;
    sim_err_t error = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(lists); i++) {
        if (app__json_member(json, object, lists[i]) == 0) {
            continue;
        }
        uint32_t at = 0;
        const uint32_t count = app__json_list(json, object, lists[i], &at);
        for (uint32_t n = 0; n < count && error == SIM_OK; n++) {
            error = read_node(reader, at);
            at = json->values[at].next;
        }
        return error;
    }
    if (member_of(reader, object, types) != 0 || json->values[object].type != APP__JSON_OBJECT) {
        return read_node(reader, object);
    }
    reader->trace->version = text_of(reader, app__json_member(json, object, "version"));
    return SIM_OK;
}

sim_err_t app__chakra_read_json(const char *file, const char *bytes, size_t size_bytes,
                                app__chakra_trace_t *trace, sim_message_t *message)
{
    static const char *const arrays[] = {"workload_graph", "nodes",     "attr",    "data_deps",
                                         "dataDeps",       "ctrl_deps", "ctrlDeps"};
    reader_t reader = {.trace = trace, .message = message};
    sim_err_t error = app__json_parse(file, bytes, size_bytes, &reader.json, message);
    if (error == SIM_OK) {
        error = app__json_need_lists(&reader.json, arrays, SIM_COUNT_OF(arrays), message);
    }
    uint32_t at = 1;
    for (uint32_t i = 0; error == SIM_OK && i < reader.json.values[0].count; i++) {
        const app__json_value_t *const value = &reader.json.values[at];
        const uint32_t next = value->next;
        uint32_t item = at + 1;
        if (value->type != APP__JSON_ARRAY) {
            error = read_object(&reader, at);
        }
        for (uint32_t n = 0; value->type == APP__JSON_ARRAY && error == SIM_OK && n < value->count;
             n++) {
            error = read_object(&reader, item);
            item = reader.json.values[item].next;
        }
        at = next;
    }
    app__json_fini(&reader.json);
    return error;
}

bool app__chakra_is_json(const char *text, size_t size_bytes)
{
    static const char *const words[] = {"\"workload_graph\"", "_NODE\"", "\"data_deps\""};
    return app__json_has(text, size_bytes, words, SIM_COUNT_OF(words));
}
