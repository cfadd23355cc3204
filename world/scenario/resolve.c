// SPDX-License-Identifier: Apache-2.0
// world/scenario/resolve.c - writes a scenario back as YAML, every default filled in.
#include "world/bind.h"
#include "world/captures.h"
#include "world/faults.h"
#include "world/scenario.h"
#include "world/scenario/own_nodes.h"
#include "world/scenario/sections.h"
#include "world/series.h"
#include "world/yaml_text.h"

#include <stdio.h>
#include <string.h>

static const world_place_t nowhere = {NULL, 0, 0};

// -- trees

static world_tree_t *scalar(world_document_t *document, const char *text)
{
    return world_tree_new_scalar(document, nowhere, text);
}

static world_tree_t *new_map(world_document_t *document)
{
    return world_tree_new(document, WORLD_TREE_MAP, nowhere);
}

static world_tree_t *add_map(world_document_t *document, world_tree_t *map, const char *key)
{
    world_tree_t *const made = new_map(document);
    world_tree_add(map, scalar(document, key), made);
    return made;
}

static world_tree_t *add_list(world_document_t *document, world_tree_t *map, const char *key)
{
    world_tree_t *const made = world_tree_new(document, WORLD_TREE_LIST, nowhere);
    world_tree_add(map, scalar(document, key), made);
    return made;
}

static world_tree_t *copy(world_document_t *document, const world_tree_t *tree)
{
    world_tree_t *const made = world_tree_new(document, tree->kind, nowhere);
    made->is_null = tree->is_null;
    made->text = tree->text != NULL ? sim_strdup(tree->text) : NULL;
    for (size_t i = 0; i < tree->count; i++) {
        const world_tree_entry_t *const entry = &tree->entries[i];
        world_tree_add(made, entry->key != NULL ? copy(document, entry->key) : NULL,
                       copy(document, entry->value));
    }
    return made;
}

// -- sections

// Fills a map with the attributes of targets. world_unbind only reads the configs.
static void fill(world_document_t *document, world_tree_t *map, const sim_attr_table_t *table,
                 const void *config)
{
    union {
        const void *in;
        void *out;
    } unchanged = {.in = config};
    const world_targets_t targets = world_targets_one(table, unchanged.out);
    world_unbind(document, map, table->prefix, &targets);
}

static void remove_key(world_tree_t *map, const char *key)
{
    world_tree_entry_t *const entry = world_tree_find(map, key);
    if (entry != NULL) {
        const size_t index = (size_t)(entry - map->entries);
        memmove(entry, entry + 1, (map->count - index - 1) * sizeof(*entry));
        map->count--;
    }
}

static bool gives(const world_tree_t *map, const char *key)
{
    return map != NULL && map->kind == WORLD_TREE_MAP && world_tree_find(map, key) != NULL;
}

// Adds the attributes of links. With a built-in topology, rate and delay come from its attributes
// unless the scenario sets them for all links, so their defaults are not written down.
static void add_link(world_document_t *document, world_tree_t *root,
                     const world_scenario_t *scenario)
{
    world_tree_t *const map = add_map(document, root, "link");
    fill(document, map, &net_link_config_attrs, &scenario->link);
    for (size_t i = 0; scenario->topology != NULL && i < 2; i++) {
        const char *const key = i == 0 ? "rate" : "delay";
        if (!gives(scenario->link_map, key)) {
            remove_key(map, key);
        }
    }
}

static void add_graph(world_document_t *document, world_tree_t *into, const world_graph_t *graph)
{
    world_tree_t *const map = add_map(document, into, "graph");
    world_tree_t *const nodes = add_list(document, map, "nodes");
    for (size_t i = 0; i < graph->node_count; i++) {
        world_tree_t *const node = new_map(document);
        const char *const kind = graph->nodes[i].own_kind != NULL ? graph->nodes[i].own_kind->name
                                 : graph->nodes[i].kind == NET_NODE_HOST ? "host"
                                                                         : "switch";
        world_tree_add(node, scalar(document, kind), scalar(document, graph->nodes[i].name));
        world_tree_add(nodes, NULL, node);
    }
    world_tree_t *const links = add_list(document, map, "links");
    for (size_t i = 0; i < graph->link_count; i++) {
        world_tree_t *const link = new_map(document);
        char *const name = sim_format("%s--%s", graph->links[i].a, graph->links[i].b);
        world_tree_add(link, scalar(document, "between"), scalar(document, name));
        sim_free(name);
        fill(document, link, &net_link_config_attrs, &graph->links[i].config);
        world_tree_add(links, NULL, link);
    }
}

static void add_topology(world_document_t *document, world_tree_t *root,
                         const world_scenario_t *scenario)
{
    world_tree_t *const topology = add_map(document, root, "topology");
    if (scenario->topology == NULL) {
        add_graph(document, topology, &scenario->graph);
        return;
    }
    world_tree_t *const map = add_map(document, topology, scenario->topology->name);
    fill(document, map, scenario->topology->attrs, scenario->topology_config);
}

static void add_nic(world_document_t *document, world_tree_t *root,
                    const world_scenario_t *scenario)
{
    nic_config_t config;
    nic_config_copy(&config, &scenario->nic_config);
    const world_targets_t targets = world_targets_nic(&config);
    world_unbind(document, add_map(document, root, "nic"), "nic", &targets);
    nic_config_fini(&config);
}

static void add_overlays(world_document_t *document, world_tree_t *root,
                         const world_scenario_t *scenario)
{
    static const char *const keys[] = {"nodes", "links"};
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        const world_tree_entry_t *const entry = world_tree_find(scenario->root, keys[i]);
        if (entry != NULL && entry->value->count > 0) {
            world_tree_add(root, scalar(document, keys[i]), copy(document, entry->value));
        }
    }
}

static void add_lists(world_document_t *document, world_tree_t *root,
                      const world_scenario_t *scenario)
{
    world_tree_t *list = add_list(document, root, "faults");
    for (size_t i = 0; i < scenario->fault_count; i++) {
        world_tree_t *const entry = new_map(document);
        fill(document, entry, &world_fault_config_attrs, &scenario->faults[i].config);
        world_tree_add(list, NULL, entry);
    }
    list = add_list(document, root, "traffic");
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        const world_traffic_t *const traffic = &scenario->traffic[i];
        world_tree_t *const entry = new_map(document);
        world_tree_t *const map = add_map(document, entry, traffic->ops->name);
        fill(document, map, traffic->ops->attrs, traffic->config);
        world_tree_add(list, NULL, entry);
    }
    list = add_list(document, root, "observe");
    for (size_t i = 0; i < scenario->series_count; i++) {
        world_tree_t *const entry = new_map(document);
        fill(document, entry, &world_observe_config_attrs, &scenario->series[i].config);
        world_tree_add(list, NULL, entry);
    }
    list = add_list(document, root, "captures");
    for (size_t i = 0; i < scenario->capture_count; i++) {
        world_tree_t *const entry = new_map(document);
        fill(document, entry, &world_capture_config_attrs, &scenario->captures[i].config);
        world_tree_add(list, NULL, entry);
    }
}

// Adds the plug-ins with the hashes of their files, so that another content is refused.
static void add_plugins(world_document_t *document, world_tree_t *root,
                        const world_scenario_t *scenario)
{
    size_t count;
    const world_plugin_file_t *const files = world_registry_plugins(scenario->registry, &count);
    if (count == 0 || world_tree_find(scenario->root, "plugins") == NULL) {
        return;
    }
    world_tree_t *const list = add_list(document, root, "plugins");
    for (size_t i = 0; i < count; i++) {
        world_tree_t *const entry = new_map(document);
        world_tree_add(entry, scalar(document, "file"), scalar(document, files[i].path));
        world_tree_add(entry, scalar(document, "sha256"), scalar(document, files[i].sha256));
        world_tree_add(list, NULL, entry);
    }
}

char *world_scenario_resolved(const world_scenario_t *scenario)
{
    world_document_t *const document = world_document_create();
    world_tree_t *const root = new_map(document);
    fill(document, root, &world_run_config_attrs, &scenario->run);
    remove_key(root, "threads");
    fill(document, add_map(document, root, "outputs"), &world_outputs_config_attrs,
         &scenario->outputs);
    fill(document, add_map(document, root, "fast-forward"), &world_fast_forward_config_attrs,
         &scenario->fast_forward);
    add_plugins(document, root, scenario);
    const world_targets_t network = world__targets_network(scenario);
    world_unbind(document, add_map(document, root, "network"), "network", &network);
    fill(document, add_map(document, root, "scale-up"), &net_scale_up_attrs, &scenario->scale_up);
    fill(document, add_map(document, root, "hpcc"), &compat_hpcc_config_attrs, &scenario->hpcc);
    fill(document, add_map(document, root, "programs"), &app_programs_attrs,
         &scenario->programs_config);
    add_topology(document, root, scenario);
    add_link(document, root, scenario);
    fill(document, add_map(document, root, "switch"), &net_switch_config_attrs,
         &scenario->switch_config);
    add_nic(document, root, scenario);
    if (scenario->own_node_count > 0) {
        const world_targets_t own = world__targets_own_nodes(scenario);
        world_unbind(document, add_map(document, root, "node"), "node", &own);
    }
    add_overlays(document, root, scenario);
    add_lists(document, root, scenario);
    char *const text = world_yaml_text(root);
    world_document_destroy(document);
    return text;
}
