// SPDX-License-Identifier: Apache-2.0
// kernel/order/ops.h - how the engine asks in which order events of one instant run.
//
// sim_create chooses a row of this table: by hash, the usual one, or by insertion, which moves on
// to the row for one list if nodes cannot run apart. The engine calls slots at its rare points.
// Paths that run for every event only read two flags, through kernel/engine_internal.h.
#ifndef KERNEL_ORDER_OPS_H
#define KERNEL_ORDER_OPS_H

#include "kernel/event.h"
#include "kernel/order/fifo.h"

SIM_C_BEGIN

struct sim_thread;

// Something that has a number, on its way through a sort by number.
typedef struct sim_ranked {
    uint64_t number;
    void *owner;
    sim_time_t time_ps;    // of the event that took the number; filled in by the sort
    sim_time_t earlier_ps; // of the event that took that event's number; likewise
} sim_ranked_t;

// A slot whose comment does not say otherwise is set in every row.
typedef struct sim_order_ops {
    bool by_hash;  // ties go by sim__tie_rank, of times or of a counter; no event has a number
    bool one_list; // one thread runs all events from one list; nodes have no mail and no wakes

    // Makes sim->fifo, from sim_create. destroy frees it and what threads hold for it, before
    // anything else is destroyed. NULL: there is nothing to make.
    void (*create)(sim_t *sim);
    void (*destroy)(sim_t *sim);
    // Called when the run begins and nodes have units but no threads yet. May replace sim->order.
    // NULL: sim->order stays.
    void (*settle)(sim_t *sim);
    // Called when the run begins and all threads exist. Allocates the memory that the run needs.
    // NULL: the run needs none.
    void (*seat)(sim_t *sim);

    // Sends a message that sim_send could not put into a mailbox of the next two windows.
    void (*send)(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message);
    // Keeps a wake for which the node's own queue has no room.
    void (*wake)(sim_node_t *node, sim_time_t time_ps, uint32_t port);
    // Takes the number of a timer that is being armed. NULL by hash: nodes number their own.
    uint64_t (*timer_number)(const sim_node_t *node);
    // Adds a timer that was armed to the one list. NULL: timers wait at their nodes only.
    void (*timer_armed)(sim_node_t *node, sim_time_t time_ps, uint64_t number);
    // Calls fn when all events before the current one have had their turn. NULL: that is now.
    void (*take_turn)(sim_node_t *node, sim_turn_fn fn, void *subject, uint64_t value);

    // Runs all events of this thread's share before end_ps, and sets thread->next_window.
    void (*run_window)(struct sim_thread *thread, sim_time_t end_ps);
    // Runs the events of one node before its run_end_ps. NULL: node->ops->run does.
    void (*run_node)(sim_node_t *node);
    // Puts a node's messages of one instant, sorted by port, into their order. NULL in one list.
    void (*sort_ties)(sim_node_t *node, sim_mail_t *mail, size_t count);

    // Called between windows on one thread, after samplers and streams were served and before the
    // next window is chosen. NULL: nothing to do.
    void (*end_window)(sim_t *sim);
    void (*begin_window)(sim_t *sim);
    // Returns whether arrivals or wakes are to come, and when the next event is, timers included
    // (SIM_TIME_NEVER: none). NULL: the engine looks at nodes and mailboxes.
    bool (*waiting)(const sim_t *sim);
    sim_time_t (*next_ps)(const sim_t *sim);

    // Returns the place of a record that is being put: of two of one instant the lower is first.
    uint64_t (*record_place)(const sim_node_t *node);
    // Sorts places that only give their order among each other; equal ones keep theirs. NULL:
    // places are in order as they are.
    void (*sort_places)(const sim_t *sim, sim_ranked_t *items, size_t count);
} sim_order_ops_t;

extern const sim_order_ops_t sim__order_by_hash;      // hash.c
extern const sim_order_ops_t sim__order_by_rotor;     // rotor.c
extern const sim_order_ops_t sim__order_by_insertion; // windows.c
extern const sim_order_ops_t sim__order_in_one_list;  // one_list.c

SIM_C_END

#endif // KERNEL_ORDER_OPS_H
