// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/rows.c - streams the rows of a table.
//
// Without an order, rows are written as the scan finds them. With an order, a heap keeps the first
// limit + offset rows during the scan, so memory depends only on the rows asked for.
#include "studio/server/data/query/query.h"

#include "kernel/heap.h"
#include "studio/server/studio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE_BYTES 32768u
#define COLUMNS_ASKED_MAX 256u

// A row that may be among the first ones.
typedef struct ranked {
    studio_slot_t keys[STUDIO_ORDER_MAX];
    uint32_t table;
    uint64_t row;
} ranked_t;

typedef struct order {
    size_t column;
    bool descending;
    bool text;
} order_t;

struct studio_query {
    studio_scan_t *scan;
    studio_format_t format;
    const studio_patience_t *patience;
    size_t *columns;
    size_t column_count;
    order_t orders[STUDIO_ORDER_MAX];
    size_t order_count;
    uint64_t limit;
    uint64_t offset;
    ranked_t *ranked;
    size_t ranked_count;
    size_t ranked_capacity;
    size_t ranked_at;
    studio_found_t found;
    size_t found_at;
    uint64_t matched;
    uint64_t skipped;
    uint64_t written;
    bool begun;
    bool ended;
    bool sorted;
    double began_s;
};

bool studio_format_find(const char *name, studio_format_t *format)
{
    static const char *const names[] = {"json", "csv", "ndjson"};
    *format = STUDIO_JSON;
    for (size_t i = 0; name != NULL && i < SIM_COUNT_OF(names); i++) {
        if (strcmp(names[i], name) == 0) {
            *format = (studio_format_t)i;
            return true;
        }
    }
    return name == NULL;
}

const char *studio_format_type(studio_format_t format)
{
    return format == STUDIO_CSV      ? "text/csv; charset=utf-8"
           : format == STUDIO_NDJSON ? "application/x-ndjson"
                                     : "application/json";
}

// -- what is asked for

static sim_err_t take_columns(studio_query_t *query, const json_t *names,
                              studio_place_error_t *error)
{
    const size_t all = studio_scan_column_count(query->scan);
    const size_t count = json_is_array(names) ? json_array_size(names) : 0;
    if (count > COLUMNS_ASKED_MAX) {
        return sim_fail(&error->message, SIM_ERR_INVALID, "the query names more than 256 columns");
    }
    query->columns = sim_alloc_array(count > 0 ? count : all, sizeof(*query->columns));
    for (size_t i = 0; i < count; i++) {
        const char *const name = json_string_value(json_array_get(names, i));
        const size_t column = name != NULL ? studio_scan_find(query->scan, name) : all;
        if (column == all) {
            return sim_fail(&error->message, SIM_ERR_UNKNOWN, "the table has no column '%.60s'",
                            name != NULL ? name : "");
        }
        query->columns[query->column_count++] = column;
    }
    // The column `run` is shown only for several runs, unless the query asks for it.
    const bool one = studio_scan_table_count(query->scan) == 1;
    for (size_t i = 0; count == 0 && i < all; i++) {
        const char *const name = studio_scan_column(query->scan, i)->name;
        if (!one || (strcmp(name, "run") != 0 && strcmp(name, "run_name") != 0)) {
            query->columns[query->column_count++] = i;
        }
    }
    return SIM_OK;
}

static sim_err_t take_order(studio_query_t *query, const json_t *orders,
                            studio_place_error_t *error)
{
    for (size_t i = 0; i < json_array_size(orders); i++) {
        const json_t *const row = json_array_get(orders, i);
        const char *const name = json_string_value(json_object_get(row, "column"));
        const size_t column = name != NULL ? studio_scan_find(query->scan, name)
                                           : studio_scan_column_count(query->scan);
        if (i == STUDIO_ORDER_MAX || column == studio_scan_column_count(query->scan)) {
            return sim_fail(&error->message, SIM_ERR_UNKNOWN,
                            i == STUDIO_ORDER_MAX ? "order: expected at most 4 columns%.0s"
                                                  : "order: the table has no column '%.60s'",
                            name != NULL ? name : "");
        }
        query->orders[query->order_count++] =
            (order_t){column, json_is_true(json_object_get(row, "descending")),
                      studio_scan_column(query->scan, column)->type == STUDIO_TEXT};
    }
    return SIM_OK;
}

static bool take_count(const json_t *body, const char *key, uint64_t otherwise, uint64_t *count)
{
    const json_t *const value = json_object_get(body, key);
    *count = otherwise;
    if (value == NULL || json_is_null(value)) {
        return true;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return false;
    }
    *count = (uint64_t)json_integer_value(value);
    return true;
}

static double number_or_nan(const json_t *body, const char *key)
{
    const json_t *const value = json_object_get(body, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static sim_err_t take_filters(studio_query_t *query, const json_t *body,
                              studio_place_error_t *error)
{
    sim_err_t code = studio_scan_filter(query->scan, json_object_get(body, "filter"), error);
    const char *const where = json_string_value(json_object_get(body, "where"));
    if (code == SIM_OK && where != NULL && where[strspn(where, " \t\n")] != '\0') {
        code = studio_scan_where(query->scan, where, error);
    }
    if (code == SIM_OK) {
        code = studio_scan_range(query->scan, number_or_nan(body, "from_ns"),
                                 number_or_nan(body, "to_ns"), error);
    }
    return code;
}

sim_err_t studio_query_open(const studio_sources_t *sources, const json_t *body,
                            studio_format_t format, const studio_patience_t *patience,
                            studio_query_t **result, studio_place_error_t *error)
{
    *result = NULL;
    *error = (studio_place_error_t){.column = 0};
    const char *const table = json_string_value(json_object_get(body, "table"));
    if (table == NULL) {
        return sim_fail(&error->message, SIM_ERR_INVALID, "table: expected the name of a table");
    }
    studio_query_t *const query = sim_alloc(sizeof(*query));
    query->format = format;
    query->patience = patience;
    query->began_s = studio_seconds();
    sim_err_t code = studio_scan_open(sources, table, &query->scan, error);
    if (code == SIM_OK) {
        code = take_columns(query, json_object_get(body, "columns"), error);
    }
    if (code == SIM_OK) {
        code = take_order(query, json_object_get(body, "order"), error);
    }
    if (code == SIM_OK) {
        code = take_filters(query, body, error);
    }
    const uint64_t otherwise = format == STUDIO_JSON ? 100 : UINT64_MAX / 4;
    if (code == SIM_OK &&
        (!take_count(body, "limit", otherwise, &query->limit) ||
         !take_count(body, "offset", 0, &query->offset) || query->offset > UINT64_MAX / 4)) {
        code = sim_fail(&error->message, SIM_ERR_INVALID,
                        "limit and offset: expected whole numbers from 0 on");
    }
    if (code == SIM_OK && format == STUDIO_JSON && query->limit > STUDIO_JSON_ROWS_MAX) {
        code = sim_fail(&error->message, SIM_ERR_RANGE,
                        "limit: expected at most 10000 rows as json; csv and ndjson have no limit");
    }
    if (code != SIM_OK) {
        studio_query_close(query);
        return code;
    }
    *result = query;
    return SIM_OK;
}

void studio_query_close(studio_query_t *query)
{
    if (query == NULL) {
        return;
    }
    studio_scan_close(query->scan);
    SIM_FREE_ALL(query->columns, query->ranked, query);
}

// -- the order

// Compares two rows by their keys; missing values come last, equal rows in the order of the table.
static int compare_keys(const studio_query_t *query, const ranked_t *a, const ranked_t *b)
{
    for (size_t i = 0; i < query->order_count; i++) {
        const order_t *const order = &query->orders[i];
        int result = 0;
        bool a_missing = false;
        bool b_missing = false;
        if (order->text) {
            a_missing = a->keys[i].text == NULL;
            b_missing = b->keys[i].text == NULL;
            result = a_missing || b_missing || a->keys[i].text == b->keys[i].text
                         ? 0
                         : strcmp(a->keys[i].text, b->keys[i].text);
        } else {
            const double x = a->keys[i].number;
            const double y = b->keys[i].number;
            a_missing = isnan(x) != 0;
            b_missing = isnan(y) != 0;
            result = (x > y) - (x < y);
        }
        if (a_missing != b_missing) {
            return a_missing ? 1 : -1;
        }
        if (result != 0) {
            return order->descending ? -result : result;
        }
    }
    return 2 * SIM_COMPARE(a->table, b->table) + SIM_COMPARE(a->row, b->row);
}

// The heap's first row is the last one in order, which a better row replaces.
static bool is_worse(const void *a, const void *b, const void *query)
{
    return compare_keys(query, a, b) > 0;
}

static const sim_heap_order_t worst_first = {sizeof(ranked_t), is_worse, NULL};

static void rank(studio_query_t *query, const ranked_t *row, size_t most)
{
    if (query->ranked_count < most) {
        SIM_APPEND(query->ranked, query->ranked_count, query->ranked_capacity, *row);
        sim_heap_push(&worst_first, query, query->ranked, query->ranked_count);
    } else if (most > 0 && compare_keys(query, row, &query->ranked[0]) < 0) {
        query->ranked[0] = *row;
        sim_heap_update(&worst_first, query, query->ranked, query->ranked_count, 0);
    }
}

static void rank_all(studio_query_t *query)
{
    const size_t orders = query->order_count;
    const uint64_t wanted = query->limit + query->offset;
    const size_t most = wanted < STUDIO_ORDERED_ROWS_MAX ? (size_t)wanted : STUDIO_ORDERED_ROWS_MAX;
    studio_slot_t *values[STUDIO_ORDER_MAX] = {NULL};
    for (size_t i = 0; i < orders; i++) {
        values[i] = sim_alloc_array(STUDIO_BLOCK_ROWS, sizeof(studio_slot_t));
    }
    studio_found_t found = {.rows = NULL};
    while (!studio_is_over(query->patience) && studio_scan_next(query->scan, &found)) {
        query->matched += found.count;
        for (size_t i = 0; i < orders; i++) {
            studio_scan_values(query->scan, &found, query->orders[i].column, 0, found.count,
                               values[i]);
        }
        for (size_t i = 0; i < found.count; i++) {
            ranked_t row = {.table = (uint32_t)found.table, .row = found.first_row + found.rows[i]};
            for (size_t j = 0; j < orders; j++) {
                row.keys[j] = values[j][i];
            }
            rank(query, &row, most);
        }
    }
    sim_free_each(values, orders);
    SIM_CHECK(query->ranked_count <= most && query->ranked_count <= query->matched);
    for (size_t count = query->ranked_count; count > 1; count--) {
        sim_heap_pop(&worst_first, query, query->ranked, count, 0); // sorts: moves it to the end
    }
    query->sorted = true;
}

// -- rows

// Returns the next row of the answer; false if there are no more.
static bool next_row(studio_query_t *query, size_t *table, uint64_t *row)
{
    if (query->order_count > 0) {
        if (!query->sorted) {
            rank_all(query);
            query->ranked_at =
                query->offset < query->ranked_count ? (size_t)query->offset : query->ranked_count;
        }
        if (query->ranked_at == query->ranked_count) {
            return false;
        }
        *table = query->ranked[query->ranked_at].table;
        *row = query->ranked[query->ranked_at++].row;
        return true;
    }
    for (;;) {
        SIM_CHECK(query->found_at <= query->found.count && query->skipped <= query->offset);
        if (query->found_at == query->found.count) {
            query->found_at = 0;
            if (studio_is_over(query->patience) || !studio_scan_next(query->scan, &query->found)) {
                return false;
            }
            query->matched += query->found.count;
        }
        if (query->skipped < query->offset) {
            const uint64_t left = query->found.count - query->found_at;
            const uint64_t skip = query->offset - query->skipped;
            query->found_at += (size_t)SIM_MIN(skip, left);
            query->skipped += SIM_MIN(skip, left);
            continue;
        }
        *table = query->found.table;
        *row = query->found.first_row + query->found.rows[query->found_at++];
        return true;
    }
}

static void write_row(const studio_query_t *query, size_t table, uint64_t row, studio_out_t *out)
{
    const bool csv = query->format == STUDIO_CSV;
    const bool named = query->format == STUDIO_NDJSON;
    if (!csv) {
        studio_out_text(out, named ? "{" : query->written > 0 ? ",\n[" : "\n[");
    }
    for (size_t i = 0; i < query->column_count; i++) {
        const studio_cell_t cell = studio_scan_cell(query->scan, table, row, query->columns[i]);
        if (i > 0) {
            studio_out_text(out, ",");
        }
        if (named) {
            studio_out_json(out, studio_scan_column(query->scan, query->columns[i])->name);
            studio_out_text(out, ":");
        }
        studio_out_cell(out, &cell, csv);
    }
    studio_out_text(out, csv ? "\n" : named ? "}\n" : "]");
}

static void write_head(const studio_query_t *query, studio_out_t *out)
{
    if (query->format == STUDIO_NDJSON) {
        return;
    }
    if (query->format == STUDIO_JSON) {
        studio_out_text(out, "{\"columns\":[");
    }
    for (size_t i = 0; i < query->column_count; i++) {
        const studio_scan_column_t *const column =
            studio_scan_column(query->scan, query->columns[i]);
        studio_out_text(out, i > 0 ? "," : "");
        if (query->format == STUDIO_CSV) {
            studio_out_csv(out, column->name);
        } else {
            studio_out_text(out, "{\"name\":");
            studio_out_json(out, column->name);
            studio_out_format(out, ",\"type\":\"%s\",\"unit\":", studio_type_name(column->type));
            studio_out_json(out, column->unit);
            studio_out_text(out, "}");
        }
    }
    studio_out_text(out, query->format == STUDIO_CSV ? "\n" : "],\"rows\":[");
}

// Counts the rest of the matching rows.
static void count_rest(studio_query_t *query)
{
    while (query->order_count == 0 && !studio_is_over(query->patience) &&
           studio_scan_next(query->scan, &query->found)) {
        query->matched += query->found.count;
    }
}

bool studio_query_write(studio_query_t *query, studio_out_t *out)
{
    if (query->ended) {
        return false;
    }
    if (!query->begun) {
        write_head(query, out);
        query->begun = true;
    }
    const size_t from = out->size;
    size_t table = 0;
    uint64_t row = 0;
    while (query->written < query->limit && out->size - from < PIECE_BYTES) {
        if (!next_row(query, &table, &row)) {
            query->ended = true;
            break;
        }
        write_row(query, table, row, out);
        query->written++;
    }
    query->ended = query->ended || query->written >= query->limit;
    if (query->ended && query->format == STUDIO_JSON) {
        if (query->limit == 0 && query->order_count > 0 && !query->sorted) {
            rank_all(query);
        }
        count_rest(query);
        studio_out_format(
            out, "],\"matched\":%" PRIu64 ",\"scanned\":%" PRIu64 ",\"seconds\":%.6f}\n",
            query->matched, studio_scan_rows(query->scan), studio_seconds() - query->began_s);
    }
    return true;
}
