// SPDX-License-Identifier: Apache-2.0
// apps/serving/node.h - a host of a prefill, decode or storage node, and its counters.
#ifndef APPS_SERVING_NODE_H
#define APPS_SERVING_NODE_H

#include "apps/mooncake/programs/programs.h"
#include "apps/serving/hosts/place.h"
#include "apps/serving/hosts/stage.h"

// An operation for operations.csv.
typedef struct app__serving_operation {
    sim_time_t start_ps;
    sim_time_t end_ps;
    uint64_t bytes;
    uint32_t peer; // node; UINT32_MAX: none
    uint8_t kind;  // app__serving_operation_kind_t
} app__serving_operation_t;
typedef enum app__serving_operation_kind {
    APP__SERVING_DID_PREFILL,
    APP__SERVING_DID_DECODE,
    APP__SERVING_DID_BOTH,
    APP__SERVING_DID_SEND,
    APP__SERVING_DID_READ,
    APP__SERVING_DID_EXCHANGE,
    APP__SERVING_DID_REDUCE,
    APP__SERVING_DID_PASS,
} app__serving_operation_kind_t;

// Counters of a node, carried to rank 0.
typedef struct app__serving_counters {
    uint64_t steps;
    uint64_t prefill_tokens; // computed, those computed again included
    uint64_t decode_tokens;  // computed in steps that gave one token each
    uint64_t again_tokens;   // computed again after preemptions
    uint64_t preemptions;
    uint64_t batch_sum; // of sequences over all steps
    uint64_t batch_max;
    uint64_t pages_max;
    uint64_t sent_bytes; // KV data
    uint64_t received_bytes;
    uint64_t fetched_bytes;
    uint64_t stored_bytes;
    uint64_t fetches_failed;
    uint64_t exchange_bytes; // activations for experts, there and back
    uint64_t exchanges_failed;
    sim_time_t exchange_ps;
    uint64_t failed;
    uint64_t unreported; // number of ends of requests that could not be reported to the router
    sim_time_t busy_ps;
    sim_time_t latency_ps; // sum over all steps, from the first stage's begin to the last one's end
    sim_time_t flight_ps;  // with steps under way
    uint64_t tp_bytes;     // of all-reduces between hosts
    sim_time_t tp_ps;
    uint64_t pp_bytes; // of activations between stages
    sim_time_t pp_ps;
} app__serving_counters_t;

typedef struct app__serving_link app__serving_link_t;

struct app__serving_node {
    app__serving_t *serving;
    app_mooncake_t *engine;
    app__mc_station_t *station;
    sim_node_t *node;
    // Prefill nodes, decode nodes, storage nodes, then the further hosts of prefill and decode
    // nodes.
    uint32_t index;
    app__serving_place_t place;
    bool decodes;
    bool lost; // it has no power any more
    sim_timer_t fail_timer;
    sim_timer_t back_timer;
    app__gpus_t gpus;
    uint64_t pages; // of KV memory
    uint64_t pages_free;
    sim_list_t queued;        // in order of service
    sim_list_t running;       // in order of admission
    sim_list_t reserving;     // in order of arrival
    sim_list_t others;        // jobs that send or receive
    sim_list_t moves;         // transfers under way (transfers/kv_transfer.c)
    sim_list_t proxy_fetches; // fetches for other nodes (transfers/fetch.c)
    uint64_t running_count;
    sim_list_t parts;           // of requests that other hosts lead (hosts/parts.c)
    app__serving_stage_t stage; // steps at this host
    uint64_t step_count;        // of a leader: steps under way
    uint64_t next_step_id;
    sim_time_t flight_began_ps; // when the first of them began
    app__serving_step_t *forming;
    bool ending;                // requests of a step learn that it has ended
    app__serving_link_t *links; // of a leader: by number of the host - 1; else one, to the leader
    bool broken;                // the router knows that the instance cannot work
    bool *lost_peers;           // by node: the router has reported that it is lost
    uint32_t *restarts;         // by node: how often the router has reported that it came back
    app__serving_counters_t counters;
    uint64_t *nic_sent; // bytes of the node's own transfers, by NIC
    uint64_t *nic_received;
    uint64_t *written_to; // bytes of its transfers by receiving NIC, of all nodes
    uint64_t *read_from;
    uint32_t nics;
    uint32_t storage_nics; // the last ones, for transfers of host memory; 0: all NICs for all
    uint32_t first_nic;    // number of its first NIC among those of all nodes
    app__serving_operation_t *operations;
    size_t operation_count;
    size_t operation_capacity;
};

void app__serving_node_init(app__serving_node_t *node);
void app__serving_node_fini(app__serving_node_t *node);
// Forgets all requests and transfers of a node that has no power.
void app__serving_node_forget(app__serving_node_t *node);
// Lets a job that has its cached KV data, or does not get it, wait for a step.
void app__serving_fetched(app__serving_job_t *job, bool good);
// Grants memory to jobs that wait for it, in their order.
void app__serving_grant(app__serving_node_t *node);
void app__serving_note_operation(app__serving_node_t *node, app__serving_operation_kind_t kind,
                                 sim_time_t start_ps, uint32_t peer, uint64_t bytes);
// Visits the operations of all nodes, at most `most` of them, for operations.csv.
uint64_t app__serving_operations(const app_t *app, uint64_t most, app_operation_fn fn, void *ctx);
// Returns the number of a host of a prefill or decode node, for operations: first those of leaders.
static inline uint32_t app__serving_number_of(const app__serving_node_t *node)
{
    const app__serving_t *const serving = node->serving;
    return node->index < serving->node_count ? node->index : node->index - serving->storage_count;
}

#endif // APPS_SERVING_NODE_H
