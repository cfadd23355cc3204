// SPDX-License-Identifier: Apache-2.0
// world/scenario/topology.c - the sections that say what the network is: topology, nodes, links.
#include "world/bind.h"
#include "world/faults.h"
#include "world/overlays.h"
#include "world/patterns.h"
#include "world/scenario.h"
#include "world/scenario/choice.h"
#include "world/scenario/topology_sections.h"

#include "topologies/topology_file.h"

#include <string.h>

#define NAME_BYTES_MAX 64u

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(world_down_config_t, __VA_ARGS__)
static const sim_attr_t down_attrs[] = {
    ATTR(TIME, "links.down.at", at_ps, "0s", "0s", NULL, "simulated time at which the link goes down"),
    ATTR(TIME, "links.down.until", until_ps, "never", NULL, NULL, "simulated time at which the link comes up again"),
};
const sim_attr_table_t world_down_config_attrs = SIM_ATTR_TABLE("links.down", "link", world_down_config_t, down_attrs);
// clang-format on

// -- graph

// Names must not look like patterns, ports or links.
static sim_err_t check_name(const world_tree_t *tree, world_error_t *error)
{
    if (tree->kind != WORLD_TREE_SCALAR || tree->is_null) {
        return world_fail(error, SIM_ERR_INVALID, &tree->place, "a node is %s, expected its name",
                          world_tree_kind_text(tree));
    }
    world_shown_t shown;
    const size_t size = strlen(tree->text);
    if (size == 0 || size > NAME_BYTES_MAX) {
        return world_fail(error, SIM_ERR_INVALID, &tree->place,
                          "a node's name of %zu characters, expected 1 to %u", size,
                          NAME_BYTES_MAX);
    }
    for (const char *p = tree->text; *p != '\0'; p++) {
        const bool word = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                          (*p >= 'A' && *p <= 'Z') || strchr("._/-", *p) != NULL;
        if (!word || (p[0] == '-' && (p[1] == '-' || p[1] == '\0' || p == tree->text))) {
            return world_fail(
                error, SIM_ERR_INVALID, &tree->place,
                "'%s' cannot name a node, expected letters, digits, '.', '_', '/' and "
                "single '-' within",
                world_show(&shown, tree->text));
        }
    }
    return SIM_OK;
}

static sim_err_t add_graph_node(world_graph_t *graph, const world_tree_t *name,
                                net_node_kind_t kind, const world_node_kind_t *own_kind,
                                world_error_t *error)
{
    sim_err_t result = check_name(name, error);
    if (result != SIM_OK) {
        return result;
    }
    sim_message_t message;
    result = topo_graph_node(graph->topo, name->text, kind, &message);
    if (result != SIM_OK) {
        return world_fail(error, result, &name->place,
                          "%s, expected a name of its own for each node", message.text);
    }
    SIM_APPEND(graph->nodes, graph->node_count, graph->node_capacity,
               (world_graph_node_t){
                   .name = name->text,
                   .kind = kind,
                   .own_kind = own_kind,
                   .place = name->place,
               });
    return SIM_OK;
}

// Takes an entry of nodes: "- host: a" or "- switch: [b, c]", or a kind of the program.
static sim_err_t take_graph_nodes(world_scenario_t *scenario, const world_tree_t *map,
                                  world_error_t *error)
{
    world_graph_t *const graph = &scenario->graph;
    const world_node_kind_t *const *const own = world_registry_node_kinds(scenario->registry);
    const char **kinds = sim_alloc_array(scenario->own_node_count + 2, sizeof(*kinds));
    kinds[0] = "host";
    kinds[1] = "switch";
    for (size_t i = 0; i < scenario->own_node_count; i++) {
        kinds[2 + i] = own[i]->name;
    }
    const world_tree_entry_t *entry = NULL;
    sim_err_t result =
        world__take_choice(map, "graph node", kinds, scenario->own_node_count + 2, &entry, error);
    sim_free((void *)kinds);
    if (result != SIM_OK) {
        return result;
    }
    const world_node_kind_t *const own_kind =
        world_registry_node_kind(scenario->registry, entry->key->text);
    const net_node_kind_t kind =
        strcmp(entry->key->text, "host") == 0 ? NET_NODE_HOST : NET_NODE_SWITCH;
    if (entry->value->kind != WORLD_TREE_LIST) {
        return add_graph_node(graph, entry->value, kind, own_kind, error);
    }
    for (size_t i = 0; i < entry->value->count && result == SIM_OK; i++) {
        result = add_graph_node(graph, entry->value->entries[i].value, kind, own_kind, error);
    }
    return result;
}

static sim_err_t add_graph_link(world_scenario_t *scenario, const world_tree_t *name,
                                const net_link_config_t *config, world_error_t *error)
{
    world_pair_t pair;
    sim_message_t message;
    if (name->kind != WORLD_TREE_SCALAR || name->is_null) {
        return world_fail(error, SIM_ERR_INVALID, &name->place,
                          "a link is %s, expected the nodes it joins: host0--switch0",
                          world_tree_kind_text(name));
    }
    sim_err_t result =
        world_pair_parse(name->text, "--", "the nodes it joins: host0--switch0", &pair, &message);
    if (result == SIM_OK) {
        result = topo_graph_link(scenario->graph.topo, pair.left, pair.right, config, &message);
        if (result != SIM_OK) {
            world_pair_fini(&pair);
        }
    }
    if (result != SIM_OK) {
        world_shown_t shown;
        return world_fail(error, result, &name->place, "link '%s': %s",
                          world_show(&shown, name->text), message.text);
    }
    world_graph_t *const graph = &scenario->graph;
    SIM_APPEND(graph->links, graph->link_count, graph->link_capacity,
               (world_graph_link_t){pair.left, pair.right, *config});
    return SIM_OK;
}

// Takes an entry of links: "- a--b" or "- {between: a--b, rate: 40Gbps}".
static sim_err_t take_graph_link(world_scenario_t *scenario, const world_tree_t *tree,
                                 world_error_t *error)
{
    net_link_config_t config = scenario->link;
    if (tree->kind != WORLD_TREE_MAP) {
        return add_graph_link(scenario, tree, &config, error);
    }
    static const char *const others[] = {"between", NULL};
    const world_targets_t targets = world_targets_one(&net_link_config_attrs, &config);
    const sim_err_t result = world_bind(tree, "link", &targets, others, error);
    if (result != SIM_OK) {
        return result;
    }
    const world_tree_entry_t *const between = world_tree_find(tree, "between");
    if (between == NULL) {
        return world_fail(error, SIM_ERR_INVALID, &tree->place,
                          "a link without 'between', expected 'between: host0--switch0'");
    }
    return add_graph_link(scenario, between->value, &config, error);
}

static sim_err_t take_graph(world_scenario_t *scenario, const world_tree_t *map,
                            world_error_t *error)
{
    static const char *const keys[] = {"nodes", "links", NULL};
    const world_targets_t none = {.first = {NULL, NULL}};
    sim_err_t result = world_bind(map, "topology.graph", &none, keys, error);
    if (result != SIM_OK) {
        return result;
    }
    scenario->graph.topo = topo_graph_create();
    for (size_t k = 0; keys[k] != NULL; k++) {
        const world_tree_entry_t *const entry = map->is_null ? NULL : world_tree_find(map, keys[k]);
        const world_tree_t *const list = entry != NULL ? entry->value : map;
        if (entry == NULL || list->kind != WORLD_TREE_LIST || list->count == 0) {
            return world_fail(error, SIM_ERR_INVALID, &list->place,
                              "topology.graph has no list of %s, expected %s", keys[k],
                              k == 0 ? "nodes: [{host: [a, b]}, {switch: s}]"
                                     : "links: [a--s, {between: b--s, rate: 40Gbps}]");
        }
        for (size_t i = 0; i < list->count && result == SIM_OK; i++) {
            const world_tree_t *const item = list->entries[i].value;
            result = k == 0 ? take_graph_nodes(scenario, item, error)
                            : take_graph_link(scenario, item, error);
        }
        if (result != SIM_OK) {
            return result;
        }
    }
    return SIM_OK;
}

void world__graph_fini(world_graph_t *graph)
{
    if (graph->topo != NULL) {
        topo_graph_destroy(graph->topo);
    }
    for (size_t i = 0; i < graph->link_count; i++) {
        sim_free(graph->links[i].a);
        sim_free(graph->links[i].b);
    }
    sim_free(graph->nodes);
    sim_free(graph->links);
}

// -- topology

// Returns the entry with a map as its value: "file: x.txt" is short for "file: {path: x.txt}".
static const world_tree_entry_t *path_as_map(world_document_t *document,
                                             const world_tree_entry_t *entry)
{
    const world_place_t place = entry->value->place;
    world_tree_t *const map = world_tree_new(document, WORLD_TREE_MAP, place);
    world_tree_add(map, world_tree_new_scalar(document, place, "path"), entry->value);
    world_tree_t *const choice = world_tree_new(document, WORLD_TREE_MAP, place);
    world_tree_add(choice, entry->key, map);
    return &choice->entries[0];
}

sim_err_t world__take_topology(world_scenario_t *scenario, const world_tree_t *map,
                               world_error_t *error)
{
    const topo_ops_t *const *const topologies = world_registry_topologies(scenario->registry);
    const char **names = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (size_t i = 0; topologies[i] != NULL; i++) {
        SIM_APPEND(names, count, capacity, topologies[i]->name);
    }
    SIM_APPEND(names, count, capacity, "graph");
    const world_tree_entry_t *entry = NULL;
    sim_err_t result = world__take_choice(map, "topology", names, count, &entry, error);
    sim_free((void *)names);
    if (result != SIM_OK) {
        return result;
    }
    const topo_ops_t *const ops = world_registry_topology(scenario->registry, entry->key->text);
    const world_tree_t *const value = entry->value;
    if (ops == &topo_file && value->kind == WORLD_TREE_SCALAR && !value->is_null) {
        entry = path_as_map(scenario->document, entry);
    }
    scenario->topology_place = entry->key->place;
    scenario->topology_map = entry->value;
    if (ops == NULL) {
        return take_graph(scenario, entry->value, error);
    }
    scenario->topology = ops;
    scenario->topology_config = sim_alloc(ops->attrs->config_bytes);
    sim_attrs_default(ops->attrs, scenario->topology_config);
    const world_targets_t targets = world_targets_one(ops->attrs, scenario->topology_config);
    result = world_bind(entry->value, ops->attrs->prefix, &targets, NULL, error);
    if (result != SIM_OK) {
        return result;
    }
    sim_message_t message;
    result = ops->check(scenario->topology_config, &message);
    if (result != SIM_OK) {
        const world_place_t place =
            entry->value->is_null ? entry->key->place
                                  : world_locate(entry->value, ops->attrs->prefix, message.about);
        return world_fail(error, result, &place, "topology.%s: %s", ops->name, message.text);
    }
    return SIM_OK;
}

// -- nodes

// Values of an overlay must be right whatever node they are for; they are applied when nodes are
// made.
static sim_err_t try_node_values(const world_scenario_t *scenario,
                                 const world_node_overlay_t *overlay, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    if (overlay->switch_map != NULL) {
        net_switch_config_t config;
        sim_attrs_copy(&net_switch_config_attrs, &config, &scenario->switch_config);
        const world_targets_t targets = world_targets_one(&net_switch_config_attrs, &config);
        result = world_bind(overlay->switch_map, "switch", &targets, NULL, error);
        sim_attrs_fini(&net_switch_config_attrs, &config);
    }
    if (result == SIM_OK && overlay->nic_map != NULL) {
        nic_config_t config;
        nic_config_copy(&config, &scenario->nic_config);
        const world_targets_t targets = world_targets_nic(&config);
        result = world_bind(overlay->nic_map, "nic", &targets, NULL, error);
        nic_config_fini(&config);
    }
    if (result == SIM_OK && overlay->own_map != NULL) {
        const sim_attr_table_t *const attrs = overlay->own_kind->attrs;
        void *const config = sim_alloc(attrs->config_bytes);
        sim_attrs_default(attrs, config);
        const world_targets_t targets = world_targets_one(attrs, config);
        result = world_bind(overlay->own_map, attrs->prefix, &targets, NULL, error);
        sim_attrs_fini(attrs, config);
        sim_free(config);
    }
    return result;
}

// Takes the key of an overlay that names a kind of the program: it chooses the kind, and its value
// sets attributes.
static sim_err_t take_own_kind(const world_scenario_t *scenario, const world_tree_t *map,
                               world_node_overlay_t *overlay, world_error_t *error)
{
    const world_node_kind_t *const *kind = world_registry_node_kinds(scenario->registry);
    for (; *kind != NULL; kind++) {
        const world_tree_entry_t *const entry = world_tree_find(map, (*kind)->name);
        if (entry == NULL) {
            continue;
        }
        if (overlay->own_kind != NULL) {
            return world_fail(error, SIM_ERR_INVALID, &entry->key->place,
                              "nodes: '%s' has the kinds %s and %s, expected one", overlay->pattern,
                              overlay->own_kind->name, (*kind)->name);
        }
        overlay->own_kind = *kind;
        const bool empty = entry->value->is_null ||
                           (entry->value->kind == WORLD_TREE_MAP && entry->value->count == 0);
        if (!empty && (*kind)->attrs == NULL) {
            return world_fail(error, SIM_ERR_INVALID, &entry->value->place,
                              "nodes: the kind %s has no attributes, expected '%s:' alone",
                              (*kind)->name, (*kind)->name);
        }
        overlay->own_map = empty ? NULL : entry->value;
    }
    return SIM_OK;
}

// Lists the keys of an overlay: switch, nic and the kinds of the program. Free it with sim_free.
static const char **overlay_keys(const world_scenario_t *scenario)
{
    const char **const keys = sim_alloc_array(scenario->own_node_count + 3, sizeof(*keys));
    keys[0] = "switch";
    keys[1] = "nic";
    for (size_t i = 0; i < scenario->own_node_count; i++) {
        keys[2 + i] = world_registry_node_kinds(scenario->registry)[i]->name;
    }
    return keys;
}

static sim_err_t take_node_overlay(world_scenario_t *scenario, const world_tree_entry_t *entry,
                                   world_error_t *error)
{
    world_shown_t shown;
    sim_message_t message;
    const char *const pattern = entry->key->text;
    sim_err_t result = world_pattern_check(pattern, &message);
    if (result != SIM_OK) {
        return world_fail(error, result, &entry->key->place, "nodes: %s", message.text);
    }
    const world_targets_t none = {.first = {NULL, NULL}};
    const char **const keys = overlay_keys(scenario);
    char *const path = sim_format("nodes.%s", world_show(&shown, pattern));
    result = world_bind(entry->value, path, &none, keys, error);
    sim_free(path);
    sim_free((void *)keys);
    if (result != SIM_OK || entry->value->is_null) {
        return result;
    }
    world_node_overlay_t overlay = {.pattern = pattern, .place = entry->key->place};
    const world_tree_entry_t *found = world_tree_find(entry->value, "switch");
    overlay.switch_map = found != NULL && !found->value->is_null ? found->value : NULL;
    found = world_tree_find(entry->value, "nic");
    overlay.nic_map = found != NULL && !found->value->is_null ? found->value : NULL;
    result = take_own_kind(scenario, entry->value, &overlay, error);
    if (result != SIM_OK) {
        return result;
    }
    SIM_APPEND(scenario->nodes, scenario->node_count, scenario->node_capacity, overlay);
    return try_node_values(scenario, &overlay, error);
}

static sim_err_t check_map(const world_tree_t *map, const char *what, const char *example,
                           world_error_t *error)
{
    if (map->is_null || map->kind == WORLD_TREE_MAP) {
        return SIM_OK;
    }
    return world_fail(error, SIM_ERR_INVALID, &map->place,
                      "%s is %s, expected a mapping from name patterns to values such as %s", what,
                      world_tree_kind_text(map), example);
}

sim_err_t world__take_nodes(world_scenario_t *scenario, const world_tree_t *map,
                            world_error_t *error)
{
    sim_err_t result = check_map(map, "nodes", "{\"spine*\": {switch: {buffer: 64MB}}}", error);
    for (size_t i = 0; i < map->count && result == SIM_OK; i++) {
        result = take_node_overlay(scenario, &map->entries[i], error);
    }
    return result;
}

// -- links

static sim_err_t take_down(world_link_overlay_t *overlay, const world_tree_t *map,
                           world_error_t *error)
{
    world_down_t down = {.place = map->place};
    sim_attrs_default(&world_down_config_attrs, &down.config);
    const world_targets_t targets = world_targets_one(&world_down_config_attrs, &down.config);
    const sim_err_t result = world_bind(map, "links.down", &targets, NULL, error);
    if (result != SIM_OK) {
        return result;
    }
    if (down.config.until_ps <= down.config.at_ps) {
        return world_fail(error, SIM_ERR_RANGE, &map->place,
                          "the link comes up before it goes down, expected 'until' after 'at'");
    }
    SIM_APPEND(overlay->downs, overlay->down_count, overlay->down_capacity, down);
    return SIM_OK;
}

static sim_err_t take_downs(world_link_overlay_t *overlay, const world_tree_t *list,
                            world_error_t *error)
{
    if (list->kind == WORLD_TREE_MAP) {
        return take_down(overlay, list, error);
    }
    if (list->kind != WORLD_TREE_LIST) {
        return world_fail(error, SIM_ERR_INVALID, &list->place,
                          "links.down is %s, expected a list: [{at: 1ms, until: 2ms}]",
                          world_tree_kind_text(list));
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < list->count && result == SIM_OK; i++) {
        result = take_down(overlay, list->entries[i].value, error);
        const world_down_t *const downs = overlay->downs;
        if (result == SIM_OK && i > 0 && downs[i].config.at_ps <= downs[i - 1].config.until_ps) {
            result = world_fail(error, SIM_ERR_RANGE, &downs[i].place,
                                "the link is still down at that time, expected 'at' after the "
                                "previous 'until'");
        }
    }
    return result;
}

static sim_err_t take_link_overlay(world_scenario_t *scenario, const world_tree_entry_t *entry,
                                   world_error_t *error)
{
    static const char *const others[] = {"down", NULL};
    sim_message_t message;
    world_link_overlay_t overlay = {.pattern = entry->key->text, .place = entry->key->place};
    sim_err_t result = world_pair_parse(entry->key->text, "--", "the nodes it joins: leaf0--spine*",
                                        &overlay.names, &message);
    if (result != SIM_OK) {
        return world_fail(error, result, &entry->key->place, "links: %s", message.text);
    }
    overlay.map = entry->value;
    SIM_GROW(scenario->links, scenario->link_count, &scenario->link_capacity);
    world_link_overlay_t *const kept = &scenario->links[scenario->link_count++];
    *kept = overlay;
    net_link_config_t config = scenario->link;
    const world_targets_t targets = world_targets_one(&net_link_config_attrs, &config);
    result = world_bind(entry->value, "link", &targets, others, error);
    if (result != SIM_OK || entry->value->is_null) {
        return result;
    }
    const world_tree_entry_t *const down = world_tree_find(entry->value, "down");
    return down == NULL ? SIM_OK : take_downs(kept, down->value, error);
}

sim_err_t world__take_links(world_scenario_t *scenario, const world_tree_t *map,
                            world_error_t *error)
{
    sim_err_t result = check_map(map, "links", "{\"leaf0--spine*\": {rate: 40Gbps}}", error);
    for (size_t i = 0; i < map->count && result == SIM_OK; i++) {
        result = take_link_overlay(scenario, &map->entries[i], error);
    }
    return result;
}
