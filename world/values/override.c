// SPDX-License-Identifier: Apache-2.0
// world/values/override.c - --set PATH=VALUE: changes the scenario's tree before anything reads it.
//
// PATH is written as in messages: nic.mtu, topology.star.hosts, traffic[0].poisson.load,
// nodes.spine*.switch.buffer; a part with dots in it stands in double quotes. Entries of a list
// are counted from 0; the one after the last appends, and so does [+]. VALUE is YAML. A scenario
// may give a path, or several that go together, a short name under `parameters`; --set NAME=VALUE
// then sets them all. A parameter of the long form (parameters.h) takes the value itself.
#include "kernel/parse.h"
#include "world/parameters.h"
#include "world/scenario.h"
#include "world/tree_paths.h"
#include "world/values/values.h"

#include <string.h>

#define PARTS_MAX 16u
#define AT_END UINT64_MAX // the index of an entry that is appended

typedef struct part {
    char *key;
    bool indexed;
    uint64_t index;
} part_t;

typedef struct path {
    part_t parts[PARTS_MAX];
    size_t count;
} path_t;

static void path_fini(path_t *path)
{
    for (size_t i = 0; i < path->count; i++) {
        sim_free(path->parts[i].key);
    }
}

// Brackets count entries, except where the part is a name pattern.
static bool split_index(part_t *part)
{
    const size_t size = strlen(part->key);
    char *const bracket = strrchr(part->key, '[');
    if (bracket == NULL || bracket == part->key || part->key[size - 1] != ']') {
        return false;
    }
    char *const digits =
        sim_format("%.*s", (int)(size - (size_t)(bracket - part->key) - 2), bracket + 1);
    sim_message_t message;
    part->index = AT_END;
    part->indexed =
        strcmp(digits, "+") == 0 || sim_parse_count(digits, &part->index, &message) == SIM_OK;
    sim_free(digits);
    if (part->indexed) {
        *bracket = '\0';
    }
    return part->indexed;
}

static bool parse_path(const char *text, size_t size, path_t *path)
{
    path->count = 0;
    for (size_t i = 0; i <= size;) {
        if (path->count == PARTS_MAX) {
            return false;
        }
        const bool quoted = i < size && text[i] == '"';
        const size_t start = i + quoted;
        size_t end = start;
        while (end < size && text[end] != (quoted ? '"' : '.')) {
            end++;
        }
        if (end == start || (quoted && end == size)) {
            return false;
        }
        part_t *const part = &path->parts[path->count++];
        *part = (part_t){.key = sim_format("%.*s", (int)(end - start), text + start)};
        const bool names = path->count == 2 && (strcmp(path->parts[0].key, "nodes") == 0 ||
                                                strcmp(path->parts[0].key, "links") == 0);
        if (!quoted && !names) {
            split_index(part);
        }
        i = end + quoted;
        if (i < size && text[i] != '.') {
            return false;
        }
        i++;
    }
    return true;
}

// Makes *slot an empty map, unless it has the wanted kind already.
static sim_err_t descend(world_document_t *document, world_tree_t **slot, world_tree_kind_t kind,
                         const world_place_t *place, const char *key, world_error_t *error)
{
    if (*slot == NULL || (*slot)->is_null) {
        *slot = world_tree_new(document, kind, *place);
    }
    if ((*slot)->kind == kind) {
        return SIM_OK;
    }
    return world_fail(error, SIM_ERR_INVALID, place, "'%s' is %s in the scenario, expected %s", key,
                      world_tree_kind_text(*slot),
                      kind == WORLD_TREE_LIST ? "a list" : "a mapping");
}

// Finds the slot for `part` in map, made if there is none.
static sim_err_t find_slot(world_document_t *document, world_tree_t *map, const part_t *part,
                           const world_place_t *place, world_tree_t ***slot, world_error_t *error)
{
    world_tree_entry_t *entry = world_tree_find(map, part->key);
    if (entry == NULL) {
        world_tree_add(map, world_tree_new_scalar(document, *place, part->key), NULL);
        entry = &map->entries[map->count - 1];
    }
    *slot = &entry->value;
    if (!part->indexed) {
        return SIM_OK;
    }
    const sim_err_t result =
        descend(document, &entry->value, WORLD_TREE_LIST, place, part->key, error);
    if (result != SIM_OK) {
        return result;
    }
    world_tree_t *const list = entry->value;
    const uint64_t index = part->index == AT_END ? list->count : part->index;
    if (index > list->count) {
        return world_fail(error, SIM_ERR_RANGE, place,
                          "'%s' has %zu entries, expected an index of at most %zu", part->key,
                          list->count, list->count);
    }
    if (index == list->count) {
        world_tree_add(list, NULL, NULL);
    }
    SIM_CHECK(index < list->count);
    *slot = &list->entries[index].value;
    return SIM_OK;
}

static sim_err_t apply(world_document_t *document, world_tree_t *root, const path_t *path,
                       world_tree_t *value, bool merge, world_error_t *error)
{
    world_tree_t *map = root;
    for (size_t i = 0; i < path->count; i++) {
        world_tree_t **slot = NULL;
        sim_err_t result = find_slot(document, map, &path->parts[i], &value->place, &slot, error);
        if (result != SIM_OK) {
            return result;
        }
        if (i + 1 == path->count) {
            if (merge && *slot != NULL && (*slot)->kind == WORLD_TREE_MAP &&
                value->kind == WORLD_TREE_MAP) {
                world_tree_merge(*slot, value);
            } else {
                *slot = value;
            }
            return SIM_OK;
        }
        result = descend(document, slot, WORLD_TREE_MAP, &value->place, path->parts[i].key, error);
        if (result != SIM_OK) {
            return result;
        }
        map = *slot;
    }
    return SIM_OK;
}

const world_tree_t *world_tree_at_path(const world_tree_t *root, const char *text)
{
    path_t path;
    const world_tree_t *tree = parse_path(text, strlen(text), &path) ? root : NULL;
    for (size_t i = 0; i < path.count && tree != NULL; i++) {
        const part_t *const part = &path.parts[i];
        tree = tree->kind == WORLD_TREE_MAP ? world_tree_value(tree, part->key) : NULL;
        if (tree != NULL && part->indexed) {
            const bool there = tree->kind == WORLD_TREE_LIST && part->index < tree->count;
            tree = there ? tree->entries[part->index].value : NULL;
        }
    }
    path_fini(&path);
    return tree;
}

char *world_attribute_of_path(const char *text)
{
    path_t path;
    char *name = parse_path(text, strlen(text), &path) ? sim_strdup("") : NULL;
    const char *const first = name != NULL ? path.parts[0].key : "";
    const bool node = strcmp(first, "nodes") == 0;
    const bool link = strcmp(first, "links") == 0;
    for (size_t i = node || link ? 2 : 0; i < path.count && name != NULL; i++) {
        char *const longer = sim_format("%s%s%s",
                                        *name != '\0' ? name
                                        : link        ? "link"
                                                      : "",
                                        *name != '\0' || link ? "." : "", path.parts[i].key);
        sim_free(name);
        name = longer;
    }
    path_fini(&path);
    return name;
}

static sim_err_t apply_text(world_document_t *document, world_tree_t *root, const char *text,
                            size_t size, const world_place_t *place, world_tree_t *value,
                            bool merge, world_error_t *error)
{
    path_t path;
    if (!parse_path(text, size, &path)) {
        path_fini(&path);
        return world_fail(error, SIM_ERR_INVALID, place,
                          "the path cannot be read, expected one such as nic.mtu or "
                          "traffic[0].poisson.load");
    }
    const sim_err_t result = apply(document, root, &path, value, merge, error);
    path_fini(&path);
    return result;
}

// Returns the path or the list of paths that a parameter stands for; NULL if no parameter has the
// name.
static const world_tree_t *find_parameter(const world_tree_t *root, const char *name, size_t size)
{
    const world_tree_entry_t *const parameters = world_tree_find(root, "parameters");
    if (parameters == NULL || parameters->value->kind != WORLD_TREE_MAP) {
        return NULL;
    }
    const world_tree_t *const map = parameters->value;
    for (size_t i = 0; i < map->count; i++) {
        const char *const key = map->entries[i].key->text;
        if (strlen(key) == size && memcmp(key, name, size) == 0) {
            return map->entries[i].value;
        }
    }
    return NULL;
}

sim_err_t world__take_parameters(world_scenario_t *scenario, const world_tree_t *value,
                                 world_error_t *error)
{
    (void)scenario;
    if (value->kind != WORLD_TREE_MAP) {
        return world_fail(error, SIM_ERR_INVALID, &value->place,
                          "parameters is %s, expected a mapping of names to paths: "
                          "'machines: topology.star.hosts'",
                          world_tree_kind_text(value));
    }
    for (size_t i = 0; i < value->count; i++) {
        const world_tree_t *const paths = value->entries[i].value;
        if (paths->kind == WORLD_TREE_MAP) {
            continue; // of the long form, which world_parameters_expand has checked
        }
        bool good = paths->kind == WORLD_TREE_SCALAR && !paths->is_null;
        if (paths->kind == WORLD_TREE_LIST) {
            good = paths->count > 0;
            for (size_t j = 0; j < paths->count; j++) {
                good &= paths->entries[j].value->kind == WORLD_TREE_SCALAR;
            }
        }
        if (!good) {
            return world_fail(error, SIM_ERR_INVALID, &paths->place,
                              "'%s' is %s, expected a path such as topology.star.hosts, a list of "
                              "paths, or {default: VALUE}",
                              value->entries[i].key->text, world_tree_kind_text(paths));
        }
    }
    return SIM_OK;
}

static sim_err_t apply_everywhere(world_document_t *document, world_tree_t *root, const char *name,
                                  size_t size, world_tree_t *value, world_error_t *error)
{
    const world_tree_t *const paths = find_parameter(root, name, size);
    if (paths == NULL) {
        return apply_text(document, root, name, size, &value->place, value, false, error);
    }
    world_tree_t *const map = world_parameter_find(root, name, size);
    if (map != NULL) {
        world_parameter_set(document, map, value);
        return SIM_OK;
    }
    const world_place_t *const place = &value->place;
    if (paths->kind == WORLD_TREE_SCALAR && paths->text != NULL) {
        return apply_text(document, root, paths->text, strlen(paths->text), place, value, false,
                          error);
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; paths->kind == WORLD_TREE_LIST && i < paths->count && result == SIM_OK;
         i++) {
        const world_tree_t *const path = paths->entries[i].value;
        if (path->kind == WORLD_TREE_SCALAR && path->text != NULL) {
            result = apply_text(document, root, path->text, strlen(path->text), place, value, false,
                                error);
        }
    }
    return result;
}

sim_err_t world__merge_value(world_document_t *document, world_tree_t *root,
                             const world_tree_t *path, world_tree_t *value, world_error_t *error)
{
    return apply_text(document, root, path->text, strlen(path->text), &path->place, value, true,
                      error);
}

sim_err_t world__override_value(world_document_t *document, world_tree_t *root, const char *path,
                                world_tree_t *value, world_error_t *error)
{
    return apply_everywhere(document, root, path, strlen(path), value, error);
}

sim_err_t world_override_apply(world_document_t *document, world_tree_t *root,
                               const world_override_t *override, world_error_t *error)
{
    world_shown_t shown;
    char *const from = sim_format("%s%s", override->where != NULL ? override->where : "",
                                  world_show(&shown, override->shown));
    const char *const origin = world_document_text(document, from);
    sim_free(from);
    const world_place_t place = {origin, 0, 0};
    const char *const equals = strchr(override->text, '=');
    if (equals == NULL) {
        return world_fail(error, SIM_ERR_INVALID, &place, "no '=', expected PATH=VALUE");
    }
    const char *const text = equals + 1;
    world_tree_t *value = NULL;
    const sim_err_t result =
        world_yaml_parse(document, place.origin, false, text, strlen(text), &value, error);
    return result != SIM_OK ? result
                            : apply_everywhere(document, root, override->text,
                                               (size_t)(equals - override->text), value, error);
}
