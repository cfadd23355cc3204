// SPDX-License-Identifier: Apache-2.0
// world/construct/apply_faults.h - passes faults and links that go down to the network.
#ifndef WORLD_CONSTRUCT_APPLY_FAULTS_H
#define WORLD_CONSTRUCT_APPLY_FAULTS_H

#include "world/world.h"

// Checks the faults and passes them, before net_build.
SIM_MUST_CHECK sim_err_t world__apply_faults(const world_t *world, world_error_t *error);

#endif // WORLD_CONSTRUCT_APPLY_FAULTS_H
