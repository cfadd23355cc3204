// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/finish.h - a run in the database and in its folder: start, end, description.
#ifndef STUDIO_SERVER_RUNS_FINISH_H
#define STUDIO_SERVER_RUNS_FINISH_H

#include "studio/server/process/child.h"
#include "studio/server/runs/runs.h"

#include <jansson.h>

struct studio_rows;

// Returns the bytes that the runs of a user take, with those in the trash.
uint64_t studio_runs_bytes(studio_t *studio, int64_t user);

// Starts an attempt; returns the process that watches it, or -1.
pid_t studio_run_spawn(studio_t *studio, int64_t run, int64_t attempt);

// Records how the process of a run or of a study ended. Returns false if that could not be written.
bool studio_run_record(studio_t *studio, int64_t run, const studio_exit_t *exit, bool of_study);
// Records likewise, and makes runs of what a study simulated.
bool studio_run_finish(studio_t *studio, int64_t run, const studio_exit_t *exit);

// Returns the JSON that routes and events show of a run; NULL if there is no such run.
json_t *studio_run_json(studio_t *studio, int64_t run);
// Returns that JSON for a row of STUDIO_RUN_COLUMNS, FROM runs r JOIN users u ON u.id = r.owner.
json_t *studio_run_row_json(studio_t *studio, const struct studio_rows *rows);
#define STUDIO_RUN_COLUMNS                                                                  \
    "r.id, r.run_group, r.name, r.owner, u.name, r.shared, r.state, r.ended, r.message, "   \
    "r.notes, r.overrides, library, r.cancelling, r.created_ms, r.started_ms, r.ended_ms, " \
    "r.size_bytes, r.trashed_ms, r.attempt, r.study, r.made_by, r.folder"

#endif // STUDIO_SERVER_RUNS_FINISH_H
