// SPDX-License-Identifier: Apache-2.0
// studio/server/data/text_buffer.h - a growing text with JSON, CSV and NDJSON values, for answers
// that are streamed.
#ifndef STUDIO_SERVER_DATA_TEXT_BUFFER_H
#define STUDIO_SERVER_DATA_TEXT_BUFFER_H

#include "studio/server/data/import/table.h"

typedef struct studio_out {
    char *bytes;
    size_t size;
    size_t capacity;
} studio_out_t;

void studio_out_fini(studio_out_t *out);
void studio_out_bytes(studio_out_t *out, const char *bytes, size_t size);
void studio_out_text(studio_out_t *out, const char *text);
void studio_out_format(studio_out_t *out, const char *format, ...) SIM_PRINTF(2, 3);
// Appends a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
void studio_out_json(studio_out_t *out, const char *text);
// Appends a CSV cell, quoted if necessary. A text that a spreadsheet would run as a formula begins
// with an apostrophe.
void studio_out_csv(studio_out_t *out, const char *text);
// Appends a number in the shortest exact form; missing: null, or nothing in CSV.
void studio_out_real(studio_out_t *out, double value, bool csv);
void studio_out_cell(studio_out_t *out, const studio_cell_t *cell, bool csv);

#endif // STUDIO_SERVER_DATA_TEXT_BUFFER_H
