// SPDX-License-Identifier: Apache-2.0
// nic/host/steps.h - steps inside the NICs of a host whose time is known when they are booked.
//
// Most of what a detailed NIC does begins where it already knows when that will be over: a unit's
// service, a payload on its way over PCIe. Nothing cancels such a step, and steps of one kind end
// nearly in the order in which they began. So they need no timers: each kind has a lane, a list in
// the order of time, and the host takes the earliest step of all lanes in its turn among mail,
// wakes and timers (nic/host/steps.c). The order is that of timers armed at the same moments: at
// one instant after arrivals and wakes, and among timers by who was booked first.
//
// The moment when the port of a host's only NIC is free for its next packet is such a time, too.
//
// When a core looks at its completion queues again is known, too, but may come earlier: only these
// steps are taken out of their lane again.
//
// A step that lies far from the end of its lane is not taken: its owner arms a timer instead. So
// does everything that is booked while the host is not running, and everything on a host without
// lanes: one with ideal NICs, or where ties go by insertion.
#ifndef NIC_HOST_STEPS_H
#define NIC_HOST_STEPS_H

#include "nic/objects/objects.h"

typedef struct nic_step {
    sim_time_t time_ps;
    uint64_t sequence; // as of a timer
    struct nic_step *next;
    struct nic_step *previous;
} nic_step_t;

// Runs a step. The host's time is the time of the step, which has left its lane.
typedef void (*nic_step_fn)(nic_step_t *step);

typedef enum nic_lane_index {
    NIC_LANE_SEND,    // a unit of the sending side is through with a WQE
    NIC_LANE_RECEIVE, // one of the receiving side with a packet
    NIC_LANE_DATA,    // what is sent is there: payload, data of a READ or atomic
    NIC_LANE_HOST,    // what else goes to the host or comes from it
    NIC_LANE_CORE,    // a core's turn
    NIC_LANE_COUNT
} nic_lane_index_t;

typedef struct nic_lane {
    sim_time_t first_ps; // of the first step
    nic_step_t *first;
    nic_step_t *last;
    nic_step_fn fn;
} nic_lane_t;

struct nic_steps {
    sim_time_t next_ps; // of the earliest step of all lanes
    nic_lane_t *next;   // which begins this one
    sim_time_t wake_ps; // the port is free, and something waits for it; NEVER
    nic_lane_t lanes[NIC_LANE_COUNT];
    sim_timer_t timer; // brings the host back where only steps are left in a window
};

// Returns the time of an empty lane's next step: beyond every real time, and different for each
// lane.
static inline sim_time_t nic__no_step_ps(uint32_t index)
{
    return SIM_TIME_NEVER - index;
}

typedef enum nic_turn { NIC_TURN_EVENT, NIC_TURN_STEP, NIC_TURN_WAKE } nic_turn_t;
// Returns the next turn if a timer or another wake of the node is due at the same time.
nic_turn_t nic__turn_of_several(const nic_host_t *host, sim_time_t due_ps);

// Lanes for this host, if its node takes them: the first of its NICs that has steps asks for them.
void nic__steps_create(nic_host_t *host);
void nic__steps_destroy(nic_host_t *host);
// Leaves the remaining steps to a later window.
void nic__steps_rest(nic_host_t *host);
bool nic__step_among(nic_host_t *host, nic_lane_index_t index, nic_step_t *step,
                     sim_time_t time_ps);
// Cancels a step, which must be in that lane.
void nic__step_remove(nic_host_t *host, nic_lane_index_t index, nic_step_t *step);

// Makes the step the first one of its lane.
static inline void nic__lane_begins(nic_steps_t *steps, nic_lane_t *lane, nic_step_t *step)
{
    lane->first = step;
    lane->first_ps = step->time_ps;
    if (step->time_ps < steps->next_ps) {
        steps->next_ps = step->time_ps;
        steps->next = lane;
    }
}

// Books a step at a time, which is not before now. Returns false if a timer must do it instead.
static inline bool nic__step_at(nic_host_t *host, nic_lane_index_t index, nic_step_t *step,
                                sim_time_t time_ps)
{
    nic_steps_t *const steps = host->lanes;
    if (SIM_UNLIKELY(steps == NULL)) {
        return false;
    }
    nic_lane_t *const lane = &steps->lanes[index];
    nic_step_t *const last = lane->last;
    if (last != NULL && SIM_UNLIKELY(last->time_ps > time_ps)) {
        return nic__step_among(host, index, step, time_ps);
    }
    *step = (nic_step_t){time_ps, host->node.sim.timer_sequence++, NULL, last};
    lane->last = step;
    if (last != NULL) {
        last->next = step;
        return true;
    }
    nic__lane_begins(steps, lane, step);
    return true;
}

// Wakes the NIC by an event: for a host with several ports, or one that is not running.
void nic__wake_by_event(nic_t *nic);

// Makes the NIC's port be served at the end of the frame on the link.
static SIM_ALWAYS_INLINE void nic__wake(nic_t *nic)
{
    nic_host_t *const host = nic->host;
    net_port_t *const port = nic->port;
    if (port->wake_pending != NET_WAKE_NONE) {
        return;
    }
    const sim_time_t now_ps = host->node.sim.now_ps;
    const sim_time_t free_ps = SIM_MAX(port->busy_until_ps, now_ps);
    if (SIM_LIKELY(host->one_port)) {
        port->wake_pending = NET_WAKE_EVENT;
        sim_wake_only(&host->node.sim, free_ps);
    } else if (SIM_LIKELY(host->one_stepping) && host->lanes != NULL) {
        port->wake_pending = NET_WAKE_LATE;
        host->lanes->wake_ps = free_ps;
    } else {
        nic__wake_by_event(nic);
    }
}

// Serves the port, whose frame on the link has ended.
static inline void nic__port_free(nic_host_t *host, nic_steps_t *steps)
{
    host->node.sim.now_ps = steps->wake_ps;
    host->node.sim.background_events = 0; // something happened since the last one
    host->node.ports[0].wake_pending = NET_WAKE_NONE;
    steps->wake_ps = SIM_TIME_NEVER;
}

// Finds the earliest step if steps of several lanes are due at the same instant.
void nic__steps_find_tied(nic_steps_t *steps);

// Finds the lane whose first step is the earliest of all.
static inline void nic__steps_find_next(nic_steps_t *steps)
{
    nic_lane_t *best = &steps->lanes[0];
    sim_time_t best_ps = best->first_ps;
#pragma GCC unroll 8
    for (uint32_t i = 1; i < NIC_LANE_COUNT; i++) {
        const sim_time_t time_ps = steps->lanes[i].first_ps;
        if (SIM_UNLIKELY(time_ps == best_ps)) {
            nic__steps_find_tied(steps);
            return;
        }
        best = time_ps < best_ps ? &steps->lanes[i] : best;
        best_ps = SIM_MIN(time_ps, best_ps);
    }
    steps->next = best;
    steps->next_ps = best_ps;
}

// Runs the earliest step. There must be one.
static inline void nic__step(nic_host_t *host, nic_steps_t *steps)
{
    sim_node_t *const node = &host->node.sim;
    nic_lane_t *const lane = steps->next;
    nic_step_t *const step = lane->first;
    nic_step_t *const next = step->next;
    node->now_ps = steps->next_ps;
    node->background_events = 0; // something happened since the last one
    lane->first = next;
    if (next == NULL) {
        lane->last = NULL;
        lane->first_ps = nic__no_step_ps((uint32_t)(lane - steps->lanes));
    } else {
        __builtin_prefetch(next->next); // NULL does no harm
        next->previous = NULL;
        lane->first_ps = next->time_ps;
    }
    nic__steps_find_next(steps);
    lane->fn(step);
}

// Returns the turn that is due at that time if nothing comes before it until until_ps, else EVENT.
// If something else is due at the same time, the turn may be another one.
static SIM_ALWAYS_INLINE nic_turn_t nic__turn_at(const nic_host_t *host, nic_turn_t turn,
                                                 sim_time_t due_ps, sim_time_t until_ps)
{
    const sim_node_t *const node = &host->node.sim;
    if (due_ps >= until_ps) {
        return NIC_TURN_EVENT;
    }
    if (SIM_UNLIKELY(due_ps >= node->timer_ps) || SIM_UNLIKELY(due_ps >= node->wake_ps)) {
        return nic__turn_of_several(host, due_ps);
    }
    return turn;
}

// Returns the host's next turn. EVENT also means that the host has nothing more to do now.
static SIM_ALWAYS_INLINE nic_turn_t nic__turn(const nic_host_t *host, const nic_steps_t *steps,
                                              sim_time_t until_ps)
{
    return steps->wake_ps <= steps->next_ps
               ? nic__turn_at(host, NIC_TURN_WAKE, steps->wake_ps, until_ps)
               : nic__turn_at(host, NIC_TURN_STEP, steps->next_ps, until_ps);
}

#endif // NIC_HOST_STEPS_H
