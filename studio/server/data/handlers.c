// SPDX-License-Identifier: Apache-2.0
// studio/server/data/handlers.c - helpers of the data handlers: they decide which runs may be read.
//
// Every folder comes from studio_run_find for the requesting user. A name from a request becomes
// part of a path only after it was found among the existing names.
#include "studio/server/data/handlers.h"

#include "studio/server/data/data.h"
#include "studio/server/store/database.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define JSON_FILE_BYTES_MAX ((off_t)256 << 20)

static bool find_run(studio_request_t *request, studio_response_t *response, int64_t id,
                     studio_run_t *run, int *status)
{
    if (id <= 0 ||
        !studio_run_find(studio_request_studio(request), studio_request_user(request), id, run)) {
        *status = studio_response_error(response, 404, "there is no such run");
        return false;
    }
    if (run->trashed) {
        *status = studio_response_error(response, 409,
                                        "run %" PRId64 " is in the trash; restore it first", id);
        return false;
    }
    if (!run->has_result) {
        *status = studio_response_error(response, 409, "run %" PRId64 " has no results", id);
        return false;
    }
    return true;
}

bool studio__data_run(studio_request_t *request, studio_response_t *response, studio_run_t *run,
                      int *status)
{
    int64_t id = 0;
    if (!studio_request_number(request, "run", &id)) {
        *status = studio_response_error(response, 404, "there is no such run");
        return false;
    }
    return find_run(request, response, id, run, status);
}

static char *name_of_run(studio_t *studio, int64_t run)
{
    studio_rows_t *const rows =
        studio_rows_open(studio->store, "SELECT name FROM runs WHERE id = ?", "i", run);
    const char *const name = studio_rows_next(rows) ? studio_rows_text(rows, 0) : NULL;
    char *const copy =
        name != NULL && name[0] != '\0' ? sim_strdup(name) : sim_format("run %" PRId64, run);
    (void)studio_rows_close(rows);
    return copy;
}

static bool add_source(studio_request_t *request, studio_response_t *response,
                       const studio_run_t *run, studio_sources_t *sources, int *status)
{
    studio_t *const studio = studio_request_studio(request);
    bool done = false;
    json_t *const state = studio_data_want(studio->data, run->id, run->folder, false, &done);
    if (!done) {
        const char *const name = json_string_value(json_object_get(state, "state"));
        const bool failed = name != NULL && strcmp(name, "failed") == 0;
        const char *const why = json_string_value(json_object_get(state, "message"));
        char *const text = failed ? sim_format("run %" PRId64 " cannot be imported: %s", run->id,
                                               why != NULL ? why : "")
                                  : sim_format("run %" PRId64 " is being imported", run->id);
        *status = studio_response_json(response, 409,
                                       json_pack("{s:{s:s,s:I,s:O}}", "error", "message", text,
                                                 "run", (json_int_t)run->id, "import", state));
        sim_free(text);
        json_decref(state);
        return false;
    }
    json_decref(state);
    char *const name = name_of_run(studio, run->id);
    char *const result = sim_format("%s/result", run->folder);
    char *const index = sim_format("%s/index", run->folder);
    studio_sources_add(sources, run->id, name, result, index);
    SIM_FREE_ALL(index, result, name);
    return true;
}

bool studio__data_source(studio_request_t *request, studio_response_t *response,
                         studio_sources_t *sources, int *status)
{
    studio_run_t run;
    *sources = (studio_sources_t){.sources = NULL};
    return studio__data_run(request, response, &run, status) &&
           add_source(request, response, &run, sources, status);
}

bool studio__data_sources(studio_request_t *request, studio_response_t *response,
                          const json_t *runs, studio_sources_t *sources, int *status)
{
    const size_t count = json_array_size(runs);
    *sources = (studio_sources_t){.sources = NULL};
    if (count == 0 || count > STUDIO_RUNS_MAX) {
        *status = studio_response_error(
            response, 400, "runs: expected a list of 1 to %u run numbers", STUDIO_RUNS_MAX);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        studio_run_t run;
        if (!find_run(request, response, json_integer_value(json_array_get(runs, i)), &run,
                      status) ||
            !add_source(request, response, &run, sources, status)) {
            studio_sources_fini(sources);
            return false;
        }
    }
    return true;
}

json_t *studio__data_run_list(const studio_request_t *request, const char *name)
{
    const char *text = studio_request_query(request, name);
    json_t *const runs = json_array();
    while (text != NULL && *text != '\0' && json_array_size(runs) <= STUDIO_RUNS_MAX) {
        char *end = NULL;
        json_array_append_new(runs, json_integer(strtoll(text, &end, 10)));
        if (end == text || (*end != ',' && *end != '\0')) {
            json_array_clear(runs);
            break;
        }
        text = *end == ',' ? end + 1 : end;
    }
    return runs;
}

json_t *studio__data_body(const studio_request_t *request)
{
    const char *const text = studio_request_query(request, "body");
    json_t *body = NULL;
    if (text != NULL) {
        body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    } else if (studio_request_json(request) != NULL) {
        body = json_deep_copy(studio_request_json(request));
    }
    if (!json_is_object(body)) {
        json_decref(body);
        return NULL;
    }
    return body;
}

int studio__data_refuse(studio_response_t *response, sim_err_t code,
                        const studio_place_error_t *error, int step)
{
    const int status = code == SIM_ERR_UNKNOWN && step < 0 ? 404 : code == SIM_ERR_IO ? 500 : 400;
    json_t *const place = json_object();
    if (error->column > 0) {
        json_object_set_new(place, "line", json_integer(1));
        json_object_set_new(place, "column", json_integer((json_int_t)error->column));
    }
    if (step >= 0) {
        json_object_set_new(place, "step", json_integer(step));
    }
    studio_out_t text = {.bytes = NULL};
    studio_out_json(&text, error->message.text);
    json_t *const message = json_loadb(text.bytes, text.size, JSON_DECODE_ANY, NULL);
    studio_out_fini(&text);
    json_t *const inner = json_pack("{s:o,s:o}", "message", message, "where", place);
    if (error->expected[0] != '\0') {
        json_object_set_new(inner, "expected", json_string(error->expected));
    }
    return studio_response_json(response, status, json_pack("{s:o}", "error", inner));
}

bool studio__data_cancelled(void *request)
{
    return studio_request_cancelled(request);
}

int studio__data_answer(studio_response_t *response, studio_out_t *out)
{
    const int status =
        studio_response_bytes(response, 200, "application/json", out->bytes, out->size);
    studio_out_fini(out);
    return status;
}

double studio__data_real(const studio_request_t *request, const char *name)
{
    const char *const text = studio_request_query(request, name);
    char *end = NULL;
    const double value = text != NULL ? strtod(text, &end) : (double)NAN;
    return text != NULL && end != text && *end == '\0' && isfinite(value) ? value : (double)NAN;
}

json_t *studio__data_file(const char *folder, const char *name)
{
    char *const path = sim_format("%s/%s", folder, name);
    struct stat status;
    json_t *const json =
        stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size < JSON_FILE_BYTES_MAX
            ? json_load_file(path, 0, NULL)
            : NULL;
    sim_free(path);
    return json;
}
