// SPDX-License-Identifier: Apache-2.0
// studio/server/store/database.h - one SQLite file in WAL mode, with foreign keys.
//
// There is one connection and one lock: an open statement holds the lock, so keep statements short.
// Scans of results use their own databases (studio/server/data). Values are bound, never written
// into SQL.
#ifndef STUDIO_SERVER_STORE_DATABASE_H
#define STUDIO_SERVER_STORE_DATABASE_H

#include "studio/server/studio.h"

typedef struct studio_store studio_store_t;
typedef struct studio_rows studio_rows_t;

// The steps that create and change a room's tables, in order; number 0 ends the list. A released
// step is never changed: append a new one.
typedef struct studio_migration {
    int number;
    const char *sql;
} studio_migration_t;

typedef struct studio_migrations {
    const char *room; // NULL ends the list
    const studio_migration_t *steps;
} studio_migrations_t;

// studio/server/migrations.c joins the lists of all rooms.
extern const studio_migrations_t studio_migrations_all[];
extern const studio_migration_t studio_store_migrations[];
extern const studio_migration_t studio_run_migrations[];
extern const studio_migration_t studio_data_migrations[];

// Opens or creates the file and runs the missing steps; a copy of the old file stays beside it if
// steps ran. Refuses a damaged file and one of a newer rocesim.
SIM_MUST_CHECK sim_err_t studio_store_open(const char *path, const studio_migrations_t *rooms,
                                           studio_store_t **store, sim_message_t *message);
void studio_store_close(studio_store_t *store);

// Opens a statement; types has one letter per `?`: i int64_t, d double, s const char * (NULL is
// null), b const void * and size_t. Never NULL; holds the lock until it is closed.
studio_rows_t *studio_rows_open(studio_store_t *store, const char *sql, const char *types, ...);
bool studio_rows_next(studio_rows_t *rows);
double studio_rows_real(const studio_rows_t *rows, int column);
int64_t studio_rows_int(const studio_rows_t *rows, int column);
// Returns the text of a column, NULL for null; valid until the next row.
const char *studio_rows_text(const studio_rows_t *rows, int column);
bool studio_rows_is_null(const studio_rows_t *rows, int column);
// Closes the statement; returns false if a row could not be read or written (full disk, damaged
// file).
bool studio_rows_close(studio_rows_t *rows);

// Runs a statement without rows; returns false if it fails or violates a constraint.
bool studio_store_do(studio_store_t *store, const char *sql, const char *types, ...);
// Runs a statement and returns the number of rows that it changed, or -1 if it failed.
int64_t studio_store_change(studio_store_t *store, const char *sql, const char *types, ...);
// Returns the first column of the first row, or otherwise if there is no row.
int64_t studio_store_int(studio_store_t *store, int64_t otherwise, const char *sql,
                         const char *types, ...);
// Inserts a row and returns its number; 0 if it failed.
int64_t studio_store_insert(studio_store_t *store, const char *sql, const char *types, ...);

// Begins a transaction and takes the lock. Returns false, without the lock, if it cannot begin;
// commit returns false if everything was rolled back.
bool studio_store_begin(studio_store_t *store);
bool studio_store_commit(studio_store_t *store);
void studio_store_rollback(studio_store_t *store);

// Return whether the last failure was a full disk, or a violated constraint.
bool studio_store_is_full(const studio_store_t *store);
bool studio_store_is_conflict(const studio_store_t *store);
// Returns the reason of the last statement's failure, for messages; valid until the next statement.
const char *studio_store_reason(const studio_store_t *store);

// Copies the database consistently while the server works; target must not exist.
SIM_MUST_CHECK sim_err_t studio_store_copy(studio_store_t *store, const char *target,
                                           sim_message_t *message);

#endif // STUDIO_SERVER_STORE_DATABASE_H
