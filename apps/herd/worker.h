// SPDX-License-Identifier: Apache-2.0
// apps/herd/worker.h - a worker of a HERD server: the requests that it polls, and its store.
//
// Only events of its server touch a worker's state.
#ifndef APPS_HERD_WORKER_H
#define APPS_HERD_WORKER_H

#include "apps/herd/herd.h"
#include "apps/herd/series.h"
#include "nic/memory.h"

#define APP__HERD_POSTLIST_MAX 128u
#define APP__HERD_SEND_DEPTH 128u // HRD_Q_DEPTH of the benchmark

// A client's queue pair at a server.
struct app__herd_peer {
    app__herd_t *herd;
    uint32_t server;
    uint32_t client;
    nic_qp_t *qp;
    uint32_t answers; // posted on qp, modulo 2^32
};

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

struct app__herd_worker {
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
};

bool app__herd_work(nic_core_t *core, void *worker);
// Notes a request that arrived by WRITE in a slot.
void app__herd_written(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *peer);
void app__herd_post_requests_receives(app__herd_worker_t *worker, uint32_t first, uint32_t count);

#endif // APPS_HERD_WORKER_H
