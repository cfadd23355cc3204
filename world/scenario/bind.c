// SPDX-License-Identifier: Apache-2.0
// world/scenario/bind.c - from mappings to attributes.
#include "world/bind.h"

#include "nic/extra.h"

#include <stdio.h>
#include <string.h>

#include "world/registry/renamed.h"
#include "world/registry/trade_words.h"
#include "world/scenario/sections.h"

world_targets_t world_targets_one(const sim_attr_table_t *table, void *config)
{
    return (world_targets_t){.first = {table, config}};
}

static bool nic_part_at(const void *source, size_t index, world_target_t *target)
{
    return nic_config_part_at(source, index, &target->table, &target->config);
}

world_targets_t world_targets_nic(nic_config_t *config)
{
    return (world_targets_t){
        .first = {&nic_config_attrs, config},
        .more = nic_part_at,
        .source = config,
    };
}

bool world_target_at(const world_targets_t *targets, size_t index, world_target_t *target)
{
    if (index == 0) {
        *target = targets->first;
        return target->table != NULL;
    }
    return targets->more != NULL && targets->more(targets->source, index - 1, target);
}

// Names that may stand below a path: direct children first, others after; at the top sections
// first, from the last one on, for they say most.
typedef struct names {
    char **texts;
    size_t count;
    size_t capacity;
} names_t;

static void names_add(names_t *names, const char *text, size_t size)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strlen(names->texts[i]) == size && memcmp(names->texts[i], text, size) == 0) {
            return;
        }
    }
    SIM_APPEND(names->texts, names->count, names->capacity, sim_format("%.*s", (int)size, text));
}

static const char *const *names_list(const names_t *names)
{
    return (const char *const *)names->texts;
}

static void names_fini(names_t *names)
{
    sim_free_each(names->texts, names->count);
    sim_free(names->texts);
}

// Returns the part of an attribute's path below `path`, or NULL if it is not below it.
static const char *below(const char *attr_path, const char *path)
{
    const size_t size = strlen(path);
    if (size == 0) {
        return attr_path;
    }
    return strncmp(attr_path, path, size) == 0 && attr_path[size] == '.' ? attr_path + size + 1
                                                                         : NULL;
}

static void collect_names(names_t *names, const char *path, const world_targets_t *targets,
                          const char *const *others)
{
    *names = (names_t){0};
    size_t other_count = 0;
    while (others != NULL && others[other_count] != NULL) {
        other_count++;
    }
    for (size_t i = other_count; *path == '\0' && i-- > 0;) {
        names_add(names, others[i], strlen(others[i]));
    }
    world_target_t target;
    for (size_t t = 0; world_target_at(targets, t, &target); t++) {
        const sim_attr_table_t *const table = target.table;
        for (size_t i = 0; i < table->count; i++) {
            const char *const rest = below(table->attrs[i].path, path);
            if (rest != NULL) {
                names_add(names, rest, strcspn(rest, "."));
            }
        }
    }
    for (size_t i = 0; i < other_count; i++) {
        names_add(names, others[i], strlen(others[i]));
    }
}

// Returns where all names below a path are listed. Free it with sim_free.
static char *listed_at(const char *path)
{
    return *path == '\0' ? sim_strdup("docs/formats/scenario.md")
                         : sim_format("rocesim params %s", path);
}

static void add_names(world_error_t *error, const names_t *names, const char *path)
{
    if (names->count == 0) {
        world_error_add(error, ", expected nothing here");
        return;
    }
    char *const where = listed_at(path);
    world_error_add_names(error, names_list(names), names->count, where);
    sim_free(where);
}

// Adds the keys of the mapping that was expected behind "expected a mapping".
static void add_keys(world_error_t *error, const char *path, const world_targets_t *targets,
                     const char *const *others)
{
    names_t names;
    collect_names(&names, path, targets, others);
    char *const where = listed_at(path);
    if (names.count > 0) {
        world_error_add_list(error, " of ", names_list(&names), names.count, where);
    }
    sim_free(where);
    names_fini(&names);
}

void world_add_accepted(world_error_t *error, const char *path, const world_targets_t *targets,
                        const char *const *others)
{
    names_t names;
    collect_names(&names, path, targets, others);
    add_names(error, &names, path);
    names_fini(&names);
}

static bool is_other(const char *const *others, const char *key)
{
    for (size_t i = 0; others != NULL && others[i] != NULL; i++) {
        if (strcmp(others[i], key) == 0) {
            return true;
        }
    }
    return false;
}

// Finds the attribute one level down that ends in a key written too high; NULL if there is none, or
// if there are several.
static const char *find_deeper(const char *path, const char *key, const world_targets_t *targets)
{
    const char *found = NULL;
    world_target_t target;
    for (size_t t = 0; world_target_at(targets, t, &target); t++) {
        const sim_attr_table_t *const table = target.table;
        for (size_t i = 0; i < table->count; i++) {
            const char *const rest = below(table->attrs[i].path, path);
            const char *const last = rest == NULL ? NULL : strrchr(rest, '.');
            if (last == NULL) {
                continue;
            }
            if (strcmp(rest, key) == 0) {
                return rest;
            }
            if (strcmp(last + 1, key) == 0 && strchr(rest, '.') == last) {
                if (found != NULL) {
                    return NULL;
                }
                found = rest;
            }
        }
    }
    return found;
}

// Returns what a section calls a key, an attribute or a mapping of attributes: its own name, or the
// one that a word of the trade stands for (cc: congestion-control). NULL: the section has neither.
// The name is valid as long as `names`.
static const char *name_in(const names_t *names, const char *key)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->texts[i], key) == 0) {
            return names->texts[i];
        }
    }
    return world_trade_word(key, names_list(names), names->count);
}

static const char *const hardware_sections[] = {"nic", "switch", "link", NULL};

// Returns whether a path is a section of hardware or leads into one.
static bool is_in_hardware(const char *path)
{
    char *const section = sim_format("%.*s", (int)strcspn(path, "."), path);
    const bool is = is_other(hardware_sections, section);
    sim_free(section);
    return is;
}

// Returns a path as nested mappings: "pfc: {alpha: ...}" for "pfc.alpha". Free it with sim_free.
static char *nested_spelling(const char *path)
{
    char *text = sim_strdup("...");
    size_t end = strlen(path);
    while (end > 0) {
        size_t start = end;
        while (start > 0 && path[start - 1] != '.') {
            start--;
        }
        const bool outermost = start == 0;
        char *const longer = sim_format(outermost ? "%.*s: %s" : "{%.*s: %s}", (int)(end - start),
                                        path + start, text);
        sim_free(text);
        text = longer;
        end = outermost ? 0 : start - 1;
    }
    return text;
}

// Returns "nic: {mtu: ...}" if exactly one of the sections of the network has a key; NULL: none or
// several. Without `links`, the section of links does not count. Free it with sim_free.
static char *spelling_in_section(const char *key, bool links)
{
    nic_config_t config;
    nic_config_init_with(&config, NULL, 0);
    const struct {
        const char *section;
        world_targets_t targets;
    } sections[] = {
        {"nic", world_targets_nic(&config)},
        {"switch", world_targets_one(&net_switch_config_attrs, NULL)},
        {"network", world_targets_one(&net_config_attrs, NULL)},
        {"link", world_targets_one(&net_link_config_attrs, NULL)},
    };
    char *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(sections) - (links ? 0 : 1); i++) {
        names_t names;
        collect_names(&names, sections[i].section, &sections[i].targets, NULL);
        const char *name = name_in(&names, key);
        if (name == NULL) {
            name = find_deeper(sections[i].section, key, &sections[i].targets);
        }
        if (name != NULL && count++ == 0) {
            char *const path = sim_format("%s.%s", sections[i].section, name);
            found = nested_spelling(path);
            sim_free(path);
        }
        names_fini(&names);
    }
    nic_config_fini(&config);
    if (count > 1) {
        sim_free(found);
        return NULL;
    }
    return found;
}

// Returns whether a key is a path with dots, as `rocesim params` prints them, whose first name is
// one of the names that are expected.
static bool is_path(const char *key, const names_t *names)
{
    const size_t size = strcspn(key, ".");
    if (key[size] == '\0' || key[strlen(key) - 1] == '.' || strstr(key, "..") != NULL) {
        return false;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (strlen(names->texts[i]) == size && memcmp(names->texts[i], key, size) == 0) {
            return true;
        }
    }
    return false;
}

// Adds where an unknown key may belong: further down, in a section, or at the top as a section of
// its own, which is no plain value unless it is a list.
static void add_place(world_error_t *error, const world_tree_entry_t *entry, const char *path,
                      const world_targets_t *targets, const names_t *names)
{
    const char *const key = entry->key->text;
    const char *const deeper = find_deeper(path, key, targets);
    if (is_path(key, names) || deeper != NULL) {
        char *const spelling = nested_spelling(deeper != NULL ? deeper : key);
        world_error_add(error, ", did you mean %s?", spelling);
        sim_free(spelling);
        return;
    }
    const bool below_nodes = strncmp(path, "nodes.", 6) == 0;
    if (*key != '\0' && (*path == '\0' || below_nodes || is_in_hardware(path))) {
        char *const spelling = spelling_in_section(key, !below_nodes);
        if (spelling != NULL) {
            world_error_add(error, ", did you mean %s%s?", spelling,
                            *path == '\0' || below_nodes ? "" : " at the top of the scenario");
            sim_free(spelling);
            return;
        }
    }
    if (*path == '\0' || below_nodes) {
        return;
    }
    const bool plain = entry->value->kind == WORLD_TREE_SCALAR && !entry->value->is_null;
    const char *const section = *key != '\0' ? world__section_of(key, plain) : NULL;
    if (section != NULL) {
        world_error_add(error, ", did you mean %s: at the top of the scenario?", section);
    }
}

static sim_err_t unknown_key(const world_tree_entry_t *entry, const char *path,
                             const world_targets_t *targets, const char *const *others,
                             world_error_t *error)
{
    const world_tree_t *const key = entry->key;
    world_shown_t shown;
    world_fail(error, SIM_ERR_UNKNOWN, &key->place, "unknown key '%s'%s%s",
               world_show(&shown, key->text), *path != '\0' ? " in " : "", path);
    names_t names;
    collect_names(&names, path, targets, others);
    if (!world_error_add_nearest(error, key->text, names_list(&names), names.count)) {
        add_place(error, entry, path, targets, &names);
    }
    add_names(error, &names, path);
    names_fini(&names);
    return SIM_ERR_UNKNOWN;
}

char *world_value_text(const world_tree_t *tree, const char *path, world_error_t *error)
{
    if (tree->is_null || tree->kind == WORLD_TREE_MAP) {
        world_fail(error, SIM_ERR_INVALID, &tree->place, "%s is %s, expected a value", path,
                   world_tree_kind_text(tree));
        return NULL;
    }
    if (tree->kind == WORLD_TREE_SCALAR) {
        return sim_strdup(tree->text);
    }
    size_t size = 3;
    for (size_t i = 0; i < tree->count; i++) {
        const world_tree_t *const item = tree->entries[i].value;
        if (item->kind != WORLD_TREE_SCALAR || item->is_null) {
            world_fail(error, SIM_ERR_INVALID, &item->place,
                       "%s has %s in its list, expected plain values", path,
                       world_tree_kind_text(item));
            return NULL;
        }
        size += strlen(item->text) + 2;
    }
    char *const text = sim_alloc(size);
    char *end = text;
    *end++ = '[';
    for (size_t i = 0; i < tree->count; i++) {
        const char *const item = tree->entries[i].value->text;
        if (i > 0) {
            memcpy(end, ", ", 2);
            end += 2;
        }
        memcpy(end, item, strlen(item));
        end += strlen(item);
    }
    *end++ = ']';
    *end = '\0';
    return text;
}

static const sim_attr_t *find_attr(const world_targets_t *targets, const char *path, void **config)
{
    world_target_t target;
    for (size_t t = 0; world_target_at(targets, t, &target); t++) {
        const sim_attr_t *const attr = sim_attr_find(target.table, path);
        if (attr != NULL) {
            *config = target.config;
            return attr;
        }
    }
    return NULL;
}

static bool is_group(const world_targets_t *targets, const char *path)
{
    world_target_t target;
    for (size_t t = 0; world_target_at(targets, t, &target); t++) {
        const sim_attr_table_t *const table = target.table;
        for (size_t i = 0; i < table->count; i++) {
            if (below(table->attrs[i].path, path) != NULL) {
                return true;
            }
        }
    }
    return false;
}

static sim_err_t set_value(const sim_attr_t *attr, void *config, const world_tree_t *value,
                           world_error_t *error)
{
    char *const text = world_value_text(value, attr->path, error);
    if (text == NULL) {
        return SIM_ERR_INVALID;
    }
    sim_message_t message;
    sim_err_t result = sim_attr_set(attr, config, text, &message);
    if (result != SIM_OK) {
        result = world_fail(error, result, &value->place, "%s: %s", attr->path, message.text);
    }
    sim_free(text);
    return result;
}

// Fails since a value stands where a mapping does: "pfc: off" instead of "pfc: {enabled: off}".
static sim_err_t value_for_group(const world_tree_entry_t *entry, const char *path,
                                 const world_targets_t *targets, world_error_t *error)
{
    const world_tree_t *const value = entry->value;
    world_fail(error, SIM_ERR_INVALID, &value->place, "%s is %s, expected a mapping", path,
               world_tree_kind_text(value));
    static const char *const switches[] = {"on", "off", "true", "false", NULL};
    char *const enabled = sim_format("%s.enabled", path);
    void *config = NULL;
    if (value->kind == WORLD_TREE_SCALAR && find_attr(targets, enabled, &config) != NULL &&
        is_other(switches, value->text)) {
        world_error_add(error, ": %s: {enabled: %s}", entry->key->text, value->text);
    } else {
        add_keys(error, path, targets, NULL);
    }
    sim_free(enabled);
    return SIM_ERR_INVALID;
}

static sim_err_t bind_map(const world_tree_t *map, const char *prefix,
                          const world_targets_t *targets, const char *const *others,
                          world_error_t *error);

static sim_err_t bind_entry(const world_tree_entry_t *entry, const char *prefix,
                            const world_targets_t *targets, const char *const *others,
                            world_error_t *error)
{
    const char *const key = entry->key->text;
    char path[256];
    const int size =
        snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix != '\0' ? "." : "", key);
    const bool usable =
        size > 0 && (size_t)size < sizeof(path) && *key != '\0' && strchr(key, '.') == NULL;
    void *config = NULL;
    const sim_attr_t *attr = usable ? find_attr(targets, path, &config) : NULL;
    const world_renamed_t *const renamed = attr == NULL && usable ? world_renamed(path) : NULL;
    if (renamed != NULL && renamed->now == NULL) {
        return world_fail(error, SIM_ERR_UNKNOWN, &entry->key->place,
                          "%s no longer exists, expected %s", path, renamed->instead);
    }
    attr = renamed != NULL ? find_attr(targets, renamed->now, &config) : attr;
    const bool group = usable && is_group(targets, path);
    if (attr != NULL && (entry->value->kind != WORLD_TREE_MAP || !group)) {
        return set_value(attr, config, entry->value, error);
    }
    if (!group) {
        return unknown_key(entry, prefix, targets, others, error);
    }
    if (entry->value->kind == WORLD_TREE_MAP || entry->value->is_null) {
        return bind_map(entry->value, path, targets, NULL, error);
    }
    return value_for_group(entry, path, targets, error);
}

// Adds the entry that a plain value in a list of parts means: "{ports: host0}" for "host0".
static void add_item(world_error_t *error, const char *path, const world_tree_t *value)
{
    static const struct {
        const char *path;
        const char *key;
    } items[] = {{"captures", "ports"}, {"faults", "part"}};
    world_shown_t shown;
    for (size_t i = 0; i < SIM_COUNT_OF(items) && value->kind == WORLD_TREE_SCALAR; i++) {
        if (strcmp(path, items[i].path) == 0) {
            world_error_add(error, ", did you mean {%s: %s}?", items[i].key,
                            world_show(&shown, value->text));
        }
    }
}

static sim_err_t bind_map(const world_tree_t *map, const char *prefix,
                          const world_targets_t *targets, const char *const *others,
                          world_error_t *error)
{
    if (map->is_null) {
        return SIM_OK;
    }
    if (map->kind != WORLD_TREE_MAP) {
        world_fail(error, SIM_ERR_INVALID, &map->place, "%s%sis %s", prefix,
                   *prefix != '\0' ? " " : "the scenario ", world_tree_kind_text(map));
        add_item(error, prefix, map);
        world_error_add_expected(error, "a mapping");
        add_keys(error, prefix, targets, others);
        return SIM_ERR_INVALID;
    }
    for (size_t i = 0; i < map->count; i++) {
        if (is_other(others, map->entries[i].key->text)) {
            continue;
        }
        const sim_err_t result = bind_entry(&map->entries[i], prefix, targets, others, error);
        if (result != SIM_OK) {
            return result;
        }
    }
    return SIM_OK;
}

// Refuses values that contradict each other, such as a smallest one above the largest one.
static sim_err_t check_order(const world_tree_t *map, const char *prefix,
                             const world_targets_t *targets, world_error_t *error)
{
    world_target_t target;
    for (size_t t = 0; world_target_at(targets, t, &target); t++) {
        sim_message_t message;
        const sim_err_t result =
            target.config == NULL ? SIM_OK : sim_attrs_check(target.table, target.config, &message);
        if (result != SIM_OK) {
            const world_place_t place = world_locate(map, prefix, message.about);
            return world_fail(error, result, &place, "%s", message.text);
        }
    }
    return SIM_OK;
}

sim_err_t world_bind(const world_tree_t *map, const char *prefix, const world_targets_t *targets,
                     const char *const *others, world_error_t *error)
{
    const sim_err_t result = bind_map(map, prefix, targets, others, error);
    return result != SIM_OK || map->is_null ? result : check_order(map, prefix, targets, error);
}

world_place_t world_locate(const world_tree_t *map, const char *prefix, const char *path)
{
    SIM_CHECK(path != NULL);
    const char *const rest = below(path, prefix);
    const char *p = rest != NULL ? rest : path;
    const world_tree_t *tree = map;
    world_place_t place = map->place;
    while (tree->kind == WORLD_TREE_MAP) {
        const size_t size = strcspn(p, ".");
        char *const key = sim_format("%.*s", (int)size, p);
        const world_tree_entry_t *const entry = world_tree_find(tree, key);
        sim_free(key);
        if (entry == NULL) {
            break;
        }
        tree = entry->value;
        place = tree->place;
        if (p[size] != '.') {
            break;
        }
        p += size + 1;
    }
    return place;
}

void world_unbind(world_document_t *document, world_tree_t *map, const char *prefix,
                  const world_targets_t *targets)
{
    const world_place_t nowhere = {NULL, 0, 0};
    world_target_t target;
    for (size_t t = 0; world_target_at(targets, t, &target); t++) {
        for (size_t i = 0; i < target.table->count; i++) {
            const sim_attr_t *const attr = &target.table->attrs[i];
            const char *p = below(attr->path, prefix);
            SIM_CHECKF(p != NULL, "%s is not below %s", attr->path, prefix);
            world_tree_t *into = map;
            for (size_t size = strcspn(p, "."); p[size] == '.'; size = strcspn(p, ".")) {
                char *const key = sim_format("%.*s", (int)size, p);
                const world_tree_entry_t *const entry = world_tree_find(into, key);
                world_tree_t *next = entry != NULL ? entry->value : NULL;
                if (next == NULL) {
                    next = world_tree_new(document, WORLD_TREE_MAP, nowhere);
                    world_tree_add(into, world_tree_new_scalar(document, nowhere, key), next);
                }
                sim_free(key);
                into = next;
                p += size + 1;
            }
            char *const value = sim_attr_get(attr, target.config);
            world_tree_add(into, world_tree_new_scalar(document, nowhere, p),
                           world_tree_new_scalar(document, nowhere, value));
            sim_free(value);
        }
    }
}
