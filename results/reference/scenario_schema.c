// SPDX-License-Identifier: Apache-2.0
// results/reference/scenario_schema.c - a JSON Schema of scenario files, from the attributes there
// are: for editors, which complete keys and say what they mean as one types.
//
// The schema says which keys there are, how their values may be written and what they mean. It does
// not know what several values must have in common, or which hosts and links there are: a file
// that does not fit the schema is wrong, and one that fits may still be refused by `rocesim check`.
#include <stdlib.h>
#include <string.h>

#include "results/schema.h"
#include "world/captures.h"
#include "world/faults.h"
#include "world/scenario.h"
#include "world/series.h"

// -- one attribute

static json_t *types(const char *first, const char *second, const char *third)
{
    json_t *const list = json_array();
    const char *const all[] = {first, second, third};
    for (size_t i = 0; i < SIM_COUNT_OF(all); i++) {
        if (all[i] != NULL) {
            json_array_append_new(list, json_string(all[i]));
        }
    }
    return list;
}

// Returns how a value may be written: YAML's own numbers and lists, text with a unit, or "auto".
static json_t *types_of(sim_attr_type_t type)
{
    switch (type) {
    case SIM_ATTR_BOOL:
        return types("boolean", "string", NULL);
    case SIM_ATTR_COUNT:
    case SIM_ATTR_BYTES:
    case SIM_ATTR_TIME:
    case SIM_ATTR_RATE:
        return types("integer", "string", NULL);
    case SIM_ATTR_RATIO:
        return types("number", "string", NULL);
    case SIM_ATTR_NAME:
        return types("string", NULL, NULL);
    case SIM_ATTR_ENUM: // also on and off, which YAML may read as truth
        return types("string", "boolean", NULL);
    case SIM_ATTR_PRIORITIES:
    case SIM_ATTR_WEIGHTS:
        return types("array", "integer", "string");
    case SIM_ATTR_STRING: {
        json_t *const list = types("string", "number", "array");
        json_array_append_new(list, json_string("boolean"));
        return list;
    }
    case SIM_ATTR_PROFILES:
        return types("array", "string", NULL);
    }
    return types("string", NULL, NULL);
}

// Returns the choices as a list, with true and false, as which YAML may read on and off.
static json_t *choices_of(const char *choices)
{
    json_t *const list = results_words_json(choices);
    json_array_append_new(list, json_true());
    json_array_append_new(list, json_false());
    return list;
}

// Limits hold for plain numbers; those with a unit are text, which the schema does not look into.
static void put_limit(json_t *object, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0' && strlen(text) < 18 &&
        strspn(text, "0123456789") == strlen(text)) {
        json_object_set_new(object, key, json_integer((json_int_t)strtoull(text, NULL, 10)));
    }
}

static json_t *attribute(const sim_attr_t *attr)
{
    json_t *const object = json_object();
    if (attr->choices != NULL) {
        json_object_set_new(object, "enum", choices_of(attr->choices));
    } else {
        json_object_set_new(object, "type", types_of(attr->type));
    }
    if (attr->type == SIM_ATTR_COUNT || attr->type == SIM_ATTR_BYTES) {
        put_limit(object, "minimum", attr->min_text);
        put_limit(object, "maximum", attr->max_text);
    }
    const bool limits = attr->min_text != NULL || attr->max_text != NULL;
    char *const help = limits ? sim_format("%s (%s to %s)", attr->help,
                                           attr->min_text != NULL ? attr->min_text : "any",
                                           attr->max_text != NULL ? attr->max_text : "any")
                              : sim_strdup(attr->help);
    json_object_set_new(object, "description", json_string(help));
    json_object_set_new(object, "default", json_string(attr->default_text));
    sim_free(help);
    return object;
}

// -- mappings

static json_t *mapping(bool closed)
{
    json_t *const object = json_object();
    json_object_set_new(object, "type", types("object", "null", NULL));
    json_object_set_new(object, "properties", json_object());
    if (closed) {
        json_object_set_new(object, "additionalProperties", json_false());
    }
    return object;
}

static void put(json_t *map, const char *key, json_t *value)
{
    json_object_set_new(json_object_get(map, "properties"), key, value);
}

// Returns the mapping at a key of `map`, made if there is none. A key may also be an attribute of
// its own ("nic.window" beside "nic.window.x"): then either is allowed.
static json_t *child(json_t *map, const char *key)
{
    json_t *const properties = json_object_get(map, "properties");
    json_t *const there = json_object_get(properties, key);
    if (there != NULL && json_object_get(there, "properties") != NULL) {
        return there;
    }
    json_t *const made = mapping(true);
    if (there != NULL) {
        json_object_del(made, "type");
        json_object_update_missing(made, there);
        json_object_del(made, "type");
    }
    json_object_set_new(properties, key, made);
    return made;
}

// Puts an attribute where its path leads, below the mapping that stands for `prefix`.
static void put_path(json_t *map, const char *path, const sim_attr_t *attr)
{
    json_t *into = map;
    const char *p = path;
    for (size_t size = strcspn(p, "."); p[size] == '.'; size = strcspn(p, ".")) {
        char *const key = sim_format("%.*s", (int)size, p);
        into = child(into, key);
        sim_free(key);
        p += size + 1;
    }
    json_t *const there = json_object_get(json_object_get(into, "properties"), p);
    json_t *const value = attribute(attr);
    if (there != NULL) { // a group of that name: either
        json_object_del(there, "type");
        json_object_del(value, "type");
        json_object_update_missing(there, value);
        json_decref(value);
    } else {
        put(into, p, value);
    }
}

static void put_table(json_t *map, const sim_attr_table_t *table)
{
    const size_t skip = strlen(table->prefix) + (table->prefix[0] != '\0');
    for (size_t i = 0; i < table->count; i++) {
        put_path(map, table->attrs[i].path + skip, &table->attrs[i]);
    }
}

static json_t *of_table(const sim_attr_table_t *table)
{
    json_t *const map = mapping(true);
    put_table(map, table);
    return map;
}

// Returns a mapping with exactly one of the keys that are added to it later.
static json_t *choice(void)
{
    json_t *const map = mapping(true);
    json_object_set_new(map, "type", json_string("object"));
    json_object_set_new(map, "minProperties", json_integer(1));
    json_object_set_new(map, "maxProperties", json_integer(1));
    return map;
}

static json_t *list_of(json_t *item)
{
    json_t *const list = json_object();
    json_object_set_new(list, "type", types("array", "null", NULL));
    json_object_set_new(list, "items", item);
    return list;
}

static json_t *anything(const char *type, const char *help)
{
    json_t *const object = json_object();
    if (type != NULL) {
        json_object_set_new(object, "type", types(type, "null", NULL));
    }
    json_object_set_new(object, "description", json_string(help));
    return object;
}

// Returns a mapping of patterns to values of one kind.
static json_t *by_pattern(json_t *value, const char *help)
{
    json_t *const object = anything("object", help);
    json_object_set_new(object, "additionalProperties", value);
    return object;
}

// Adds the names of the registered parts to each value, at any depth, that chooses a part by name.
static void name_choices(const world_registry_t *registry, const char *path, json_t *map)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(json_object_get(map, "properties"), key, value)
    {
        char *const below = sim_format("%s.%s", path, key);
        const char *const own = json_string_value(json_object_get(value, "default"));
        json_t *const names = results_names_json(registry, below, own);
        if (names != NULL) {
            json_object_del(value, "type");
            json_object_set_new(value, "enum", names);
        }
        name_choices(registry, below, value);
        sim_free(below);
    }
}

// -- sections

static json_t *nic_section(const world_registry_t *registry)
{
    size_t count;
    const nic_extra_t *const extras = world_registry_extras(registry, &count);
    nic_config_t config;
    nic_config_init_with(&config, extras, count);
    json_t *const map = of_table(&nic_config_attrs);
    const sim_attr_table_t *table;
    void *part;
    for (size_t i = 0; nic_config_part_at(&config, i, &table, &part); i++) {
        put_table(child(map, table->prefix + strlen("nic.")), table);
    }
    nic_config_fini(&config);
    name_choices(registry, "nic", map);
    return map;
}

static json_t *network_section(const world_registry_t *registry)
{
    size_t count;
    const world_network_part_t *const parts = world_registry_network_parts(registry, &count);
    json_t *const map = of_table(&net_config_attrs);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].attrs != NULL) {
            put_table(child(map, parts[i].name), parts[i].attrs);
        }
    }
    name_choices(registry, "network", map);
    return map;
}

static json_t *switch_section(const world_registry_t *registry)
{
    json_t *const map = of_table(&net_switch_config_attrs);
    name_choices(registry, "switch", map);
    return map;
}

static json_t *link_section(bool of_pattern)
{
    json_t *const map = of_table(&net_link_config_attrs);
    if (of_pattern) {
        put(map, "down", anything(NULL, "when the link is down: {at, until}, or a list of those"));
    }
    return map;
}

static json_t *topology_section(const world_registry_t *registry)
{
    json_t *const map = choice();
    for (const topo_ops_t *const *ops = world_registry_topologies(registry); *ops != NULL; ops++) {
        put(map, (*ops)->name, of_table((*ops)->attrs));
    }
    // The path alone will do.
    json_t *const file = json_object_get(json_object_get(map, "properties"), "file");
    json_object_set_new(file, "type", types("object", "string", "null"));
    put(map, "graph", anything("object", "nodes and the links between them, one by one"));
    return map;
}

static json_t *traffic_section(const world_registry_t *registry)
{
    json_t *const map = choice();
    for (const app_ops_t *const *ops = world_registry_apps(registry); *ops != NULL; ops++) {
        json_t *const app = of_table((*ops)->attrs);
        json_object_set_new(app, "description", json_string((*ops)->help));
        if (strcmp((*ops)->name, "programs") == 0) { // also a list of programs
            json_object_set_new(app, "type", types("object", "array", "null"));
            json_object_set_new(app, "items", of_table((*ops)->attrs));
        }
        put(map, (*ops)->name, app);
    }
    return list_of(map);
}

// Puts the attributes of the program's own kinds of nodes, by their names.
static void put_own_nodes(json_t *map, const world_registry_t *registry)
{
    const world_node_kind_t *const *kind = world_registry_node_kinds(registry);
    for (; *kind != NULL; kind++) {
        json_t *const own = (*kind)->attrs != NULL ? of_table((*kind)->attrs) : mapping(true);
        json_object_set_new(own, "description", json_string((*kind)->help));
        put(map, (*kind)->name, own);
    }
}

json_t *results_scenario_schema_json(const world_registry_t *registry)
{
    json_t *const schema = of_table(&world_run_config_attrs);
    json_object_set_new(schema, "$schema",
                        json_string("https://json-schema.org/draft/2020-12/schema"));
    json_object_set_new(schema, "title", json_string("scenario of rocesim " ROCESIM_VERSION));
    json_object_set_new(schema, "type", json_string("object"));
    put(schema, "outputs", of_table(&world_outputs_config_attrs));
    put(schema, "fast-forward", of_table(&world_fast_forward_config_attrs));
    put(schema, "network", network_section(registry));
    put(schema, "scale-up", of_table(&net_scale_up_attrs));
    put(schema, "hpcc", of_table(&compat_hpcc_config_attrs));
    put(schema, "programs", of_table(&app_programs_attrs));
    put(schema, "link", link_section(false));
    put(schema, "switch", switch_section(registry));
    put(schema, "nic", nic_section(registry));
    put(schema, "topology", topology_section(registry));
    json_t *const node = mapping(true);
    put(node, "nic", nic_section(registry));
    put(node, "switch", switch_section(registry));
    put_own_nodes(node, registry);
    if (world_registry_node_kinds(registry)[0] != NULL) {
        json_t *const kinds = mapping(true);
        put_own_nodes(kinds, registry);
        put(schema, "node", kinds);
    }
    put(schema, "nodes",
        by_pattern(node, "what hosts and switches of some names have of their own"));
    put(schema, "links", by_pattern(link_section(true), "what links between some nodes have"));
    put(schema, "traffic", traffic_section(registry));
    put(schema, "faults", list_of(of_table(&world_fault_config_attrs)));
    put(schema, "observe", list_of(of_table(&world_observe_config_attrs)));
    put(schema, "captures", list_of(of_table(&world_capture_config_attrs)));
    put(schema, "parameters",
        by_pattern(anything(NULL, "a path, or a list of them"), "short names for --set"));
    put(schema, "plugins",
        anything(NULL, "files of C or objects whose parts the scenario chooses by name"));
    put(schema, "constants", anything(NULL, "a file of constants, or a list of them"));
    return schema;
}
