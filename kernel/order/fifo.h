// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo.h - ties by insertion: events of one instant run as they were scheduled.
//
// The event list of a sequential simulator usually numbers events as they are scheduled, across all
// nodes. With sim_options_t.fifo_ties the engine gives results as if it did so, too: events run in
// the order of (time, number), and so do records (kernel/record.h). This exists to agree with such
// simulators down to each random number drawn. Results then depend on the order in which nodes and
// programs are created.
//
// A transmitter here posts an event for its end of transmission only if something waits, which
// would be numbered too late. So a message takes two numbers: the first is kept for the wake at the
// end of its transmission, the second is the arrival's.
//
// Nodes run in windows, on any number of threads: a number names the event that took it, and ties
// are compared by that (kernel/order/lineage.h). One list of all events runs them instead, on one
// thread and to equal results, if something needs more than the order at each node
// (sim_need_one_list), a kind of node has no sim_node_ops_t.arrive, or nodes are nearer to each
// other than a window.
//
// The engine uses the first 8 bytes of a message from sim_send until its receiver gets it.
#ifndef KERNEL_ORDER_FIFO_H
#define KERNEL_ORDER_FIFO_H

#include "kernel/event.h"

SIM_C_BEGIN

// Makes each message sent on this channel keep a number for its sender's next wake at `port`.
// `from` is the sender. Call before the run. Ties by hash: does nothing.
void sim_channel_keeps_number(sim_node_t *from, sim_channel_t *channel, uint32_t port);

// Returns whether the wake for which the last message sent at `port` keeps a number would come
// before the event being run. If so, the transmitter is free at the instant at which the wake is
// due. Ties by hash: false.
bool sim_fifo_passed(const sim_node_t *node, uint32_t port);

// Reserves `count` numbers, for timers that sim_fifo_arm arms later, and returns the first. Call
// before the run. Ties by hash: returns 0.
uint64_t sim_fifo_reserve(sim_t *sim, uint64_t count);
// Arms a timer, which is not armed, with a reserved number. Not for ties by hash.
void sim_fifo_arm(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps, uint64_t number);

// Calls fn(node, subject, value) in the order of events of all nodes, as drawing from one sequence
// of random numbers needs. That is at once or, in windows, before any node receives what this event
// or a later one sends; node->now_ps is then as it is now. Samplers may see the node before that.
// Ties by hash: calls fn at once.
typedef void (*sim_turn_fn)(sim_node_t *node, void *subject, uint64_t value);
void sim_take_turn(sim_node_t *node, sim_turn_fn fn, void *subject, uint64_t value);

// Makes all events run from one list, where sim_take_turn would come too late. Call before the run
// (later only if it was called before). Ties by hash: does nothing.
void sim_need_one_list(sim_t *sim);
// Returns, after sim_run, whether ties by insertion took one list of events, and so one thread.
bool sim_had_one_list(const sim_t *sim);

SIM_C_END

#endif // KERNEL_ORDER_FIFO_H
