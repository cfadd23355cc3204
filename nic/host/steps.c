// SPDX-License-Identifier: Apache-2.0
// nic/host/steps.c - lanes of steps: their life, finding a place between others, leaving it.
#include "nic/host/steps.h"
#include "nic/host/cores.h"
#include "nic/objects/objects.h"

// The largest number of steps that a new step of a lane may overtake.
#define STEPS_PASSED_MAX 8u

static void nothing(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    (void)timer;
}

void nic__steps_create(nic_host_t *host)
{
    if (host->steps != NULL || sim_ties_by_insertion(&host->node.sim)) {
        return;
    }
    nic_steps_t *const steps = sim_alloc_lines(sizeof(*steps));
    for (uint32_t i = 0; i < NIC_LANE_COUNT; i++) {
        steps->lanes[i].first_ps = nic__no_step_ps(i);
    }
    nic__steps_find_next(steps);
    steps->wake_ps = SIM_TIME_NEVER;
    steps->lanes[NIC_LANE_CORE].fn = nic__core_step;
    sim_timer_init(&steps->timer, nothing);
    host->steps = steps;
}

void nic__steps_destroy(nic_host_t *host)
{
    if (host->steps != NULL) {
        sim_timer_cancel(&host->node.sim, &host->steps->timer);
    }
    sim_free(host->steps);
    host->steps = NULL;
}

void nic__wake_by_event(nic_t *nic)
{
    net_port_wake(nic->port);
}

void nic__steps_find_tied(nic_steps_t *steps)
{
    nic_lane_t *best = &steps->lanes[0];
    sim_time_t best_ps = best->first_ps;
#pragma GCC unroll 8
    for (uint32_t i = 1; i < NIC_LANE_COUNT; i++) {
        nic_lane_t *const lane = &steps->lanes[i];
        const sim_time_t time_ps = lane->first_ps;
        if (time_ps < best_ps ||
            (time_ps == best_ps && lane->first->sequence < best->first->sequence)) {
            best = lane;
            best_ps = time_ps;
        }
    }
    steps->next = best;
    steps->next_ps = best_ps;
}

void nic__step_remove(nic_host_t *host, nic_lane_index_t index, nic_step_t *step)
{
    nic_steps_t *const steps = host->steps;
    nic_lane_t *const lane = &steps->lanes[index];
    if (step->next != NULL) {
        step->next->previous = step->previous;
    } else {
        lane->last = step->previous;
    }
    if (step->previous != NULL) {
        step->previous->next = step->next;
        return;
    }
    lane->first = step->next;
    lane->first_ps = step->next == NULL ? nic__no_step_ps(index) : step->next->time_ps;
    nic__steps_find_next(steps);
}

// Returns the first step of a lane that ends after time_ps, searching from the begin or from the
// end;
// the last step does. NULL: the step is too far from there.
static nic_step_t *find_from_first(const nic_lane_t *lane, sim_time_t time_ps)
{
    nic_step_t *after = lane->first;
    for (uint32_t passed = 0; after->time_ps <= time_ps; passed++) {
        if (passed == STEPS_PASSED_MAX) {
            return NULL;
        }
        after = after->next;
    }
    return after;
}

static nic_step_t *find_from_last(const nic_lane_t *lane, sim_time_t time_ps)
{
    nic_step_t *after = lane->last;
    nic_step_t *before = after->previous;
    for (uint32_t passed = 1; before != NULL && before->time_ps > time_ps; passed++) {
        if (passed == STEPS_PASSED_MAX) {
            return NULL;
        }
        after = before;
        before = before->previous;
    }
    return after;
}

bool nic__step_among(nic_host_t *host, nic_lane_index_t index, nic_step_t *step, sim_time_t time_ps)
{
    nic_steps_t *const steps = host->steps;
    nic_lane_t *const lane = &steps->lanes[index];
    const sim_time_t half_ps = (lane->last->time_ps - lane->first_ps) / 2;
    nic_step_t *const after = time_ps < lane->first_ps + half_ps ? find_from_first(lane, time_ps)
                                                                 : find_from_last(lane, time_ps);
    if (after == NULL) {
        return false;
    }
    nic_step_t *const before = after->previous;
    *step = (nic_step_t){time_ps, host->node.sim.timer_sequence++, after, before};
    after->previous = step;
    if (before != NULL) {
        before->next = step;
        return true;
    }
    nic__lane_begins(steps, lane, step);
    return true;
}

nic_turn_t nic__turn_of_several(const nic_host_t *host, sim_time_t due_ps)
{
    const sim_node_t *const node = &host->node.sim;
    const nic_steps_t *const steps = host->steps;
    if (due_ps > node->timer_ps || due_ps > node->wake_ps) {
        return NIC_TURN_EVENT;
    }
    if (steps->wake_ps == due_ps) {
        return NIC_TURN_WAKE;
    }
    if (due_ps == node->wake_ps) {
        return NIC_TURN_EVENT;
    }
    const nic_step_t *const step = steps->next->first;
    return step->sequence < sim_next_timer_sequence(node) ? NIC_TURN_STEP : NIC_TURN_EVENT;
}

void nic__steps_rest(nic_host_t *host)
{
    sim_node_t *const node = &host->node.sim;
    nic_steps_t *const steps = host->steps;
    if (steps->wake_ps != SIM_TIME_NEVER) {
        steps->wake_ps = SIM_TIME_NEVER;
        host->node.ports[0].wake_pending = NET_WAKE_NONE;
        net_port_wake(&host->node.ports[0]);
    }
    const bool any = steps->next_ps < nic__no_step_ps(NIC_LANE_COUNT);
    if (any && steps->next_ps < node->timer_ps && steps->next_ps < node->wake_ps) {
        sim_timer_arm(node, &steps->timer, steps->next_ps); // else it will be back in time
    } else if (SIM_UNLIKELY(any && node->wake_ps == SIM_TIME_NEVER && sim_only_background(node))) {
        // Background timers alone would not keep the run alive until the step.
        sim_timer_arm(node, &steps->timer, steps->next_ps);
    }
}
