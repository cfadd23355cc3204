// SPDX-License-Identifier: Apache-2.0
// apps/herd/herd_internal.h - HERD as an application: clients, workers, and the layout of memory.
//
// A client writes a request into the slot (worker, client, window slot) of a server's request
// region. The worker that polls it runs the store and answers by a datagram with the immediate
// worker << 16 | slot. Requests and answers are bytes in the hosts' memories (nic/memory.h). The
// NIC also shows a worker, by `ready`, which slots hold new requests; this only saves reading
// unchanged slots.
//
// Only events of its machine touch a client's state, only events of its server a worker's.
#ifndef APPS_HERD_HERD_INTERNAL_H
#define APPS_HERD_HERD_INTERNAL_H

#include "apps/herd/draw.h"
#include "apps/herd/mica.h"
#include "apps/herd/series.h"
#include "apps/herd/table.h"
#include "apps/machine_internal.h"
#include "kernel/statistics.h"
#include "nic/memory.h"

#define APP__HERD_POSTLIST_MAX 128u
#define APP__HERD_SEND_DEPTH 128u // HRD_Q_DEPTH of the benchmark
#define APP__HERD_NONE UINT32_MAX
// Maximum number of bytes that a GET's READs bring: six places, and a value after them.
#define APP__HERD_READ_MAX 8192u

typedef enum { APP__HERD_GUIDE, APP__HERD_PUBLIC, APP__HERD_2014 } app__herd_preset_t;
// HERD; a store read by one-sided READs; or no store at all (echo).
typedef enum {
    APP__HERD_HERD,
    APP__HERD_PILAF,
    APP__HERD_FARM,
    APP__HERD_FARM_VAR,
    APP__HERD_ECHO,
} app__herd_system_t;
typedef enum { APP__HERD_MICA, APP__HERD_MODEL } app__herd_service_t;
// Ways of requests and answers; auto: that of the preset or system.
typedef enum {
    APP__HERD_BY_AUTO,
    APP__HERD_BY_WRITE_UC,
    APP__HERD_BY_WRITE_RC,
    APP__HERD_BY_SEND,    // SEND of datagrams
    APP__HERD_BY_SEND_RC, // SEND over the connection of client and server
} app__herd_by_t;
static inline bool app__herd_sends(uint32_t by)
{
    return by >= APP__HERD_BY_SEND;
}
static inline bool app__herd_is_reliable(uint32_t by)
{
    return by == APP__HERD_BY_WRITE_RC || by == APP__HERD_BY_SEND_RC;
}
typedef enum { APP__HERD_PER_AUTO, APP__HERD_PER_WORKER, APP__HERD_PER_CLIENT } app__herd_per_t;
typedef enum {
    APP__HERD_GATE_AUTO,
    // only after each window of sends: takes the answers that are there, at most a window a look,
    // and stays until all requests of the next window have free slots
    APP__HERD_GATE_STRICT,
    // after each window of sends, without waiting; and whenever a full ring stops the client
    APP__HERD_GATE_RING,
    APP__HERD_GATE_ALL,  // after each window of sends: waits until all are answered
    APP__HERD_GATE_EACH, // polls whenever the window is full
} app__herd_gate_t;

typedef enum { APP__HERD_DRAWS_FIXED, APP__HERD_DRAWS_SEED } app__herd_draws_t;

// The service model's time of a batch by its size, linear between the rows (docs/models/herd.md).
#define APP__HERD_BATCH_ROWS 16u
typedef struct app__herd_batch_row {
    uint64_t size;
    sim_time_t time_ps;
} app__herd_batch_row_t;
typedef struct app__herd_batch_table {
    app__herd_batch_row_t rows[APP__HERD_BATCH_ROWS];
    uint32_t count; // 0: no table
} app__herd_batch_table_t;

typedef struct app__herd_config {
    char *server;
    char *clients_on;
    uint32_t preset;
    uint32_t system;
    uint32_t service;
    uint32_t request;
    uint32_t answer;
    uint64_t workers;
    uint64_t clients;
    uint64_t window;
    uint32_t window_per;
    uint32_t gate;
    uint64_t postlist;
    bool list;
    uint64_t ports;
    uint64_t qps_per_port;
    uint64_t unsignaled;
    bool signal_all;
    uint64_t update_percentage;
    uint64_t get_head;
    uint64_t put_answer;
    uint64_t key_bytes;
    uint64_t value_bytes;
    uint64_t keys;
    sim_ratio_t skew;
    bool permute;
    uint32_t draws;
    bool by_key;
    uint64_t buckets;
    uint64_t log_bytes;
    uint64_t inline_max;
    bool verify;
    bool log;
    sim_time_t series_ps;
    uint64_t requests;
    sim_time_t interval_ps;
    sim_time_t timeout_ps;
    uint64_t retries;
    uint64_t pipeline;
    bool prefetch;
    uint64_t extra_accesses;
    sim_time_t look_ps;
    uint64_t look_back;
    sim_time_t request_ps;
    uint64_t overlap;
    sim_time_t operation_ps;
    sim_time_t memory_ps;
    uint64_t overlapped;
    uint64_t failed_polls;
    sim_time_t check_ps;
    sim_time_t model_base_ps;
    sim_time_t model_get_ps;
    sim_time_t model_put_ps;
    sim_time_t model_batch_ps;
    char *model_batch_table; // text of batch_table
    sim_ratio_t model_hit;
    app__span_t span;
    app__herd_batch_table_t batch_table; // of model_batch_table, from app__herd_resolve
} app__herd_config_t;

extern const sim_attr_table_t app__herd_attrs;
// Fills in the values of the preset and the system. SIM_ERR_RANGE: values contradict each other.
SIM_MUST_CHECK sim_err_t app__herd_resolve(app__herd_config_t *config, sim_message_t *message);
// Reads a table "SIZE TIME, SIZE TIME, ..." with sizes that rise from 1 to at least postlist.
SIM_MUST_CHECK sim_err_t app__herd_read_batch_table(const char *text, uint64_t postlist,
                                                    app__herd_batch_table_t *table,
                                                    sim_message_t *message);
// Returns the time of a batch of `size` requests, from 1 to the table's last size.
sim_time_t app__herd_batch_ps(const app__herd_batch_table_t *table, uint64_t size);

// Returns whether clients keep the strict gate. Open arrivals have no windows of sends: a client
// looks for answers whenever it has nothing to send.
static inline bool app__herd_is_strict(const app__herd_config_t *config)
{
    return config->gate == APP__HERD_GATE_STRICT && config->interval_ps == 0;
}

// Returns the largest value; sizes that depend on the key go up to 46 bytes.
static inline uint64_t app__herd_longest_value(const app__herd_config_t *config)
{
    return config->value_bytes == 0 ? APP_HERD_SMALL_VALUE_MAX : config->value_bytes;
}

typedef struct app__herd app__herd_t;

typedef enum {
    APP__HERD_OP_FREE,
    APP__HERD_OP_WAITING,
    APP__HERD_OP_LINGERING, // answered after a retry: late answers may still come
    APP__HERD_OP_ABANDONED, // given up while its READ is in flight; the READ's completion frees it
} app__herd_state_t;

// An operation of a client in a window slot.
typedef struct app__herd_op {
    sim_time_t start_ps; // it was first sent, or it arrived
    sim_time_t sent_ps;  // it was last sent
    uint32_t key;
    uint32_t stamp;
    uint32_t next; // list in order of sent_ps; APP__HERD_NONE: the last
    uint32_t previous;
    uint16_t tries;
    uint16_t reads; // READs done of a chain
    uint8_t state;  // app__herd_state_t
    uint8_t probes; // pilaf: buckets that did not hold the key
    uint8_t stage;  // purpose of the last READ
    bool put;
    bool by_read;
    bool measured;
} app__herd_op_t;

typedef struct app__herd_draw {
    uint32_t key;
    uint16_t worker;
    bool put;
} app__herd_draw_t;

// A row of the log of operations, for flows.csv.
typedef struct app__herd_record {
    sim_time_t start_ps;
    sim_time_t end_ps; // NEVER: given up
    uint32_t key;
    uint16_t worker;
    uint16_t request_bytes;
    uint16_t answer_bytes;
    uint8_t tries;
    bool put;
    bool hit;
} app__herd_record_t;

typedef struct app__herd_client {
    app__thread_t thread;
    app__herd_t *herd;
    uint32_t index;
    uint64_t memory_address; // of its part of the machine's region
    nic_memory_t *memory;
    nic_cq_t *cq;
    nic_cq_t *sends_cq;     // of requests; the same as cq unless the gate is strict
    nic_qp_t **request_qps; // by server
    nic_qp_t **read_qps;    // by server; NULL: the client does not READ
    nic_qp_t *datagrams;    // for answers, and requests by SEND; NULL: not used
    uint64_t seed;
    sim_random_t random;
    app__herd_draw_t *draws;
    uint32_t draw_count;
    uint32_t draw_next;
    uint32_t chunk;
    uint64_t drawn;
    app__herd_op_t *ops; // by worker, then slot
    uint32_t *ring;      // next slot at each worker
    uint32_t *ahead; // strict gate: slots at each worker that the next window was found free for
    uint32_t found;  // strict gate: requests of the next window whose slots were found free
    uint32_t first;  // list of waiting and lingering operations, by the time they were sent
    uint32_t last;
    sim_timer_t timer; // timeout of the first operation in the list
    sim_timer_t arrival_timer;
    bool due;
    bool gate_due;
    bool stopped_asking; // a queue pair failed
    sim_time_t arrival_ps;
    uint32_t outstanding;
    uint64_t posted;   // requests posted, to decide which are signaled
    uint64_t signaled; // signaled requests that are not polled yet
    uint32_t receives_used;
    uint32_t *free_receives;
    uint32_t *arrived; // operations with answers by WRITE that are not looked at yet
    uint32_t arrived_count;
    uint64_t sent;
    uint64_t answered;
    uint64_t outside_gates; // answers taken at looks between two gates
    uint64_t looks;         // within the span: looks that found answers
    uint64_t waiting_sum;   // answers that waited at these looks
    uint64_t waiting_max;
    uint64_t gets;
    uint64_t puts;
    uint64_t hits;
    uint64_t lost;
    uint64_t retried;
    uint64_t duplicates;
    uint64_t wrong;
    uint64_t reads;
    uint64_t reads_again; // READs repeated because data was torn
    uint64_t request_bytes;
    uint64_t answer_bytes;
    sim_time_t last_ps; // time of the last answer
    sim_sample_set_t latencies;
    app__herd_record_t *records;
    size_t record_count;
    size_t record_capacity;
    app__herd_bins_t series;
    app__herd_counts_t answer_sizes;
} app__herd_client_t;

// A client's queue pair at a server.
typedef struct app__herd_peer {
    app__herd_t *herd;
    uint32_t server;
    uint32_t client;
    nic_qp_t *qp;
    uint32_t answers; // posted on qp, modulo 2^32
} app__herd_peer_t;

typedef struct app__herd_call {
    uint32_t client;
    uint32_t slot;
    uint32_t receive; // by SEND: the buffer of the request
    uint64_t address; // of the request
    bool put;
    bool hit;
    uint32_t answer_bytes;
    uint64_t answer_address;
} app__herd_call_t;

// A stage of the pipeline: requests whose next memory access is being prefetched.
typedef struct app__herd_stage {
    app__herd_call_t calls[APP__HERD_POSTLIST_MAX];
    uint32_t count;
} app__herd_stage_t;

typedef struct app__herd_worker {
    app__thread_t thread;
    app__herd_t *herd;
    uint32_t server;
    uint32_t index; // among the server's workers
    uint32_t id;    // among all workers
    nic_memory_t *memory;
    app_mica_t *mica;
    nic_qp_t **qps;        // ports x qps_per_port
    nic_cq_t **cqs;        // one per QP
    uint64_t *posted;      // per QP, including answers that are only collected
    uint64_t *answered;    // per QP
    nic_qp_t *requests;    // receives requests by datagrams; NULL: not used
    nic_cq_t *requests_cq; // for requests by SEND; NULL: requests come by WRITE
    uint32_t next_qp;
    uint32_t next_client;
    uint32_t next_answer; // next answer buffer
    uint8_t *ready;       // by client, then slot
    uint32_t *ready_count;
    uint32_t *expected;
    uint32_t *passed; // per client: looks at an empty expected slot while other slots held requests
    uint64_t ready_total;
    app__herd_call_t calls[APP__HERD_POSTLIST_MAX];
    uint32_t call_count;
    uint32_t room;             // for calls in this turn
    app__herd_stage_t *stages; // stages of the pipeline, a ring
    uint32_t oldest_stage;     // stage whose requests leave the pipeline next
    uint32_t held_count;       // requests in all stages
    uint32_t failed;           // polls since the last request was taken
    uint32_t looked;           // clients looked at in this turn
    bool waits;                // waits for a completion of QP waits_for
    uint32_t waits_for;
    uint64_t waited;
    uint64_t unsent; // answers that could not be sent
    uint64_t gets;
    uint64_t puts;
    uint64_t hits;
    uint64_t malformed;
    uint64_t turns; // within the span
    uint64_t taken;
    uint64_t queue_sum;
    uint64_t queue_max;
    uint64_t lists;
    uint64_t listed;
    uint64_t send_sum; // over these lists: answers in the send queue after posting
    uint64_t send_max;
    app__herd_bins_t series;
    sim_time_t busy_seen_ps;    // busy time of its core that the series already contains
    app__herd_counts_t batches; // turns by number of requests taken
    uint64_t looked_back;       // requests found in slots that were not expected next
} app__herd_worker_t;

// A server whose memory shows its workers' stores.
typedef struct app__herd_shown {
    const app__herd_t *herd;
    uint32_t server;
} app__herd_shown_t;

struct app__herd {
    app_t app;                 // first
    app__herd_config_t config; // resolved; its strings are not kept
    uint32_t server_count;
    uint32_t worker_count; // per server
    uint32_t client_count;
    uint32_t window;
    uint32_t ops_per_client;
    uint32_t receives;      // per client; over connections taken from each server's in turn
    uint32_t receive_bytes; // bytes per receive
    uint32_t slot_bytes;    // bytes per slot of the request region
    uint32_t answer_slot_bytes;
    uint32_t value_bytes; // 0: depends on the key
    uint32_t key_count;
    uint32_t skew_permille;
    uint64_t first_seed; // of all clients' draws and orders of keys
    bool large;
    bool reads;                          // GETs are READs
    uint32_t read_bytes;                 // maximum number of bytes of a GET's READs
    app_herd_table_image_t *table_image; // data that GETs read; NULL: GETs are not READs
    app_herd_table_t **tables;           // by server
    app__herd_shown_t *shown; // by server: makes its workers' stores visible in its memory
    uint64_t memory_address;  // of the region on each machine
    nic_cq_t **unused_cqs;    // by server: for queue pairs that nobody polls
    app__machine_t *machines; // servers first
    uint32_t machine_count;
    uint64_t *pcie_seen; // by server: PCIe bytes that the series already contains
    app__herd_worker_t *workers;
    app__herd_client_t *clients;
    app__herd_peer_t *peers; // by server, then client
    app_mica_config_t mica_config;
    app_mica_image_t *image;
    app_herd_zipf_t *zipf;
};

// -- layout of a machine's region

static inline uint64_t app__herd_slot_address(const app__herd_t *herd,
                                              uint32_t worker, // index at its server
                                              uint32_t client, uint32_t slot)
{
    const uint64_t number = ((uint64_t)worker * herd->client_count + client) * herd->window + slot;
    return herd->memory_address + number * herd->slot_bytes;
}
// A server's region has, after its request slots: answers of each worker, requests received by
// SEND, and the table that READs go to.
uint64_t app__herd_answers_address(const app__herd_t *herd, uint32_t worker, uint32_t buffer);
uint32_t app__herd_answer_buffers(const app__herd_t *herd);
uint64_t app__herd_received_address(const app__herd_t *herd, uint32_t worker, uint32_t buffer);
uint64_t app__herd_table_address(const app__herd_t *herd);
uint64_t app__herd_store_bytes(const app__herd_t *herd); // per worker, in that region; 0: none
uint64_t app__herd_server_bytes(const app__herd_t *herd);
// A client's part has requests, received answers, answers written by WRITE, and data that READs
// brought.
uint64_t app__herd_client_bytes(const app__herd_t *herd);
static inline uint64_t app__herd_request_address(const app__herd_client_t *client, uint32_t op)
{
    return client->memory_address + (uint64_t)op * client->herd->slot_bytes;
}
static inline uint64_t app__herd_receive_address(const app__herd_client_t *client, uint32_t buffer)
{
    const app__herd_t *const herd = client->herd;
    return client->memory_address + (uint64_t)herd->ops_per_client * herd->slot_bytes +
           (uint64_t)buffer * herd->receive_bytes;
}
static inline uint64_t app__herd_answer_slot_address(const app__herd_client_t *client, uint32_t op)
{
    const app__herd_t *const herd = client->herd;
    return app__herd_receive_address(client, herd->receives) +
           (uint64_t)op * herd->answer_slot_bytes;
}
static inline uint64_t app__herd_read_address(const app__herd_client_t *client, uint32_t op)
{
    const app__herd_t *const herd = client->herd;
    return app__herd_answer_slot_address(client, herd->ops_per_client) +
           (uint64_t)op * herd->read_bytes;
}

static inline uint32_t app__herd_value_bytes(const app__herd_t *herd, app_city128_t key)
{
    return herd->value_bytes != 0 ? herd->value_bytes : app_herd_value_length(key);
}
// Returns the bytes of an answer. The answer to a GET that missed is empty.
static inline uint32_t app__herd_answer_bytes(const app__herd_t *herd, bool put, bool hit,
                                              uint32_t value_bytes)
{
    const app__herd_config_t *const config = &herd->config;
    return put ? (uint32_t)config->put_answer
               : app_herd_answer_bytes(true, hit, value_bytes + (uint32_t)config->get_head);
}
static inline bool app__herd_measured(const app__herd_t *herd, sim_time_t now_ps)
{
    return now_ps >= app__span_begin(&herd->config.span) &&
           now_ps < app__span_end(&herd->config.span);
}

// -- client.c, read.c
// Draws the next chunk of operations; the first chunk is drawn before the run.
void app__herd_draw_chunk(app__herd_client_t *client);
bool app__herd_ask(nic_core_t *core, void *client);
void app__herd_timeout(sim_node_t *node, sim_timer_t *timer);
void app__herd_arrival(sim_node_t *node, sim_timer_t *timer);
void app__herd_client_stopped(app__thread_t *thread);
void app__herd_first_receives(app__herd_client_t *client);
// Handles an answer of `bytes` bytes at an address of the client's memory (0: nothing was written).
void app__herd_answered(app__herd_client_t *client, uint32_t op, uint32_t bytes, uint64_t address);
// Posts the next READ of an operation. Returns false if the chain is over: *value_address is where
// the value lies, or 0 if the key is not in the store.
bool app__herd_read_on(app__herd_client_t *client, uint32_t op, uint64_t *value_address);

// -- worker.c
bool app__herd_work(nic_core_t *core, void *worker);
// Notes a request that arrived by WRITE in a slot.
void app__herd_written(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *peer);
void app__herd_post_requests_receives(app__herd_worker_t *worker, uint32_t first, uint32_t count);

// -- report.c
extern const sim_report_table_t app__herd_report;
void app__herd_flows(const app_t *app, app_flow_fn fn, void *ctx);
void app__herd_progress(const app_t *app, uint64_t *done, uint64_t *planned);
void app__herd_carry(app_t *app, sim_carry_t *carry);

// -- notes.c

// Warns of a timeout that is longer than the measured time, or shorter than a round trip.
void app__herd_tell(const app__herd_t *herd, const app_context_t *context);

#endif // APPS_HERD_HERD_INTERNAL_H
