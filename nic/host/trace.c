// SPDX-License-Identifier: Apache-2.0
// nic/host/trace.c - the listeners of a NIC and its queue pairs.
#include "nic/host/listen.h"
#include "nic/objects/numbers.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

typedef struct nic_listener {
    uint32_t points;
    const nic_qp_t *qp; // NULL: all of the NIC
    nic_trace_fn fn;
    void *ctx;
    struct nic_listener *next;
} nic_listener_t;

// Stores a QP's current rate. The stored rate is kept up to date only while somebody listens.
static void note_rate(const nic_qp_t *qp, void *ctx)
{
    (void)ctx;
    nic_qp_t *const known = nic__find_qp(qp->nic, qp->number);
    SIM_CHECK(known == qp);
    known->traced_rate_bps = nic__cc_const(qp)->rate_bps;
}

static void listen(nic_t *nic, const nic_qp_t *qp, uint32_t points, nic_trace_fn fn, void *ctx)
{
    SIM_CHECK(fn != NULL);
    if ((points & ~nic->trace_points & NIC_TRACE_RATE) != 0) {
        nic_for_each_qp(nic, note_rate, NULL);
    }
    nic_listener_t *const listener = sim_alloc(sizeof(*listener));
    *listener = (nic_listener_t){points, qp, fn, ctx, NULL};
    nic_listener_t **link = &nic->listeners;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = listener;
    nic->trace_points |= points;
}

void nic_listen(nic_t *nic, uint32_t points, nic_trace_fn fn, void *ctx)
{
    listen(nic, NULL, points, fn, ctx);
}

void nic_qp_listen(nic_qp_t *qp, uint32_t points, nic_trace_fn fn, void *ctx)
{
    SIM_CHECK((points & NIC_TRACE_RECEIVE) == 0);
    SIM_CHECK((qp->flags & NIC_QP_DEAD) == 0);
    listen(qp->nic, qp, points, fn, ctx);
}

void nic__trace_forget(nic_t *nic, const nic_qp_t *qp)
{
    uint32_t points = 0;
    for (nic_listener_t **link = &nic->listeners; *link != NULL;) {
        nic_listener_t *const listener = *link;
        if (qp == NULL || listener->qp == qp) {
            *link = listener->next;
            sim_free(listener);
        } else {
            points |= listener->points;
            link = &listener->next;
        }
    }
    nic->trace_points = points;
}

void nic__trace_tell(const nic_trace_t *trace)
{
    for (const nic_listener_t *l = trace->nic->listeners; l != NULL; l = l->next) {
        if ((l->points & trace->point) != 0 && (l->qp == NULL || l->qp == trace->qp)) {
            l->fn(trace, l->ctx);
        }
    }
}

void nic__trace_value(const nic_t *nic, const nic_qp_t *qp, nic_trace_point_t point, uint64_t value,
                      uint64_t before)
{
    const nic_trace_t trace = {
        .point = point,
        .time_ps = nic__node(nic)->now_ps,
        .nic = nic,
        .qp = qp,
        .value = value,
        .before = before,
    };
    nic__trace_tell(&trace);
}

void nic__trace_control(nic_qp_t *qp, uint64_t window_before_bytes)
{
    nic_t *const nic = qp->nic;
    const uint64_t rate_bps = nic__cc_const(qp)->rate_bps;
    if (rate_bps != qp->traced_rate_bps) {
        const uint64_t before_bps = qp->traced_rate_bps;
        qp->traced_rate_bps = rate_bps;
        nic__trace(nic, qp, NIC_TRACE_RATE, rate_bps, before_bps);
    }
    if (qp->window_bytes != window_before_bytes) {
        nic__trace(nic, qp, NIC_TRACE_WINDOW, qp->window_bytes, window_before_bytes);
    }
    nic__trace(nic, qp, NIC_TRACE_CONTROL, 0, 0);
}
