// SPDX-License-Identifier: Apache-2.0
// world/scenario/sections.h - the sections of a scenario.
#ifndef WORLD_SCENARIO_SECTIONS_H
#define WORLD_SCENARIO_SECTIONS_H

#include "world/bind.h"
#include "world/scenario.h"

// Returns the section of a scenario that a key may mean: "captures" for "capture" and "pcap". With
// `plain`, only sections count for which a plain value may be meant. NULL: the key means none.
const char *world__section_of(const char *key, bool plain);
// Returns the structs that the section "network" configures.
world_targets_t world__targets_network(const world_scenario_t *scenario);
// Adds an entry to the scenario's traffic; removes the last one.
SIM_MUST_CHECK sim_err_t world__add_traffic(world_scenario_t *scenario, const world_tree_t *map,
                                            world_error_t *error);
void world__drop_traffic(world_scenario_t *scenario);

#endif // WORLD_SCENARIO_SECTIONS_H
