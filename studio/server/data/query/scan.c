// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/scan.c - scans one table of several runs, block by block.
#include "studio/server/data/query/scan.h"
#include "studio/server/data/query/scan_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void studio_sources_add(studio_sources_t *sources, int64_t run, const char *name,
                        const char *result, const char *index)
{
    SIM_APPEND(sources->sources, sources->count, sources->capacity,
               (studio_source_t){run, sim_strdup(name), sim_strdup(result), sim_strdup(index)});
}

void studio_sources_fini(studio_sources_t *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        SIM_FREE_ALL(sources->sources[i].name, sources->sources[i].result,
                     sources->sources[i].index);
    }
    sim_free(sources->sources);
    *sources = (studio_sources_t){.sources = NULL};
}

size_t studio_scan_column_count(const studio_scan_t *scan)
{
    return scan->column_count;
}

const studio_scan_column_t *studio_scan_column(const studio_scan_t *scan, size_t column)
{
    return &scan->columns[column];
}

size_t studio_scan_find(const studio_scan_t *scan, const char *name)
{
    size_t i = 0;
    while (i < scan->column_count && strcmp(scan->columns[i].name, name) != 0) {
        i++;
    }
    return i;
}

size_t studio_scan_table_count(const studio_scan_t *scan)
{
    return scan->table_count;
}

uint64_t studio_scan_rows(const studio_scan_t *scan)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < scan->table_count; i++) {
        sum += scan->tables[i].table->row_count;
    }
    return sum;
}

static void add_column(studio_scan_t *scan, const char *name, const char *unit, const char *help,
                       studio_type_t type)
{
    SIM_APPEND(scan->columns, scan->column_count, scan->column_capacity,
               (studio_scan_column_t){name, unit, help, type});
}

// Joins the columns of all runs; a column must not be numeric in one run and text in another.
static sim_err_t join_columns(studio_scan_t *scan, studio_place_error_t *error)
{
    for (size_t i = 0; i < scan->table_count; i++) {
        const studio_table_t *const table = scan->tables[i].table;
        for (size_t j = 0; j < table->column_count; j++) {
            const studio_column_spec_t *const spec = &table->columns[j].spec;
            const size_t have = studio_scan_find(scan, spec->name);
            if (have == scan->column_count) {
                add_column(scan, spec->name, spec->unit, spec->help, spec->type);
            } else if (scan->columns[have].type != spec->type) {
                return sim_fail(&error->message, SIM_ERR_INVALID,
                                "the column %s of %s has numbers in one run and texts in another",
                                spec->name, scan->name);
            }
        }
    }
    if (studio_scan_find(scan, "run") == scan->column_count) {
        add_column(scan, "run", "", "number of the run", STUDIO_NUMBER);
    }
    if (studio_scan_find(scan, "run_name") == scan->column_count) {
        add_column(scan, "run_name", "", "name of the run", STUDIO_TEXT);
    }
    for (size_t i = 0; i < scan->table_count; i++) {
        scan->tables[i].places = sim_alloc_array(scan->column_count, sizeof(size_t));
        for (size_t j = 0; j < scan->column_count; j++) {
            const size_t place = studio_table_find(scan->tables[i].table, scan->columns[j].name);
            scan->tables[i].places[j] =
                place < scan->tables[i].table->column_count ? place : STUDIO_NO_COLUMN;
        }
    }
    return SIM_OK;
}

static bool is_table_name(const char *name)
{
    return name[0] != '\0' && strlen(name) < 100 && strchr(name, '/') == NULL && name[0] != '.';
}

static sim_err_t open_tables(studio_scan_t *scan, const studio_sources_t *sources,
                             studio_place_error_t *error)
{
    scan->tables = sim_alloc_array(sources->count, sizeof(*scan->tables));
    for (size_t i = 0; i < sources->count; i++) {
        char *const path = sim_format("%s/%s.table", sources->sources[i].index, scan->name);
        studio_table_t *table = NULL;
        sim_err_t result = SIM_OK;
        if (access(path, F_OK) == 0) {
            result = studio_table_open(path, &table, &error->message);
        }
        sim_free(path);
        if (result != SIM_OK) {
            return result;
        }
        if (table != NULL) {
            scan->tables[scan->table_count++] =
                (studio_scan_table_t){.table = table, .source = &sources->sources[i]};
        }
    }
    if (scan->table_count == 0) {
        return sim_fail(
            &error->message, SIM_ERR_UNKNOWN,
            "none of these runs has a table '%.40s'; GET runs/ID/tables lists the tables",
            scan->name);
    }
    return SIM_OK;
}

sim_err_t studio_scan_open(const studio_sources_t *sources, const char *table,
                           studio_scan_t **result, studio_place_error_t *error)
{
    *result = NULL;
    *error = (studio_place_error_t){.column = 0};
    if (!is_table_name(table)) {
        return sim_fail(&error->message, SIM_ERR_UNKNOWN,
                        "the name of the table contains a character that is not allowed");
    }
    studio_scan_t *const scan = sim_alloc(sizeof(*scan));
    scan->name = sim_strdup(table);
    sim_err_t code = open_tables(scan, sources, error);
    if (code == SIM_OK) {
        code = join_columns(scan, error);
    }
    if (code != SIM_OK) {
        studio_scan_close(scan);
        return code;
    }
    scan->numbers = sim_alloc_array(scan->column_count, sizeof(*scan->numbers));
    scan->ids = sim_alloc_array(scan->column_count, sizeof(*scan->ids));
    scan->slots = sim_alloc_array(scan->column_count, sizeof(*scan->slots));
    scan->decoded = sim_alloc(scan->column_count);
    scan->mask = sim_alloc(STUDIO_BLOCK_ROWS);
    scan->group_mask = sim_alloc(STUDIO_BLOCK_ROWS);
    scan->rows = sim_alloc_array(STUDIO_BLOCK_ROWS, sizeof(*scan->rows));
    *result = scan;
    return SIM_OK;
}

void studio_scan_close(studio_scan_t *scan)
{
    if (scan == NULL) {
        return;
    }
    for (size_t i = 0; i < scan->condition_count; i++) {
        studio__condition_fini(scan, &scan->conditions[i]);
    }
    for (size_t i = 0; i < scan->where_count; i++) {
        studio_expression_destroy(scan->wheres[i]);
    }
    for (size_t i = 0; i < scan->table_count; i++) {
        studio_table_close(scan->tables[i].table);
        sim_free(scan->tables[i].places);
    }
    for (size_t i = 0; scan->slots != NULL && i < scan->column_count; i++) {
        SIM_FREE_ALL(scan->numbers[i], scan->ids[i], scan->slots[i]);
    }
    SIM_FREE_ALL(scan->numbers, scan->ids, scan->slots, scan->decoded, scan->mask, scan->group_mask,
                 scan->rows, scan->tables, scan->columns, scan->name, scan);
}

sim_err_t studio_scan_where(studio_scan_t *scan, const char *expression,
                            studio_place_error_t *error)
{
    *error = (studio_place_error_t){.column = 0};
    if (scan->where_count == STUDIO_CONDITIONS_MAX) {
        return sim_fail(&error->message, SIM_ERR_INVALID,
                        "the filter has more than 64 expressions");
    }
    studio_variable_t *const variables = sim_alloc_array(scan->column_count, sizeof(*variables));
    for (size_t i = 0; i < scan->column_count; i++) {
        variables[i] = (studio_variable_t){scan->columns[i].name, scan->columns[i].unit,
                                           scan->columns[i].type};
    }
    studio_expression_t *const parsed =
        studio_expression_parse(expression, variables, scan->column_count, error);
    sim_free(variables);
    if (parsed == NULL) {
        return SIM_ERR_INVALID;
    }
    if (studio_expression_type(parsed) != STUDIO_BOOL) {
        error->column = 1;
        const char *const type = studio_type_name(studio_expression_type(parsed));
        studio_expression_destroy(parsed);
        return sim_fail(&error->message, SIM_ERR_INVALID,
                        "the expression is a %s, expected a condition such as fct_ns > 10us", type);
    }
    scan->wheres[scan->where_count++] = parsed;
    return SIM_OK;
}

sim_err_t studio_scan_range(studio_scan_t *scan, double from_ns, double to_ns,
                            studio_place_error_t *error)
{
    if (isnan(from_ns) && isnan(to_ns)) {
        return SIM_OK;
    }
    *error = (studio_place_error_t){.column = 0};
    if (from_ns > to_ns) {
        return sim_fail(&error->message, SIM_ERR_RANGE, "from_ns is after to_ns");
    }
    scan->from_column = studio_scan_find(scan, "time_ns");
    scan->to_column = scan->from_column;
    if (scan->from_column == scan->column_count) {
        scan->from_column = studio_scan_find(scan, "start_ns");
        scan->to_column = studio_scan_find(scan, "end_ns");
    }
    if (scan->from_column == scan->column_count || scan->to_column == scan->column_count ||
        scan->columns[scan->from_column].type != STUDIO_NUMBER ||
        scan->columns[scan->to_column].type != STUDIO_NUMBER) {
        return sim_fail(&error->message, SIM_ERR_INVALID,
                        "the table %s has no column of time, so no range can be given", scan->name);
    }
    scan->has_range = true;
    scan->from_ns = isnan(from_ns) ? -(double)INFINITY : from_ns;
    scan->to_ns = isnan(to_ns) ? (double)INFINITY : to_ns;
    return SIM_OK;
}

// -- blocks

static const studio_scan_table_t *current(const studio_scan_t *scan)
{
    return &scan->tables[scan->table];
}

const double *studio__scan_numbers(studio_scan_t *scan, size_t column)
{
    const size_t place = current(scan)->places[column];
    if (scan->numbers[column] == NULL) {
        scan->numbers[column] = sim_alloc_array(STUDIO_BLOCK_ROWS, sizeof(double));
    }
    double *const numbers = scan->numbers[column];
    if (scan->decoded[column]) {
        return numbers;
    }
    scan->decoded[column] = 1;
    if (place != STUDIO_NO_COLUMN) {
        studio_table_numbers(current(scan)->table, place, scan->block, numbers);
        return numbers;
    }
    const bool is_run = strcmp(scan->columns[column].name, "run") == 0;
    for (size_t i = 0; i < STUDIO_BLOCK_ROWS; i++) {
        numbers[i] = is_run ? (double)current(scan)->source->run : (double)NAN;
    }
    return numbers;
}

const uint32_t *studio__scan_ids(studio_scan_t *scan, size_t column)
{
    const size_t place = current(scan)->places[column];
    if (scan->ids[column] == NULL) {
        scan->ids[column] = sim_alloc_array(STUDIO_BLOCK_ROWS, sizeof(uint32_t));
    }
    if (place == STUDIO_NO_COLUMN) {
        return NULL;
    }
    if (!scan->decoded[column]) {
        scan->decoded[column] = 1;
        studio_table_texts(current(scan)->table, place, scan->block, scan->ids[column]);
    }
    return scan->ids[column];
}

static const char *constant_text(const studio_scan_t *scan, size_t table, size_t column)
{
    return strcmp(scan->columns[column].name, "run_name") == 0 ? scan->tables[table].source->name
                                                               : NULL;
}

static void range_apply(studio_scan_t *scan, size_t rows)
{
    const double *const from = studio__scan_numbers(scan, scan->from_column);
    for (size_t i = 0; i < rows; i++) {
        scan->mask[i] &= from[i] <= scan->to_ns;
    }
    const double *const to = studio__scan_numbers(scan, scan->to_column);
    for (size_t i = 0; i < rows; i++) {
        // A flow without an end is still alive.
        scan->mask[i] &= !(to[i] < scan->from_ns);
    }
}

static bool range_may_hold(const studio_scan_t *scan)
{
    const studio_scan_table_t *const table = current(scan);
    const size_t from = table->places[scan->from_column];
    const size_t to = table->places[scan->to_column];
    if (from == STUDIO_NO_COLUMN || to == STUDIO_NO_COLUMN) {
        return false;
    }
    const studio_block_t *const begin = &table->table->columns[from].blocks[scan->block];
    const studio_block_t *const end = &table->table->columns[to].blocks[scan->block];
    return !(begin->least > scan->to_ns) && (end->missing > 0 || !(end->most < scan->from_ns));
}

static void load_slots(studio_scan_t *scan, size_t column, size_t first, size_t count)
{
    if (scan->slots[column] == NULL) {
        scan->slots[column] = sim_alloc_array(STUDIO_BATCH_ROWS, sizeof(studio_slot_t));
    }
    studio_slot_t *const slots = scan->slots[column];
    if (scan->columns[column].type == STUDIO_NUMBER) {
        const double *const numbers = studio__scan_numbers(scan, column);
        for (size_t i = 0; i < count; i++) {
            slots[i].number = numbers[first + i];
        }
        return;
    }
    const uint32_t *const ids = studio__scan_ids(scan, column);
    const size_t place = current(scan)->places[column];
    for (size_t i = 0; i < count; i++) {
        slots[i].text = ids != NULL ? studio_table_text(current(scan)->table, place, ids[first + i])
                                    : constant_text(scan, scan->table, column);
    }
}

static void where_apply(studio_scan_t *scan, studio_expression_t *where, size_t rows)
{
    studio_slot_t *const out = sim_alloc_array(STUDIO_BATCH_ROWS, sizeof(*out));
    for (size_t first = 0; first < rows; first += STUDIO_BATCH_ROWS) {
        const size_t count = SIM_MIN(rows - first, STUDIO_BATCH_ROWS);
        if (memchr(scan->mask + first, 1, count) == NULL) {
            continue;
        }
        for (size_t column = 0; column < scan->column_count; column++) {
            if (studio_expression_uses(where, column)) {
                load_slots(scan, column, first, count);
            }
        }
        studio_expression_evaluate(where, (const studio_slot_t *const *)scan->slots, count, out);
        for (size_t i = 0; i < count; i++) {
            scan->mask[first + i] &= out[i].number > 0;
        }
    }
    sim_free(out);
}

// The conditions of a group are alternatives; all groups must hold.
static bool conditions_apply(studio_scan_t *scan, size_t rows)
{
    for (size_t group = 0; group < scan->group_count; group++) {
        size_t first = 0;
        while (scan->conditions[first].group != group) {
            first++;
        }
        bool may_hold = false;
        for (size_t i = first; i < scan->condition_count && scan->conditions[i].group == group;
             i++) {
            may_hold = may_hold || studio__condition_may_hold(scan, &scan->conditions[i]);
        }
        if (!may_hold) {
            return false;
        }
        memset(scan->group_mask, 0, rows);
        for (size_t i = first; i < scan->condition_count && scan->conditions[i].group == group;
             i++) {
            studio__condition_apply(scan, &scan->conditions[i], rows, scan->group_mask);
        }
        for (size_t i = 0; i < rows; i++) {
            scan->mask[i] &= scan->group_mask[i];
        }
    }
    return true;
}

static size_t match_block(studio_scan_t *scan)
{
    const size_t rows = studio_table_block_rows(current(scan)->table, scan->block);
    memset(scan->decoded, 0, scan->column_count);
    if (scan->has_range && !range_may_hold(scan)) {
        return 0;
    }
    memset(scan->mask, 1, rows);
    if (!conditions_apply(scan, rows)) {
        return 0;
    }
    if (scan->has_range) {
        range_apply(scan, rows);
    }
    for (size_t i = 0; i < scan->where_count; i++) {
        where_apply(scan, scan->wheres[i], rows);
    }
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        scan->rows[count] = (uint32_t)i;
        count += scan->mask[i];
    }
    return count;
}

void studio_scan_rewind(studio_scan_t *scan)
{
    scan->table = 0;
    scan->block = 0;
    memset(scan->decoded, 0, scan->column_count);
}

// The scan continues behind the block that it returned last, whose columns stay decoded until the
// next call.
bool studio_scan_next(studio_scan_t *scan, studio_found_t *found)
{
    static const studio_found_t none = {.rows = NULL};
    const bool begun = found->rows != NULL;
    if (begun) {
        scan->block++;
    }
    *found = none;
    for (; scan->table < scan->table_count; scan->table++, scan->block = 0) {
        for (; scan->block < current(scan)->table->block_count; scan->block++) {
            const size_t count = match_block(scan);
            if (count > 0) {
                *found =
                    (studio_found_t){scan->table, scan->block,
                                     (uint64_t)scan->block * STUDIO_BLOCK_ROWS, scan->rows, count};
                return true;
            }
        }
    }
    return false;
}

void studio_scan_values(studio_scan_t *scan, const studio_found_t *found, size_t column,
                        size_t from, size_t count, studio_slot_t *out)
{
    SIM_CHECK(found->table == scan->table && found->block == scan->block &&
              from + count <= found->count);
    if (scan->columns[column].type == STUDIO_NUMBER) {
        const double *const numbers = studio__scan_numbers(scan, column);
        for (size_t i = 0; i < count; i++) {
            out[i].number = numbers[found->rows[from + i]];
        }
        return;
    }
    const uint32_t *const ids = studio__scan_ids(scan, column);
    const size_t place = current(scan)->places[column];
    for (size_t i = 0; i < count; i++) {
        out[i].text =
            ids != NULL ? studio_table_text(current(scan)->table, place, ids[found->rows[from + i]])
                        : constant_text(scan, scan->table, column);
    }
}

studio_cell_t studio_scan_cell(const studio_scan_t *scan, size_t table, uint64_t row, size_t column)
{
    const size_t place = scan->tables[table].places[column];
    if (place != STUDIO_NO_COLUMN) {
        return studio_table_cell(scan->tables[table].table, place, row);
    }
    studio_cell_t cell = {.real = (double)NAN};
    if (strcmp(scan->columns[column].name, "run") == 0) {
        cell.kind = STUDIO_CELL_DECIMAL;
        cell.mantissa = scan->tables[table].source->run;
        cell.real = (double)cell.mantissa;
    } else if (strcmp(scan->columns[column].name, "run_name") == 0) {
        cell.kind = STUDIO_CELL_TEXT;
        cell.text = scan->tables[table].source->name;
    }
    return cell;
}
