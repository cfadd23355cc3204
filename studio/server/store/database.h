// SPDX-License-Identifier: Apache-2.0
// studio/server/store/database.h - one SQLite file in WAL mode, with foreign keys.
//
// One connection, one lock: a statement that is open holds it, so keep them short. What scans
// results has databases of its own (studio/server/data). Values are bound, never written into SQL.
#ifndef STUDIO_SERVER_STORE_DATABASE_H
#define STUDIO_SERVER_STORE_DATABASE_H

#include "studio/server/studio.h"

typedef struct studio_store studio_store_t;
typedef struct studio_rows studio_rows_t;

// The steps of a room's tables, in order; a list ends with number 0. Steps that have been released
// are never changed: a new one is added.
typedef struct studio_migration {
    int number;
    const char *sql;
} studio_migration_t;

typedef struct studio_migrations {
    const char *room; // NULL ends the list
    const studio_migration_t *steps;
} studio_migrations_t;

// Joined by studio/server/store/migrations.c.
extern const studio_migrations_t studio_migrations_all[];
extern const studio_migration_t studio_store_migrations[];
extern const studio_migration_t studio_run_migrations[];
extern const studio_migration_t studio_data_migrations[];

// Opens or makes the file and brings its tables up to date; a copy of what was there before stays
// beside it when a step was needed. Refused: a file of a newer rocesim, a damaged one.
SIM_MUST_CHECK sim_err_t studio_store_open(const char *path,
                                           const studio_migrations_t *rooms,
                                           studio_store_t **store,
                                           sim_message_t *message);
void studio_store_close(studio_store_t *store);

// A statement with its values: types has a letter for each `?`: i int64_t, d double, s const char *
// (NULL is null), b const void *, size_t. Never NULL; holds the lock until closed.
studio_rows_t *studio_rows_open(studio_store_t *store, const char *sql, const char *types, ...);
bool studio_rows_next(studio_rows_t *rows);
int64_t studio_rows_int(const studio_rows_t *rows, int column);
// NULL: null. Valid until the next row.
const char *studio_rows_text(const studio_rows_t *rows, int column);
bool studio_rows_is_null(const studio_rows_t *rows, int column);
// False: a row was not read or written (the disk is full, the file is damaged).
bool studio_rows_close(studio_rows_t *rows);

// A statement without rows; false as above, or where a constraint forbids it.
bool studio_store_do(studio_store_t *store, const char *sql, const char *types, ...);
// The same, and what it changed: rows, or -1 where it failed.
int64_t studio_store_change(studio_store_t *store, const char *sql, const char *types, ...);
// The first column of the first row.
int64_t studio_store_int(studio_store_t *store,
                         int64_t otherwise,
                         const char *sql,
                         const char *types,
                         ...);
// Inserts, and gives the row's number; 0: failed.
int64_t studio_store_insert(studio_store_t *store, const char *sql, const char *types, ...);

// All or nothing, under the lock. False: not begun (the lock is not held), or not kept (all is
// undone).
bool studio_store_begin(studio_store_t *store);
bool studio_store_commit(studio_store_t *store);
void studio_store_rollback(studio_store_t *store);

// Whether the last failure was that of a full disk, of a constraint.
bool studio_store_is_full(const studio_store_t *store);
bool studio_store_is_conflict(const studio_store_t *store);

// A consistent copy while the server works; target must not exist.
SIM_MUST_CHECK sim_err_t studio_store_copy(studio_store_t *store,
                                           const char *target,
                                           sim_message_t *message);

#endif // STUDIO_SERVER_STORE_DATABASE_H
