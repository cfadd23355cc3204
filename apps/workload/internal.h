// SPDX-License-Identifier: Apache-2.0
// apps/workload/internal.h - the state of a schedule that runs on hosts.
//
// A rank is a program on one host. Its operations go through these parts: execute.c starts them and
// runs their processors, match.c pairs messages with receives, and connect.c moves messages over
// queue pairs. Only events of the rank's host touch a rank; the schedule never changes.
#ifndef APPS_WORKLOAD_INTERNAL_H
#define APPS_WORKLOAD_INTERNAL_H

#include "apps/app_internal.h"
#include "apps/workload/schedule.h"
#include "kernel/random.h"

#define APP__NO_OP UINT32_MAX

typedef struct app__workload app__workload_t;
typedef struct app__rank app__rank_t;

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

// A processor of a rank: it runs one operation at a time, in the order in which they got ready.
typedef struct app__cpu {
    sim_timer_t timer;
    app__rank_t *rank;
    app__op_queue_t queue;
    uint32_t running;
    sim_time_t busy_ps; // so far
} app__cpu_t;

// A message that has arrived before its receive.
typedef struct app__unexpected {
    uint32_t source;
    uint32_t op;   // of the source
    uint32_t next; // index among the rank's, or APP__NO_OP
} app__unexpected_t;

struct app__rank {
    app__workload_t *workload;
    const app__rank_ops_t *ops;
    app__op_state_t *states;
    uint32_t number;
    uint32_t port_first; // first of its NICs in workload->ports
    uint32_t port_count;
    uint32_t left; // operations that have not finished
    sim_node_t *node;
    sim_timer_t begin;
    app__cpu_t *cpus;
    uint32_t cpu_count;
    app__op_queue_t ready;  // operations to start in this event
    app__op_queue_t posted; // receives without a message, in the order in which they were posted
    app__unexpected_t *unexpected; // messages without a receive; in order of arrival by `next`
    size_t unexpected_count;
    size_t unexpected_capacity;
    uint32_t unexpected_head;
    uint32_t unexpected_tail;
    uint32_t unexpected_free;
    uint64_t unexpected_now;
    uint64_t unexpected_peak;
    sim_time_t end_ps; // when its last operation finished
    uint64_t failed;   // messages
};

// Messages from one NIC to another, on a queue pair that stays.
typedef struct app__link {
    app__active_t active; // first: completions find it
    app__workload_t *workload;
    uint32_t source; // port
    uint32_t destination;
    nic_qp_t *qp;                // NULL: nothing was sent yet
    app__op_queue_t waiting;     // sends that are not posted
    uint64_t piece;              // bytes of the first waiting send that were posted
    app__op_queue_t outstanding; // sends that are posted and not completed
    uint32_t outstanding_count;  // work requests
} app__link_t;

// A NIC of a rank.
typedef struct app__port {
    app__rank_t *rank;
    app__endpoint_t *endpoint;
    uint64_t position;  // of its first QP number
    uint32_t out_first; // in workload->links
    uint32_t out_count;
    uint32_t in_first; // in workload->incoming
    uint32_t in_count;
    sim_time_t local_free_ps; // when its link to other ranks of the host is free
} app__port_t;

struct app__workload {
    app_t app; // first
    app__schedule_t *schedule;
    app__rank_t *ranks;
    app__port_t *ports;
    uint32_t port_count;
    app__link_t *links; // by source, then by destination
    uint32_t link_count;
    uint32_t *incoming; // links by destination, then by source
    app_runtime_t *runtime;
    // Called in an event of the rank's host when a message has arrived whole.
    void (*arrived)(app__rank_t *rank, uint32_t source, uint32_t op);
    uint64_t first_flow_id;
    sim_time_t start_ps;
    sim_time_t send_ps; // time of a processor for each send
    sim_time_t recv_ps; // and for each receive
    uint64_t local_bps;
    sim_time_t local_ps;
    sim_ratio_t calc_scale; // factor on computations
};

// -- queues of operations of a rank (a link's operations are those of its source's rank)

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

// -- execute.c

void app__rank_begin(app__rank_t *rank, sim_time_t start_ps); // arms its first event
// Starts everything that is ready; called at the end of whatever made operations ready.
void app__rank_pump(app__rank_t *rank);
// Notes that a receive has its message; its processor then handles it.
void app__rank_received(app__rank_t *rank, uint32_t op);
void app__rank_finish(app__rank_t *rank, uint32_t op);

// -- match.c

void app__match_init(app__rank_t *rank);
// Posts a receive; returns whether a message was waiting for it.
bool app__match_post(app__rank_t *rank, uint32_t op);
// Takes a message that has arrived whole: operation `op` of rank `source`. Returns the receive that
// gets it; APP__NO_OP: the message waits for one.
uint32_t app__match_arrive(app__rank_t *rank, uint32_t source, uint32_t op);

// -- connect.c

extern const app__range_ops_t app__link_range_ops;
// Makes the links that the schedule needs and reserves their QP numbers. SIM_ERR_INVALID: two ranks
// cannot talk; the message begins with "hosts".
SIM_MUST_CHECK sim_err_t app__links_create(app__workload_t *workload, sim_message_t *message);
void app__links_send(app__rank_t *rank, uint32_t op);

// -- report.c

void app__workload_flows(const app_t *app, app_flow_fn fn, void *ctx);
void app__workload_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);
extern const sim_report_table_t app__workload_report;

#endif // APPS_WORKLOAD_INTERNAL_H
