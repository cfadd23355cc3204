// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/queue.h - which run is next, and what becomes of those that run.
//
// One thread begins runs, reads their progress and takes note of their ends. The database says what
// is to be run, the runs' folders what has begun and ended; the thread brings the two together, and
// does so after a start of the server in the same way as before it.
#ifndef STUDIO_SERVER_RUNS_QUEUE_H
#define STUDIO_SERVER_RUNS_QUEUE_H

#include "studio/server/runs/runs.h"

#include <jansson.h>

typedef struct studio_runs studio_runs_t;

// Before the thread starts, for studio_on_run_end.
studio_runs_t *studio_runs_create(studio_t *studio);
SIM_MUST_CHECK bool studio_runs_start(studio_runs_t *runs);
// Runs go on.
void studio_runs_stop(studio_runs_t *runs);
void studio_runs_destroy(studio_runs_t *runs);

// There is something new in the database.
void studio_runs_wake(studio_runs_t *runs);
// The last progress of a run that runs; NULL: none. The caller's reference.
json_t *studio_runs_progress(studio_runs_t *runs, int64_t run);
// Why nothing begins now, or "".
const char *studio_runs_blocked(studio_runs_t *runs);

#endif // STUDIO_SERVER_RUNS_QUEUE_H
