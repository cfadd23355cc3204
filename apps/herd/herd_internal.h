// SPDX-License-Identifier: Apache-2.0
// apps/herd/herd_internal.h - HERD as an application: clients, workers, what lies where in memory.
//
// A client writes a request into the slot of (worker, client, window slot) in a server's request
// region; the worker that polls it runs the store and answers by a datagram whose immediate is
// worker << 16 | slot. Requests and answers are bytes in the hosts' memories (nic/memory.h). What a
// worker knows besides is `ready`: which slots hold a request it has not taken, told by the NIC at
// the moment the bytes are there; looking into 64-byte slots that did not change is what it saves.
//
// A client's state is touched by events of its machine alone, a worker's by those of its server.
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
// What a GET's READs bring at most: six places, and a value behind them.
#define APP__HERD_READ_MAX 8192u

typedef enum { APP__HERD_GUIDE, APP__HERD_PUBLIC, APP__HERD_2014 } app__herd_preset_t;
// HERD, a store read by one-sided READs, or no store at all.
typedef enum {
    APP__HERD_HERD,
    APP__HERD_PILAF,
    APP__HERD_FARM,
    APP__HERD_FARM_VAR,
    APP__HERD_ECHO,
} app__herd_system_t;
typedef enum { APP__HERD_MICA, APP__HERD_MODEL } app__herd_service_t;
// auto: the preset's, or what the system uses
typedef enum {
    APP__HERD_BY_AUTO,
    APP__HERD_BY_WRITE_UC,
    APP__HERD_BY_WRITE_RC,
    APP__HERD_BY_SEND,    // datagrams
    APP__HERD_BY_SEND_RC, // over the connection of client and server
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
    APP__HERD_GATE_POLL, // every window sends: takes what is there, a window at most
    APP__HERD_GATE_ALL,  // every window sends: waits until all are answered
    APP__HERD_GATE_EACH, // whenever the window is full
} app__herd_gate_t;

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
    sim_ratio_t model_hit;
    app__span_t span;
} app__herd_config_t;

extern const sim_attr_table_t app__herd_attrs;
// Fills in what the preset and the system say. SIM_ERR_RANGE: values that do not go together.
SIM_MUST_CHECK sim_err_t app__herd_resolve(app__herd_config_t *config, sim_message_t *message);

typedef struct app__herd app__herd_t;

typedef enum {
    APP__HERD_OP_FREE,
    APP__HERD_OP_WAITING,
    APP__HERD_OP_LINGERING, // answered after it was written again: late answers may come
    APP__HERD_OP_ABANDONED, // given up while a READ of it is out, whose completion frees it
} app__herd_state_t;

// What a client has in a window slot.
typedef struct app__herd_op {
    sim_time_t start_ps; // it was sent first, or arrived
    sim_time_t sent_ps;  // it was sent last
    uint32_t key;
    uint32_t stamp;
    uint32_t next; // in order of sent_ps; APP__HERD_NONE: the last
    uint32_t previous;
    uint16_t tries;
    uint16_t reads; // done of a chain
    uint8_t state;  // app__herd_state_t
    uint8_t probes; // pilaf: buckets that did not have it
    uint8_t stage;  // what the last READ was for
    bool put;
    bool by_read;
    bool measured;
} app__herd_op_t;

typedef struct app__herd_draw {
    uint32_t key;
    uint16_t worker;
    bool put;
} app__herd_draw_t;

// A row of the log of operations.
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
    nic_qp_t **request_qps; // by server
    nic_qp_t **read_qps;    // by server; NULL: it does not read
    nic_qp_t *datagrams;    // answers, and requests by SEND; NULL: none
    uint64_t seed;
    sim_random_t random;
    app__herd_draw_t *draws;
    uint32_t draw_count;
    uint32_t draw_next;
    uint32_t chunk;
    uint64_t drawn;
    app__herd_op_t *ops; // by worker, then slot
    uint32_t *ring;      // next slot of each worker
    uint32_t first;      // waiting or lingering, by the time they were sent
    uint32_t last;
    sim_timer_t timer; // the first one's timeout
    sim_timer_t arrival_timer;
    bool due;
    bool gate_due;
    bool stopped_asking; // a queue pair failed
    sim_time_t arrival_ps;
    uint32_t outstanding;
    uint64_t posted;   // requests, for signals
    uint64_t signaled; // posted and not polled yet
    uint32_t receives_used;
    uint32_t *free_receives;
    uint32_t *arrived; // answers by WRITE that were not looked at: ops
    uint32_t arrived_count;
    uint64_t sent;
    uint64_t answered;
    uint64_t gets;
    uint64_t puts;
    uint64_t hits;
    uint64_t lost;
    uint64_t retried;
    uint64_t duplicates;
    uint64_t wrong;
    uint64_t reads;
    uint64_t reads_again; // of them, because something was torn
    uint64_t request_bytes;
    uint64_t answer_bytes;
    sim_time_t last_ps; // of its answers
    sim_sample_set_t latencies;
    app__herd_record_t *records;
    size_t record_count;
    size_t record_capacity;
    app__herd_bins_t series;
    app__herd_counts_t answer_sizes;
} app__herd_client_t;

// The server's end of a client.
typedef struct app__herd_peer {
    app__herd_t *herd;
    uint32_t server;
    uint32_t client;
    nic_qp_t *qp;
} app__herd_peer_t;

typedef struct app__herd_call {
    uint32_t client;
    uint32_t slot;
    uint32_t receive; // by SEND: the buffer it is in
    uint64_t address; // of the request
    bool put;
    bool hit;
    uint32_t answer_bytes;
    uint64_t answer_address;
} app__herd_call_t;

// Requests in the pipeline: what they need next from memory is on its way.
typedef struct app__herd_stage {
    app__herd_call_t calls[APP__HERD_POSTLIST_MAX];
    uint32_t count;
} app__herd_stage_t;

typedef struct app__herd_worker {
    app__thread_t thread;
    app__herd_t *herd;
    uint32_t server;
    uint32_t index; // of the server's
    uint32_t id;    // of all
    nic_memory_t *memory;
    app_mica_t *mica;
    nic_qp_t **qps;        // ports x qps_per_port
    nic_cq_t **cqs;        // one each
    uint64_t *posted;      // of each, with those that were only taken
    uint64_t *answered;    // of each
    nic_qp_t *requests;    // by datagrams; NULL: by WRITE, or the clients' connections
    nic_cq_t *requests_cq; // by SEND; NULL: by WRITE
    uint32_t next_qp;
    uint32_t next_client;
    uint32_t next_answer; // buffer
    uint8_t *ready;       // by client, then slot
    uint32_t *ready_count;
    uint32_t *expected;
    uint32_t *passed; // looks at a client whose expected slot was empty while others were not
    uint64_t ready_total;
    app__herd_call_t calls[APP__HERD_POSTLIST_MAX];
    uint32_t call_count;
    uint32_t room;             // for calls in this turn
    app__herd_stage_t *stages; // of the pipeline, a ring
    uint32_t oldest_stage;     // whose requests come out next
    uint32_t held_count;       // in all of them
    uint32_t failed;           // polls since a request was taken
    uint32_t looked;           // clients in this turn
    bool waits;                // for a completion of the queue pair
    uint32_t waits_for;
    uint64_t waited;
    uint64_t unsent; // answers
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
    app__herd_bins_t series;
    sim_time_t busy_seen_ps;    // of its core, in the series
    app__herd_counts_t batches; // turns by the requests taken
    uint64_t looked_back;       // requests found in slots that were not expected
} app__herd_worker_t;

typedef struct app__herd_shown {
    const app__herd_t *herd;
    uint32_t server;
} app__herd_shown_t;

struct app__herd {
    app_t app;                 // first
    app__herd_config_t config; // resolved; strings are not kept
    uint32_t server_count;
    uint32_t worker_count; // of a server
    uint32_t client_count;
    uint32_t window;
    uint32_t ops_per_client;
    uint32_t receives;      // of a client; over connections taken from each server's in turn
    uint32_t receive_bytes; // of each
    uint32_t slot_bytes;    // of the request region
    uint32_t answer_slot_bytes;
    uint32_t value_bytes; // 0: by the key
    uint32_t key_count;
    uint32_t skew_permille;
    bool large;
    bool reads;                          // GETs are READs
    uint32_t read_bytes;                 // that a GET's READs bring at most
    app_herd_table_image_t *table_image; // what they read; NULL: GETs are not READs
    app_herd_table_t **tables;           // by server
    app__herd_shown_t *shown;            // likewise: what its memory shows of its workers' stores
    uint64_t memory_address;             // of the region on each machine
    nic_cq_t **unused_cqs;               // by server, of queue pairs that nobody polls
    app__machine_t *machines;            // servers first
    uint32_t machine_count;
    uint64_t *pcie_seen; // by server: bytes over its PCIe, in the series
    app__herd_worker_t *workers;
    app__herd_client_t *clients;
    app__herd_peer_t *peers; // by server, then client
    app_mica_config_t mica_config;
    app_mica_image_t *image;
    app_herd_zipf_t *zipf;
};

// -- where things lie in a machine's region

static inline uint64_t app__herd_slot_address(const app__herd_t *herd,
                                              uint32_t worker, // of its server
                                              uint32_t client,
                                              uint32_t slot)
{
    const uint64_t number = ((uint64_t)worker * herd->client_count + client) * herd->window + slot;
    return herd->memory_address + number * herd->slot_bytes;
}
// Behind the request region of a server: answers of each worker, then requests that come by SEND,
// then what READs go to.
uint64_t app__herd_answers_address(const app__herd_t *herd, uint32_t worker, uint32_t buffer);
uint32_t app__herd_answer_buffers(const app__herd_t *herd);
uint64_t app__herd_received_address(const app__herd_t *herd, uint32_t worker, uint32_t buffer);
uint64_t app__herd_table_address(const app__herd_t *herd);
uint64_t app__herd_store_bytes(const app__herd_t *herd); // of each worker's, there; 0: none
uint64_t app__herd_server_bytes(const app__herd_t *herd);
// A client's part: requests, answers received, answers written, what READs brought.
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
// Of an answer: GETs that missed say nothing.
static inline uint32_t app__herd_answer_bytes(const app__herd_t *herd,
                                              bool put,
                                              bool hit,
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
// The next operations, many at once: the first time before the run.
void app__herd_draw_chunk(app__herd_client_t *client);
bool app__herd_ask(nic_core_t *core, void *client);
void app__herd_timeout(sim_node_t *node, sim_timer_t *timer);
void app__herd_arrival(sim_node_t *node, sim_timer_t *timer);
void app__herd_client_stopped(app__thread_t *thread);
void app__herd_first_receives(app__herd_client_t *client);
// An answer of so many bytes at an address of the client's memory (0: none was written).
void app__herd_answered(app__herd_client_t *client, uint32_t op, uint32_t bytes, uint64_t address);
// The next READ of an operation. False: that was the last one, and the value lies there, or the key
// is not in the store: 0.
bool app__herd_read_on(app__herd_client_t *client, uint32_t op, uint64_t *value_address);

// -- worker.c
bool app__herd_work(nic_core_t *core, void *worker);
// A request by WRITE lies in a slot.
void app__herd_written(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *peer);
void app__herd_post_requests_receives(app__herd_worker_t *worker, uint32_t first, uint32_t count);

// -- report.c
extern const sim_report_table_t app__herd_report;
void app__herd_flows(const app_t *app, app_flow_fn fn, void *ctx);
void app__herd_progress(const app_t *app, uint64_t *done, uint64_t *planned);

// -- notes.c

// Notes about a timeout that is longer than what is measured, or shorter than a round trip.
void app__herd_tell(const app__herd_t *herd, const app_context_t *context);

#endif // APPS_HERD_HERD_INTERNAL_H
