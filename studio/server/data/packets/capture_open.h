// SPDX-License-Identifier: Apache-2.0
// studio/server/data/packets/capture_open.h - a capture as handlers see it: rows of the table of
// packets, and the bytes of the file.
#ifndef STUDIO_SERVER_DATA_PACKETS_CAPTURE_OPEN_H
#define STUDIO_SERVER_DATA_PACKETS_CAPTURE_OPEN_H

#include "studio/server/data/handlers.h"
#include "studio/server/data/packets/packet_file.h"

// An open capture of a run.
typedef struct studio__capture {
    studio_sources_t sources;
    json_t *state; // import.json
    char *file;
    const uint8_t *bytes; // of the uncompressed file
    size_t size;
    studio_names_t *names;
    char *transport;
    studio_scan_t *scan; // over the table of packets
    size_t columns[14];
} studio__capture_t;

enum {
    STUDIO_PACKET_N,
    STUDIO_PACKET_TIME,
    STUDIO_PACKET_PORT,
    STUDIO_PACKET_KIND,
    STUDIO_PACKET_SRC,
    STUDIO_PACKET_DST,
    STUDIO_PACKET_SRC_PORT,
    STUDIO_PACKET_QP,
    STUDIO_PACKET_PSN,
    STUDIO_PACKET_BYTES,
    STUDIO_PACKET_CAPTURED,
    STUDIO_PACKET_OFFSET,
    STUDIO_PACKET_WAY,
    STUDIO_PACKET_NOTE
};

// Opens {run} and {file} of the path; "-" stands for any capture if may_be_any is true. Otherwise
// answers, sets *status and returns false.
bool studio__capture_open(studio_request_t *request, studio_response_t *response, bool may_be_any,
                          studio__capture_t *opened, int *status);
void studio__capture_close(studio__capture_t *opened);

// Returns a cell of a row; which is one of STUDIO_PACKET_*.
studio_cell_t studio__capture_cell(const studio__capture_t *opened, uint64_t row, size_t which);
// Returns the bytes of a packet; NULL if the file has changed since the import.
const uint8_t *studio__capture_bytes(const studio__capture_t *opened, uint64_t row,
                                     uint32_t *captured, uint32_t *size);
// Writes what lists show of a packet: members of an object, whose braces the caller writes.
void studio__capture_write(const studio__capture_t *opened, uint64_t row, studio_out_t *out);
// Adds a condition for studio_scan_filter, unless value is NAN.
void studio__capture_add_number(json_t *conditions, const char *column, double value);
// Adds a condition with the text of a query's parameter, unless that is missing or "".
void studio__capture_add_text(const studio_request_t *request, json_t *conditions,
                              const char *parameter, const char *op);

#endif // STUDIO_SERVER_DATA_PACKETS_CAPTURE_OPEN_H
