// SPDX-License-Identifier: Apache-2.0
// world/registry/mooncake_json.c - see the header. Members stand in the order of the engine's
// document; numbers are decimal, as JSON has no others. What a reader does not know it passes over;
// what it knows must be of the right kind.
#include "world/mooncake_json.h"

#include <jansson.h>
#include <string.h>

#define FILES_MAX 60u // of a server; their contents lie in areas of its memory
#define WRITE_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY)

static char *text_of(json_t *root)
{
    char *const dumped = json_dumps(root, WRITE_FLAGS);
    SIM_CHECK(dumped != NULL);
    char *const text = sim_strdup(dumped);
    void (*release)(void *) = NULL;
    json_get_alloc_funcs(NULL, &release);
    release(dumped);
    json_decref(root);
    return text;
}

static json_t *parse(const char *text, size_t size, const char *what, sim_message_t *message)
{
    json_error_t error;
    json_t *const root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        (void)sim_fail_in(message, SIM_ERR_INVALID, what, (uint64_t)error.line,
                          (uint64_t)error.column, "%s", error.text);
        return NULL;
    }
    if (!json_is_object(root)) {
        (void)sim_fail_in(message, SIM_ERR_INVALID, what, 1, 1, "expected an object");
        json_decref(root);
        return NULL;
    }
    return root;
}

static sim_err_t wrong(sim_message_t *message, const char *what, const char *expected)
{
    return sim_fail(message, SIM_ERR_INVALID, "%s: expected %s", what, expected);
}

static json_t *names_json(char *const *names, size_t count)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_string(names[i]));
    }
    return list;
}

// -- the matrix

static json_t *matrix_json(const app_mooncake_matrix_t *matrix)
{
    json_t *const object = json_object();
    for (size_t i = 0; i < matrix->count; i++) {
        const app_mooncake_priority_t *const item = &matrix->items[i];
        json_t *const pair = json_array();
        json_array_append_new(pair, names_json(item->preferred, item->preferred_count));
        json_array_append_new(pair, names_json(item->available, item->available_count));
        json_object_set_new(object, item->location, pair);
    }
    return object;
}

static sim_err_t take_names(const json_t *list, char ***names, size_t *count,
                            sim_message_t *message)
{
    *names = sim_alloc_array(json_array_size(list) + 1, sizeof(char *));
    *count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *const name = json_string_value(json_array_get(list, i));
        if (name == NULL) {
            return wrong(message, "priority matrix", "names of NICs in its lists");
        }
        (*names)[(*count)++] = sim_strdup(name);
    }
    return json_is_array(list) ? SIM_OK
                               : wrong(message, "priority matrix", "a list of names of NICs");
}

static sim_err_t take_matrix(json_t *object, app_mooncake_matrix_t *matrix, sim_message_t *message)
{
    *matrix = (app_mooncake_matrix_t){NULL, 0};
    if (!json_is_object(object)) {
        return wrong(message, "priority matrix", "an object of locations");
    }
    matrix->items = sim_alloc_array(json_object_size(object) + 1, sizeof(*matrix->items));
    const char *location = NULL;
    json_t *pair = NULL;
    sim_err_t error = SIM_OK;
    json_object_foreach(object, location, pair)
    {
        // The second list may be missing.
        const size_t lists = json_array_size(pair);
        if (lists < 1 || lists > 2) {
            error = wrong(message, location, "one or two lists of NICs: [[preferred], [others]]");
            break;
        }
        app_mooncake_priority_t *const item = &matrix->items[matrix->count++];
        item->location = sim_strdup(location);
        error =
            take_names(json_array_get(pair, 0), &item->preferred, &item->preferred_count, message);
        if (error == SIM_OK && lists == 2) {
            error = take_names(json_array_get(pair, 1), &item->available, &item->available_count,
                               message);
        }
        if (error != SIM_OK) {
            break;
        }
    }
    if (error != SIM_OK) {
        app_mooncake_matrix_fini(matrix);
    }
    return error;
}

static sim_err_t read_matrix(const char *text, app_mooncake_matrix_t *matrix,
                             sim_message_t *message)
{
    json_t *const root = parse(text, strlen(text), "priority matrix", message);
    if (root == NULL) {
        return SIM_ERR_INVALID;
    }
    const sim_err_t error = take_matrix(root, matrix, message);
    json_decref(root);
    return error;
}

// -- segments

static json_t *whole(uint64_t value)
{
    SIM_CHECK(value <= INT64_MAX);
    return json_integer((json_int_t)value);
}

static json_t *buffer_json(const app_mooncake_buffer_t *buffer)
{
    json_t *const object = json_object();
    json_object_set_new(object, "name", json_string(buffer->name));
    json_object_set_new(object, "addr", whole(buffer->addr));
    json_object_set_new(object, "length", whole(buffer->length));
    json_t *const keys = json_array();
    for (size_t k = 0; k < buffer->rkey_count; k++) {
        json_array_append_new(keys, whole(buffer->rkeys[k]));
    }
    json_object_set_new(object, "rkey", keys);
    return object;
}

static char *write_segment(const app_mooncake_segment_desc_t *desc)
{
    json_t *const root = json_object();
    json_object_set_new(root, "name", json_string(desc->name));
    if (desc->server != NULL) {
        json_object_set_new(root, "protocol", json_string("nvmeof"));
        json_object_set_new(root, "server", json_string(desc->server));
        json_object_set_new(root, "length", whole(desc->file_length));
        json_object_set_new(root, "nsid", whole(desc->nsid));
        return text_of(root);
    }
    json_t *const devices = json_array();
    for (size_t i = 0; i < desc->device_count; i++) {
        json_t *const device = json_object();
        json_object_set_new(device, "name", json_string(desc->devices[i].name));
        json_object_set_new(device, "lid", whole(desc->devices[i].lid));
        json_object_set_new(device, "gid", json_string(desc->devices[i].gid));
        json_array_append_new(devices, device);
    }
    json_object_set_new(root, "devices", devices);
    json_object_set_new(root, "priority_matrix", matrix_json(&desc->matrix));
    json_t *const buffers = json_array();
    for (size_t i = 0; i < desc->buffer_count; i++) {
        json_array_append_new(buffers, buffer_json(&desc->buffers[i]));
    }
    json_object_set_new(root, "buffers", buffers);
    return text_of(root);
}

static bool get_whole(const json_t *object, const char *key, uint64_t limit, uint64_t *value)
{
    const json_t *const member = json_object_get(object, key);
    if (!json_is_integer(member) || json_integer_value(member) < 0 ||
        (uint64_t)json_integer_value(member) > limit) {
        return false;
    }
    *value = (uint64_t)json_integer_value(member);
    return true;
}

static bool get_text(const json_t *object, const char *key, char **text)
{
    const char *const value = json_string_value(json_object_get(object, key));
    if (value != NULL) {
        *text = sim_strdup(value);
    }
    return value != NULL;
}

static bool take_device(const json_t *object, app_mooncake_device_t *device)
{
    uint64_t lid = 0;
    if (!get_text(object, "name", &device->name) || !get_text(object, "gid", &device->gid) ||
        !get_whole(object, "lid", UINT16_MAX, &lid)) {
        return false;
    }
    device->lid = (uint16_t)lid;
    return true;
}

static bool take_buffer(const json_t *object, app_mooncake_buffer_t *buffer)
{
    const json_t *const keys = json_object_get(object, "rkey");
    if (!get_text(object, "name", &buffer->name) ||
        !get_whole(object, "addr", INT64_MAX, &buffer->addr) ||
        !get_whole(object, "length", INT64_MAX, &buffer->length) || !json_is_array(keys)) {
        return false;
    }
    buffer->rkeys = sim_alloc_array(json_array_size(keys) + 1, sizeof(uint32_t));
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const json_t *const key = json_array_get(keys, i);
        if (!json_is_integer(key) || json_integer_value(key) < 0 ||
            json_integer_value(key) > UINT32_MAX) {
            return false;
        }
        buffer->rkeys[buffer->rkey_count++] = (uint32_t)json_integer_value(key);
    }
    return true;
}

static sim_err_t take_ram(json_t *root, app_mooncake_segment_desc_t *desc, sim_message_t *message)
{
    const json_t *const devices = json_object_get(root, "devices");
    const json_t *const buffers = json_object_get(root, "buffers");
    if (!json_is_array(devices) || !json_is_array(buffers)) {
        return wrong(message, "segment", "lists of devices and buffers");
    }
    desc->devices = sim_alloc_array(json_array_size(devices) + 1, sizeof(*desc->devices));
    for (size_t i = 0; i < json_array_size(devices); i++) {
        desc->device_count++;
        if (!take_device(json_array_get(devices, i), &desc->devices[i])) {
            return wrong(message, "segment", "name, lid and gid of each device");
        }
    }
    desc->buffers = sim_alloc_array(json_array_size(buffers) + 1, sizeof(*desc->buffers));
    for (size_t i = 0; i < json_array_size(buffers); i++) {
        desc->buffer_count++;
        if (!take_buffer(json_array_get(buffers, i), &desc->buffers[i])) {
            return wrong(message, "segment", "name, addr, length and rkey of each buffer");
        }
        if (desc->buffers[i].rkey_count != desc->device_count) {
            return wrong(message, "segment", "as many rkeys of a buffer as there are devices");
        }
    }
    return take_matrix(json_object_get(root, "priority_matrix"), &desc->matrix, message);
}

static sim_err_t read_segment(const char *text, size_t size, app_mooncake_segment_desc_t **desc,
                              sim_message_t *message)
{
    json_t *const root = parse(text, size, "segment", message);
    if (root == NULL) {
        return SIM_ERR_INVALID;
    }
    app_mooncake_segment_desc_t *const made = sim_alloc(sizeof(*made));
    const char *const protocol = json_string_value(json_object_get(root, "protocol"));
    sim_err_t error = SIM_OK;
    if (!get_text(root, "name", &made->name)) {
        error = wrong(message, "segment", "a name");
    } else if (protocol != NULL && strcmp(protocol, "nvmeof") == 0) {
        if (!get_text(root, "server", &made->server) ||
            !get_whole(root, "length", INT64_MAX, &made->file_length)) {
            error = wrong(message, "segment", "server and length of a file");
        }
        made->nsid = 1;
        if (error == SIM_OK && json_object_get(root, "nsid") != NULL &&
            (!get_whole(root, "nsid", FILES_MAX, &made->nsid) || made->nsid == 0)) {
            error = wrong(message, "segment", "nsid of a file, a number from 1");
        }
    } else {
        error = take_ram(root, made, message);
    }
    json_decref(root);
    if (error != SIM_OK) {
        app_mooncake_segment_desc_destroy(made);
        return error;
    }
    *desc = made;
    return SIM_OK;
}

// -- files of records

static sim_err_t read_records(const char *text, size_t size, app_mooncake_record_fn fn, void *ctx,
                              sim_message_t *message)
{
    json_t *const root = parse(text, size, "records", message);
    if (root == NULL) {
        return SIM_ERR_INVALID;
    }
    const char *key = NULL;
    json_t *value = NULL;
    sim_err_t error = SIM_OK;
    json_object_foreach(root, key, value)
    {
        char *const record = text_of(json_incref(value));
        app_mooncake_segment_desc_t *desc = NULL;
        sim_message_t why = {.text = ""};
        error = read_segment(record, strlen(record), &desc, &why);
        app_mooncake_segment_desc_destroy(desc);
        if (error == SIM_OK) {
            fn(key, record, strlen(record), ctx);
        } else {
            (void)sim_fail(message, error, "%s: %s", key, why.text);
        }
        sim_free(record);
        if (error != SIM_OK) {
            break;
        }
    }
    json_decref(root);
    return error;
}

// -- handshakes

static char *write_handshake(const app_mooncake_handshake_desc_t *desc)
{
    json_t *const root = json_object();
    json_object_set_new(root, "local_nic_path", json_string(desc->local_nic_path));
    json_object_set_new(root, "peer_nic_path", json_string(desc->peer_nic_path));
    json_t *const numbers = json_array();
    for (size_t i = 0; i < desc->qp_count; i++) {
        json_array_append_new(numbers, whole(desc->qp_nums[i]));
    }
    json_object_set_new(root, "qp_num", numbers);
    if (desc->mtu != 0) {
        json_object_set_new(root, "mtu", whole(desc->mtu));
    }
    return text_of(root);
}

static sim_err_t take_handshake(const json_t *root, app_mooncake_handshake_desc_t *desc,
                                sim_message_t *message)
{
    const json_t *const numbers = json_object_get(root, "qp_num");
    if (!get_text(root, "local_nic_path", &desc->local_nic_path) ||
        !get_text(root, "peer_nic_path", &desc->peer_nic_path) || !json_is_array(numbers)) {
        return wrong(message, "handshake", "local_nic_path, peer_nic_path and qp_num");
    }
    desc->qp_nums = sim_alloc_array(json_array_size(numbers) + 1, sizeof(uint32_t));
    for (size_t i = 0; i < json_array_size(numbers); i++) {
        const json_t *const number = json_array_get(numbers, i);
        if (!json_is_integer(number) || json_integer_value(number) < 0 ||
            json_integer_value(number) > 0xffffff) {
            return wrong(message, "handshake", "queue pair numbers of 24 bits");
        }
        desc->qp_nums[desc->qp_count++] = (uint32_t)json_integer_value(number);
    }
    uint64_t mtu = 0;
    if (json_object_get(root, "mtu") != NULL && !get_whole(root, "mtu", 65536, &mtu)) {
        return wrong(message, "handshake", "an MTU in bytes");
    }
    desc->mtu = (uint32_t)mtu;
    return SIM_OK;
}

static sim_err_t read_handshake(const char *text, size_t size, app_mooncake_handshake_desc_t *desc,
                                sim_message_t *message)
{
    json_t *const root = parse(text, size, "handshake", message);
    if (root == NULL) {
        return SIM_ERR_INVALID;
    }
    *desc = (app_mooncake_handshake_desc_t){0};
    const sim_err_t error = take_handshake(root, desc, message);
    json_decref(root);
    if (error != SIM_OK) {
        app_mooncake_handshake_desc_fini(desc);
    }
    return error;
}

const app_mooncake_codec_t world_mooncake_codec = {
    .write_segment = write_segment,
    .read_segment = read_segment,
    .write_handshake = write_handshake,
    .read_handshake = read_handshake,
    .read_matrix = read_matrix,
    .read_records = read_records,
};
