// SPDX-License-Identifier: Apache-2.0
// kernel/order/order_internal.h - what fifo.c, lineage.c and one_list.c share.
#ifndef KERNEL_ORDER_ORDER_INTERNAL_H
#define KERNEL_ORDER_ORDER_INTERNAL_H

#include "kernel/engine_internal.h"
#include "kernel/order/fifo.h"

SIM_C_BEGIN

typedef struct sim_numbered_wake {
    sim_time_t time_ps;
    uint64_t number;
    uint32_t port;
} sim_numbered_wake_t;

// Of a node, sorted by (time, number), in [first, end).
typedef struct sim_wake_queue {
    sim_numbered_wake_t *wakes;
    uint32_t first;
    uint32_t end;
    uint32_t capacity;
} sim_wake_queue_t;

typedef struct sim_keeper {
    const sim_node_t *node;
    uint32_t port;
    uint32_t channel; // by index
} sim_keeper_t;

struct sim_fifo {
    uint64_t next_first; // before the run, of wakes at time 0: before all others
    sim_keeper_t *keepers;
    size_t keeper_count;
    size_t keeper_capacity;
    bool needs_list;
    uint64_t *kept;          // by keeping ports, those of a node together; 0: none yet
    uint64_t **kept_at;      // by channel: where the number goes; NULL: nowhere
    sim_wake_queue_t *wakes; // by node; in one list only until the run
    size_t wakes_capacity;
    struct sim_one_list *list; // where all events are in one
    // in windows
    sim_parent_t **parents; // by thread and block, of SIM_LINE_BLOCK each; most blocks are NULL
    uint64_t next_plain;    // for numbers that are replaced
    uint64_t replace_at;    // so many parents
    bool replace_always;    // after each window, as tests ask for
    sim_ranked_t *live;
    size_t live_capacity;
};

static inline uint64_t *sim__kept_at(const sim_t *sim, const sim_channel_t *channel)
{
    return sim->fifo->kept_at[channel->index];
}

SIM_C_END

#endif // KERNEL_ORDER_ORDER_INTERNAL_H
