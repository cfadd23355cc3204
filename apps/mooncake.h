// SPDX-License-Identifier: Apache-2.0
// apps/mooncake.h - Mooncake's Transfer Engine on the hosts of a network (docs/models/mooncake.md).
//
// An engine moves data between segments. A RAM segment is one host's registered memory, DRAM and
// VRAM; an NVMe-oF segment is a file of a storage node. Transfers are submitted in batches, cut
// into slices, spread over the host's NICs by the priority matrix, and retried over others when a
// NIC, a path or a peer fails. Names and meaning are those of the engine's design document.
//
// Everything is asynchronous, as the verbs below it are: calls are made in events of the engine's
// own host (or before the run) and return at once; what takes a round trip ends in a callback.
// Addresses are those of the simulated host.
//
//     cluster: the hosts that know each other by name, one of which keeps the metadata
//     app_mooncake_cluster_t *const cluster = app_mooncake_cluster_create(&plan, &message);
//     app_mooncake_create(cluster, host, "node0", "{\"cpu:0\": [[\"mlx5_0\"], []]}", &config, ...);
//     app_mooncake_register_local_memory(engine, address, size, "cpu:0", APP_MOONCAKE_ALL);
//     app_mooncake_get_segment_id(engine, "node1", opened, my);       later: opened(id, my)
//     batch = app_mooncake_allocate_batch_id(engine, 1);
//     app_mooncake_submit_transfer(engine, batch, &request, 1);
//     app_mooncake_on_batch(engine, batch, done, my);                 or poll its status
//     app_mooncake_free_batch_id(engine, batch);
#ifndef APPS_MOONCAKE_H
#define APPS_MOONCAKE_H

#include "apps/app.h"

SIM_C_BEGIN

typedef struct app_mooncake_cluster app_mooncake_cluster_t;
typedef struct app_mooncake app_mooncake_t; // an engine

typedef int32_t app_mooncake_segment_id_t; // negative: none
typedef int64_t app_mooncake_batch_id_t;   // negative: none
// Every engine's own segment.
#define APP_MOONCAKE_LOCAL_SEGMENT 0

// -- requests

typedef enum app_mooncake_opcode { APP_MOONCAKE_READ, APP_MOONCAKE_WRITE } app_mooncake_opcode_t;

typedef struct app_mooncake_request {
    app_mooncake_opcode_t opcode; // READ: from the target to source; WRITE: the other way
    uint64_t source;              // in registered local memory
    app_mooncake_segment_id_t target_id;
    uint64_t target_offset; // RAM: an address of the target's host; NVMe-oF: a place in the file
    uint64_t length;
} app_mooncake_request_t;

typedef enum app_mooncake_task_status {
    APP_MOONCAKE_WAITING,   // slices are under way
    APP_MOONCAKE_PENDING,   // accepted, nothing is posted yet
    APP_MOONCAKE_INVALID,   // no such segment, or not within registered buffers
    APP_MOONCAKE_CANCELED,  // by app_mooncake_cancel_transfer
    APP_MOONCAKE_COMPLETED, // all of it arrived
    APP_MOONCAKE_TIMEOUT,   // a slice took longer than slice-timeout
    APP_MOONCAKE_FAILED,    // after all retries
} app_mooncake_task_status_t;
const char *app_mooncake_task_status_text(app_mooncake_task_status_t status);

typedef struct app_mooncake_status {
    app_mooncake_task_status_t s;
    uint64_t transferred; // bytes that surely arrived
} app_mooncake_status_t;

// -- descriptions, as they stand in the metadata service and travel in handshakes

typedef struct app_mooncake_priority {
    char *location; // "cpu:0", "cuda:1"
    char **preferred;
    size_t preferred_count;
    char **available;
    size_t available_count;
} app_mooncake_priority_t;

typedef struct app_mooncake_matrix {
    app_mooncake_priority_t *items; // in the order written
    size_t count;
} app_mooncake_matrix_t;
void app_mooncake_matrix_fini(app_mooncake_matrix_t *matrix);

typedef struct app_mooncake_device {
    char *name; // "mlx5_3": NIC 3 of its host
    uint16_t lid;
    char *gid;
} app_mooncake_device_t;

typedef struct app_mooncake_buffer {
    char *name; // its location
    uint64_t addr;
    uint64_t length;
    uint32_t *rkeys; // by device
    size_t rkey_count;
} app_mooncake_buffer_t;

typedef struct app_mooncake_segment_desc {
    char *name;
    app_mooncake_device_t *devices;
    size_t device_count;
    app_mooncake_matrix_t matrix;
    app_mooncake_buffer_t *buffers;
    size_t buffer_count;
    char *server;         // NVMe-oF: who serves the file; NULL: RAM
    uint64_t file_length; // NVMe-oF
} app_mooncake_segment_desc_t;
void app_mooncake_segment_desc_destroy(app_mooncake_segment_desc_t *desc);

typedef struct app_mooncake_handshake_desc {
    char *local_nic_path; // "server@nic" of who sends it
    char *peer_nic_path;
    uint32_t *qp_nums;
    size_t qp_count;
    uint32_t mtu; // of its NIC; 0: not said
} app_mooncake_handshake_desc_t;
void app_mooncake_handshake_desc_fini(app_mooncake_handshake_desc_t *desc);

// How descriptions become text and come back. This library needs no JSON: the codec of
// world/mooncake_json.h does it with one; a program may bring its own. Texts are freed with
// sim_free. A reader refuses what it does not understand, with a message.
typedef struct app_mooncake_codec {
    char *(*write_segment)(const app_mooncake_segment_desc_t *desc);
    sim_err_t (*read_segment)(const char *text,
                              size_t size,
                              app_mooncake_segment_desc_t **desc,
                              sim_message_t *message);
    char *(*write_handshake)(const app_mooncake_handshake_desc_t *desc);
    sim_err_t (*read_handshake)(const char *text,
                                size_t size,
                                app_mooncake_handshake_desc_t *desc,
                                sim_message_t *message);
    sim_err_t (*read_matrix)(const char *text,
                             app_mooncake_matrix_t *matrix,
                             sim_message_t *message);
} app_mooncake_codec_t;

// -- configuration

typedef enum app_mooncake_endpoint_store {
    APP_MOONCAKE_STORE_SIEVE,
    APP_MOONCAKE_STORE_FIFO,
} app_mooncake_endpoint_store_t;

typedef enum app_mooncake_selection {
    APP_MOONCAKE_RANDOM,
    APP_MOONCAKE_ROUND_ROBIN,
    APP_MOONCAKE_LEAST_LOADED,
    APP_MOONCAKE_AFFINITY, // the nearest; a piece of memory always takes the same one
} app_mooncake_selection_t;

// Of an engine; rows APP_MOONCAKE_ATTRS below, with the environment variable each stands for.
typedef struct app_mooncake_config {
    uint64_t slice_bytes;
    uint64_t fragment_bytes; // SIM_AUTO: a quarter of a slice
    uint64_t qps_per_endpoint;
    uint64_t workers; // per NIC: the first polls, the others post
    uint64_t max_wr;
    uint64_t max_cqe;
    uint64_t max_endpoints; // per NIC
    uint32_t endpoint_store;
    uint64_t retry_count;
    uint64_t mtu_bytes;
    uint32_t selection;
    sim_time_t slice_timeout_ps; // NEVER: off
    sim_time_t rail_pause_ps;
    uint64_t rail_failures; // in a row, after which a rail pauses
    uint64_t ack_timeout;   // of the QPs, exponent
    uint64_t ack_retries;
    sim_time_t handshake_timeout_ps;
    sim_time_t metadata_timeout_ps;
    uint64_t call_retries;
    sim_time_t post_ps; // of a worker, for a slice
    sim_time_t poll_ps; // of a worker, for a completion
    uint64_t copy_bps;  // within a host
    uint64_t verify_stride_bytes;
} app_mooncake_config_t;

// clang-format off
#define APP_MOONCAKE_ATTRS(prefix, type, member)                                                   \
    {prefix ".slice", SIM_ATTR_BYTES, false, offsetof(type, member.slice_bytes), "64KiB", "64",    \
     "1GiB", NULL, "largest slice of a transfer: one work request (MC_SLICE_SIZE)"},               \
    {prefix ".fragment", SIM_ATTR_BYTES, true, offsetof(type, member.fragment_bytes), "auto", "0", \
     "1GiB", NULL, "a shorter tail joins the slice before it; auto: a quarter of a slice "         \
     "(MC_FRAGMENT_RATIO)"},                                                                       \
    {prefix ".qps-per-endpoint", SIM_ATTR_COUNT, false, offsetof(type, member.qps_per_endpoint),   \
     "2", "1", "256", NULL, "queue pairs between two NICs (MC_NUM_QP_PER_EP)"},                    \
    {prefix ".workers", SIM_ATTR_COUNT, false, offsetof(type, member.workers), "2", "1", "64",     \
     NULL, "threads per NIC: the first polls, others post; one does both (MC_WORKERS_PER_CTX)"},   \
    {prefix ".max-wr", SIM_ATTR_COUNT, false, offsetof(type, member.max_wr), "256", "1", "65536",  \
     NULL, "slices under way on a queue pair (MC_MAX_WR)"},                                        \
    {prefix ".max-cqe", SIM_ATTR_COUNT, false, offsetof(type, member.max_cqe), "4096", "1",        \
     "1000000", NULL, "slices under way on a NIC (MC_MAX_CQE_PER_CTX)"},                           \
    {prefix ".max-endpoints", SIM_ATTR_COUNT, false, offsetof(type, member.max_endpoints),         \
     "65536", "1", "1000000", NULL, "endpoints a NIC keeps (MC_MAX_EP_PER_CTX)"},                  \
    {prefix ".endpoint-store", SIM_ATTR_ENUM, false, offsetof(type, member.endpoint_store),        \
     "sieve", NULL, NULL, "sieve|fifo", "which endpoint leaves when there is room for no more "    \
     "(MC_ENDPOINT_STORE_TYPE)"},                                                                  \
    {prefix ".retries", SIM_ATTR_COUNT, false, offsetof(type, member.retry_count), "9", "0",       \
     "128", NULL, "times a slice is tried again, each on other NICs (MC_RETRY_CNT)"},              \
    {prefix ".mtu", SIM_ATTR_BYTES, false, offsetof(type, member.mtu_bytes), "4096", "256",        \
     "4096", NULL, "path MTU; with the peer's and the NICs' the smallest counts (MC_MTU)"},        \
    {prefix ".selection", SIM_ATTR_ENUM, false, offsetof(type, member.selection), "random", NULL,  \
     NULL, "random|round-robin|least-loaded|affinity", "which NIC of the first list a slice "      \
     "takes"},                                                                                     \
    {prefix ".slice-timeout", SIM_ATTR_TIME, false, offsetof(type, member.slice_timeout_ps),       \
     "never", "1us", NULL, NULL, "a slice not done by then ends its transfer "                     \
     "(MC_SLICE_TIMEOUT)"},                                                                        \
    {prefix ".rail-pause", SIM_ATTR_TIME, false, offsetof(type, member.rail_pause_ps), "30s",      \
     "0s", "1000s", NULL, "how long two NICs between which slices failed are left alone "          \
     "(MC_RDMA_RAIL_PAUSE_SECONDS)"},                                                              \
    {prefix ".rail-failures", SIM_ATTR_COUNT, false, offsetof(type, member.rail_failures), "1",    \
     "1", "1000", NULL, "failed connections in a row before that pause"},                          \
    {prefix ".ack-timeout", SIM_ATTR_COUNT, false, offsetof(type, member.ack_timeout), "14", "1",  \
     "31", NULL, "local ACK timeout of the queue pairs: 4.096 us x 2^this"},                       \
    {prefix ".ack-retries", SIM_ATTR_COUNT, false, offsetof(type, member.ack_retries), "7", "0",   \
     "7", NULL, "times a NIC sends again before the connection fails"},                            \
    {prefix ".handshake-timeout", SIM_ATTR_TIME, false,                                            \
     offsetof(type, member.handshake_timeout_ps), "5s", "1us", "1000s", NULL,                      \
     "wait for the answer to a handshake (MC_HANDSHAKE_CONNECT_TIMEOUT)"},                         \
    {prefix ".metadata-timeout", SIM_ATTR_TIME, false, offsetof(type, member.metadata_timeout_ps), \
     "1s", "1us", "1000s", NULL, "wait for an answer of the metadata node"},                       \
    {prefix ".call-retries", SIM_ATTR_COUNT, false, offsetof(type, member.call_retries), "2", "0", \
     "1000", NULL, "times either is asked again"},                                                 \
    {prefix ".cpu.post", SIM_ATTR_TIME, false, offsetof(type, member.post_ps), "150ns", "1ns",     \
     "1ms", NULL, "work of a posting thread for a slice"},                                         \
    {prefix ".cpu.poll", SIM_ATTR_TIME, false, offsetof(type, member.poll_ps), "50ns", "1ns",      \
     "1ms", NULL, "work of a polling thread for a completion"},                                    \
    {prefix ".copy-rate", SIM_ATTR_RATE, false, offsetof(type, member.copy_bps), "80Gbps", "1bps", \
     "100Tbps", NULL, "copies where source and target are the same host, one at a time"},          \
    {prefix ".verify-stride", SIM_ATTR_BYTES, true, offsetof(type, member.verify_stride_bytes),    \
     "auto", "8", "1GiB", NULL, "distance of the marks by which arrived data is checked, rounded " \
     "down to a power of two; 8: every byte; auto: a quarter of a slice, at most 16 KiB"}
// clang-format on

// What the metadata node is like.
typedef struct app_mooncake_metadata_config {
    sim_time_t latency_ps; // of a request, one at a time
    sim_time_t down_from_ps;
    sim_time_t down_until_ps;
} app_mooncake_metadata_config_t;

// What a storage node's drive is like.
typedef struct app_mooncake_drive_config {
    uint64_t queue_depth;
    sim_time_t latency_ps;
    uint64_t rate_bps;
} app_mooncake_drive_config_t;

// -- a cluster: set up before the run

typedef struct app_mooncake_plan {
    net_t *net;
    app_runtime_t *runtime;
    uint32_t index; // of the application, for addresses and random streams
    net_node_t *const *hosts;
    size_t host_count;
    const net_node_t *metadata_host; // one of them
    const app_mooncake_codec_t *codec;
    app_mooncake_metadata_config_t metadata;
} app_mooncake_plan_t;

// SIM_ERR_INVALID: two hosts are the same, two that cannot talk, the metadata's is none of them.
SIM_MUST_CHECK sim_err_t app_mooncake_cluster_create(const app_mooncake_plan_t *plan,
                                                     app_mooncake_cluster_t **cluster,
                                                     sim_message_t *message);
// After the run; its engines are destroyed with it.
void app_mooncake_cluster_destroy(app_mooncake_cluster_t *cluster);

// Visits the records that the metadata node holds, in order of their keys: after the run, or in an
// event of its host.
typedef void (*app_mooncake_record_fn)(const char *key, const char *value, size_t size, void *ctx);
void app_mooncake_records(const app_mooncake_cluster_t *cluster,
                          app_mooncake_record_fn fn,
                          void *ctx);

// -- an engine

// Constructor, before the run. The name is unique in the cluster; the matrix names NICs by the
// number at their end. Memory: an engine's record, mooncake/[name], is written when the run begins.
SIM_MUST_CHECK sim_err_t app_mooncake_create(app_mooncake_cluster_t *cluster,
                                             net_node_t *host,
                                             const char *local_server_name,
                                             const char *nic_priority_matrix,
                                             const app_mooncake_config_t *config,
                                             app_mooncake_t **engine,
                                             sim_message_t *message);
// Destructor, in an event of its host: unfinished transfers end CANCELED, connections and memory
// regions go, the record is removed. The struct lives until the cluster is destroyed; calls fail.
void app_mooncake_close(app_mooncake_t *engine);
// What a machine that loses power does: queue pairs vanish, nothing is answered, the record stays.
void app_mooncake_crash(app_mooncake_t *engine);

// Results of calls that need the network: 0, or a negative sim_err_t.
typedef void (*app_mooncake_done_fn)(int result, void *ctx);
typedef void (*app_mooncake_segment_fn)(app_mooncake_segment_id_t id, void *ctx);
typedef void (*app_mooncake_batch_fn)(app_mooncake_batch_id_t batch_id, void *ctx);

enum {
    APP_MOONCAKE_REMOTE_READ = 1,
    APP_MOONCAKE_REMOTE_WRITE = 2,
    APP_MOONCAKE_ALL = 3,
};

// 0, or negative: empty, overlaps a registered buffer, the location is not in the matrix. Local
// transfers may use it at once, others when the record says so: then fn (NULL: nobody) is called.
int app_mooncake_register_local_memory(app_mooncake_t *engine,
                                       uint64_t address,
                                       uint64_t size,
                                       const char *location,
                                       uint32_t rights,
                                       app_mooncake_done_fn fn,
                                       void *ctx);
// 0, or negative: nothing begins at the address. The keys are void at once, for what is under way
// too; that fails.
int app_mooncake_unregister_local_memory(app_mooncake_t *engine,
                                         uint64_t address,
                                         app_mooncake_done_fn fn,
                                         void *ctx);

// Looks the segment up, in the cache or at the metadata node; fn gets its id or a negative number.
// fn may be called before this returns.
void app_mooncake_get_segment_id(app_mooncake_t *engine,
                                 const char *segment_name,
                                 app_mooncake_segment_fn fn,
                                 void *ctx);
// The description as the cache has it; NULL: none. Valid until the engine hears of another.
const app_mooncake_segment_desc_t *app_mooncake_segment(const app_mooncake_t *engine,
                                                        app_mooncake_segment_id_t id);
// Asks again for a description that the cache has.
void app_mooncake_refresh_segment(app_mooncake_t *engine,
                                  app_mooncake_segment_id_t id,
                                  app_mooncake_done_fn fn,
                                  void *ctx);

// Negative: batch_size is 0 or above 2^20.
app_mooncake_batch_id_t app_mooncake_allocate_batch_id(app_mooncake_t *engine, uint64_t batch_size);
// Negative, and nothing is taken: no such batch, or more entries than it was made for.
int app_mooncake_submit_transfer(app_mooncake_t *engine,
                                 app_mooncake_batch_id_t batch_id,
                                 const app_mooncake_request_t *entries,
                                 size_t count);
// How many entries have been submitted, and the first status_count of their statuses. Negative: no
// such batch.
int64_t app_mooncake_get_transfer_status(const app_mooncake_t *engine,
                                         app_mooncake_batch_id_t batch_id,
                                         app_mooncake_status_t *status,
                                         size_t status_count);
// Refused (negative) while an entry is PENDING or WAITING.
int app_mooncake_free_batch_id(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id);
// The entry ends CANCELED; slices that are out may still arrive. Negative: no such entry, or it has
// ended.
int app_mooncake_cancel_transfer(app_mooncake_t *engine,
                                 app_mooncake_batch_id_t batch_id,
                                 size_t index);
// fn is called once, when no entry submitted so far is PENDING or WAITING any more (perhaps before
// this returns). Negative: no such batch.
int app_mooncake_on_transfers(app_mooncake_t *engine,
                              app_mooncake_batch_id_t batch_id,
                              app_mooncake_batch_fn fn,
                              void *ctx);
// The same, and what arrived has been looked at, where the engine verifies: a round trip later for
// WRITEs. Until then nobody should send to the same place. Where both are asked for, this one comes
// after the other. The batch may be freed in either.
int app_mooncake_on_batch(app_mooncake_t *engine,
                          app_mooncake_batch_id_t batch_id,
                          app_mooncake_batch_fn fn,
                          void *ctx);

// allocateBatchID and submitTransfer in one: a batch for just these entries, or negative.
app_mooncake_batch_id_t app_mooncake_submit(app_mooncake_t *engine,
                                            const app_mooncake_request_t *entries,
                                            size_t count);
// getTransferStatus, and freeBatchID if no entry is PENDING or WAITING: then *freed, and the batch
// is gone.
int64_t app_mooncake_get_status(app_mooncake_t *engine,
                                app_mooncake_batch_id_t batch_id,
                                app_mooncake_status_t *status,
                                size_t status_count,
                                bool *freed);

// -- storage nodes

// Serves the file as an NVMe-oF segment of its name, from now on; 0, or negative: the engine has
// a file of that name.
int app_mooncake_serve_file(app_mooncake_t *engine,
                            const char *file_name,
                            uint64_t length,
                            const app_mooncake_drive_config_t *drive,
                            app_mooncake_done_fn fn,
                            void *ctx);

// -- inspection

typedef enum app_mooncake_endpoint_state {
    APP_MOONCAKE_INITIALIZING, // queue pairs are made, no peer
    APP_MOONCAKE_UNCONNECTED,  // it was disconnected, or a handshake is under way
    APP_MOONCAKE_CONNECTED,
} app_mooncake_endpoint_state_t;
// Of the endpoint from a NIC of the engine to "server@nic". False: there is none.
bool app_mooncake_endpoint_state(const app_mooncake_t *engine,
                                 uint32_t nic,
                                 const char *peer_nic_path,
                                 app_mooncake_endpoint_state_t *state);
// As a program calls disconnect(): what is out is lost and tried again after another handshake.
// Negative: there is none.
int app_mooncake_disconnect(app_mooncake_t *engine, uint32_t nic, const char *peer_nic_path);

typedef struct app_mooncake_counters {
    uint64_t requests;  // submitted
    uint64_t completed; // by status
    uint64_t failed;
    uint64_t timed_out;
    uint64_t canceled;
    uint64_t invalid;
    uint64_t bytes;      // of completed requests
    uint64_t slices;     // posted, again and again
    uint64_t retried;    // slices that were tried again
    uint64_t handshakes; // that ended well, active and passive
    uint64_t handshakes_failed;
    uint64_t endpoints_evicted;
    uint64_t endpoints_disconnected;
    uint64_t rails_paused;
    uint64_t metadata_requests;
    uint64_t metadata_failures;
    uint64_t verified_bytes;
    uint64_t unverified_bytes; // completed, and not what was sent
    uint64_t file_operations;  // served
} app_mooncake_counters_t;
const app_mooncake_counters_t *app_mooncake_get_counters(const app_mooncake_t *engine);
// Payload of completed slices that a NIC carried.
uint64_t app_mooncake_nic_bytes(const app_mooncake_t *engine, uint32_t nic);
const char *app_mooncake_name(const app_mooncake_t *engine);
net_node_t *app_mooncake_host(const app_mooncake_t *engine);
net_node_t *app_mooncake_host_of(const app_mooncake_cluster_t *cluster, const char *server_name);

SIM_C_END

#endif // APPS_MOONCAKE_H
