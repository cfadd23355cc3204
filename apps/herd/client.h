// SPDX-License-Identifier: Apache-2.0
// apps/herd/client.h - a client of HERD: its operations, and the queue pairs on which it asks.
//
// Only events of its machine touch a client's state.
#ifndef APPS_HERD_CLIENT_H
#define APPS_HERD_CLIENT_H

#include "apps/herd/herd.h"
#include "apps/herd/series.h"
#include "kernel/statistics.h"
#include "nic/memory.h"

#define APP__HERD_NONE UINT32_MAX

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

struct app__herd_client {
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
};

// Draws the next chunk of operations; the first chunk is drawn before the run.
void app__herd_draw_chunk(app__herd_client_t *client);
bool app__herd_ask(nic_core_t *core, void *client);
void app__herd_timeout(sim_node_t *node, sim_timer_t *timer);
void app__herd_arrival(sim_node_t *node, sim_timer_t *timer);
void app__herd_client_stopped(app__thread_t *thread);
void app__herd_first_receives(app__herd_client_t *client);
// Posts the next READ of an operation. Returns false if the chain is over: *value_address is where
// the value lies, or 0 if the key is not in the store.
bool app__herd_read_on(app__herd_client_t *client, uint32_t op, uint64_t *value_address);

#endif // APPS_HERD_CLIENT_H
