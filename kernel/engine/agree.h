// SPDX-License-Identifier: Apache-2.0
// kernel/engine/agree.h - the engine's side of ranks (kernel/ranks.h): what all ranks see alike.
#ifndef KERNEL_ENGINE_AGREE_H
#define KERNEL_ENGINE_AGREE_H

#include "kernel/ranks.h"

// Numbers of all ranks together, from which thread 0 decides how the run goes on.
typedef struct sim__seen {
    uint64_t next_window;          // in which a thread has something to do; SIM_NO_WINDOW: none
    sim_time_t background_ps;      // no background timer is due before this
    sim_time_t progress_ps;        // latest time of sim_progress
    sim_time_t sample_ps;          // when the next sample is due
    uint64_t progress;             // calls of sim_progress
    uint64_t work;                 // pieces of work outstanding
    uint64_t upkeep;               // calls of sim_upkeep
    uint64_t records;              // that streams hold; in ranks only
    bool interrupted;              // sim_interrupt was called
    bool early;                    // a rank has begun the next window: kernel/engine/appoint.c
    uint64_t told[SIM_RANKS_TOLD]; // sim_ranks_tell
} sim__seen_t;

struct sim__ranks;
void sim__ranks_destroy(sim_t *sim);

// Gives each node to a rank if sim_seat was not called.
void sim__ranks_seat(sim_t *sim, const uint32_t *unit_of);
// Finds this rank's neighbours, and gives threads buffers for messages to them.
void sim__ranks_meet(sim_t *sim);
// Returns the place of the rank that runs the node, among this one's neighbours; 0 if none does.
uint32_t sim__ranks_place(const sim_t *sim, const sim_node_t *node);
// Takes a message for a node of another rank, on a channel that is away.
void sim__ranks_send(sim_node_t *from, const sim_channel_t *channel, sim_time_t arrive_ps,
                     void *message);

// Makes all ranks use as many threads as the rank that has the fewest.
void sim__ranks_agree_threads(sim_t *sim);

// Begins to send the messages of the window that was run to the ranks of their nodes. `seen` holds
// this rank's numbers as the window ended.
void sim__ranks_begin_exchange(sim_t *sim, const sim__seen_t *seen);
// Lets messages make progress.
void sim__ranks_poll(const sim_t *sim);
// Takes the messages of other ranks, and replaces `seen` by the numbers of all ranks.
void sim__ranks_finish_exchange(sim_t *sim, sim__seen_t *seen);

// Returns whether this rank may run the window seen->next_window without the others: they have
// nothing to do before it, nor get anything from this rank, and they meet soon enough. `seen` holds
// this rank's numbers, and then those of all ranks as far as they can be known.
bool sim__ranks_alone(const sim_t *sim, sim__seen_t *seen);
// Counts a window that this rank runs alone.
void sim__ranks_count_alone(sim_t *sim);

// Replace a number of this rank by the common number of all ranks. In one process they return their
// argument.
uint64_t sim__agree_least(sim_t *sim, uint64_t value);
uint64_t sim__agree_sum(sim_t *sim, uint64_t value);
bool sim__agree_any(sim_t *sim, bool value);
void sim__agree_seen(sim_t *sim, sim__seen_t *seen);

// Brings the bytes to rank 0, as sim_ranks_ops_t.collect.
void sim__ranks_collect(sim_t *sim, const sim_buffer_t *bytes, sim_ranks_take_fn take, void *ctx);

#endif // KERNEL_ENGINE_AGREE_H
