// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/call_plan.h - how the calls of collectives are done, which is decided
// before the run.
#ifndef APPS_WORKLOAD_COLLECTIVE_CALL_PLAN_H
#define APPS_WORKLOAD_COLLECTIVE_CALL_PLAN_H

#include "apps/workload/collective/algorithms/choose.h"
#include "apps/workload/op.h"

typedef struct app__collectives app__collectives_t;

#define APP__COLL_WINDOW_MAX 64u // messages of a channel that wait in its buffer, at most

// How a call is done: the same for all of a group's calls that are alike.
typedef struct app__coll_plan {
    app__program_t program;
    app__cut_t cut;
    app__protocol_t protocol;
    uint32_t group;
    double expected_us; // by NCCL's constants; 0: none
    app__coll_latency_t latency;
    uint64_t local_bps; // of messages within a node
    sim_time_t way_ps;  // of messages within a host
    uint64_t block_bps; // not 0: a thread block moves them one after the other, at most so fast
    uint64_t pairs_bps; // not 0: a thread block moves the messages of all its pairs so fast
    uint64_t last_bps;  // of copies behind which there are none; 0: no time
    uint64_t bytes;
    const uint64_t *matrix;
    app__dimension_t dimension;
    bool barrier;
    uint32_t width;       // channels that do the same at the same time; 1: each for itself
    uint64_t slice_bytes; // of a message, at most
    uint32_t parts;       // of a pair's slice, for as many channels
    uint32_t slices;      // of a chunk; 0: as many as it has of slice_bytes
    uint32_t window;      // messages of a channel under way, at most; 0: any number
} app__coll_plan_t;

// Decides how each call is done. SIM_ERR_INVALID: an algorithm cannot do one; the message begins
// with the name of an attribute.
SIM_MUST_CHECK sim_err_t app__coll_plan_all(app__collectives_t *collectives,
                                            sim_message_t *message);
const char *app__protocol_name(app__protocol_t protocol);
// Returns the bytes of a step in a loop.
uint64_t app__coll_step_bytes(const app__coll_plan_t *plan, const app__step_t *step, uint32_t loop);
// Returns how many slices a step of this number of bytes has, and their size: the last one may be
// smaller.
uint32_t app__coll_slices(const app__coll_plan_t *plan, uint64_t bytes, uint64_t *slice_bytes);
// Returns the bytes that the protocol sends for so many of data in a step that does `what`.
uint64_t app__coll_wire_bytes(const app__coll_plan_t *plan, uint64_t bytes, uint16_t what);

#endif // APPS_WORKLOAD_COLLECTIVE_CALL_PLAN_H
