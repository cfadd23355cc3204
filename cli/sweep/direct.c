// SPDX-License-Identifier: Apache-2.0
// cli/sweep/direct.c - a sweep of a scenario without a sweep file: the command line has its grid.
//
// `rocesim sweep web.yaml --set nic.congestion-control=dcqcn,hpcc --seeds 3` is what a sweep file
// with that scenario, grid and number of seeds is.
#include "cli/sweep/direct.h"

#include <string.h>

bool cli_sweep_is_scenario(const world_tree_t *root)
{
    static const char *const sections[] = {"topology", "traffic", "parameters"};
    bool found = false;
    for (size_t i = 0; root->kind == WORLD_TREE_MAP && i < SIM_COUNT_OF(sections); i++) {
        found = found || world_tree_value(root, sections[i]) != NULL;
    }
    return found && world_tree_value(root, "scenario") == NULL;
}

// Returns whether a value has commas outside of brackets and quotes: `1024,4096`, but not `[3, 4]`
// or `host[0,2]`.
static bool has_several(const char *value)
{
    int depth = 0;
    char quote = '\0';
    for (const char *p = value; *p != '\0'; p++) {
        if (quote != '\0') {
            quote = *p == quote ? '\0' : quote;
        } else if (*p == '"' || *p == '\'') {
            quote = *p;
        } else if (strchr("[{(", *p) != NULL) {
            depth++;
        } else if (strchr("]})", *p) != NULL) {
            depth--;
        } else if (*p == ',' && depth == 0) {
            return true;
        }
    }
    return false;
}

// Returns the parameters that the command line gives several values. Their lists are read with
// those that replace a sweep file's (cli/sweep/points.c).
static world_tree_t *grid_of(const cli_sweep_t *sweep, const cli_args_t *args, world_place_t place)
{
    world_tree_t *const grid = world_tree_new(sweep->document, WORLD_TREE_MAP, place);
    for (size_t i = 0; i < args->override_count; i++) {
        const char *const text = args->overrides[i].text;
        const char *const equals = strchr(text, '=');
        if (equals == NULL || !has_several(equals + 1)) {
            continue;
        }
        char *const name = sim_format("%.*s", (int)(equals - text), text);
        if (world_tree_value(grid, name) == NULL) {
            world_tree_add(grid, world_tree_new_scalar(sweep->document, place, name),
                           world_tree_new(sweep->document, WORLD_TREE_LIST, place));
        }
        sim_free(name);
    }
    return grid;
}

sim_err_t cli_sweep_of_scenario(const cli_sweep_t *sweep, const cli_args_t *args,
                                world_tree_t **root, world_error_t *error)
{
    world_document_t *const document = sweep->document;
    const world_place_t place = (*root)->place;
    if (strcmp(sweep->file_name, "-") == 0) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim sweep: the standard input is a scenario, expected a file, since "
                          "each run reads it");
    }
    world_tree_t *const grid = grid_of(sweep, args, place);
    if (grid->count == 0 && args->seed_count == NULL) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim sweep: %s is a scenario, which is one run, expected several "
                          "values (--set nic.congestion-control=dcqcn,hpcc), --seeds N, or a sweep "
                          "file (docs/formats/sweep.md)",
                          sweep->file_name);
    }
    const char *const slash = strrchr(sweep->file_name, '/');
    const char *const name = slash != NULL ? slash + 1 : sweep->file_name;
    world_tree_t *const made = world_tree_new(document, WORLD_TREE_MAP, place);
    world_tree_add(made, world_tree_new_scalar(document, place, "scenario"),
                   world_tree_new_scalar(document, place, name));
    if (grid->count > 0) {
        world_tree_add(made, world_tree_new_scalar(document, place, "grid"), grid);
    }
    *root = made;
    return SIM_OK;
}
