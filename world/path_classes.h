// SPDX-License-Identifier: Apache-2.0
// world/path_classes.h - the class of packets at each hop of the paths in use.
#ifndef WORLD_PATH_CLASSES_H
#define WORLD_PATH_CLASSES_H

#include "world/warnings.h"
#include "world/world.h"
#include <stdio.h>

SIM_C_BEGIN

// Prints the class at each hop of the paths that transfers take, a line per kind of link.
void world_print_hops(const world_t *world, FILE *out);
void world__advise_hops(const world_t *world, world_warnings_t *warnings);

SIM_C_END

#endif // WORLD_PATH_CLASSES_H
