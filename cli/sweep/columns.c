// SPDX-License-Identifier: Apache-2.0
// cli/sweep/columns.c - checks that the columns of a sweep are numbers of summary.json.
//
// The schema lists most fields of summary.json. The summary of a world that was built and never ran
// has the rest: the fields of its applications, lists by size, percentiles. So a wrong name is
// refused before anything runs. A column may also have the name that `rocesim compare` uses.
#include "cli/sweep/columns.h"
#include "cli/sweep/sweep.h"
#include "results/comparison.h"
#include "results/runner.h"
#include "results/schema.h"
#include "results/span.h"
#include "results/summary.h"
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

// Returns the names of a list's elements. Free the list with sim_free.
static const char **elements_of(const json_t *list, size_t *count)
{
    static const char *const names[] = {"size", "name", "kind", "port"};
    const char **const made = sim_alloc_array(json_array_size(list) + 1, sizeof(*made));
    *count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        for (size_t n = 0; n < SIM_COUNT_OF(names); n++) {
            const json_t *const name = json_object_get(json_array_get(list, i), names[n]);
            if (json_is_string(name)) {
                made[(*count)++] = json_string_value(name);
                break;
            }
        }
    }
    return made;
}

// A place on the way along a path: in the summary of a run that has just begun, and in the schema.
typedef struct place {
    const json_t *value;  // NULL: this run has nothing there yet
    const json_t *fields; // of the schema, by name; NULL: unknown
    const json_t *schema; // of the whole summary
} place_t;

// Returns the fields of an element of a list.
static const json_t *fields_of_element(const place_t *place, const json_t *element)
{
    const char *const kind = json_string_value(json_object_get(element, "kind"));
    const json_t *const apps = json_object_get(place->schema, "apps_by_kind");
    if (kind != NULL && json_object_get(apps, kind) != NULL) {
        return json_object_get(apps, kind);
    }
    return json_object_get(json_object_get(place->fields, "items"), "properties");
}

static sim_err_t refuse(const world_tree_t *item, size_t end, const char *name,
                        const char *const *names, size_t count, world_error_t *error)
{
    const sim_err_t result =
        world_fail(error, SIM_ERR_INVALID, &item->place, "column '%s': summary.json has no '%.*s'",
                   item->text, (int)end, item->text);
    (void)world_error_add_nearest(error, name, names, count);
    world_error_add_names(error, names, count, "docs/formats/outputs.md");
    return result;
}

// Follows "[ELEMENT]" and moves *path behind it.
static sim_err_t follow_element(const world_tree_t *item, place_t *place, const char **path,
                                world_error_t *error)
{
    const size_t size = strcspn(*path, "]");
    if ((*path)[size] != ']') {
        return world_fail(error, SIM_ERR_INVALID, &item->place,
                          "column '%s' has no ']', expected one behind the '['", item->text);
    }
    char *const bracket = sim_format("%.*s]", (int)size, *path);
    const json_t *const element = results_json_at(place->value, bracket);
    const bool missing = json_array_size(place->value) > 0 && element == NULL;
    sim_err_t result = SIM_OK;
    if (missing || (place->value != NULL && !json_is_array(place->value))) {
        size_t count = 0;
        const char **const names = elements_of(place->value, &count);
        char *const name = sim_format("%.*s", (int)size - 1, *path + 1);
        const size_t end = (size_t)(*path - item->text) + size + 1;
        result = refuse(item, end, name, names, count, error);
        sim_free(name);
        sim_free(names);
    }
    place->fields = fields_of_element(place, element);
    place->value = element;
    *path += size + 1;
    sim_free(bracket);
    return result;
}

// Follows a member's name and moves *path behind it.
static sim_err_t follow_member(const world_tree_t *item, place_t *place, const char **path,
                               world_error_t *error)
{
    const size_t size = strcspn(*path, ".[");
    char *const name = sim_format("%.*s", (int)size, *path);
    const json_t *const value = json_object_get(place->value, name);
    const json_t *const field = json_object_get(place->fields, name);
    const bool unknown = place->value == NULL && place->fields == NULL;
    sim_err_t result = SIM_OK;
    if (value == NULL && field == NULL && !unknown) {
        size_t count = 0;
        const bool object = json_object_size(place->value) > 0;
        const char **const names = keys_of(object ? place->value : place->fields, &count);
        const size_t end = (size_t)(*path - item->text) + size;
        result = refuse(item, end, name, names, count, error);
        sim_free(names);
    }
    const json_t *const inside = json_object_get(field, "properties");
    const bool list = json_object_get(field, "items") != NULL;
    place->fields = inside != NULL ? inside : list ? field : NULL;
    place->value = json_is_null(value) ? NULL : value;
    *path += size;
    sim_free(name);
    return result;
}

// Follows the name of a part of NICs, whose entry in the schema is the list of its fields.
static sim_err_t follow_part(const world_tree_t *item, place_t *place, const char **path,
                             world_error_t *error)
{
    char *const name = sim_format("%.*s", (int)strcspn(*path, "."), *path);
    const json_t *const fields = json_object_get(place->fields, name);
    sim_free(name);
    const sim_err_t result = follow_member(item, place, path, error);
    place->fields = fields;
    return result;
}

// Checks a column against the schema and the summary of a run that has just begun (NULL: none).
static sim_err_t check(const world_tree_t *item, const json_t *schema, const json_t *summary,
                       world_error_t *error)
{
    static const char parts[] = "nics[*].";
    place_t place = {summary, json_object_get(schema, "properties"), schema};
    const char *path = item->text;
    sim_err_t result = SIM_OK;
    if (results_comparison_has_nic_key(path)) {
        return SIM_OK;
    }
    if (strncmp(path, parts, strlen(parts)) == 0) {
        place = (place_t){NULL, json_object_get(schema, "nics_by_part"), schema};
        path += strlen(parts);
        result = follow_part(item, &place, &path, error);
        path += *path == '.';
    }
    while (*path != '\0' && result == SIM_OK) {
        result = *path == '[' ? follow_element(item, &place, &path, error)
                              : follow_member(item, &place, &path, error);
        path += *path == '.';
    }
    if (result == SIM_OK && place.value != NULL && !json_is_number(place.value)) {
        result = world_fail(error, SIM_ERR_INVALID, &item->place, "column '%s' is no number",
                            item->text);
        size_t count = 0;
        const char **const names = keys_of(place.value, &count);
        if (count > 0) {
            world_error_add_names(error, names, count, "docs/formats/outputs.md");
        } else {
            world_error_add(error, ", expected the path of a number in summary.json");
        }
        sim_free(names);
    }
    return result;
}

sim_err_t cli_sweep_check_columns(const world_tree_t *list, const json_t *summary,
                                  world_error_t *error)
{
    world_registry_t *const registry = world_registry_create();
    json_t *const schema = results_schema_json(registry);
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < list->count && result == SIM_OK; i++) {
        result = check(list->entries[i].value, json_object_get(schema, "summary"), summary, error);
    }
    json_decref(schema);
    world_registry_destroy(registry);
    return result;
}

json_t *cli_sweep_begun_summary(const world_scenario_t *scenario, world_error_t *error)
{
    world_t *world = NULL;
    if (world_create(scenario, WORLD_BUILD_ALL, &world, error) != SIM_OK) {
        return NULL;
    }
    results_span_t *const span = results_span_create(world);
    sim_interrupt(world->sim); // before the first window
    const sim_ended_t ended = sim_run(world->sim);
    results_t results = {0};
    results_init(&results, world, ended, span);
    json_t *const summary = results_summary_json(world, &results);
    results_fini(&results);
    world_destroy(world);
    return summary;
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
