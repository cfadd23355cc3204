// SPDX-License-Identifier: Apache-2.0
// cli/calibrate/plan.c - reads a calibration plan: the constants and the measured points.
#include "cli/calibrate/calibrate.h"

#include "cli/library.h"
#include "kernel/parse.h"
#include "world/bind.h"

#include <stdlib.h>
#include <string.h>

#define SHARE_DEFAULT 0.02

static const char *const plan_keys[] = {"scenario", "set", "constants", "points"};
static const char *const constant_keys[] = {"path",  "unit",  "decimals", "from", "to",
                                            "start", "value", "origin",   "note"};
static const char *const point_keys[] = {"name",  "scenario", "set", "column",
                                         "value", "error",    "held"};

static sim_err_t check_map(const world_tree_t *tree, const char *what, const char *const *keys,
                           size_t count, world_error_t *error)
{
    return tree->kind != WORLD_TREE_MAP
               ? world_tree_fail(tree, what, "a mapping", error)
               : world_tree_check_keys(tree, what, keys, count, "docs/formats/calibrate.md", error);
}

// Returns the text of a key, or NULL if the key is absent.
static const world_tree_t *value_of(const world_tree_t *map, const char *key)
{
    const world_tree_entry_t *const entry = world_tree_find(map, key);
    return entry == NULL || entry->value->is_null ? NULL : entry->value;
}

static sim_err_t missing(const world_tree_t *map, const char *what, const char *key,
                         world_error_t *error)
{
    return world_fail(error, SIM_ERR_INVALID, &map->place, "%s has no '%s'", what, key);
}

static sim_err_t take_text(const world_tree_t *map, const char *what, const char *key, bool must,
                           char **text, world_error_t *error)
{
    const world_tree_t *const value = value_of(map, key);
    if (value == NULL) {
        return must ? missing(map, what, key, error) : SIM_OK;
    }
    if (value->kind != WORLD_TREE_SCALAR) {
        return world_tree_fail(value, key, "a value", error);
    }
    *text = sim_strdup(value->text);
    return SIM_OK;
}

// Reads a number above 0; with `share`, a percentage as a share.
static sim_err_t take_number(const world_tree_t *map, const char *what, const char *key,
                             double unless, bool share, double *number, world_error_t *error)
{
    const world_tree_t *const value = value_of(map, key);
    *number = unless;
    if (value == NULL) {
        return unless > 0 ? SIM_OK : missing(map, what, key, error);
    }
    char *end = NULL;
    *number = value->kind == WORLD_TREE_SCALAR ? strtod(value->text, &end) : 0;
    while (end != NULL && *end == ' ') {
        end++;
    }
    if (share && end != NULL && *end == '%') {
        *number /= 100;
        end++;
    }
    if (end == NULL || *end != '\0' || !(*number > 0) || !(*number < 1e300)) {
        return world_fail(
            error, SIM_ERR_RANGE, &value->place, "%s is '%s', expected a number above 0%s", key,
            value->kind == WORLD_TREE_SCALAR ? value->text : world_tree_kind_text(value),
            share ? ", such as 0.05 or 5%" : "");
    }
    return SIM_OK;
}

static sim_err_t take_settings(const world_tree_t *map, char ***settings, size_t *count,
                               size_t *capacity, world_error_t *error)
{
    if (map == NULL) {
        return SIM_OK;
    }
    if (map->kind != WORLD_TREE_MAP) {
        return world_tree_fail(map, "set", "a mapping of paths to values", error);
    }
    for (size_t i = 0; i < map->count; i++) {
        char *const text =
            world_value_text(map->entries[i].value, map->entries[i].key->text, error);
        if (text == NULL) {
            return SIM_ERR_INVALID;
        }
        SIM_GROW(*settings, *count, capacity);
        (*settings)[(*count)++] = sim_format("%s=%s", map->entries[i].key->text, text);
        sim_free(text);
    }
    return SIM_OK;
}

static sim_err_t take_paths(cli_constant_t *constant, world_error_t *error)
{
    const world_tree_t *const path = constant->path;
    const bool list = path->kind == WORLD_TREE_LIST;
    if (!list && path->kind != WORLD_TREE_SCALAR) {
        return world_tree_fail(path, "path", "a path such as nic.mtu, or a list", error);
    }
    for (size_t i = 0; i < (list ? path->count : 1); i++) {
        const world_tree_t *const one = list ? path->entries[i].value : path;
        if (one->kind != WORLD_TREE_SCALAR) {
            return world_tree_fail(one, "path", "a path such as nic.mtu", error);
        }
        SIM_APPEND(constant->paths, constant->path_count, constant->path_capacity,
                   sim_strdup(one->text));
    }
    return SIM_OK;
}

static sim_err_t take_range(cli_constant_t *constant, const world_tree_t *map, world_error_t *error)
{
    const char *const what = constant->name;
    sim_err_t result = take_text(map, what, "unit", false, &constant->unit, error);
    if (result == SIM_OK) {
        result = take_number(map, what, "from", 0, false, &constant->from, error);
    }
    if (result == SIM_OK) {
        result = take_number(map, what, "to", 0, false, &constant->to, error);
    }
    if (result == SIM_OK && !(constant->from < constant->to)) {
        return world_fail(error, SIM_ERR_RANGE, &map->place, "%s: 'from' is not below 'to'", what);
    }
    if (result == SIM_OK) {
        const double middle = (constant->from + constant->to) / 2;
        result = take_number(map, what, "start", middle, false, &constant->start, error);
    }
    const world_tree_t *const wanted = value_of(map, "decimals");
    if (result == SIM_OK && wanted != NULL) {
        sim_message_t message;
        result = wanted->kind == WORLD_TREE_SCALAR
                     ? sim_parse_count(wanted->text, &constant->decimals, &message)
                     : SIM_ERR_INVALID;
        if (result != SIM_OK || constant->decimals > 9) {
            return world_fail(error, SIM_ERR_RANGE, &wanted->place, "decimals: expected 0 to 9");
        }
    } else {
        constant->decimals = 3;
    }
    if (result == SIM_OK && (constant->start < constant->from || constant->start > constant->to)) {
        return world_fail(error, SIM_ERR_RANGE, &map->place,
                          "%s: 'start' is not between 'from' and 'to'", what);
    }
    return result;
}

static sim_err_t take_constant(cli_calibration_t *calibration, const world_tree_entry_t *entry,
                               world_error_t *error)
{
    SIM_GROW(calibration->constants, calibration->constant_count, &calibration->constant_capacity);
    cli_constant_t *const constant = &calibration->constants[calibration->constant_count++];
    *constant = (cli_constant_t){.name = sim_strdup(entry->key->text)};
    const world_tree_t *const map = entry->value;
    sim_err_t result =
        check_map(map, constant->name, constant_keys, SIM_COUNT_OF(constant_keys), error);
    if (result != SIM_OK) {
        return result;
    }
    constant->path = value_of(map, "path");
    if (constant->path == NULL) {
        return missing(map, constant->name, "path", error);
    }
    result = take_paths(constant, error);
    if (result == SIM_OK) {
        result = take_text(map, constant->name, "note", false, &constant->note, error);
    }
    if (result == SIM_OK) {
        result = take_text(map, constant->name, "value", false, &constant->value, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    if (constant->value != NULL) {
        return take_text(map, constant->name, "origin", true, &constant->origin, error);
    }
    constant->fitted = true;
    constant->origin = sim_strdup("fitted");
    if (calibration->fitted_count++ == CLI_CALIBRATE_FITTED_MAX) {
        return world_fail(error, SIM_ERR_RANGE, &map->place, "more constants to fit than %u",
                          CLI_CALIBRATE_FITTED_MAX);
    }
    return take_range(constant, map, error);
}

// Sets *path to the file of a scenario that the plan names, or leaves it if it names none.
static sim_err_t take_file(const cli_calibration_t *calibration, const world_tree_t *map,
                           const char *what, bool must, char **path, world_error_t *error)
{
    char *name = NULL;
    const sim_err_t result = take_text(map, what, "scenario", must, &name, error);
    if (result == SIM_OK && name != NULL) {
        *path = cli_library_beside(calibration->file_name, name);
    }
    sim_free(name);
    return result;
}

static sim_err_t take_point(cli_calibration_t *calibration, const world_tree_t *map,
                            world_error_t *error)
{
    if (calibration->point_count == CLI_CALIBRATE_POINTS_MAX) {
        return world_fail(error, SIM_ERR_RANGE, &map->place, "more points than %u",
                          CLI_CALIBRATE_POINTS_MAX);
    }
    SIM_GROW(calibration->points, calibration->point_count, &calibration->point_capacity);
    cli_point_t *const point = &calibration->points[calibration->point_count++];
    *point = (cli_point_t){.name = NULL};
    sim_err_t result = check_map(map, "a point", point_keys, SIM_COUNT_OF(point_keys), error);
    if (result == SIM_OK) {
        result = take_text(map, "a point", "name", false, &point->name, error);
    }
    if (result == SIM_OK) {
        result = take_file(calibration, map, "a point", false, &point->scenario, error);
    }
    if (result == SIM_OK) {
        result = take_settings(value_of(map, "set"), &point->settings, &point->setting_count,
                               &point->setting_capacity, error);
    }
    if (result == SIM_OK) {
        result = take_text(map, "a point", "column", true, &point->column, error);
    }
    if (result == SIM_OK) {
        result = take_number(map, "a point", "value", 0, false, &point->value, error);
    }
    if (result == SIM_OK) {
        result = take_number(map, "a point", "error", SHARE_DEFAULT, true, &point->share, error);
    }
    const world_tree_t *const held = value_of(map, "held");
    if (result == SIM_OK && held != NULL) {
        point->held = held->kind == WORLD_TREE_SCALAR && strcmp(held->text, "true") == 0;
        if (!point->held && (held->kind != WORLD_TREE_SCALAR || strcmp(held->text, "false") != 0)) {
            return world_tree_fail(held, "held", "true or false", error);
        }
    }
    calibration->used_count += !point->held;
    if (result == SIM_OK && point->name == NULL) {
        point->name = sim_format("point %zu", calibration->point_count);
    }
    return result;
}

static sim_err_t take_lists(cli_calibration_t *calibration, const world_tree_t *root,
                            world_error_t *error)
{
    const world_tree_t *const constants = value_of(root, "constants");
    const world_tree_t *const points = value_of(root, "points");
    if (constants == NULL || points == NULL) {
        return missing(root, "the calibration", constants == NULL ? "constants" : "points", error);
    }
    if (constants->kind != WORLD_TREE_MAP) {
        return world_tree_fail(constants, "constants", "a mapping of names to constants", error);
    }
    if (points->kind != WORLD_TREE_LIST) {
        return world_tree_fail(points, "points", "a list", error);
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < constants->count && result == SIM_OK; i++) {
        result = take_constant(calibration, &constants->entries[i], error);
    }
    for (size_t i = 0; i < points->count && result == SIM_OK; i++) {
        result = take_point(calibration, points->entries[i].value, error);
    }
    if (result == SIM_OK && calibration->used_count < calibration->fitted_count) {
        result = world_fail(error, SIM_ERR_INVALID, &points->place,
                            "%zu points for %zu constants, expected as many at least",
                            calibration->used_count, calibration->fitted_count);
    }
    return result;
}

sim_err_t cli_calibration_load(const char *file_name, cli_calibration_t *calibration,
                               world_error_t *error)
{
    *calibration = (cli_calibration_t){.file_name = file_name, .document = world_document_create()};
    world_tree_t *root = NULL;
    sim_err_t result = world_yaml_read(calibration->document, file_name, &root, error);
    if (result == SIM_OK) {
        result = check_map(root, "a calibration", plan_keys, SIM_COUNT_OF(plan_keys), error);
    }
    if (result == SIM_OK) {
        result =
            take_file(calibration, root, "the calibration", true, &calibration->scenario, error);
    }
    if (result == SIM_OK) {
        result = take_settings(value_of(root, "set"), &calibration->settings,
                               &calibration->setting_count, &calibration->setting_capacity, error);
    }
    return result == SIM_OK ? take_lists(calibration, root, error) : result;
}

static void free_texts(char **texts, size_t count)
{
    sim_free_each(texts, count);
    sim_free(texts);
}

void cli_calibration_fini(cli_calibration_t *calibration)
{
    for (size_t i = 0; i < calibration->constant_count; i++) {
        cli_constant_t *const constant = &calibration->constants[i];
        free_texts(constant->paths, constant->path_count);
        SIM_FREE_ALL(constant->name, constant->note, constant->origin, constant->value,
                     constant->unit);
    }
    for (size_t i = 0; i < calibration->point_count; i++) {
        cli_point_t *const point = &calibration->points[i];
        free_texts(point->settings, point->setting_count);
        SIM_FREE_ALL(point->name, point->scenario, point->column);
    }
    free_texts(calibration->settings, calibration->setting_count);
    SIM_FREE_ALL(calibration->constants, calibration->points, calibration->scenario);
    world_document_destroy(calibration->document);
}
