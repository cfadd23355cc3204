// SPDX-License-Identifier: Apache-2.0
// apps/workload/op_queue.h - the progress of the operations of a rank, and queues of them.
//
// An operation is in one queue at a time, which goes through its state. Puts and takes cost O(1).
#ifndef APPS_WORKLOAD_OP_QUEUE_H
#define APPS_WORKLOAD_OP_QUEUE_H

#include "kernel/event.h"

#define APP__NO_OP UINT32_MAX

// The progress of an operation: what it waits for, its times and its outcome.
typedef struct app__op_state {
    uint32_t left;       // operations that it still waits for
    uint32_t next;       // in the queue that it stands in
    sim_time_t start_ps; // send: when it was handed to the NIC; NEVER: it has not started
    sim_time_t end_ps;   // send: when it was acknowledged, or failed; NEVER: not yet
    uint8_t status;      // nic_wc_status_t of a message
    bool finished;
    bool arrived; // receive: its message is here
} app__op_state_t;

typedef struct app__op_queue {
    uint32_t head; // APP__NO_OP: empty
    uint32_t tail;
} app__op_queue_t;

static inline void app__queue_init(app__op_queue_t *queue)
{
    *queue = (app__op_queue_t){APP__NO_OP, APP__NO_OP};
}

static inline void app__queue_put(app__op_queue_t *queue, app__op_state_t *states, uint32_t op)
{
    states[op].next = APP__NO_OP;
    if (queue->head == APP__NO_OP) {
        queue->head = op;
    } else {
        states[queue->tail].next = op;
    }
    queue->tail = op;
}

static inline uint32_t app__queue_take(app__op_queue_t *queue, const app__op_state_t *states)
{
    const uint32_t op = queue->head;
    queue->head = states[op].next;
    return op;
}

#endif // APPS_WORKLOAD_OP_QUEUE_H
