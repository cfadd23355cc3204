// SPDX-License-Identifier: Apache-2.0
// kernel/engine/thread.h - a thread of execution.
#ifndef KERNEL_ENGINE_THREAD_H
#define KERNEL_ENGINE_THREAD_H

#include "kernel/engine/far.h"
#include "kernel/engine/unit.h"
#include "kernel/order/lineage.h"
#include "kernel/pool.h"
#include "kernel/ranks.h"

#define SIM_MAIL_FIRST 4u    // messages of the smallest mailbox: a cache line
#define SIM_MAIL_CLASSES 26u // mailbox capacities SIM_MAIL_FIRST << class: at most 2 GB

// Returns the memory of a mailbox of a size class.
static inline size_t sim__mailbox_bytes(uint32_t size_class)
{
    return sizeof(sim_mail_t) * ((SIM_MAIL_FIRST << size_class) + SIM_MAIL_PAD);
}

typedef struct sim_sampler sim_sampler_t;

// A message for a node of another rank.
typedef struct sim_leaving {
    sim_node_t *from;
    void *message;
    uint32_t place;  // of the rank among this one's neighbours
    uint32_t node;   // receiver
    uint32_t window; // its lower bits, or FAR and the port: kernel/engine/ranks.c
    uint64_t key;
} sim_leaving_t;
#define SIM_LEAVING 16u // messages that wait until their parts are in the cache; a power of two

// Memory of sim_lines_take: free objects by their lines, and the rest of the newest chunk.
typedef struct sim_lines {
    sim_pool_free_t *free[SIM_LINES_MAX + 1];
    char *next;
    size_t left_bytes;
    void **chunks;
    size_t chunk_count;
    size_t chunk_capacity;
} sim_lines_t;

// One thread of execution.
typedef struct sim_thread {
    sim_worker_t worker; // first
    sim_t *sim;
    sim_seat_t *seats;         // by bit index - first_bit
    const sim_seat_t **agenda; // of the window being run; room for all seats
    sim_watched_t *watched;    // units of the agenda with watched members: a heap by time
    size_t watched_capacity;
    uint32_t first_bit; // multiple of 64
    uint32_t end_bit;
    sim_mailbox_t *lent; // the node being run reads this mailbox in place; NULL: it reads the batch
    unsigned lent_by;    // thread that owns `lent`
    sim_mail_t *batch;   // sorted mail of the unit being run, if it has one node
    size_t batch_capacity;
    sim_mail_t *stage; // mail gathered from several sources, not yet sorted
    size_t stage_capacity;
    uint32_t *histogram;
    size_t histogram_capacity;
    sim_lines_t lines;
    sim_mail_t *free_mail[SIM_MAIL_CLASSES]; // unused mailboxes, linked through their first entry
    // Mailboxes of other threads that this one has read, by thread and parity of the window, linked
    // likewise; the key of their first entry is their class.
    sim_mail_t *returned[SIM_THREADS_MAX][2];
    sim_appointments_t appointments;           // heap by window
    sim_parcels_t parcels[SIM_THREADS_MAX][2]; // by destination thread and parity of the window
    sim_sampler_t **samplers;
    size_t sampler_count;
    sim_time_t sample_next_ps; // when the earliest of them is due
    sim_time_t record_end_ps;  // records put now are before this and not before the window
    sim_line_t line;           // ties by insertion
    // messages for nodes of other ranks
    sim_leaving_t leaving[SIM_LEAVING]; // those taken last: a ring
    uint64_t left_count;                // messages that went from there into a buffer
    sim_buffer_t *away;                 // by neighbouring rank
    uint64_t *away_due;  // by neighbouring rank: first window with an arrival; SIM_NO_WINDOW: none
    uint64_t away_count; // all since the run began
    uint64_t *inner;     // by bit - first_bit: units that no channel joins with another rank
    // published at the barrier
    uint64_t next_window; // the next one in which this thread has something to do
    uint64_t share_ns;    // wall time of its part of the window
    bool cut;             // the time limit left mail unread
    uint64_t digest;      // of its nodes, after the run
} sim_thread_t;

// Returns the thread that runs the node.
static inline sim_thread_t *sim__thread_of(const sim_node_t *node)
{
    return (sim_thread_t *)(void *)node->worker;
}

// Marks that the unit has something to do in the window of this slot.
static inline void sim__mark_active(sim_thread_t *thread, uint32_t slot, const sim_unit_t *unit)
{
    thread->worker.active[slot][unit->index >> 6] |= UINT64_C(1) << (unit->index & 63);
    thread->worker.slot_used[slot] = true;
}

sim_thread_t *sim__thread_create(sim_t *sim, unsigned index);

// Frees a thread's buffers for other ranks.
void sim__ranks_free_away(sim_thread_t *thread);

#endif // KERNEL_ENGINE_THREAD_H
