// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/sql_table.c - the tables of runs as virtual tables of SQLite.
//
// The scan gets comparisons of a column with a value and skips blocks by them. SQLite checks each
// row again, so the scan may return too many rows.
#include "studio/server/data/query/sql_table.h"

#include "studio/server/data/text_buffer.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES_MAX 64u
#define CONDITIONS_MAX 8u

typedef struct table {
    sqlite3_vtab base; // SQLite's part, which must come first
    const studio_sources_t *sources;
    char *name;
    studio_scan_t *scan; // has the columns
} table_t;

typedef struct cursor {
    sqlite3_vtab_cursor base; // SQLite's part, which must come first
    const table_t *table;
    studio_scan_t *scan;
    studio_found_t found;
    size_t at;
    sqlite3_int64 number;
    bool ended;
} cursor_t;

static void put_name(studio_out_t *out, const char *name)
{
    studio_out_text(out, "\"");
    for (; *name != '\0'; name++) {
        studio_out_bytes(out, name, 1);
        if (*name == '"') {
            studio_out_bytes(out, name, 1);
        }
    }
    studio_out_text(out, "\"");
}

static int connect_table(sqlite3 *database, void *aux, int argument_count,
                         const char *const *arguments, sqlite3_vtab **result, char **message)
{
    const studio_sources_t *const sources = aux;
    SIM_CHECK(argument_count >= 3);
    studio_place_error_t error;
    studio_scan_t *scan = NULL;
    if (studio_scan_open(sources, arguments[2], &scan, &error) != SIM_OK) {
        *message = sqlite3_mprintf("%s", error.message.text);
        return SQLITE_ERROR;
    }
    studio_out_t text = {.bytes = NULL};
    studio_out_text(&text, "CREATE TABLE x(");
    for (size_t i = 0; i < studio_scan_column_count(scan); i++) {
        const studio_scan_column_t *const column = studio_scan_column(scan, i);
        studio_out_text(&text, i > 0 ? "," : "");
        put_name(&text, column->name);
        studio_out_text(&text, column->type == STUDIO_TEXT ? " TEXT" : " NUMERIC");
    }
    studio_out_text(&text, ")");
    const int code = sqlite3_declare_vtab(database, text.bytes);
    studio_out_fini(&text);
    if (code != SQLITE_OK) {
        studio_scan_close(scan);
        return code;
    }
    (void)sqlite3_vtab_config(database, SQLITE_VTAB_DIRECTONLY);
    table_t *const table = sim_alloc(sizeof(*table));
    table->sources = sources;
    table->name = sim_strdup(arguments[2]);
    table->scan = scan;
    *result = &table->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
    table_t *const table = (table_t *)base;
    studio_scan_close(table->scan);
    sim_free(table->name);
    sim_free(table);
    return SQLITE_OK;
}

static const char *op_name(unsigned char op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return "=";
    case SQLITE_INDEX_CONSTRAINT_GT:
        return ">";
    case SQLITE_INDEX_CONSTRAINT_GE:
        return ">=";
    case SQLITE_INDEX_CONSTRAINT_LT:
        return "<";
    case SQLITE_INDEX_CONSTRAINT_LE:
        return "<=";
    default:
        return NULL;
    }
}

// Describes the comparisons for filter_rows as a text of columns and operators: "3>=;0=;".
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const table_t *const table = (const table_t *)base;
    const double rows = (double)studio_scan_rows(table->scan);
    studio_out_t plan = {.bytes = NULL};
    int count = 0;
    double cost = rows;
    for (int i = 0; i < info->nConstraint && count < (int)CONDITIONS_MAX; i++) {
        const struct sqlite3_index_constraint *const constraint = &info->aConstraint[i];
        const char *const op = op_name(constraint->op);
        if (op == NULL || !constraint->usable || constraint->iColumn < 0) {
            continue;
        }
        info->aConstraintUsage[i].argvIndex = ++count;
        studio_out_format(&plan, "%d%s;", constraint->iColumn, op);
        cost /= op[0] == '=' ? 10 : 3;
    }
    // Each use of the table starts a new scan, which is never cheap.
    info->estimatedCost = rows * 0.5 + cost + 100;
    info->estimatedRows = cost < 1 ? 1 : (sqlite3_int64)cost;
    if (count > 0) {
        info->idxStr = sqlite3_mprintf("%s", plan.bytes);
        info->needToFreeIdxStr = 1;
    }
    studio_out_fini(&plan);
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result)
{
    cursor_t *const cursor = sim_alloc(sizeof(*cursor));
    cursor->table = (const table_t *)base;
    *result = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    cursor_t *const cursor = (cursor_t *)base;
    studio_scan_close(cursor->scan);
    sim_free(cursor);
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    cursor_t *const cursor = (cursor_t *)base;
    cursor->number++;
    if (++cursor->at >= cursor->found.count) {
        cursor->at = 0;
        cursor->ended = !studio_scan_next(cursor->scan, &cursor->found);
    }
    return SQLITE_OK;
}

// Comparisons with another type than the column's are left to SQLite.
static void add_condition(json_t *conditions, const studio_scan_column_t *column, const char *op,
                          sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    json_t *json = NULL;
    if (column->type == STUDIO_TEXT && type == SQLITE_TEXT) {
        json = json_string((const char *)sqlite3_value_text(value));
    } else if (column->type == STUDIO_NUMBER && type == SQLITE_INTEGER) {
        json = json_integer(sqlite3_value_int64(value));
    } else if (column->type == STUDIO_NUMBER && type == SQLITE_FLOAT) {
        json = json_real(sqlite3_value_double(value));
    }
    if (json != NULL) {
        json_array_append_new(conditions, json_pack("{s:s,s:s,s:o}", "column", column->name, "op",
                                                    op, "value", json));
    }
}

static int filter_rows(sqlite3_vtab_cursor *base, int number, const char *plan, int value_count,
                       sqlite3_value **values)
{
    cursor_t *const cursor = (cursor_t *)base;
    studio_place_error_t error;
    SIM_CHECK(number == 0);
    studio_scan_close(cursor->scan);
    cursor->scan = NULL;
    cursor->at = 0;
    cursor->number = 0;
    cursor->found = (studio_found_t){.rows = NULL};
    if (studio_scan_open(cursor->table->sources, cursor->table->name, &cursor->scan, &error) !=
        SIM_OK) {
        return SQLITE_IOERR;
    }
    json_t *const conditions = json_array();
    for (int i = 0; i < value_count && plan != NULL; i++) {
        char *end = NULL;
        const unsigned long column = strtoul(plan, &end, 10);
        const size_t size = strcspn(end, ";");
        char op[4] = "";
        (void)snprintf(op, sizeof(op), "%.*s", (int)SIM_MIN(size, 3), end);
        add_condition(conditions, studio_scan_column(cursor->scan, column), op, values[i]);
        plan = end + size + 1;
    }
    const sim_err_t code = studio_scan_filter(cursor->scan, conditions, &error);
    json_decref(conditions);
    if (code != SIM_OK) {
        return SQLITE_ERROR;
    }
    cursor->ended = !studio_scan_next(cursor->scan, &cursor->found);
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return ((const cursor_t *)base)->ended;
}

static int column_value(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const cursor_t *const cursor = (const cursor_t *)base;
    const uint64_t row = cursor->found.first_row + cursor->found.rows[cursor->at];
    const studio_cell_t cell =
        studio_scan_cell(cursor->scan, cursor->found.table, row, (size_t)column);
    if (cell.kind == STUDIO_CELL_TEXT) {
        // A materialised query may keep the text longer than the table lives, so it is copied.
        sqlite3_result_text(context, cell.text, -1, SQLITE_TRANSIENT);
    } else if (cell.kind == STUDIO_CELL_DECIMAL && cell.decimals == 0) {
        sqlite3_result_int64(context, cell.mantissa);
    } else if (cell.kind != STUDIO_CELL_MISSING) {
        sqlite3_result_double(context, cell.real);
    }
    return SQLITE_OK;
}

static int row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    *number = ((const cursor_t *)base)->number;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = connect_table,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter_rows,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = column_value,
    .xRowid = row_number,
};

static bool make_table(sqlite3 *database, const char *name)
{
    studio_out_t text = {.bytes = NULL};
    studio_out_text(&text, "CREATE VIRTUAL TABLE temp.");
    put_name(&text, name);
    studio_out_text(&text, " USING rocesim");
    const int code = sqlite3_exec(database, text.bytes, NULL, NULL, NULL);
    studio_out_fini(&text);
    return code == SQLITE_OK;
}

bool studio_sql_tables(sqlite3 *database, const studio_sources_t *sources)
{
    void *aux = NULL;
    memcpy(&aux, &sources, sizeof(aux)); // SQLite returns it unchanged
    if (sqlite3_create_module_v2(database, "rocesim", &module, aux, NULL) != SQLITE_OK) {
        return false;
    }
    char *names[TABLES_MAX];
    size_t count = 0;
    bool made = true;
    for (size_t i = 0; i < sources->count; i++) {
        DIR *const directory = opendir(sources->sources[i].index);
        const struct dirent *entry = NULL;
        while (directory != NULL && (entry = readdir(directory)) != NULL && count < TABLES_MAX) {
            const char *const end = strstr(entry->d_name, ".table");
            if (end == NULL || end == entry->d_name || end[6] != '\0') {
                continue;
            }
            char *const name = sim_format("%.*s", (int)(end - entry->d_name), entry->d_name);
            size_t j = 0;
            while (j < count && strcmp(names[j], name) != 0) {
                j++;
            }
            if (j == count) {
                names[count++] = name;
                made = made && make_table(database, name);
            } else {
                sim_free(name);
            }
        }
        if (directory != NULL) {
            (void)closedir(directory);
        }
    }
    sim_free_each(names, count);
    return made;
}
