// SPDX-License-Identifier: Apache-2.0
// kernel/timer.h - a node's timers: embedded in their owner, cancelled and re-armed by address.
//
// A timer belongs to one node. Timers due at one instant fire in the order they were armed, after
// the arrivals and wakes of that instant. Arming and cancelling cost O(log timers of the node).
// A deadline that moves often (a retransmission timer) is cheapest left armed: when it fires
// early, arm it again for the rest.
//
// A background timer (of a link that goes down, say) fires while other events are to come or work
// is outstanding. It does not keep the simulation alive and is not counted as an event. All
// background timers due within one cell of time fire, or none does; that is decided at the cell's
// beginning. Cells begin at time 0 and are as wide as the shortest delay between nodes that run
// apart, on any number of threads. So a background timer in the cell of the last event may fire
// after that event: it must not begin anything then nor show in results. Its records are dropped.
//
// An upkeep timer keeps a state in force that something else may wait for: it repeats a pause, say.
// It is an event like others. But a run in which no work is outstanding and nothing happens except
// upkeep (sim_upkeep in kernel/event.h) for sim_options_t.stall_ps has stalled.
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include "kernel/sim.h"

SIM_C_BEGIN

typedef struct sim_timer sim_timer_t;

typedef enum sim_timer_kind {
    SIM_TIMER_FOREGROUND,
    SIM_TIMER_BACKGROUND,
    SIM_TIMER_UPKEEP,
    SIM_TIMER_KINDS,
} sim_timer_kind_t;

// Called when the timer fires. The timer is disarmed; fn may arm it again or free its owner.
typedef void (*sim_timer_fn)(sim_node_t *node, sim_timer_t *timer);

#define SIM_TIMER_UNARMED UINT32_MAX
// A bit of a position: it is an entry of the node's wheel (kernel/engine/timers/wheel.h), not of
// its heap.
#define SIM_TIMER_IN_WHEEL (UINT32_C(1) << 31)

struct sim_timer {
    sim_timer_fn fn;
    uint32_t position; // in the node's heap or wheel; SIM_TIMER_UNARMED
    uint8_t kind;      // sim_timer_kind_t
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
    timer->kind = SIM_TIMER_FOREGROUND;
}

static inline void sim_timer_init_background(sim_timer_t *timer, sim_timer_fn fn)
{
    sim_timer_init(timer, fn);
    timer->kind = SIM_TIMER_BACKGROUND;
}

static inline void sim_timer_init_upkeep(sim_timer_t *timer, sim_timer_fn fn)
{
    sim_timer_init(timer, fn);
    timer->kind = SIM_TIMER_UPKEEP;
}

static inline bool sim_timer_armed(const sim_timer_t *timer)
{
    return timer->position != SIM_TIMER_UNARMED;
}

// Makes timers of this node cheap that are due within 2 us or in the order in which they are armed:
// gives it a wheel of a few kilobytes. Changes no result. May be called again.
void sim_expect_timers(sim_node_t *node);
// Number of timers that a node may arm for the present instant before the program gives up.
#define SIM_INSTANT_TIMERS_MAX (1u << 22)
// Arms the timer, again if need be, for time_ps >= the node's now. SIM_TIME_NEVER fails a check:
// cancel the timer instead.
void sim_timer_arm(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps);
// Declares that the simulation's first background timer may be armed while it runs, to fire within
// three times the least delay of a link. Before sim_run. Without a call, such a timer fails a check
// in ranks (kernel/ranks.h).
void sim_expect_background(sim_t *sim);
// Disarms the timer, if it is armed.
void sim_timer_cancel(sim_node_t *node, sim_timer_t *timer);
// Returns when an armed timer will fire.
sim_time_t sim_timer_time_ps(const sim_node_t *node, const sim_timer_t *timer);
// Returns the sequence of the node's earliest timer, which must exist. Of two timers due at one
// instant the one with the lower sequence fires first.
uint64_t sim_next_timer_sequence(const sim_node_t *node);
// Returns whether no timer of the node is armed but background timers.
bool sim_only_background(const sim_node_t *node);
// Returns whether ties go by insertion (kernel/order/fifo.h): nodes then take their events one by
// one, in the order of all nodes.
bool sim_ties_by_insertion(const sim_node_t *node);

SIM_C_END

#endif // KERNEL_TIMER_H
