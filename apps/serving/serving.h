// SPDX-License-Identifier: Apache-2.0
// apps/serving/serving.h - the application serving: a router, prefill nodes and decode nodes with
// continuous batching, and the KV data that moves between them (docs/models/serving.md).
//
// Hosts talk by messages of Mooncake's stations alone. Each member of shared structs is written by
// events of one host.
#ifndef APPS_SERVING_SERVING_H
#define APPS_SERVING_SERVING_H

#include "apps/mooncake/programs/programs.h"
#include "apps/serving/arrivals/requests.h"
#include "apps/serving/hosts/hosts.h"
#include "apps/serving/steps/served.h"

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
    APP__SERVING_CACHE_AWARE,
} app__serving_route_t;

// The KV data of earlier prompts that a prefill node may use.
typedef enum app__serving_cache {
    APP__SERVING_NO_CACHE,
    APP__SERVING_LOCAL, // the node's own
    APP__SERVING_PEERS, // that of other prefill nodes, too
    APP__SERVING_STORE, // that of storage nodes, too
} app__serving_cache_t;

typedef enum app__serving_path {
    APP__SERVING_DIRECT,    // storage nodes to the prefill node
    APP__SERVING_DUAL,      // or to the decode node first, if its NICs have less to fetch
    APP__SERVING_ALTERNATE, // to both in turns
} app__serving_path_t;

typedef struct app__serving_config {
    char *hosts;
    uint64_t prefill;
    uint64_t decode; // 0: the prefill nodes decode, too
    uint64_t storage;
    uint32_t cache;
    uint32_t cache_policy;
    uint64_t cache_bytes; // of a prefill node; SIM_AUTO: no limit
    uint64_t store_bytes; // of all storage nodes; SIM_AUTO: no limit
    uint64_t storage_nics;
    uint32_t storage_path;
    uint32_t route;
    uint32_t kv;
    uint32_t transport;
    uint32_t first;
    uint64_t layer_groups; // SIM_AUTO: one per layer
    uint32_t experts;      // 0: each node has all; 1: spread over the nodes of a pool
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
    uint64_t tp_hosts;
    uint64_t decode_tp_hosts; // SIM_AUTO: tp_hosts
    uint64_t pp;
    uint64_t decode_pp;     // SIM_AUTO: pp
    uint64_t micro_batches; // SIM_AUTO: as many as stages
    sim_ratio_t tflops;
    sim_ratio_t efficiency;
    uint64_t memory_bps;
    sim_ratio_t memory_efficiency;
    sim_time_t step_ps;
    char *times; // file of measured steps; "": none
    char *decode_times;
    uint64_t priority; // of KV data by WRITEs; SIM_AUTO: the NIC's
    uint64_t link_bps; // 0: collectives in a node take no time
    sim_time_t link_ps;
    uint64_t gpu_bytes;
    sim_ratio_t gpu_share;
    uint64_t kv_bytes; // of a node; SIM_AUTO: what the weights leave of its GPUs' memory
    uint64_t page_tokens;
    sim_time_t start_ps;
    uint32_t admission; // 0: all, 1: by goals
    sim_time_t ttft_goal_ps;
    sim_time_t tpot_goal_ps;
    char
        *fail_host; // hosts, each with @TIME where it is not fail_ps, +TIME if it returns; "": none
    sim_time_t fail_ps;
    sim_time_t fail_detect_ps;
    bool log;
    bool operations;
    char *records;
    app__requests_config_t requests;
    app_mooncake_metadata_config_t metadata;
    app_mooncake_config_t engine;
} app__serving_config_t;
extern const sim_attr_table_t app__serving_attrs;

// Fill the served model, and the GPUs of a node in a pool of so many, from the attributes. The
// first returns an error that begins with the attribute's name.
SIM_MUST_CHECK sim_err_t app__serving_model(const app__serving_config_t *config,
                                            app__served_t *served, sim_message_t *message);
typedef struct app__serving_shape {
    uint64_t tp; // GPUs that share a layer
    uint64_t tp_hosts;
    uint64_t stages;
} app__serving_shape_t;
void app__serving_gpus(const app__serving_config_t *config, const app__served_t *served,
                       const app__serving_shape_t *shape, uint64_t nodes, app__gpus_t *gpus);
// Returns the bytes of KV memory of a node; 0: the weights leave no room.
uint64_t app__serving_kv_memory(const app__serving_config_t *config, const app__served_t *served,
                                const app__gpus_t *gpus);

// Places of memory in the addresses of a host: one for each GPU, and one for the host itself.
#define APP__SERVING_HOST APP__SERVING_GPUS_MAX
#define APP__SERVING_PLACE_BYTES (UINT64_C(1) << 49)

// -- attempts

// Times of a request; SIM_TIME_NEVER until the event happens. Attempt a x count + n is that of
// request n when it was placed for time a, from 0: it is placed again if a node of its own is lost.
typedef struct app__serving_attempt {
    // written by the router
    sim_time_t arrival_ps;
    sim_time_t settled_ps; // when the router knew that it had ended
    uint32_t prefill;
    uint32_t decode;     // index among all nodes
    uint64_t weight;     // tokens that count as its prefill node's load
    uint64_t reused;     // tokens whose KV data was in a cache
    uint64_t fetched;    // tokens that were in the store only
    bool through_decode; // the decode node fetched them
    bool placed;         // it counts as load of its nodes
    bool computed;       // its prompt is computed
    bool refused;
    bool failed;
    // written by the prefill node
    sim_time_t queued_ps;  // when the prefill node received it
    sim_time_t fetched_ps; // when it had the KV data of earlier prompts
    sim_time_t began_ps;
    sim_time_t computed_ps;
    sim_time_t prefill_first_ps;
    uint64_t reused_in_fact; // tokens that were not computed
    // written by the decode node
    sim_time_t reserved_ps; // when it was asked for memory
    sim_time_t gave_ps;     // when it gave that memory
    sim_time_t ready_ps;    // when it knew that all KV data is there
    sim_time_t joined_ps;   // begin of its first step
    sim_time_t first_ps;
    sim_time_t end_ps;
    uint64_t tokens; // that were generated for the user
    uint64_t preempted;
} app__serving_attempt_t;

// Pointers and flags of a request at the nodes that serve it. Each half is its node's own.
typedef struct app__serving_jobs {
    app__serving_job_t *prefill;
    app__serving_job_t *decode;
    uint16_t seen_by_prefill; // bits of APP__SERVING_... kinds: messages may arrive twice
    uint16_t seen_by_decode;
    uint16_t seen_by_router;
} app__serving_jobs_t;

// -- nodes

typedef enum app__serving_phase {
    APP__SERVING_FETCHING,  // waits for KV data of earlier prompts
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
    uint32_t number; // of the attempt
    uint32_t peer;   // the other node that serves it; its own node if it does both
    app__serving_phase_t phase;
    bool prefills;      // at its prefill node, and to be sent to another one
    uint64_t target;    // tokens whose KV data is needed before the next token comes out
    uint64_t computed;  // tokens whose KV data is here
    uint64_t generated; // tokens for the user so far
    uint64_t pages;
    uint64_t in_step; // tokens of steps under way; 0: none
    // KV data of earlier prompts
    uint64_t own;        // tokens that its node has
    uint64_t to_fetch;   // further ones that other nodes have
    uint64_t reused;     // tokens that need not be computed
    uint32_t source;     // node to fetch from; node_count: the storage nodes
    bool through_decode; // its decode node fetches for it, and keeps a copy
    bool fetch_failed;
    // of the KV data that is sent
    app__serving_part_t part; // of the node's first host
    uint32_t members_left;    // other hosts that have not sent theirs
    bool members_know;
    uint64_t first_sent; // tokens that the decode node has already
    uint32_t under_way;  // transfers that fetch
    bool dropped;        // its other node is lost: it leaves when nothing of it is under way
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
    uint64_t unreported; // ends of requests that the router could not be told
    sim_time_t busy_ps;
    sim_time_t latency_ps; // sum over all steps, from the first stage's begin to the last one's end
    sim_time_t flight_ps;  // with steps under way
    uint64_t tp_bytes;     // of all-reduces between hosts
    sim_time_t tp_ps;
    uint64_t pp_bytes; // of activations between stages
    sim_time_t pp_ps;
} app__serving_counters_t;

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
    app__mc_chain_t queued;        // in order of service
    app__mc_chain_t running;       // in order of admission
    app__mc_chain_t reserving;     // in order of arrival
    app__mc_chain_t others;        // jobs that send or receive
    app__mc_chain_t moves;         // transfers under way (move.c)
    app__mc_chain_t proxy_fetches; // fetches for prefill nodes (cache.c)
    uint64_t running_count;
    app__mc_chain_t parts; // of requests that other hosts lead (hosts/parts.c)
    app__mc_chain_t steps; // steps of the instance that have not ended here
    uint64_t step_count;   // of a leader: steps under way
    uint64_t next_step_id;
    sim_time_t flight_began_ps; // when the first of them began
    app__serving_step_t *forming;
    bool ending; // a step's requests are told that it has ended
    // the step of this host's layers
    app__serving_step_t *step; // NULL: none
    sim_timer_t timer;
    sim_time_t step_began_ps;
    sim_time_t step_ps;
    bool by_layer;        // KV data is sent after each group of layers
    sim_time_t waited_ps; // for exchanges of the step
    uint64_t group;       // groups of layers that are computed
    uint64_t groups;      // of the step
    // the exchange under way (exchange.c)
    uint32_t exchange_left;
    bool exchange_reads;
    sim_time_t exchange_began_ps;
    uint64_t exchanged_bytes; // before it
    bool *lost_peers;         // by node: the router has told that it is lost
    uint32_t *restarts;       // by node: how often the router has told that it came back
    app__serving_counters_t counters;
    uint64_t *nic_sent; // bytes of the node's own transfers, by NIC
    uint64_t *nic_received;
    uint64_t *written_to; // the same bytes by NIC of all nodes
    uint64_t *read_from;
    uint32_t nics;
    uint32_t storage_nics; // the last ones, for transfers of host memory; 0: all NICs for all
    uint32_t first_nic;    // number of its first NIC among those of all nodes
    app__serving_operation_t *operations;
    size_t operation_count;
    size_t operation_capacity;
};

// A node that loses its power.
typedef struct app__serving_failure {
    app__serving_t *serving;
    const net_node_t *host;
    sim_time_t at_ps;
    sim_time_t back_ps; // NEVER: it stays without power
    uint32_t node;
    sim_timer_t detect; // of the router
    sim_timer_t back;   // of the router
} app__serving_failure_t;

struct app__serving {
    app_t app;                    // first
    app__serving_config_t config; // without strings
    app__served_t served;
    app__requests_t requests;
    app_mooncake_cluster_t *cluster;
    app__serving_wire_t *wire; // of transport writes
    app__serving_attempt_t *attempts;
    app__serving_jobs_t *jobs;
    app__serving_node_t *nodes;
    uint32_t prefill_count;
    uint32_t node_count; // prefill and decode nodes; storage nodes follow them
    uint32_t storage_count;
    uint32_t all_count;    // of nodes
    uint32_t nic_count;    // of all nodes
    uint32_t attempts_max; // how often a request is placed at most
    app__serving_failure_t *failures;
    size_t failure_count;
    size_t failure_capacity;
    uint64_t layer_groups;
    uint64_t host_scale;          // memory of a host divided by that of a flow
    app__step_times_t times[2];   // of prefill and of decode nodes; token_count 0: none
    app__serving_ring_t rings[2]; // of prefill and of decode nodes
    uint32_t flows;               // transfers between GPUs that move KV data of a layer
    uint64_t flow_unit_bytes;     // KV data of a token in all layers, in one flow
    uint64_t *stage_at;           // by request: where its KV data begins in the memory of a flow
    uint64_t stage_bytes;
    uint64_t exchange_at; // where the activations of exchanges lie behind them
    // State of the router, on the first host:
    app__mc_station_t *router;
    sim_timer_t timer;
    uint32_t next;       // next request that does not wait for another one
    uint32_t *followers; // by request: the one that its client sends next; APP__REQUEST_NONE
    uint32_t *due;       // closed-loop requests that arrive, a heap by time
    sim_time_t *due_ps;  // by request
    uint32_t due_count;
    sim_random_t random;
    bool *lost;         // by node: the router knows that it is lost
    uint32_t *restarts; // by node: how often it came back
    uint8_t *retries;   // by request: how often it was placed again
    uint64_t placed_again;
    uint64_t *load;   // by prefill node: tokens that it still has to compute
    uint64_t *held;   // by node: prompt tokens of requests that it decodes, or will
    uint64_t *placed; // by node: requests that it decodes, or will
    uint64_t *turns;  // by node: when it got its last request
    uint64_t turn;    // of round-robin
    uint64_t decode_turn;
    uint64_t path_turn; // of storage-path: alternate
    uint64_t arrived;
    uint64_t settled;
    uint64_t refused;
    uint64_t too_long;               // of those: more KV data than a node has room for
    app__mooncake_prefix_t **caches; // by prefill node; NULL: none
    app__mooncake_prefix_t *store;   // NULL: none
    uint64_t *fetches;               // by node: tokens that it fetches from the store
};

// -- messages: words of eight bytes, the first of which is the kind

typedef enum app__serving_kind {
    // router to prefill node: request, decode node (and a high bit: it fetches), tokens of its own
    // and to fetch, source
    APP__SERVING_JOB,
    APP__SERVING_RESERVE,  // prefill to decode node: request, prefill node
    APP__SERVING_GRANT,    // decode to prefill node: request
    APP__SERVING_READY,    // prefill to decode node: request; all its KV data is there
    APP__SERVING_COMPUTED, // prefill node to router: request
    // decode node to router: request, whether it failed; or from either node: 1, and 1 since a
    // message about it did not get through
    APP__SERVING_ENDED,
    APP__SERVING_FETCH,    // prefill to decode node: request, tokens, prefill node
    APP__SERVING_FETCHED,  // decode to prefill node: request, whether it failed
    APP__SERVING_LOST,     // router to all nodes: none, lost node, how often it came back before
    APP__SERVING_BACK,     // router to all nodes: none, node, how often it came back
    APP__SERVING_GIVEN_UP, // router to both nodes: request, about which a message got lost
    APP__SERVING_BROKEN,   // any host to router: none, node that cannot work any more
    APP__SERVING_INSIDE,   // between the hosts of a node (hosts/members.c)
} app__serving_kind_t;
// Returns the number of a host of a prefill or decode node, for operations: first those of leaders.
static inline uint32_t app__serving_number_of(const app__serving_node_t *node)
{
    const app__serving_t *const serving = node->serving;
    return node->index < serving->node_count ? node->index : node->index - serving->storage_count;
}

#define APP__SERVING_THROUGH_DECODE (UINT64_C(1) << 32)

#define APP__SERVING_MESSAGE_BYTES 40u

// Returns the request of an attempt.
static inline const app__request_t *app__serving_request(const app__serving_t *serving,
                                                         uint32_t attempt)
{
    return &serving->requests.items[attempt % serving->requests.count];
}

// -- router.c

// Returns whether the KV data of a request fits into the memory of the nodes at all.
bool app__serving_fits(const app__serving_t *serving, uint32_t number);
void app__serving_router_begin(app__serving_t *serving);
void app__serving_router_fini(app__serving_t *serving);

// -- admission.c

// Returns whether a request, whose nodes are chosen, would meet its goals; always true without
// admission by goals.
bool app__serving_admits(const app__serving_t *serving, uint32_t number);

// -- node.c

void app__serving_node_init(app__serving_node_t *node);
void app__serving_node_fini(app__serving_node_t *node);
// Forgets all requests and transfers of a node that has no power.
void app__serving_node_forget(app__serving_node_t *node);
// Takes what a step has done for a job: its part of the prompt, or a token.
void app__serving_job_stepped(app__serving_job_t *job);
// Frees a job with its memory.
void app__serving_job_free(app__serving_job_t *job);
// Ends a request at its decode node: all tokens are out, or its KV data never came.
void app__serving_job_end(app__serving_job_t *job, bool failed);
// Goes on when a transfer of a job's KV data has ended.
void app__serving_job_sent(app__serving_job_t *job);
// Notes that another host of the node has sent its part of a request.
void app__serving_member_sent(app__serving_node_t *node, uint32_t number, bool failed);
// Returns what a job's first host sends.
app__serving_part_t *app__serving_part_of_job(app__serving_job_t *job);
// Moves a job between chains.
void app__serving_job_move(app__serving_job_t *job, app__serving_phase_t phase);
// Returns the bytes of the units before `units` in one flow to a decode node.
static inline uint64_t app__serving_unit_bytes(const app__serving_t *serving, uint64_t units)
{
    return (uint64_t)((sim_wide_t)units * serving->flow_unit_bytes / serving->served.sizes.layers);
}
// Returns the pages that `tokens` tokens need.
static inline uint64_t app__serving_pages(const app__serving_t *serving, uint64_t tokens)
{
    return (tokens + serving->config.page_tokens - 1) / serving->config.page_tokens;
}
// Lets a job that has its cached KV data, or does not get it, wait for a step.
void app__serving_fetched(app__serving_job_t *job, bool good);
// Grants memory to jobs that wait for it, in their order.
void app__serving_grant(app__serving_node_t *node);
void app__serving_note_operation(app__serving_node_t *node, app__serving_operation_kind_t kind,
                                 sim_time_t start_ps, uint32_t peer, uint64_t bytes);

// -- messages.c: messages that are sent until they are answered

// Sends a message of a kind about a request, with three more words (NULL: 0), from a station to a
// peer's. The request fails if no answer comes for long.
void app__serving_send(const app__serving_t *serving, app__mc_station_t *from, uint32_t peer,
                       app__serving_kind_t kind, uint32_t number, const uint64_t words[3]);
// Lets go of a request that the router has given up, unless it runs in steps of its decode node.
void app__serving_on_given_up(app__serving_node_t *node, uint32_t number);
// Places a request again, or lets it fail, since a message about it did not get through (router.c).
void app__serving_router_unreachable(app__serving_t *serving, uint32_t number);

// -- failures.c: nodes that lose their power

// Read the attribute fail-host, and find the nodes of its hosts once all nodes have theirs. Errors
// begin with the attribute's name.
SIM_MUST_CHECK sim_err_t app__serving_failures_read(app__serving_t *serving,
                                                    const app_context_t *context, const char *text,
                                                    sim_message_t *message);
SIM_MUST_CHECK sim_err_t app__serving_failures_find(app__serving_t *serving,
                                                    sim_message_t *message);
// Arms the timers of the nodes that fail.
void app__serving_failure_begin(app__serving_t *serving);
// Returns whether a node comes back after it has lost its power.
bool app__serving_comes_back(const app__serving_t *serving);
// Lets go of requests whose other node is lost, unless it restarted more often than `restarts` says.
void app__serving_on_lost(app__serving_node_t *node, uint32_t lost, uint32_t restarts);
// Notes that a node is back, or that this one is.
void app__serving_on_back(app__serving_node_t *node, uint32_t back, uint32_t restarts);
// Lets go of a dropped job if nothing of it is under way. Returns whether it did.
bool app__serving_free_if_dropped(app__serving_job_t *job);
// Takes a node for lost, once, and places its requests again (router.c).
void app__serving_router_lose(app__serving_t *serving, uint32_t node);
// Gives requests to a node again that is back.
void app__serving_router_restore(app__serving_t *serving, uint32_t node);

// -- hosts/batch.c

// Begins a step if none is under way and there is something to compute.
void app__serving_next_step(app__serving_node_t *node);
// Ends a step whose last stage is done.
void app__serving_step_end(app__serving_node_t *node, app__serving_step_t *step);
void app__serving_step_done(app__serving_node_t *node, uint64_t id);

// -- hosts/experts.c

// Returns whether a node exchanges activations with others of its pool.
bool app__serving_spreads(const app__serving_node_t *node);
// Returns the activations of so many tokens for the experts of one layer.
uint64_t app__serving_exchange_bytes(const app__serving_t *serving, uint64_t tokens);
// Exchanges the activations of the present group of layers, then calls app__serving_exchanged.
void app__serving_exchange(app__serving_node_t *node);

// -- transfers/kv_transfer.c, transfers/queue_pairs.c: transfers of KV data

// Called once when a transfer has ended, with the bytes that all its flows have moved.
typedef void (*app__serving_moved_fn)(void *ctx, uint64_t bytes, bool good);

typedef struct app__serving_transfer {
    app__serving_node_t *node; // whose NICs are posted to
    uint32_t peer;             // node
    bool reads;                // from the peer; else it writes
    bool unlisted;             // it is no operation of its own for operations.csv
    bool host;                 // memory of hosts, over the NICs for storage; else of GPUs
    uint32_t notice;           // app__serving_notice_t + 1 that the peer gets; 0: none
    uint32_t first_flow;       // of those between two groups of GPUs that share a layer
    uint32_t flow_count;       // 0: as many as the larger host has GPUs, between both hosts
    uint64_t offset;           // in the places of memory of both ends
    uint64_t bytes;            // of each flow
    app__serving_moved_fn fn;
    void *ctx;
} app__serving_transfer_t;

// An end of a flow.
typedef struct app__serving_end {
    const app__serving_node_t *node;
    uint32_t nic;
    uint32_t place; // GPU, or APP__SERVING_HOST
} app__serving_end_t;

// Begins a transfer, which it copies. It may end before this function returns.
void app__serving_move(const app__serving_transfer_t *transfer);
// Returns the number of flows of a transfer, and one end of a flow.
uint32_t app__serving_flows(const app__serving_transfer_t *transfer);
app__serving_end_t app__serving_end(const app__serving_transfer_t *transfer,
                                    const app__serving_node_t *node, uint32_t flow, uint32_t flows);
// Returns the host of a stage that has the GPU of a flow, among flows between all GPUs that share a
// layer.
uint32_t app__serving_rank_of(const app__serving_node_t *node, uint32_t flow, uint32_t flows);
// Returns where a place of memory begins in the addresses of a node's host.
uint64_t app__serving_address(const app__serving_node_t *node, uint32_t place);
// Returns the NIC that a GPU of a node uses.
uint32_t app__serving_nic_of_gpu(const app__serving_node_t *node, uint32_t gpu);
// Frees transfers that the end of the run has cut short.
void app__serving_moves_fini(app__serving_node_t *node);

void app__serving_wire_create(app__serving_t *serving, const app_context_t *context);
void app__serving_wire_destroy(app__serving_wire_t *wire);
// Destroys the queue pairs of a node that has lost its power.
void app__serving_wire_crash(const app__serving_node_t *node);
// Begins anew with the queue pairs between two nodes, one of which is back.
void app__serving_wire_renew(const app__serving_node_t *node, uint32_t peer);
typedef void (*app__serving_flow_fn)(void *ctx, bool good);
// Posts the work requests of a flow between two ends. Calls fn once, in a later event.
void app__serving_wire_post(const app__serving_end_t *from, const app__serving_end_t *to,
                            const app__serving_transfer_t *transfer, app__serving_flow_fn fn,
                            void *ctx);

// -- transfers/cache.c: KV data of earlier prompts

// Where the KV data of a prompt's first tokens is.
typedef struct app__serving_cached {
    uint64_t own;     // tokens at its prefill node
    uint64_t fetched; // further tokens at the source
    uint32_t source;  // prefill node; node_count: the storage nodes
} app__serving_cached_t;

void app__serving_cache_init(app__serving_t *serving);
void app__serving_cache_fini(app__serving_t *serving);
// Returns the tokens of a request's prompt that a prefill node has.
uint64_t app__serving_cached(const app__serving_t *serving, uint32_t node, uint32_t number);
// Finds the cached tokens of a request whose prefill node is chosen.
void app__serving_find_cached(const app__serving_t *serving, uint32_t number,
                              app__serving_cached_t *cached);
// Notes that the prefill node of a request, and the store, have the blocks of its prompt now.
void app__serving_cache_keep(app__serving_t *serving, uint32_t number);
// Forgets the blocks of a lost prefill node.
void app__serving_cache_forget(app__serving_t *serving, uint32_t node);
// Fetches the cached tokens of a job that are elsewhere, then calls app__serving_fetched.
void app__serving_fetch(app__serving_job_t *job);
// Goes on when the job's decode node has fetched them.
void app__serving_fetch_from_decode(app__serving_job_t *job, bool good);
// Fetches tokens from the store to a decode node, for a prefill node.
void app__serving_on_fetch(app__serving_node_t *node, uint32_t number, uint64_t tokens,
                           uint32_t prefill);
// Writes the blocks of a computed prompt to the storage nodes, except those that came from a cache.
void app__serving_store(app__serving_job_t *job);
// Do the same for the layers and heads of a host that does not lead its node. The second one goes
// on at the leader when another host has fetched its part.
void app__serving_fetch_part(app__serving_node_t *node, uint32_t number, uint64_t tokens,
                             uint32_t source);
void app__serving_member_fetched(app__serving_node_t *node, uint32_t number, bool failed);
void app__serving_store_part(app__serving_node_t *node, uint32_t number, uint64_t tokens);
void app__serving_proxy_fetches_fini(app__serving_node_t *node);

// -- report.c

void app__serving_attempts_init(app__serving_t *serving);
void app__serving_describe(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);
void app__serving_carry(app_t *app, sim_carry_t *carry);
uint64_t app__serving_operations(const app_t *app, uint64_t most, app_operation_fn fn, void *ctx);
extern const sim_report_table_t app__serving_report;
void app__serving_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);

#endif // APPS_SERVING_SERVING_H
