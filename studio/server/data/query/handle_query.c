// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/handle_query.c - routes of queries, SQL and search over runs.
#include "studio/server/data/handlers.h"
#include "studio/server/data/query/search.h"
#include "studio/server/data/query/sql_child.h"

#include <math.h>
#include <string.h>

// A streamed answer of a query or of SQL.
typedef struct streaming {
    studio_sources_t sources;
    studio_query_t *query;
    studio_sql_child_t *sql;
    studio_out_t out;
    size_t sent;
    studio_patience_t patience;
    studio_t *studio;
} streaming_t;

static bool is_stopping(void *ctx)
{
    return atomic_load(&((streaming_t *)ctx)->studio->stopping);
}

static void end_stream(void *ctx)
{
    streaming_t *const streaming = ctx;
    studio_query_close(streaming->query);
    studio_sql_child_end(streaming->sql);
    studio_sources_fini(&streaming->sources);
    studio_out_fini(&streaming->out);
    sim_free(streaming);
}

static ssize_t fill(void *ctx, char *buffer, size_t size)
{
    streaming_t *const streaming = ctx;
    studio_out_t *const out = &streaming->out;
    if (streaming->sql != NULL) {
        return studio_sql_child_read(streaming->sql, buffer, size);
    }
    while (streaming->sent == out->size) {
        out->size = 0;
        streaming->sent = 0;
        if (!studio_query_write(streaming->query, out)) {
            return 0;
        }
        if (is_stopping(streaming)) {
            return -1;
        }
    }
    const size_t left = out->size - streaming->sent;
    const size_t count = SIM_MIN(left, size);
    memcpy(buffer, out->bytes + streaming->sent, count);
    streaming->sent += count;
    return (ssize_t)count;
}

// Appends the whole answer of a statement; returns false if its process was stopped.
static bool collect_sql(studio_sql_child_t *sql, studio_out_t *out)
{
    char buffer[16384];
    ssize_t count = 0;
    while ((count = studio_sql_child_read(sql, buffer, sizeof(buffer))) > 0) {
        studio_out_bytes(out, buffer, (size_t)count);
    }
    return count == 0;
}

static int answer(streaming_t *streaming, studio_response_t *response, studio_format_t format,
                  const char *name, bool saved)
{
    if (format == STUDIO_JSON) {
        studio_out_t out = {.bytes = NULL};
        if (streaming->sql != NULL && !collect_sql(streaming->sql, &out)) {
            studio_out_fini(&out);
            const int status = studio_response_error(response, 400, "%s",
                                                     studio_sql_child_trouble(streaming->sql));
            end_stream(streaming);
            return status;
        }
        while (streaming->query != NULL && studio_query_write(streaming->query, &out)) {
        }
        end_stream(streaming);
        return studio__data_answer(response, &out);
    }
    if (saved) {
        char *const header = sim_format("attachment; filename=\"%s.%s\"", name,
                                        format == STUDIO_CSV ? "csv" : "ndjson");
        studio_response_header(response, "Content-Disposition", header);
        sim_free(header);
    }
    return studio_response_stream(response, 200, studio_format_type(format), fill, end_stream,
                                  streaming);
}

static streaming_t *begin(studio_request_t *request, studio_response_t *response,
                          const json_t *body, studio_format_t *format, int *status)
{
    if (body == NULL) {
        *status = studio_response_error(response, 400, "the body is no JSON object");
        return NULL;
    }
    if (!studio_format_find(json_string_value(json_object_get(body, "format")), format)) {
        *status = studio_response_error(response, 400, "format: expected json, csv or ndjson");
        return NULL;
    }
    streaming_t *const streaming = sim_alloc(sizeof(*streaming));
    streaming->studio = studio_request_studio(request);
    if (!studio__data_sources(request, response, json_object_get(body, "runs"), &streaming->sources,
                              status)) {
        end_stream(streaming);
        return NULL;
    }
    // The request object is gone while a stream is written; end_stream reports when the stream
    // ends.
    streaming->patience = *format == STUDIO_JSON
                              ? (studio_patience_t){studio__data_cancelled, request}
                              : (studio_patience_t){is_stopping, streaming};
    return streaming;
}

typedef sim_err_t (*open_fn)(streaming_t *streaming, const json_t *body, studio_format_t format,
                             studio_place_error_t *error);

static int serve(studio_request_t *request, studio_response_t *response, open_fn open,
                 const char *name)
{
    json_t *const body = studio__data_body(request);
    studio_format_t format = STUDIO_JSON;
    int status = 0;
    streaming_t *const streaming = begin(request, response, body, &format, &status);
    if (streaming != NULL) {
        studio_place_error_t error = {.column = 0};
        const sim_err_t code = open(streaming, body, format, &error);
        if (code != SIM_OK) {
            end_stream(streaming);
            status = studio__data_refuse(response, code, &error, -1);
        } else {
            const bool saved = studio_request_query(request, "body") != NULL;
            status = answer(streaming, response, format, name, saved);
        }
    }
    json_decref(body);
    return status;
}

static sim_err_t open_query(streaming_t *streaming, const json_t *body, studio_format_t format,
                            studio_place_error_t *error)
{
    return studio_query_open(&streaming->sources, body, format, &streaming->patience,
                             &streaming->query, error);
}

static sim_err_t open_sql(streaming_t *streaming, const json_t *body, studio_format_t format,
                          studio_place_error_t *error)
{
    const char *const text = json_string_value(json_object_get(body, "sql"));
    const json_int_t limit = json_integer_value(json_object_get(body, "limit"));
    if (text == NULL) {
        return sim_fail(&error->message, SIM_ERR_INVALID, "sql: expected one SELECT statement");
    }
    char *const temporary = sim_format("%s/tmp", streaming->studio->options.data);
    const studio_sql_limits_t limits = {
        .rows = limit > 0 ? (uint64_t)limit : 0,
        .cpu_s = streaming->studio->options.sql_s_max,
        .temporary = temporary,
    };
    const sim_err_t code = studio_sql_child_start(&streaming->sources, text, &limits, format,
                                                  &streaming->patience, &streaming->sql, error);
    sim_free(temporary);
    return code;
}

int studio_handle_query(studio_request_t *request, studio_response_t *response)
{
    return serve(request, response, open_query, "query");
}

int studio_handle_sql(studio_request_t *request, studio_response_t *response)
{
    return serve(request, response, open_sql, "sql");
}

int studio_handle_search(studio_request_t *request, studio_response_t *response)
{
    json_t *const runs = studio__data_run_list(request, "runs");
    const char *const text = studio_request_query(request, "q");
    studio_sources_t sources;
    int status = 0;
    int64_t limit = 0;
    if (!studio_request_query_number(request, "limit", 100, 1, STUDIO_HITS_MAX, &limit)) {
        status = studio_response_error(response, 400, "limit: expected 1 to 1000");
    } else if (studio__data_sources(request, response, runs, &sources, &status)) {
        studio_place_error_t error = {.column = 0};
        studio_out_t out = {.bytes = NULL};
        const studio_patience_t patience = {studio__data_cancelled, request};
        const sim_err_t code = studio_search(&sources, text != NULL ? text : "", (size_t)limit,
                                             &patience, &out, &error.message);
        studio_sources_fini(&sources);
        status = code == SIM_OK ? studio__data_answer(response, &out)
                                : studio__data_refuse(response, code, &error, -1);
    }
    json_decref(runs);
    return status;
}
