// SPDX-License-Identifier: Apache-2.0
// apps/flows/chain.c - transfers of a plan that triggers start.
//
// One host both activates a trigger and requests the transfers that it starts. So activation needs
// no time, and only that host's events touch the trigger.
#include "apps/flows/chain.h"
#include "apps/flows/blocks.h"
#include "apps/flows/transfer.h"

void app__chains_begin(app__plan_t *plan)
{
    for (size_t i = 0; i < plan->count && plan->trigger_count > 0; i++) {
        const uint32_t by = plan->chains[i].started_by;
        if (by != 0) {
            app__trigger_t *const trigger = &plan->triggers[by - 1];
            SIM_APPEND(trigger->targets, trigger->target_count, trigger->target_capacity,
                       (uint32_t)i);
        }
    }
}

void app__chains_free(app__plan_t *plan)
{
    for (size_t i = 0; i < plan->trigger_count; i++) {
        sim_free(plan->triggers[i].targets);
    }
    for (size_t i = 0; i < plan->source_count; i++) {
        sim_free(plan->sources[i].due);
        sim_free(plan->sources[i].failures);
    }
    sim_free(plan->triggers);
    sim_free(plan->chains);
}

// Finds the source of an interface; sources are in order of their interfaces.
static app__source_t *source_of(const app__plan_t *plan, uint32_t interface)
{
    size_t low = 0;
    size_t high = plan->source_count;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        if (plan->sources[middle].endpoint->interface <= interface) {
            low = middle;
        } else {
            high = middle;
        }
    }
    SIM_CHECK(plan->sources[low].endpoint->interface == interface);
    return &plan->sources[low];
}

// Starts a transfer so much later, and after the current event, which may be within a completion of
// another queue pair.
static void start_soon(app__plan_t *plan, uint32_t index, sim_time_t later_ps)
{
    app__source_t *const source = source_of(plan, app__transfer(plan, index)->source);
    SIM_GROW(source->due, source->due_count, &source->due_capacity);
    sim_node_t *const node = source->endpoint->node;
    sim_time_t first_ps = node->now_ps + later_ps;
    source->due[source->due_count++] = (app__due_t){index, first_ps};
    for (size_t i = 0; i < source->due_count && later_ps > 0; i++) {
        first_ps = SIM_MIN(source->due[i].time_ps, first_ps);
    }
    sim_timer_arm(node, &source->due_timer, first_ps);
}

void app__chain_activate(app__plan_t *plan, uint32_t number, sim_time_t later_ps)
{
    if (number == 0) {
        return;
    }
    app__trigger_t *const trigger = &plan->triggers[number - 1];
    if (trigger->left > 1) {
        trigger->left--;
        return;
    }
    do {
        if (trigger->next < trigger->target_count) {
            start_soon(plan, trigger->targets[trigger->next++], later_ps);
        }
    } while (!trigger->one_by_one && trigger->next < trigger->target_count);
}
