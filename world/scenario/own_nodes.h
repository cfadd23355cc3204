// SPDX-License-Identifier: Apache-2.0
// world/scenario/own_nodes.h - the section `node`, and a registry's own kinds of nodes.
#ifndef WORLD_SCENARIO_OWN_NODES_H
#define WORLD_SCENARIO_OWN_NODES_H

#include "world/bind.h"
#include "world/scenario.h"

SIM_MUST_CHECK sim_err_t world__take_own_nodes(world_scenario_t *scenario, const world_tree_t *map,
                                               world_error_t *error);
void world__own_nodes_init(world_scenario_t *scenario);
void world__own_nodes_fini(world_scenario_t *scenario);
// Returns the structs that the section "node" configures; the first target has no table.
world_targets_t world__targets_own_nodes(const world_scenario_t *scenario);
// Returns the kind of a node: that of the graph, or of the last pattern that matches; NULL: it is a
// switch of the library or a host.
const world_node_kind_t *world__own_node_kind(const world_scenario_t *scenario, const char *name);
// Creates the program's own node that has this name in the scenario; NULL: it is a switch of the
// library. A configuration that fails its check sets *result and error, and gives NULL, too.
net_node_t *world__own_node_create(const world_scenario_t *scenario, net_t *net, const char *name,
                                   sim_err_t *result, world_error_t *error);

#endif // WORLD_SCENARIO_OWN_NODES_H
