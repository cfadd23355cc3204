// SPDX-License-Identifier: Apache-2.0
// results/run/gather_ranks.h - brings to rank 0 what a run in ranks (kernel/ranks.h) left behind.
#ifndef RESULTS_RUN_GATHER_RANKS_H
#define RESULTS_RUN_GATHER_RANKS_H

#include "kernel/ranks.h"
#include "results/run/observe.h"
#include "results/run/observe_series.h"
#include "results/span.h"

// Lets rank 0 take what results read of the nodes, NICs, applications and observers of all ranks.
// After sim_run, by all ranks. observers may be NULL.
void results__carry(world_t *world, results_span_t *span, results_observers_t *observers);

// Returns whether all ranks succeeded. *worst is the lowest rank that did not.
bool results__ranks_agree(const sim_ranks_t *ranks, bool succeeded, unsigned *worst);

// same_inputs.c: fails at rank 0 if a rank has another program or other inputs. All ranks call it.
SIM_MUST_CHECK sim_err_t results__same_inputs(const sim_ranks_t *ranks, const world_t *world,
                                              bool writes, world_error_t *error);

// Ports and NICs in records: numbers in the place of pointers.
const void *results__port_packed(const net_port_t *port);
const net_port_t *results__port_unpacked(const net_t *net, const void *packed);

#endif // RESULTS_RUN_GATHER_RANKS_H
