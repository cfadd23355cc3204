// SPDX-License-Identifier: Apache-2.0
// apps/machine_internal.h - what programs on cores share: machines, threads, the span measured.
//
// A machine is a host with one NIC and a region of memory. A thread is a loop on a core of its own
// (nic/core.h): each turn polls, does what there is to do, and posts. Threads begin one after the
// other from `start` on, and stop by themselves when the span that is measured is over; what is
// under way then still arrives, and the run ends.
#ifndef APPS_MACHINE_INTERNAL_H
#define APPS_MACHINE_INTERNAL_H

#include <stddef.h>

#include "apps/app_internal.h"
#include "kernel/random.h"
#include "nic/core.h"

// Rows of every such program's attributes: a config has a member `span`.
typedef struct app__span {
    sim_time_t start_ps;
    sim_time_t warm_ps;    // not measured, after start
    sim_time_t measure_ps; // >= 1
} app__span_t;

// clang-format off
#define APP__SPAN_ATTRS(prefix, type)                                                              \
    {prefix ".start", SIM_ATTR_TIME, false, offsetof(type, span.start_ps), "0s", "0s", "1000s",    \
     NULL, "when threads begin"},                                                                  \
    {prefix ".warm-up", SIM_ATTR_TIME, false, offsetof(type, span.warm_ps), "50us", "0s",          \
     "1000s", NULL, "time after start that is not measured"},                                      \
    {prefix ".measure", SIM_ATTR_TIME, false, offsetof(type, span.measure_ps), "100us", "1ns",     \
     "1000s", NULL, "time that is measured; then threads stop"}
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
    nic_mr_t *memory; // everything allowed, atomics too
    uint64_t address; // of its first byte
    uint64_t bytes;
    uint64_t position; // of the next QP number
    uint64_t positions_end;
} app__machine_t;

// Where an application's region begins on all of its machines, aligned to the largest page: memory
// is the host's, and programs must not share addresses. A step holds 64 workers of HERD with logs
// of 64 GiB, and more.
static inline uint64_t app__machine_address(const app_context_t *context)
{
    return (UINT64_C(1) << 40) + ((uint64_t)context->index << 44);
}

// Up to qp_count QPs will be made. memory_bytes >= 1.
void app__machine_init(app__machine_t *machine,
                       const app_context_t *context,
                       uint32_t interface,
                       uint64_t memory_bytes,
                       uint64_t qp_count);
static inline uint32_t app__machine_key(const app__machine_t *machine)
{
    return nic_mr_rkey(machine->memory);
}

// A QP in its own right: RC and UC are connected later by app__join, UD is ready.
nic_qp_t *app__machine_qp(app__machine_t *machine,
                          nic_qp_type_t type,
                          nic_cq_t *cq,
                          uint32_t send_depth,
                          uint32_t receive_depth);
// One whose sends and receives complete apart.
nic_qp_t *app__machine_qp_apart(app__machine_t *machine,
                                nic_qp_type_t type,
                                nic_cq_t *send_cq,
                                nic_cq_t *receive_cq,
                                uint32_t send_depth,
                                uint32_t receive_depth);
void app__join(nic_qp_t *a, nic_qp_t *b);

typedef struct app__thread app__thread_t;
struct app__thread {
    const app__span_t *span;
    app__machine_t *machine;
    nic_core_t *core;
    sim_timer_t stop_timer;
    void (*stopped_fn)(app__thread_t *thread); // when it has; NULL: nothing more to do
    uint64_t counted;                          // operations done within the span
    uint64_t total;                            // and altogether
    uint64_t failed;                           // completions with an error
    bool stopped;
};

// ctx goes to step. The thread begins `order` ns after the span's start.
void app__thread_init(app__thread_t *thread,
                      app__machine_t *machine,
                      const app__span_t *span,
                      uint32_t order,
                      nic_core_fn step,
                      void *ctx);
// A CQ that this thread polls.
nic_cq_t *app__thread_cq(app__thread_t *thread);
// Operations done at this point of the step.
static inline void app__thread_count(app__thread_t *thread, uint64_t operations)
{
    const sim_time_t now_ps = nic_core_now_ps(thread->core);
    thread->total += operations;
    if (now_ps >= app__span_begin(thread->span) && now_ps < app__span_end(thread->span)) {
        thread->counted += operations;
    }
    sim_progress(thread->machine->endpoint->node);
}

// Posts, which must succeed: the program keeps within its depths, and a queue pair in the error
// state takes what is posted and completes it as flushed.
static inline void app__post(nic_qp_t *qp, const nic_send_wr_t *wr)
{
    const sim_err_t error =
        wr->next == NULL ? nic_post_send(qp, wr) : nic_post_send_list(qp, wr, NULL);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(qp), sim_err_text(error));
}
void app__post_receives(nic_qp_t *qp,
                        const app__machine_t *machine,
                        uint32_t count,
                        uint64_t bytes);
// Whether the operation was done. What was not is counted: its queue pair went to the error state,
// whatever else is posted there completes as flushed, and programs post no more to it.
static inline bool app__thread_succeeded(app__thread_t *thread, const nic_wc_t *wc)
{
    const bool done = wc->status == NIC_WC_SUCCESS;
    thread->failed += !done;
    return done;
}

// What of the span had passed when the run ended, which may have been cut short: 0 to measure_ps.
sim_time_t app__span_measured_ps(const app_t *app, const app__span_t *span);
// Million operations a second of that time.
double app__mops(const app_t *app, const app__span_t *span, uint64_t operations);

// Interfaces of a pattern. SIM_ERR_INVALID: some host has several; SIM_ERR_RANGE: fewer than least.
SIM_MUST_CHECK sim_err_t app__machines_find(const app_context_t *context,
                                            const char *attribute,
                                            const char *pattern,
                                            uint64_t least,
                                            app__places_t *places,
                                            sim_message_t *message);

#endif // APPS_MACHINE_INTERNAL_H
