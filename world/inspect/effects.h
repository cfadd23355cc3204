// SPDX-License-Identifier: Apache-2.0
// world/inspect/effects.h - which attributes need which others, and notes for those set in vain.
#ifndef WORLD_INSPECT_EFFECTS_H
#define WORLD_INSPECT_EFFECTS_H

#include "world/warnings.h"
#include "world/world.h"

SIM_C_BEGIN

typedef struct world_effect {
    const char *paths; // of attributes, with blanks between them
    const char *needs; // a condition on others, without which these have no effect
} world_effect_t;

// Returns the table of effects, for tests.
const world_effect_t *world__effects(size_t *count);

// Adds a note with its place for each attribute that the scenario sets to another value than its
// default, although nothing has what the attribute needs.
void world__advise_effects(const world_t *world, world_warnings_t *warnings);

SIM_C_END

#endif // WORLD_INSPECT_EFFECTS_H
