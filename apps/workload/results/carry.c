// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/carry.c - brings the progress of a schedule's ranks to rank 0 of the
// simulation.
//
// A rank here is a program of the schedule, on one host, whose process alone ran it. All processes
// have the same schedule, so only times and counts are carried (kernel/ranks.h).
#include "apps/workload/collective/collectives.h"
#include "apps/workload/rank.h"
#include "apps/workload/results/results.h"
#include "apps/workload/workload.h"

static void carry_collectives(app__coll_rank_t *rank, sim_carry_t *carry)
{
    SIM_CARRY(carry, rank->messages);
    SIM_CARRY(carry, rank->bytes);
    SIM_CARRY_LIST(carry, rank->records, rank->record_count, rank->record_capacity);
}

void app__workload_carry(app_t *app, sim_carry_t *carry)
{
    app__workload_t *const workload = (app__workload_t *)app;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        app__rank_t *const rank = &workload->ranks[r];
        if (!sim_carry_has(carry, rank->node)) {
            continue;
        }
        SIM_CARRY(carry, rank->end_ps);
        SIM_CARRY(carry, rank->failed);
        SIM_CARRY(carry, rank->match.peak);
        SIM_CARRY(carry, rank->left);
        SIM_CARRY(carry, rank->moment_at);
        SIM_CARRY(carry, rank->moment_count);
        sim_carry(carry, rank->states, rank->ops->count * sizeof(*rank->states));
        for (uint32_t i = 0; i < rank->cpu_count; i++) {
            SIM_CARRY(carry, rank->cpus[i].busy_ps);
        }
        if (workload->collectives != NULL) {
            carry_collectives(&workload->collectives->ranks[r], carry);
        }
    }
}
