// SPDX-License-Identifier: Apache-2.0
// world/construct/fast_forward.h - what a scenario lets the run skip.
#ifndef WORLD_CONSTRUCT_FAST_FORWARD_H
#define WORLD_CONSTRUCT_FAST_FORWARD_H

#include "world/world.h"

// Takes the settings of `fast-forward`. skips.barred is kept if it is set.
void world__skips_begin(world_t *world);
// Returns whether processes of this machine take part, whose states the engine does not know.
bool world__has_programs(const world_scenario_t *scenario);
// Returns whether a run in one process may skip periods within messages.
bool world__skips_periods(const world_scenario_t *scenario);
// Returns whether such a run may simulate one of equal rails.
bool world__skips_rails(const world_scenario_t *scenario);

#endif // WORLD_CONSTRUCT_FAST_FORWARD_H
