// SPDX-License-Identifier: Apache-2.0
// apps/services/rpc_internal.h - remote procedure calls like HERD's (Kalia et al., SIGCOMM 2014;
// USENIX ATC 2016, 4.1).
//
// A client writes its request into a slot at the server by an unreliable WRITE. A worker that polls
// the slots answers by a SEND over unreliable datagrams. A request carries only the worker it is
// for, which its slot identifies; a response carries its immediate.
#ifndef APPS_SERVICES_RPC_INTERNAL_H
#define APPS_SERVICES_RPC_INTERNAL_H

#include "apps/machine_internal.h"

#define APP__RPC_COLLECT_MAX 128u
#define APP__RPC_SLOT_BYTES UINT64_C(64)

typedef struct app__rpc app__rpc_t;

typedef struct app__rpc_request {
    uint32_t worker;
    uint16_t bytes; // at most APP__RPC_SLOT_BYTES
} app__rpc_request_t;

typedef struct app__rpc_call {
    uint32_t client;
    uint32_t qp; // the worker's QP that the answer is sent on
    bool signaled;
    // The program's answer:
    uint32_t imm;
    uint32_t bytes; // 0: header only
} app__rpc_call_t;

typedef struct app__rpc_ops {
    // Returns request `index` of a client.
    app__rpc_request_t (*draw)(const app__rpc_t *rpc, uint64_t index);
    // Answers count calls, in a worker's turn, and spends its core's time for them.
    void (*serve)(app__rpc_t *rpc, uint32_t worker, app__rpc_call_t *calls, uint32_t count);
    // Handles an answer, in a client's turn.
    void (*answered)(app__rpc_t *rpc, uint32_t client, uint32_t imm);
} app__rpc_ops_t;

typedef struct app__rpc_config {
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
} app__rpc_config_t;

// clang-format off
#define APP__RPC_ATTRS(prefix, type, qps_, clients_)                                               \
    SIM_ATTR_ROW(type, STRING, prefix ".server", rpc.server, "host0", "machine of the server"), \
    SIM_ATTR_ROW(type, STRING, prefix ".clients-on", rpc.clients_on, "host[1-*]", "machines of the clients, on which their threads are spread"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".workers", rpc.workers, "6", "1", "64", "number of threads that answer requests, each on its own core"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".clients", rpc.clients, clients_, "1", "4096", "number of threads that send requests, spread over their machines"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".window", rpc.window, "32", "1", "256", "number of requests that a client keeps in flight; version rpc sends a window at a time and waits until all are answered"), \
    SIM_ATTR_ROW(type, BOOL, prefix ".batch", rpc.post_list, "on", "on: responses are posted with one Doorbell per port; off: each WQE is written into the NIC"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".collect", rpc.collect, "32", "1", "128", "maximum number of requests that a worker takes at a time"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".ports", rpc.ports, "2", "1", "4", "number of ports of the server's card that clients are spread over, with queue pairs of their own"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".qps-per-port", rpc.qps_per_port, qps_, "1", "64", "number of UD queue pairs of a worker on each port, used in turn"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".requests", rpc.requests, "auto", "1", "100000000", "number of requests that each client sends; auto: until the measured time is over", .auto_ok = true), \
    SIM_ATTR_ROW(type, TIME, prefix ".cpu.look", rpc.look_ps, "1ns", "1ps", "1us", "worker's time to look at a slot without a request, in its first-level cache"), \
    SIM_ATTR_ROW(type, TIME, prefix ".cpu.request", rpc.request_ps, "20ns", "0ps", "1us", "worker's time to take a request, which the NIC put into the last-level cache"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".cpu.overlap", rpc.overlap, "3", "1", "64", "divisor of the time to take each further request of a turn, since their memory accesses overlap with the first one's"), \
    SIM_ATTR_ROW(type, TIME, prefix ".timeout", rpc.timeout_ps, "1ms", "1us", "1000s", "time without an answer after which a client counts the requests it waits for as lost")
// clang-format on

typedef struct app__rpc_client app__rpc_client_t;
typedef struct app__rpc_slot app__rpc_slot_t;
typedef struct app__rpc_worker app__rpc_worker_t;

struct app__rpc {
    const app__rpc_ops_t *ops;
    void *program;
    app__span_t span;
    app__machine_t *machines; // the server's first
    uint32_t machine_count;
    uint32_t worker_count;
    uint32_t client_count;
    uint32_t window;
    uint32_t collect;
    uint32_t ports;
    uint32_t qps_per_port;
    bool post_list;
    uint64_t requests;
    sim_time_t look_ps;
    sim_time_t request_ps;
    uint64_t overlap;
    sim_time_t timeout_ps;
    app__rpc_worker_t *workers;
    app__rpc_client_t *clients;
    app__rpc_slot_t *slots;
};

SIM_MUST_CHECK sim_err_t app__rpc_init(app__rpc_t *rpc, const app_context_t *context,
                                       const app__rpc_config_t *config, const app__span_t *span,
                                       const app__rpc_ops_t *ops, void *program,
                                       sim_message_t *message);
void app__rpc_fini(app__rpc_t *rpc);
void app__rpc_carry(app__rpc_t *rpc, sim_carry_t *carry);
// Returns the core of a worker, and the thread of a client.
nic_core_t *app__rpc_worker_core(const app__rpc_t *rpc, uint32_t worker);
const app__thread_t *app__rpc_client_thread(const app__rpc_t *rpc, uint32_t client);
// Sums over all clients and workers. Some members are counted by one kind of server only.
typedef struct app__server_sums {
    double mops;
    double responses_per_batch;
    uint64_t full_queue_waits; // counted by rpc
    uint64_t requests;
    uint64_t responses;
    uint64_t lost;
    uint64_t late;   // counted by rpc
    uint64_t failed; // counted by spec and fetch-add
} app__server_sums_t;
app__server_sums_t app__rpc_sums(const app_t *app, const app__rpc_t *rpc);

#endif // APPS_SERVICES_RPC_INTERNAL_H
