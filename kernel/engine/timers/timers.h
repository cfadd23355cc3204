// SPDX-License-Identifier: Apache-2.0
// kernel/engine/timers/timers.h - a node's armed timers.
#ifndef KERNEL_ENGINE_TIMERS_TIMERS_H
#define KERNEL_ENGINE_TIMERS_TIMERS_H

#include "kernel/engine/timers/wheel.h"
#include "kernel/event.h"

// Arms a timer with a number that was taken for it.
void sim__timer_arm_as(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps, uint64_t number);

// Returns how many timers of the node are armed, background timers included.
static inline uint32_t sim__timers_armed(const sim_node_t *node)
{
    return node->timer_count + (node->wheel == NULL ? 0 : node->wheel->count);
}

#endif // KERNEL_ENGINE_TIMERS_TIMERS_H
