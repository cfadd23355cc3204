// SPDX-License-Identifier: Apache-2.0
// world/scenario/output_sections.h - reads the sections `observe` and `captures`.
#ifndef WORLD_SCENARIO_OUTPUT_SECTIONS_H
#define WORLD_SCENARIO_OUTPUT_SECTIONS_H

#include "world/scenario.h"

SIM_MUST_CHECK sim_err_t world__take_observe(world_scenario_t *scenario, const world_tree_t *list,
                                             world_error_t *error);
SIM_MUST_CHECK sim_err_t world__take_captures(world_scenario_t *scenario, const world_tree_t *list,
                                              world_error_t *error);

#endif // WORLD_SCENARIO_OUTPUT_SECTIONS_H
