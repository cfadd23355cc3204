// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/section.c - the section "plugins": files of C whose parts the scenario
// chooses by name (world/plugin.h).
#include "world/registry/plugins/section.h"

#include "world/world.h"

#include <string.h>

// An entry of the section: "mine.c", or {file: mine.c, sha256: ...}, as scenario.yaml of a result
// folder has it.
typedef struct entry {
    const world_place_t *place;
    const char *file;
    const char *sha256; // NULL: any content
} entry_t;

static sim_err_t read_entry(const world_tree_t *tree, entry_t *entry, world_error_t *error)
{
    static const char *const keys[] = {"file", "sha256"};
    *entry = (entry_t){.place = &tree->place};
    const world_tree_t *file = tree;
    if (tree->kind == WORLD_TREE_MAP) {
        const sim_err_t result = world_tree_check_keys(tree, "a plug-in", keys, SIM_COUNT_OF(keys),
                                                       "docs/plugins.md", error);
        if (result != SIM_OK) {
            return result;
        }
        file = world_tree_value(tree, "file");
        const world_tree_t *const sha256 = world_tree_value(tree, "sha256");
        entry->sha256 = sha256 != NULL && sha256->kind == WORLD_TREE_SCALAR ? sha256->text : NULL;
    }
    if (file == NULL || file->kind != WORLD_TREE_SCALAR || file->is_null || file->text[0] == '\0') {
        return world_tree_fail(tree, "an entry of plugins", "a file such as mine.c or mine.so",
                               error);
    }
    entry->file = file->text;
    return SIM_OK;
}

// Calls fn with each entry of the section, and with the path that it names.
typedef sim_err_t (*entry_fn)(const entry_t *entry, const char *path, void *ctx,
                              world_error_t *error);
static sim_err_t each_entry(const world_tree_t *root, const char *file_name, entry_fn fn, void *ctx,
                            world_error_t *error)
{
    const world_tree_t *const list = world_tree_value(root, "plugins");
    if (list == NULL || list->is_null) {
        return SIM_OK;
    }
    if (list->kind == WORLD_TREE_MAP) {
        return world_tree_fail(list, "plugins", "a list of files: [mine.c]", error);
    }
    const world_tree_t *const folder = world_tree_value(root, "folder");
    const char *const from =
        folder != NULL && folder->kind == WORLD_TREE_SCALAR && !folder->is_null ? folder->text : "";
    const size_t count = list->kind == WORLD_TREE_LIST ? list->count : 1;
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        entry_t entry;
        result = read_entry(list->kind == WORLD_TREE_LIST ? list->entries[i].value : list, &entry,
                            error);
        if (result == SIM_OK) {
            char *const path = world_input_path(file_name, from, entry.file);
            result = fn(&entry, path, ctx, error);
            sim_free(path);
        }
    }
    return result;
}

static sim_err_t add_entry(const entry_t *entry, const char *path, void *ctx, world_error_t *error)
{
    world_scenario_t *const scenario = ctx;
    if (scenario->own_registry == NULL) {
        scenario->own_registry = world_registry_copy(scenario->registry);
        scenario->registry = scenario->own_registry;
    }
    const sim_err_t result = world_registry_add_plugin(scenario->own_registry, path, error);
    size_t count;
    const world_plugin_file_t *const files = world_registry_plugins(scenario->registry, &count);
    bool same = result != SIM_OK || entry->sha256 == NULL;
    for (size_t i = 0; i < count && !same; i++) {
        same = strcmp(files[i].sha256, entry->sha256) == 0;
    }
    if (!same) {
        return world_fail(error, SIM_ERR_INVALID, entry->place,
                          "the plug-in %s has changed since this scenario was written, expected "
                          "the file with the sha256 %s; without that key, any content is accepted",
                          path, entry->sha256);
    }
    return result;
}

sim_err_t world__take_plugins(world_scenario_t *scenario, const world_registry_t *registry,
                              const world_tree_t *root, world_error_t *error)
{
    scenario->own_registry = registry == NULL ? world_registry_create() : NULL;
    scenario->registry = registry == NULL ? scenario->own_registry : registry;
    return each_entry(root, scenario->file_name, add_entry, scenario, error);
}

sim_err_t world__check_plugins(const world_scenario_t *scenario, world_error_t *error)
{
    size_t count;
    const world_plugin_file_t *const files = world_registry_plugins(scenario->registry, &count);
    for (size_t i = 0; i < count && scenario->fast_forward.mode != WORLD_SKIP_OFF; i++) {
        if (files[i].undeclared != NULL) {
            return world_fail(error, SIM_ERR_INVALID, WORLD_FILE(scenario->file_name),
                              "fast-forward does not know the state of '%s' of the plug-in %s, "
                              "expected fast-forward: {mode: off}, or a congestion control that "
                              "declares its state (nic_cc_ops_t.fields)",
                              files[i].undeclared, files[i].name);
        }
    }
    return SIM_OK;
}

// -- without loading

typedef struct located {
    world_plugin_file_t *files;
    size_t count;
    size_t capacity;
} located_t;

static sim_err_t locate_entry(const entry_t *entry, const char *path, void *ctx,
                              world_error_t *error)
{
    (void)entry;
    located_t *const located = ctx;
    world_plugin_file_t file;
    const sim_err_t result = world_plugin_locate(path, &file, error);
    if (result == SIM_OK) {
        SIM_APPEND(located->files, located->count, located->capacity, file);
    }
    return result;
}

sim_err_t world__locate_plugins(const world_tree_t *root, const char *file_name,
                                world_plugin_file_t **files, size_t *count, world_error_t *error)
{
    located_t located = {0};
    const sim_err_t result = each_entry(root, file_name, locate_entry, &located, error);
    *files = located.files;
    *count = located.count;
    return result;
}
