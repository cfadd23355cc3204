// SPDX-License-Identifier: Apache-2.0
// cli/sweep/points.c - makes the points of a sweep.
//
// The file's key `quick` has other values of some keys, for the shorter form of the sweep; --set
// replaces the list of a parameter.
#include "cli/sweep/points.h"

#include "world/bind.h"

#include <string.h>

#define VARIANT "variant" // the name of the parameter that chooses one

const world_tree_t *cli_sweep_value(const cli_sweep_t *sweep, const world_tree_t *root,
                                    const char *key)
{
    const world_tree_t *const quick = sweep->quick ? world_tree_value(root, "quick") : NULL;
    const world_tree_t *const own = quick != NULL ? world_tree_value(quick, key) : NULL;
    return own != NULL ? own : world_tree_value(root, key);
}

char *cli_sweep_setting(const world_tree_entry_t *entry, world_error_t *error)
{
    char *const value = world_value_text(entry->value, entry->key->text, error);
    char *const text = value == NULL ? NULL : sim_format("%s=%s", entry->key->text, value);
    sim_free(value);
    return text;
}

sim_err_t cli_sweep_too_many(const world_tree_t *tree, world_error_t *error)
{
    return world_fail(error, SIM_ERR_RANGE, &tree->place, "more than %u runs, expected fewer",
                      CLI_SWEEP_RUNS_MAX);
}

static void add_parameter(cli_sweep_t *sweep, const char *name)
{
    SIM_APPEND(sweep->parameters, sweep->parameter_count, sweep->parameter_capacity,
               sim_strdup(name));
}

// Appends a point without values and returns it; it is valid until the next is added.
static cli_sweep_point_t *add_point(cli_sweep_t *sweep)
{
    SIM_GROW(sweep->points, sweep->point_count, &sweep->point_capacity);
    cli_sweep_point_t *const point = &sweep->points[sweep->point_count++];
    *point = (cli_sweep_point_t){
        .values = sim_alloc_array(sweep->parameter_count + 1, sizeof(*point->values)),
        .places = sim_alloc_array(sweep->parameter_count + 1, sizeof(*point->places)),
    };
    return point;
}

// Gives a point its value of parameter i.
static sim_err_t set_value(const cli_sweep_t *sweep, cli_sweep_point_t *point, size_t i,
                           const world_tree_t *value, world_error_t *error)
{
    point->values[i] = world_value_text(value, sweep->parameters[i], error);
    point->places[i] = &value->place;
    return point->values[i] == NULL ? SIM_ERR_INVALID : SIM_OK;
}

// Finds the setting of the command line that names a parameter, and reads its list: `[1, 2]` or
// `1,2`. *list stays what it is without one.
static sim_err_t take_given(const cli_sweep_t *sweep, const cli_args_t *args, const char *name,
                            const world_tree_t **list, world_error_t *error)
{
    const size_t size = strlen(name);
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < args->override_count && result == SIM_OK; i++) {
        const char *const text = args->overrides[i].text;
        if (strncmp(text, name, size) != 0 || text[size] != '=') {
            continue;
        }
        const char *const value = text + size + 1;
        char *const whole = value[0] == '[' ? sim_strdup(value) : sim_format("[%s]", value);
        world_tree_t *tree = NULL;
        char *const place = sim_format("--set %s", text);
        result = world_yaml_parse(sweep->document, world_document_text(sweep->document, place),
                                  false, whole, strlen(whole), &tree, error);
        *list = tree;
        sim_free(place);
        sim_free(whole);
    }
    return result;
}

// Leaves to the runs the settings of the command line that name no parameter of the sweep.
static void take_overrides(cli_sweep_t *sweep, const cli_args_t *args)
{
    for (size_t i = 0; i < args->override_count; i++) {
        const char *const text = args->overrides[i].text;
        bool known = false;
        for (size_t p = 0; p < sweep->parameter_count; p++) {
            const size_t size = strlen(sweep->parameters[p]);
            known = known || (strncmp(text, sweep->parameters[p], size) == 0 && text[size] == '=');
        }
        if (!known) {
            SIM_APPEND(sweep->overrides, sweep->override_count, sweep->override_capacity,
                       args->overrides[i]);
        }
    }
}

// Adds every combination of the grid's values. The last parameter changes fastest.
static sim_err_t take_grid(cli_sweep_t *sweep, const cli_args_t *args, const world_tree_t *map,
                           const world_tree_t *quick, world_error_t *error)
{
    if (map->kind != WORLD_TREE_MAP || map->count == 0) {
        return world_tree_fail(map, "grid", "a mapping of paths to lists of values", error);
    }
    const world_tree_t **const lists = sim_alloc_array(map->count, sizeof(*lists));
    size_t count = 1;
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < map->count && result == SIM_OK; i++) {
        const char *const name = map->entries[i].key->text;
        const world_tree_t *const shorter = quick != NULL ? world_tree_value(quick, name) : NULL;
        lists[i] = shorter != NULL ? shorter : map->entries[i].value;
        result = take_given(sweep, args, name, &lists[i], error);
        if (result == SIM_OK && (lists[i]->kind != WORLD_TREE_LIST || lists[i]->count == 0)) {
            result = world_tree_fail(lists[i], name, "a list of values", error);
        }
        if (result == SIM_OK && count * lists[i]->count > CLI_SWEEP_RUNS_MAX) {
            result = cli_sweep_too_many(lists[i], error);
        }
        add_parameter(sweep, name);
        count *= result == SIM_OK ? lists[i]->count : 0;
    }
    for (size_t p = 0; p < count && result == SIM_OK; p++) {
        cli_sweep_point_t *const point = add_point(sweep);
        size_t rest = p;
        for (size_t i = map->count; i-- > 0 && result == SIM_OK;) {
            result =
                set_value(sweep, point, i, lists[i]->entries[rest % lists[i]->count].value, error);
            rest /= lists[i]->count;
        }
    }
    sim_free((void *)lists);
    return result;
}

// Adds one point per entry of the list. All entries have the keys of the first.
static sim_err_t take_points(cli_sweep_t *sweep, const world_tree_t *list, world_error_t *error)
{
    SIM_CHECK(list != NULL);
    if (list->kind != WORLD_TREE_LIST || list->count == 0 ||
        list->entries[0].value->kind != WORLD_TREE_MAP) {
        return world_tree_fail(list, "points", "a list of mappings of paths to values", error);
    }
    if (list->count > CLI_SWEEP_RUNS_MAX) {
        return cli_sweep_too_many(list, error);
    }
    const world_tree_t *const first = list->entries[0].value;
    for (size_t i = 0; i < first->count; i++) {
        add_parameter(sweep, first->entries[i].key->text);
    }
    for (size_t p = 0; p < list->count; p++) {
        const world_tree_t *const map = list->entries[p].value;
        if (map->kind != WORLD_TREE_MAP || map->count != first->count) {
            return world_tree_fail(map, "a point", "a mapping with the same keys as the first",
                                   error);
        }
        cli_sweep_point_t *const point = add_point(sweep);
        for (size_t i = 0; i < sweep->parameter_count; i++) {
            const world_tree_entry_t *const entry = world_tree_find(map, sweep->parameters[i]);
            if (entry == NULL) {
                return world_tree_fail(map, "a point", "a mapping with the same keys as the first",
                                       error);
            }
            if (set_value(sweep, point, i, entry->value, error) != SIM_OK) {
                return SIM_ERR_INVALID;
            }
        }
    }
    return SIM_OK;
}

// -- variants

// Reads the settings of a variant. Returns NULL with an error.
static const char **settings_of(const world_tree_entry_t *variant, world_error_t *error)
{
    const world_tree_t *const map = variant->value;
    if (map->kind != WORLD_TREE_MAP) {
        (void)world_tree_fail(map, variant->key->text, "a mapping of paths to values", error);
        return NULL;
    }
    const char **const settings = sim_alloc_array(map->count + 1, sizeof(*settings));
    for (size_t i = 0; i < map->count; i++) {
        settings[i] = cli_sweep_setting(&map->entries[i], error);
        if (settings[i] == NULL) {
            for (size_t j = 0; j < i; j++) {
                sim_free((void *)(uintptr_t)settings[j]);
            }
            sim_free((void *)settings);
            return NULL;
        }
    }
    return settings;
}

// Puts the name of a variant before the values of a point, and its settings into it.
static void vary(cli_sweep_point_t *to, const cli_sweep_point_t *from, size_t count,
                 const world_tree_entry_t *variant, const char *const *settings)
{
    *to = (cli_sweep_point_t){
        .values = sim_alloc_array(count + 2, sizeof(*to->values)),
        .places = sim_alloc_array(count + 2, sizeof(*to->places)),
        .settings = settings,
    };
    to->values[0] = sim_strdup(variant->key->text);
    to->places[0] = &variant->value->place;
    for (size_t i = 0; i < count; i++) {
        to->values[i + 1] = sim_strdup(from->values[i]);
        to->places[i + 1] = from->places[i];
    }
}

// Repeats all points for each variant that `names` lists (NULL: for all).
static sim_err_t take_variants(cli_sweep_t *sweep, const world_tree_t *map,
                               const world_tree_t *names, world_error_t *error)
{
    if (map->kind != WORLD_TREE_MAP || map->count == 0) {
        return world_tree_fail(map, "variants", "a mapping of names to settings", error);
    }
    if (names != NULL && names->kind != WORLD_TREE_LIST) {
        return world_tree_fail(names, VARIANT, "a list of names of variants", error);
    }
    const size_t wanted = names != NULL ? names->count : map->count;
    const size_t count = sweep->parameter_count;
    const size_t before = sweep->point_count;
    cli_sweep_point_t *const points = sim_alloc_array(wanted * before + 1, sizeof(*points));
    sim_err_t result = SIM_OK;
    for (size_t v = 0; v < wanted && result == SIM_OK; v++) {
        const world_tree_t *const name = names != NULL ? names->entries[v].value : NULL;
        const world_tree_entry_t *const variant = name == NULL ? &map->entries[v]
                                                  : name->kind == WORLD_TREE_SCALAR
                                                      ? world_tree_find(map, name->text)
                                                      : NULL;
        if (variant == NULL) {
            result = world_tree_fail(name, VARIANT, "a name under variants", error);
            break;
        }
        const char **const settings = settings_of(variant, error);
        if (settings == NULL) {
            result = SIM_ERR_INVALID;
            break;
        }
        SIM_APPEND(sweep->variants, sweep->variant_count, sweep->variant_capacity, settings);
        for (size_t p = 0; p < before; p++) {
            vary(&points[v * before + p], &sweep->points[p], count, variant, settings);
        }
    }
    for (size_t p = 0; p < before; p++) {
        cli_sweep_point_fini(&sweep->points[p], count);
    }
    sim_free(sweep->points);
    sweep->points = points;
    sweep->point_count = sweep->variant_count * before;
    add_parameter(sweep, VARIANT);
    for (size_t i = count; i > 0; i--) {
        char *const name = sweep->parameters[i];
        sweep->parameters[i] = sweep->parameters[i - 1];
        sweep->parameters[i - 1] = name;
    }
    return result;
}

void cli_sweep_point_fini(cli_sweep_point_t *point, size_t parameter_count)
{
    sim_free_each(point->values, parameter_count);
    sim_free(point->values);
    sim_free((void *)point->places);
    sim_free(point->scenario);
}

sim_err_t cli_sweep_make_points(cli_sweep_t *sweep, const cli_args_t *args,
                                const world_tree_t *root, world_error_t *error)
{
    const world_tree_t *const quick = sweep->quick ? world_tree_value(root, "quick") : NULL;
    const world_tree_t *const grid = world_tree_value(root, "grid");
    const world_tree_t *const points = cli_sweep_value(sweep, root, "points");
    const world_tree_t *const variants = world_tree_value(root, "variants");
    sim_err_t result = SIM_OK;
    if (grid != NULL && points != NULL) {
        result = world_fail(error, SIM_ERR_INVALID, &root->place,
                            "both grid and points, expected one of them: 'grid: "
                            "{nic.congestion-control: [dcqcn, hpcc]}'");
    } else if (grid != NULL) {
        const world_tree_t *const shorter = quick != NULL ? world_tree_value(quick, "grid") : NULL;
        result = take_grid(sweep, args, grid, shorter, error);
    } else if (points != NULL) {
        result = take_points(sweep, points, error);
    } else if (variants != NULL || world_tree_value(root, "seeds") != NULL) {
        (void)add_point(sweep);
    } else {
        result = world_fail(error, SIM_ERR_INVALID, &root->place,
                            "neither grid nor points, expected one of them, variants or seeds: "
                            "'grid: {nic.congestion-control: [dcqcn, hpcc]}'");
    }
    if (result == SIM_OK && variants != NULL) {
        const world_tree_t *names = quick != NULL ? world_tree_value(quick, "variants") : NULL;
        result = take_given(sweep, args, VARIANT, &names, error);
        result = result == SIM_OK ? take_variants(sweep, variants, names, error) : result;
    }
    take_overrides(sweep, args);
    return result;
}
