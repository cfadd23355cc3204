// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/routes.c - routes that list, change and delete runs.
#include "studio/server/accounts/accounts.h"
#include "studio/server/http/body.h"
#include "studio/server/runs/events.h"
#include "studio/server/runs/finish.h"
#include "studio/server/runs/orders/orders.h"
#include "studio/server/runs/parts.h"
#include "studio/server/runs/queue.h"
#include "studio/server/runs/trash.h"
#include "studio/server/runs/values.h"
#include "studio/server/store/database.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 10000
// settings and notes in one answer; the page asks for further rows
#define LIST_BYTES_MAX ((size_t)8 << 20)

// -- lists

// Parameters: ?1 sees all, ?2 the user, ?3 state, ?4 search, ?5 owner, ?6 group, ?7 trash
#define FILTER                                                                           \
    " FROM runs r JOIN users u ON u.id = r.owner WHERE (?1 OR r.owner = ?2 OR r.shared)" \
    " AND (?3 IS NULL OR r.state = ?3 OR (?3 = 'running' AND r.state = 'starting'))"     \
    " AND (?4 IS NULL OR instr(lower(r.name || ' ' || r.overrides || ' ' || r.notes),"   \
    " lower(?4)) > 0) AND (?5 IS NULL OR u.name = ?5) AND (?6 = 0 OR r.run_group = ?6)"  \
    " AND (r.trashed_ms IS NOT NULL) = ?7 AND (?7 = 0 OR ?1 OR r.owner = ?2)"

typedef struct list {
    int64_t all;
    int64_t user;
    const char *state;
    const char *search;
    const char *owner;
    int64_t group;
    int64_t trash;
    int64_t limit;
    int64_t offset;
    const char *sort; // name of a column; a field of the summary if by is NULL
    const char *by;   // SQL of a column of the table
    bool descending;
} list_t;

// Columns of the table of runs by which a list may be sorted.
static const char *const sorts[][2] = {
    {"id", "r.id"},
    {"name", "r.name COLLATE NOCASE"},
    {"owner", "u.name"},
    {"state", "r.state"},
    {"created_ms", "r.created_ms"},
    {"started_ms", "r.started_ms"},
    {"ended_ms", "r.ended_ms"},
    {"wall_ms", "r.ended_ms - r.started_ms"},
    {"size_bytes", "r.size_bytes"},
};

static void read_sort(const studio_request_t *request, list_t *list)
{
    const char *const sort = studio_request_query(request, "sort");
    const char *const text = sort == NULL || sort[0] == '\0' ? "-id" : sort;
    list->descending = text[0] == '-';
    list->sort = text + list->descending;
    for (size_t i = 0; i < SIM_COUNT_OF(sorts); i++) {
        list->by = strcmp(sorts[i][0], list->sort) == 0 ? sorts[i][1] : list->by;
    }
}

// Splits the names of columns at commas; those beyond the limit are left out.
static json_t *read_columns(const studio_request_t *request)
{
    const char *text = studio_request_query(request, "columns");
    json_t *const columns = json_array();
    while (text != NULL && text[0] != '\0' && json_array_size(columns) < STUDIO_VALUE_COLUMNS_MAX) {
        const size_t length = strcspn(text, ",");
        (void)json_array_append_new(columns, json_stringn(text, length));
        text += length + (text[length] == ',');
    }
    return columns;
}

static bool read_list(const studio_request_t *request, list_t *list)
{
    const studio_user_t *const user = studio_request_user(request);
    *list = (list_t){
        .all = user->role == STUDIO_ROLE_ADMINISTRATOR,
        .user = user->id,
        .state = studio_request_query(request, "state"),
        .search = studio_request_query(request, "search"),
        .owner = studio_request_query(request, "owner"),
        .trash = studio_request_query_is(request, "trash"),
    };
    return studio_request_query_number(request, "group", 0, 1, INT64_MAX, &list->group) &&
           studio_request_query_number(request, "limit", 100, 0, LIST_MAX, &list->limit) &&
           studio_request_query_number(request, "offset", 0, 0, INT64_MAX, &list->offset);
}

static int get_runs(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    list_t l;
    if (!read_list(request, &l)) {
        return studio_response_error(
            response, 400, "group, limit (at most %d), offset: expected numbers", LIST_MAX);
    }
    json_t *const list = json_array();
    read_sort(request, &l);
    // Only texts of this program enter the statement. Runs without the value stand last.
    const char *const by =
        l.by != NULL ? l.by
                     : "(SELECT value FROM run_values v WHERE v.run = r.id AND v.name = ?10)";
    char *const sql =
        sim_format("SELECT " STUDIO_RUN_COLUMNS FILTER
                   " ORDER BY %s IS NULL, %s %s, r.id DESC LIMIT ?8 OFFSET ?9 + 0 * (?10 IS NULL)",
                   by, by, l.descending ? "DESC" : "ASC");
    const int64_t total =
        studio_store_int(studio->store, 0, "SELECT count(*)" FILTER, "iisssii", l.all, l.user,
                         l.state, l.search, l.owner, l.group, l.trash);
    studio_rows_t *const rows =
        studio_rows_open(studio->store, sql, "iisssiiiis", l.all, l.user, l.state, l.search,
                         l.owner, l.group, l.trash, l.limit, l.offset, l.sort);
    size_t bytes = 0;
    while (bytes < LIST_BYTES_MAX && studio_rows_next(rows)) {
        bytes += strlen(studio_rows_text(rows, 9)) + strlen(studio_rows_text(rows, 10));
        (void)json_array_append_new(list, studio_run_row_json(studio, rows));
    }
    const bool good = studio_rows_close(rows);
    sim_free(sql);
    if (!good) {
        json_decref(list);
        return studio_response_store_failed(response, studio);
    }
    json_t *const columns = read_columns(request);
    if (json_array_size(columns) > 0) {
        studio_values_add(studio, list, columns);
    }
    json_decref(columns);
    return studio_response_json(
        response, 200,
        json_pack("{s:o, s:I, s:I, s:I}", "runs", list, "total", (json_int_t)total, "used_bytes",
                  (json_int_t)studio_runs_bytes(studio, l.user), "quota_bytes",
                  (json_int_t)studio->options.user_run_bytes));
}

static int get_columns(studio_request_t *request, studio_response_t *response)
{
    int64_t group = 0;
    if (!studio_request_query_number(request, "group", 0, 1, INT64_MAX, &group)) {
        return studio_response_error(response, 400, "group: expected a number");
    }
    return studio_response_json(
        response, 200,
        json_pack("{s:o}", "columns",
                  studio_values_columns(studio_request_studio(request),
                                        studio_request_user(request), group)));
}

// -- one

static bool find(studio_request_t *request, studio_run_t *run)
{
    int64_t id;
    return studio_request_number(request, "run", &id) &&
           studio_run_find(studio_request_studio(request), studio_request_user(request), id, run);
}

static int not_there(studio_response_t *response)
{
    return studio_response_error(response, 404, "there is no such run");
}

// Finds a run that the user may change; otherwise answers, sets *status and returns false.
static bool find_own(studio_request_t *request, studio_response_t *response, studio_run_t *run,
                     int *status)
{
    if (!find(request, run)) {
        *status = not_there(response);
        return false;
    }
    if (!studio_run_may_change(studio_request_user(request), run)) {
        *status = studio_response_error(response, 403, "this run belongs to another user");
        return false;
    }
    return true;
}

static int answer_run(studio_request_t *request, studio_response_t *response, int64_t run)
{
    studio_t *const studio = studio_request_studio(request);
    if (strcmp(studio_request_method(request), "GET") != 0) {
        studio_run_tell_state(studio, run);
    }
    return studio_response_json(response, 200, studio_run_json(studio, run));
}

static int get_run(studio_request_t *request, studio_response_t *response)
{
    studio_run_t run;
    return find(request, &run) ? answer_run(request, response, run.id) : not_there(response);
}

static void audit(studio_request_t *request, const char *action, int64_t run)
{
    studio_audit(studio_request_studio(request), studio_request_user(request),
                 studio_request_address(request), action, "%" PRId64, run);
}

static int patch_run(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    studio_run_t run;
    int status;
    if (!find_own(request, response, &run, &status)) {
        return status;
    }
    const char *name;
    const bool name_good = studio_body_name(request, "name", 200, &name);
    const char *const notes = studio_body_text(request, "notes", 20000);
    bool shared = run.shared;
    const bool has_shared = studio_body_bool(request, "shared", &shared);
    if (!name_good || (notes == NULL && studio_body_member(request, "notes") != NULL)) {
        return studio_response_error(
            response, 400, "expected a name of up to 200 bytes and notes of up to 20000 bytes");
    }
    if (!studio_store_do(studio->store,
                         "UPDATE runs SET name = coalesce(?, name), notes = coalesce(?, notes),"
                         " shared = CASE WHEN ? THEN ? ELSE shared END WHERE id = ?",
                         "ssiii", name, notes, (int64_t)has_shared, (int64_t)shared, run.id)) {
        return studio_response_store_failed(response, studio);
    }
    audit(request, shared != run.shared ? "run.share" : "run.change", run.id);
    return answer_run(request, response, run.id);
}

static bool is_over(studio_run_state_t state)
{
    return state == STUDIO_RUN_DONE || state == STUDIO_RUN_FAILED || state == STUDIO_RUN_CANCELLED;
}

// Moves a run to the trash; with ?forever=true removes a run that is in the trash.
static int delete_run(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    studio_run_t run;
    int status;
    if (!find_own(request, response, &run, &status)) {
        return status;
    }
    if (studio_request_query_is(request, "forever")) {
        if (!run.trashed) {
            return studio_response_error(response, 409, "the run is not in the trash");
        }
        if (!studio_trash_remove(studio, run.id)) {
            return studio_response_error(response, 500, "the run could not be removed: %s",
                                         errno != 0 ? strerror(errno)
                                                    : "it was just restored, or the database "
                                                      "could not be written");
        }
        audit(request, "run.remove", run.id);
        return studio_response_none(response);
    }
    if (studio_store_change(studio->store,
                            "UPDATE runs SET trashed_ms = coalesce(trashed_ms, ?) WHERE id = ?"
                            " AND state IN ('done', 'failed', 'cancelled')",
                            "ii", studio_now_ms(), run.id) != 1) {
        return is_over(run.state)
                   ? studio_response_store_failed(response, studio)
                   : studio_response_error(response, 409, "the run has not ended; cancel it first");
    }
    audit(request, "run.delete", run.id);
    return answer_run(request, response, run.id);
}

static int post_restore(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    studio_run_t run;
    int status;
    if (!find_own(request, response, &run, &status)) {
        return status;
    }
    // trashed_ms = 1 marks a run whose files are being removed.
    const int64_t restored = studio_store_change(studio->store,
                                                 "UPDATE runs SET trashed_ms = NULL WHERE id = ?"
                                                 " AND trashed_ms IS NOT 1",
                                                 "i", run.id);
    if (restored < 0) {
        return studio_response_store_failed(response, studio);
    }
    if (restored == 0) {
        return studio_response_error(response, 409, "the run is being removed for good");
    }
    audit(request, "run.restore", run.id);
    return answer_run(request, response, run.id);
}

static int post_cancel(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    studio_run_t run;
    int status;
    if (!find_own(request, response, &run, &status)) {
        return status;
    }
    const int64_t waiting =
        studio_store_change(studio->store,
                            "UPDATE runs SET state = 'cancelled', ended_ms = ? WHERE id = ?"
                            " AND state = 'queued'",
                            "ii", studio_now_ms(), run.id);
    const int64_t running = waiting == 0
                                ? studio_store_change(studio->store,
                                                      "UPDATE runs SET cancelling = 1 WHERE id = ?"
                                                      " AND state IN ('starting', 'running')",
                                                      "i", run.id)
                                : 0;
    if (waiting < 0 || running < 0) {
        return studio_response_store_failed(response, studio);
    }
    if (waiting + running == 0) {
        return studio_response_error(response, 409, "the run has ended already");
    }
    studio_runs_wake(studio->runs);
    audit(request, "run.cancel", run.id);
    return answer_run(request, response, run.id);
}

// -- watching

static int get_run_events(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    studio_run_t run;
    if (!find(request, &run)) {
        return not_there(response);
    }
    json_t *const json = studio_run_json(studio, run.id);
    char *const text = json_dumps(json, JSON_COMPACT);
    char *const first =
        sim_format("retry: 2000\nevent: state\ndata: %s\n\n", text == NULL ? "{}" : text);
    free(text);
    json_decref(json);
    return studio_events_answer(request, response, run.id, first);
}

static int get_events(studio_request_t *request, studio_response_t *response)
{
    return studio_events_answer(request, response, 0,
                                sim_strdup("retry: 2000\nevent: hello\ndata: {}\n\n"));
}

// clang-format off
static const studio_parameter_t list_parameters[] = {
    {"state", STUDIO_IN_QUERY, "string", false, "queued, running, done, failed or cancelled"},
    {"search", STUDIO_IN_QUERY, "string", false, "text that name, settings or notes must contain"},
    {"owner", STUDIO_IN_QUERY, "string", false, "name of the owner"},
    {"group", STUDIO_IN_QUERY, "integer", false, "number of the order whose runs are listed"},
    {"trash", STUDIO_IN_QUERY, "boolean", false, "true: lists what is in the trash"},
    {"limit", STUDIO_IN_QUERY, "integer", false, "number of runs (default 100), at most 10000 and 8 MiB of settings and notes"},
    {"offset", STUDIO_IN_QUERY, "integer", false, "number of runs to skip"},
    {"sort", STUDIO_IN_QUERY, "string", false, "column to sort by, with - before it from the largest on (default -id): id, name, owner, state, created_ms, "
     "started_ms, ended_ms, wall_ms, size_bytes, or a field of the summary such as flows.fct_us.p99"},
    {"columns", STUDIO_IN_QUERY, "string", false, "fields of the summary that each run has as values, at most 32, separated by commas"},
    {0},
};
static const studio_parameter_t columns_parameters[] = {
    {"group", STUDIO_IN_QUERY, "integer", false, "number of the order whose runs count"},
    {0},
};
static const studio_parameter_t order_parameters[] = {
    {"name", STUDIO_IN_BODY, "string", true, "name of the runs"},
    {"yaml", STUDIO_IN_BODY, "string", false, "the scenario as YAML; alternatives are document, library and study"},
    {"document", STUDIO_IN_BODY, "integer", false, "number of a saved scenario"},
    {"library", STUDIO_IN_BODY, "string", false, "name of a library scenario; with yaml: relative file names start in its folder"},
    {"folder", STUDIO_IN_BODY, "string", false, "folder of the user's own files where relative file names start; without library and folder: all of them"},
    {"study", STUDIO_IN_BODY, "string", false, "name of a study of the library, which makes runs of its own"},
    {"quick", STUDIO_IN_BODY, "boolean", false, "true: the study makes fewer and shorter runs"},
    {"set", STUDIO_IN_BODY, "array", false, "settings of the scenario, or parameters of the study: [\"path=value\"...]"},
    {"grid", STUDIO_IN_BODY, "object", false, "{path: [value...]}: one run for each combination of values"},
    {"seeds", STUDIO_IN_BODY, "array", false, "list of seeds: one run for each"},
    {"shared", STUDIO_IN_BODY, "boolean", false, "true: every user may see the runs"},
    {"time_s", STUDIO_IN_BODY, "integer", false, "limit of the wall time of each run, in seconds"},
    {"memory_bytes", STUDIO_IN_BODY, "integer", false, "limit of the memory of each run, in bytes"},
    {"ranks", STUDIO_IN_BODY, "integer", false, "processes of each run, where the server allows several (--run-ranks); a study uses one"},
    {0},
};
static const studio_parameter_t again_parameters[] = {
    {"time_s", STUDIO_IN_BODY, "integer", false, "limit of the run's wall time, in seconds"},
    {"memory_bytes", STUDIO_IN_BODY, "integer", false, "limit of the run's memory, in bytes"},
    {"ranks", STUDIO_IN_BODY, "integer", false, "processes of the run, where the server allows several (--run-ranks)"},
    {0},
};
static const studio_parameter_t patch_parameters[] = {
    {"name", STUDIO_IN_BODY, "string", false, "name of at most 200 bytes"},
    {"notes", STUDIO_IN_BODY, "string", false, "notes of at most 20000 bytes"},
    {"shared", STUDIO_IN_BODY, "boolean", false, "true: every user may see it"},
    {0},
};
static const studio_parameter_t many_parameters[] = {
    {"runs", STUDIO_IN_BODY, "array", true, "numbers of at most 10000 runs; those of others, and those in another state, stay as they are"},
    {0},
};
static const studio_parameter_t capture_parameters[] = {
    {"path", STUDIO_IN_BODY, "string", true, "name of an own file, with its folders"},
    {0},
};
static const studio_parameter_t delete_parameters[] = {
    {"forever", STUDIO_IN_QUERY, "boolean", false, "true: removes a run in the trash for good"},
    {0},
};

static const char run_answer[] =
    "{id, group, name, owner: {id, name}, shared, state, cancelling, ended, message, notes, seed, set, library, "
    "has_result, created_ms, started_ms, ended_ms, size_bytes, trashed_ms, attempt, study, made_by, folder, progress?, eta_s?, live?}";

const studio_route_t studio_run_routes[] = {
    {"GET", "/api/v1/runs", STUDIO_ROLE_VIEWER, "Lists the runs that the user may see, newest first", list_parameters, NULL,
     "{runs, total, used_bytes, quota_bytes}; with columns each run has {values: {name: number}}", get_runs, 0},
    {"GET", "/api/v1/runs/columns", STUDIO_ROLE_VIEWER, "Lists the fields of summaries by which runs can be listed and sorted", columns_parameters, NULL,
     "{columns: [{name, runs, min, max}]}", get_columns, 0},
    {"POST", "/api/v1/runs", STUDIO_ROLE_USER, "Orders runs", order_parameters, NULL, "{group, runs}",
     studio__post_runs, (size_t)1 << 20},
    {"POST", "/api/v1/files/capture", STUDIO_ROLE_USER, "Makes a run of an own capture, which has no other result",
     capture_parameters, NULL, run_answer, studio__post_capture, 4096},
    {"GET", "/api/v1/runs/{run}", STUDIO_ROLE_VIEWER, "Returns one run", NULL, NULL, run_answer, get_run, 0},
    {"PATCH", "/api/v1/runs/{run}", STUDIO_ROLE_USER, "Changes a run's name, notes and sharing", patch_parameters, NULL,
     run_answer, patch_run, 65536},
    {"DELETE", "/api/v1/runs/{run}", STUDIO_ROLE_USER, "Moves it to the trash, which keeps it for a week", delete_parameters, NULL,
     run_answer, delete_run, 0},
    {"POST", "/api/v1/runs/{run}/restore", STUDIO_ROLE_USER, "Takes it out of the trash", NULL, NULL, run_answer,
     post_restore, 0},
    {"POST", "/api/v1/runs/{run}/cancel", STUDIO_ROLE_USER, "Cancels a run; its results so far are kept", NULL, NULL,
     run_answer, post_cancel, 0},
    {"POST", "/api/v1/runs/{run}/again", STUDIO_ROLE_USER, "Orders a new run of the same scenario and settings",
     again_parameters, NULL, "{group, runs}", studio__post_again, 4096},
    {"POST", "/api/v1/runs/cancel", STUDIO_ROLE_USER, "Cancels many runs", many_parameters, NULL, "{changed: [run...]}",
     studio__post_cancel_many, 0},
    {"POST", "/api/v1/runs/delete", STUDIO_ROLE_USER, "Moves many runs to the trash", many_parameters, NULL,
     "{changed: [run...]}", studio__post_delete_many, 0},
    {"POST", "/api/v1/runs/remove", STUDIO_ROLE_USER, "Removes many runs in the trash for good", many_parameters, NULL,
     "{changed: [run...]}", studio__post_remove_many, 0},
    {"GET", "/api/v1/runs/{run}/events", STUDIO_ROLE_VIEWER, "Streams the events of a run", NULL, NULL,
     "server-sent events: state (a run), progress, resync", get_run_events, 0},
    {"GET", "/api/v1/events", STUDIO_ROLE_VIEWER, "Streams the events of all runs that the user may see", NULL, NULL,
     "server-sent events", get_events, 0},
    {0},
};
// clang-format on
