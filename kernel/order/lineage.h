// SPDX-License-Identifier: Apache-2.0
// kernel/order/lineage.h - ties by insertion in windows: numbers that tell which event took them.
//
// Nodes that run apart cannot count what all of them schedule. What is needed is less: which of two
// things that tie was scheduled first. That is the one whose scheduling event came first, and of
// one event the one scheduled first; and which event came first is asked in the same way, back to
// events of different times or to what was there before the run. So a number is
//
//     1 | thread | parent | call
//
// where `parent` is the place, in the memory of that thread, of the time and the number of the
// event that took it (from bit SIM_LINE_BLOCK_SHIFT on: which block of memory), and `call` counts
// what this event has scheduled before. Numbers taken before the run are plain ones, below these.
// Comparing costs nothing where times differ, a look at two parents where they do not, and rarely
// more (of flows that go in step, all the way back, once). So that the way back stays short, and
// the memory small, all numbers that still matter are replaced by plain ones from time to time,
// between windows (sim__lineage_renumber).
#ifndef KERNEL_ORDER_LINEAGE_H
#define KERNEL_ORDER_LINEAGE_H

#include "kernel/event.h"
#include "kernel/order/fifo.h"

SIM_C_BEGIN

#define SIM_MADE_IN_RUN (UINT64_C(1) << 63)
#define SIM_LINE_THREAD_SHIFT 57u // SIM_THREADS_MAX threads
#define SIM_LINE_PARENT_SHIFT 29u // an event schedules less than 2^29 things
#define SIM_LINE_BLOCK_SHIFT 44u
#define SIM_LINE_BLOCK 32768u // parents whose memory is allocated together
#define SIM_LINE_BLOCKS 8192u // of a thread
#define SIM_LINE_BLOCKS_ALL (64 * SIM_LINE_BLOCKS)
static_assert(SIM_THREADS_MAX <= 64, "six bits");
static_assert(SIM_LINE_BLOCK == 1u << (SIM_LINE_BLOCK_SHIFT - SIM_LINE_PARENT_SHIFT), "15 bits");
static_assert(SIM_LINE_BLOCKS == 1u << (SIM_LINE_THREAD_SHIFT - SIM_LINE_BLOCK_SHIFT), "13 bits");

#define SIM_LINE_CALLS ((UINT64_C(1) << SIM_LINE_PARENT_SHIFT) - 1)

// A message's number while it is on its way.
typedef uint64_t __attribute__((may_alias)) sim_stamp_t;

// An event that has scheduled something.
typedef struct sim_parent {
    sim_time_t time_ps;
    uint64_t number;
} sim_parent_t;

// Two numbers that were compared, and whether `a` is before `b`.
#define SIM_REMEMBERED 4096u
typedef struct sim_remembered {
    uint64_t a;
    uint64_t b;
    bool before;
} sim_remembered_t;

typedef struct sim_turn {
    uint64_t place;
    sim_node_t *node;
    sim_time_t time_ps;
    sim_turn_fn fn;
    void *subject;
    uint64_t value;
} sim_turn_t;

// What a thread has of ties by insertion.
typedef struct sim_line {
    uint64_t next;    // number to be taken next
    uint64_t current; // of the event being run
    bool in_event;
    sim_parent_t *parent; // where the next event that is run goes; NULL: numbers are plain ones
    sim_parent_t *block_end;
    sim_parent_t **blocks;    // of SIM_LINE_BLOCK parents each
    sim_remembered_t *memory; // by a hash of both
    uint64_t **kept_at;       // by channel: where it keeps a number for a wake; NULL: nowhere
    sim_turn_t *turns;
    size_t turn_count;
    size_t turn_capacity;
} sim_line_t;

typedef struct sim_ranked {
    uint64_t number;
    void *owner;
    sim_time_t time_ps;    // of the parent
    sim_time_t earlier_ps; // of its parent
} sim_ranked_t;

// Gives a message its number as it is sent in a window.
static inline void sim__line_stamp(sim_line_t *line, const sim_channel_t *channel, void *message)
{
    const uint64_t number = line->next;
    line->next = number + 2;
    uint64_t *const kept = line->kept_at[channel->index];
    if (kept != NULL) {
        *kept = number;
    }
    *(sim_stamp_t *)message = number + 1;
}

void sim__line_fini(sim_line_t *line);
void sim__lineage_seat(sim_t *sim); // before the run, when its threads are there

// `line` is that of the thread that asks; between windows, of the first.
// Whether what has number a was scheduled before what has number b.
bool sim__lineage_before(const sim_t *sim, const sim_line_t *line, uint64_t a, uint64_t b);
// Sorts by number; equal ones keep their order.
void sim__lineage_sort(const sim_t *sim, const sim_line_t *line, sim_ranked_t *items, size_t count);
// Sorts messages of one instant by number. All are for the node.
void sim__lineage_sort_mail(const sim_node_t *node, sim_mail_t *mail, size_t count);

// As node->ops->run, of a node that is alone in its unit.
void sim__lineage_run(sim_node_t *node);

// Between windows. What waits for its turn has it now.
void sim__lineage_turns(sim_t *sim);
// Replaces numbers taken in the run, if these have become many.
void sim__lineage_renumber(sim_t *sim);

SIM_C_END

#endif // KERNEL_ORDER_LINEAGE_H
