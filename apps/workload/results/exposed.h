// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/exposed.h - how much of a schedule's time is computation, and for which
// communication computations wait.
#ifndef APPS_WORKLOAD_RESULTS_EXPOSED_H
#define APPS_WORKLOAD_RESULTS_EXPOSED_H

#include "apps/workload/workload.h"

// Times of one rank.
typedef struct app__rank_share {
    double compute_ms;
    double waits_ms[APP__DIM_COUNT];
} app__rank_share_t;

// Times are means over the ranks; all values are of one iteration.
typedef struct app__exposed {
    double iteration_ms; // from the start until the last rank finished
    double compute_ms;
    double waits_ms[APP__DIM_COUNT]; // without computation, until an operation of the kind ended
    double bytes[APP__DIM_COUNT];    // that leave all ranks
    app__rank_share_t *ranks;        // each rank by itself
    // The chain of operations that decides when the last rank ends, of one iteration.
    app__rank_share_t critical;
} app__exposed_t;

// Returns whether some operation of the schedule belongs to a kind of parallelism. Others have no
// such report.
bool app__has_dimensions(const app__schedule_t *schedule);
// Measures a schedule that ran. Ranks that did not finish count until their last operation. Free
// the ranks with sim_free.
void app__exposed_measure(const app__workload_t *workload, app__exposed_t *exposed);
// Adds the bytes that leave all ranks of a schedule to those of each kind of parallelism.
void app__dimension_bytes(const app__schedule_t *schedule, double bytes[APP__DIM_COUNT]);
// Returns the bytes that leave the ranks of a call, by the number of ranks and the kind alone: a
// ring's for an all-reduce, reduce-scatter and all-gather; an all-to-all's without what a rank
// keeps.
double app__call_bytes(const app__schedule_t *schedule, const app__call_t *call);

#endif // APPS_WORKLOAD_RESULTS_EXPOSED_H
