// SPDX-License-Identifier: Apache-2.0
// apps/flows/transfer.h - transfers in progress, and the interfaces that request them.
#ifndef APPS_FLOWS_TRANSFER_H
#define APPS_FLOWS_TRANSFER_H

#include "apps/flows/plan_internal.h"

typedef struct app__transfer_run app__transfer_run_t;
typedef struct app__flow_channel app__flow_channel_t;

// A failed transfer.
typedef struct app__failure {
    uint64_t index; // of the transfer
    sim_time_t time_ps;
} app__failure_t;

// A transfer that a trigger started.
typedef struct app__due {
    uint32_t index; // of the transfer
    sim_time_t time_ps;
} app__due_t;

// The transfers of one plan that one interface requests.
struct app__source {
    sim_timer_t timer; // fires at the start of the next transfer
    app__plan_t *plan;
    app__endpoint_t *endpoint;
    app__transfer_run_t *runs;     // transfers in progress
    app__flow_channel_t *channels; // that transfers share
    uint64_t next; // place of the next transfer among the interface's, in order of start
    uint64_t end;
    uint64_t started;
    uint64_t completed;
    uint64_t failed;
    app__failure_t *failures; // in order of time
    size_t failure_count;
    size_t failure_capacity;
    sim_timer_t due_timer; // fires for transfers that triggers started
    app__due_t *due;
    size_t due_count;
    size_t due_capacity;
    bool late; // the start time has come; waits for other events scheduled for that time
};

// A transfer in progress, at its requester.
struct app__transfer_run {
    app__message_t message; // first
    app__source_t *source;
    app__transfer_run_t *run_next; // list of the source
    app__transfer_run_t *run_previous;
    uint32_t index; // of the transfer
};

extern const app__range_ops_t app__plan_range_ops;
void app__source_fired(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn
void app__source_arm(app__source_t *source);                // arms the timer for the next transfer
void app__source_due(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn
extern const app__channel_ops_t app__flow_channel_ops;

#endif // APPS_FLOWS_TRANSFER_H
