// SPDX-License-Identifier: Apache-2.0
// world/construct/output_estimate.h - estimates what series and captures take.
#ifndef WORLD_CONSTRUCT_OUTPUT_ESTIMATE_H
#define WORLD_CONSTRUCT_OUTPUT_ESTIMATE_H

#include "world/world.h"

struct world_observed;
void world__observed_estimate(const world_t *world, struct world_observed *observed);
// Checks the estimate against memory-max.
SIM_MUST_CHECK sim_err_t world__observed_check(const world_t *world, world_error_t *error);

#endif // WORLD_CONSTRUCT_OUTPUT_ESTIMATE_H
