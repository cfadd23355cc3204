// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/query.h - POST query: filtered and sorted rows of a table as JSON, CSV
// or NDJSON.
#ifndef STUDIO_SERVER_DATA_QUERY_QUERY_H
#define STUDIO_SERVER_DATA_QUERY_QUERY_H

#include "studio/server/data/query/scan.h"
#include "studio/server/data/text_buffer.h"

#define STUDIO_JSON_ROWS_MAX 10000u
#define STUDIO_ORDERED_ROWS_MAX 5000000u
#define STUDIO_ORDER_MAX 4u

typedef enum studio_format {
    STUDIO_JSON,
    STUDIO_CSV,
    STUDIO_NDJSON,
} studio_format_t;

// Finds a format by name; NULL is json. Returns false if there is no such format.
bool studio_format_find(const char *name, studio_format_t *format);
const char *studio_format_type(studio_format_t format); // such as "text/csv; charset=utf-8"

// Returns to long work whether the client is gone, so that it gives up.
typedef struct studio_patience {
    bool (*is_over)(void *ctx);
    void *ctx;
} studio_patience_t;
static inline bool studio_is_over(const studio_patience_t *patience)
{
    return patience != NULL && patience->is_over != NULL && patience->is_over(patience->ctx);
}

typedef struct studio_query studio_query_t;

// Opens a query; body is that of POST query, sources must outlive the query. *error says what is
// wrong.
SIM_MUST_CHECK sim_err_t studio_query_open(const studio_sources_t *sources, const json_t *body,
                                           studio_format_t format,
                                           const studio_patience_t *patience,
                                           studio_query_t **query, studio_place_error_t *error);
// Appends the next few kilobytes of the answer to out; returns false after the last piece.
bool studio_query_write(studio_query_t *query, studio_out_t *out);
void studio_query_close(studio_query_t *query); // NULL is allowed

#endif // STUDIO_SERVER_DATA_QUERY_QUERY_H
