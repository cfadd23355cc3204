// SPDX-License-Identifier: Apache-2.0
// studio/server/store/database.c - SQLite with bound values and remembered errors.
#include "studio/server/store/database.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 10000

struct studio_store {
    sqlite3 *database;
    pthread_mutex_t lock; // recursive: a statement may be open when the next one begins
    atomic_int failure;   // SQLite's last error code
};

struct studio_rows {
    studio_store_t *store;
    sqlite3_stmt *statement;
    int result;
};

// -- statements

static void note_failure(studio_store_t *store, int result)
{
    if (result != SQLITE_OK && result != SQLITE_ROW && result != SQLITE_DONE) {
        atomic_store(&store->failure, result & 0xff);
        if ((result & 0xff) != SQLITE_CONSTRAINT) {
            fprintf(stderr, "rocesim studio: database: %s\n", sqlite3_errmsg(store->database));
        }
    }
}

static int bind_all(sqlite3_stmt *statement, const char *types, va_list values)
{
    SIM_CHECKF((size_t)sqlite3_bind_parameter_count(statement) == strlen(types), "%s",
               sqlite3_sql(statement));
    int result = SQLITE_OK;
    int at = 0;
    for (const char *type = types; *type != '\0' && result == SQLITE_OK; type++) {
        at++;
        if (*type == 'i') {
            result = sqlite3_bind_int64(statement, at, va_arg(values, int64_t));
        } else if (*type == 'd') {
            result = sqlite3_bind_double(statement, at, va_arg(values, double));
        } else if (*type == 's') {
            const char *const text = va_arg(values, const char *);
            result = text == NULL ? sqlite3_bind_null(statement, at)
                                  : sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
        } else {
            SIM_CHECK(*type == 'b');
            const void *const bytes = va_arg(values, const void *);
            const size_t size_bytes = va_arg(values, size_t);
            result = sqlite3_bind_blob64(statement, at, bytes, size_bytes, SQLITE_TRANSIENT);
        }
    }
    return result;
}

static studio_rows_t *open_rows(studio_store_t *store, const char *sql, const char *types,
                                va_list values)
{
    studio_rows_t *const rows = sim_alloc(sizeof(*rows));
    rows->store = store;
    SIM_CHECK(pthread_mutex_lock(&store->lock) == 0);
    rows->result = sqlite3_prepare_v2(store->database, sql, -1, &rows->statement, NULL);
    // All SQL is written in this program: a syntax error is a bug.
    SIM_CHECKF(rows->result != SQLITE_ERROR, "%s: %s", sqlite3_errmsg(store->database), sql);
    if (rows->result == SQLITE_OK) {
        rows->result = bind_all(rows->statement, types, values);
    }
    note_failure(store, rows->result);
    return rows;
}

studio_rows_t *studio_rows_open(studio_store_t *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    studio_rows_t *const rows = open_rows(store, sql, types, values);
    va_end(values);
    return rows;
}

bool studio_rows_next(studio_rows_t *rows)
{
    if (rows->result != SQLITE_OK && rows->result != SQLITE_ROW) {
        return false;
    }
    rows->result = sqlite3_step(rows->statement);
    note_failure(rows->store, rows->result);
    return rows->result == SQLITE_ROW;
}

double studio_rows_real(const studio_rows_t *rows, int column)
{
    return sqlite3_column_double(rows->statement, column);
}

int64_t studio_rows_int(const studio_rows_t *rows, int column)
{
    return sqlite3_column_int64(rows->statement, column);
}

const char *studio_rows_text(const studio_rows_t *rows, int column)
{
    return (const char *)sqlite3_column_text(rows->statement, column);
}

bool studio_rows_is_null(const studio_rows_t *rows, int column)
{
    return sqlite3_column_type(rows->statement, column) == SQLITE_NULL;
}

bool studio_rows_close(studio_rows_t *rows)
{
    const bool good =
        rows->result == SQLITE_OK || rows->result == SQLITE_ROW || rows->result == SQLITE_DONE;
    studio_store_t *const store = rows->store;
    (void)sqlite3_finalize(rows->statement);
    sim_free(rows);
    SIM_CHECK(pthread_mutex_unlock(&store->lock) == 0);
    return good;
}

static bool run_rows(studio_rows_t *rows, int64_t *changes, int64_t *id)
{
    sqlite3 *const database = rows->store->database;
    (void)studio_rows_next(rows);
    *changes = sqlite3_changes64(database);
    *id = sqlite3_last_insert_rowid(database);
    return studio_rows_close(rows);
}

bool studio_store_do(studio_store_t *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    studio_rows_t *const rows = open_rows(store, sql, types, values);
    va_end(values);
    int64_t changes;
    int64_t id;
    return run_rows(rows, &changes, &id);
}

int64_t studio_store_change(studio_store_t *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    studio_rows_t *const rows = open_rows(store, sql, types, values);
    va_end(values);
    int64_t changes;
    int64_t id;
    return run_rows(rows, &changes, &id) ? changes : -1;
}

int64_t studio_store_insert(studio_store_t *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    studio_rows_t *const rows = open_rows(store, sql, types, values);
    va_end(values);
    int64_t changes;
    int64_t id;
    return run_rows(rows, &changes, &id) && changes > 0 ? id : 0;
}

int64_t studio_store_int(studio_store_t *store, int64_t otherwise, const char *sql,
                         const char *types, ...)
{
    va_list values;
    va_start(values, types);
    studio_rows_t *const rows = open_rows(store, sql, types, values);
    va_end(values);
    const int64_t found = studio_rows_next(rows) ? studio_rows_int(rows, 0) : otherwise;
    return studio_rows_close(rows) ? found : otherwise;
}

// -- transactions

bool studio_store_begin(studio_store_t *store)
{
    SIM_CHECK(pthread_mutex_lock(&store->lock) == 0);
    if (studio_store_do(store, "BEGIN IMMEDIATE", "")) {
        return true;
    }
    SIM_CHECK(pthread_mutex_unlock(&store->lock) == 0);
    return false;
}

bool studio_store_commit(studio_store_t *store)
{
    const bool kept = studio_store_do(store, "COMMIT", "");
    if (!kept) {
        (void)sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    }
    SIM_CHECK(pthread_mutex_unlock(&store->lock) == 0);
    return kept;
}

void studio_store_rollback(studio_store_t *store)
{
    // SQLite may have rolled back already, as on a full disk; then this does nothing.
    (void)sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    SIM_CHECK(pthread_mutex_unlock(&store->lock) == 0);
}

bool studio_store_is_full(const studio_store_t *store)
{
    const int failure = atomic_load(&store->failure);
    return failure == SQLITE_FULL || failure == SQLITE_IOERR;
}

bool studio_store_is_conflict(const studio_store_t *store)
{
    return atomic_load(&store->failure) == SQLITE_CONSTRAINT;
}

// -- opening

const char *studio_store_reason(const studio_store_t *store)
{
    return sqlite3_errmsg(store->database);
}

static sim_err_t fail(studio_store_t *store, const char *path, sim_message_t *message)
{
    return sim_fail(message, SIM_ERR_IO, "%s: %s", path, sqlite3_errmsg(store->database));
}

static sim_err_t configure(studio_store_t *store, const char *path, sim_message_t *message)
{
    (void)sqlite3_busy_timeout(store->database, BUSY_MS);
    (void)sqlite3_extended_result_codes(store->database, 1);
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    // FULL: what a client got as an answer survives a power failure.
    const char *const pragmas = "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON;"
                                "PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
                                "CREATE TABLE IF NOT EXISTS migrations(room TEXT NOT NULL, number "
                                "INTEGER NOT NULL, PRIMARY KEY(room, number)) WITHOUT ROWID";
    const int result = sqlite3_exec(store->database, pragmas, NULL, NULL, NULL);
    bool whole = result != SQLITE_CORRUPT && result != SQLITE_NOTADB;
    if (whole && result != SQLITE_OK) {
        return fail(store, path, message);
    }
    if (whole) {
        studio_rows_t *const rows = studio_rows_open(store, "PRAGMA quick_check(1)", "");
        const bool good = studio_rows_next(rows) && strcmp(studio_rows_text(rows, 0), "ok") == 0;
        whole = studio_rows_close(rows) && good;
    }
    if (!whole) {
        return sim_fail(message, SIM_ERR_IO,
                        "%s is damaged. Nothing was changed. Restore a backup into a new folder "
                        "with rocesim studio restore, or move the file away and start with "
                        "--adopt: it takes the runs in; users, tokens and saved work are lost",
                        path);
    }
    return SIM_OK;
}

static int64_t level(studio_store_t *store, const char *room)
{
    return studio_store_int(
        store, 0, "SELECT coalesce(max(number), 0) FROM migrations WHERE room = ?", "s", room);
}

static sim_err_t step(studio_store_t *store, const char *room, const studio_migration_t *migration,
                      sim_message_t *message)
{
    if (!studio_store_begin(store)) {
        return fail(store, room, message);
    }
    if (sqlite3_exec(store->database, migration->sql, NULL, NULL, NULL) != SQLITE_OK ||
        !studio_store_do(store, "INSERT INTO migrations VALUES (?, ?)", "si", room,
                         (int64_t)migration->number)) {
        const sim_err_t result = fail(store, room, message);
        studio_store_rollback(store);
        return result;
    }
    return studio_store_commit(store) ? SIM_OK : fail(store, room, message);
}

// Copies the file to PATH.before-NUMBER before its tables are changed. An earlier copy stays.
static sim_err_t keep_old(studio_store_t *store, const char *path, sim_message_t *message)
{
    const int64_t steps = studio_store_int(store, 0, "SELECT count(*) FROM migrations", "");
    if (steps == 0) {
        return SIM_OK;
    }
    char *copy = sim_format("%s.before-%" PRId64, path, steps + 1);
    for (unsigned i = 2; access(copy, F_OK) == 0; i++) {
        sim_free(copy);
        copy = sim_format("%s.before-%" PRId64 ".%u", path, steps + 1, i);
    }
    const sim_err_t result = studio_store_copy(store, copy, message);
    sim_free(copy);
    return result;
}

// Refuses tables that a newer program has changed.
static sim_err_t check_levels(studio_store_t *store, const char *path,
                              const studio_migrations_t *rooms, sim_message_t *message)
{
    for (const studio_migrations_t *room = rooms; room->room != NULL; room++) {
        const int64_t have = level(store, room->room);
        int64_t last = 0;
        for (const studio_migration_t *s = room->steps; s->number != 0; s++) {
            last = s->number;
        }
        if (have > last) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "%s was written by a newer rocesim (its %s tables have version %" PRId64
                            ", this "
                            "program knows %" PRId64 ")",
                            path, room->room, have, last);
        }
    }
    return SIM_OK;
}

static sim_err_t migrate(studio_store_t *store, const char *path, const studio_migrations_t *rooms,
                         sim_message_t *message)
{
    bool kept = false;
    for (const studio_migrations_t *room = rooms; room->room != NULL; room++) {
        const int64_t have = level(store, room->room);
        for (const studio_migration_t *s = room->steps; s->number != 0; s++) {
            if (s->number <= have) {
                continue;
            }
            sim_err_t result = kept ? SIM_OK : keep_old(store, path, message);
            kept = true;
            if (result == SIM_OK) {
                result = step(store, room->room, s, message);
            }
            if (result != SIM_OK) {
                return result;
            }
        }
    }
    return SIM_OK;
}

sim_err_t studio_store_open(const char *path, const studio_migrations_t *rooms,
                            studio_store_t **store, sim_message_t *message)
{
    studio_store_t *const opened = sim_alloc(sizeof(*opened));
    pthread_mutexattr_t attributes;
    SIM_CHECK(pthread_mutexattr_init(&attributes) == 0);
    SIM_CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0);
    SIM_CHECK(pthread_mutex_init(&opened->lock, &attributes) == 0);
    (void)pthread_mutexattr_destroy(&attributes);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
    sim_err_t result = SIM_OK;
    if (sqlite3_open_v2(path, &opened->database, flags, NULL) != SQLITE_OK) {
        result = fail(opened, path, message);
    }
    if (result == SIM_OK) {
        result = configure(opened, path, message);
    }
    if (result == SIM_OK) {
        result = check_levels(opened, path, rooms, message);
    }
    if (result == SIM_OK) {
        result = migrate(opened, path, rooms, message);
    }
    if (result != SIM_OK) {
        studio_store_close(opened);
        return result;
    }
    *store = opened;
    return SIM_OK;
}

void studio_store_close(studio_store_t *store)
{
    if (store != NULL) {
        (void)sqlite3_close_v2(store->database);
        (void)pthread_mutex_destroy(&store->lock);
        sim_free(store);
    }
}

sim_err_t studio_store_copy(studio_store_t *store, const char *target, sim_message_t *message)
{
    sqlite3 *copy = NULL;
    if (access(target, F_OK) == 0) {
        return sim_fail(message, SIM_ERR_EXISTS, "%s exists already, expected a new name", target);
    }
    int result = sqlite3_open_v2(target, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (result == SQLITE_OK) {
        SIM_CHECK(pthread_mutex_lock(&store->lock) == 0);
        sqlite3_backup *const backup = sqlite3_backup_init(copy, "main", store->database, "main");
        if (backup != NULL) {
            (void)sqlite3_backup_step(backup, -1);
            (void)sqlite3_backup_finish(backup);
        }
        SIM_CHECK(pthread_mutex_unlock(&store->lock) == 0);
        result = sqlite3_errcode(copy);
    }
    const sim_err_t failed =
        result == SQLITE_OK ? SIM_OK
                            : sim_fail(message, SIM_ERR_IO, "%s: %s", target, sqlite3_errmsg(copy));
    (void)sqlite3_close_v2(copy);
    return failed;
}
