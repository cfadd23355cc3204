// SPDX-License-Identifier: Apache-2.0
// studio/server/data/packets/handle_capture.c - lists the captures of a run and their packets.
#include "studio/server/data/packets/capture_open.h"

#include <math.h>
#include <string.h>

#define LIST_MAX 5000
#define BINS_MAX 1000

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

static sim_err_t filter_list(studio_request_t *request, studio__capture_t *opened,
                             studio_place_error_t *error)
{
    json_t *const conditions = json_array();
    studio__capture_add_text(request, conditions, "port", "=");
    studio__capture_add_text(request, conditions, "way", "=");
    studio__capture_add_text(request, conditions, "note", "contains");
    studio__capture_add_number(conditions, "qp", studio__data_real(request, "qp"));
    studio__capture_add_number(conditions, "src_port", studio__data_real(request, "src_port"));
    sim_err_t code = studio_scan_filter(opened->scan, conditions, error);
    json_decref(conditions);
    if (code == SIM_OK) {
        code = studio_scan_range(opened->scan, studio__data_real(request, "from_ns"),
                                 studio__data_real(request, "to_ns"), error);
    }
    return code;
}

// Counts of packets in equal parts of a range of time.
typedef struct bins {
    double from_ns;
    double to_ns;
    size_t count; // 0: none are asked for
    uint64_t packets[BINS_MAX];
} bins_t;

static void count_packet(bins_t *bins, const studio__capture_t *opened, uint64_t row)
{
    const studio_cell_t time = studio__capture_cell(opened, row, STUDIO_PACKET_TIME);
    const double time_ns = time.real;
    if (bins->count > 0 && time_ns >= bins->from_ns && time_ns <= bins->to_ns) {
        const double share = (time_ns - bins->from_ns) / (bins->to_ns - bins->from_ns);
        const size_t bin = (size_t)(share * (double)bins->count);
        bins->packets[bin < bins->count ? bin : bins->count - 1]++;
    }
}

static void write_bins(const bins_t *bins, studio_out_t *out)
{
    studio_out_text(out, ",\"bins\":[");
    for (size_t i = 0; i < bins->count; i++) {
        studio_out_format(out, "%s%" PRIu64, i > 0 ? "," : "", bins->packets[i]);
    }
    studio_out_text(out, "]");
}

// Reads the query's number of bins and their range; returns false if they are wrong.
static bool take_bins(const studio_request_t *request, bins_t *bins)
{
    int64_t count = 0;
    *bins = (bins_t){
        .from_ns = studio__data_real(request, "from_ns"),
        .to_ns = studio__data_real(request, "to_ns"),
    };
    if (!studio_request_query_number(request, "bins", 0, 0, BINS_MAX, &count) ||
        (count > 0 && !(bins->to_ns > bins->from_ns))) {
        return false;
    }
    bins->count = (size_t)count;
    return true;
}

static void list_packets(studio_request_t *request, studio__capture_t *opened,
                         const studio_packet_filter_t *filter, uint64_t offset, uint64_t limit,
                         bins_t *bins, studio_out_t *out)
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
                const uint8_t *const bytes = studio__capture_bytes(opened, row, &captured, &size);
                if (bytes == NULL || !studio_packet_filter_matches(filter, bytes, captured, size)) {
                    continue;
                }
            }
            count_packet(bins, opened, row);
            if (matched++ >= offset && written < limit) {
                studio_out_text(out, written++ > 0 ? ",\n{" : "\n{");
                studio__capture_write(opened, row, out);
                studio_out_text(out, "}");
            }
        }
    }
    studio_out_format(out, "],\"matched\":%" PRIu64, matched);
    if (bins->count > 0) {
        write_bins(bins, out);
    }
    studio_out_text(out, "}\n");
}

int studio_handle_packets(studio_request_t *request, studio_response_t *response)
{
    studio__capture_t opened;
    int status = 0;
    int64_t limit = 0;
    int64_t offset = 0;
    bins_t bins;
    if (!studio_request_query_number(request, "limit", 200, 0, LIST_MAX, &limit) ||
        !studio_request_query_number(request, "offset", 0, 0, INT64_MAX / 2, &offset) ||
        !take_bins(request, &bins)) {
        return studio_response_error(
            response, 400,
            "expected limit from 0 to %d, offset from 0, and bins up to %d "
            "with from_ns below to_ns",
            LIST_MAX, BINS_MAX);
    }
    if (!studio__capture_open(request, response, false, &opened, &status)) {
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
        list_packets(request, &opened, filter, (uint64_t)offset, (uint64_t)limit, &bins, &out);
        status = studio__data_answer(response, &out);
    } else {
        status = studio__data_refuse(response, code, &error, -1);
    }
    studio_packet_filter_destroy(filter);
    studio__capture_close(&opened);
    return status;
}
