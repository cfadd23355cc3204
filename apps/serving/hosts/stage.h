// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/stage.h - steps of an instance: how they are formed, and how one host computes
// its layers of them.
#ifndef APPS_SERVING_HOSTS_STAGE_H
#define APPS_SERVING_HOSTS_STAGE_H

#include "apps/serving/hosts/experts.h"
#include "apps/serving/hosts/place.h"
#include "apps/serving/hosts/ring.h"
#include "kernel/list.h"

typedef struct app__serving_part app__serving_part_t;

// The meaning of an immediate value: which data of one GPU of the sender have arrived.
typedef enum app__serving_notice {
    APP__SERVING_PASSED,  // activations of a step, from the stage before
    APP__SERVING_REDUCED, // a step of the ring of an all-reduce
    APP__SERVING_NOTICES,
} app__serving_notice_t;

// A request's share of a step.
typedef struct app__serving_share {
    app__serving_job_t *job; // NULL but at the leader
    uint32_t number;         // of the attempt
    uint32_t peer;           // node that decodes it
    uint64_t before;         // tokens whose KV data is there before the step
    uint64_t tokens;
    bool sends; // its KV data goes to another node
    bool granted;
} app__serving_share_t;

// A step of an instance, at one of its hosts.
typedef struct app__serving_step {
    sim_link_t link;
    uint64_t id;
    sim_time_t began_ps; // at the leader
    sim_time_t step_ps;  // of all stages, without the network
    uint64_t tokens;
    uint8_t kind; // app__serving_operation_kind_t
    app__serving_share_t *shares;
    size_t share_count;
    size_t share_capacity;
} app__serving_step_t;

// The steps at a host of an instance.
typedef struct app__serving_stage {
    sim_list_t steps;         // of the instance, that have not ended here
    app__serving_step_t *now; // that the host computes; NULL: none
    sim_timer_t timer;
    sim_time_t began_ps;
    sim_time_t step_ps;   // time of its layers
    bool by_layer;        // KV data is sent after each group of layers
    sim_time_t waited_ps; // for exchanges of the step
    uint64_t group;       // groups of layers that are computed
    uint64_t groups;      // of the step
    app__serving_exchange_t exchange;
    app__serving_reduce_t reduce;
    // Data of other hosts, of each GPU: how much has come, and how much was taken.
    uint64_t came[APP__SERVING_NOTICES][APP__SERVING_GPUS_MAX];
    uint64_t taken[APP__SERVING_NOTICES];
    sim_list_t passing; // activations on their way to the next stage
} app__serving_stage_t;

// Begins a step at its first stage, after the other hosts of the instance have been informed.
void app__serving_step_begin(app__serving_node_t *node, app__serving_step_t *step);
// Goes on after the all-reduces of a group of layers, and after its exchange with experts.
void app__serving_reduced(app__serving_node_t *node);
void app__serving_exchanged(app__serving_node_t *node);
// Takes a step that the leader has announced.
void app__serving_step_arrived(app__serving_node_t *node, app__serving_step_t *step);
// Takes the news that data of a GPU of another host is there: app__serving_notice_t x 256 + GPU.
void app__serving_noticed(app__serving_node_t *node, uint32_t what);
// Frees a step.
void app__serving_step_free(app__serving_step_t *step);
void app__serving_stage_init(app__serving_node_t *node);
void app__serving_stage_fini(app__serving_node_t *node);

// -- batch.c

// Begins a step if none is under way and there is something to compute.
void app__serving_next_step(app__serving_node_t *node);
// Ends a step whose last stage is done.
void app__serving_step_end(app__serving_node_t *node, app__serving_step_t *step);
void app__serving_step_done(app__serving_node_t *node, uint64_t id);

#endif // APPS_SERVING_HOSTS_STAGE_H
