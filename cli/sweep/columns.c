// SPDX-License-Identifier: Apache-2.0
// cli/sweep/columns.c - checks that the columns of a sweep are numbers of summary.json.
//
// The schema lists most fields of summary.json, so a wrong name is refused before anything runs.
// Fields of applications, percentiles and the like are checked when the first results exist.
#include "cli/sweep/sweep.h"
#include "results/runner.h"
#include "results/schema.h"
#include "world/error.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NAMES_TOLD 12u

// Returns the keys of a JSON object. Free the list with sim_free.
static const char **keys_of(const json_t *object, size_t *count)
{
    const char **const names = sim_alloc_array(json_object_size(object) + 1, sizeof(*names));
    const char *key = NULL;
    json_t *value = NULL;
    *count = 0;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        names[(*count)++] = key;
    }
    return names;
}

static sim_err_t refuse(const world_tree_t *item,
                        const char *name,
                        size_t end,
                        const json_t *fields,
                        world_error_t *error)
{
    size_t count = 0;
    const char **const names = keys_of(fields, &count);
    const sim_err_t result = world_fail(error,
                                        SIM_ERR_INVALID,
                                        &item->place,
                                        "column '%s': summary.json has no '%.*s'",
                                        item->text,
                                        (int)end,
                                        item->text);
    (void)world_error_add_nearest(error, name, names, count);
    world_error_add_names(error, names, count, "docs/formats/outputs.md");
    sim_free(names);
    return result;
}

// Follows a dotted path member by member, as long as the schema knows the members.
static sim_err_t check(const world_tree_t *item, const json_t *summary, world_error_t *error)
{
    const json_t *fields = json_object_get(summary, "properties");
    sim_err_t result = SIM_OK;
    for (const char *path = item->text; fields != NULL && *path != '\0' && result == SIM_OK;) {
        const size_t size = strcspn(path, ".[");
        char *const name = sim_format("%.*s", (int)size, path);
        const json_t *const field = json_object_get(fields, name);
        if (field == NULL) {
            result = refuse(item, name, (size_t)(path - item->text) + size, fields, error);
        }
        sim_free(name);
        fields = json_object_get(field, "properties");
        path += size + (path[size] == '.');
    }
    return result;
}

sim_err_t cli_sweep_check_columns(const world_tree_t *list, world_error_t *error)
{
    world_registry_t *const registry = world_registry_create();
    json_t *const schema = results_schema_json(registry);
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < list->count && result == SIM_OK; i++) {
        result = check(list->entries[i].value, json_object_get(schema, "summary"), error);
    }
    json_decref(schema);
    world_registry_destroy(registry);
    return result;
}

// Adds to the message the member names of the last object on the path.
static void tell_names(const json_t *summary, const char *path, FILE *out)
{
    char *const part = sim_strdup(path);
    const json_t *object = NULL;
    while (!json_is_object(object)) {
        char *const cut = strrchr(part, '.');
        if (cut == NULL) {
            break;
        }
        *cut = '\0';
        object = results_json_at(summary, part);
    }
    if (json_is_object(object)) {
        size_t count = 0;
        const char **const names = keys_of(object, &count);
        fprintf(out, "; %s has ", part);
        for (size_t i = 0; i < count && i < NAMES_TOLD; i++) {
            fprintf(out, "%s%s", i > 0 ? ", " : "", names[i]);
        }
        fprintf(out, "%s", count > NAMES_TOLD ? ", ..." : "");
        sim_free(names);
    }
    sim_free(part);
}

void cli_sweep_tell_columns(const cli_sweep_t *sweep, FILE *out)
{
    for (size_t c = 0; c < sweep->column_count; c++) {
        const char *const path = sweep->columns[c];
        const json_t *summary = NULL;
        bool known = false;
        for (size_t i = 0; i < sweep->run_count && !known; i++) {
            const json_t *const value = results_json_at(sweep->runs[i].summary, path);
            summary = summary == NULL ? sweep->runs[i].summary : summary;
            // Null is a number without a value in these runs, such as a percentile of no flows.
            known = json_is_number(value) || json_is_null(value);
        }
        if (summary != NULL && !known) {
            fprintf(out, "warning: column '%s' is empty: no run has a number there", path);
            tell_names(summary, path, out);
            fprintf(out, "\n");
        }
    }
}
