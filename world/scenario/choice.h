// SPDX-License-Identifier: Apache-2.0
// world/scenario/choice.h - reads a list, and a mapping that names one of several kinds.
#ifndef WORLD_SCENARIO_CHOICE_H
#define WORLD_SCENARIO_CHOICE_H

#include "world/scenario.h"

// Returns the only entry of a map that must have one, such as a topology or a traffic entry. `what`
// names the map in messages, `names` are the accepted keys.
SIM_MUST_CHECK sim_err_t world__take_choice(const world_tree_t *map, const char *what,
                                            const char *const *names, size_t name_count,
                                            const world_tree_entry_t **entry, world_error_t *error);

// Takes an entry of a section that is a list.
typedef sim_err_t (*world__take_fn)(world_scenario_t *scenario, const world_tree_t *entry,
                                    world_error_t *error);
// Calls take for each entry of a list, up to the first error. `what` names the section in messages,
// `example` shows such a list. A null is an empty list.
SIM_MUST_CHECK sim_err_t world__take_list(world_scenario_t *scenario, const world_tree_t *list,
                                          const char *what, const char *example,
                                          world__take_fn take, world_error_t *error);

#endif // WORLD_SCENARIO_CHOICE_H
