// SPDX-License-Identifier: Apache-2.0
// world/advice.h - what is probably not meant in a scenario that is valid.
#ifndef WORLD_ADVICE_H
#define WORLD_ADVICE_H

#include <stdio.h>

#include "world/world.h"

SIM_C_BEGIN

// Writes a line "warning: ..." for each finding, with what to set: retransmission timeouts that the
// round trip exceeds on an idle network, so that everything would be sent again; classes of data
// that switches take for others, that are lossy where PFC protects others, or lossless on a
// part of their paths only.
void world_advise(const world_t *world, FILE *out);

// The classes in use, and what switches make of them, a line each (classes.c).
void world_print_classes(const world_t *world, FILE *out);
// The class at each hop of the paths that transfers take, a line per kind of link (hops.c).
void world_print_hops(const world_t *world, FILE *out);
void world__advise_hops(const world_t *world, FILE *out);
void world__advise_classes(const world_t *world, FILE *out);

SIM_C_END

#endif // WORLD_ADVICE_H
