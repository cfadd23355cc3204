// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/run.h - a call of a collective that runs at a member: its blocks, each
// of which takes the steps of its program.
#ifndef APPS_WORKLOAD_COLLECTIVE_RUN_H
#define APPS_WORKLOAD_COLLECTIVE_RUN_H

#include "apps/workload/collective/call_plan.h"
#include "kernel/timer.h"

typedef struct app__member app__member_t;
typedef struct app__member_channel app__member_channel_t; // channel.h

// Where a block is.
typedef struct app__place {
    uint32_t loop;
    uint32_t step;
    uint32_t slice;
} app__place_t;

// A step at a place: what it does and how it is sliced.
typedef struct app__coll_look {
    app__step_t step;
    uint64_t bytes; // of the step
    uint64_t slice_bytes;
    uint32_t slices;
} app__coll_look_t;

typedef struct app__coll_block {
    app__place_t at;
    bool looked;           // the next three are of the step at hand
    app__coll_look_t look; // kept, since each slice looks twice: when it waits, and when it goes on
    app__member_channel_t *from; // that the step receives by; NULL: it does not
    app__member_channel_t *to;   // that it sends by; NULL: it does not
    app__place_t permit;         // first receive that has no clear-to-send
    uint64_t copied;             // bytes that it has copied since it sent
    uint32_t steps;
    uint32_t channel;
    uint32_t awaits;  // block whose step this one waits for; APP__NO_BLOCK: none
    uint32_t waiters; // blocks that wait for a step of this one
    bool permits;     // it receives from other hosts, which wait for clear-to-sends
    bool busy;        // moves or reduces
    bool handled;     // the slice at hand
    bool done;
} app__coll_block_t;

typedef struct app__coll_timer {
    sim_timer_t timer;
    app__member_t *member;
    uint32_t block;
} app__coll_timer_t;

#define APP__PLACES_NOTED 8u // a power of two

// A call that runs at a member.
typedef struct app__coll_run {
    const app__coll_plan_t *plan;
    uint32_t op;
    uint32_t left; // blocks
    uint32_t block_count;
    app__coll_block_t *blocks;
    app__coll_timer_t *timers;                // of blocks that are busy; NULL: they take no time
    app__coll_timer_t begin;                  // of the blocks, after the latency of the call
    sim_time_t began_ps[APP__PLACES_NOTED];   // when block 0 came to its latest loops
    sim_time_t stepped_ps[APP__PLACES_NOTED]; // and to its latest steps
} app__coll_run_t;

#endif // APPS_WORKLOAD_COLLECTIVE_RUN_H
