// SPDX-License-Identifier: Apache-2.0
// world/scenario/fault_section.h - reads the section `faults`.
#ifndef WORLD_SCENARIO_FAULT_SECTION_H
#define WORLD_SCENARIO_FAULT_SECTION_H

#include "world/faults.h"
#include "world/scenario.h"

SIM_MUST_CHECK sim_err_t world__take_faults(world_scenario_t *scenario, const world_tree_t *list,
                                            world_error_t *error);
// Removes the last fault.
void world__drop_fault(world_scenario_t *scenario);
void world__faults_fini(world_scenario_t *scenario);
// Returns whether the fault's part is a node or NIC, which means all its links.
bool world__fault_is_of_nodes(const world_fault_t *fault);

#endif // WORLD_SCENARIO_FAULT_SECTION_H
