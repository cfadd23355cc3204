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
// Addresses are those of the simulated host. An example:
//
// cluster: the hosts that know each other by name; one of them keeps the metadata
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
// The id that every engine has for its own segment.
#define APP_MOONCAKE_LOCAL_SEGMENT 0

// -- requests

typedef enum app_mooncake_opcode { APP_MOONCAKE_READ, APP_MOONCAKE_WRITE } app_mooncake_opcode_t;

typedef struct app_mooncake_request {
    // READ: from the target to source; WRITE: from source to the target
    app_mooncake_opcode_t opcode;
    uint64_t source; // in registered local memory
    app_mooncake_segment_id_t target_id;
    uint64_t target_offset; // RAM: an address on the target's host; NVMe-oF: a position in the file
    uint64_t length;
} app_mooncake_request_t;

typedef enum app_mooncake_task_status {
    APP_MOONCAKE_WAITING,   // slices are in flight
    APP_MOONCAKE_PENDING,   // accepted, but nothing is posted yet
    APP_MOONCAKE_INVALID,   // unknown segment, or outside of registered buffers
    APP_MOONCAKE_CANCELED,  // ended by app_mooncake_cancel_transfer
    APP_MOONCAKE_COMPLETED, // all bytes arrived
    APP_MOONCAKE_TIMEOUT,   // a slice took longer than slice-timeout
    APP_MOONCAKE_FAILED,    // all retries failed
} app_mooncake_task_status_t;
const char *app_mooncake_task_status_text(app_mooncake_task_status_t status);

typedef struct app_mooncake_status {
    app_mooncake_task_status_t s;
    uint64_t transferred; // bytes that are known to have arrived
} app_mooncake_status_t;

// -- descriptions: records in the metadata service and messages of handshakes

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
    char *name; // location, such as "cpu:0"
    uint64_t addr;
    uint64_t length;
    uint32_t *rkeys; // one key per device
    size_t rkey_count;
    // One key per device, in descriptions of the engine's own segment only: records do not hold
    // them.
    uint32_t *lkeys;
    size_t lkey_count;
} app_mooncake_buffer_t;

typedef struct app_mooncake_segment_desc {
    char *name;
    app_mooncake_device_t *devices;
    size_t device_count;
    app_mooncake_matrix_t matrix;
    app_mooncake_buffer_t *buffers;
    size_t buffer_count;
    char *server;         // NVMe-oF: name of the server of the file; NULL: a RAM segment
    uint64_t file_length; // NVMe-oF: bytes
    uint64_t nsid;        // NVMe-oF: namespace of the file on its server, from 1
} app_mooncake_segment_desc_t;
void app_mooncake_segment_desc_destroy(app_mooncake_segment_desc_t *desc);

typedef struct app_mooncake_handshake_desc {
    char *local_nic_path; // "server@nic" of the sender
    char *peer_nic_path;
    uint32_t *qp_nums;
    size_t qp_count;
    uint32_t mtu; // path MTU of its NIC in bytes; 0: not given
} app_mooncake_handshake_desc_t;
void app_mooncake_handshake_desc_fini(app_mooncake_handshake_desc_t *desc);

// Receives a record: its key, "mooncake/" and a name, and its value of `size` bytes.
typedef void (*app_mooncake_record_fn)(const char *key, const char *value, size_t size, void *ctx);

// Converts descriptions to text and back. This library contains no JSON parser:
// world/mooncake_json.h has a codec, and a program may bring its own. Texts are freed with
// sim_free. A reader refuses text that it does not understand, with a message.
typedef struct app_mooncake_codec {
    char *(*write_segment)(const app_mooncake_segment_desc_t *desc);
    sim_err_t (*read_segment)(const char *text, size_t size, app_mooncake_segment_desc_t **desc,
                              sim_message_t *message);
    char *(*write_handshake)(const app_mooncake_handshake_desc_t *desc);
    sim_err_t (*read_handshake)(const char *text, size_t size, app_mooncake_handshake_desc_t *desc,
                                sim_message_t *message);
    sim_err_t (*read_matrix)(const char *text, app_mooncake_matrix_t *matrix,
                             sim_message_t *message);
    // Reads a file of records and calls fn for each; NULL: this program has no such files.
    sim_err_t (*read_records)(const char *text, size_t size, app_mooncake_record_fn fn, void *ctx,
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
    APP_MOONCAKE_AFFINITY, // the nearest NIC; a piece of memory always uses the same one
} app_mooncake_selection_t;

// Settings of one engine. APP_MOONCAKE_ATTRS has a row for each, with the environment variable of
// the original engine that it stands for.
typedef struct app_mooncake_config {
    uint64_t slice_bytes;
    uint64_t fragment_bytes; // SIM_AUTO: a quarter of a slice
    uint64_t qps_per_endpoint;
    uint64_t workers; // per NIC: the first polls, the others post; a single one does both
    uint64_t max_wr;
    uint64_t max_cqe;
    uint64_t max_endpoints; // per NIC
    uint32_t endpoint_store;
    uint64_t retry_count;
    uint64_t mtu_bytes;
    uint32_t selection;
    sim_time_t slice_timeout_ps; // NEVER: no timeout
    sim_time_t rail_pause_ps;
    uint64_t rail_failures; // failures in a row after which a rail pauses
    uint64_t ack_timeout;   // exponent of the QPs' local ACK timeout: 4.096 us x 2^ack_timeout
    uint64_t ack_retries;
    sim_time_t handshake_timeout_ps;
    sim_time_t metadata_timeout_ps;
    uint64_t call_retries;
    sim_time_t post_ps; // worker's time for posting a slice
    sim_time_t poll_ps; // worker's time for a completion
    uint64_t copy_bps;  // rate of copies within a host
    uint64_t verify_stride_bytes;
} app_mooncake_config_t;

// clang-format off
#define APP_MOONCAKE_ATTRS(prefix, type, member)                                                   \
    SIM_ATTR(prefix ".slice", BYTES, type, member.slice_bytes,                                     \
             .default_text = "64KiB", .min_text = "64", .max_text = "1GiB",                        \
             .help = "largest slice of a transfer, which is one work request (MC_SLICE_SIZE)"),    \
    SIM_ATTR(prefix ".fragment", BYTES, type, member.fragment_bytes,                               \
             .default_text = "auto", .min_text = "0", .max_text = "1GiB", .auto_ok = true,         \
             .help = "length below which the tail of a transfer joins the slice before it; "       \
                     "auto: a quarter of a slice (MC_FRAGMENT_RATIO)"),                            \
    SIM_ATTR(prefix ".qps-per-endpoint", COUNT, type, member.qps_per_endpoint,                     \
             .default_text = "2", .min_text = "1", .max_text = "256",                              \
             .help = "number of queue pairs between two NICs (MC_NUM_QP_PER_EP)"),                 \
    SIM_ATTR(prefix ".workers", COUNT, type, member.workers,                                       \
             .default_text = "2", .min_text = "1", .max_text = "64",                               \
             .help = "number of threads per NIC: the first polls, the others post; a single one "  \
                     "does both (MC_WORKERS_PER_CTX)"),                                            \
    SIM_ATTR(prefix ".max-wr", COUNT, type, member.max_wr,                                         \
             .default_text = "256", .min_text = "1", .max_text = "65536",                          \
             .help = "maximum number of slices in flight on a queue pair (MC_MAX_WR)"),            \
    SIM_ATTR(prefix ".max-cqe", COUNT, type, member.max_cqe,                                       \
             .default_text = "4096", .min_text = "1", .max_text = "1000000",                       \
             .help = "maximum number of slices in flight on a NIC (MC_MAX_CQE_PER_CTX)"),          \
    SIM_ATTR(prefix ".max-endpoints", COUNT, type, member.max_endpoints,                           \
             .default_text = "65536", .min_text = "1", .max_text = "1000000",                      \
             .help = "maximum number of endpoints that a NIC keeps (MC_MAX_EP_PER_CTX)"),          \
    SIM_ATTR(prefix ".endpoint-store", ENUM, type, member.endpoint_store,                          \
             .default_text = "sieve", .choices = "sieve|fifo",                                     \
             .help = "policy by which a NIC at max-endpoints evicts an endpoint "                  \
                     "(MC_ENDPOINT_STORE_TYPE)"),                                                  \
    SIM_ATTR(prefix ".retries", COUNT, type, member.retry_count,                                   \
             .default_text = "9", .min_text = "0", .max_text = "128",                              \
             .help = "number of times that a slice is retried, each time on other NICs "           \
                     "(MC_RETRY_CNT)"),                                                            \
    SIM_ATTR(prefix ".mtu", BYTES, type, member.mtu_bytes,                                         \
             .default_text = "4096", .min_text = "256", .max_text = "4096",                        \
             .help = "path MTU; the smallest of this, the peer's and the NICs' is used "           \
                     "(MC_MTU)"),                                                                  \
    SIM_ATTR(prefix ".selection", ENUM, type, member.selection,                                    \
             .default_text = "random", .choices = "random|round-robin|least-loaded|affinity",      \
             .help = "choice of a slice's NIC among the preferred ones of its location; "          \
                     "affinity: the nearest, always the same for a piece of memory"),              \
    SIM_ATTR(prefix ".slice-timeout", TIME, type, member.slice_timeout_ps,                         \
             .default_text = "never", .min_text = "1us",                                           \
             .help = "time after which an unfinished slice ends its transfer "                     \
                     "(MC_SLICE_TIMEOUT)"),                                                        \
    SIM_ATTR(prefix ".rail-pause", TIME, type, member.rail_pause_ps,                               \
             .default_text = "30s", .min_text = "0s", .max_text = "1000s",                         \
             .help = "time for which two NICs are not paired after slices between them failed "    \
                     "(MC_RDMA_RAIL_PAUSE_SECONDS)"),                                              \
    SIM_ATTR(prefix ".rail-failures", COUNT, type, member.rail_failures,                           \
             .default_text = "1", .min_text = "1", .max_text = "1000",                             \
             .help = "number of connections between two NICs that fail in a row before these "     \
                     "NICs are not paired for rail-pause"),                                        \
    SIM_ATTR(prefix ".ack-timeout", COUNT, type, member.ack_timeout,                               \
             .default_text = "14", .min_text = "1", .max_text = "31",                              \
             .help = "local ACK timeout of the queue pairs: 4.096 us x 2^this"),                   \
    SIM_ATTR(prefix ".ack-retries", COUNT, type, member.ack_retries,                               \
             .default_text = "7", .min_text = "0", .max_text = "7",                                \
             .help = "number of times that a NIC retransmits before the connection fails"),        \
    SIM_ATTR(prefix ".handshake-timeout", TIME, type, member.handshake_timeout_ps,                 \
             .default_text = "5s", .min_text = "1us", .max_text = "1000s",                         \
             .help = "maximum wait for the answer to a handshake (MC_HANDSHAKE_CONNECT_TIMEOUT)"), \
    SIM_ATTR(prefix ".metadata-timeout", TIME, type, member.metadata_timeout_ps,                   \
             .default_text = "1s", .min_text = "1us", .max_text = "1000s",                         \
             .help = "maximum wait for an answer of the metadata node"),                           \
    SIM_ATTR(prefix ".call-retries", COUNT, type, member.call_retries,                             \
             .default_text = "2", .min_text = "0", .max_text = "1000",                             \
             .help = "number of times that a handshake or a metadata request is repeated"),        \
    SIM_ATTR(prefix ".cpu.post", TIME, type, member.post_ps,                                       \
             .default_text = "150ns", .min_text = "1ns", .max_text = "1ms",                        \
             .help = "time that a posting thread takes for a slice"),                              \
    SIM_ATTR(prefix ".cpu.poll", TIME, type, member.poll_ps,                                       \
             .default_text = "50ns", .min_text = "1ns", .max_text = "1ms",                         \
             .help = "time that a polling thread takes for a completion"),                         \
    SIM_ATTR(prefix ".copy-rate", RATE, type, member.copy_bps,                                     \
             .default_text = "80Gbps", .min_text = "1bps", .max_text = "100Tbps",                  \
             .help = "rate of copies where source and target are the same host, one at a time"),   \
    SIM_ATTR(prefix ".verify-stride", BYTES, type, member.verify_stride_bytes,                     \
             .default_text = "auto", .min_text = "8", .max_text = "1GiB", .auto_ok = true,         \
             .help = "distance of the marks by which arrived data is verified, rounded down "      \
                     "to a power of two; 8: every byte; auto: a quarter of a slice, at most "      \
                     "16 KiB")
// clang-format on

// Behaviour of the metadata node.
typedef struct app_mooncake_metadata_config {
    sim_time_t latency_ps; // time to serve a request; requests are served one at a time
    sim_time_t down_from_ps;
    sim_time_t down_until_ps;
} app_mooncake_metadata_config_t;

// Behaviour of a storage node's drive, which all files of the host share.
typedef struct app_mooncake_drive_config {
    uint64_t queue_depth;        // commands that it accepts at a time
    sim_time_t latency_ps;       // time of a READ on its channel, without its transfer
    uint64_t rate_bps;           // of all transfers together
    sim_time_t write_latency_ps; // of a WRITE; 0: as latency_ps
    uint64_t channels;           // commands that it works on at a time; 0: queue_depth
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

// Creates a cluster. SIM_ERR_INVALID: two hosts are the same, two hosts cannot talk, or
// metadata_host is none of the hosts.
SIM_MUST_CHECK sim_err_t app_mooncake_cluster_create(const app_mooncake_plan_t *plan,
                                                     app_mooncake_cluster_t **cluster,
                                                     sim_message_t *message);
// Destroys the cluster and its engines, after the run.
void app_mooncake_cluster_destroy(app_mooncake_cluster_t *cluster);

// Gives the metadata node a record, before the run. A record of the same key is replaced.
void app_mooncake_import_record(app_mooncake_cluster_t *cluster, const char *key, const char *value,
                                size_t size);
// Visits the records that the metadata node holds, in order of their keys. Call it after the run,
// or in an event of the metadata node's host.
void app_mooncake_records(const app_mooncake_cluster_t *cluster, app_mooncake_record_fn fn,
                          void *ctx);

// The change that a run made to an imported record.
typedef enum app_mooncake_change {
    APP_MOONCAKE_UNCHANGED, // imported, and still as it was
    APP_MOONCAKE_WRITTEN,   // new, or with another value
    APP_MOONCAKE_REMOVED,   // imported, and no longer there
} app_mooncake_change_t;
typedef void (*app_mooncake_change_fn)(const char *key,
                                       const char *value, // REMOVED: the imported value
                                       size_t size, app_mooncake_change_t change, void *ctx);
// Visits the records like app_mooncake_records, and then those that were removed.
void app_mooncake_changes(const app_mooncake_cluster_t *cluster, app_mooncake_change_fn fn,
                          void *ctx);

// -- an engine

// Creates an engine, before the run. The name is unique in the cluster; the matrix names NICs by
// the number at the end of their name. The engine writes its record, mooncake/[name], when the run
// begins.
SIM_MUST_CHECK sim_err_t app_mooncake_create(app_mooncake_cluster_t *cluster, net_node_t *host,
                                             const char *local_server_name,
                                             const char *nic_priority_matrix,
                                             const app_mooncake_config_t *config,
                                             app_mooncake_t **engine, sim_message_t *message);
// Shuts an engine down, in an event of its host: unfinished transfers end CANCELED, connections and
// memory regions are released, the record is removed. Later calls fail. The struct lives until the
// cluster is destroyed.
void app_mooncake_close(app_mooncake_t *engine);
// Stops an engine like a power loss: queue pairs vanish, nothing is answered, the record stays.
void app_mooncake_crash(app_mooncake_t *engine);

// Callbacks of calls that need the network. `result`: 0, or a negative sim_err_t.
typedef void (*app_mooncake_done_fn)(int result, void *ctx);
typedef void (*app_mooncake_segment_fn)(app_mooncake_segment_id_t id, void *ctx);
typedef void (*app_mooncake_batch_fn)(app_mooncake_batch_id_t batch_id, void *ctx);

enum {
    APP_MOONCAKE_REMOTE_READ = 1,
    APP_MOONCAKE_REMOTE_WRITE = 2,
    APP_MOONCAKE_ALL = 3,
};

// Registers a buffer. Returns 0, or a negative number: the buffer is empty, it overlaps a
// registered one, or the location is not in the matrix. Local transfers may use it at once, remote
// ones once the record says so: then fn (may be NULL) is called.
int app_mooncake_register_local_memory(app_mooncake_t *engine, uint64_t address, uint64_t size,
                                       const char *location, uint32_t rights,
                                       app_mooncake_done_fn fn, void *ctx);
// Unregisters the buffer that begins at the address. Returns 0, or a negative number: there is
// none. Its keys are invalid at once, so transfers in flight that use them fail.
int app_mooncake_unregister_local_memory(app_mooncake_t *engine, uint64_t address,
                                         app_mooncake_done_fn fn, void *ctx);

// Finds a segment by name in the cache or at the metadata node. fn gets its id, or a negative
// number; it may be called before this function returns.
void app_mooncake_get_segment_id(app_mooncake_t *engine, const char *segment_name,
                                 app_mooncake_segment_fn fn, void *ctx);
// Returns the cached description, or NULL. It is valid until the engine receives a newer one.
const app_mooncake_segment_desc_t *app_mooncake_segment(const app_mooncake_t *engine,
                                                        app_mooncake_segment_id_t id);
// Asks the metadata node again for a description that is in the cache.
void app_mooncake_refresh_segment(app_mooncake_t *engine, app_mooncake_segment_id_t id,
                                  app_mooncake_done_fn fn, void *ctx);

// -- the metadata service

// Receives the result of a request to the metadata service: 0, or a negative sim_err_t
// (SIM_ERR_UNKNOWN: there is no such record; SIM_ERR_IO: nobody answered). `value` is valid during
// the call, and empty except for the answer to a get.
typedef void (*app_mooncake_value_fn)(int result, const char *value, size_t size, void *ctx);

// The engine's way to the metadata service (TransferEngineMetadataClient). Each function begins a
// request and returns 0; then it calls fn once, in an event of the engine's host. Or it returns a
// negative sim_err_t and never calls fn.
typedef struct app_mooncake_metadata_client {
    int (*put)(void *client, const char *key, const char *value, size_t size,
               app_mooncake_value_fn fn, void *ctx);
    int (*get)(void *client, const char *key, app_mooncake_value_fn fn, void *ctx);
    int (*remove)(void *client, const char *key, app_mooncake_value_fn fn, void *ctx);
    void *client; // first argument of these functions
} app_mooncake_metadata_client_t;
// Gives an engine another client than that of the cluster's metadata node, before the run.
void app_mooncake_set_metadata_client(app_mooncake_t *engine,
                                      const app_mooncake_metadata_client_t *client);
// Returns the client of the cluster's metadata node, for an engine's host. A program's own client
// may pass requests on to it.
app_mooncake_metadata_client_t app_mooncake_metadata_client(app_mooncake_t *engine);

typedef void (*app_mooncake_desc_fn)(int result,
                                     const app_mooncake_segment_desc_t *desc, // NULL: none
                                     void *ctx);
// Write, read and remove the record mooncake/[server_name] (updateSegmentDesc, getSegmentDesc,
// removeSegmentDesc). They return 0, and fn (may be NULL) gets the result; or a negative number,
// and fn is not called: the engine is closed, the name is empty, or a buffer of desc does not have
// one rkey per device. An engine writes its own record again when its buffers change.
int app_mooncake_update_segment_desc(app_mooncake_t *engine, const char *server_name,
                                     const app_mooncake_segment_desc_t *desc,
                                     app_mooncake_done_fn fn, void *ctx);
int app_mooncake_get_segment_desc(app_mooncake_t *engine, const char *server_name,
                                  app_mooncake_desc_fn fn, void *ctx);
int app_mooncake_remove_segment_desc(app_mooncake_t *engine, const char *server_name,
                                     app_mooncake_done_fn fn, void *ctx);
// Returns the description of the engine's own segment, with lkeys. The caller destroys it.
app_mooncake_segment_desc_t *app_mooncake_local_segment_desc(const app_mooncake_t *engine);

// Allocates a batch for batch_size entries (1 to 2^20). Returns a negative number if it is out of
// range.
app_mooncake_batch_id_t app_mooncake_allocate_batch_id(app_mooncake_t *engine, uint64_t batch_size);
// Submits transfers. Returns a negative number, and takes none, if there is no such batch or it has
// too few free entries.
int app_mooncake_submit_transfer(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                                 const app_mooncake_request_t *entries, size_t count);
// Returns how many entries have been submitted, and writes the first status_count of their
// statuses. Negative: there is no such batch.
int64_t app_mooncake_get_transfer_status(const app_mooncake_t *engine,
                                         app_mooncake_batch_id_t batch_id,
                                         app_mooncake_status_t *status, size_t status_count);
// Frees a batch. Returns a negative number while an entry is PENDING or WAITING.
int app_mooncake_free_batch_id(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id);
// Cancels an entry: it ends CANCELED; slices that are in flight may still arrive. Returns a
// negative number if there is no such entry or it has ended.
int app_mooncake_cancel_transfer(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                                 size_t index);
// Calls fn once, when no entry submitted so far is PENDING or WAITING any more, perhaps before this
// function returns. Returns a negative number if there is no such batch.
int app_mooncake_on_transfers(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                              app_mooncake_batch_fn fn, void *ctx);
// Calls fn like app_mooncake_on_transfers, but after the arrived data has been verified where the
// engine verifies: for WRITEs one round trip later. Until then nobody should write to the same
// memory. If both callbacks are set, this one comes second. Either may free the batch.
int app_mooncake_on_batch(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                          app_mooncake_batch_fn fn, void *ctx);

// Allocates a batch for exactly these entries and submits them (allocateBatchID and
// submitTransfer). Returns the batch, or a negative number.
app_mooncake_batch_id_t app_mooncake_submit(app_mooncake_t *engine,
                                            const app_mooncake_request_t *entries, size_t count);
// Returns the same as app_mooncake_get_transfer_status, and frees the batch if no entry is PENDING
// or WAITING; *freed says whether it did.
int64_t app_mooncake_get_status(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                                app_mooncake_status_t *status, size_t status_count, bool *freed);

// -- storage nodes

// Serves a file as an NVMe-oF segment of its name from now on. All files of a host lie on one
// drive, which the first of them describes; for others `drive` is NULL or the same. Returns 0, or a
// negative number: the engine already has a file of that name, the host's drive is another one, or
// the host has 60 files.
int app_mooncake_serve_file(app_mooncake_t *engine, const char *file_name, uint64_t length,
                            const app_mooncake_drive_config_t *drive, app_mooncake_done_fn fn,
                            void *ctx);

// -- inspection

typedef enum app_mooncake_endpoint_state {
    APP_MOONCAKE_INITIALIZING, // queue pairs exist, no peer
    APP_MOONCAKE_UNCONNECTED,  // disconnected, or a handshake is in progress
    APP_MOONCAKE_CONNECTED,
} app_mooncake_endpoint_state_t;
// Returns in `state` the state of the endpoint from a NIC of the engine to "server@nic". False:
// there has been no such endpoint.
bool app_mooncake_endpoint_state(const app_mooncake_t *engine, uint32_t nic,
                                 const char *peer_nic_path, app_mooncake_endpoint_state_t *state);
// Disconnects an endpoint, as a program's disconnect() does: slices in flight are lost and retried
// after another handshake. Returns a negative number if there is no such endpoint.
int app_mooncake_disconnect(app_mooncake_t *engine, uint32_t nic, const char *peer_nic_path);

// Connects the endpoint from a NIC of the engine to "server@nic" without waiting for a slice
// (setupConnectionsByActive). Returns 0, and fn (may be NULL) gets 0 once it is CONNECTED, perhaps
// before this function returns, or a negative number when the handshake has failed. A negative
// return: the engine is closed, has no such NIC, or the path is not "server@nic". After a failure
// or a disconnect the same call sets the connection up again.
int app_mooncake_setup_connections_by_active(app_mooncake_t *engine, uint32_t nic,
                                             const char *peer_nic_path, app_mooncake_done_fn fn,
                                             void *ctx);
// Connects an endpoint to the queue pairs that the peer described (setupConnectionsByPassive), and
// describes its own in local_desc, which the caller frees by app_mooncake_handshake_desc_fini.
// Returns 0, or a negative number: as above, the peer is unknown or the own host, or the numbers of
// queue pairs differ.
int app_mooncake_setup_connections_by_passive(app_mooncake_t *engine, uint32_t nic,
                                              const app_mooncake_handshake_desc_t *peer_desc,
                                              app_mooncake_handshake_desc_t *local_desc);
// Does what the engine does when a peer's handshake arrives (onSetupRdmaConnections): finds its NIC
// by peer_desc->peer_nic_path, and sets its connection up passively.
int app_mooncake_on_setup_rdma_connections(app_mooncake_t *engine,
                                           const app_mooncake_handshake_desc_t *peer_desc,
                                           app_mooncake_handshake_desc_t *local_desc);

typedef struct app_mooncake_counters {
    uint64_t requests;  // submitted
    uint64_t completed; // the next five count requests by their final status
    uint64_t failed;
    uint64_t timed_out;
    uint64_t canceled;
    uint64_t invalid;
    uint64_t bytes;      // of completed requests
    uint64_t slices;     // slices posted, retries included
    uint64_t retried;    // slices that were retried
    uint64_t handshakes; // successful handshakes, active and passive
    uint64_t handshakes_failed;
    uint64_t endpoints_evicted;
    uint64_t endpoints_disconnected;
    uint64_t rails_paused;
    uint64_t metadata_requests;
    uint64_t metadata_failures;
    uint64_t verified_bytes;
    uint64_t unverified_bytes; // bytes of completed transfers that are not the bytes sent
    uint64_t file_operations;  // file operations served
    uint64_t copied_bytes;     // bytes of completed copies within the engine's host
} app_mooncake_counters_t;
const app_mooncake_counters_t *app_mooncake_get_counters(const app_mooncake_t *engine);
// Returns the payload bytes of completed slices that a NIC carried.
uint64_t app_mooncake_nic_bytes(const app_mooncake_t *engine, uint32_t nic);
const char *app_mooncake_name(const app_mooncake_t *engine);
net_node_t *app_mooncake_host(const app_mooncake_t *engine);
net_node_t *app_mooncake_host_of(const app_mooncake_cluster_t *cluster, const char *server_name);

SIM_C_END

#endif // APPS_MOONCAKE_H
