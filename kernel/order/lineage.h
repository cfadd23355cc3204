// SPDX-License-Identifier: Apache-2.0
// kernel/order/lineage.h - ties by insertion in windows: numbers that identify the event that took
// them.
//
// Nodes that run apart cannot count what all of them schedule, but ties only ask which of two
// things was scheduled first: the one whose scheduling event came first or, if one event scheduled
// both, the earlier call. Which event came first is asked in the same way, back to events of
// different times or to what was there before the run. So a number is
//
//     1 | thread | parent | call
//
// where `parent` is the place, in the memory of that thread, of the time and the number of the
// event that took it (from bit SIM_LINE_BLOCK_SHIFT on: which block of memory), and `call` counts
// what this event has scheduled before. Numbers taken before the run are plain ones, below these.
//
// Comparison is free when times differ. On a tie it reads the two parents. Only for flows whose
// events have tied at every step does it walk back to their start, and that result is remembered.
// To keep the way back short and the memory small, sim__lineage_renumber replaces, between windows,
// all numbers that still matter by plain ones.
#ifndef KERNEL_ORDER_LINEAGE_H
#define KERNEL_ORDER_LINEAGE_H

#include "kernel/event.h"
#include "kernel/order/ops.h"

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

// A message's number while it is in flight: in its first 8 bytes.
typedef uint64_t __attribute__((may_alias)) sim_stamp_t;

// An event that has scheduled something: its time and its number.
typedef struct sim_parent {
    sim_time_t time_ps;
    uint64_t number;
} sim_parent_t;

// The remembered result of one comparison: whether `a` was taken before `b`.
#define SIM_REMEMBERED 4096u
typedef struct sim_remembered {
    uint64_t a;
    uint64_t b;
    bool before;
} sim_remembered_t;

// A call of sim_take_turn that waits for the end of the window.
typedef struct sim_turn {
    uint64_t place;
    sim_node_t *node;
    sim_time_t time_ps;
    sim_turn_fn fn;
    void *subject;
    uint64_t value;
} sim_turn_t;

// The state of ties by insertion that belongs to one thread.
typedef struct sim_line {
    uint64_t next;    // the number to be taken next
    uint64_t current; // the number of the event being run
    bool in_event;
    sim_parent_t *parent; // where the next event goes if it schedules something; NULL in one list
    sim_parent_t *block_end;
    sim_parent_t **blocks;    // of SIM_LINE_BLOCK parents each
    sim_remembered_t *memory; // by a hash of both
    uint64_t **kept_at;       // by channel: where it keeps a number for a wake; NULL: nowhere
    sim_turn_t *turns;
    size_t turn_count;
    size_t turn_capacity;
} sim_line_t;

// Returns how many parents the thread has since its numbers were replaced.
static inline uint64_t sim__line_parents(const sim_line_t *line)
{
    return line->next << (64 - SIM_LINE_THREAD_SHIFT) >>
           (64 - SIM_LINE_THREAD_SHIFT + SIM_LINE_PARENT_SHIFT);
}

// Points line->parent at the block of the number to be taken next, where that number is its first.
void sim__line_open_block(sim_line_t *line);
void sim__line_fini(sim_line_t *line);

// Allocates the memory of all threads, as the run begins.
void sim__lineage_seat(sim_t *sim);

// In both, `line` is that of the calling thread; between windows, of thread 0.
// Returns whether number a was taken before number b.
bool sim__lineage_before(const sim_t *sim, const sim_line_t *line, uint64_t a, uint64_t b);
// Sorts by number; equal ones keep their order.
void sim__lineage_sort(const sim_t *sim, const sim_line_t *line, sim_ranked_t *items, size_t count);

// Replaces the numbers taken in the run if there are many events to remember. Between windows.
void sim__lineage_renumber(sim_t *sim);

SIM_C_END

#endif // KERNEL_ORDER_LINEAGE_H
