// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/many_routes.c - routes that cancel, delete or remove many runs by one request.
//
// All changes of a request are one transaction, so that a thousand runs take one write to the disk.
// Runs that the user may not change, or that are in another state, stay as they are.
#include "studio/server/accounts/accounts.h"
#include "studio/server/http/body.h"
#include "studio/server/runs/finish.h"
#include "studio/server/runs/parts.h"
#include "studio/server/runs/queue.h"
#include "studio/server/runs/trash.h"
#include "studio/server/store/database.h"

#include <stdlib.h>

#define RUNS_MAX 10000u

// Changes one run in the open transaction; returns the number of rows changed, -1 on failure.
typedef int64_t (*change_fn)(studio_t *studio, int64_t run);

static int64_t cancel_one(studio_t *studio, int64_t run)
{
    return studio_store_change(studio->store,
                               "UPDATE runs SET cancelling = (state <> 'queued'),"
                               " ended_ms = CASE state WHEN 'queued' THEN ? ELSE ended_ms END,"
                               " state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END"
                               " WHERE id = ? AND state IN ('queued', 'starting', 'running')",
                               "ii", studio_now_ms(), run);
}

static int64_t delete_one(studio_t *studio, int64_t run)
{
    return studio_store_change(studio->store,
                               "UPDATE runs SET trashed_ms = ? WHERE id = ? AND trashed_ms IS NULL"
                               " AND state IN ('done', 'failed', 'cancelled')",
                               "ii", studio_now_ms(), run);
}

// Answers a body that names runs wrongly.
static int refuse_runs(studio_response_t *response)
{
    return studio_response_error(response, 400, "runs: expected a list of 1 to %u run numbers",
                                 RUNS_MAX);
}

// Returns the numbers of the runs that the request names and the user may change; NULL if the body
// names them wrongly.
static json_t *take_runs(const studio_request_t *request)
{
    studio_t *const studio = studio_request_studio(request);
    const json_t *const asked = studio_body_member(request, "runs");
    if (!json_is_array(asked) || json_array_size(asked) == 0 || json_array_size(asked) > RUNS_MAX) {
        return NULL;
    }
    json_t *const own = json_array();
    for (size_t i = 0; i < json_array_size(asked); i++) {
        const json_t *const id = json_array_get(asked, i);
        studio_run_t run;
        if (!json_is_integer(id) || json_integer_value(id) < 1) {
            json_decref(own);
            return NULL;
        }
        if (studio_run_find(studio, studio_request_user(request), json_integer_value(id), &run) &&
            studio_run_may_change(studio_request_user(request), &run)) {
            (void)json_array_append_new(own, json_integer(run.id));
        }
    }
    return own;
}

// Changes all runs in one transaction. Returns the numbers of those that changed; NULL on failure.
static json_t *change_all(studio_t *studio, const json_t *runs, change_fn change)
{
    json_t *const changed = json_array();
    if (!studio_store_begin(studio->store)) {
        json_decref(changed);
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const int64_t run = json_integer_value(json_array_get(runs, i));
        const int64_t rows = change(studio, run);
        if (rows < 0) {
            studio_store_rollback(studio->store);
            json_decref(changed);
            return NULL;
        }
        if (rows > 0) {
            (void)json_array_append_new(changed, json_integer(run));
        }
    }
    if (!studio_store_commit(studio->store)) {
        json_decref(changed);
        return NULL;
    }
    return changed;
}

static void tell_all(studio_t *studio, const json_t *runs)
{
    for (size_t i = 0; i < json_array_size(runs); i++) {
        studio_run_tell_state(studio, json_integer_value(json_array_get(runs, i)));
    }
}

static void audit(studio_request_t *request, const char *action, const json_t *changed)
{
    const size_t count = json_array_size(changed);
    if (count > 0) {
        studio_audit(studio_request_studio(request), studio_request_user(request),
                     studio_request_address(request), action, "%" PRId64 "%s (%zu runs)",
                     (int64_t)json_integer_value(json_array_get(changed, 0)),
                     count > 1 ? " and further" : "", count);
    }
}

static int answer(studio_request_t *request, studio_response_t *response, const char *action,
                  change_fn change)
{
    studio_t *const studio = studio_request_studio(request);
    json_t *const runs = take_runs(request);
    if (runs == NULL) {
        return refuse_runs(response);
    }
    json_t *const changed = change_all(studio, runs, change);
    json_decref(runs);
    if (changed == NULL) {
        return studio_response_store_failed(response, studio);
    }
    audit(request, action, changed);
    tell_all(studio, changed);
    studio_runs_wake(studio->runs);
    return studio_response_json(response, 200, json_pack("{s:o}", "changed", changed));
}

int studio__post_cancel_many(studio_request_t *request, studio_response_t *response)
{
    return answer(request, response, "run.cancel", cancel_one);
}

int studio__post_delete_many(studio_request_t *request, studio_response_t *response)
{
    return answer(request, response, "run.delete", delete_one);
}

// Removes runs for good that are in the trash. It goes run by run, since files are removed.
int studio__post_remove_many(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    json_t *const runs = take_runs(request);
    if (runs == NULL) {
        return refuse_runs(response);
    }
    json_t *const changed = json_array();
    for (size_t i = 0; i < json_array_size(runs) && !studio_request_cancelled(request); i++) {
        const int64_t run = json_integer_value(json_array_get(runs, i));
        studio_run_t found;
        if (studio_run_find(studio, NULL, run, &found) && found.trashed &&
            studio_trash_remove(studio, run)) {
            (void)json_array_append_new(changed, json_integer(run));
        }
    }
    json_decref(runs);
    audit(request, "run.remove", changed);
    return studio_response_json(response, 200, json_pack("{s:o}", "changed", changed));
}
