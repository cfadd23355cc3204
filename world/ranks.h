// SPDX-License-Identifier: Apache-2.0
// world/ranks.h - which scenarios can run in several ranks (kernel/ranks.h).
#ifndef WORLD_RANKS_H
#define WORLD_RANKS_H

#include "world/world.h"

SIM_C_BEGIN

// Fails with SIM_ERR_INVALID and the reason if the scenario asks for something that ranks cannot
// do: ties by insertion, or an application without `carry`, such as a session.
SIM_MUST_CHECK sim_err_t world_ranks_check(const world_scenario_t *scenario, world_error_t *error);
// Looks at the built world, too: at NICs that patterns or programs made.
SIM_MUST_CHECK sim_err_t world_ranks_check_built(const world_t *world, world_error_t *error);

SIM_C_END

#endif // WORLD_RANKS_H
