// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo.h - events of one instant in the order they were asked for, across all nodes.
//
// An event list that breaks ties by insertion (the usual one of sequential simulators) gives every
// event a number when it is scheduled. With sim_options_t.fifo_ties the engine does the same: all
// events run as if one after the other in the order of (time, number). Results then depend on the
// order in which nodes and programs were created, as they do there; it exists to agree with such
// simulators to the last tie, and to the last random number that is drawn across nodes. The order
// of streams (kernel/record.h) is that of events.
//
// A transmitter that posts no event for its end of transmission unless something waits would
// number it too late. So a message sent on a channel takes two numbers: the first is kept for the
// wake that will tell the end of its transmission, the second is the arrival's.
//
// How: in windows, on any number of threads, each number tells which event took it
// (kernel/order/lineage.h), and events that tie are compared by that. What needs more than the
// order at each node (sim_need_one_list), nodes without sim_node_ops_t.arrive, and nodes nearer to
// each other than a window run from one list of all events instead, on one thread
// (kernel/order/one_list.c). Results are the same.
//
// The first 8 bytes of a message are the engine's from sim_send until its receiver is handed it.
#ifndef KERNEL_ORDER_FIFO_H
#define KERNEL_ORDER_FIFO_H

#include "kernel/event.h"

SIM_C_BEGIN

// Messages sent on this channel keep a number for the next wake of their sender, `from`, at `port`.
// Before the run.
void sim_channel_keeps_number(sim_node_t *from, sim_channel_t *channel, uint32_t port);

// Whether the wake that the last message sent at `port` keeps a number for would, were it asked for
// now, come before the event being run: at the instant it is due, the transmitter is free again.
bool sim_fifo_passed(const sim_node_t *node, uint32_t port);

// Before the run: sets aside so many numbers, for timers to be armed later with one of them each,
// and returns the first. 0: ties go by hash.
uint64_t sim_fifo_reserve(sim_t *sim, uint64_t count);
// Arms a timer that is not armed with a number set aside.
void sim_fifo_arm(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps, uint64_t number);

// What must happen in the order of events of all nodes, such as drawing from one sequence of random
// numbers: calls fn(node, subject, value) when all events before the one being run have had their
// turn. That is now, or, in windows, before any node is handed what this event or a later one
// sends; node->now_ps is as it is now. Samplers may see the node before it. Ties by hash: now.
typedef void (*sim_turn_fn)(sim_node_t *node, void *subject, uint64_t value);
void sim_take_turn(sim_node_t *node, sim_turn_fn fn, void *subject, uint64_t value);

// Before the run, or again: what sim_take_turn does would come too late, so all events have one
// list. Nothing where ties go by hash.
void sim_need_one_list(sim_t *sim);
// After sim_run: whether ties by insertion took one list of events, and so one thread.
bool sim_had_one_list(const sim_t *sim);

SIM_C_END

#endif // KERNEL_ORDER_FIFO_H
