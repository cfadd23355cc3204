// SPDX-License-Identifier: Apache-2.0
// kernel/sim.h - a simulation: nodes, the channels between them, and the engine that runs them.
//
// A node owns its state and meets other nodes only through channels, whose delay is at least 1 ps.
// A node's order of events is a function of its own inputs alone:
//
//     (time, class, order)   class: 0 arrivals, 1 wakes, 2 timers
//
// Arrivals and wakes are ordered by a hash of (tie seed, node, time, port), so that no port is
// favoured, and timers by the node's own arming sequence. Hence neither the partition into windows
// and threads nor the order of nodes can show in a result.
//
// The engine runs node by node in time windows no wider than the smallest delay between nodes run
// apart, or twice that where nodes take turns by colour (conservative: Chandy and Misra 1979, Nicol
// 1993). Nodes joined by delays too short for a useful window run as one unit, interleaved by time.
//
// Nothing is global: two simulations run side by side in one process.
#ifndef KERNEL_SIM_H
#define KERNEL_SIM_H

#include "kernel/base.h"
#include "kernel/digest.h"

SIM_C_BEGIN

typedef struct sim sim_t;
typedef struct sim_node sim_node_t;
typedef struct sim_channel sim_channel_t;
typedef struct sim_event sim_event_t; // kernel/event.h

#define SIM_THREADS_MAX 64
#define SIM_PORTS_PER_NODE_MAX UINT16_MAX

typedef struct sim_options {
    uint64_t seed;       // every named random stream derives from it
    uint64_t tie_seed;   // permutes the order of ports that tie at one instant
    unsigned threads;    // 1..SIM_THREADS_MAX; never changes a result
    bool fifo_ties;      // ties go by insertion, as if events of all nodes ran one after the
                         // other: kernel/order/fifo.h
    bool rotor_ties;     // ties go by the number of the tie: kernel/order/rotor.c
    sim_time_t until_ps; // the run ends before the first event at or after this time; at most
                         // SIM_TIME_END, which SIM_TIME_NEVER stands for
    // The run has stalled when work is outstanding and events bring no progress for this long. Of
    // a time without events at most 1 ms counts. It has stalled, too, when no work is outstanding
    // and nothing but upkeep (kernel/timer.h) happens for this long. 0: never.
    sim_time_t stall_ps;
    bool splits; // windows may be split: kernel/fast_forward_period.h
    bool steps;  // the run goes by steps (kernel/steps.h), on one thread
} sim_options_t;

typedef enum sim_ended {
    SIM_ENDED_DONE,        // nothing is left to happen and no work is outstanding
    SIM_ENDED_UNTIL,       // the time limit
    SIM_ENDED_INTERRUPTED, // sim_interrupt
    SIM_ENDED_STALLED,     // work is outstanding and nothing (or nothing useful) happens; or
                           // none is, and nothing happens but upkeep
} sim_ended_t;

struct sim_mail; // kernel/event.h

// The operations of a kind of node. One table per kind, immutable.
typedef struct sim_node_ops {
    const char *kind; // "switch", "host": for messages

    // Runs every event that sim_node_next (kernel/event.h) gives, until it gives none. May send,
    // wake and arm; may not touch another node.
    void (*run)(sim_node_t *node);

    // Run one event, an arrival or another, as `run` does. Ties by insertion call them. If both
    // are NULL, `run` is called for each event, and all nodes take turns on one thread. The engine
    // uses the first 8 bytes of messages to such a kind while they are in flight.
    void (*arrive)(sim_node_t *node, uint32_t port, void *message);
    void (*take)(sim_node_t *node, const sim_event_t *event);

    // Prefetches what `run` will read for this many arrivals. Called shortly before, while another
    // node runs. Must not read far nor change anything. May be NULL.
    void (*warm)(const sim_node_t *node, uint32_t arrivals);

    // Returns whether the order of messages that arrive at one instant, by different ports, may
    // change anything. Called before events of earlier instants have run. NULL: it may.
    bool (*ties_matter)(const sim_node_t *node, const struct sim_mail *mail, size_t count);
    // Messages of one instant keep one order with ties by rotor: ports do not compete.
    bool keeps_order;

    // Adds the final counters of the node to the digest. Called once, after the run, by several
    // threads for different nodes: must only read, and only this node. May be NULL.
    void (*digest)(const sim_node_t *node, sim_digest_t *digest);

    // Frees the node's memory and what it owns. Called by sim_destroy.
    void (*destroy)(sim_node_t *node);
} sim_node_ops_t;

// Creates a simulation; options are copied. Free with sim_destroy, which destroys nodes too.
sim_t *sim_create(const sim_options_t *options);
void sim_destroy(sim_t *sim);

// Registers a node whose memory the caller allocated: a struct that starts with a sim_node_t (see
// kernel/event.h). The simulation owns it from here on. name is copied.
// Node indices are given in order of registration, from 0. Register nodes that are near each other
// in the network one after the other: it keeps a thread's work local.
void sim_node_register(sim_t *sim, sim_node_t *node, const sim_node_ops_t *ops, const char *name);

// Creates a one-way channel into `to`, where messages arrive at `port` (below
// SIM_PORTS_PER_NODE_MAX). delay_ps >= 1 is the least time between sending and arrival, and the
// engine's lookahead. Messages on one channel must arrive in the order they are sent. The
// simulation owns the channel.
sim_channel_t *sim_channel_create(sim_t *sim, sim_node_t *from, sim_node_t *to, uint32_t port,
                                  sim_time_t delay_ps);

// Runs until nothing is left, the time limit, an interruption or a stall, and returns which. Call
// it once. If the system gives fewer threads than the options ask for, results do not change.
sim_ended_t sim_run(sim_t *sim);

// Returns, after sim_run, how many threads the system gave; 0: as many as were asked for.
unsigned sim_threads_missed(const sim_t *sim);

// Asks a running simulation to end at the next window. Safe to call in a signal handler.
void sim_interrupt(sim_t *sim);

// -- observers: never change what is simulated

// Called between windows, in the order of simulated time, by one thread at a time.
typedef void (*sim_window_fn)(sim_time_t window_end_ps, void *ctx);
// Calls fn after each window that was run; everything before window_end_ps has happened. In ranks
// (kernel/ranks.h) all ranks call it after the same windows, which need not be all.
void sim_on_window(sim_t *sim, sim_window_fn fn, void *ctx);

// Reads values of a node at time_ps, before any event of that time. Must only read.
typedef void (*sim_sample_fn)(const sim_node_t *node, sim_time_t time_ps, void *ctx);
// Calls fn at first_ps and every period_ps (>= 1) after it, while the simulation runs. Costs no
// event and does not keep the simulation alive. The thread that runs the node calls fn, so calls
// for different nodes may be concurrent. Over a time without events the engine takes the samples in
// portions and flushes record streams between them, so idle time needs no memory.
void sim_sample(sim_t *sim, sim_node_t *node, sim_time_t first_ps, sim_time_t period_ps,
                sim_sample_fn fn, void *ctx);
// Counts `count` samples of a node from time_ps on, during which nothing happens to it, and returns
// true; returns false if they must be taken one by one.
typedef bool (*sim_sample_many_fn)(const sim_node_t *node, sim_time_t time_ps, uint64_t count,
                                   void *ctx);
// Samples as sim_sample does, and asks `many` first where several samples meet no event.
void sim_sample_idle(sim_t *sim, sim_node_t *node, sim_time_t first_ps, sim_time_t period_ps,
                     sim_sample_fn fn, sim_sample_many_fn many, void *ctx);

// -- inspection

const sim_options_t *sim_options(const sim_t *sim); // as they were given to sim_create
sim_time_t sim_end_time_ps(const sim_t *sim); // time of the last event run; the limit if reached
sim_time_t sim_last_progress_ps(
    const sim_t *sim);                 // of sim_progress (kernel/event.h); after sim_run
uint64_t sim_events(const sim_t *sim); // events run; valid between windows and after
uint64_t sim_digest(const sim_t *sim); // valid after sim_run
size_t sim_node_count(const sim_t *sim);
// Returns how many pieces of work programs have begun and not finished (sim_work_begin in
// kernel/event.h).
uint64_t sim_work_outstanding(const sim_t *sim);

SIM_C_END

#endif // KERNEL_SIM_H
