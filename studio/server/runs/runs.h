// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/runs.h - the runs, as other rooms of the studio see them.
#ifndef STUDIO_SERVER_RUNS_RUNS_H
#define STUDIO_SERVER_RUNS_RUNS_H

#include "studio/server/studio.h"

typedef enum studio_run_state {
    STUDIO_RUN_QUEUED,
    STUDIO_RUN_STARTING,
    STUDIO_RUN_RUNNING,
    STUDIO_RUN_DONE,
    STUDIO_RUN_FAILED,
    STUDIO_RUN_CANCELLED, // with the results so far, if the run had begun
} studio_run_state_t;

typedef struct studio_run {
    int64_t id;
    int64_t group;
    int64_t owner;
    bool shared;
    bool trashed;
    studio_run_state_t state;
    bool has_result;   // result/ is complete
    char folder[4096]; // DATA/runs/ID, with scenario.yaml, result/ and log
} studio_run_t;

// Finds a run. Returns false if there is none or the user may not see it; both answer 404. Users
// see their own and shared runs, administrators all; user NULL sees all.
bool studio_run_find(studio_t *studio, const studio_user_t *user, int64_t id, studio_run_t *run);
// Returns whether the user may change the run: its owner and administrators may.
bool studio_run_may_change(const studio_user_t *user, const studio_run_t *run);

// Is called by the queue's thread for each run that ends while the server works. It must not wait:
// hand long work to another thread. At most 4 can be added, before the server starts.
typedef void (*studio_run_end_fn)(studio_t *studio, const studio_run_t *run, void *ctx);
void studio_on_run_end(studio_t *studio, studio_run_end_fn fn, void *ctx);

// Sends an event ("import", "progress", ...) with JSON text to those who watch the run and may see
// it. The text is copied.
void studio_run_tell(studio_t *studio, int64_t run, const char *event, const char *json);
// Sends the event "state" with the run as JSON to the same people.
void studio_run_tell_state(studio_t *studio, int64_t run);

#endif // STUDIO_SERVER_RUNS_RUNS_H
