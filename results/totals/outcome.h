// SPDX-License-Identifier: Apache-2.0
// results/totals/outcome.h - a hash over what a run brought about, whatever the engine did for it.
#ifndef RESULTS_TOTALS_OUTCOME_H
#define RESULTS_TOTALS_OUTCOME_H

#include "world/world.h"

SIM_C_BEGIN

// The outcome digest covers flows, ports, NICs and drops, in this order, and nothing about how the
// engine got there. So a run that skips events (docs/models/fast-forward.md) has the digest of the
// run that does not. With several ranks, rank 0 has all parts. results/totals/gather.c adds them.

// Adds a flow.
void results_outcome_flow(sim_digest_t *digest, const app_flow_result_t *flow);
// Adds the counters of a NIC.
void results_outcome_nic(sim_digest_t *digest, const nic_counters_t *counters);

SIM_C_END

#endif // RESULTS_TOTALS_OUTCOME_H
