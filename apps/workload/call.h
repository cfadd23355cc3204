// SPDX-License-Identifier: Apache-2.0
// apps/workload/call.h - calls of collectives by groups of ranks.
#ifndef APPS_WORKLOAD_CALL_H
#define APPS_WORKLOAD_CALL_H

#include "kernel/base.h"

// The ranks that call collectives together, as a communicator of NCCL or MPI has them.
typedef struct app__group {
    uint32_t *ranks; // in the order of their numbers within the group
    uint32_t count;
} app__group_t;

typedef enum app__coll_kind {
    APP__COLL_ALL_REDUCE,
    APP__COLL_REDUCE_SCATTER,
    APP__COLL_ALL_GATHER,
    APP__COLL_BROADCAST,
    APP__COLL_REDUCE,
    APP__COLL_ALL_TO_ALL,
    APP__COLL_BARRIER,
    APP__COLL_COUNT
} app__coll_kind_t;

// One collective, called once by every rank of a group. A rank's operation of the type
// APP__OP_COLL is its part of the call: it starts when the rank calls, and finishes when the rank
// has its result.
typedef struct app__call {
    // All-reduce, broadcast, reduce: the buffer. Reduce-scatter: the input of a rank. All-gather:
    // the result of a rank. All-to-all: what a rank sends to all, itself included.
    uint64_t bytes;
    // All-to-all with unequal parts: bytes from row to column, count x count values by the numbers
    // within the group; NULL: equal parts. Borrowed from the schedule (app__schedule_keep).
    const uint64_t *matrix;
    uint32_t group;
    uint32_t root;     // number within the group; broadcast and reduce
    uint8_t kind;      // app__coll_kind_t
    uint8_t dimension; // app__dimension_t
    const char *name;  // for reports: "layer 3 forward"; NULL: none. Borrowed from the schedule.
} app__call_t;

// Returns the name of a kind of collective, "all-reduce".
const char *app__coll_kind_name(app__coll_kind_t kind);

#endif // APPS_WORKLOAD_CALL_H
