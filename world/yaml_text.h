// SPDX-License-Identifier: Apache-2.0
// world/yaml_text.h - writes trees as YAML.
#ifndef WORLD_YAML_TEXT_H
#define WORLD_YAML_TEXT_H

#include "world/yaml_tree.h"

SIM_C_BEGIN

// Returns a tree as YAML in block style. Free the text with sim_free.
char *world_yaml_text(const world_tree_t *tree);

SIM_C_END

#endif // WORLD_YAML_TEXT_H
