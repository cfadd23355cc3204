// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/migrations.c - the tables of runs.
//
// A group is one order: a scenario with seeds and a grid, or a study. state: queued, starting,
// running, done, failed, cancelled. trashed_ms: in the trash since.
#include "studio/server/store/database.h"

// clang-format off
static const char first[] =
    "CREATE TABLE run_groups("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  name TEXT NOT NULL,"
    "  owner INTEGER NOT NULL REFERENCES users(id),"
    "  created_ms INTEGER NOT NULL,"
    "  plan TEXT NOT NULL);" // JSON: what was ordered
    "CREATE TABLE runs("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  run_group INTEGER NOT NULL REFERENCES run_groups(id),"
    "  name TEXT NOT NULL,"
    "  owner INTEGER NOT NULL REFERENCES users(id),"
    "  shared INTEGER NOT NULL,"
    "  state TEXT NOT NULL,"
    "  ended TEXT," // how, as of summary.json
    "  message TEXT," // why it failed
    "  notes TEXT NOT NULL DEFAULT '',"
    "  overrides TEXT NOT NULL," // JSON: [["path", "value"], ...]
    "  library TEXT," // name of the library's scenario whose folder its file names start from
    "  limits TEXT NOT NULL," // JSON
    "  attempt INTEGER NOT NULL DEFAULT 1,"
    "  cancelling INTEGER NOT NULL DEFAULT 0,"
    "  created_ms INTEGER NOT NULL,"
    "  started_ms INTEGER,"
    "  ended_ms INTEGER,"
    "  size_bytes INTEGER NOT NULL DEFAULT 0,"
    "  progress TEXT," // JSON, the last one
    "  trashed_ms INTEGER);"
    "CREATE INDEX runs_owner ON runs(owner, id);"
    "CREATE INDEX runs_shared ON runs(shared, id);"
    "CREATE INDEX runs_group ON runs(run_group, id);"
    "CREATE INDEX runs_trashed ON runs(trashed_ms) WHERE trashed_ms IS NOT NULL;"
    "CREATE INDEX runs_active ON runs(state, id) WHERE state IN ('queued', 'starting', 'running');";
// Runs whose process is a study of the library, and those that a study made.
static const char second[] =
    "ALTER TABLE runs ADD COLUMN study TEXT;"
    "ALTER TABLE runs ADD COLUMN made_by INTEGER;"
    "CREATE INDEX runs_made_by ON runs(made_by) WHERE made_by IS NOT NULL;";
// clang-format on

const studio_migration_t studio_run_migrations[] = {{1, first}, {2, second}, {0, NULL}};
