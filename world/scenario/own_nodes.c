// SPDX-License-Identifier: Apache-2.0
// world/scenario/own_nodes.c - a program's own kinds of nodes (world_registry_add_node_kind): the
// section `node`, and the configuration of each such node.
#include "world/scenario/own_nodes.h"
#include "world/bind.h"
#include "world/overlays.h"
#include "world/patterns.h"

#include <string.h>

void world__own_nodes_init(world_scenario_t *scenario)
{
    const world_node_kind_t *const *const kinds = world_registry_node_kinds(scenario->registry);
    while (kinds[scenario->own_node_count] != NULL) {
        scenario->own_node_count++;
    }
    scenario->own_nodes =
        sim_alloc_array(scenario->own_node_count + 1, sizeof(*scenario->own_nodes));
    for (size_t i = 0; i < scenario->own_node_count; i++) {
        if (kinds[i]->attrs != NULL) {
            scenario->own_nodes[i] = sim_alloc(kinds[i]->attrs->config_bytes);
            sim_attrs_default(kinds[i]->attrs, scenario->own_nodes[i]);
        }
    }
}

void world__own_nodes_fini(world_scenario_t *scenario)
{
    const world_node_kind_t *const *const kinds = world_registry_node_kinds(scenario->registry);
    for (size_t i = 0; i < scenario->own_node_count; i++) {
        if (scenario->own_nodes[i] != NULL) {
            sim_attrs_fini(kinds[i]->attrs, scenario->own_nodes[i]);
            sim_free(scenario->own_nodes[i]);
        }
    }
    sim_free(scenario->own_nodes);
}

// Finds the index-th kind that has attributes.
static bool own_node_at(const void *source, size_t index, world_target_t *target)
{
    const world_scenario_t *const scenario = source;
    const world_node_kind_t *const *const kinds = world_registry_node_kinds(scenario->registry);
    for (size_t i = 0; i < scenario->own_node_count; i++) {
        if (scenario->own_nodes[i] != NULL && index-- == 0) {
            *target = (world_target_t){kinds[i]->attrs, scenario->own_nodes[i]};
            return true;
        }
    }
    return false;
}

static bool own_node_after_first(const void *source, size_t index, world_target_t *target)
{
    return own_node_at(source, index + 1, target);
}

world_targets_t world__targets_own_nodes(const world_scenario_t *scenario)
{
    world_targets_t targets = {.more = own_node_after_first, .source = scenario};
    if (!own_node_at(scenario, 0, &targets.first)) {
        targets.more = NULL;
    }
    return targets;
}

sim_err_t world__take_own_nodes(world_scenario_t *scenario, const world_tree_t *map,
                                world_error_t *error)
{
    const world_targets_t targets = world__targets_own_nodes(scenario);
    return world_bind(map, "node", &targets, NULL, error);
}

const world_node_kind_t *world__own_node_kind(const world_scenario_t *scenario, const char *name)
{
    const world_node_kind_t *kind = NULL;
    if (scenario->own_node_count == 0) {
        return NULL;
    }
    for (size_t i = 0; i < scenario->graph.node_count; i++) {
        if (strcmp(scenario->graph.nodes[i].name, name) == 0) {
            kind = scenario->graph.nodes[i].own_kind;
        }
    }
    for (size_t i = 0; i < scenario->node_count; i++) {
        const world_node_overlay_t *const overlay = &scenario->nodes[i];
        if (overlay->own_kind != NULL && world_pattern_match(overlay->pattern, name)) {
            kind = overlay->own_kind;
        }
    }
    return kind;
}

// Fills a node's configuration: the section's, changed by the patterns that match, later ones last.
// Returns the last of these, for messages; NULL: none.
static const world_tree_t *configure(const world_scenario_t *scenario,
                                     const world_node_kind_t *kind, const char *name, void *config)
{
    const world_node_kind_t *const *const kinds = world_registry_node_kinds(scenario->registry);
    size_t number = 0;
    while (kinds[number] != kind) {
        number++;
    }
    sim_attrs_copy(kind->attrs, config, scenario->own_nodes[number]);
    const world_targets_t targets = world_targets_one(kind->attrs, config);
    const world_tree_t *last = NULL;
    for (size_t i = 0; i < scenario->node_count; i++) {
        const world_node_overlay_t *const overlay = &scenario->nodes[i];
        if (overlay->own_kind == kind && overlay->own_map != NULL &&
            world_pattern_match(overlay->pattern, name)) {
            last = overlay->own_map;
            world_error_t error;
            const sim_err_t result = world_bind(last, kind->attrs->prefix, &targets, NULL, &error);
            SIM_CHECKF(result == SIM_OK, "%s", error.text);
        }
    }
    return last;
}

// Returns the place of a value that the check of a node refused: in the pattern that set it last,
// else in the section `node`.
static world_place_t place_of(const world_scenario_t *scenario, const world_node_kind_t *kind,
                              const world_tree_t *map, const char *about)
{
    if (map != NULL) {
        return world_locate(map, kind->attrs->prefix, about);
    }
    const world_tree_entry_t *const entry = world_tree_find(scenario->root, "node");
    char *const path = sim_format("%s.%s", kind->attrs->prefix, about);
    const world_place_t place =
        entry == NULL ? scenario->topology_place : world_locate(entry->value, "node", path);
    sim_free(path);
    return place;
}

net_node_t *world__own_node_create(const world_scenario_t *scenario, net_t *net, const char *name,
                                   sim_err_t *result, world_error_t *error)
{
    const world_node_kind_t *const kind = world__own_node_kind(scenario, name);
    if (kind == NULL) {
        return NULL;
    }
    void *config = NULL;
    const world_tree_t *map = NULL;
    if (kind->attrs != NULL) {
        config = sim_alloc(kind->attrs->config_bytes);
        map = configure(scenario, kind, name, config);
    }
    sim_message_t message = {.text = ""};
    net_node_t *node = NULL;
    *result = kind->check == NULL ? SIM_OK : kind->check(config, &message);
    if (*result == SIM_OK) {
        node = kind->create(net, name, config);
        if (node == NULL || node->kind != NET_NODE_FORWARDER || node->forward == NULL) {
            sim_give_up("plug-in %s: the operation create of '%s' made no NET_NODE_FORWARDER with "
                        "net_node_forward",
                        world_registry_plugin_of(scenario->registry, kind), kind->name);
        }
    } else {
        const world_place_t place = config == NULL ? scenario->topology_place
                                                   : place_of(scenario, kind, map, message.about);
        world_fail(error, *result, &place, "node.%s.%s (of node %s)", kind->name, message.text,
                   name);
    }
    if (config != NULL) {
        sim_attrs_fini(kind->attrs, config);
        sim_free(config);
    }
    return node;
}
