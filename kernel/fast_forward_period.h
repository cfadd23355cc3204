// SPDX-License-Identifier: Apache-2.0
// kernel/fast_forward_period.h - whole periods of a simulation are added instead of run.
//
// If the state at two moments is equal but for counts and positions, all between them repeats. The
// state is a list of structs (kernel/fast_forward.h), the messages and wakes under way, and the
// timers, which must not change. docs/models/fast-forward.md
#ifndef KERNEL_FAST_FORWARD_PERIOD_H
#define KERNEL_FAST_FORWARD_PERIOD_H

#include "kernel/fast_forward.h"

SIM_C_BEGIN

// A message on its way, or a wake (message NULL).
typedef struct sim_flight {
    sim_time_t time_ps;
    uint32_t node; // index
    uint32_t port;
    void *message;
} sim_flight_t;
typedef struct sim_flights {
    sim_flight_t *items;
    size_t count;
    size_t capacity;
} sim_flights_t;

// Adds the node's clock, its count of events and the number of its timers to a list.
void sim_state_add_node(sim_state_t *state, sim_node_t *node);
// Adds the node's clock and its count of events alone: its timers may be others.
void sim_state_add_clock(sim_state_t *state, sim_node_t *node);
// Adds the number of ties that the node has had, or, if that is noted, the time of the last one
// alone.
void sim_state_add_ties(sim_state_t *state, sim_node_t *node, bool noted);
// Returns whether copy b, made at b_ps, is copy a, made at a_ps, again: bytes without a row, states
// and last values are equal, and times have moved along or are over. If not, *name is the type of a
// struct that differs.
bool sim_state_repeats(const sim_state_t *state, const char *a, sim_time_t a_ps, const char *b,
                       sim_time_t b_ps, const char **name);
// Adds `count` times what happened from copy a to copy b. The structs are what b is.
void sim_state_add_periods(const sim_state_t *state, const char *a, const char *b,
                           sim_time_t period_ps, uint64_t count);

// The functions below may be called between windows (sim_on_window) of a run whose options have
// `splits`.

// Makes all nodes come to one time after one of the next windows, and returns false; returns true
// if they already do after each (they then have no colours). sim_colour takes that back.
bool sim_level(sim_t *sim);
void sim_colour(sim_t *sim);
// Ends a window at time_ps, after sim_level. The functions of sim_on_window are called at that
// time, when all before it has happened and nothing else. SIM_TIME_NEVER: no longer.
void sim_split_window_at(sim_t *sim, sim_time_t time_ps);
// Fills `flights` with all messages and wakes to come, in an order that depends on nothing else:
// messages by node, time and port, and each node's wakes behind them.
void sim_flights_list(const sim_t *sim, sim_flights_t *flights);
void sim_flights_fini(sim_flights_t *flights);
// Returns when the earliest timer of all nodes is due.
sim_time_t sim_next_timer_ps(const sim_t *sim);
// Returns whether sim_shift(sim, now_ps, by_ps) can place all messages.
bool sim_may_shift(const sim_t *sim, sim_time_t now_ps, sim_time_t by_ps);
// Moves all messages and wakes by by_ps. now_ps is the time of the present moment. Timers stay.
void sim_shift(sim_t *sim, sim_time_t now_ps, sim_time_t by_ps);

SIM_C_END

#endif // KERNEL_FAST_FORWARD_PERIOD_H
