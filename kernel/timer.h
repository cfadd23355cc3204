// SPDX-License-Identifier: Apache-2.0
// kernel/timer.h - a node's timers: embedded in their owner, cancelled and re-armed by address.
//
// A timer belongs to one node. Timers due at one instant fire in the order they were armed, after
// the arrivals and wakes of that instant. Arm and cancel cost O(log timers of the node).
// A deadline that moves often (a retransmission timer) is cheapest left armed: when it fires
// early, arm it again for the rest.
//
// A background timer (for a link that changes, say) fires like any other as long as something else
// is to come or work is outstanding, but does not keep the simulation alive, and is not counted as
// an event. It is asked once for all that are due within one cell of time, at its beginning. Cells
// are as wide as the shortest delay between nodes that run apart, from time 0 on,
// whatever the number of threads. So one that is due in the cell of the last event fires even after
// it: what it does must not show when nothing comes after it, and it may not begin anything where
// nothing was to come. Records of it are dropped.
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include "kernel/sim.h"

SIM_C_BEGIN

typedef struct sim_timer sim_timer_t;

// Called when the timer fires, disarmed; may arm it again, may free its owner.
typedef void (*sim_timer_fn)(sim_node_t *node, sim_timer_t *timer);

#define SIM_TIMER_UNARMED UINT32_MAX
// In a position: an entry of the node's wheel (kernel/engine/wheel.h), not of its heap.
#define SIM_TIMER_IN_WHEEL (UINT32_C(1) << 31)

struct sim_timer {
    sim_timer_fn fn;
    uint32_t position; // in the node's heap or wheel; SIM_TIMER_UNARMED
    bool background;
};

typedef struct sim_timer_entry {
    sim_time_t time_ps;
    uint64_t sequence;
    sim_timer_t *timer;
} sim_timer_entry_t;

static inline void sim_timer_init(sim_timer_t *timer, sim_timer_fn fn)
{
    timer->fn = fn;
    timer->position = SIM_TIMER_UNARMED;
    timer->background = false;
}

static inline void sim_timer_init_background(sim_timer_t *timer, sim_timer_fn fn)
{
    sim_timer_init(timer, fn);
    timer->background = true;
}

static inline bool sim_timer_armed(const sim_timer_t *timer)
{
    return timer->position != SIM_TIMER_UNARMED;
}

// This node will have many timers due within a microsecond or two, or in the order in which they
// are armed: a few kilobytes make them cheap.
// Nothing else changes. May be called again.
void sim_expect_timers(sim_node_t *node);
// (Re-)arms the timer for time_ps >= now of the node. NEVER is not allowed: cancel instead.
void sim_timer_arm(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps);
// Disarms; nothing happens if it is not armed.
void sim_timer_cancel(sim_node_t *node, sim_timer_t *timer);
// When an armed timer will fire.
sim_time_t sim_timer_time_ps(const sim_node_t *node, const sim_timer_t *timer);
// The sequence of the earliest timer: of two due at one instant the lower one fires first. There is
// one.
uint64_t sim_next_timer_sequence(const sim_node_t *node);
// Whether no timer is armed but background timers.
bool sim_only_background(const sim_node_t *node);
// Whether nodes are handed events one by one, in the order of all nodes (kernel/order/fifo.h).
bool sim_ties_by_insertion(const sim_node_t *node);

SIM_C_END

#endif // KERNEL_TIMER_H
