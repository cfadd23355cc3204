// SPDX-License-Identifier: Apache-2.0
// cli/meta/command.c - `rocesim mooncake-meta`. It speaks to etcd through the JSON gateway of the
// v3 API (/v3/kv, keys and values in base64), and to memcached through its text protocol, in which
// lru_crawler lists the keys.
#include "cli/meta/meta.h"

#include "cli/meta/http.h"
#include "world/mooncake_json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PREFIX "mooncake/"
#define PREFIX_END "mooncake0" // the key after all that begin with the prefix

// -- base64

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *encode(const char *bytes, size_t size)
{
    char *const text = sim_alloc((size + 2) / 3 * 4 + 1);
    char *out = text;
    for (size_t i = 0; i < size; i += 3) {
        const size_t count = SIM_MIN(size - i, 3);
        uint32_t word = 0;
        for (size_t k = 0; k < 3; k++) {
            word = word << 8 | (k < count ? (uint8_t)bytes[i + k] : 0u);
        }
        for (size_t k = 0; k < 4; k++) {
            *out++ = k <= count ? digits[word >> (18 - 6 * k) & 63] : '=';
        }
    }
    return text;
}

static char *decode(const char *text)
{
    char *const bytes = sim_alloc(strlen(text) / 4 * 3 + 4);
    size_t size = 0;
    uint32_t word = 0;
    unsigned bits = 0;
    for (; *text != '\0' && *text != '='; text++) {
        const char *const digit = strchr(digits, *text);
        if (digit == NULL) {
            break;
        }
        word = word << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes[size++] = (char)(word >> bits & 0xff);
        }
    }
    return bytes;
}

// -- records: an object from keys to values

// Adds a record, or fails if the engine could not read it.
static sim_err_t add(json_t *records, const char *key, const char *value, world_error_t *error)
{
    app_mooncake_segment_desc_t *desc = NULL;
    sim_message_t message = {.text = ""};
    if (world_mooncake_codec.read_segment(value, strlen(value), &desc, &message) != SIM_OK) {
        return world_fail(error, SIM_ERR_INVALID, NULL, "%s: %s", key, message.text);
    }
    app_mooncake_segment_desc_destroy(desc);
    json_object_set_new(records, key, json_loads(value, 0, NULL));
    return SIM_OK;
}

static char *text_of(const json_t *value)
{
    char *const dumped = json_dumps(value, JSON_COMPACT);
    SIM_CHECK(dumped != NULL);
    char *const text = sim_strdup(dumped);
    free(dumped);
    return text;
}

// Reads the records of a run: with `changed` NULL all that it left, else those that it wrote, and
// in `changed` the keys of those that it removed.
static sim_err_t take_run(const json_t *summary, json_t *records, json_t *changed,
                          world_error_t *error)
{
    size_t a = 0;
    size_t r = 0;
    const json_t *app = NULL;
    const json_t *record = NULL;
    json_array_foreach(json_object_get(summary, "apps"), a, app)
    {
        json_array_foreach(json_object_get(app, "records"), r, record)
        {
            const char *const key = json_string_value(json_object_get(record, "key"));
            const char *const value = json_string_value(json_object_get(record, "value"));
            const char *const change = json_string_value(json_object_get(record, "change"));
            const bool removed = change != NULL && strcmp(change, "removed") == 0;
            if (key != NULL && removed && changed != NULL) {
                json_object_set_new(changed, key, json_true());
            }
            if (removed ||
                (changed != NULL && change != NULL && strcmp(change, "unchanged") == 0)) {
                continue;
            }
            const sim_err_t result =
                key == NULL || value == NULL
                    ? world_fail(error, SIM_ERR_INVALID, NULL, "a record without key or value")
                    : add(records, key, value, error);
            if (result != SIM_OK) {
                return result;
            }
        }
    }
    return SIM_OK;
}

// Reads the records of a result folder (see take_run), or of a file as `import` writes it.
static sim_err_t read_records(const char *from, json_t *records, json_t *changed,
                              world_error_t *error)
{
    json_error_t why;
    char *const summary_name = sim_format("%s/summary.json", from);
    json_t *const summary = json_load_file(summary_name, 0, &why);
    sim_free(summary_name);
    sim_err_t result = SIM_OK;
    if (summary != NULL) {
        result = take_run(summary, records, changed, error);
        json_decref(summary);
        return result;
    }
    json_t *const file = json_load_file(from, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(file)) {
        json_decref(file);
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "%s:%d:%d: %s, expected a result folder or an object of records", from,
                          why.line > 0 ? why.line : 1, why.column > 0 ? why.column : 1,
                          why.text[0] != '\0' ? why.text : "no object");
    }
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(file, key, value)
    {
        char *const text = text_of(value);
        result = result == SIM_OK ? add(records, key, text, error) : result;
        sim_free(text);
    }
    json_decref(file);
    return result;
}

// -- etcd

static sim_err_t etcd_put(const char *url, const char *key, const char *value, world_error_t *error)
{
    char *const key64 = encode(key, strlen(key));
    char *const value64 = encode(value, strlen(value));
    char *const body = sim_format("{\"key\":\"%s\",\"value\":\"%s\"}", key64, value64);
    char *answer = NULL;
    const sim_err_t result = cli_http_post(url, "/v3/kv/put", body, &answer, error);
    SIM_FREE_ALL(answer, body, key64, value64);
    return result;
}

static sim_err_t etcd_remove(const char *url, const char *key, world_error_t *error)
{
    char *const key64 = encode(key, strlen(key));
    char *const body = sim_format("{\"key\":\"%s\"}", key64);
    char *answer = NULL;
    const sim_err_t result = cli_http_post(url, "/v3/kv/deleterange", body, &answer, error);
    SIM_FREE_ALL(answer, body, key64);
    return result;
}

static sim_err_t etcd_get(const char *url, json_t *records, world_error_t *error)
{
    char *const from = encode(PREFIX, strlen(PREFIX));
    char *const to = encode(PREFIX_END, strlen(PREFIX_END));
    char *const body = sim_format("{\"key\":\"%s\",\"range_end\":\"%s\"}", from, to);
    char *answer = NULL;
    sim_err_t result = cli_http_post(url, "/v3/kv/range", body, &answer, error);
    json_t *const root = result == SIM_OK ? json_loads(answer, 0, NULL) : NULL;
    if (result == SIM_OK && root == NULL) {
        result = world_fail(error, SIM_ERR_IO, NULL, "%s: an answer that is no JSON", url);
    }
    size_t i = 0;
    const json_t *pair = NULL;
    json_array_foreach(json_object_get(root, "kvs"), i, pair)
    {
        const char *const key64 = json_string_value(json_object_get(pair, "key"));
        const char *const value64 = json_string_value(json_object_get(pair, "value"));
        char *const key = decode(key64 == NULL ? "" : key64);
        char *const value = decode(value64 == NULL ? "" : value64);
        result = result == SIM_OK ? add(records, key, value, error) : result;
        sim_free(key);
        sim_free(value);
    }
    json_decref(root);
    SIM_FREE_ALL(answer, body, from, to);
    return result;
}

// -- memcached

static sim_err_t memcached_put(cli_socket_t *link, const char *key, const char *value,
                               world_error_t *error)
{
    char *const request = sim_format("set %s 0 0 %zu\r\n%s\r\n", key, strlen(value), value);
    sim_err_t result = cli_socket_send(link, request, strlen(request), error);
    sim_free(request);
    const char *line = NULL;
    if (result == SIM_OK) {
        result = cli_socket_line(link, &line, error);
    }
    if (result == SIM_OK && strcmp(line, "STORED") != 0) {
        result = world_fail(error, SIM_ERR_IO, NULL, "memcached says %.100s to %s", line, key);
    }
    return result;
}

static sim_err_t memcached_remove(cli_socket_t *link, const char *key, world_error_t *error)
{
    char *const request = sim_format("delete %s\r\n", key);
    sim_err_t result = cli_socket_send(link, request, strlen(request), error);
    sim_free(request);
    const char *line = NULL;
    if (result == SIM_OK) {
        result = cli_socket_line(link, &line, error);
    }
    if (result == SIM_OK && strcmp(line, "DELETED") != 0 && strcmp(line, "NOT_FOUND") != 0) {
        result = world_fail(error, SIM_ERR_IO, NULL, "memcached says %.100s to %s", line, key);
    }
    return result;
}

static sim_err_t memcached_value(cli_socket_t *link, const char *key, json_t *records,
                                 world_error_t *error)
{
    char *const request = sim_format("get %s\r\n", key);
    sim_err_t result = cli_socket_send(link, request, strlen(request), error);
    sim_free(request);
    const char *line = NULL;
    if (result == SIM_OK) {
        result = cli_socket_line(link, &line, error);
    }
    if (result != SIM_OK || strcmp(line, "END") == 0) {
        return result; // the key has expired since it was listed
    }
    const char *const size_text = strrchr(line, ' ');
    const unsigned long size = size_text == NULL ? 0 : strtoul(size_text + 1, NULL, 10);
    const char *bytes = NULL;
    result = cli_socket_take(link, size, &bytes, error);
    if (result == SIM_OK) {
        char *const value = sim_format("%.*s", (int)size, bytes);
        result = add(records, key, value, error);
        sim_free(value);
    }
    for (unsigned i = 0; i < 2 && result == SIM_OK; i++) {
        result = cli_socket_line(link, &line, error); // the line END behind the value
    }
    return result;
}

// Reads the key of a line such as "key=mooncake%2Fnode0 exp=-1 ...".
static char *key_of(const char *line)
{
    const char *at = strstr(line, "key=");
    char *const key = sim_alloc(strlen(line) + 1);
    size_t size = 0;
    for (at = at == NULL ? "" : at + 4; *at != '\0' && *at != ' '; at++) {
        if (at[0] == '%' && at[1] != '\0' && at[2] != '\0') {
            const char hex[3] = {at[1], at[2], '\0'};
            key[size++] = (char)strtoul(hex, NULL, 16);
            at += 2;
        } else {
            key[size++] = *at;
        }
    }
    return key;
}

static sim_err_t memcached_get(cli_socket_t *link, json_t *records, world_error_t *error)
{
    const char *const request = "lru_crawler metadump all\r\n";
    sim_err_t result = cli_socket_send(link, request, strlen(request), error);
    json_t *const keys = json_object();
    const char *line = "";
    while (result == SIM_OK && strcmp(line, "END") != 0) {
        result = cli_socket_line(link, &line, error);
        if (result == SIM_OK && strncmp(line, "key=", 4) == 0) {
            char *const key = key_of(line);
            if (strncmp(key, PREFIX, strlen(PREFIX)) == 0) {
                json_object_set_new(keys, key, json_true());
            }
            sim_free(key);
        } else if (result == SIM_OK && strcmp(line, "END") != 0) {
            result = world_fail(error, SIM_ERR_IO, NULL, "memcached says %.100s", line);
        }
    }
    const char *key = NULL;
    json_t *ignored = NULL;
    json_object_foreach(keys, key, ignored)
    {
        result = result == SIM_OK ? memcached_value(link, key, records, error) : result;
    }
    json_decref(keys);
    return result;
}

// -- the command

static sim_err_t export_records(const cli_meta_options_t *options, json_t *records, json_t *removed,
                                world_error_t *error)
{
    cli_socket_t link = {.fd = -1};
    sim_err_t result = SIM_OK;
    if (options->etcd == NULL) {
        result = cli_socket_open(options->memcached, "11211", &link, error);
    }
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(records, key, value)
    {
        char *const text = text_of(value);
        if (result == SIM_OK) {
            result = options->etcd != NULL ? etcd_put(options->etcd, key, text, error)
                                           : memcached_put(&link, key, text, error);
        }
        sim_free(text);
    }
    json_object_foreach(removed, key, value)
    {
        if (result == SIM_OK) {
            result = options->etcd != NULL ? etcd_remove(options->etcd, key, error)
                                           : memcached_remove(&link, key, error);
        }
    }
    cli_socket_close(&link);
    return result;
}

static sim_err_t import_records(const cli_meta_options_t *options, json_t *records,
                                world_error_t *error)
{
    if (options->etcd != NULL) {
        return etcd_get(options->etcd, records, error);
    }
    cli_socket_t link;
    sim_err_t result = cli_socket_open(options->memcached, "11211", &link, error);
    if (result == SIM_OK) {
        result = memcached_get(&link, records, error);
    }
    cli_socket_close(&link);
    return result;
}

static sim_err_t print_records(const json_t *records, FILE *out)
{
    char *const text = json_dumps(records, JSON_INDENT(2) | JSON_SORT_KEYS);
    SIM_CHECK(text != NULL);
    fprintf(out, "%s\n", text);
    free(text);
    return SIM_OK;
}

sim_err_t cli_meta(const cli_meta_options_t *options, FILE *out, world_error_t *error)
{
    const bool exports = strcmp(options->action, "export") == 0;
    const bool imports = strcmp(options->action, "import") == 0;
    const bool dumps = strcmp(options->action, "dump") == 0;
    if (!exports && !imports && !dumps) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim mooncake-meta: '%s', expected export, import or dump",
                          options->action);
    }
    if ((options->from == NULL) != imports) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          imports ? "rocesim mooncake-meta import: a file, expected none"
                                  : "rocesim mooncake-meta %s: no records, expected a result "
                                    "folder or a file of them",
                          options->action);
    }
    if (!dumps && (options->etcd == NULL) == (options->memcached == NULL)) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim mooncake-meta %s: expected one of --etcd URL and --memcached "
                          "HOST:PORT",
                          options->action);
    }
    json_t *const records = json_object();
    json_t *const removed = json_object();
    sim_err_t result = imports
                           ? import_records(options, records, error)
                           : read_records(options->from, records, exports ? removed : NULL, error);
    if (result == SIM_OK && exports) {
        result = export_records(options, records, removed, error);
        fprintf(out, "%zu records", json_object_size(records));
        if (json_object_size(removed) > 0) {
            fprintf(out, ", %zu removed", json_object_size(removed));
        }
        fputc('\n', out);
    } else if (result == SIM_OK) {
        result = print_records(records, out);
    }
    json_decref(removed);
    json_decref(records);
    return result;
}
