// SPDX-License-Identifier: Apache-2.0
// world/inspect/combinations.h - warnings about settings that are known to be bad together.
#ifndef WORLD_INSPECT_COMBINATIONS_H
#define WORLD_INSPECT_COMBINATIONS_H

#include "world/warnings.h"
#include "world/world.h"

SIM_C_BEGIN

// Adds a warning for each rule that holds for some NIC, with the measured cost.
void world__advise_combinations(const world_t *world, world_warnings_t *warnings);

SIM_C_END

#endif // WORLD_INSPECT_COMBINATIONS_H
