// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/runs.h - what other rooms may know of runs.
#ifndef STUDIO_SERVER_RUNS_RUNS_H
#define STUDIO_SERVER_RUNS_RUNS_H

#include "studio/server/studio.h"

typedef enum studio_run_state {
    STUDIO_RUN_QUEUED,
    STUDIO_RUN_STARTING,
    STUDIO_RUN_RUNNING,
    STUDIO_RUN_DONE,
    STUDIO_RUN_FAILED,
    STUDIO_RUN_CANCELLED, // with the results up to then, if it had begun
} studio_run_state_t;

typedef struct studio_run {
    int64_t id;
    int64_t group;
    int64_t owner;
    bool shared;
    bool trashed;
    studio_run_state_t state;
    bool has_result;   // result/ is whole
    char folder[4096]; // DATA/runs/ID: scenario.yaml, result/, log
} studio_run_t;

// False: there is no such run, or the user may not see it, which answers to the same: 404. Users
// see their own and what is shared, administrators all; user NULL sees all.
bool studio_run_find(studio_t *studio, const studio_user_t *user, int64_t id, studio_run_t *run);
// Whether the user may change it: the owner, and administrators.
bool studio_run_may_change(const studio_user_t *user, const studio_run_t *run);

// Called from the queue's thread for each run that ends, and at the start of the server for none.
// Must not wait: hand it to a thread of one's own. Up to 4, before the server starts.
typedef void (*studio_run_end_fn)(studio_t *studio, const studio_run_t *run, void *ctx);
void studio_on_run_end(studio_t *studio, studio_run_end_fn fn, void *ctx);

// A message for those who watch the run (GET runs/{id}/events) and may see it: event "import",
// "progress", ... with JSON text. Copied.
void studio_run_tell(studio_t *studio, int64_t run, const char *event, const char *json);

#endif // STUDIO_SERVER_RUNS_RUNS_H
