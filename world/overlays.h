// SPDX-License-Identifier: Apache-2.0
// world/overlays.h - the values that a scenario gives to the nodes and links that match a pattern.
#ifndef WORLD_OVERLAYS_H
#define WORLD_OVERLAYS_H

#include "world/faults.h"
#include "world/patterns.h"
#include "world/registry.h"
#include "world/yaml_tree.h"

SIM_C_BEGIN

// Values of the nodes that match a pattern.
typedef struct world_node_overlay {
    const char *pattern;
    world_place_t place;
    const world_tree_t *switch_map; // NULL: none
    const world_tree_t *nic_map;
    const world_node_kind_t *own_kind; // of the switches that match; NULL: it says nothing of that
    const world_tree_t *own_map;       // attributes of own_kind; NULL: none
} world_node_overlay_t;

// Values of the links that match a pattern.
typedef struct world_link_overlay {
    const char *pattern;
    world_pair_t names;
    world_place_t place;
    const world_tree_t *map;
    world_down_t *downs;
    size_t down_count;
    size_t down_capacity;
} world_link_overlay_t;

SIM_C_END

#endif // WORLD_OVERLAYS_H
