// SPDX-License-Identifier: Apache-2.0
// kernel/order/order_internal.h - what the files of ties by insertion share.
//
//     fifo.c      who takes a number; what programs call (kernel/order/fifo.h)
//     lineage.c   which of two numbers was taken first
//     windows.c   the row for nodes that run apart, in windows
//     one_list.c  the row for all events in one list
#ifndef KERNEL_ORDER_ORDER_INTERNAL_H
#define KERNEL_ORDER_ORDER_INTERNAL_H

#include "kernel/engine/thread.h"

SIM_C_BEGIN

typedef struct sim_numbered_wake {
    sim_time_t time_ps;
    uint64_t number;
    uint32_t port;
} sim_numbered_wake_t;

// The wakes of one node, sorted by (time, number), in [first, end).
typedef struct sim_wake_queue {
    sim_numbered_wake_t *wakes;
    uint32_t first;
    uint32_t end;
    uint32_t capacity;
} sim_wake_queue_t;

// A port that keeps a number for its next wake with each message sent on a channel.
typedef struct sim_keeper {
    const sim_node_t *node;
    uint32_t port;
    uint32_t channel; // by index
} sim_keeper_t;

struct sim_fifo {
    uint64_t next_first; // next number, before the run, of a wake at time 0: it precedes all others
    sim_keeper_t *keepers;
    size_t keeper_count;
    size_t keeper_capacity;
    bool needs_list;
    uint64_t *kept;          // the numbers kept, node by node; 0: none yet
    uint64_t **kept_at;      // by channel: where the number goes; NULL: nowhere
    sim_wake_queue_t *wakes; // by node; in one list they are used before the run only
    size_t wakes_capacity;
    struct sim_one_list *list; // of the row for one list
    // of the row for windows
    sim_parent_t **parents; // by thread and block, of SIM_LINE_BLOCK each; most blocks are NULL
    uint64_t next_plain;    // the last number given in place of one taken in the run
    uint64_t replace_at;    // numbers are replaced when there are this many parents...
    bool replace_always;    // ...or after each window: set by tests
    sim_ranked_t *live;     // memory of the last replacement, used again
    size_t live_capacity;
};

static inline sim_line_t *sim__line_of(const sim_node_t *node)
{
    return &sim__thread_of(node)->line;
}

// Returns the number kept for the next wake at `port`; 0: none is.
static inline uint64_t sim__kept_number(const sim_node_t *node, uint32_t port)
{
    return node->kept != NULL && port < node->kept_count ? node->kept[port] : 0;
}

// Takes the two numbers of a message: keeps the first for its sender's next wake if the channel
// keeps one, and returns the second, which is the arrival's.
static inline uint64_t sim__number_message(sim_line_t *line, const sim_channel_t *channel)
{
    const uint64_t number = line->next;
    line->next = number + 2;
    uint64_t *const kept = line->kept_at[channel->index];
    if (kept != NULL) {
        *kept = number;
    }
    return number + 1;
}

// fifo.c: slots that both rows by insertion have, and parts of their other slots.
void sim__fifo_create(sim_t *sim);
void sim__fifo_destroy(sim_t *sim);
void sim__fifo_seat(sim_t *sim); // gives ports the memory of the numbers they keep
uint64_t sim__fifo_timer_number(const sim_node_t *node);
uint64_t sim__fifo_record_place(const sim_node_t *node);
// Returns the number of a wake that is asked for in the run; `kept` is the result of
// sim__kept_number.
uint64_t sim__fifo_wake_number(const sim_node_t *node, sim_time_t time_ps, uint64_t kept);

SIM_C_END

#endif // KERNEL_ORDER_ORDER_INTERNAL_H
