// SPDX-License-Identifier: Apache-2.0
// apps/serving/serving.h - the application serving: a router, prefill nodes and decode nodes with
// continuous batching, and the KV data that moves between them (docs/models/serving.md).
//
// Hosts talk by messages of Mooncake's stations alone. Each member of shared structs is written by
// events of one host.
#ifndef APPS_SERVING_SERVING_H
#define APPS_SERVING_SERVING_H

#include "apps/mooncake/programs/programs.h"
#include "apps/serving/requests.h"
#include "apps/serving/served.h"

typedef struct app__serving app__serving_t;
typedef struct app__serving_node app__serving_node_t;
typedef struct app__serving_job app__serving_job_t;
typedef struct app__serving_wire app__serving_wire_t;

// The moment at which prefill nodes send KV data.
typedef enum app__serving_kv {
    APP__SERVING_WHOLE, // when the prompt is computed
    APP__SERVING_CHUNK, // after each step
    APP__SERVING_LAYER, // after each group of layers of a step
} app__serving_kv_t;

typedef enum app__serving_transport {
    APP__SERVING_WRITES, // a WRITE per GPU and part
    APP__SERVING_MOONCAKE,
} app__serving_transport_t;

// The event that gives the user the first token.
typedef enum app__serving_first {
    APP__SERVING_FIRST_KV,      // all KV data is at the decode node
    APP__SERVING_FIRST_PREFILL, // the prompt is computed
    APP__SERVING_FIRST_STEP,    // the first step of the decode node
} app__serving_first_t;

typedef enum app__serving_route {
    APP__SERVING_LEAST_LOADED,
    APP__SERVING_ROUND_ROBIN,
    APP__SERVING_RANDOM,
} app__serving_route_t;

typedef struct app__serving_config {
    char *hosts;
    uint64_t prefill;
    uint64_t decode; // 0: the prefill nodes decode, too
    uint32_t route;
    uint32_t kv;
    uint32_t transport;
    uint32_t first;
    uint64_t layer_groups; // SIM_AUTO: one per layer
    uint64_t token_budget;
    uint64_t batch;
    bool chunked;
    uint32_t model;
    uint64_t layers; // this and the next seven: SIM_AUTO: the model's
    uint64_t hidden;
    uint64_t heads;
    uint64_t kv_heads;
    uint64_t ffn;
    uint64_t vocab;
    uint64_t kv_rank;
    uint64_t value_bytes;
    uint64_t kv_value_bytes;
    uint64_t tp;
    uint64_t decode_tp; // SIM_AUTO: tp
    sim_ratio_t tflops;
    sim_ratio_t efficiency;
    uint64_t memory_bps;
    sim_ratio_t memory_efficiency;
    sim_time_t step_ps;
    uint64_t link_bps; // 0: collectives in a node take no time
    sim_time_t link_ps;
    uint64_t gpu_bytes;
    sim_ratio_t gpu_share;
    uint64_t kv_bytes; // of a node; SIM_AUTO: what the weights leave of its GPUs' memory
    uint64_t page_tokens;
    sim_time_t start_ps;
    sim_time_t ttft_goal_ps;
    sim_time_t tpot_goal_ps;
    bool log;
    bool operations;
    char *records;
    app__requests_config_t requests;
    app_mooncake_metadata_config_t metadata;
    app_mooncake_config_t engine;
} app__serving_config_t;
extern const sim_attr_table_t app__serving_attrs;

// Fills the served model and the GPUs of a prefill or decode node from the attributes. Returns an
// error that begins with the attribute's name.
SIM_MUST_CHECK sim_err_t app__serving_model(const app__serving_config_t *config,
                                            app__served_t *served,
                                            sim_message_t *message);
void app__serving_gpus(const app__serving_config_t *config,
                       const app__served_t *served,
                       uint64_t count,
                       app__gpus_t *gpus);
// Returns the bytes of KV memory of a node; 0: the weights leave no room.
uint64_t app__serving_kv_memory(const app__serving_config_t *config,
                                const app__served_t *served,
                                const app__gpus_t *gpus);

#define APP__SERVING_GPUS_MAX 64u
// The memory of each GPU has this place in the addresses of its host.
#define APP__SERVING_GPU_BYTES (UINT64_C(1) << 50)

// -- courses

// Times of a request; SIM_TIME_NEVER until the event happens.
typedef struct app__serving_course {
    // written by the router
    sim_time_t arrival_ps;
    sim_time_t settled_ps; // when the router knew that it had ended
    uint32_t prefill;
    uint32_t decode; // index among all nodes
    bool refused;
    bool failed;
    // written by the prefill node
    sim_time_t queued_ps; // when the prefill node received it
    sim_time_t began_ps;
    sim_time_t computed_ps;
    sim_time_t granted_ps; // when the prefill node knew of room at the decode node
    sim_time_t prefill_first_ps;
    // written by the decode node
    sim_time_t ready_ps;  // when it knew that all KV data is there
    sim_time_t joined_ps; // begin of its first step
    sim_time_t first_ps;
    sim_time_t end_ps;
    uint64_t tokens; // that were generated for the user
    uint64_t preempted;
} app__serving_course_t;

// Pointers and flags of a request at the nodes that serve it. Each half is its node's own.
typedef struct app__serving_seat {
    app__serving_job_t *prefill;
    app__serving_job_t *decode;
    uint8_t seen_by_prefill; // bits of APP__SERVING_... kinds: messages may arrive twice
    uint8_t seen_by_decode;
    uint8_t seen_by_router;
} app__serving_seat_t;

// -- nodes

typedef enum app__serving_phase {
    APP__SERVING_QUEUED,    // waits for a step
    APP__SERVING_RUNNING,   // in the batch
    APP__SERVING_SENDING,   // computed; its KV data is still here
    APP__SERVING_RESERVING, // waits for memory at its decode node
    APP__SERVING_RECEIVING, // has memory at its decode node; KV data arrives
} app__serving_phase_t;

// A request at one node.
struct app__serving_job {
    app__mc_link_t link; // in the chain of its phase
    app__serving_node_t *node;
    uint32_t number; // of the request
    uint32_t peer;   // the other node that serves it; its own node if it does both
    app__serving_phase_t phase;
    bool prefills;      // at its prefill node, and to be sent to another one
    uint64_t target;    // tokens whose KV data is needed before the next token comes out
    uint64_t computed;  // tokens whose KV data is here
    uint64_t generated; // tokens for the user so far
    uint64_t pages;
    uint64_t in_step; // tokens of the step under way; 0: none
    // of the KV data that is sent, in units of a token in a layer
    bool granted;
    uint64_t produced;
    uint64_t sent;
    uint32_t under_way; // transfers
    bool failed;
};

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
    uint64_t failed;
    sim_time_t busy_ps;
} app__serving_counters_t;

struct app__serving_node {
    app__serving_t *serving;
    app_mooncake_t *engine;
    app__mc_station_t *station;
    sim_node_t *node;
    uint32_t index; // prefill nodes, then decode nodes
    bool decodes;
    app__gpus_t gpus;
    uint64_t pages; // of KV memory
    uint64_t pages_free;
    app__mc_chain_t queued;    // in order of service
    app__mc_chain_t running;   // in order of admission
    app__mc_chain_t reserving; // in order of arrival
    app__mc_chain_t others;    // jobs that send or receive
    app__mc_chain_t moves;     // transfers under way (move.c)
    uint64_t running_count;
    // the step under way
    bool stepping;
    sim_timer_t timer;
    sim_time_t step_began_ps;
    sim_time_t step_ps;
    uint64_t group;  // groups of layers that are computed
    uint64_t groups; // of the step
    app__serving_operation_kind_t step_kind;
    app__serving_counters_t counters;
    uint64_t *nic_sent; // KV bytes by NIC
    uint64_t *nic_received;
    uint32_t nics;
    app__serving_operation_t *operations;
    size_t operation_count;
    size_t operation_capacity;
};

struct app__serving {
    app_t app;                    // first
    app__serving_config_t config; // without strings
    app__served_t served;
    app__requests_t requests;
    app_mooncake_cluster_t *cluster;
    app__serving_wire_t *wire; // of transport writes
    app__serving_course_t *courses;
    app__serving_seat_t *seats;
    app__serving_node_t *nodes;
    uint32_t prefill_count;
    uint32_t node_count;
    uint64_t layer_groups;
    uint32_t flows;           // transfers between GPUs that move KV data
    uint64_t flow_unit_bytes; // KV data of a token in all layers, in one flow
    uint64_t *stage_at;       // by request: where its KV data begins in the memory of a flow
    uint64_t stage_bytes;
    // State of the router, on the first host:
    app__mc_station_t *router;
    sim_timer_t timer;
    uint32_t next;       // next request that does not wait for another one
    uint32_t *followers; // by request: the one that its client sends next; APP__REQUEST_NONE
    uint32_t *due;       // closed-loop requests that arrive, a heap by time
    sim_time_t *due_ps;  // by request
    uint32_t due_count;
    sim_random_t random;
    uint64_t *load;  // by node: tokens of prompts, or of whole requests, not done yet
    uint64_t *turns; // by node: when it got its last request
    uint64_t turn;   // of round-robin
    uint64_t decode_turn;
    uint64_t arrived;
    uint64_t settled;
    uint64_t refused;
};

// -- messages: words of eight bytes, the first of which is the kind

typedef enum app__serving_kind {
    APP__SERVING_JOB,      // router to prefill node: request, decode node
    APP__SERVING_RESERVE,  // prefill to decode node: request, prefill node
    APP__SERVING_GRANT,    // decode to prefill node: request
    APP__SERVING_READY,    // prefill to decode node: request; all its KV data is there
    APP__SERVING_COMPUTED, // prefill node to router: request
    APP__SERVING_ENDED,    // decode node to router: request, whether it failed
} app__serving_kind_t;

// -- router.c

void app__serving_router_begin(app__serving_t *serving);
void app__serving_router_fini(app__serving_t *serving);

// -- node.c

void app__serving_node_init(app__serving_node_t *node);
void app__serving_node_fini(app__serving_node_t *node);
// Sends a message of a kind about a request, with another word, from a station to that of a peer.
void app__serving_tell(const app__serving_t *serving,
                       app__mc_station_t *from,
                       uint32_t peer,
                       app__serving_kind_t kind,
                       uint32_t number,
                       uint64_t word);
// Takes what a step has done for a job: its part of the prompt, or a token.
void app__serving_job_stepped(app__serving_job_t *job);
// Sends what a job has produced and not sent, if its decode node has room.
void app__serving_job_send(app__serving_job_t *job);
// Moves a job between chains.
void app__serving_job_move(app__serving_job_t *job, app__serving_phase_t phase);
// Returns the pages that `tokens` tokens need.
static inline uint64_t app__serving_pages(const app__serving_t *serving, uint64_t tokens)
{
    return (tokens + serving->config.page_tokens - 1) / serving->config.page_tokens;
}
// Grants memory to jobs that wait for it, in their order.
void app__serving_grant(app__serving_node_t *node);
void app__serving_note_operation(app__serving_node_t *node,
                                 app__serving_operation_kind_t kind,
                                 sim_time_t start_ps,
                                 uint32_t peer,
                                 uint64_t bytes);

// -- batch.c

void app__serving_batch_init(app__serving_node_t *node);
// Begins a step if none is under way and there is something to compute.
void app__serving_step(app__serving_node_t *node);

// -- move.c, wire.c: transfers of KV data

typedef void (*app__serving_moved_fn)(app__serving_job_t *job, bool moved);
// Writes units [from, to) of a job's KV data to its decode node; calls fn once, later.
void app__serving_move(app__serving_job_t *job,
                       uint64_t from,
                       uint64_t to,
                       app__serving_moved_fn fn);
// Returns the GPU of a node that flow `flow` uses, and where the KV data of that GPU begins in the
// memory of the node's host.
uint32_t app__serving_gpu_of(const app__serving_node_t *node, uint32_t flow);
uint64_t app__serving_address(const app__serving_node_t *node, uint32_t gpu);
// Returns the NIC that a GPU of a node uses.
uint32_t app__serving_nic_of_gpu(const app__serving_node_t *node, uint32_t gpu);
// Returns the NIC of a node that flow `flow` uses, at its prefill or its decode node.
uint32_t app__serving_nic_of(const app__serving_node_t *node, uint32_t flow);
// Adds the bytes of a finished request to the NICs of its decode node.
void app__serving_count_received(app__serving_node_t *node, uint64_t units);

// Frees transfers that the end of the run has cut short.
void app__serving_moves_fini(app__serving_node_t *node);

void app__serving_wire_create(app__serving_t *serving, const app_context_t *context);
void app__serving_wire_destroy(app__serving_wire_t *wire);
typedef void (*app__serving_wrote_fn)(void *ctx, bool done);
// Posts WRITEs of `bytes` from an offset in the memory of a flow, from a node to its peer. Calls fn
// once, in a later event.
void app__serving_wire_write(app__serving_node_t *from,
                             const app__serving_node_t *to,
                             uint32_t flow,
                             uint64_t offset,
                             uint64_t bytes,
                             app__serving_wrote_fn fn,
                             void *ctx);

// -- course.c

void app__serving_courses_init(app__serving_t *serving);
void app__serving_carry(app_t *app, sim_carry_t *carry);
uint64_t app__serving_operations(const app_t *app, uint64_t most, app_operation_fn fn, void *ctx);
extern const sim_report_table_t app__serving_report;
void app__serving_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);

#endif // APPS_SERVING_SERVING_H
