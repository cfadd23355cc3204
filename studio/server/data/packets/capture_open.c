// SPDX-License-Identifier: Apache-2.0
// studio/server/data/packets/capture_open.c - opens captures and reads rows of them.
#include "studio/server/data/packets/capture_open.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void studio__capture_close(studio__capture_t *opened)
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

static const json_t *find_capture(const studio__capture_t *opened, const char *file)
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

// The name was found among the imported captures, so it is a plain name in captures/.
// Returns 0, or the error number with which the file could not be read.
static int map_bytes(studio__capture_t *opened, const json_t *capture)
{
    const char *const copy = json_string_value(json_object_get(capture, "copy"));
    const studio_source_t *const source = &opened->sources.sources[0];
    char *const path = copy != NULL ? sim_format("%s/%s", source->index, copy)
                                    : sim_format("%s/captures/%s", source->result, opened->file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    int reason = 0;
    if (fd < 0 || fstat(fd, &status) != 0) {
        reason = errno;
    } else if (!S_ISREG(status.st_mode) || status.st_size == 0) {
        reason = EINVAL;
    } else {
        void *const bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED) {
            reason = errno;
        } else {
            opened->bytes = bytes;
            opened->size = (size_t)status.st_size;
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    sim_free(path);
    return reason;
}

// Returns nic.transport of the scenario that the run wrote: "  transport: adamap" below "nic:".
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

static bool open_packets(studio__capture_t *opened, bool all, studio_place_error_t *error)
{
    static const char *const names[] = {"n",        "time_ns",  "port", "kind", "src",
                                        "dst",      "src_port", "qp",   "psn",  "bytes",
                                        "captured", "offset",   "way",  "note"};
    if (studio_scan_open(&opened->sources, "packets", &opened->scan, error) != SIM_OK) {
        return false;
    }
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        opened->columns[i] = studio_scan_find(opened->scan, names[i]);
        if (opened->columns[i] == studio_scan_column_count(opened->scan)) {
            (void)sim_fail(&error->message, SIM_ERR_INVALID,
                           "the table packets lacks a column; import the run again");
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

// Opens {run} and {file}; "-" stands for any capture if may_be_any is true.
bool studio__capture_open(studio_request_t *request, studio_response_t *response, bool may_be_any,
                          studio__capture_t *opened, int *status)
{
    *opened = (studio__capture_t){.file = sim_strdup(studio_request_path(request, "file"))};
    studio_place_error_t error = {.column = 0};
    if (!studio__data_source(request, response, &opened->sources, status)) {
        studio__capture_close(opened);
        return false;
    }
    const studio_source_t *const source = &opened->sources.sources[0];
    opened->state = studio__data_file(source->index, "import.json");
    const json_t *const capture = find_capture(opened, opened->file);
    int reason = 0;
    const bool any = may_be_any && strcmp(opened->file, "-") == 0;
    if (capture == NULL && !any) {
        *status = studio_response_error(response, 404, "the run has no such capture");
    } else if (!open_packets(opened, any, &error)) {
        *status = studio_response_error(response, 404, "%s", error.message.text);
    } else if (!any && (reason = map_bytes(opened, capture)) != 0) {
        *status = studio_response_error(
            response, 410, "the capture's file cannot be read any more: %s", strerror(reason));
    } else {
        opened->names = studio_names_read(source->result);
        opened->transport = transport_of(source->result);
        return true;
    }
    studio__capture_close(opened);
    return false;
}

studio_cell_t studio__capture_cell(const studio__capture_t *opened, uint64_t row, size_t which)
{
    return studio_scan_cell(opened->scan, 0, row, opened->columns[which]);
}

// Returns the bytes of a packet; NULL if the file has changed since the import.
const uint8_t *studio__capture_bytes(const studio__capture_t *opened, uint64_t row,
                                     uint32_t *captured, uint32_t *size)
{
    const uint64_t at = (uint64_t)studio__capture_cell(opened, row, STUDIO_PACKET_OFFSET).mantissa;
    const uint64_t count =
        (uint64_t)studio__capture_cell(opened, row, STUDIO_PACKET_CAPTURED).mantissa;
    *captured = (uint32_t)count;
    *size = (uint32_t)studio__capture_cell(opened, row, STUDIO_PACKET_BYTES).mantissa;
    return at <= opened->size && count <= opened->size - at ? opened->bytes + at : NULL;
}

static void put_cell(studio_out_t *out, const char *name, studio_cell_t value)
{
    studio_out_format(out, "\"%s\":", name);
    studio_out_cell(out, &value, false);
    studio_out_text(out, ",");
}

void studio__capture_write(const studio__capture_t *opened, uint64_t row, studio_out_t *out)
{
    uint32_t captured = 0;
    uint32_t size = 0;
    char info[120] = "";
    const uint8_t *const bytes = studio__capture_bytes(opened, row, &captured, &size);
    if (bytes != NULL) {
        studio_packet_info(bytes, captured, info, sizeof(info));
    }
    const size_t ecn = studio_scan_find(opened->scan, "ecn");
    const size_t priority = studio_scan_find(opened->scan, "priority");
    put_cell(out, "n", studio__capture_cell(opened, row, STUDIO_PACKET_N));
    put_cell(out, "time_ns", studio__capture_cell(opened, row, STUDIO_PACKET_TIME));
    put_cell(out, "port", studio__capture_cell(opened, row, STUDIO_PACKET_PORT));
    put_cell(out, "way", studio__capture_cell(opened, row, STUDIO_PACKET_WAY));
    put_cell(out, "note", studio__capture_cell(opened, row, STUDIO_PACKET_NOTE));
    put_cell(out, "source", studio__capture_cell(opened, row, STUDIO_PACKET_SRC));
    put_cell(out, "destination", studio__capture_cell(opened, row, STUDIO_PACKET_DST));
    put_cell(out, "kind", studio__capture_cell(opened, row, STUDIO_PACKET_KIND));
    put_cell(out, "src_port", studio__capture_cell(opened, row, STUDIO_PACKET_SRC_PORT));
    put_cell(out, "qp", studio__capture_cell(opened, row, STUDIO_PACKET_QP));
    put_cell(out, "psn", studio__capture_cell(opened, row, STUDIO_PACKET_PSN));
    put_cell(out, "bytes", studio__capture_cell(opened, row, STUDIO_PACKET_BYTES));
    put_cell(out, "captured", studio__capture_cell(opened, row, STUDIO_PACKET_CAPTURED));
    put_cell(out, "ecn", studio_scan_cell(opened->scan, 0, row, ecn));
    put_cell(out, "priority", studio_scan_cell(opened->scan, 0, row, priority));
    studio_out_text(out, "\"info\":");
    studio_out_json(out, info);
}

void studio__capture_add_number(json_t *conditions, const char *column, double value)
{
    if (!isnan(value)) {
        json_array_append_new(
            conditions, json_pack("{s:s,s:s,s:f}", "column", column, "op", "=", "value", value));
    }
}

void studio__capture_add_text(const studio_request_t *request, json_t *conditions,
                              const char *parameter, const char *op)
{
    const char *const value = studio_request_query(request, parameter);
    if (value != NULL && value[0] != '\0') {
        json_array_append_new(
            conditions, json_pack("{s:s,s:s,s:s}", "column", parameter, "op", op, "value", value));
    }
}
