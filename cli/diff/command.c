// SPDX-License-Identifier: Apache-2.0
// cli/diff/command.c - compares two result folders from the cause to the effect: parameters, the
// first event that differs, flows, the summary.
#include "cli/diff/diff.h"

#include "results/csv.h"
#include "results/result_folder.h"
#include "world/yaml_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINES_MAX 40u // of one kind
#define FLOWS_SHOWN 10u
#define DEPTH_MAX 16u
#define FILE_BYTES_MAX ((size_t)1 << 30)

typedef struct differ {
    FILE *out;
    bool same;
    size_t lines; // lines printed in this section
    const char *title;
} differ_t;

static bool begin_line(differ_t *differ)
{
    differ->same = false;
    if (differ->lines == 0) {
        fprintf(differ->out, "%s\n", differ->title);
    }
    differ->lines++;
    if (differ->lines == LINES_MAX + 1) {
        fputs("  ...\n", differ->out);
    }
    return differ->lines <= LINES_MAX;
}

static void begin_section(differ_t *differ, const char *title)
{
    differ->title = title;
    differ->lines = 0;
}

static void tell(differ_t *differ, const char *path, const char *a, const char *b)
{
    if (begin_line(differ)) {
        world_shown_t shown[3];
        fprintf(differ->out, "  %-40s %24s %24s\n", world_show(&shown[0], path),
                world_show(&shown[1], a), world_show(&shown[2], b));
    }
}

// -- parameters

static const char *text_of(const world_tree_t *tree)
{
    return tree == NULL                      ? "-"
           : tree->kind != WORLD_TREE_SCALAR ? world_tree_kind_text(tree)
           : tree->is_null                   ? "null"
                                             : tree->text;
}

static void diff_trees(differ_t *differ, const world_tree_t *a, const world_tree_t *b,
                       const char *path, unsigned depth);

static void diff_entries(differ_t *differ, const world_tree_t *a, const world_tree_t *b,
                         const char *path, unsigned depth)
{
    const bool list = a->kind == WORLD_TREE_LIST;
    for (size_t i = 0; i < a->count; i++) {
        const char *const key = list ? "" : a->entries[i].key->text;
        const world_tree_entry_t *const found = list ? NULL : world_tree_find(b, key);
        const world_tree_t *const other = list ? i < b->count ? b->entries[i].value : NULL
                                          : found != NULL ? found->value
                                                          : NULL;
        char *const inside = list ? sim_format("%s[%zu]", path, i)
                                  : sim_format("%s%s%s", path, *path == '\0' ? "" : ".", key);
        diff_trees(differ, a->entries[i].value, other, inside, depth + 1);
        sim_free(inside);
    }
    for (size_t i = 0; i < b->count; i++) {
        const char *const key = list ? "" : b->entries[i].key->text;
        if (list ? i >= a->count : world_tree_find(a, key) == NULL) {
            char *const inside = list ? sim_format("%s[%zu]", path, i)
                                      : sim_format("%s%s%s", path, *path == '\0' ? "" : ".", key);
            diff_trees(differ, NULL, b->entries[i].value, inside, depth + 1);
            sim_free(inside);
        }
    }
}

static void diff_trees(differ_t *differ, const world_tree_t *a, const world_tree_t *b,
                       const char *path, unsigned depth)
{
    if (a != NULL && b != NULL && a->kind == b->kind && a->kind != WORLD_TREE_SCALAR &&
        depth < WORLD_YAML_DEPTH_MAX) {
        diff_entries(differ, a, b, path, depth);
        return;
    }
    if (a == NULL || b == NULL || strcmp(text_of(a), text_of(b)) != 0) {
        tell(differ, path, text_of(a), text_of(b));
    }
}

static sim_err_t diff_scenarios(differ_t *differ, const char *a, const char *b,
                                world_error_t *error)
{
    world_document_t *const document = world_document_create();
    char *const a_path = sim_format("%s/scenario.yaml", a);
    char *const b_path = sim_format("%s/scenario.yaml", b);
    world_tree_t *a_tree = NULL;
    world_tree_t *b_tree = NULL;
    sim_err_t result = world_yaml_read(document, a_path, &a_tree, error);
    if (result == SIM_OK) {
        result = world_yaml_read(document, b_path, &b_tree, error);
    }
    if (result == SIM_OK) {
        begin_section(differ, "parameters");
        diff_trees(differ, a_tree, b_tree, "", 0);
    }
    sim_free(a_path);
    sim_free(b_path);
    world_document_destroy(document);
    return result;
}

// -- the summary

static void put_value(char *buffer, size_t size, const json_t *value)
{
    if (json_is_integer(value)) {
        snprintf(buffer, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        snprintf(buffer, size, "%.9g", json_real_value(value));
    } else if (json_is_string(value)) {
        snprintf(buffer, size, "%s", json_string_value(value));
    } else {
        snprintf(buffer, size, "%s", value == NULL ? "-" : json_is_null(value) ? "null" : "...");
    }
}

static void diff_json(differ_t *differ, const json_t *a, const json_t *b, const char *path,
                      unsigned depth)
{
    if (json_is_object(a) && json_is_object(b) && depth < DEPTH_MAX) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)a, key, value)
        {
            char *const inside = sim_format("%s%s%s", path, *path == '\0' ? "" : ".", key);
            if (strncmp(key, "wall_", 5) != 0) {
                diff_json(differ, value, json_object_get(b, key), inside, depth + 1);
            }
            sim_free(inside);
        }
        return;
    }
    if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b) &&
        depth < DEPTH_MAX) {
        for (size_t i = 0; i < json_array_size(a); i++) {
            char *const inside = sim_format("%s[%zu]", path, i);
            diff_json(differ, json_array_get(a, i), json_array_get(b, i), inside, depth + 1);
            sim_free(inside);
        }
        return;
    }
    if (!json_equal(a, b)) {
        char of_a[64];
        char of_b[64];
        put_value(of_a, sizeof(of_a), a);
        put_value(of_b, sizeof(of_b), b);
        tell(differ, path, of_a, of_b);
    }
}

// -- flows

typedef struct moved {
    char id[24];
    char name[64];
    double a_ns;
    double b_ns;
} moved_t;

static int compare_moves(const void *x, const void *y)
{
    const moved_t *const a = x;
    const moved_t *const b = y;
    const double by_a = fabs(a->b_ns - a->a_ns);
    const double by_b = fabs(b->b_ns - b->a_ns);
    return by_a > by_b ? -1 : by_a < by_b ? 1 : strcmp(a->id, b->id);
}

// Returns whether both folders lack the file, which is no difference.
static bool neither_is_there(char *const paths[2])
{
    struct stat status;
    return stat(paths[0], &status) != 0 && stat(paths[1], &status) != 0;
}

static double number(const char *text)
{
    return text[0] == '\0' ? (double)INFINITY : strtod(text, NULL);
}

// Reads the next row of both files. Sets *rows if both have one; reports a difference if only one
// file has ended.
static sim_err_t next_flows(differ_t *differ, results_csv_t *const csv[2], bool *rows,
                            world_error_t *error)
{
    bool ends[2] = {false, false};
    for (size_t i = 0; i < 2; i++) {
        const sim_err_t result = results_csv_next(csv[i], &ends[i], error);
        if (result != SIM_OK) {
            return result;
        }
    }
    if (ends[0] != ends[1]) {
        differ->same = false;
        fprintf(differ->out, "flows.csv: %c has fewer rows\n", ends[0] ? 'A' : 'B');
    }
    *rows = !ends[0] && !ends[1];
    return SIM_OK;
}

// Opens the file of both folders, or neither if both folders lack it.
static sim_err_t open_flows(char *const paths[2], results_csv_t *csv[2], world_error_t *error)
{
    static const char *const names[] = {"flow_id", "src", "dst", "fct_ns"};
    if (neither_is_there(paths)) {
        return SIM_OK;
    }
    const sim_err_t result = results_csv_open(paths[0], names, 4, &csv[0], error);
    return result != SIM_OK ? result : results_csv_open(paths[1], names, 4, &csv[1], error);
}

// Compares flows.csv row by row: the flows of equal traffic have equal numbers.
static void diff_flows(differ_t *differ, const char *a, const char *b)
{
    char *const paths[] = {sim_format("%s/flows.csv", a), sim_format("%s/flows.csv", b)};
    results_csv_t *csv[2] = {NULL, NULL};
    world_error_t error;
    moved_t *moves = NULL;
    size_t count = 0;
    size_t capacity = 0;
    sim_err_t result = open_flows(paths, csv, &error);
    bool rows = result == SIM_OK && csv[1] != NULL;
    while (rows && (result = next_flows(differ, csv, &rows, &error)) == SIM_OK && rows) {
        const double a_ns = number(results_csv_text(csv[0], 3));
        const double b_ns = number(results_csv_text(csv[1], 3));
        if (strcmp(results_csv_text(csv[0], 3), results_csv_text(csv[1], 3)) != 0 &&
            strcmp(results_csv_text(csv[0], 1), results_csv_text(csv[1], 1)) == 0 &&
            strcmp(results_csv_text(csv[0], 2), results_csv_text(csv[1], 2)) == 0) {
            SIM_GROW(moves, count, &capacity);
            moved_t *const move = &moves[count++];
            *move = (moved_t){.a_ns = a_ns, .b_ns = b_ns};
            snprintf(move->id, sizeof(move->id), "%s", results_csv_text(csv[0], 0));
            snprintf(move->name, sizeof(move->name), "%s -> %s", results_csv_text(csv[0], 1),
                     results_csv_text(csv[0], 2));
        }
    }
    if (result != SIM_OK) {
        differ->same = false;
        fprintf(differ->out, "%s\n", error.text);
    }
    if (count > 0) {
        qsort(moves, count, sizeof(*moves), compare_moves);
        char *const title =
            sim_format("flows: completion times of %zu differ (us), most of these", count);
        begin_section(differ, title);
        for (size_t i = 0; i < count && i < FLOWS_SHOWN; i++) {
            if (begin_line(differ)) {
                fprintf(differ->out, "  %-40s %24.3f %24.3f\n", moves[i].name, moves[i].a_ns / 1e3,
                        moves[i].b_ns / 1e3);
            }
        }
        sim_free(title);
    }
    for (size_t i = 0; i < 2; i++) {
        if (csv[i] != NULL) {
            results_csv_close(csv[i]);
        }
        sim_free(paths[i]);
    }
    sim_free(moves);
}

// -- the first row that differs

// Returns whether `path` is a pipe or a device, which no run writes and which may never end.
static bool is_odd(differ_t *differ, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) {
        return false;
    }
    world_shown_t shown;
    fprintf(differ->out, "%s: is no regular file\n", world_show(&shown, path));
    differ->same = false;
    return true;
}

// Reads both files into texts. A file that is missing or unreadable counts as a difference.
static bool read_both(differ_t *differ, char *const paths[2], char *texts[2], size_t sizes[2])
{
    if (neither_is_there(paths) || is_odd(differ, paths[0]) || is_odd(differ, paths[1])) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        world_error_t error;
        if (world_read_file(paths[i], FILE_BYTES_MAX, &texts[i], &sizes[i], &error) != SIM_OK) {
            differ->same = false;
            fprintf(differ->out, "%s\n", error.text);
            return false;
        }
    }
    return true;
}

static void diff_rows(differ_t *differ, const char *a, const char *b, const char *file)
{
    char *const paths[] = {sim_format("%s/%s", a, file), sim_format("%s/%s", b, file)};
    char *texts[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    const bool read = read_both(differ, paths, texts, sizes);
    if (read && (sizes[0] != sizes[1] || memcmp(texts[0], texts[1], sizes[0]) != 0)) {
        size_t at = 0;
        size_t start = 0;
        size_t line = 1;
        while (at < sizes[0] && at < sizes[1] && texts[0][at] == texts[1][at]) {
            if (texts[0][at] == '\n') {
                start = at + 1;
                line++;
            }
            at++;
        }
        char *const title = sim_format("%s: the first row that differs is line %zu", file, line);
        begin_section(differ, title);
        for (size_t i = 0; i < 2; i++) {
            const size_t size = strcspn(texts[i] + start, "\n");
            if (begin_line(differ)) {
                fprintf(differ->out, "  %c  %.*s\n", i == 0 ? 'A' : 'B', (int)SIM_MIN(size, 200),
                        size > 0 ? texts[i] + start : "(ends)");
            }
        }
        sim_free(title);
    }
    for (size_t i = 0; i < 2; i++) {
        sim_free(texts[i]);
        sim_free(paths[i]);
    }
}

// Compares the CSV files whose numbers other sections compare too. Prints a row of them only if
// those sections have found no difference.
static void diff_other_files(differ_t *differ, const char *a, const char *b)
{
    static const char *const files[] = {"flows.csv", "ports.csv", "pauses.csv", "apps.csv"};
    for (size_t i = 0; i < SIM_COUNT_OF(files) && differ->same; i++) {
        diff_rows(differ, a, b, files[i]);
    }
}

// Searches for the first event that differs, if the parameters are equal and the digests are not.
static void diff_events(const differ_t *differ, const cli_diff_side_t *a, const cli_diff_side_t *b,
                        const json_t *a_summary, const json_t *b_summary)
{
    const json_t *const of_a = json_object_get(a_summary, "digest");
    const json_t *const of_b = json_object_get(b_summary, "digest");
    world_error_t error;
    if (differ->same && of_a != NULL && of_b != NULL && !json_equal(of_a, of_b) &&
        cli_diff_first_event(a, b, differ->out, &error) != SIM_OK) {
        fprintf(differ->out, "first event that differs: unknown: %s\n", error.text);
    }
}

sim_err_t cli_diff(const cli_diff_side_t *a, const cli_diff_side_t *b, FILE *out, bool *same,
                   world_error_t *error)
{
    json_t *a_summary = NULL;
    json_t *b_summary = NULL;
    differ_t differ = {.out = out, .same = true};
    sim_err_t result = results_result_summary(a->folder, &a_summary, error);
    if (result == SIM_OK) {
        result = results_result_summary(b->folder, &b_summary, error);
    }
    if (result == SIM_OK) {
        fprintf(out, "  %-40s %24s %24s\n", "", "A", "B");
        result = diff_scenarios(&differ, a->folder, b->folder, error);
    }
    if (result == SIM_OK) {
        diff_events(&differ, a, b, a_summary, b_summary);
        diff_rows(&differ, a->folder, b->folder, "events.csv");
        diff_rows(&differ, a->folder, b->folder, "series.csv");
        diff_flows(&differ, a->folder, b->folder);
        begin_section(&differ, "summary");
        diff_json(&differ, a_summary, b_summary, "", 0);
        diff_other_files(&differ, a->folder, b->folder);
        fputs(differ.same ? "nothing differs\n" : "", out);
    }
    json_decref(a_summary);
    json_decref(b_summary);
    *same = differ.same;
    return result;
}
