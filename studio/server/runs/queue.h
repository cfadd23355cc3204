// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/queue.h - the queue: starts runs and follows them to their end.
//
// One thread starts runs, reads their progress and records their ends. The database says which runs
// to start; the runs' folders say which have begun and ended. The thread reconciles the two in the
// same way after a restart of the server.
#ifndef STUDIO_SERVER_RUNS_QUEUE_H
#define STUDIO_SERVER_RUNS_QUEUE_H

#include "studio/server/runs/runs.h"

#include <jansson.h>

typedef struct studio_runs studio_runs_t;

// Creates the queue. Call it before the thread starts, so that studio_on_run_end can be called.
studio_runs_t *studio_runs_create(studio_t *studio);
SIM_MUST_CHECK bool studio_runs_start(studio_runs_t *runs);
// Stops the thread; runs continue without it.
void studio_runs_stop(studio_runs_t *runs);
void studio_runs_destroy(studio_runs_t *runs);

// Informs the thread that the database has changed.
void studio_runs_wake(studio_runs_t *runs);
// Returns why no run can start now, or "".
const char *studio_runs_blocked(studio_runs_t *runs);

#endif // STUDIO_SERVER_RUNS_QUEUE_H
