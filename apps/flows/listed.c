// SPDX-License-Identifier: Apache-2.0
// apps/flows/listed.c - transfers listed one by one, in a file or in the scenario itself.
//
// A row is `source destination bytes start [priority]`, separated by spaces, tabs or commas. A row
// ends at the end of the line or at a semicolon; in a list in brackets, [a b 1MB 0us, a c 1MB 5us],
// at the comma. The reader skips blank rows, text after a #, and a first row that begins with `src`
// or `source`. It recognises other simulators' files by their first words. docs/models/traffic.md
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "apps/app_internal.h"
#include "apps/flow_file.h"
#include "apps/flows/files/foreign.h"
#include "apps/flows/files/import.h"
#include "apps/flows/planned.h"
#include "apps/hosts.h"
#include "kernel/parse.h"
#include "kernel/words.h"

#define PREFIX "traffic.flows"
#define FIELDS_MAX 5
#define FIELD_BYTES_MAX 255
#define START_PS_MAX (10000 * SIM_PS_PER_S) // the limit of the other applications

typedef enum trigger_time { TRIGGERS_DATA, TRIGGERS_ACKNOWLEDGED } trigger_time_t;

typedef struct flows_config {
    char *file;
    char *list;
    app_flow_format_t format;
    sim_time_t stop_ps; // SIM_AUTO: none
    uint64_t qps;
    uint32_t triggers; // trigger_time_t
    app__shape_t shape;
} flows_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(flows_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "file", file, "", "file of transfers, one row each: source destination bytes start [priority]"),
    ATTR(STRING, "list", list, "", "transfers in the scenario itself: rows as in a file, or [row, row]"),
    ATTR(ENUM, "format", format, "auto", "auto|rows|hpcc|htsim", "format of the file; hpcc: HPCC's ns-3 simulator, SimAI, ConWeave; htsim: .cm; auto: decided from the first words of the file"),
    ATTR(COUNT, "qps", qps, "auto", "1", "1024", "number of queue pairs per row; the row's bytes are cut into that many transfers, each with its own QP and path; auto: one, and the report has no part about rows", .auto_ok = true),
    ATTR(ENUM, "triggers", triggers, "acknowledged", "data|acknowledged", "moment at which a send_done_trigger acts that belongs to the receiver's host: when its data are there, or when the sender would know, as in htsim"),
    APP__STOP_ATTR(PREFIX, flows_config_t, stop_ps),
    APP__SHAPE_ATTRS(PREFIX, flows_config_t, shape),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", flows_config_t, attrs);

// A host name resolved before, in a table with open addressing that is used only for lookups.
typedef struct known_name {
    char *name; // NULL: free
    uint32_t interface;
} known_name_t;

typedef struct reader {
    const app_context_t *context;
    app__plan_t *plan;
    uint64_t qps;
    const char *attribute; // "file" or "list"
    const char *place;     // ": flows.csv line " or ": row "
    uint64_t row;
    uint64_t flows; // rows that name a flow
    bool in_brackets;
    known_name_t *known;
    size_t known_count;
    size_t known_size; // power of two
} reader_t;

static sim_err_t SIM_PRINTF(4, 5)
    fail(const reader_t *reader, sim_err_t error, sim_message_t *message, const char *format, ...)
{
    char text[sizeof(message->text)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return sim_fail_about(message, error, reader->attribute, "%s%" PRIu64 ": %s", reader->place,
                          reader->row, text);
}

// -- names

static known_name_t *find_known(const reader_t *reader, const char *name)
{
    uint64_t hash = 0;
    for (const char *at = name; *at != '\0'; at++) {
        hash = sim_mix64(hash ^ (unsigned char)*at) + 1;
    }
    size_t at = (size_t)hash & (reader->known_size - 1);
    while (reader->known[at].name != NULL && strcmp(reader->known[at].name, name) != 0) {
        at = (at + 1) & (reader->known_size - 1);
    }
    return &reader->known[at];
}

static void grow_known(reader_t *reader)
{
    known_name_t *const old = reader->known;
    const size_t old_size = reader->known_size;
    reader->known_size = old_size * 2;
    reader->known = sim_alloc_array(reader->known_size, sizeof(*reader->known));
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].name != NULL) {
            *find_known(reader, old[i].name) = old[i];
        }
    }
    sim_free(old);
}

static sim_err_t find_interface(reader_t *reader, const char *name, uint32_t *interface,
                                sim_message_t *message)
{
    known_name_t *slot = find_known(reader, name);
    if (slot->name != NULL) {
        *interface = slot->interface;
        return SIM_OK;
    }
    sim_message_t reason = {.text = ""};
    const sim_err_t error = app__interface_find(reader->context, "host", name, interface, &reason);
    if (error != SIM_OK) {
        return fail(reader, error, message, "%s", reason.text);
    }
    if (2 * (reader->known_count + 1) > reader->known_size) {
        grow_known(reader);
        slot = find_known(reader, name);
    }
    *slot = (known_name_t){sim_strdup(name), *interface};
    reader->known_count++;
    SIM_CHECK(reader->known_count < reader->known_size); // so that each search ends
    return SIM_OK;
}

// -- rows

static sim_err_t take_values(reader_t *reader, char fields[][FIELD_BYTES_MAX + 1], size_t count,
                             app__request_t *request, sim_message_t *message)
{
    sim_message_t reason = {.text = ""};
    sim_err_t error = sim_parse_bytes(fields[2], &request->bytes, &reason);
    if (error != SIM_OK) {
        return fail(reader, error, message, "bytes: %s", reason.text);
    }
    if (request->bytes == 0 || request->bytes > UINT64_C(1000000000000000)) {
        return fail(reader, SIM_ERR_RANGE, message, "bytes is %s, expected a size from 1 to 1000TB",
                    fields[2]);
    }
    error = sim_parse_time(fields[3], &request->start_ps, &reason);
    if (error == SIM_OK && request->start_ps > START_PS_MAX) {
        error = sim_fail(&reason, SIM_ERR_RANGE,
                         "%s is out of range, expected 0s to "
                         "10000s",
                         fields[3]);
    }
    if (error != SIM_OK) {
        return fail(reader, error, message, "start: %s", reason.text);
    }
    request->priority = SIM_AUTO;
    if (count < FIELDS_MAX) {
        return SIM_OK;
    }
    error = sim_parse_count(fields[4], &request->priority, &reason);
    if (error != SIM_OK || request->priority > 7) {
        return fail(reader, SIM_ERR_RANGE, message, "priority is %s, expected a number from 0 to 7",
                    fields[4]);
    }
    return SIM_OK;
}

// Adds one transfer per queue pair. The first ones are a byte longer if the bytes do not divide
// evenly.
static sim_err_t add_parts(reader_t *reader, const app__request_t *row, sim_message_t *message)
{
    if (row->bytes < reader->qps) {
        return fail(reader, SIM_ERR_RANGE, message,
                    "%" PRIu64 " bytes for %" PRIu64
                    " queue pairs (qps), expected at least a byte for each",
                    row->bytes, reader->qps);
    }
    sim_err_t error = SIM_OK;
    for (uint64_t i = 0; i < reader->qps && error == SIM_OK; i++) {
        app__request_t part = *row;
        part.bytes = row->bytes / reader->qps + (i < row->bytes % reader->qps ? 1 : 0);
        sim_message_t reason = {.text = ""};
        error = app__plan_add(reader->plan, &part, "flow", &reason);
        if (error != SIM_OK) {
            return fail(reader, error, message, "%s", reason.text);
        }
    }
    return error;
}

// Returns whose row it is, if the row is five or six bare numbers: files of other simulators begin
// with a count of such rows. NULL: it is none.
static const char *numbered_rows(char fields[][FIELD_BYTES_MAX + 1], size_t count)
{
    for (size_t i = 0; i < count && count <= FIELDS_MAX + 1; i++) {
        if (fields[i][0] == '\0' || fields[i][strspn(fields[i], "0123456789.")] != '\0') {
            return NULL;
        }
    }
    const bool stops = count == 6 && strtod(fields[4], NULL) <= strtod(fields[5], NULL);
    return stops        ? "ns3-rdma (source destination group packets start stop)"
           : count == 6 ? "HPCC's simulator (source destination group port bytes start)"
           : count == 5 ? "ConWeave (source destination group bytes start)"
                        : NULL;
}

static sim_err_t take_fields(reader_t *reader, char fields[][FIELD_BYTES_MAX + 1], size_t count,
                             sim_message_t *message)
{
    const char *const other = numbered_rows(fields, count);
    if (other != NULL) {
        return fail(reader, SIM_ERR_INVALID, message,
                    "a row of %s, expected source destination bytes start [priority], as in %s, or "
                    "a file of HPCC's rows behind a line with their number",
                    other,
                    reader->in_brackets ? "list: [host0 host1 1MB 0us]" : "host0 host1 1MB 0us");
    }
    if (count < FIELDS_MAX - 1 || count > FIELDS_MAX) {
        return fail(reader, SIM_ERR_INVALID, message,
                    "%zu field%s, expected source destination bytes start [priority], as in %s",
                    count, count == 1 ? "" : "s",
                    reader->in_brackets ? "list: [host0 host1 1MB 0us]" : "host0 host1 1MB 0us");
    }
    app__request_t request = {.priority = SIM_AUTO};
    sim_err_t error = find_interface(reader, fields[0], &request.source, message);
    if (error == SIM_OK) {
        error = find_interface(reader, fields[1], &request.destination, message);
    }
    if (error == SIM_OK) {
        error = take_values(reader, fields, count, &request, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    reader->flows++;
    return add_parts(reader, &request, message);
}

static bool is_separator(const reader_t *reader, char c)
{
    return c == ' ' || c == '\t' || c == '\r' || (c == ',' && !reader->in_brackets);
}

static sim_err_t take_row(reader_t *reader, const char *text, size_t size_bytes,
                          sim_message_t *message)
{
    char fields[FIELDS_MAX + 1][FIELD_BYTES_MAX + 1];
    size_t count = 0;
    const char *const comment = memchr(text, '#', size_bytes);
    const char *const end = comment != NULL ? comment : text + size_bytes;
    const char *at = text;
    while (at < end) {
        if (is_separator(reader, *at)) {
            at++;
            continue;
        }
        const char *const first = at;
        while (at < end && !is_separator(reader, *at)) {
            at++;
        }
        const size_t length = (size_t)(at - first);
        if (length > FIELD_BYTES_MAX || memchr(first, '\0', length) != NULL) {
            return fail(reader, SIM_ERR_INVALID, message,
                        "a field is longer than 255 characters "
                        "or not text, expected source "
                        "destination bytes start [priority]");
        }
        if (count <= FIELDS_MAX) {
            memcpy(fields[count], first, length);
            fields[count][length] = '\0';
        }
        count++;
    }
    if (count == 0) {
        return SIM_OK;
    }
    if (reader->flows == 0 &&
        (strcasecmp(fields[0], "src") == 0 || strcasecmp(fields[0], "source") == 0)) {
        return SIM_OK;
    }
    return take_fields(reader, fields, count, message);
}

static sim_err_t take_text(reader_t *reader, const char *text, size_t size_bytes,
                           sim_message_t *message)
{
    const char *const end = text + size_bytes;
    const char *at = text;
    while (at < end) {
        const char *first = at;
        while (at < end && *at != '\n' && *at != ';' && !(reader->in_brackets && *at == ',')) {
            at++;
        }
        reader->row++;
        const sim_err_t error = take_row(reader, first, (size_t)(at - first), message);
        if (error != SIM_OK) {
            return error;
        }
        at++;
    }
    return SIM_OK;
}

static sim_err_t take_list(reader_t *reader, const char *list, sim_message_t *message)
{
    const char *first = list + strspn(list, " \t\r\n");
    size_t length = strlen(first);
    while (length > 0 && strchr(" \t\r\n", first[length - 1]) != NULL) {
        length--;
    }
    reader->attribute = "list";
    reader->place = ": row ";
    reader->row = 0;
    if (length >= 2 && first[0] == '[' && first[length - 1] == ']') {
        reader->in_brackets = true;
        first++;
        length -= 2;
    }
    return take_text(reader, first, length, message);
}

static sim_err_t take_file(reader_t *reader, const flows_config_t *config, sim_message_t *message)
{
    const app_context_t *const context = reader->context;
    const char *const name = config->file;
    char *text = NULL;
    size_t size_bytes = 0;
    sim_message_t reason = {.text = ""};
    sim_err_t error = context->read_file(name, &text, &size_bytes, &reason, context->ctx);
    if (error != SIM_OK) {
        return sim_fail_about(message, error, "file", ": %.400s", reason.text);
    }
    app_flow_format_t format = (app_flow_format_t)config->format;
    if (format == APP_FLOW_AUTO) {
        format = app_flow_file_detect(text, size_bytes);
    }
    reader->attribute = "file";
    const char *const foreign = app__flow_foreign(text, size_bytes);
    if (foreign != NULL) {
        sim_free(text);
        return sim_fail_in(message, SIM_ERR_INVALID, name, 1, 1, APP__FLOW_FOREIGN_FORMAT, foreign);
    }
    if (format != APP_FLOW_ROWS && reader->qps > 1) {
        error = sim_fail_about(message, SIM_ERR_INVALID, "qps",
                               ": %.200s is a file of another simulator, expected qps: 1", name);
    } else if (format != APP_FLOW_ROWS) {
        const bool acknowledged = config->triggers == TRIGGERS_ACKNOWLEDGED;
        error = app__flows_add_file(context, reader->plan, format, name, text, size_bytes,
                                    acknowledged, message);
    } else {
        char *const place = sim_format(": %.200s line ", name);
        reader->place = place;
        reader->row = 0;
        reader->in_brackets = false;
        const char *const first = sim_text_after_mark(text, size_bytes);
        error = take_text(reader, first, (size_t)(text + size_bytes - first), message);
        sim_free(place);
    }
    sim_free(text);
    return error;
}

static sim_err_t fill(reader_t *reader, const flows_config_t *config, sim_message_t *message)
{
    if (*config->file == '\0' && *config->list == '\0') {
        return sim_fail_about(message, SIM_ERR_INVALID, "file",
                              ": neither file nor list is given, "
                              "expected one of them");
    }
    sim_err_t error = app__plan_stop_at(reader->plan, config->stop_ps, 0, message);
    if (error == SIM_OK && *config->file != '\0') {
        error = take_file(reader, config, message);
    }
    if (error == SIM_OK && *config->list != '\0') {
        error = take_list(reader, config->list, message);
    }
    if (error == SIM_OK && reader->flows > 0 && app__plan_count(reader->plan) == 0) {
        error = sim_fail_about(message, SIM_ERR_RANGE, "stop",
                               ": no flow starts before it, expected a time after the first start");
    } else if (error == SIM_OK && app__plan_count(reader->plan) == 0) {
        error = sim_fail_about(message, SIM_ERR_INVALID, reader->attribute,
                               ": it lists no flow, expected at least one row");
    }
    return error;
}

static sim_err_t flows_create(const app_context_t *context, const void *config_void, app_t **app,
                              sim_message_t *message)
{
    const flows_config_t *const config = config_void;
    reader_t reader = {
        .context = context,
        .plan = app__plan_create(context, &config->shape, app_flows.name),
        .qps = config->qps == SIM_AUTO ? 1 : config->qps,
        .known_size = 64,
    };
    if (config->qps != SIM_AUTO) {
        app__plan_group(reader.plan, reader.qps);
    }
    reader.known = sim_alloc_array(reader.known_size, sizeof(*reader.known));
    const sim_err_t error = fill(&reader, config, message);
    if (error == SIM_OK) {
        *app = app__planned_create(&app_flows, context, reader.plan);
    } else {
        app__plan_destroy(reader.plan);
    }
    for (size_t i = 0; i < reader.known_size; i++) {
        sim_free(reader.known[i].name);
    }
    sim_free(reader.known);
    return error;
}

sim_err_t app__flows_create_from(const app_context_t *context, const char *file, app_t **app,
                                 sim_message_t *message)
{
    flows_config_t config;
    sim_attrs_default(&attr_table, &config);
    sim_free(config.file);
    config.file = sim_strdup(file);
    const sim_err_t error = flows_create(context, &config, app, message);
    sim_attrs_fini(&attr_table, &config);
    return error;
}

const app_ops_t app_flows = {
    .name = "flows",
    .help = "transfers listed one by one",
    .attrs = &attr_table,
    .create = flows_create,
    APP__PLANNED_OPS,
};
