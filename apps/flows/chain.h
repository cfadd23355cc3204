// SPDX-License-Identifier: Apache-2.0
// apps/flows/chain.h - triggers, which start transfers of a plan.
#ifndef APPS_FLOWS_CHAIN_H
#define APPS_FLOWS_CHAIN_H

#include "apps/flows/plan_internal.h"

// A trigger that starts transfers of a plan; all of them belong to one host.
struct app__trigger {
    uint64_t left;     // activations until it starts transfers
    bool one_by_one;   // it starts one transfer at each activation
    uint32_t *targets; // transfers
    size_t target_count;
    size_t target_capacity;
    size_t next; // index in targets of the transfer to start next
};

// Returns whether a transfer waits for a trigger.
static inline bool app__waits(const app__plan_t *plan, uint64_t index)
{
    return plan->trigger_count > 0 && plan->chains[index].started_by != 0;
}
void app__chains_begin(app__plan_t *plan);
void app__chains_free(app__plan_t *plan);
// Activates a trigger, in an event of its host; number 0 means no trigger. What it starts begins so
// much later.
void app__chain_activate(app__plan_t *plan, uint32_t number, sim_time_t later_ps);

#endif // APPS_FLOWS_CHAIN_H
