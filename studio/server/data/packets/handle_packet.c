// SPDX-License-Identifier: Apache-2.0
// studio/server/data/packets/handle_packet.c - shows one packet, the packet of an event, and
// conversations.
#include "studio/server/data/packets/capture_open.h"

#include "net/wire/roce.h"

#include <math.h>
#include <string.h>

#define FOLLOW_MAX 20000u

// -- one packet

static bool find_row(studio__capture_t *opened, double n, uint64_t *row)
{
    studio_place_error_t error;
    json_t *const conditions = json_array();
    studio__capture_add_number(conditions, "n", n);
    const sim_err_t code = studio_scan_filter(opened->scan, conditions, &error);
    json_decref(conditions);
    studio_found_t found = {.rows = NULL};
    const bool there = code == SIM_OK && studio_scan_next(opened->scan, &found);
    *row = there ? found.first_row + found.rows[0] : 0;
    return there;
}

static const char *text_of(const studio__capture_t *opened, uint64_t row, size_t which)
{
    const char *const text = studio__capture_cell(opened, row, which).text;
    return text != NULL ? text : "";
}

// Selects the packets of one conversation: the two hosts, and the port that identifies their queue
// pairs.
static sim_err_t filter_conversation(const studio__capture_t *opened, studio_scan_t *scan,
                                     uint64_t row, studio_place_error_t *error)
{
    const char *const a = text_of(opened, row, STUDIO_PACKET_SRC);
    const char *const b = text_of(opened, row, STUDIO_PACKET_DST);
    json_t *const conditions =
        json_pack("[{s:s,s:s,s:[s,s]},{s:s,s:s,s:[s,s]}]", "column", "src", "op", "in", "value", a,
                  b, "column", "dst", "op", "in", "value", a, b);
    studio__capture_add_number(conditions, "src_port",
                               studio__capture_cell(opened, row, STUDIO_PACKET_SRC_PORT).real);
    const sim_err_t code = studio_scan_filter(scan, conditions, error);
    json_decref(conditions);
    return code;
}

// Writes the flow that the packet belongs to, found by its hosts and port.
static void write_flow(const studio__capture_t *opened, uint64_t row, studio_out_t *out)
{
    studio_place_error_t error;
    studio_scan_t *flows = NULL;
    if (studio__capture_cell(opened, row, STUDIO_PACKET_SRC_PORT).kind == STUDIO_CELL_MISSING ||
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

// Writes the packets before and after it to the same queue pair.
static void write_neighbours(const studio__capture_t *opened, uint64_t row, studio_out_t *out)
{
    studio_place_error_t error;
    studio_scan_t *scan = NULL;
    if (studio__capture_cell(opened, row, STUDIO_PACKET_QP).kind == STUDIO_CELL_MISSING ||
        studio_scan_open(&opened->sources, "packets", &scan, &error) != SIM_OK) {
        return;
    }
    json_t *const conditions =
        json_pack("[{s:s,s:s,s:s}]", "column", "file", "op", "=", "value", opened->file);
    studio__capture_add_number(conditions, "qp",
                               studio__capture_cell(opened, row, STUDIO_PACKET_QP).real);
    studio_found_t found = {.rows = NULL};
    int64_t previous = 0;
    int64_t next = 0;
    if (studio_scan_filter(scan, conditions, &error) == SIM_OK &&
        filter_conversation(opened, scan, row, &error) == SIM_OK) {
        while (next == 0 && studio_scan_next(scan, &found)) {
            for (size_t i = 0; i < found.count && next == 0; i++) {
                const uint64_t other = found.first_row + found.rows[i];
                const int64_t n = studio__capture_cell(opened, other, STUDIO_PACKET_N).mantissa;
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

static void write_layers(const studio__capture_t *opened, const uint8_t *bytes, uint32_t captured,
                         uint32_t size, studio_out_t *out)
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
        studio_out_format(out, ",\"message\":\"the capture has %u of its %u bytes\"", captured,
                          size);
    }
}

int studio_handle_packet(studio_request_t *request, studio_response_t *response)
{
    studio__capture_t opened;
    int status = 0;
    int64_t n = 0;
    if (!studio_request_number(request, "packet", &n)) {
        return studio_response_error(response, 404, "packets are numbered from 1");
    }
    if (!studio__capture_open(request, response, false, &opened, &status)) {
        return status;
    }
    uint64_t row = 0;
    uint32_t captured = 0;
    uint32_t size = 0;
    if (!find_row(&opened, (double)n, &row)) {
        status = studio_response_error(response, 404, "the capture has no packet of this number");
    } else {
        const uint8_t *const bytes = studio__capture_bytes(&opened, row, &captured, &size);
        if (bytes == NULL) {
            status = studio_response_error(response, 410,
                                           "the capture's file has changed since its import");
        } else {
            studio_out_t out = {.bytes = NULL};
            studio_out_text(&out, "{");
            studio__capture_write(&opened, row, &out);
            write_layers(&opened, bytes, captured, size, &out);
            write_flow(&opened, row, &out);
            write_neighbours(&opened, row, &out);
            studio_out_text(&out, "}\n");
            status = studio__data_answer(response, &out);
        }
    }
    studio__capture_close(&opened);
    return status;
}

// -- from an event to its packet

// Finds the latest packet up to the time (a dropped packet is captured before its drop), else the
// first one after it.
static bool nearest(studio__capture_t *opened, double time_ns, uint64_t *row)
{
    studio_found_t found = {.rows = NULL};
    double before = -(double)INFINITY;
    double after = (double)INFINITY;
    uint64_t row_after = 0;
    while (studio_scan_next(opened->scan, &found)) {
        for (size_t i = 0; i < found.count; i++) {
            const uint64_t at = found.first_row + found.rows[i];
            const double time = studio__capture_cell(opened, at, STUDIO_PACKET_TIME).real;
            // Time stamps of packets are cut to nanoseconds; times of events have three decimals.
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
    studio__capture_t opened;
    int status = 0;
    const double time_ns = studio__data_real(request, "time_ns");
    if (isnan(time_ns)) {
        return studio_response_error(response, 400, "time_ns: expected a number");
    }
    if (!studio__capture_open(request, response, true, &opened, &status)) {
        return status;
    }
    json_t *const conditions = json_array();
    studio__capture_add_text(request, conditions, "src", "=");
    studio__capture_add_text(request, conditions, "dst", "=");
    studio__capture_add_number(conditions, "psn", studio__data_real(request, "psn"));
    studio__capture_add_number(conditions, "bytes", studio__data_real(request, "bytes"));
    studio_place_error_t error = {.column = 0};
    const sim_err_t code = studio_scan_filter(opened.scan, conditions, &error);
    const bool told = json_array_size(conditions) >= 2;
    json_decref(conditions);
    uint64_t row = 0;
    if (code != SIM_OK) {
        status = studio__data_refuse(response, code, &error, -1);
    } else if (!nearest(&opened, time_ns, &row)) {
        status = studio_response_error(
            response, 404,
            "no capture of the run has this packet; captures: in the scenario "
            "says which ports are captured");
    } else {
        const double time = studio__capture_cell(&opened, row, STUDIO_PACKET_TIME).real;
        const size_t file = studio_scan_find(opened.scan, "file");
        const char *const name = studio_scan_cell(opened.scan, 0, row, file).text;
        status = studio_response_json(
            response, 200,
            json_pack("{s:s,s:I,s:f,s:f,s:b}", "file", name != NULL ? name : "", "n",
                      (json_int_t)studio__capture_cell(&opened, row, STUDIO_PACKET_N).mantissa,
                      "time_ns", time, "apart_ns", time_ns - time, "exact",
                      told && time <= time_ns && time_ns - time < 100000));
    }
    studio__capture_close(&opened);
    return status;
}

// -- a conversation

typedef struct direction {
    bool known;
    uint32_t expected;
} direction_t;

// Compares the PSNs of the requests in one direction, and writes which are missing or come again.
static void write_order(const studio__capture_t *opened, uint64_t row, direction_t *direction,
                        studio_out_t *out)
{
    const char *const kind = text_of(opened, row, STUDIO_PACKET_KIND);
    const studio_cell_t psn_cell = studio__capture_cell(opened, row, STUDIO_PACKET_PSN);
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

// Selects the frames of one packet at all ports: those with its hosts, queue pair, PSN and kind.
static sim_err_t filter_hops(const studio__capture_t *opened, studio_scan_t *scan, uint64_t row,
                             studio_place_error_t *error)
{
    json_t *const conditions =
        json_pack("[{s:s,s:s,s:s},{s:s,s:s,s:s},{s:s,s:s,s:s}]", "column", "src", "op", "=",
                  "value", text_of(opened, row, STUDIO_PACKET_SRC), "column", "dst", "op", "=",
                  "value", text_of(opened, row, STUDIO_PACKET_DST), "column", "kind", "op", "=",
                  "value", text_of(opened, row, STUDIO_PACKET_KIND));
    studio__capture_add_number(conditions, "src_port",
                               studio__capture_cell(opened, row, STUDIO_PACKET_SRC_PORT).real);
    studio__capture_add_number(conditions, "qp",
                               studio__capture_cell(opened, row, STUDIO_PACKET_QP).real);
    studio__capture_add_number(conditions, "psn",
                               studio__capture_cell(opened, row, STUDIO_PACKET_PSN).real);
    const sim_err_t code = studio_scan_filter(scan, conditions, error);
    json_decref(conditions);
    return code;
}

// Writes the packets of a packet's queue pair in both directions; by_hops: the frames of this
// packet alone, at all ports of the capture.
static void follow(studio__capture_t *opened, uint64_t row, bool by_hops, studio_out_t *out)
{
    studio_place_error_t error;
    const char *const a = text_of(opened, row, STUDIO_PACKET_SRC);
    const char *const b = text_of(opened, row, STUDIO_PACKET_DST);
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
        const bool fits =
            studio_scan_filter(scan, only, &error) == SIM_OK &&
            (by_hops ? filter_hops : filter_conversation)(opened, scan, row, &error) == SIM_OK;
        json_decref(only);
        while (fits && !more && studio_scan_next(scan, &found)) {
            for (size_t i = 0; i < found.count && !more; i++) {
                const uint64_t at = found.first_row + found.rows[i];
                const bool forward = strcmp(text_of(opened, at, STUDIO_PACKET_SRC), a) == 0;
                more = count == FOLLOW_MAX;
                if (more) {
                    break;
                }
                studio_out_text(out, count++ > 0 ? ",\n{" : "\n{");
                studio__capture_write(opened, at, out);
                studio_out_format(out, ",\"direction\":\"%s\"", forward ? ">" : "<");
                if (!by_hops) {
                    write_order(opened, at, &directions[forward], out);
                }
                studio_out_text(out, "}");
            }
        }
    }
    studio_scan_close(scan);
    studio_out_format(out, "],\"more\":%s}\n", more ? "true" : "false");
}

int studio_handle_packet_follow(studio_request_t *request, studio_response_t *response)
{
    studio__capture_t opened;
    int status = 0;
    const double n = studio__data_real(request, "n");
    const bool by_hops = studio__data_real(request, "hops") > 0;
    if (!studio__capture_open(request, response, false, &opened, &status)) {
        return status;
    }
    uint64_t row = 0;
    if (isnan(n) || !find_row(&opened, n, &row)) {
        status = studio_response_error(response, 404, "the capture has no packet of this number");
    } else if (studio__capture_cell(&opened, row,
                                    by_hops ? STUDIO_PACKET_PSN : STUDIO_PACKET_SRC_PORT)
                   .kind == STUDIO_CELL_MISSING) {
        status = studio_response_error(response, 409, "the packet belongs to no queue pair");
    } else {
        studio_out_t out = {.bytes = NULL};
        follow(&opened, row, by_hops, &out);
        status = studio__data_answer(response, &out);
    }
    studio__capture_close(&opened);
    return status;
}
