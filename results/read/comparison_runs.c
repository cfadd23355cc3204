// SPDX-License-Identifier: Apache-2.0
// results/read/comparison_runs.c - the runs of a comparison: what they ran with, and which share a
// column.
//
// scenario.yaml of a result folder holds every parameter, so two runs differ in their seed alone if
// and only if these files do. Parameters that say what is written, not what happens, do not count.
#include "results/comparison.h"

#include "results/result_folder.h"
#include "world/yaml_tree.h"

#include <ctype.h>
#include <string.h>

// Returns whether a parameter cannot change results: how a run is called, what it writes.
static bool says_nothing(const char *path)
{
    static const char *const keys[] = {"name",    "description", "observe",   "captures",
                                       "outputs", "threads",     "parameters"};
    const size_t size = strcspn(path, ".[");
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        if (strlen(keys[i]) == size && memcmp(keys[i], path, size) == 0) {
            return true;
        }
    }
    return false;
}

// -- parameters

typedef struct text {
    char *bytes;
    size_t size;
    size_t capacity;
} text_t;

static void text_add(text_t *text, const char *more)
{
    const size_t size = strlen(more);
    SIM_RESERVE(text->bytes, text->size + size + 1, &text->capacity);
    memcpy(text->bytes + text->size, more, size + 1);
    text->size += size;
}

typedef struct walk {
    results_comparison_table_t *table;
    size_t run;
    text_t setup;
} walk_t;

#define NO_ENTRIES "[]" // an empty list

static bool is_seed(const char *path)
{
    return strcmp(path, "seed") == 0 || strcmp(path, "tie-seed") == 0;
}

static void take_parameter(walk_t *walk, const char *path, const char *value)
{
    const bool seed = is_seed(path);
    if (says_nothing(path)) {
        return;
    }
    if (!seed) {
        text_add(&walk->setup, path);
        text_add(&walk->setup, "=");
        text_add(&walk->setup, value);
        text_add(&walk->setup, "\n");
    }
    if (seed && walk->table->options->seeds) {
        return;
    }
    results_comparison_row_t *const row =
        results_comparison_row(walk->table, RESULTS_COMPARISON_TEXT, path, path);
    row->parameter = true;
    results_comparison_put_text(row, walk->run, value);
}

static bool is_list_of_values(const world_tree_t *tree)
{
    bool values = tree->kind == WORLD_TREE_LIST;
    for (size_t i = 0; values && i < tree->count; i++) {
        values = tree->entries[i].value->kind == WORLD_TREE_SCALAR;
    }
    return values;
}

// Trees are as deep as world_yaml_parse lets them be, WORLD_YAML_DEPTH_MAX.
static void take_tree(walk_t *walk, const world_tree_t *tree, const char *path)
{
    if (tree->kind == WORLD_TREE_SCALAR) {
        take_parameter(walk, path, tree->text != NULL ? tree->text : "");
        return;
    }
    if (is_list_of_values(tree)) {
        text_t list = {0};
        text_add(&list, tree->count > 0 ? "" : NO_ENTRIES);
        for (size_t i = 0; i < tree->count; i++) {
            const char *const text = tree->entries[i].value->text;
            text_add(&list, i > 0 ? " " : "");
            text_add(&list, text != NULL ? text : "");
        }
        take_parameter(walk, path, list.bytes);
        sim_free(list.bytes);
        return;
    }
    for (size_t i = 0; i < tree->count; i++) {
        const world_tree_entry_t *const entry = &tree->entries[i];
        char *const inner = tree->kind == WORLD_TREE_LIST
                                ? sim_format("%s[%zu]", path, i)
                                : sim_format("%s%s%s", path, path[0] != '\0' ? "." : "",
                                             entry->key->text != NULL ? entry->key->text : "");
        take_tree(walk, entry->value, inner);
        sim_free(inner);
    }
}

// Reads the parameters of a run. A folder without scenario.yaml is a setup of its own.
static sim_err_t take_scenario(results_comparison_table_t *table, size_t run, world_error_t *error)
{
    char *const path = sim_format("%s/scenario.yaml", table->runs[run].folder);
    world_document_t *const document = world_document_create();
    world_tree_t *tree = NULL;
    const sim_err_t result = world_yaml_read(document, path, &tree, error);
    walk_t walk = {.table = table, .run = run};
    if (result == SIM_OK) {
        table->cursor = 0;
        take_tree(&walk, tree, "");
        table->runs[run].setup = walk.setup.bytes;
    } else if (result == SIM_ERR_IO) {
        table->runs[run].setup = sim_format("%s\n", table->runs[run].folder);
    }
    world_document_destroy(document);
    sim_free(path);
    return result == SIM_ERR_IO ? SIM_OK : result;
}

static bool all_equal(const results_comparison_table_t *table, const results_comparison_row_t *row)
{
    for (size_t i = 0; i < table->run_count; i++) {
        const char *const text = row->texts[i];
        if ((text == NULL) != (row->texts[0] == NULL) ||
            (text != NULL && strcmp(text, row->texts[0]) != 0)) {
            return false;
        }
    }
    return true;
}

// Returns whether no run has more than an empty list there. Entries of another run have rows of
// their own.
static bool says_no_more(const results_comparison_table_t *table,
                         const results_comparison_row_t *row)
{
    bool empty = true;
    for (size_t i = 0; i < table->run_count && empty; i++) {
        empty = row->texts[i] == NULL || strcmp(row->texts[i], NO_ENTRIES) == 0;
    }
    return empty;
}

static void free_row(const results_comparison_table_t *table, results_comparison_row_t *row)
{
    sim_free_each(row->texts, table->run_count);
    SIM_FREE_ALL(row->texts, row->values, row->key, row->label);
}

// Leaves the parameters in which runs differ; the congestion control has a row anyhow.
static void keep_differences(results_comparison_table_t *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        results_comparison_row_t *const row = &table->rows[i];
        const bool wanted = strcmp(row->key, "nic.congestion-control") != 0 &&
                            !says_no_more(table, row) &&
                            (!all_equal(table, row) || strcmp(row->key, "seed") == 0);
        if (wanted) {
            if (all_equal(table, row)) {
                sim_free(row->label);
                row->label = NULL;
            }
            table->rows[kept++] = *row;
        } else {
            free_row(table, row);
        }
    }
    table->row_count = kept;
}

// -- columns

// Return how many letters two names have in common at the start, or at the end.
static size_t common_start(const char *a, const char *b, size_t size)
{
    size_t i = 0;
    while (i < size && a[i] == b[i]) {
        i++;
    }
    return i;
}

static size_t common_end(const char *a, const char *b, size_t size)
{
    const size_t size_a = strlen(a);
    const size_t size_b = strlen(b);
    size_t i = 0;
    while (i < size && i < size_a && i < size_b && a[size_a - 1 - i] == b[size_b - 1 - i]) {
        i++;
    }
    return i;
}

static size_t without_signs(const char *text, size_t size)
{
    while (size > 0 && isalnum((unsigned char)text[size - 1]) == 0) {
        size--;
    }
    return size;
}

// Takes away a number cut in two, which belongs to the seed, the word, and the signs around them.
static size_t without_seed(const char *text, size_t size)
{
    while (size > 0 && isdigit((unsigned char)text[size - 1]) != 0) {
        size--;
    }
    size = without_signs(text, size);
    if (size >= 4 && memcmp(text + size - 4, "seed", 4) == 0) {
        size = without_signs(text, size - 4);
    } else if (size >= 2 && text[size - 1] == 's' && isalnum((unsigned char)text[size - 2]) == 0) {
        size = without_signs(text, size - 1); // p1-s of the sweep's p1-s1 and p1-s2
    }
    return size;
}

// Returns what the folders of a column have in common at the start: out/dcqcn of out/dcqcn/1 and
// out/dcqcn/2.
static char *start_of(const results_comparison_table_t *table,
                      const results_comparison_column_t *column)
{
    const char *const first = table->runs[column->runs[0]].folder;
    size_t start = strlen(first);
    for (size_t i = 1; i < column->count; i++) {
        start = common_start(first, table->runs[column->runs[i]].folder, start);
    }
    start = column->count > 1 ? without_seed(first, start) : start;
    return sim_format("%.*s", (int)start, first);
}

// Returns what the folders of a column have in common at the end: dcqcn of out/1/dcqcn and
// out/2/dcqcn.
static char *end_of(const results_comparison_table_t *table,
                    const results_comparison_column_t *column)
{
    const char *const first = table->runs[column->runs[0]].folder;
    size_t end = strlen(first);
    for (size_t i = 1; i < column->count; i++) {
        end = common_end(first, table->runs[column->runs[i]].folder, end);
    }
    const char *tail = first + strlen(first) - end;
    while (column->count > 1 && (isdigit((unsigned char)*tail) != 0 ||
                                 (*tail != '\0' && isalnum((unsigned char)*tail) == 0))) {
        tail++;
    }
    return sim_strdup(*tail != '\0' ? tail : first);
}

static bool any_twice(char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (strcmp(names[i], names[j]) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void name_columns(results_comparison_table_t *table)
{
    const size_t count = table->column_count;
    char **const starts = sim_alloc_array(count, sizeof(*starts));
    char **const names = sim_alloc_array(count, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        starts[i] = start_of(table, &table->columns[i]);
    }
    const bool by_end = any_twice(starts, count) || starts[0][0] == '\0';
    for (size_t i = 0; by_end && i < count; i++) {
        sim_free(starts[i]);
        starts[i] = end_of(table, &table->columns[i]);
    }
    results_result_names((const char *const *)starts, count, names);
    for (size_t i = 0; i < count; i++) {
        table->columns[i].name = names[i];
        sim_free(starts[i]);
    }
    sim_free(starts);
    sim_free(names);
}

static size_t column_like(const results_comparison_table_t *table, size_t run)
{
    for (size_t i = 0; table->options->seeds && i < table->column_count; i++) {
        const results_comparison_run_t *const other = &table->runs[table->columns[i].runs[0]];
        if (strcmp(other->setup, table->runs[run].setup) == 0) {
            return i;
        }
    }
    return table->column_count;
}

static sim_err_t make_columns(results_comparison_table_t *table, world_error_t *error)
{
    table->columns = sim_alloc_array(table->run_count, sizeof(*table->columns));
    for (size_t i = 0; i < table->run_count; i++) {
        results_comparison_run_t *const run = &table->runs[i];
        run->column = column_like(table, i);
        results_comparison_column_t *const column = &table->columns[run->column];
        if (run->column == table->column_count) {
            *column = (results_comparison_column_t){.name = NULL};
            table->column_count++;
        }
        for (size_t j = 0; j < column->count; j++) {
            const results_comparison_run_t *const other = &table->runs[column->runs[j]];
            if (other->seed == run->seed && other->tie_seed == run->tie_seed) {
                return world_fail(error, SIM_ERR_INVALID, NULL,
                                  "rocesim compare: %s and %s are the same run with the same seed, "
                                  "expected each once",
                                  other->folder, run->folder);
            }
        }
        SIM_APPEND(column->runs, column->count, column->capacity, i);
    }
    SIM_CHECK(table->column_count > 0 && table->column_count <= table->run_count);
    name_columns(table);
    return SIM_OK;
}

// -- all

static uint64_t whole(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0
               ? (uint64_t)json_integer_value(value)
               : 0;
}

static sim_err_t take_summary(results_comparison_table_t *table, size_t run, world_error_t *error)
{
    json_t *summary = NULL;
    sim_err_t result = results_result_summary(table->runs[run].folder, &summary, error);
    if (result == SIM_OK) {
        table->runs[run].seed = whole(json_object_get(summary, "seed"));
        table->runs[run].tie_seed = whole(json_object_get(summary, "tie_seed"));
        result = results_comparison_take(table, run, summary, error);
        results_warning_kinds_add(&table->warnings, run, summary);
        json_decref(summary);
    }
    return result;
}

sim_err_t results_comparison_open(results_comparison_table_t *table, const char *const *folders,
                                  size_t count, world_error_t *error)
{
    table->runs = sim_alloc_array(count, sizeof(*table->runs));
    table->run_count = count;
    char **const names = sim_alloc_array(count, sizeof(*names));
    results_result_names(folders, count, names);
    for (size_t i = 0; i < count; i++) {
        table->runs[i] = (results_comparison_run_t){.folder = folders[i], .name = names[i]};
    }
    sim_free(names);
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        result = take_scenario(table, i, error);
    }
    if (result == SIM_OK) {
        keep_differences(table);
    }
    const size_t parameters = table->row_count;
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        table->cursor = parameters;
        result = take_summary(table, i, error);
    }
    return result == SIM_OK ? make_columns(table, error) : result;
}

void results_comparison_close(results_comparison_table_t *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        sim_free(table->columns[i].name);
        sim_free(table->columns[i].runs);
    }
    for (size_t i = 0; i < table->row_count; i++) {
        free_row(table, &table->rows[i]);
    }
    for (size_t i = 0; i < table->run_count; i++) {
        sim_free(table->runs[i].name);
        sim_free(table->runs[i].setup);
    }
    results_warning_kinds_fini(&table->warnings);
    SIM_FREE_ALL(table->rows, table->columns, table->runs);
}
