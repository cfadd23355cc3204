// SPDX-License-Identifier: Apache-2.0
// tests/ways.h - the plain ways that what makes a run fast falls back to.
#ifndef TESTS_WAYS_H
#define TESTS_WAYS_H

#include "world/world.h"

typedef enum way {
    WAY_AS_IT_IS,
    WAY_WITHOUT_ROUTES, // switches look each packet up
    WAY_ONE_BY_ONE,     // they take every event in its turn
    WAY_HEARD,          // and someone listens to each frame that is sent
    WAY_ODD_CYCLE,      // nodes do not run in two colours
    WAY_COUNT
} way_t;

// Makes a world that has not run go that way.
void way_go(const world_t *world, way_t way);

#endif // TESTS_WAYS_H
