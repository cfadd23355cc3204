// SPDX-License-Identifier: Apache-2.0
// results/totals/outcome.h - a hash over what a run brought about, whatever the engine did for it.
#ifndef RESULTS_TOTALS_OUTCOME_H
#define RESULTS_TOTALS_OUTCOME_H

#include "world/world.h"

SIM_C_BEGIN

// Returns the outcome digest of a run that ended at end_ps: flows, counters of ports and NICs, and
// drops. With several ranks, rank 0 has them all.
uint64_t results_outcome(const world_t *world, sim_time_t end_ps);

SIM_C_END

#endif // RESULTS_TOTALS_OUTCOME_H
