// SPDX-License-Identifier: Apache-2.0
// studio/server/library/prefix_run.h - estimates how long a run takes from its beginning.
#ifndef STUDIO_SERVER_LIBRARY_PREFIX_RUN_H
#define STUDIO_SERVER_LIBRARY_PREFIX_RUN_H

#include "world/world.h"

// Simulates the beginning of a world for a fraction of a second, and returns the processor time of
// the whole run in seconds, as if the rest went on at the last pace. A run that ends before is
// measured as a whole, and sets *whole. Below 0: nothing says which share was done. Call it once, on
// a world with applications; the world is of no other use afterwards.
double studio__prefix_run_s(world_t *world, bool *whole);

#endif // STUDIO_SERVER_LIBRARY_PREFIX_RUN_H
