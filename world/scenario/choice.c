// SPDX-License-Identifier: Apache-2.0
// world/scenario/choice.c - reads a mapping that names one of several kinds: a topology, an
// application.
#include "world/scenario/choice.h"
#include "world/scenario.h"

#include <string.h>

static bool is_one_of(const char *text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            return true;
        }
    }
    return false;
}

sim_err_t world__take_choice(const world_tree_t *map, const char *what, const char *const *names,
                             size_t name_count, const world_tree_entry_t **entry,
                             world_error_t *error)
{
    const world_tree_t *wrong = map;
    sim_err_t result = SIM_ERR_INVALID;
    world_shown_t shown;
    if (map->kind != WORLD_TREE_MAP || map->count == 0) {
        // A kind without attributes may be written without the colon.
        const bool scalar = map->kind == WORLD_TREE_SCALAR && !map->is_null;
        const bool known = scalar && is_one_of(map->text, names, name_count);
        world_fail(error, result, &wrong->place,
                   known    ? "%s is '%s', expected a mapping: '%s: {...}'"
                   : scalar ? "%s is '%s', expected a mapping with one of "
                            : "%s is %s, expected one of ",
                   what, scalar ? world_show(&shown, map->text) : world_tree_kind_text(map),
                   known ? map->text : "");
        if (known) {
            return SIM_ERR_INVALID;
        }
    } else if (map->count > 1 && is_one_of(map->entries[0].key->text, names, name_count)) {
        wrong = map->entries[1].key;
        if (!is_one_of(wrong->text, names, name_count)) {
            const char *const kind = map->entries[0].key->text;
            world_fail(error, result, &wrong->place,
                       "%s: '%s' stands beside '%s', expected it within: indented by more spaces, "
                       "or in the braces of '%s: {...}'",
                       what, world_show(&shown, wrong->text), kind, kind);
            return SIM_ERR_INVALID;
        }
        world_fail(error, result, &wrong->place, "%s has both '%s' and '%s', expected only one of ",
                   what, map->entries[0].key->text, wrong->text);
    } else {
        wrong = map->entries[0].key;
        if (is_one_of(wrong->text, names, name_count)) {
            *entry = &map->entries[0];
            return SIM_OK;
        }
        result = SIM_ERR_UNKNOWN;
        world_fail(error, result, &wrong->place, "unknown %s '%s'", what,
                   world_show(&shown, wrong->text));
        (void)world_error_add_nearest(error, wrong->text, names, name_count);
        world_error_add_expected(error, "one of ");
    }
    for (size_t i = 0; i < name_count; i++) {
        world_error_add(error, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    return result;
}

sim_err_t world__take_list(world_scenario_t *scenario, const world_tree_t *list, const char *what,
                           const char *example, world__take_fn take, world_error_t *error)
{
    if (list->is_null) {
        return SIM_OK;
    }
    if (list->kind != WORLD_TREE_LIST) {
        return world_fail(error, SIM_ERR_INVALID, &list->place, "%s is %s, expected a list: %s",
                          what, world_tree_kind_text(list), example);
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < list->count && result == SIM_OK; i++) {
        result = take(scenario, list->entries[i].value, error);
    }
    return result;
}
