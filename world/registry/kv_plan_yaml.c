// SPDX-License-Identifier: Apache-2.0
// world/registry/kv_plan_yaml.c - turns the YAML of kvbench into a plan. It passes over what
// kvbench passes over, such as metadata.
#include "world/registry/kv_plan_yaml.h"

#include "world/yaml_tree.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAGE "docs/models/kv-matrix.md"

// Returns a number of at least 0 and at most `most` below a key; `otherwise` where there is none.
static sim_err_t read_number(const world_tree_t *map, const char *key, double most, double *number,
                             world_error_t *error)
{
    const world_tree_t *const value = world_tree_value(map, key);
    if (value == NULL || value->is_null) {
        return SIM_OK;
    }
    if (value->kind != WORLD_TREE_SCALAR) {
        return world_tree_fail(value, key, "a number", error);
    }
    char *end = NULL;
    *number = strtod(value->text, &end);
    if (end == value->text || *end != '\0' || !(*number >= 0 && *number <= most)) {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_INVALID, &value->place,
                          "%s: %s, expected a number from 0 to %g", key,
                          world_show(&shown, value->text), most);
    }
    return SIM_OK;
}

static sim_err_t read_text(const world_tree_t *map, const char *key, char **text,
                           world_error_t *error)
{
    const world_tree_t *const value = world_tree_value(map, key);
    if (value == NULL || value->is_null) {
        return SIM_OK;
    }
    if (value->kind != WORLD_TREE_SCALAR) {
        return world_tree_fail(value, key, "a value", error);
    }
    *text = sim_strdup(value->text);
    return SIM_OK;
}

// Returns a list of values as a line of words. Free it with sim_free.
static sim_err_t read_line(const world_tree_t *list, const char *key, char **line,
                           world_error_t *error)
{
    if (list->kind != WORLD_TREE_LIST) {
        return world_tree_fail(list, key, "a list of sizes", error);
    }
    size_t size = 1;
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].value->kind != WORLD_TREE_SCALAR) {
            return world_tree_fail(list->entries[i].value, key, "a size", error);
        }
        size += strlen(list->entries[i].value->text) + 1;
    }
    char *const made = sim_alloc_array(size, 1);
    size_t at = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *const text = list->entries[i].value->text;
        const size_t length = strlen(text);
        memcpy(made + at, text, length);
        at += length;
        made[at++] = ' ';
    }
    *line = made;
    return SIM_OK;
}

// Reads `matrix`, a list of lists, as lines of words.
static sim_err_t read_matrix(const world_tree_t *map, char **matrix, world_error_t *error)
{
    const world_tree_t *const value = world_tree_value(map, "matrix");
    sim_err_t result = SIM_OK;
    if (value == NULL || value->is_null) {
        return SIM_OK;
    }
    if (value->kind != WORLD_TREE_LIST) {
        return world_tree_fail(value, "matrix", "a list with a list for each rank", error);
    }
    char *text = sim_strdup("");
    for (size_t i = 0; i < value->count && result == SIM_OK; i++) {
        char *line = NULL;
        result = read_line(value->entries[i].value, "matrix", &line, error);
        if (result == SIM_OK) {
            char *const longer = sim_format("%s%s\n", text, line);
            sim_free(text);
            text = longer;
            sim_free(line);
        }
    }
    *matrix = text;
    return result;
}

static sim_err_t read_storage(const world_tree_t *map, app_kv_pattern_t *pattern,
                              world_error_t *error)
{
    const world_tree_t *const storage = world_tree_value(map, "storage");
    sim_err_t result = SIM_OK;
    if (storage == NULL || storage->is_null || pattern->sections) {
        return SIM_OK; // a file with sections says it itself
    }
    if (storage->kind != WORLD_TREE_MAP) {
        return world_tree_fail(storage, "storage", "a mapping with read and write", error);
    }
    const world_tree_t *const read = world_tree_value(storage, "read");
    const world_tree_t *const write = world_tree_value(storage, "write");
    if (read != NULL) {
        result = read_line(read, "storage.read", &pattern->storage_read, error);
    }
    if (result == SIM_OK && write != NULL) {
        result = read_line(write, "storage.write", &pattern->storage_write, error);
    }
    return result;
}

static sim_err_t read_operation(const world_tree_t *map, bool *reads, world_error_t *error)
{
    const world_tree_t *const value = world_tree_value(map, "xfer_op");
    if (value == NULL || value->is_null) {
        return SIM_OK;
    }
    if (value->kind == WORLD_TREE_SCALAR && strcasecmp(value->text, "READ") == 0) {
        *reads = true;
        return SIM_OK;
    }
    if (value->kind == WORLD_TREE_SCALAR && strcasecmp(value->text, "WRITE") == 0) {
        return SIM_OK;
    }
    if (value->kind == WORLD_TREE_SCALAR) {
        return world_fail(error, SIM_ERR_INVALID, &value->place,
                          "xfer_op: %.80s, expected READ or WRITE", value->text);
    }
    return world_tree_fail(value, "xfer_op", "READ or WRITE", error);
}

static sim_err_t read_pattern(const world_tree_t *map, app_kv_pattern_t *pattern,
                              world_error_t *error)
{
    if (map->kind != WORLD_TREE_MAP) {
        return world_tree_fail(map, "a traffic pattern", "a mapping", error);
    }
    pattern->place = sim_format("%s:%d:%d", map->place.origin, map->place.line, map->place.column);
    char *sections = NULL;
    sim_err_t result = read_text(map, "tp_file", &sections, error);
    pattern->sections = sections != NULL;
    pattern->file = sections;
    if (result == SIM_OK && sections == NULL) {
        result = read_text(map, "matrix_file", &pattern->file, error);
    }
    if (result == SIM_OK && pattern->file == NULL) {
        result = read_matrix(map, &pattern->matrix, error);
    }
    result = result == SIM_OK ? read_storage(map, pattern, error) : result;
    result = result == SIM_OK ? read_operation(map, &pattern->reads, error) : result;
    if (result == SIM_OK) {
        result = read_number(map, "sleep_before_launch_sec", 1e6, &pattern->before_s, error);
    }
    if (result == SIM_OK) {
        result = read_number(map, "sleep_after_launch_sec", 1e6, &pattern->after_s, error);
    }
    if (result == SIM_OK && pattern->file == NULL && pattern->matrix == NULL &&
        pattern->storage_read == NULL && pattern->storage_write == NULL) {
        return world_fail(error, SIM_ERR_INVALID, &map->place,
                          "the traffic pattern is empty, expected tp_file, matrix_file, matrix or "
                          "storage");
    }
    return result;
}

static sim_err_t read_plan(const world_tree_t *root, app_kv_plan_t *plan, world_error_t *error)
{
    double iterations = 0;
    double isolation = 0;
    const bool is_map = root->kind == WORLD_TREE_MAP;
    const world_tree_t *const list = is_map ? world_tree_value(root, "traffic_patterns") : NULL;
    const world_tree_t *const one = is_map ? world_tree_value(root, "traffic_pattern") : NULL;
    if (list == NULL && one == NULL) {
        return world_fail(error, SIM_ERR_INVALID, &root->place,
                          "neither traffic_patterns nor traffic_pattern is there, expected a "
                          "configuration of kvbench (" PAGE ")");
    }
    if (list != NULL && list->kind != WORLD_TREE_LIST) {
        return world_tree_fail(list, "traffic_patterns", "a list of patterns", error);
    }
    sim_err_t result = read_number(root, "iters", 1e6, &iterations, error);
    if (result == SIM_OK) {
        result = read_number(root, "isolation_iters", 1e6, &isolation, error);
    }
    plan->iterations = (uint64_t)iterations;
    plan->isolation_iterations = (uint64_t)isolation;
    plan->count = list != NULL ? list->count : 1;
    plan->patterns = sim_alloc_array(plan->count + 1, sizeof(*plan->patterns));
    for (size_t i = 0; i < plan->count && result == SIM_OK; i++) {
        result =
            read_pattern(list != NULL ? list->entries[i].value : one, &plan->patterns[i], error);
    }
    return result;
}

sim_err_t world_kv_plan_read(const char *name, const char *text, size_t size_bytes,
                             app_kv_plan_t *plan, sim_message_t *message)
{
    world_document_t *const document = world_document_create();
    world_tree_t *root = NULL;
    world_error_t error;
    *plan = (app_kv_plan_t){.patterns = NULL};
    sim_err_t result = world_yaml_parse(document, name, true, text, size_bytes, &root, &error);
    result = result == SIM_OK ? read_plan(root, plan, &error) : result;
    world_document_destroy(document);
    return result == SIM_OK ? SIM_OK : sim_fail(message, result, "%.500s", error.text);
}
