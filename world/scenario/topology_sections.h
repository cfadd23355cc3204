// SPDX-License-Identifier: Apache-2.0
// world/scenario/topology_sections.h - reads the sections that say what the network is.
#ifndef WORLD_SCENARIO_TOPOLOGY_SECTIONS_H
#define WORLD_SCENARIO_TOPOLOGY_SECTIONS_H

#include "world/scenario.h"

SIM_MUST_CHECK sim_err_t world__take_topology(world_scenario_t *scenario, const world_tree_t *map,
                                              world_error_t *error);
SIM_MUST_CHECK sim_err_t world__take_nodes(world_scenario_t *scenario, const world_tree_t *map,
                                           world_error_t *error);
SIM_MUST_CHECK sim_err_t world__take_links(world_scenario_t *scenario, const world_tree_t *map,
                                           world_error_t *error);
void world__graph_fini(world_graph_t *graph);

#endif // WORLD_SCENARIO_TOPOLOGY_SECTIONS_H
