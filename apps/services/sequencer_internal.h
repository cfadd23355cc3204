// SPDX-License-Identifier: Apache-2.0
// apps/services/sequencer_internal.h - the workers and clients of the sequencer, which all of its
// versions share.
#ifndef APPS_SERVICES_SEQUENCER_INTERNAL_H
#define APPS_SERVICES_SEQUENCER_INTERNAL_H

#include "apps/machine_internal.h"

#define APP__SEQUENCER_COLLECT_MAX 128u
#define APP__SEQUENCER_SLOT_BYTES UINT64_C(64)
#define APP__SEQUENCER_POLL_MAX 64u
#define APP__SEQUENCER_SIGNAL_EVERY 64u
#define APP__SEQUENCER_SEND_DEPTH 128u // HRD_Q_DEPTH of the suite

typedef enum app__sequencer_version {
    APP__SEQUENCER_RPC,
    APP__SEQUENCER_SPEC,
    APP__SEQUENCER_FETCH_ADD,
} app__sequencer_version_t;

typedef struct app__sequencer_config {
    app__sequencer_version_t version;
    uint64_t first_number;
    sim_time_t count_ps;
    sim_time_t move_ps;
    char *server;
    char *clients_on;
    uint64_t workers;
    uint64_t clients;
    uint64_t window;
    bool post_list;
    uint64_t collect;
    uint64_t ports;
    uint64_t qps_per_port;
    uint64_t requests; // per client; SIM_AUTO: until the span is over
    sim_time_t look_ps;
    sim_time_t request_ps;
    uint64_t overlap;
    sim_time_t timeout_ps;
    app__span_t span;
} app__sequencer_config_t;

typedef struct app__sequencer app__sequencer_t;

// A request that a worker of version rpc has taken.
typedef struct app__sequencer_call {
    uint32_t client;
    uint32_t qp; // the worker's QP that the answer is sent on
    bool signaled;
    uint32_t imm; // lower half of the number
} app__sequencer_call_t;

typedef struct app__sequencer_worker {
    app__thread_t thread;
    app__sequencer_t *sequencer;
    uint32_t index;
    nic_qp_t **qps;   // rpc: ports x qps_per_port; spec: the first one receives, all send in turn
    nic_cq_t **cqs;   // of sends, one per QP
    uint64_t *posted; // per QP
    uint32_t next_qp;
    bool waits; // for a completion of QP waits_for
    uint32_t waits_for;
    uint64_t waited; // number of such waits; rpc
    uint64_t lists;  // posted lists, each a batch; rpc: within the span
    uint64_t answers;
    // Version rpc.
    uint32_t next_client;
    app__sequencer_call_t calls[APP__SEQUENCER_COLLECT_MAX]; // taken in this turn
    uint32_t call_count;
    uint32_t looked;   // slots looked at in this turn
    uint32_t *arrived; // requests that lie in slots, per client
    // Version spec.
    nic_cq_t *cq;                                   // of received requests
    nic_wc_t requests[APP__SEQUENCER_COLLECT_MAX];  // taken in this turn
    nic_send_wr_t list[APP__SEQUENCER_COLLECT_MAX]; // their responses
    uint64_t base;                                  // number of the first response
    uint32_t taken;                                 // requests
    uint32_t filled;                                // responses in the list
    uint32_t begun;                                 // responses that were posted
} app__sequencer_worker_t;

typedef struct app__sequencer_client {
    app__thread_t thread;
    app__sequencer_t *sequencer;
    uint32_t index;
    nic_cq_t *cq;
    nic_cq_t *send_cq; // spec: the client does not wait for it
    nic_qp_t *qp;
    nic_qp_t *response_qp; // rpc
    uint64_t sent;
    uint64_t answered;
    uint64_t lost;     // requests given up after the timeout
    uint64_t late;     // answers that came after the timeout; rpc
    uint32_t waiting;  // requests that wait for answers; rpc
    uint32_t receives; // receives posted and not used; rpc
    sim_timer_t timeout;
    sim_time_t heard_ps; // when it last sent or received something
    bool overdue;        // it must give up the requests it waits for
    bool held_up;        // waits for room in its send queue; spec
    // The numbers that it got. They are kept if each client makes a given number of requests.
    uint64_t *numbers;
    uint64_t number_count;
    uint64_t last;
    uint64_t backward; // numbers below the previous one
    uint64_t high;     // upper half of the number that it expects; spec
    uint64_t wrong;    // wrong guesses; spec
} app__sequencer_client_t;

// A version: the turns of its threads, and what else its threads have.
typedef struct app__sequencer_ops {
    nic_core_fn serve; // NULL: it has no workers
    nic_core_fn ask;
    void (*make_qp)(app__sequencer_worker_t *worker, uint32_t number);
    void (*make_client)(app__sequencer_client_t *client);
} app__sequencer_ops_t;
extern const app__sequencer_ops_t app__sequencer_rpc;       // sequencer_rpc.c
extern const app__sequencer_ops_t app__sequencer_spec;      // sequencer_spec.c
extern const app__sequencer_ops_t app__sequencer_fetch_add; // sequencer_spec.c

struct app__sequencer {
    app_t app; // first
    app__sequencer_config_t config;
    app__machine_t *machines; // the server's first
    uint32_t machine_count;
    app__sequencer_worker_t *workers;
    uint32_t worker_count;
    app__sequencer_client_t *clients;
    uint32_t client_count;
    uint32_t window;
    uint32_t ports;    // rpc
    uint32_t per_port; // queue pairs of a worker on each port
    uint32_t qp_count; // per worker
    uint64_t requests; // per client
    nic_cq_t *unused;  // of the server's queue pairs that never complete anything; rpc
    // The counter: a memory line that one core owns at a time. Only events of the server touch it.
    uint64_t next;
    sim_time_t free_ps;
    uint32_t owner;
};

// Takes `count` numbers in a worker's turn and returns the first. The core waits until the line is
// free and, if another core owns it, for its transfer.
uint64_t app__sequencer_take(app__sequencer_worker_t *worker, uint32_t count);
// Returns the number nearest to the last one that has this lower half. Simulated memory has no
// contents, so a response carries only half of the number.
static inline uint64_t app__sequencer_near(const app__sequencer_client_t *client, uint32_t low)
{
    return client->last + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)client->last);
}
// Counts a number that a client got.
void app__sequencer_keep(app__sequencer_client_t *client, uint64_t number);
// Polls for the completion that a worker waits for. Of SIGNAL_EVERY responses on a queue pair the
// first is signaled, and the worker waits for it before the last. So no queue overflows, and a
// worker that is ahead of the NIC stops.
bool app__sequencer_is_done(app__sequencer_worker_t *worker);

#endif // APPS_SERVICES_SEQUENCER_INTERNAL_H
