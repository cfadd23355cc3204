// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/sql.c - runs one read-only SQL statement.
#include "studio/server/data/query/sql.h"

#include "studio/server/data/query/sql_table.h"
#include "studio/server/studio.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PIECE_BYTES 32768u
// These two bound how long a statement usually runs beyond its time limit: a step may scan a table,
// or apply a function to two long texts. Its process bounds it for certain.
#define STEPS_BETWEEN_LOOKS 500
#define VALUE_BYTES_MAX (1 << 17)

struct studio_sql {
    sqlite3 *database;
    sqlite3_stmt *statement;
    studio_format_t format;
    const studio_patience_t *patience;
    uint64_t limit;
    uint64_t written;
    size_t bytes;
    double began_s;
    uint64_t cpu_s;
    double deadline_s; // in processor time of the process
    bool begun;
    bool has_row;
    bool more;
    bool ended;
    bool failed;
    sim_message_t trouble;
};

// Returns whether a function is refused: those that reach outside, and those that make long texts
// from short statements.
static bool is_refused(const char *function)
{
    static const char *const refused[] = {"load_extension", "printf", "format", "zeroblob",
                                          "randomblob"};
    for (size_t i = 0; i < SIM_COUNT_OF(refused); i++) {
        if (strcmp(refused[i], function) == 0) {
            return true;
        }
    }
    return strncmp(function, "fts", 3) == 0;
}

// Authorizes the actions of a statement. This build of SQLite lacks the functions that reach
// outside; load_extension is refused by name.
static int authorize(void *ctx, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    (void)ctx;
    (void)first;
    (void)database;
    (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return second != NULL && is_refused(second) ? SQLITE_DENY : SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

// Returns the processor time of this process, in seconds.
static double cpu_seconds(void)
{
    struct timespec now;
    SIM_CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int look_at_clock(void *ctx)
{
    const studio_sql_t *const sql = ctx;
    return cpu_seconds() > sql->deadline_s || studio_is_over(sql->patience);
}

static void set_limits(sqlite3 *database)
{
    static const struct {
        int id;
        int value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
        {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 20},
        {SQLITE_LIMIT_VDBE_OP, 100000},
        {SQLITE_LIMIT_FUNCTION_ARG, 32},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(limits); i++) {
        (void)sqlite3_limit(database, limits[i].id, limits[i].value);
    }
}

static sim_err_t fail(studio_sql_t *sql, const char *text, studio_place_error_t *error)
{
    const int at = sqlite3_error_offset(sql->database);
    error->column = 0;
    if (at >= 0) {
        error->column = 1;
        for (int i = 0; i < at && text[i] != '\0'; i++) {
            error->column += ((uint8_t)text[i] & 0xc0) != 0x80;
        }
    }
    const int code = sqlite3_errcode(sql->database);
    if (code == SQLITE_AUTH) {
        return sim_fail(&error->message, SIM_ERR_INVALID,
                        "the statement may only read, expected SELECT: %s",
                        sqlite3_errmsg(sql->database));
    }
    if (code == SQLITE_INTERRUPT) {
        return sim_fail(&error->message, SIM_ERR_RANGE,
                        "stopped after %" PRIu64
                        " seconds of processor time; narrow the statement down or ask "
                        "for fewer rows",
                        sql->cpu_s);
    }
    return sim_fail(&error->message, SIM_ERR_INVALID, "%s", sqlite3_errmsg(sql->database));
}

static sim_err_t prepare(studio_sql_t *sql, const studio_sources_t *sources, const char *text,
                         studio_place_error_t *error)
{
    if (sqlite3_open_v2(":memory:", &sql->database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_PRIVATECACHE,
                        NULL) != SQLITE_OK ||
        !studio_sql_tables(sql->database, sources)) {
        return sim_fail(&error->message, SIM_ERR_IO, "the tables cannot be opened: %s",
                        sqlite3_errmsg(sql->database));
    }
    set_limits(sql->database);
    (void)sqlite3_db_config(sql->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(sql->database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    (void)sqlite3_set_authorizer(sql->database, authorize, NULL);
    sqlite3_progress_handler(sql->database, STEPS_BETWEEN_LOOKS, look_at_clock, sql);
    const char *rest = NULL;
    if (sqlite3_prepare_v2(sql->database, text, -1, &sql->statement, &rest) != SQLITE_OK) {
        return fail(sql, text, error);
    }
    if (sql->statement == NULL) {
        return sim_fail(&error->message, SIM_ERR_INVALID, "there is no statement, expected SELECT");
    }
    if (rest[strspn(rest, " \t\r\n;")] != '\0') {
        error->column = (size_t)(rest - text) + 1;
        return sim_fail(&error->message, SIM_ERR_INVALID,
                        "there is more than one statement, expected one SELECT");
    }
    if (sqlite3_stmt_readonly(sql->statement) == 0 || sqlite3_column_count(sql->statement) == 0) {
        return sim_fail(&error->message, SIM_ERR_INVALID,
                        "the statement may only read, expected SELECT");
    }
    return SIM_OK;
}

sim_err_t studio_sql_open(const studio_sources_t *sources, const char *text, uint64_t limit,
                          uint64_t cpu_s, studio_format_t format, const studio_patience_t *patience,
                          studio_sql_t **result, studio_place_error_t *error)
{
    *result = NULL;
    *error = (studio_place_error_t){.column = 0};
    studio_sql_t *const sql = sim_alloc(sizeof(*sql));
    const uint64_t most = format == STUDIO_JSON ? STUDIO_JSON_ROWS_MAX : STUDIO_SQL_ROWS_MAX;
    const uint64_t usual = format == STUDIO_JSON ? 1000 : most;
    sql->format = format;
    sql->patience = patience;
    sql->limit = limit == 0 ? usual : SIM_MIN(limit, most);
    sql->began_s = studio_seconds();
    sql->cpu_s = cpu_s;
    sql->deadline_s = cpu_seconds() + (double)cpu_s;
    const sim_err_t code = prepare(sql, sources, text, error);
    if (code != SIM_OK) {
        studio_sql_close(sql);
        return code;
    }
    *result = sql;
    return SIM_OK;
}

void studio_sql_close(studio_sql_t *sql)
{
    if (sql != NULL) {
        (void)sqlite3_finalize(sql->statement);
        (void)sqlite3_close(sql->database);
        sim_free(sql);
    }
}

bool studio_sql_failed(const studio_sql_t *sql)
{
    return sql->failed;
}

static void step(studio_sql_t *sql)
{
    SIM_CHECK(sql->statement != NULL && !sql->failed);
    const int code = sqlite3_step(sql->statement);
    sql->has_row = code == SQLITE_ROW;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        studio_place_error_t error = {.column = 0};
        sql->failed = true;
        (void)fail(sql, "", &error);
        sql->trouble = error.message;
    }
}

sim_err_t studio_sql_begin(studio_sql_t *sql, studio_place_error_t *error)
{
    step(sql);
    if (sql->failed) {
        *error = (studio_place_error_t){.column = 0, .message = sql->trouble};
        return SIM_ERR_INVALID;
    }
    return SIM_OK;
}

static void write_head(const studio_sql_t *sql, studio_out_t *out)
{
    const int count = sqlite3_column_count(sql->statement);
    studio_out_text(out, sql->format == STUDIO_JSON ? "{\"columns\":[" : "");
    for (int i = 0; i < count && sql->format != STUDIO_NDJSON; i++) {
        const char *const name = sqlite3_column_name(sql->statement, i);
        studio_out_text(out, i > 0 ? "," : "");
        if (sql->format == STUDIO_CSV) {
            studio_out_csv(out, name);
        } else {
            studio_out_text(out, "{\"name\":");
            studio_out_json(out, name);
            studio_out_text(out, "}");
        }
    }
    studio_out_text(out, sql->format == STUDIO_JSON  ? "],\"rows\":["
                         : sql->format == STUDIO_CSV ? "\n"
                                                     : "");
}

static void write_value(const studio_sql_t *sql, int column, studio_out_t *out)
{
    const bool csv = sql->format == STUDIO_CSV;
    const char *text = NULL;
    switch (sqlite3_column_type(sql->statement, column)) {
    case SQLITE_INTEGER:
        studio_out_format(out, "%lld", (long long)sqlite3_column_int64(sql->statement, column));
        break;
    case SQLITE_FLOAT:
        studio_out_real(out, sqlite3_column_double(sql->statement, column), csv);
        break;
    case SQLITE_TEXT:
        text = (const char *)sqlite3_column_text(sql->statement, column);
        if (csv) {
            studio_out_csv(out, text != NULL ? text : "");
        } else {
            studio_out_json(out, text != NULL ? text : "");
        }
        break;
    default: // blobs are not shown
        studio_out_text(out, csv ? "" : "null");
        break;
    }
}

static void write_row(const studio_sql_t *sql, studio_out_t *out)
{
    const bool named = sql->format == STUDIO_NDJSON;
    if (sql->format != STUDIO_CSV) {
        studio_out_text(out, named ? "{" : sql->written > 0 ? ",\n[" : "\n[");
    }
    for (int i = 0; i < sqlite3_column_count(sql->statement); i++) {
        studio_out_text(out, i > 0 ? "," : "");
        if (named) {
            studio_out_json(out, sqlite3_column_name(sql->statement, i));
            studio_out_text(out, ":");
        }
        write_value(sql, i, out);
    }
    studio_out_text(out, sql->format == STUDIO_CSV ? "\n" : named ? "}\n" : "]");
}

bool studio_sql_write(studio_sql_t *sql, studio_out_t *out)
{
    if (sql->ended) {
        return false;
    }
    const size_t from = out->size;
    if (!sql->begun) {
        sql->begun = true;
        write_head(sql, out);
    }
    while (sql->has_row && out->size - from < PIECE_BYTES && !sql->more) {
        if (sql->written >= sql->limit ||
            sql->bytes + (out->size - from) > STUDIO_SQL_ANSWER_BYTES_MAX) {
            sql->more = true;
            break;
        }
        write_row(sql, out);
        sql->written++;
        step(sql);
    }
    sql->bytes += out->size - from;
    sql->ended = !sql->has_row || sql->more;
    if (sql->ended && sql->format == STUDIO_JSON) {
        studio_out_format(out, "],\"more\":%s", sql->more ? "true" : "false");
        if (sql->failed) {
            studio_out_text(out, ",\"error\":{\"message\":");
            studio_out_json(out, sql->trouble.text);
            studio_out_text(out, "}");
        }
        studio_out_format(out, ",\"seconds\":%.6f}\n", studio_seconds() - sql->began_s);
    }
    return true;
}
