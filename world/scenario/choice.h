// SPDX-License-Identifier: Apache-2.0
// world/scenario/choice.h - reads a mapping that names one of several kinds.
#ifndef WORLD_SCENARIO_CHOICE_H
#define WORLD_SCENARIO_CHOICE_H

#include "world/yaml_tree.h"

// Returns the only entry of a map that must have one, such as a topology or a traffic entry. `what`
// names the map in messages, `names` are the accepted keys.
SIM_MUST_CHECK sim_err_t world__take_choice(const world_tree_t *map, const char *what,
                                            const char *const *names, size_t name_count,
                                            const world_tree_entry_t **entry, world_error_t *error);

#endif // WORLD_SCENARIO_CHOICE_H
