// SPDX-License-Identifier: Apache-2.0
// world/tree_paths.h - paths into the tree of a scenario, as --set and `parameters` write them:
// nic.mtu, traffic[0].poisson.load, nodes.spine*.switch.buffer.
#ifndef WORLD_TREE_PATHS_H
#define WORLD_TREE_PATHS_H

#include "world/yaml_tree.h"

SIM_C_BEGIN

// Returns what stands at a path such as traffic[0].poisson.load; NULL: nothing.
const world_tree_t *world_tree_at_path(const world_tree_t *root, const char *path);
// Returns the attribute that the value at a path sets: traffic.poisson.load for
// traffic[0].poisson.load, link.rate for links.leaf0--*.rate. Free it with sim_free. NULL: the path
// cannot be read.
char *world_attribute_of_path(const char *path);

SIM_C_END

#endif // WORLD_TREE_PATHS_H
