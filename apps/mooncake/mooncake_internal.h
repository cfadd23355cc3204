// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/mooncake_internal.h - structs and functions inside the Transfer Engine.
//
// A cluster has a station on each host, which exchanges control messages with all other stations on
// its own queue pairs. A host's engines, and on one host the metadata server, use its station. Only
// events of its host touch a station's state; shared data (names, addresses, queue pair numbers) is
// fixed before the run.
#ifndef APPS_MOONCAKE_MOONCAKE_INTERNAL_H
#define APPS_MOONCAKE_MOONCAKE_INTERNAL_H

#include "apps/app_internal.h"
#include "apps/mooncake/pure.h"
#include "nic/core.h"
#include "nic/fabric.h"
#include "nic/memory.h"

// Start of a host's control area; each application has its own, 2^40 bytes apart.
#define APP__MC_AREA (UINT64_C(1) << 52)
#define APP__MC_MESSAGE_MAX (UINT64_C(1) << 20)

typedef struct app__mc_station app__mc_station_t;
typedef struct app__mc_gsi app__mc_gsi_t;
typedef struct app__mc_endpoint app__mc_endpoint_t;
typedef struct app__mc_slice app__mc_slice_t;
typedef struct app__mc_task app__mc_task_t;
typedef struct app__mc_batch app__mc_batch_t;
typedef struct app__mc_segment app__mc_segment_t;

// -- stations and messages (apps/mooncake/engine/control/station.c)

typedef enum app__mc_kind {
    APP__MC_META_PUT,
    APP__MC_META_GET,
    APP__MC_META_REMOVE,
    APP__MC_HANDSHAKE,
    APP__MC_AUDIT,
    APP__MC_PROGRAM, // messages of the program that uses the engine
    APP__MC_KINDS,
} app__mc_kind_t;

typedef struct app__mc_message {
    app__mc_kind_t kind;
    const char *key;
    const char *body;
    size_t size;
} app__mc_message_t;

// A received request; it must be answered once, now or later.
typedef struct app__mc_incoming {
    uint32_t peer; // station
    uint64_t id;
    const char *key;
    const char *body; // valid only during the call
    size_t size;
} app__mc_incoming_t;

typedef void (*app__mc_handler_fn)(app__mc_station_t *station, const app__mc_incoming_t *incoming,
                                   void *ctx);
// Handles the answer to a request. status: the peer's, or SIM_ERR_IO if nobody answered.
typedef void (*app__mc_reply_fn)(int32_t status, const char *body, size_t size, void *ctx);

typedef struct app__mc_letter app__mc_letter_t; // a message to be sent
typedef struct app__mc_call app__mc_call_t;

typedef struct app__mc_door { // a NIC of the station
    app__mc_station_t *station;
    app__endpoint_t *endpoint;
    uint32_t nic;
    nic_mr_t *region;
    nic_cq_t *send_cq;
    nic_cq_t *recv_cq;
    nic_srq_t *receives;
    uint64_t position; // of the first of its QP numbers
} app__mc_door_t;

typedef struct app__mc_line { // a connection to a peer station
    app__mc_station_t *station;
    uint32_t peer;
    uint32_t generation; // number of times it was set up again
    nic_qp_t *qp;
    app__mc_letter_t *waiting;
    app__mc_letter_t *waiting_last;
    uint32_t posted;
    uint32_t failures; // of its queue pairs in a row
    bool broken;       // its QP failed and must be set up again
} app__mc_line_t;

struct app__mc_station {
    app_mooncake_cluster_t *cluster;
    net_node_t *host;
    sim_node_t *node;
    nic_memory_t *memory;
    uint32_t index;
    uint32_t nic_count;
    app__mc_door_t *doors;
    app__mc_line_t *lines; // by peer; the one to itself is unused
    // Receives the bytes of each letter that arrives from a peer; set by app__mc_calls_init.
    void (*deliver)(app__mc_station_t *station, uint32_t peer, const char *bytes, size_t size);
    app__mc_handler_fn handlers[APP__MC_KINDS];
    void *handler_ctx[APP__MC_KINDS];
    app__mc_call_t *calls; // calls that wait for answers, newest first
    uint64_t next_id;
    uint64_t next_address;   // where the next message is written
    app__mc_letter_t *local; // messages to itself, oldest first
    app__mc_letter_t *local_last;
    app__mc_letter_t *posted; // messages whose completions have not arrived
    sim_timer_t local_timer;
    sim_timer_t chores; // destroys QPs and sets lines up again
    nic_qp_t **dead;
    size_t dead_count;
    size_t dead_capacity;
    bool crashed;
    app_mooncake_t *engines;
    uint32_t cm_serial;   // of connections of NVMe over RDMA
    uint64_t nvme_queues; // number of such queues so far
};

struct app_mooncake_cluster {
    net_t *net;
    app_runtime_t *runtime;
    uint32_t index;
    const app_mooncake_codec_t *codec;
    app__mc_station_t *stations;
    uint32_t station_count;
    uint32_t metadata_station;
    struct app__mc_server *server;
};

// Returns the address of a station's control area.
static inline uint64_t app__mc_area(const app__mc_station_t *station)
{
    return APP__MC_AREA + ((uint64_t)station->cluster->index << 40);
}

void app__mc_handle(app__mc_station_t *station, app__mc_kind_t kind, app__mc_handler_fn fn,
                    void *ctx);
// Sends a request. fn is called once, in a later event, unless the run ends before. With `owns` the
// context was allocated for this call and is freed with it.
void app__mc_ask(app__mc_station_t *station, uint32_t peer, const app__mc_message_t *message,
                 sim_time_t timeout_ps, uint64_t retries, app__mc_reply_fn fn, void *ctx,
                 bool owns);
void app__mc_answer(app__mc_station_t *station, uint32_t peer, uint64_t id, int32_t status,
                    const char *body, size_t size);
// Lets a station exchange requests and answers over its letters.
void app__mc_calls_init(app__mc_station_t *station);
void app__mc_calls_fini(app__mc_station_t *station);
// Sends the bytes of a letter, which it frees (sim_alloc). The receiver passes them to its
// station->deliver.
void app__mc_send(app__mc_station_t *station, uint32_t peer, char *bytes, size_t size);
// Destroys a QP later, when no function on the stack uses it any more.
void app__mc_bury(app__mc_station_t *station, nic_qp_t *qp);
// Stops a station like a power loss. Its queue pairs are destroyed after the current event.
void app__mc_station_crash(app__mc_station_t *station);
// Starts a crashed station again, without the messages and calls from before. Its engines stay
// dead.
void app__mc_station_restore(app__mc_station_t *station);
// Frees the calls of a station without calling their functions.
void app__mc_calls_forget(app__mc_station_t *station);
app_mooncake_t *app__mc_engine_named(const app__mc_station_t *station, const char *name);
// Finds the station that serves a name; SIM_ERR_UNKNOWN.
sim_err_t app__mc_station_named(const app_mooncake_cluster_t *cluster, const char *name,
                                uint32_t *station);
sim_err_t app__mc_stations_create(app_mooncake_cluster_t *cluster, sim_message_t *message);
void app__mc_stations_destroy(app_mooncake_cluster_t *cluster);

// -- the metadata server (apps/mooncake/engine/control/metadata.c)

typedef struct app__mc_server app__mc_server_t;
app__mc_server_t *app__mc_server_create(app__mc_station_t *station,
                                        const app_mooncake_metadata_config_t *config);
void app__mc_server_destroy(app__mc_server_t *server);
void app__mc_server_import(app__mc_server_t *server, const char *key, const char *value,
                           size_t size);
void app__mc_server_carry(app__mc_server_t *server, sim_carry_t *carry); // its records, to rank 0
void app__mc_server_visit(const app__mc_server_t *server, app_mooncake_change_fn fn, void *ctx);

// -- segments known to an engine (apps/mooncake/engine/segment.c)

typedef struct app__mc_rail { // path between a NIC here and a NIC of the segment
    uint64_t failures;        // in a row
    sim_time_t paused_until_ps;
} app__mc_rail_t;

typedef struct app__mc_waiter app__mc_waiter_t;

struct app__mc_segment {
    app_mooncake_t *engine;
    app_mooncake_segment_id_t id;
    char *name;
    app_mooncake_segment_desc_t *desc; // NULL: never received
    uint32_t station;
    app__mc_rail_t *rails; // by own context, then by the segment's device
    bool fetching;
    bool refused; // one of its keys was refused: slices wait for the new description
    app__mc_waiter_t *waiters;
    app__mc_slice_t *stale; // slices that wait for the new description
};

// -- contexts, workers, endpoints (apps/mooncake/engine/peers/context.c, apps/mooncake/engine/peers/endpoint.c)

typedef struct app__mc_queue {
    app__mc_slice_t *first;
    app__mc_slice_t *last;
    uint64_t count;
} app__mc_queue_t;

typedef struct app__mc_context app__mc_context_t;
typedef struct app__mc_lane app__mc_lane_t;

typedef struct app__mc_worker {
    app__mc_context_t *context;
    nic_core_t *core;
    app__mc_lane_t *active; // ring of lanes with slices to post: the one served last
    uint32_t active_count;
    uint64_t posted_bytes; // payload of the slices that it posted, retries included
    uint64_t polled_bytes; // payload of the completed slices that it polled
} app__mc_worker_t;

struct app__mc_context { // a NIC of an engine
    app_mooncake_t *engine;
    uint32_t index; // of the context, and of the device in the description
    uint32_t nic_index;
    char *name; // "mlx5_0"
    char *path; // "server@mlx5_0"
    app__endpoint_t *endpoint;
    nic_cq_t *cq;
    app__mooncake_keep_t keep;
    app__mooncake_keep_t lanes; // all lanes; none is ever removed
    app__mc_lane_t *wanting;    // queue of lanes with slices and no endpoint
    app__mc_lane_t *wanting_last;
    app__mc_worker_t *workers;
    uint32_t worker_count;
    uint64_t outstanding; // slices on queue pairs
    uint64_t load_bytes;  // bytes queued and outstanding
    uint64_t bytes;       // bytes of completed slices
    uint64_t position;    // next QP number
    uint64_t positions_end;
    sim_list_t leaving; // endpoints no longer kept, with slices still outstanding
};

struct app__mc_lane {          // connection from a NIC here to a NIC there
    app__mooncake_kept_t kept; // first; key: peer_path
    app__mc_context_t *context;
    app__mc_worker_t *worker;
    // segment whose rails count failures; NULL: made by a peer's handshake
    app__mc_segment_t *segment;
    char *peer_path;
    uint32_t peer_device;
    app__mc_endpoint_t *endpoint; // endpoint that its slices use; NULL: none yet
    app__mc_queue_t queue;        // slices to be posted
    app__mc_waiter_t *waiters;    // callbacks that wait for a connection
    bool was_there;               // has had an endpoint
    app__mc_lane_t *next_active;
    app__mc_lane_t *next_wanting;
    bool is_active;
    bool wants;
};

struct app__mc_endpoint {
    app__mooncake_kept_t kept; // first; key: its lane's peer_path
    app__mc_lane_t *lane;
    app_mooncake_endpoint_state_t state;
    nic_qp_t **qps;
    uint32_t *posted; // per QP
    uint32_t *peer_qps;
    uint32_t qp_count;
    uint32_t outstanding;
    uint64_t carried; // slices carried so far
    sim_link_t leaving;
    bool passed; // has had its turn and may be evicted for others
    bool shaking_hands;
    bool leaves;
};

// The calls by which connections and segments report to the transfers above them. An engine gets
// the table when it is created.
typedef struct app__mc_transfer_ops {
    // Chooses the NICs of a slice and queues it.
    void (*route)(app_mooncake_t *engine, app__mc_slice_t *slice);
    // Retries a slice, or gives it up. stale: its key was refused, a new description is needed.
    void (*retry)(app_mooncake_t *engine, app__mc_slice_t *slice, bool stale);
    // Routes the slices that waited for a segment's new description, or gives them up.
    void (*fetched)(app__mc_segment_t *segment, bool good);
    void (*posted)(app__mc_slice_t *slice); // the slice is on a queue pair now
    void (*done)(app_mooncake_t *engine, app__mc_slice_t *slice);
    void (*lost)(app_mooncake_t *engine, app__mc_slice_t *slice);
    void (*submit_file)(app_mooncake_t *engine, app__mc_task_t *task); // target: an NVMe-oF file
} app__mc_transfer_ops_t;

struct app__mc_slice {
    app__mc_task_t *task;
    app__mc_slice_t *next; // list of the queue it is in
    sim_link_t timed;
    app__mc_endpoint_t *endpoint;
    uint64_t source;
    uint64_t target;
    sim_time_t since_ps;
    uint32_t length;
    uint32_t lkey;
    uint32_t rkey;
    uint16_t qp;
    uint16_t retry;
    uint8_t first_local; // positions in the NIC lists that the first attempt took
    uint8_t first_peer;
    uint16_t context;
};

static inline void app__mc_queue_push(app__mc_queue_t *queue, app__mc_slice_t *slice)
{
    slice->next = NULL;
    if (queue->last != NULL) {
        queue->last->next = slice;
    } else {
        queue->first = slice;
    }
    queue->last = slice;
    queue->count++;
}
static inline app__mc_slice_t *app__mc_queue_pop(app__mc_queue_t *queue)
{
    app__mc_slice_t *const slice = queue->first;
    if (slice != NULL) {
        queue->first = slice->next;
        queue->last = slice->next == NULL ? NULL : queue->last;
        queue->count--;
        slice->next = NULL;
    }
    return slice;
}

struct app__mc_task {
    app_mooncake_t *engine;
    sim_link_t made;
    app__mc_batch_t *batch; // NULL: the batch is freed
    app__mc_segment_t *segment;
    app_mooncake_request_t request;
    app_mooncake_task_status_t status;
    uint64_t transferred;
    uint32_t slices; // total number
    uint32_t left;   // slices that have not ended; they keep the task alive
    bool failed;     // a slice failed
    bool ended;
    bool is_part;      // of another task, which is verified as a whole
    sim_timer_t timer; // fires at the end of a local copy
};

struct app__mc_batch {
    app_mooncake_batch_id_t id;
    uint64_t size;
    app__mc_task_t **tasks;
    uint64_t count;
    uint64_t open;                  // entries that are PENDING or WAITING
    uint64_t audits;                // audits in flight
    uint64_t unverified;            // bytes
    app_mooncake_batch_fn ended_fn; // called when no entry is open
    void *ended_ctx;
    app_mooncake_batch_fn fn; // called when also nothing is left to verify
    void *ctx;
    char *audit; // body of the next audit message to the peer
    size_t audit_size;
    size_t audit_capacity;
    uint64_t audit_bytes;
    app__mc_segment_t *audit_segment;
};

typedef struct app__mc_local_buffer {
    uint64_t address;
    uint64_t length;
    char *location;
    uint32_t rights;
    nic_mr_t **regions; // per context
    app__mooncake_choice_t choice;
    uint32_t *contexts; // contexts of both lists, one after the other
    uint32_t *near;     // positions in the first list of the nearest NICs
    uint32_t near_count;
} app__mc_local_buffer_t;

typedef struct app__mc_file app__mc_file_t;
typedef struct app__nvme_queue app__nvme_queue_t;

// First member of what an engine knows of a storage node (apps/mooncake/engine/files/nvme_host.c).
typedef struct app__mc_remote_link app__mc_remote_link_t;
struct app__mc_remote_link {
    app__mc_remote_link_t *next;
};
typedef struct app__mc_drive app__mc_drive_t;

struct app_mooncake {
    const app__mc_transfer_ops_t *ops;
    app_mooncake_metadata_client_t client; // put NULL: that of the metadata node
    app__mc_station_t *station;
    app_mooncake_t *next_on_station;
    char *name;
    app_mooncake_config_t config;
    app_mooncake_matrix_t matrix;
    bool verify;
    bool closed;
    uint64_t seed; // of the pattern that fills its memory
    uint64_t stride_bytes;
    uint64_t memory_bytes_max; // highest size of its host's contents
    sim_list_t tasks;          // tasks that are not freed
    sim_random_t random;
    uint64_t turn; // for round robin
    app__mc_context_t *contexts;
    uint32_t context_count;
    app__mc_local_buffer_t *buffers;
    size_t buffer_count;
    size_t buffer_capacity;
    app__mc_segment_t **segments; // by id; 0: its own
    size_t segment_count;
    size_t segment_capacity;
    app__mc_batch_t **batches; // by id; NULL: free
    size_t batch_count;
    size_t batch_capacity;
    size_t batches_free; // number of NULL entries
    uint64_t batch_serial;
    app__mc_slice_t *free_slices;
    void **slabs; // blocks of memory for slices
    size_t slab_count;
    size_t slab_capacity;
    sim_list_t timed;      // slices that can time out
    sim_link_t *looked_at; // slice that the timer looks at next; moved on if that slice ends
    sim_timer_t slice_timer;
    sim_timer_t begin_timer;
    sim_time_t copies_until_ps; // end of the queued copies within the host
    // The engine's own record:
    bool put_under_way;
    bool put_again;
    app__mc_waiter_t *put_waiters;   // for the write in progress
    app__mc_waiter_t *again_waiters; // for the next write
    app__mc_file_t *files;
    app__mc_drive_t *drive;         // of all its files; NULL: none
    app__nvme_queue_t *queues;      // of hosts that use its files
    app__mc_remote_link_t *remotes; // storage nodes that it uses
    app_mooncake_counters_t counters;
    uint64_t lanes_elsewhere; // of an engine that another rank ran: app__mc_lanes_max there
};

// -- apps/mooncake/engine/carry.c

// Carries what an engine tells to rank 0, and returns true, if the carried rank ran it.
bool app__mc_carry_engine(app_mooncake_t *engine, sim_carry_t *carry);
// Returns the most NICs that one NIC of the engine talked to.
uint64_t app__mc_lanes_max(const app_mooncake_t *engine);

// -- apps/mooncake/engine/control/client.c

// Asks the engine's metadata client. fn is called once, perhaps before this function returns. With
// `owns` the context is freed after that.
void app__mc_ask_metadata(app_mooncake_t *engine, const app__mc_message_t *message,
                          app__mc_reply_fn fn, void *ctx, bool owns);

// -- apps/mooncake/engine/segment.c

// Adds a callback to a list (NULL: none); calls all with a result and frees the list; frees it.
void app__mc_wait_for(app__mc_waiter_t **list, app_mooncake_done_fn fn, void *ctx);
void app__mc_tell_waiters(app__mc_waiter_t *waiter, int result, app_mooncake_segment_id_t id);
void app__mc_forget_waiters(app__mc_waiter_t *waiter);

// Writes the engine's own record, now or after the write in progress.
void app__mc_put_record(app_mooncake_t *engine, app_mooncake_done_fn fn, void *ctx);
app_mooncake_segment_desc_t *app__mc_describe(const app_mooncake_t *engine);
void app__mc_fetch(app__mc_segment_t *segment, app_mooncake_done_fn fn, void *ctx);
void app__mc_segments_fini(app_mooncake_t *engine);
app__mc_segment_t *app__mc_segment_by_id(const app_mooncake_t *engine,
                                         app_mooncake_segment_id_t id);
app__mc_segment_t *app__mc_segment_add(app_mooncake_t *engine, const char *name);
void app__mc_put_file_record(app_mooncake_t *engine, const char *name, uint64_t length,
                             uint64_t nsid, app_mooncake_done_fn fn, void *ctx);

// -- apps/mooncake/engine/peers/context.c

void app__mc_contexts_init(app_mooncake_t *engine);
void app__mc_contexts_fini(app_mooncake_t *engine);
// Puts a slice into the queue of its context's lane to the peer's device.
void app__mc_dispatch(app__mc_context_t *context, app__mc_slice_t *slice,
                      app__mc_segment_t *segment, uint32_t peer_device);
// Fills the attributes with which a queue pair of a NIC connects to a peer's, by the engine's
// configuration.
void app__mc_qp_attr(const app__mc_context_t *context, uint32_t interface, uint32_t qp_num,
                     nic_qp_attr_t *attr);
// Takes a slice's bytes off the load of the context that it was dispatched to.
void app__mc_unload(app__mc_context_t *context, const app__mc_slice_t *slice);

// -- apps/mooncake/engine/peers/peer_nic.c

void app__mc_lanes_init(app__mc_context_t *context);
void app__mc_lanes_fini(app__mc_context_t *context);
// Returns the lane to "server@nic", creating it on first use.
app__mc_lane_t *app__mc_lane_of(app__mc_context_t *context, const char *peer_path);
// Detaches a lane from its endpoint, which carries nothing more; waiting slices use another one.
void app__mc_lane_detach(app__mc_lane_t *lane);
// Adds a lane to the ring of its worker if it has slices to post and a connection; removes it.
void app__mc_lane_wake(app__mc_lane_t *lane);
void app__mc_lane_sleep(app__mc_lane_t *lane);
// Takes all slices that wait in the lane.
app__mc_queue_t app__mc_lane_empty(app__mc_lane_t *lane);
// Queues a lane for an endpoint and wakes its worker, unless it is queued.
void app__mc_lane_want(app__mc_lane_t *lane);
// Returns the rail between the lane's two NICs; NULL: no record of the peer names them.
app__mc_rail_t *app__mc_lane_rail(const app__mc_lane_t *lane);

// -- apps/mooncake/engine/peers/endpoint.c

// Returns the next unused queue pair number of a context.
uint32_t app__mc_next_qp_number(app__mc_context_t *context);
// Makes sure that waiting slices get an endpoint, a connection and a turn of the worker.
void app__mc_lane_go(app__mc_lane_t *lane);
// Gives endpoints to lanes that want one, as long as there is room or another may be evicted.
void app__mc_lanes_serve(app__mc_context_t *context);
// Creates the lane's endpoint; another one may be evicted for it.
app__mc_endpoint_t *app__mc_endpoint_add(app__mc_lane_t *lane);
// Updates whether an endpoint may be evicted for others.
void app__mc_endpoint_pin(app__mc_endpoint_t *endpoint);
// Destroys an endpoint that is no longer kept, if nothing is outstanding on it.
void app__mc_endpoint_leave_if_empty(app__mc_endpoint_t *endpoint);
// Starts the handshake, unless one is in progress.
void app__mc_endpoint_set_up(app__mc_endpoint_t *endpoint);
// Disconnects an endpoint: outstanding slices fail, queued ones take another route.
void app__mc_endpoint_disconnect(app__mc_endpoint_t *endpoint, bool failed);
// Notes that a slice is no longer outstanding on a QP.
void app__mc_endpoint_returned(app__mc_endpoint_t *endpoint, uint32_t qp);
void app__mc_endpoint_destroy(app__mc_endpoint_t *endpoint);
// Stops all endpoints of a NIC without telling their peers.
void app__mc_endpoints_crash(app__mc_context_t *context);
void app__mc_on_handshake(app__mc_station_t *station, const app__mc_incoming_t *incoming,
                          void *ctx);

// -- apps/mooncake/engine/route.c

// Chooses the NICs of a slice and queues it.
void app__mc_route(app_mooncake_t *engine, app__mc_slice_t *slice);
// Retries a slice, or gives it up.
void app__mc_retry(app_mooncake_t *engine, app__mc_slice_t *slice, bool stale);
void app__mc_stale_again(app__mc_segment_t *segment, bool fetched);

// -- apps/mooncake/engine/transfer.c, apps/mooncake/engine/batch.c

app__mc_task_t *app__mc_task_new(app_mooncake_t *engine, app__mc_batch_t *batch,
                                 const app_mooncake_request_t *request);
void app__mc_task_free(app__mc_task_t *task);
void app__mc_task_begin(app__mc_task_t *task);
void app__mc_slice_done(app_mooncake_t *engine, app__mc_slice_t *slice);
void app__mc_slice_lost(app_mooncake_t *engine, app__mc_slice_t *slice);
// Notes that a slice is on a queue pair now.
void app__mc_slice_posted(app__mc_slice_t *slice);
void app__mc_transfers_fini(app_mooncake_t *engine);
void app__mc_task_end(app__mc_task_t *task, app_mooncake_task_status_t status);
void app__mc_abandon(app_mooncake_t *engine);

// -- apps/mooncake/engine/verify.c

uint64_t app__mc_seed_of(const char *name);
uint64_t app__mc_word(uint64_t seed, uint64_t address);
void app__mc_fill(app_mooncake_t *engine, uint64_t address, uint64_t length);
// Returns whether [to, to + length) holds the data of [from, ...) of the segment with that seed,
// and then forgets it.
bool app__mc_check(app_mooncake_t *engine, uint64_t seed, uint64_t from, uint64_t to,
                   uint64_t length, uint64_t stride_bytes);
// Verifies the data of a completed task, or asks the peer to verify it.
void app__mc_verify(app__mc_task_t *task);
// Sends the collected audit message.
void app__mc_audit_flush(app_mooncake_t *engine, app__mc_batch_t *batch);
void app__mc_on_audit(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx);
void app__mc_batch_settle(app_mooncake_t *engine, app__mc_batch_t *batch);

// -- apps/mooncake/engine/buffer.c

// Returns the registered buffer that holds the whole range, or NULL.
const app__mc_local_buffer_t *app__mc_local_buffer(const app_mooncake_t *engine, uint64_t address,
                                                   uint64_t length);
// Reads a location such as "cpu:0" or "cuda:1"; false: the host does not have it.
bool app__mc_host_has(const net_node_t *host, const char *location, nic_location_t *place);
// Declares where a piece of memory lies. SIM_ERR_UNKNOWN: the host has no such socket or GPU.
int app__mc_place(net_node_t *host, uint64_t address, uint64_t size, const char *location);
// Deregisters all buffers of an engine that closes.
void app__mc_buffers_drop(app_mooncake_t *engine);
// Frees the buffers of an engine; their regions belong to the NICs.
void app__mc_buffers_fini(app_mooncake_t *engine);

// -- apps/mooncake/engine/files/nvmeof.c, apps/mooncake/engine/files/nvme_host.c

// Returns the address of a file's contents on its storage node.
#define APP__MC_FILE_AREA (UINT64_C(1) << 50)
#define APP__MC_FILE_AREA_BITS 44
static inline uint64_t app__mc_file_address(uint64_t nsid)
{
    return APP__MC_FILE_AREA + ((nsid - 1) << APP__MC_FILE_AREA_BITS);
}

void app__mc_file_submit(app_mooncake_t *engine, app__mc_task_t *task);
// Serves a request for a file of the engine itself.
void app__mc_file_at_home(app_mooncake_t *engine, app__mc_task_t *task);
void app__mc_files_fini(app_mooncake_t *engine);

// Little-endian words in message bodies.
static inline void app__mc_put64(char *at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++) {
        at[i] = (char)(value >> (8 * i));
    }
}
static inline uint64_t app__mc_get64(const char *at)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++) {
        value |= (uint64_t)(uint8_t)at[i] << (8 * i);
    }
    return value;
}

#endif // APPS_MOONCAKE_MOONCAKE_INTERNAL_H
