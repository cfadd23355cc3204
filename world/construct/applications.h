// SPDX-License-Identifier: Apache-2.0
// world/construct/applications.h - the applications of a world.
#ifndef WORLD_CONSTRUCT_APPLICATIONS_H
#define WORLD_CONSTRUCT_APPLICATIONS_H

#include "world/world.h"

// Makes the application of an entry of `traffic` and adds it to world->apps. `index` is its place,
// which selects its random streams. `program`: a session submits it.
SIM_MUST_CHECK sim_err_t world__create_app(world_t *world, const world_traffic_t *traffic,
                                           uint32_t index, bool program, world_error_t *error);
// stall_report.c: frees what other ranks reported of a stall; NULL is allowed.
void world__stuck_free(struct world_stuck *stuck);

#endif // WORLD_CONSTRUCT_APPLICATIONS_H
