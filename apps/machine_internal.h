// SPDX-License-Identifier: Apache-2.0
// apps/machine_internal.h - machines, threads and measured spans of programs on cores.
//
// A machine is a host with one NIC and a region of memory. A thread is a loop on its own core
// (nic/core.h): each turn polls, works and posts. Threads start one after the other from `start` on
// and stop when the measured span is over; operations in flight still arrive, then the run ends.
#ifndef APPS_MACHINE_INTERNAL_H
#define APPS_MACHINE_INTERNAL_H

#include <stddef.h>

#include "apps/endpoints.h"
#include "apps/hosts.h"
#include "kernel/random.h"
#include "nic/core.h"

// Times of such a program. Its config has a member `span`; APP__SPAN_ATTRS makes the attributes.
typedef struct app__span {
    sim_time_t start_ps;
    sim_time_t warm_ps;    // time after start that is not measured
    sim_time_t measure_ps; // >= 1
} app__span_t;

// clang-format off
#define APP__SPAN_ATTRS(prefix, type)                                                              \
    SIM_ATTR_ROW(type, TIME, prefix ".start", span.start_ps, "0s", "0s", "1000s", "time at which threads begin"), \
    SIM_ATTR_ROW(type, TIME, prefix ".warm-up", span.warm_ps, "50us", "0s", "1000s", "time after start that is not measured"), \
    SIM_ATTR_ROW(type, TIME, prefix ".measure", span.measure_ps, "100us", "1ns", "1000s", "time that is measured; then threads stop")
// clang-format on

static inline sim_time_t app__span_begin(const app__span_t *span)
{
    return span->start_ps + span->warm_ps;
}
static inline sim_time_t app__span_end(const app__span_t *span)
{
    return app__span_begin(span) + span->measure_ps;
}

typedef struct app__machine {
    app__endpoint_t *endpoint;
    nic_mr_t *memory; // the whole region, with all access rights, atomics included
    uint64_t address; // of its first byte
    uint64_t bytes;
    uint64_t position; // position of the next QP number
    uint64_t positions_end;
} app__machine_t;

// Returns the address of an application's region, the same on all of its machines, aligned to the
// largest page. Programs on one host must not share addresses. The step of 2^44 bytes holds more
// than 64 workers of HERD with logs of 64 GiB each.
static inline uint64_t app__machine_address(const app_context_t *context)
{
    return (UINT64_C(1) << 40) + ((uint64_t)context->index << 44);
}

// Initialises a machine with memory_bytes >= 1 and room for qp_count QPs.
void app__machine_init(app__machine_t *machine, const app_context_t *context, uint32_t interface,
                       uint64_t memory_bytes, uint64_t qp_count);
static inline uint32_t app__machine_key(const app__machine_t *machine)
{
    return nic_mr_rkey(machine->memory);
}

// Creates a QP. RC and UC QPs are connected later by app__join; a UD QP is ready at once.
nic_qp_t *app__machine_qp(app__machine_t *machine, nic_qp_type_t type, nic_cq_t *cq,
                          uint32_t send_depth, uint32_t receive_depth);
// Creates a QP like app__machine_qp, with separate completion queues for sends and receives.
nic_qp_t *app__machine_qp_apart(app__machine_t *machine, nic_qp_type_t type, nic_cq_t *send_cq,
                                nic_cq_t *receive_cq, uint32_t send_depth, uint32_t receive_depth);
// Connects a QP to another one, and two QPs with each other.
void app__connect_to(nic_qp_t *qp, uint32_t interface, uint32_t number);
void app__join(nic_qp_t *a, nic_qp_t *b);

typedef struct app__thread app__thread_t;
struct app__thread {
    const app__span_t *span;
    app__machine_t *machine;
    nic_core_t *core;
    sim_timer_t stop_timer;
    void (*stopped_fn)(app__thread_t *thread); // called after the thread has stopped; may be NULL
    uint64_t counted;                          // operations done within the span
    uint64_t total;                            // operations done in the whole run
    uint64_t failed;                           // completions with an error
    bool stopped;
};

// Initialises a thread that starts `order` ns after span->start_ps. `ctx` is passed to `step`.
void app__thread_init(app__thread_t *thread, app__machine_t *machine, const app__span_t *span,
                      uint32_t order, nic_core_fn step, void *ctx);
// Creates a completion queue that this thread polls.
nic_cq_t *app__thread_cq(app__thread_t *thread);
// Counts operations done at the current time of the thread's core.
static inline void app__thread_count(app__thread_t *thread, uint64_t operations)
{
    const sim_time_t now_ps = nic_core_now_ps(thread->core);
    thread->total += operations;
    if (now_ps >= app__span_begin(thread->span) && now_ps < app__span_end(thread->span)) {
        thread->counted += operations;
    }
    sim_progress(thread->machine->endpoint->node);
}

// Posts work requests, which must succeed: the program keeps within its queue depths. A QP in the
// error state accepts them, too, and completes them as flushed.
static inline void app__post(nic_qp_t *qp, const nic_send_wr_t *wr)
{
    const sim_err_t error =
        wr->next == NULL ? nic_post_send(qp, wr) : nic_post_send_list(qp, wr, NULL);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(qp), sim_err_text(error));
}
void app__post_receives(nic_qp_t *qp, const app__machine_t *machine, uint32_t count,
                        uint64_t bytes);
// Returns whether the operation succeeded, and counts a failure. The QP of a failed operation is in
// the error state: further requests complete as flushed, and programs post no more to it.
static inline bool app__thread_succeeded(app__thread_t *thread, const nic_wc_t *wc)
{
    const bool done = wc->status == NIC_WC_SUCCESS;
    thread->failed += !done;
    return done;
}

// Carries what a thread counted to rank 0, and returns true, if the carried rank ran it.
bool app__thread_carry(sim_carry_t *carry, app__thread_t *thread);
// Carries `count` words of a machine's memory, `stride_bytes` apart from an address on, to rank 0.
void app__machine_carry_words(sim_carry_t *carry, const app__machine_t *machine, uint64_t address,
                              uint64_t count, uint64_t stride_bytes);

// Returns the part of the span that had passed when the run ended: 0 to measure_ps. It is less than
// measure_ps where the run was cut short.
sim_time_t app__span_measured_ps(const app_t *app, const app__span_t *span);
// Returns a rate in million operations per second of the measured time.
double app__mops(const app_t *app, const app__span_t *span, uint64_t operations);

// Finds the interfaces of a pattern. SIM_ERR_INVALID: a host has several NICs; SIM_ERR_RANGE: fewer
// hosts than `least`.
SIM_MUST_CHECK sim_err_t app__machines_find(const app_context_t *context, const char *attribute,
                                            const char *pattern, uint64_t least,
                                            app__places_t *places, sim_message_t *message);

// Finds the interface of a server, then those of the machines of its clients, which the server can
// reach. The attributes are `server` and `clients-on`. The caller frees *interfaces with sim_free.
SIM_MUST_CHECK sim_err_t app__server_machines(const app_context_t *context, const char *server,
                                              const char *clients_on, uint32_t **interfaces,
                                              uint32_t *count, sim_message_t *message);

#endif // APPS_MACHINE_INTERNAL_H
