// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/lowering.h - the state in which a plan becomes a program.
//
// lower.c reads the plan and writes the program, moves.c makes steps of operations that move data,
// and signals.c of those that let others go on.
#ifndef APPS_WORKLOAD_COLLECTIVE_MSCCL_LOWERING_H
#define APPS_WORKLOAD_COLLECTIVE_MSCCL_LOWERING_H

#include "apps/workload/collective/msccl/streams.h"

#define APP__LOWER_ENDS 64u  // of an operation
#define APP__LOWER_PARTS 64u // of a chunk, for thread blocks that share an operation

typedef enum app__lower_action {
    APP__LOWER_NOTHING,
    APP__LOWER_BARRIER,
    APP__LOWER_MOVE,
    APP__LOWER_PUT,
    APP__LOWER_GET,
    APP__LOWER_REDUCE,
    APP__LOWER_SIGNAL,
    APP__LOWER_WAIT,
    APP__LOWER_ACQUIRE,
    APP__LOWER_RELEASE,
    APP__LOWER_PIPELINE
} app__lower_action_t;

typedef struct app__lower_kind {
    const char *name;
    app__lower_action_t action;
    bool reads_packets;
    bool packets; // writes them
    bool signals; // behind it
} app__lower_kind_t;

// Chunks of a buffer, in parts of a chunk.
typedef struct app__lower_range {
    uint8_t buffer; // app__buffer_t
    uint32_t first;
    uint32_t count;
} app__lower_range_t;

// One end of an operation.
typedef struct app__lower_end {
    app__lower_range_t range;
    uint32_t rank; // whose memory it is
} app__lower_end_t;

// A step that waits for something of its GPU that is made later: a signal (WAIT), another thread
// block (BARRIER), a semaphore (ACQUIRE) or packets (MOVE).
typedef struct app__lower_late {
    app__lower_action_t what;
    uint32_t gpu;
    uint32_t block;
    uint32_t step;
    uint32_t op; // in the file
    uint32_t a;  // WAIT: GPU that signals; BARRIER: the other block; ACQUIRE: semaphore
    uint32_t b;  // WAIT: its stream; BARRIER: barrier
    uint32_t n;  // number of such operations before this one
    app__lower_range_t range; // packets
} app__lower_late_t;

// A step that others wait for: BARRIER, RELEASE, or MOVE, which writes packets.
typedef struct app__lower_mark {
    app__lower_action_t what;
    uint32_t gpu;
    uint32_t block;
    uint32_t step; // BARRIER: how many steps come before it
    uint32_t id;   // of the barrier or the semaphore
    app__lower_range_t range;
} app__lower_mark_t;

typedef struct app__lowering {
    const app__json_t *json;
    app__msccl_t *msccl;
    sim_message_t *message;
    sim_err_t error;
    app__lower_gpu_t *gpus;
    uint32_t ranks;
    uint32_t parts;  // of a chunk
    uint32_t *lanes; // per pair of GPUs: how many it has
    uint32_t lanes_most;
    uint64_t steps;
    app__lower_late_t *late;
    size_t late_count;
    size_t late_capacity;
    app__lower_mark_t *marks;
    size_t mark_count;
    size_t mark_capacity;
    // the present thread block and operation
    uint32_t gpu;
    uint32_t object; // of the thread block
    uint32_t block;
    uint32_t op;
    const app__lower_kind_t *kind;
    app__lower_end_t sources[APP__LOWER_ENDS];
    app__lower_end_t destinations[APP__LOWER_ENDS];
    uint32_t source_count;
    uint32_t destination_count;
} app__lowering_t;

// Fails at a value of the plan, unless something has failed before.
void app__lower_fail(app__lowering_t *to, uint32_t value, const char *problem,
                     const char *expected);
// Returns a member that is a number from 0 to `most`; `otherwise` if it is not there.
uint32_t app__lower_number(app__lowering_t *to, uint32_t object, const char *name, uint32_t most,
                           uint32_t otherwise);
// Copies a member that is a text, or its beginning; "" if it is not there. Returns `text`.
const char *app__lower_text(const app__json_t *json, uint32_t object, const char *name, char *text,
                            size_t size);
// Returns an element of a list, from its first one.
uint32_t app__lower_element(const app__json_t *json, uint32_t first, uint32_t index);
// Adds a step to a block; returns its number.
uint32_t app__lower_step(app__lowering_t *to, uint32_t gpu, uint32_t block,
                         const app__step_t *step);
app__step_t app__lower_step_of(unsigned what, const app__lower_range_t *from,
                               const app__lower_range_t *into);
// Finds or makes a stream from a GPU to another one; returns its number.
uint32_t app__lower_stream(app__lowering_t *to, uint32_t from, uint32_t peer,
                           app__lower_purpose_t purpose, uint32_t key);
// Adds a step of the present block that waits for what is made later.
void app__lower_late(app__lowering_t *to, app__lower_late_t late, const app__step_t *step);

#endif // APPS_WORKLOAD_COLLECTIVE_MSCCL_LOWERING_H
