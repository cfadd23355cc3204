// SPDX-License-Identifier: Apache-2.0
// cli/override.c - --set PATH=VALUE: changes the scenario's tree before anything reads it.
//
// PATH is written as in messages: nic.mtu, topology.star.hosts, traffic[0].poisson.load,
// nodes.spine*.switch.buffer; a part with dots in it stands in double quotes. Entries of a list
// are counted from 0; the one after the last appends. VALUE is YAML. A scenario may give a path, or
// several that go together, a short name under `parameters`; --set NAME=VALUE then sets them all.
#include "cli/scenario.h"

#include <string.h>

#define PARTS_MAX 16u

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
    part->indexed = sim_parse_count(digits, &part->index, &message) == SIM_OK;
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

// An empty map, or what *slot already is if that has the wanted kind.
static sim_err_t descend(cli_document_t *document,
                         cli_tree_t **slot,
                         cli_tree_kind_t kind,
                         const cli_place_t *place,
                         const char *key,
                         cli_error_t *error)
{
    if (*slot == NULL || (*slot)->is_null) {
        *slot = cli_tree_new(document, kind, *place);
    }
    if ((*slot)->kind == kind) {
        return SIM_OK;
    }
    return cli_fail(error,
                    SIM_ERR_INVALID,
                    place,
                    "'%s' is %s in the scenario, expected %s",
                    key,
                    cli_tree_kind_text(*slot),
                    kind == CLI_TREE_LIST ? "a list" : "a mapping");
}

// The slot for `part` in map, made if there is none.
static sim_err_t find_slot(cli_document_t *document,
                           cli_tree_t *map,
                           const part_t *part,
                           const cli_place_t *place,
                           cli_tree_t ***slot,
                           cli_error_t *error)
{
    cli_tree_entry_t *entry = cli_tree_find(map, part->key);
    if (entry == NULL) {
        cli_tree_add(map, cli_tree_new_scalar(document, *place, part->key), NULL);
        entry = &map->entries[map->count - 1];
    }
    *slot = &entry->value;
    if (!part->indexed) {
        return SIM_OK;
    }
    const sim_err_t result =
        descend(document, &entry->value, CLI_TREE_LIST, place, part->key, error);
    if (result != SIM_OK) {
        return result;
    }
    cli_tree_t *const list = entry->value;
    if (part->index > list->count) {
        return cli_fail(error,
                        SIM_ERR_RANGE,
                        place,
                        "'%s' has %zu entries, expected an index of at most %zu",
                        part->key,
                        list->count,
                        list->count);
    }
    if (part->index == list->count) {
        cli_tree_add(list, NULL, NULL);
    }
    *slot = &list->entries[part->index].value;
    return SIM_OK;
}

static sim_err_t apply(cli_document_t *document,
                       cli_tree_t *root,
                       const path_t *path,
                       cli_tree_t *value,
                       cli_error_t *error)
{
    cli_tree_t *map = root;
    for (size_t i = 0; i < path->count; i++) {
        cli_tree_t **slot = NULL;
        sim_err_t result = find_slot(document, map, &path->parts[i], &value->place, &slot, error);
        if (result != SIM_OK) {
            return result;
        }
        if (i + 1 == path->count) {
            *slot = value;
            return SIM_OK;
        }
        result = descend(document, slot, CLI_TREE_MAP, &value->place, path->parts[i].key, error);
        if (result != SIM_OK) {
            return result;
        }
        map = *slot;
    }
    return SIM_OK;
}

static sim_err_t apply_text(cli_document_t *document,
                            cli_tree_t *root,
                            const char *text,
                            size_t size,
                            cli_tree_t *value,
                            cli_error_t *error)
{
    path_t path;
    if (!parse_path(text, size, &path)) {
        path_fini(&path);
        return cli_fail(error,
                        SIM_ERR_INVALID,
                        &value->place,
                        "the path cannot be read, expected one such as nic.mtu or "
                        "traffic[0].poisson.load");
    }
    const sim_err_t result = apply(document, root, &path, value, error);
    path_fini(&path);
    return result;
}

// The paths that a parameter stands for: one, or a list; NULL: the name is none of a parameter.
static const cli_tree_t *find_parameter(const cli_tree_t *root, const char *name, size_t size)
{
    const cli_tree_entry_t *const parameters = cli_tree_find(root, "parameters");
    if (parameters == NULL || parameters->value->kind != CLI_TREE_MAP) {
        return NULL;
    }
    const cli_tree_t *const map = parameters->value;
    for (size_t i = 0; i < map->count; i++) {
        const char *const key = map->entries[i].key->text;
        if (strlen(key) == size && memcmp(key, name, size) == 0) {
            return map->entries[i].value;
        }
    }
    return NULL;
}

sim_err_t cli__take_parameters(cli_scenario_t *scenario,
                               const cli_tree_t *value,
                               cli_error_t *error)
{
    (void)scenario;
    if (value->kind != CLI_TREE_MAP) {
        return cli_fail(error,
                        SIM_ERR_INVALID,
                        &value->place,
                        "parameters is %s, expected a mapping of names to paths: "
                        "'machines: topology.star.hosts'",
                        cli_tree_kind_text(value));
    }
    for (size_t i = 0; i < value->count; i++) {
        const cli_tree_t *const paths = value->entries[i].value;
        bool good = paths->kind == CLI_TREE_SCALAR && !paths->is_null;
        if (paths->kind == CLI_TREE_LIST) {
            good = paths->count > 0;
            for (size_t j = 0; j < paths->count; j++) {
                good &= paths->entries[j].value->kind == CLI_TREE_SCALAR;
            }
        }
        if (!good) {
            return cli_fail(error,
                            SIM_ERR_INVALID,
                            &paths->place,
                            "'%s' is %s, expected a path such as topology.star.hosts, or a list "
                            "of paths",
                            value->entries[i].key->text,
                            cli_tree_kind_text(paths));
        }
    }
    return SIM_OK;
}

static sim_err_t apply_everywhere(cli_document_t *document,
                                  cli_tree_t *root,
                                  const cli_override_t *override,
                                  size_t size,
                                  cli_tree_t *value,
                                  cli_error_t *error)
{
    const cli_tree_t *const paths = find_parameter(root, override->text, size);
    if (paths == NULL) {
        return apply_text(document, root, override->text, size, value, error);
    }
    if (paths->kind == CLI_TREE_SCALAR && paths->text != NULL) {
        return apply_text(document, root, paths->text, strlen(paths->text), value, error);
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; paths->kind == CLI_TREE_LIST && i < paths->count && result == SIM_OK; i++) {
        const cli_tree_t *const path = paths->entries[i].value;
        if (path->kind == CLI_TREE_SCALAR && path->text != NULL) {
            result = apply_text(document, root, path->text, strlen(path->text), value, error);
        }
    }
    return result;
}

sim_err_t cli_override_apply(cli_document_t *document,
                             cli_tree_t *root,
                             const cli_override_t *override,
                             cli_error_t *error)
{
    cli_shown_t shown;
    const char *const origin = cli_document_text(document, cli_show(&shown, override->shown));
    const cli_place_t place = {origin, 0, 0};
    const char *const equals = strchr(override->text, '=');
    if (equals == NULL) {
        return cli_fail(error, SIM_ERR_INVALID, &place, "no '=', expected PATH=VALUE");
    }
    const char *const text = equals + 1;
    cli_tree_t *value = NULL;
    const sim_err_t result =
        cli_yaml_parse(document, place.origin, false, text, strlen(text), &value, error);
    return result != SIM_OK ? result
                            : apply_everywhere(document,
                                               root,
                                               override,
                                               (size_t)(equals - override->text),
                                               value,
                                               error);
}
