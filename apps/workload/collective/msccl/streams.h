// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/streams.h - the blocks of a GPU's program and the messages to
// other GPUs, while a plan becomes a program.
#ifndef APPS_WORKLOAD_COLLECTIVE_MSCCL_STREAMS_H
#define APPS_WORKLOAD_COLLECTIVE_MSCCL_STREAMS_H

#include "apps/workload/collective/msccl/lower.h"

#define APP__LOWER_NONE UINT32_MAX

// A block that is made.
typedef struct app__lower_made {
    app__step_t *steps;
    size_t count;
    size_t capacity;
    uint32_t *lines; // of their operations
    size_t line_count;
    size_t line_capacity;
} app__lower_made_t;

// The n-th signal of a stream: what was put before it.
typedef struct app__lower_sent {
    uint32_t block; // of the receiver, which stores; APP__LOWER_NONE: nothing was put
    uint32_t steps; // that it takes for that
} app__lower_sent_t;

typedef enum app__lower_purpose {
    APP__LOWER_FOR_PUTS,
    APP__LOWER_FOR_SIGNALS,
    APP__LOWER_FOR_GETS
} app__lower_purpose_t;

// Messages from one GPU to another, in order.
typedef struct app__lower_stream {
    app__lower_purpose_t purpose;
    uint32_t to;
    uint32_t key; // the thread block, or the channel
    uint32_t lane;
    uint32_t back;   // APP__LOWER_FOR_GETS: lane of the answers
    uint32_t block;  // of the other GPU: that stores, or answers; APP__LOWER_NONE: none
    uint32_t sender; // thread block that signals; APP__LOWER_NONE: none yet
    uint32_t waiter; // thread block that waits
    uint32_t waits;
    app__lower_sent_t *sent;
    size_t sent_count;
    size_t sent_capacity;
} app__lower_stream_t;

typedef struct app__lower_gpu {
    uint32_t object;           // in the JSON
    app__lower_made_t *blocks; // thread blocks first
    size_t block_count;
    size_t block_capacity;
    app__lower_stream_t *streams; // that it sends
    size_t stream_count;
    size_t stream_capacity;
} app__lower_gpu_t;

#endif // APPS_WORKLOAD_COLLECTIVE_MSCCL_STREAMS_H
