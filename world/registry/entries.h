// SPDX-License-Identifier: Apache-2.0
// world/registry/entries.h - passes the parts that programs have registered to a network.
#ifndef WORLD_REGISTRY_ENTRIES_H
#define WORLD_REGISTRY_ENTRIES_H

#include "world/registry/plugins/plugins.h"
#include "world/scenario.h"

// Passes the parts with the scenario's parameters (NULL: without any).
void world__registry_use(const world_registry_t *registry, const world_scenario_t *scenario,
                         net_t *net);
// Returns the plug-ins of a registry.
world__plugins_t *world__registry_plugins(world_registry_t *registry);

#endif // WORLD_REGISTRY_ENTRIES_H
