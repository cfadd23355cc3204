// SPDX-License-Identifier: Apache-2.0
// world/values/constants.c - constants from files, set in the scenario's tree before anything
// reads it.
#include "world/values/constants.h"
#include "world/values/values.h"

#include "world/parameters.h"

#include <string.h>

#define KEY "constants"

static const char *const keys[] = {"path", "value", "origin", "error", "note"};
static const char *const origins[] = {"measured", "published", "fitted", "chosen"};

bool world_is_constants_override(const world_override_t *override)
{
    return strncmp(override->text, KEY "=", strlen(KEY "=")) == 0;
}

static bool is_one_of(const char *text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static sim_err_t check_constant(const world_tree_entry_t *entry, world_error_t *error)
{
    const world_tree_t *const map = entry->value;
    world_shown_t shown;
    const char *const name = world_show(&shown, entry->key->text);
    if (map->kind != WORLD_TREE_MAP) {
        return world_fail(error, SIM_ERR_INVALID, &map->place,
                          "constant '%s' is %s, expected {path: ..., value: ..., origin: ...}",
                          name, world_tree_kind_text(map));
    }
    for (size_t i = 0; i < map->count; i++) {
        const world_tree_t *const key = map->entries[i].key;
        if (!is_one_of(key->text, keys, SIM_COUNT_OF(keys))) {
            world_fail(error, SIM_ERR_UNKNOWN, &key->place, "unknown key '%s' of constant '%s'",
                       world_show(&shown, key->text), entry->key->text);
            world_error_add_names(error, keys, SIM_COUNT_OF(keys), "docs/formats/calibrate.md");
            return SIM_ERR_UNKNOWN;
        }
    }
    const world_tree_entry_t *const origin = world_tree_find(map, "origin");
    if (world_tree_find(map, "path") == NULL || world_tree_find(map, "value") == NULL ||
        origin == NULL) {
        return world_fail(error, SIM_ERR_INVALID, &map->place,
                          "constant '%s' lacks a path, a value or an origin", name);
    }
    if (origin->value->kind != WORLD_TREE_SCALAR ||
        !is_one_of(origin->value->text, origins, SIM_COUNT_OF(origins))) {
        world_fail(error, SIM_ERR_INVALID, &origin->value->place,
                   "origin of constant '%s' is unknown", name);
        world_error_add_names(error, origins, SIM_COUNT_OF(origins), "docs/formats/calibrate.md");
        return SIM_ERR_INVALID;
    }
    return SIM_OK;
}

static sim_err_t apply_constant(world_document_t *document, world_tree_t *root,
                                const world_tree_t *map, world_constants_pass_t pass,
                                world_error_t *error)
{
    const world_tree_t *const path = world_tree_find(map, "path")->value;
    world_tree_t *const value = world_tree_find(map, "value")->value;
    const bool list = path->kind == WORLD_TREE_LIST;
    for (size_t i = 0; i < (list ? path->count : 1); i++) {
        const world_tree_t *const one = list ? path->entries[i].value : path;
        if (one->kind != WORLD_TREE_SCALAR || one->is_null) {
            return world_fail(error, SIM_ERR_INVALID, &one->place,
                              "path is %s, expected one such as nic.mtu, or a list of them",
                              world_tree_kind_text(one));
        }
        const bool parameter = world_parameter_find(root, one->text, strlen(one->text)) != NULL;
        if (parameter != (pass == WORLD_CONSTANTS_PARAMETERS)) {
            continue;
        }
        const sim_err_t result = world__override_value(document, root, one->text, value, error);
        if (result != SIM_OK) {
            return result;
        }
    }
    return SIM_OK;
}

// Adds the constants of a file to a list.
static sim_err_t read_file(world_document_t *document, world_tree_t *list,
                           const char *scenario_file, const world_tree_t *name,
                           world_error_t *error)
{
    if (name->kind != WORLD_TREE_SCALAR || name->is_null) {
        return world_fail(error, SIM_ERR_INVALID, &name->place,
                          KEY " is %s, expected a file, or a list of files",
                          world_tree_kind_text(name));
    }
    // A file named by --set is relative to the folder in which the command was given.
    const bool typed = name->place.line == 0;
    const char *const slash = typed ? NULL : strrchr(scenario_file, '/');
    char *const path =
        name->text[0] == '/' || slash == NULL
            ? sim_strdup(name->text)
            : sim_format("%.*s/%s", (int)(slash - scenario_file), scenario_file, name->text);
    world_tree_t *constants = NULL;
    sim_err_t result =
        world_yaml_read(document, world_document_text(document, path), &constants, error);
    sim_free(path);
    if (result == SIM_OK && constants->kind != WORLD_TREE_MAP) {
        result = world_fail(error, SIM_ERR_INVALID, &constants->place,
                            "the file is %s, expected a mapping of names to constants",
                            world_tree_kind_text(constants));
    }
    for (size_t i = 0; result == SIM_OK && i < constants->count; i++) {
        result = check_constant(&constants->entries[i], error);
        if (result == SIM_OK) {
            world_tree_add(list, NULL, constants->entries[i].value);
        }
    }
    return result;
}

sim_err_t world_constants_take(world_document_t *document, world_tree_t *root,
                               const char *file_name, const world_override_t *overrides,
                               size_t override_count, world_tree_t **list, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    *list = world_tree_new(document, WORLD_TREE_LIST, root->place);
    for (size_t i = 0; i < override_count && result == SIM_OK; i++) {
        if (world_is_constants_override(&overrides[i])) {
            result = world_override_apply(document, root, &overrides[i], error);
        }
    }
    const world_tree_entry_t *const entry = world_tree_find(root, KEY);
    if (result != SIM_OK || entry == NULL) {
        return result;
    }
    const world_tree_t *const files = entry->value;
    const size_t place = (size_t)(entry - root->entries);
    for (size_t i = place + 1; i < root->count; i++) {
        root->entries[i - 1] = root->entries[i];
    }
    root->count--;
    if (files->kind != WORLD_TREE_LIST) {
        return read_file(document, *list, file_name, files, error);
    }
    for (size_t i = 0; i < files->count && result == SIM_OK; i++) {
        result = read_file(document, *list, file_name, files->entries[i].value, error);
    }
    return result;
}

sim_err_t world_constants_apply(world_document_t *document, world_tree_t *root,
                                const world_tree_t *list, world_constants_pass_t pass,
                                world_error_t *error)
{
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < list->count && result == SIM_OK; i++) {
        result = apply_constant(document, root, list->entries[i].value, pass, error);
    }
    return result;
}
