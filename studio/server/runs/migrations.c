// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/migrations.c - the tables of runs.
//
// A group is one order: a scenario with seeds and a grid, or a study. state is queued, starting,
// running, done, failed or cancelled; trashed_ms is the time of deletion.
#include "studio/server/store/database.h"

// clang-format off
static const char first[] =
    "CREATE TABLE run_groups("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  name TEXT NOT NULL,"
    "  owner INTEGER NOT NULL REFERENCES users(id),"
    "  created_ms INTEGER NOT NULL,"
    "  plan TEXT NOT NULL);" // the order as JSON
    "CREATE TABLE runs("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  run_group INTEGER NOT NULL REFERENCES run_groups(id),"
    "  name TEXT NOT NULL,"
    "  owner INTEGER NOT NULL REFERENCES users(id),"
    "  shared INTEGER NOT NULL,"
    "  state TEXT NOT NULL,"
    "  ended TEXT," // how the run ended, as in summary.json
    "  message TEXT," // why the run failed
    "  notes TEXT NOT NULL DEFAULT '',"
    "  overrides TEXT NOT NULL," // JSON: [["path", "value"], ...]
    "  library TEXT," // file names start from the folder of this library scenario
    "  limits TEXT NOT NULL," // JSON
    "  attempt INTEGER NOT NULL DEFAULT 1,"
    "  cancelling INTEGER NOT NULL DEFAULT 0,"
    "  created_ms INTEGER NOT NULL,"
    "  started_ms INTEGER,"
    "  ended_ms INTEGER,"
    "  size_bytes INTEGER NOT NULL DEFAULT 0,"
    "  progress TEXT," // the last progress as JSON
    "  trashed_ms INTEGER);"
    "CREATE INDEX runs_owner ON runs(owner, id);"
    "CREATE INDEX runs_shared ON runs(shared, id);"
    "CREATE INDEX runs_group ON runs(run_group, id);"
    "CREATE INDEX runs_trashed ON runs(trashed_ms) WHERE trashed_ms IS NOT NULL;"
    "CREATE INDEX runs_active ON runs(state, id) WHERE state IN ('queued', 'starting', 'running');";
// study: the run's process is this study of the library. made_by: the study that made the run.
static const char second[] =
    "ALTER TABLE runs ADD COLUMN study TEXT;"
    "ALTER TABLE runs ADD COLUMN made_by INTEGER;"
    "CREATE INDEX runs_made_by ON runs(made_by) WHERE made_by IS NOT NULL;";
// For the queue, which asks when a user was served last.
static const char third[] = "CREATE INDEX runs_served ON runs(owner, started_ms);";
// The folder of the owner's files where file names of the scenario start; '': the top.
static const char fourth[] = "ALTER TABLE runs ADD COLUMN folder TEXT;";
// The numbers of summary.json, by their paths.
static const char fifth[] =
    "CREATE TABLE run_values("
    "  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
    "  name TEXT NOT NULL,"
    "  value REAL NOT NULL,"
    "  PRIMARY KEY(run, name)) WITHOUT ROWID;";
// clang-format on

const studio_migration_t studio_run_migrations[] = {
    {1, first}, {2, second}, {3, third}, {4, fourth}, {5, fifth}, {0, NULL},
};
