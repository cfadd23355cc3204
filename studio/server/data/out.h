// SPDX-License-Identifier: Apache-2.0
// studio/server/data/out.h - text that grows: JSON, CSV and newline-separated JSON by hand, for
// answers
// that are written while they are found.
#ifndef STUDIO_SERVER_DATA_OUT_H
#define STUDIO_SERVER_DATA_OUT_H

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
// A JSON string with its quotes; what is no UTF-8 becomes U+FFFD.
void studio_out_json(studio_out_t *out, const char *text);
// A cell of CSV, quoted where it must be.
void studio_out_csv(studio_out_t *out, const char *text);
// The number as short as it is exact; missing: null, or nothing in CSV.
void studio_out_real(studio_out_t *out, double value, bool csv);
void studio_out_cell(studio_out_t *out, const studio_cell_t *cell, bool csv);

#endif // STUDIO_SERVER_DATA_OUT_H
