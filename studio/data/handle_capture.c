// SPDX-License-Identifier: Apache-2.0
// studio/data/handle_capture.c - captures: lists, packets, conversations, and from an event to its
// packet.
#include "studio/data/data_handlers.h"
#include "studio/data/packet_file.h"

#include "net/wire/roce.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_MAX 5000
#define FOLLOW_MAX 20000u

// A capture of the run that is asked for.
typedef struct opened {
    studio_sources_t sources;
    json_t *state; // import.json
    char *file;
    const uint8_t *bytes; // of the file, uncompressed
    size_t size;
    studio_names_t *names;
    char *transport;
    studio_scan_t *scan; // of packets
    size_t columns[12];
} opened_t;

enum {
    AT_N,
    AT_TIME,
    AT_PORT,
    AT_KIND,
    AT_SRC,
    AT_DST,
    AT_SRC_PORT,
    AT_QP,
    AT_PSN,
    AT_BYTES,
    AT_CAPTURED,
    AT_OFFSET
};

static void close_capture(opened_t *opened)
{
    if (opened->bytes != NULL) {
        void *bytes = NULL;
        memcpy(&bytes, &opened->bytes, sizeof(bytes));
        (void)munmap(bytes, opened->size);
    }
    if (opened->names != NULL) {
        studio_names_destroy(opened->names);
    }
    studio_scan_close(opened->scan);
    studio_sources_fini(&opened->sources);
    json_decref(opened->state);
    sim_free(opened->file);
    sim_free(opened->transport);
}

static const json_t *find_capture(const opened_t *opened, const char *file)
{
    const json_t *const captures = json_object_get(opened->state, "captures");
    for (size_t i = 0; i < json_array_size(captures); i++) {
        const json_t *const capture = json_array_get(captures, i);
        const char *const name = json_string_value(json_object_get(capture, "file"));
        if (name != NULL && strcmp(name, file) == 0) {
            return capture;
        }
    }
    return NULL;
}

// The name was compared with what the import found, so that it is a name in captures/.
static bool map_bytes(opened_t *opened, const json_t *capture)
{
    const char *const copy = json_string_value(json_object_get(capture, "copy"));
    const studio_source_t *const source = &opened->sources.sources[0];
    char *const path = copy != NULL ? sim_format("%s/%s", source->index, copy)
                                    : sim_format("%s/captures/%s", source->result, opened->file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *const bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (bytes != MAP_FAILED) {
            opened->bytes = bytes;
            opened->size = (size_t)status.st_size;
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    sim_free(path);
    return opened->bytes != NULL;
}

// nic.transport of the scenario as the run wrote it: "  transport: adamap" below "nic:".
static char *transport_of(const char *result)
{
    char *const path = sim_format("%s/scenario.yaml", result);
    FILE *const stream = fopen(path, "rbe");
    char line[512];
    char *transport = NULL;
    bool in_nic = false;
    while (stream != NULL && transport == NULL && fgets(line, sizeof(line), stream) != NULL) {
        if (line[0] != ' ' && line[0] != '\n') {
            in_nic = strncmp(line, "nic:", 4) == 0;
        }
        const char *const word = line + strspn(line, " ");
        if (in_nic && strncmp(word, "transport: ", 11) == 0) {
            transport = sim_format("%.*s", (int)strcspn(word + 11, " \r\n"), word + 11);
        }
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    sim_free(path);
    return transport;
}

static bool open_packets(opened_t *opened, bool all, studio_place_error_t *error)
{
    static const char *const names[] = {"n",
                                        "time_ns",
                                        "port",
                                        "kind",
                                        "src",
                                        "dst",
                                        "src_port",
                                        "qp",
                                        "psn",
                                        "bytes",
                                        "captured",
                                        "offset"};
    if (studio_scan_open(&opened->sources, "packets", &opened->scan, error) != SIM_OK) {
        return false;
    }
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        opened->columns[i] = studio_scan_find(opened->scan, names[i]);
        if (opened->columns[i] == studio_scan_column_count(opened->scan)) {
            (void)sim_fail(&error->message, SIM_ERR_INVALID, "packets lacks a column");
            return false;
        }
    }
    json_t *const only =
        json_pack("[{s:s,s:s,s:s}]", "column", "file", "op", "=", "value", opened->file);
    const bool fits =
        all || (only != NULL && studio_scan_filter(opened->scan, only, error) == SIM_OK);
    json_decref(only);
    return fits;
}

// Opens {run} and {file}; "-" is any where all is allowed.
static bool open_capture(studio_request_t *request,
                         studio_response_t *response,
                         bool may_be_any,
                         opened_t *opened,
                         int *status)
{
    *opened = (opened_t){.file = sim_strdup(studio_request_path(request, "file"))};
    studio_place_error_t error = {.column = 0};
    if (!studio__data_source(request, response, &opened->sources, status)) {
        close_capture(opened);
        return false;
    }
    const studio_source_t *const source = &opened->sources.sources[0];
    opened->state = studio__data_file(source->index, "import.json");
    const json_t *const capture = find_capture(opened, opened->file);
    const bool any = may_be_any && strcmp(opened->file, "-") == 0;
    if (capture == NULL && !any) {
        *status = studio_response_error(response, 404, "the run has no such capture");
    } else if (!open_packets(opened, any, &error)) {
        *status = studio_response_error(response, 404, "%s", error.message.text);
    } else if (!any && !map_bytes(opened, capture)) {
        *status = studio_response_error(response, 410, "the capture cannot be read any more");
    } else {
        opened->names = studio_names_read(source->result);
        opened->transport = transport_of(source->result);
        return true;
    }
    close_capture(opened);
    return false;
}

static studio_cell_t cell(const opened_t *opened, uint64_t row, size_t which)
{
    return studio_scan_cell(opened->scan, 0, row, opened->columns[which]);
}

// The bytes of a packet; NULL: the file is not what it was.
static const uint8_t *bytes_of(const opened_t *opened,
                               uint64_t row,
                               uint32_t *captured,
                               uint32_t *size)
{
    const uint64_t offset = (uint64_t)cell(opened, row, AT_OFFSET).mantissa;
    const uint64_t count = (uint64_t)cell(opened, row, AT_CAPTURED).mantissa;
    *captured = (uint32_t)count;
    *size = (uint32_t)cell(opened, row, AT_BYTES).mantissa;
    const uint64_t at = offset + STUDIO_RECORD_HEAD_BYTES;
    return at <= opened->size && count <= opened->size - at ? opened->bytes + at : NULL;
}

// -- lists

int studio_handle_captures(studio_request_t *request, studio_response_t *response)
{
    studio_sources_t sources;
    int status = 0;
    if (!studio__data_source(request, response, &sources, &status)) {
        return status;
    }
    json_t *const state = studio__data_file(sources.sources[0].index, "import.json");
    json_t *captures = json_incref(json_object_get(state, "captures"));
    captures = captures != NULL ? captures : json_array();
    json_decref(state);
    studio_sources_fini(&sources);
    return studio_response_json(response, 200, json_pack("{s:o}", "captures", captures));
}

static void put_cell(studio_out_t *out, const char *name, studio_cell_t value)
{
    studio_out_format(out, "\"%s\":", name);
    studio_out_cell(out, &value, false);
    studio_out_text(out, ",");
}

static void write_packet(const opened_t *opened, uint64_t row, studio_out_t *out)
{
    uint32_t captured = 0;
    uint32_t size = 0;
    char info[120] = "";
    const uint8_t *const bytes = bytes_of(opened, row, &captured, &size);
    if (bytes != NULL) {
        studio_packet_info(bytes, captured, info, sizeof(info));
    }
    const size_t ecn = studio_scan_find(opened->scan, "ecn");
    const size_t priority = studio_scan_find(opened->scan, "priority");
    put_cell(out, "n", cell(opened, row, AT_N));
    put_cell(out, "time_ns", cell(opened, row, AT_TIME));
    put_cell(out, "port", cell(opened, row, AT_PORT));
    put_cell(out, "source", cell(opened, row, AT_SRC));
    put_cell(out, "destination", cell(opened, row, AT_DST));
    put_cell(out, "kind", cell(opened, row, AT_KIND));
    put_cell(out, "src_port", cell(opened, row, AT_SRC_PORT));
    put_cell(out, "qp", cell(opened, row, AT_QP));
    put_cell(out, "psn", cell(opened, row, AT_PSN));
    put_cell(out, "bytes", cell(opened, row, AT_BYTES));
    put_cell(out, "captured", cell(opened, row, AT_CAPTURED));
    put_cell(out, "ecn", studio_scan_cell(opened->scan, 0, row, ecn));
    put_cell(out, "priority", studio_scan_cell(opened->scan, 0, row, priority));
    studio_out_text(out, "\"info\":");
    studio_out_json(out, info);
}

static void add_number_filter(json_t *conditions, const char *column, double value)
{
    if (!isnan(value)) {
        json_array_append_new(
            conditions,
            json_pack("{s:s,s:s,s:f}", "column", column, "op", "=", "value", value));
    }
}

static sim_err_t filter_list(studio_request_t *request,
                             opened_t *opened,
                             studio_place_error_t *error)
{
    json_t *const conditions = json_array();
    add_number_filter(conditions, "qp", studio__data_real(request, "qp"));
    add_number_filter(conditions, "src_port", studio__data_real(request, "src_port"));
    sim_err_t code = studio_scan_filter(opened->scan, conditions, error);
    json_decref(conditions);
    if (code == SIM_OK) {
        code = studio_scan_range(opened->scan,
                                 studio__data_real(request, "from_ns"),
                                 studio__data_real(request, "to_ns"),
                                 error);
    }
    return code;
}

static void list_packets(studio_request_t *request,
                         opened_t *opened,
                         const studio_packet_filter_t *filter,
                         uint64_t offset,
                         uint64_t limit,
                         studio_out_t *out)
{
    uint64_t matched = 0;
    uint64_t written = 0;
    studio_found_t found = {.rows = NULL};
    studio_out_text(out, "{\"file\":");
    studio_out_json(out, opened->file);
    studio_out_text(out, ",\"packets\":[");
    while (!studio_request_cancelled(request) && studio_scan_next(opened->scan, &found)) {
        for (size_t i = 0; i < found.count; i++) {
            const uint64_t row = found.first_row + found.rows[i];
            if (filter != NULL) {
                uint32_t captured = 0;
                uint32_t size = 0;
                const uint8_t *const bytes = bytes_of(opened, row, &captured, &size);
                if (bytes == NULL || !studio_packet_filter_matches(filter, bytes, captured, size)) {
                    continue;
                }
            }
            if (matched++ >= offset && written < limit) {
                studio_out_text(out, written++ > 0 ? ",\n{" : "\n{");
                write_packet(opened, row, out);
                studio_out_text(out, "}");
            }
        }
    }
    studio_out_format(out, "],\"matched\":%" PRIu64 "}\n", matched);
}

int studio_handle_packets(studio_request_t *request, studio_response_t *response)
{
    opened_t opened;
    int status = 0;
    int64_t limit = 0;
    int64_t offset = 0;
    if (!studio_request_query_number(request, "limit", 200, 0, LIST_MAX, &limit) ||
        !studio_request_query_number(request, "offset", 0, 0, INT64_MAX / 2, &offset)) {
        return studio_response_error(response, 400, "limit: 0 to %d; offset: from 0", LIST_MAX);
    }
    if (!open_capture(request, response, false, &opened, &status)) {
        return status;
    }
    const char *const text = studio_request_query(request, "filter");
    studio_place_error_t error = {.column = 0};
    studio_packet_filter_t *filter = NULL;
    sim_err_t code = filter_list(request, &opened, &error);
    if (code == SIM_OK && text != NULL && text[strspn(text, " ")] != '\0') {
        filter = studio_packet_filter_compile(text, opened.names, &error.message);
        code = filter != NULL ? SIM_OK : SIM_ERR_INVALID;
    }
    if (code == SIM_OK) {
        studio_out_t out = {.bytes = NULL};
        list_packets(request, &opened, filter, (uint64_t)offset, (uint64_t)limit, &out);
        status = studio__data_answer(response, &out);
    } else {
        status = studio__data_refuse(response, code, &error, -1);
    }
    studio_packet_filter_destroy(filter);
    close_capture(&opened);
    return status;
}

// -- one packet

static bool find_row(opened_t *opened, double n, uint64_t *row)
{
    studio_place_error_t error;
    json_t *const conditions = json_array();
    add_number_filter(conditions, "n", n);
    const sim_err_t code = studio_scan_filter(opened->scan, conditions, &error);
    json_decref(conditions);
    studio_found_t found = {.rows = NULL};
    const bool there = code == SIM_OK && studio_scan_next(opened->scan, &found);
    *row = there ? found.first_row + found.rows[0] : 0;
    return there;
}

static const char *text_of(const opened_t *opened, uint64_t row, size_t which)
{
    const char *const text = cell(opened, row, which).text;
    return text != NULL ? text : "";
}

// Packets of the same conversation: both hosts, and the port that names their queue pairs.
static sim_err_t filter_conversation(const opened_t *opened,
                                     studio_scan_t *scan,
                                     uint64_t row,
                                     studio_place_error_t *error)
{
    const char *const a = text_of(opened, row, AT_SRC);
    const char *const b = text_of(opened, row, AT_DST);
    json_t *const conditions = json_pack("[{s:s,s:s,s:[s,s]},{s:s,s:s,s:[s,s]}]",
                                         "column",
                                         "src",
                                         "op",
                                         "in",
                                         "value",
                                         a,
                                         b,
                                         "column",
                                         "dst",
                                         "op",
                                         "in",
                                         "value",
                                         a,
                                         b);
    add_number_filter(conditions, "src_port", cell(opened, row, AT_SRC_PORT).real);
    const sim_err_t code = studio_scan_filter(scan, conditions, error);
    json_decref(conditions);
    return code;
}

// The flow whose packet it is, by its hosts and port.
static void write_flow(const opened_t *opened, uint64_t row, studio_out_t *out)
{
    studio_place_error_t error;
    studio_scan_t *flows = NULL;
    if (cell(opened, row, AT_SRC_PORT).kind == STUDIO_CELL_MISSING ||
        studio_scan_open(&opened->sources, "flows", &flows, &error) != SIM_OK) {
        return;
    }
    const size_t id = studio_scan_find(flows, "flow_id");
    studio_found_t found = {.rows = NULL};
    if (id < studio_scan_column_count(flows) &&
        filter_conversation(opened, flows, row, &error) == SIM_OK &&
        studio_scan_next(flows, &found)) {
        const studio_cell_t flow =
            studio_scan_cell(flows, found.table, found.first_row + found.rows[0], id);
        studio_out_text(out, ",\"flow_id\":");
        studio_out_cell(out, &flow, false);
    }
    studio_scan_close(flows);
}

// Packets before and after it to the same queue pair.
static void write_neighbours(const opened_t *opened, uint64_t row, studio_out_t *out)
{
    studio_place_error_t error;
    studio_scan_t *scan = NULL;
    if (cell(opened, row, AT_QP).kind == STUDIO_CELL_MISSING ||
        studio_scan_open(&opened->sources, "packets", &scan, &error) != SIM_OK) {
        return;
    }
    json_t *const conditions =
        json_pack("[{s:s,s:s,s:s}]", "column", "file", "op", "=", "value", opened->file);
    add_number_filter(conditions, "qp", cell(opened, row, AT_QP).real);
    studio_found_t found = {.rows = NULL};
    int64_t previous = 0;
    int64_t next = 0;
    if (studio_scan_filter(scan, conditions, &error) == SIM_OK &&
        filter_conversation(opened, scan, row, &error) == SIM_OK) {
        while (next == 0 && studio_scan_next(scan, &found)) {
            for (size_t i = 0; i < found.count && next == 0; i++) {
                const uint64_t other = found.first_row + found.rows[i];
                const int64_t n = cell(opened, other, AT_N).mantissa;
                previous = other < row ? n : previous;
                next = other > row ? n : 0;
            }
        }
    }
    json_decref(conditions);
    studio_scan_close(scan);
    if (previous > 0) {
        studio_out_format(out, ",\"previous\":%" PRId64, previous);
    }
    if (next > 0) {
        studio_out_format(out, ",\"next\":%" PRId64, next);
    }
}

static void write_layers(const opened_t *opened,
                         const uint8_t *bytes,
                         uint32_t captured,
                         uint32_t size,
                         studio_out_t *out)
{
    sim_message_t message = {.text = ""};
    json_t *const layers =
        studio_packet_layers(bytes, captured, size, opened->transport, opened->names, &message);
    char *const text = json_dumps(layers, JSON_COMPACT);
    studio_out_format(out, ",\"layers\":%s,\"hex\":\"", text != NULL ? text : "[]");
    json_free_t json_free = NULL;
    json_get_alloc_funcs(NULL, &json_free);
    json_free(text);
    json_decref(layers);
    for (uint32_t i = 0; i < captured; i++) {
        static const char digits[] = "0123456789abcdef";
        const char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        studio_out_bytes(out, pair, sizeof(pair));
    }
    studio_out_text(out, "\"");
    if (message.text[0] != '\0') {
        studio_out_text(out, ",\"message\":");
        studio_out_json(out, message.text);
    } else if (captured < size) {
        studio_out_format(out,
                          ",\"message\":\"the capture has %u of its %u bytes\"",
                          captured,
                          size);
    }
}

int studio_handle_packet(studio_request_t *request, studio_response_t *response)
{
    opened_t opened;
    int status = 0;
    int64_t n = 0;
    if (!studio_request_number(request, "packet", &n)) {
        return studio_response_error(response, 404, "packets are counted from 1");
    }
    if (!open_capture(request, response, false, &opened, &status)) {
        return status;
    }
    uint64_t row = 0;
    uint32_t captured = 0;
    uint32_t size = 0;
    if (!find_row(&opened, (double)n, &row)) {
        status = studio_response_error(response, 404, "the capture has no packet of this number");
    } else {
        const uint8_t *const bytes = bytes_of(&opened, row, &captured, &size);
        if (bytes == NULL) {
            status = studio_response_error(response, 410, "the capture is not what it was");
        } else {
            studio_out_t out = {.bytes = NULL};
            studio_out_text(&out, "{");
            write_packet(&opened, row, &out);
            write_layers(&opened, bytes, captured, size, &out);
            write_flow(&opened, row, &out);
            write_neighbours(&opened, row, &out);
            studio_out_text(&out, "}\n");
            status = studio__data_answer(response, &out);
        }
    }
    close_capture(&opened);
    return status;
}

// -- from an event to its packet

static void add_text_filter(const studio_request_t *request, json_t *conditions, const char *name)
{
    const char *const value = studio_request_query(request, name);
    if (value != NULL && value[0] != '\0') {
        json_array_append_new(
            conditions,
            json_pack("{s:s,s:s,s:s}", "column", name, "op", "=", "value", value));
    }
}

// The latest packet up to the time (a dropped packet was seen before it was dropped), else the
// first after it.
static bool nearest(opened_t *opened, double time_ns, uint64_t *row)
{
    studio_found_t found = {.rows = NULL};
    double before = -(double)INFINITY;
    double after = (double)INFINITY;
    uint64_t row_after = 0;
    while (studio_scan_next(opened->scan, &found)) {
        for (size_t i = 0; i < found.count; i++) {
            const uint64_t at = found.first_row + found.rows[i];
            const double time = cell(opened, at, AT_TIME).real;
            // Stamps are cut to nanoseconds, events have three decimals.
            if (time <= time_ns && time > before) {
                before = time;
                *row = at;
            } else if (time > time_ns && time < after) {
                after = time;
                row_after = at;
            }
        }
    }
    if (isinf(before)) {
        *row = row_after;
    }
    return !isinf(before) || !isinf(after);
}

int studio_handle_packet_find(studio_request_t *request, studio_response_t *response)
{
    opened_t opened;
    int status = 0;
    const double time_ns = studio__data_real(request, "time_ns");
    if (isnan(time_ns)) {
        return studio_response_error(response, 400, "time_ns: expected a number");
    }
    if (!open_capture(request, response, true, &opened, &status)) {
        return status;
    }
    json_t *const conditions = json_array();
    add_text_filter(request, conditions, "src");
    add_text_filter(request, conditions, "dst");
    add_number_filter(conditions, "psn", studio__data_real(request, "psn"));
    add_number_filter(conditions, "bytes", studio__data_real(request, "bytes"));
    studio_place_error_t error = {.column = 0};
    const sim_err_t code = studio_scan_filter(opened.scan, conditions, &error);
    const bool told = json_array_size(conditions) >= 2;
    json_decref(conditions);
    uint64_t row = 0;
    if (code != SIM_OK) {
        status = studio__data_refuse(response, code, &error, -1);
    } else if (!nearest(&opened, time_ns, &row)) {
        status = studio_response_error(response,
                                       404,
                                       "no capture of the run has such a packet: captures: says "
                                       "which ports are captured");
    } else {
        const double time = cell(&opened, row, AT_TIME).real;
        const size_t file = studio_scan_find(opened.scan, "file");
        const char *const name = studio_scan_cell(opened.scan, 0, row, file).text;
        status =
            studio_response_json(response,
                                 200,
                                 json_pack("{s:s,s:I,s:f,s:f,s:b}",
                                           "file",
                                           name != NULL ? name : "",
                                           "n",
                                           (json_int_t)cell(&opened, row, AT_N).mantissa,
                                           "time_ns",
                                           time,
                                           "apart_ns",
                                           time_ns - time,
                                           "exact",
                                           told && time <= time_ns && time_ns - time < 100000));
    }
    close_capture(&opened);
    return status;
}

// -- a conversation

typedef struct direction {
    bool known;
    uint32_t expected;
} direction_t;

// Of requests of one direction PSNs follow each other: what is missing or comes again shows.
static void write_order(const opened_t *opened,
                        uint64_t row,
                        direction_t *direction,
                        studio_out_t *out)
{
    const char *const kind = text_of(opened, row, AT_KIND);
    const studio_cell_t psn_cell = cell(opened, row, AT_PSN);
    const bool counts = strstr(kind, "SEND") != NULL || strstr(kind, "WRITE") != NULL;
    if (!counts || psn_cell.kind == STUDIO_CELL_MISSING) {
        return;
    }
    const uint32_t psn = (uint32_t)psn_cell.mantissa;
    const uint32_t ahead = (psn - direction->expected) & ROCE_PSN_MASK;
    if (direction->known && ahead > ROCE_PSN_MASK / 2) {
        studio_out_text(out, ",\"again\":true");
        return;
    }
    if (direction->known && ahead > 0) {
        studio_out_format(out, ",\"gap\":%u", ahead);
    }
    direction->known = true;
    direction->expected = (psn + 1) & ROCE_PSN_MASK;
}

static void follow(opened_t *opened, uint64_t row, studio_out_t *out)
{
    studio_place_error_t error;
    const char *const a = text_of(opened, row, AT_SRC);
    const char *const b = text_of(opened, row, AT_DST);
    direction_t directions[2] = {{.known = false}};
    size_t count = 0;
    studio_found_t found = {.rows = NULL};
    studio_out_text(out, "{\"a\":");
    studio_out_json(out, a);
    studio_out_text(out, ",\"b\":");
    studio_out_json(out, b);
    studio_out_text(out, ",\"packets\":[");
    studio_scan_t *scan = NULL;
    bool more = false;
    if (studio_scan_open(&opened->sources, "packets", &scan, &error) == SIM_OK) {
        json_t *const only =
            json_pack("[{s:s,s:s,s:s}]", "column", "file", "op", "=", "value", opened->file);
        const bool fits = studio_scan_filter(scan, only, &error) == SIM_OK &&
                          filter_conversation(opened, scan, row, &error) == SIM_OK;
        json_decref(only);
        while (fits && !more && studio_scan_next(scan, &found)) {
            for (size_t i = 0; i < found.count && !more; i++) {
                const uint64_t at = found.first_row + found.rows[i];
                const bool forward = strcmp(text_of(opened, at, AT_SRC), a) == 0;
                more = count == FOLLOW_MAX;
                if (more) {
                    break;
                }
                studio_out_text(out, count++ > 0 ? ",\n{" : "\n{");
                write_packet(opened, at, out);
                studio_out_format(out, ",\"direction\":\"%s\"", forward ? ">" : "<");
                write_order(opened, at, &directions[forward], out);
                studio_out_text(out, "}");
            }
        }
    }
    studio_scan_close(scan);
    studio_out_format(out, "],\"more\":%s}\n", more ? "true" : "false");
}

int studio_handle_packet_follow(studio_request_t *request, studio_response_t *response)
{
    opened_t opened;
    int status = 0;
    const double n = studio__data_real(request, "n");
    if (!open_capture(request, response, false, &opened, &status)) {
        return status;
    }
    uint64_t row = 0;
    if (isnan(n) || !find_row(&opened, n, &row)) {
        status = studio_response_error(response, 404, "the capture has no packet of this number");
    } else if (cell(&opened, row, AT_SRC_PORT).kind == STUDIO_CELL_MISSING) {
        status = studio_response_error(response, 409, "the packet belongs to no queue pair");
    } else {
        studio_out_t out = {.bytes = NULL};
        follow(&opened, row, &out);
        status = studio__data_answer(response, &out);
    }
    close_capture(&opened);
    return status;
}
