// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/chakra_read.c - reads the messages of a Chakra trace (protobuf).
//
// A file is a list of messages, each behind its length as a varint: GlobalMetadata, then nodes. Of
// protobuf only the wire format is needed: fields with a number and one of four types. Errors give
// the offset of a byte.
#include "apps/workload/formats/chakra_json.h"

#include "kernel/bytes.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX (UINT32_C(1) << 24)

typedef enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 } wire_t;

// A part of the file that is being read.
typedef struct input {
    const uint8_t *at;
    const uint8_t *end;
} input_t;

// A field of a message: its number, and a value or bytes.
typedef struct field {
    uint64_t number;
    wire_t wire;
    uint64_t value;
    input_t bytes;
} field_t;

static bool read_varint(input_t *in, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        const uint8_t byte = *in->at++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            return true;
        }
    }
    return false;
}

static bool read_bytes(input_t *in, input_t *bytes)
{
    uint64_t length = 0;
    if (!read_varint(in, &length) || length > (uint64_t)(in->end - in->at)) {
        return false;
    }
    *bytes = (input_t){in->at, in->at + length};
    in->at += length;
    return true;
}

static bool read_field(input_t *in, field_t *field)
{
    uint64_t key = 0;
    *field = (field_t){.number = 0};
    if (!read_varint(in, &key)) {
        return false;
    }
    field->number = key >> 3;
    field->wire = (wire_t)(key & 7);
    if (field->wire == WIRE_VARINT) {
        return field->number > 0 && read_varint(in, &field->value);
    }
    if (field->wire == WIRE_BYTES) {
        return field->number > 0 && read_bytes(in, &field->bytes);
    }
    const size_t width = field->wire == WIRE_64 ? 8 : 4;
    if (field->number == 0 || (field->wire != WIRE_64 && field->wire != WIRE_32) ||
        (size_t)(in->end - in->at) < width) {
        return false;
    }
    field->value = width == 8 ? sim_get_le64(in->at) : sim_get_le32(in->at);
    in->at += width;
    return true;
}

static app__chakra_text_t text_of(const input_t *bytes)
{
    return (app__chakra_text_t){(const char *)bytes->at, (uint32_t)(bytes->end - bytes->at)};
}

static bool is_text(const app__chakra_text_t *text, const char *word)
{
    return text->length == strlen(word) && memcmp(text->text, word, text->length) == 0;
}

// -- nodes

static const char *const attr_names[APP__CHAKRA_ATTRS] = {
    [APP__CHAKRA_IS_CPU] = "is_cpu_op",    [APP__CHAKRA_COMM_TYPE] = "comm_type",
    [APP__CHAKRA_COMM_SIZE] = "comm_size", [APP__CHAKRA_COMM_SRC] = "comm_src",
    [APP__CHAKRA_COMM_DST] = "comm_dst",   [APP__CHAKRA_COMM_TAG] = "comm_tag",
    [APP__CHAKRA_COMM_ROOT] = "root",
};

// Numbers of AttributeProto's fields.
enum {
    ATTR_NAME = 1,
    ATTR_DOUBLE = 3,
    ATTR_FLOAT = 5,
    ATTR_SINT32 = 15,
    ATTR_SINT64 = 17,
    ATTR_STRING = 29
};

int app__chakra_attr_of(const app__chakra_text_t *name)
{
    for (int i = 0; i < APP__CHAKRA_ATTRS; i++) {
        if (is_text(name, attr_names[i])) {
            return i;
        }
    }
    return -1;
}

// Reads the value of a field as a whole number, whatever its type is. False: it has a fraction.
static bool whole_of(const field_t *field, uint64_t *value)
{
    double real = 0;
    float single = 0;
    const uint32_t bits = (uint32_t)field->value;
    *value = field->value;
    if (field->number == ATTR_SINT32 || field->number == ATTR_SINT64) {
        *value = field->value >> 1 ^ (0 - (field->value & 1)); // zigzag
        return true;
    }
    if (field->number == ATTR_DOUBLE && field->wire == WIRE_64) {
        memcpy(&real, &field->value, sizeof(real));
    } else if (field->number == ATTR_FLOAT && field->wire == WIRE_32) {
        memcpy(&single, &bits, sizeof(single));
        real = (double)single;
    } else {
        return true;
    }
    if (!(real >= -0x1p62 && real <= 0x1p62)) {
        return false;
    }
    const int64_t whole = (int64_t)real;
    *value = (uint64_t)whole;
    return (double)whole >= real && (double)whole <= real;
}

// Reads an attribute of a node: whole numbers of any type, and texts.
static bool read_attr(input_t in, app__chakra_node_t *node)
{
    app__chakra_text_t name = {NULL, 0};
    app__chakra_text_t text = {NULL, 0};
    field_t number = {.number = 0}; // the last one that is no text
    while (in.at < in.end) {
        field_t field;
        if (!read_field(&in, &field)) {
            return false;
        }
        if (field.wire == WIRE_BYTES) {
            name = field.number == ATTR_NAME ? text_of(&field.bytes) : name;
            text = field.number == ATTR_STRING ? text_of(&field.bytes) : text;
            continue;
        }
        number = field;
    }
    const int known = number.number > 0 && name.text != NULL ? app__chakra_attr_of(&name) : -1;
    if (known >= 0) {
        if (!whole_of(&number, &node->values[known])) {
            return false;
        }
        node->has = (uint8_t)(node->has | 1u << known);
    }
    if (name.text != NULL && text.text != NULL && is_text(&name, "pg_name")) {
        node->group = text;
    }
    return true;
}

static void add_dep(app__chakra_trace_t *trace, app__chakra_node_t *node, uint64_t id)
{
    SIM_APPEND(trace->deps, trace->dep_count, trace->dep_capacity, id);
    node->dep_count++;
}

// Reads dependencies: one, or several packed into bytes. Counts those of control only.
static bool read_deps(app__chakra_trace_t *trace, app__chakra_node_t *node, field_t *field,
                      bool data)
{
    uint64_t id = field->value;
    if (field->wire != WIRE_BYTES) {
        trace->ctrl_deps += !data;
        if (data) {
            add_dep(trace, node, id);
        }
        return true;
    }
    while (field->bytes.at < field->bytes.end) {
        if (!read_varint(&field->bytes, &id)) {
            return false;
        }
        trace->ctrl_deps += !data;
        if (data) {
            add_dep(trace, node, id);
        }
    }
    return true;
}

// Numbers of Node's fields.
enum { NODE_ID = 1, NODE_NAME, NODE_TYPE, NODE_CTRL, NODE_DATA, NODE_START, NODE_DURATION };
enum { NODE_ATTR = 10 };

static bool read_node_field(app__chakra_trace_t *trace, app__chakra_node_t *node, field_t *field)
{
    const bool has_bytes = field->wire == WIRE_BYTES;
    switch (field->number) {
    case NODE_ID:
        node->id = field->value;
        return !has_bytes;
    case NODE_NAME:
        node->name = text_of(&field->bytes);
        return has_bytes;
    case NODE_TYPE:
        node->type = field->value < APP__CHAKRA_TYPES ? (uint8_t)field->value : 0;
        return !has_bytes;
    case NODE_CTRL:
    case NODE_DATA:
        return read_deps(trace, node, field, field->number == NODE_DATA);
    case NODE_DURATION:
        node->duration_us = field->value;
        return !has_bytes && node->duration_us < UINT64_C(1) << 43;
    case NODE_ATTR:
        return has_bytes && read_attr(field->bytes, node);
    default:
        return true;
    }
}

static bool read_node(app__chakra_trace_t *trace, input_t in)
{
    app__chakra_node_t node = {.dep_first = (uint32_t)trace->dep_count};
    while (in.at < in.end) {
        field_t field;
        if (!read_field(&in, &field) || !read_node_field(trace, &node, &field)) {
            return false;
        }
    }
    SIM_APPEND(trace->nodes, trace->node_count, trace->node_capacity, node);
    return true;
}

// Reads the version: a field, or an attribute `schema`.
static bool read_metadata(app__chakra_trace_t *trace, input_t in)
{
    while (in.at < in.end) {
        field_t field;
        if (!read_field(&in, &field)) {
            return false;
        }
        if (field.number == 1 && field.wire == WIRE_BYTES) {
            trace->version = text_of(&field.bytes);
        }
    }
    return true;
}

// -- dependencies

typedef struct place {
    uint64_t id;
    size_t node;
} place_t;

static int compare(const void *a, const void *b)
{
    const place_t *const one = a;
    const place_t *const two = b;
    return one->id < two->id ? -1 : one->id > two->id;
}

// Turns ids into indices of nodes.
static sim_err_t resolve(app__chakra_trace_t *trace, sim_message_t *message)
{
    place_t *const places = sim_alloc_array(trace->node_count + 1, sizeof(*places));
    sim_err_t error = SIM_OK;
    for (size_t i = 0; i < trace->node_count; i++) {
        places[i] = (place_t){trace->nodes[i].id, i};
    }
    qsort(places, trace->node_count, sizeof(*places), compare);
    for (size_t i = 1; i < trace->node_count && error == SIM_OK; i++) {
        if (places[i].id == places[i - 1].id) {
            error = sim_fail(message, SIM_ERR_INVALID,
                             "%s: two nodes have the id %" PRIu64 ", expected different ids",
                             trace->file, places[i].id);
        }
    }
    for (size_t n = 0; n < trace->node_count && error == SIM_OK; n++) {
        for (uint32_t d = 0; d < trace->nodes[n].dep_count; d++) {
            uint64_t *const dep = &trace->deps[trace->nodes[n].dep_first + d];
            const place_t key = {*dep, 0};
            const place_t *const found =
                bsearch(&key, places, trace->node_count, sizeof(*places), compare);
            if (found == NULL && trace->dangling++ == 0) {
                trace->first_dangling = n;
                trace->first_absent = *dep;
            }
            *dep = found == NULL ? UINT64_MAX : found->node;
        }
    }
    sim_free(places);
    return error;
}

sim_err_t app__chakra_read(const char *file, const char *bytes, size_t size_bytes,
                           app__chakra_trace_t *trace, sim_message_t *message)
{
    const uint8_t *const start = (const uint8_t *)bytes;
    input_t in = {start, start + size_bytes};
    bool has_metadata = false;
    *trace = (app__chakra_trace_t){.file = file};
    if (app__chakra_is_json(bytes, size_bytes)) {
        const sim_err_t error = app__chakra_read_json(file, bytes, size_bytes, trace, message);
        return error == SIM_OK ? resolve(trace, message) : error;
    }
    while (in.at < in.end) {
        const size_t offset = (size_t)(in.at - start);
        input_t part;
        if (!read_bytes(&in, &part)) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "%s: the file ends within the message at byte %zu, expected messages "
                            "of Chakra's schema, each behind its length",
                            file, offset);
        }
        const bool good = has_metadata ? read_node(trace, part) : read_metadata(trace, part);
        has_metadata = true;
        if (!good || trace->node_count > NODES_MAX || trace->dep_count > UINT32_MAX) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "%s: the message at byte %zu is broken, expected %s of Chakra's schema",
                            file, offset,
                            trace->node_count == 0 ? "GlobalMetadata and a Node" : "a Node");
        }
    }
    if (!has_metadata) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "%s: the file is empty, expected GlobalMetadata and nodes of Chakra", file);
    }
    return resolve(trace, message);
}

void app__chakra_fini(app__chakra_trace_t *trace)
{
    SIM_FREE_ALL(trace->name, trace->bytes, trace->nodes, trace->deps);
    *trace = (app__chakra_trace_t){.file = NULL};
}

bool app__chakra_recognises(const app__workload_file_t *file)
{
    const size_t name_length = strlen(file->name);
    if (name_length > 3 && strcmp(file->name + name_length - 3, ".et") == 0) {
        return true;
    }
    if (file->size_bytes < 4) {
        return false;
    }
    if (app__chakra_is_json(file->text, file->size_bytes)) {
        return true;
    }
    // GlobalMetadata has texts in fields 1 and 2 only; its length stands before it.
    const uint8_t *const start = (const uint8_t *)file->text;
    input_t in = {start, start + file->size_bytes};
    input_t metadata;
    if (!read_bytes(&in, &metadata) || metadata.at == metadata.end) {
        return false;
    }
    while (metadata.at < metadata.end) {
        field_t field;
        if (!read_field(&metadata, &field) || field.number > 2 || field.wire != WIRE_BYTES) {
            return false;
        }
    }
    return true;
}
