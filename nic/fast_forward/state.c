// SPDX-License-Identifier: Apache-2.0
// nic/fast_forward/state.c - how a span of time that is repeated changes NICs and queue pairs.
#include "nic/fast_forward.h"

#include "net/fast_forward.h"
#include "net/nodes.h"
#include "nic/cc/none.h"
#include "nic/host/steps.h"
#include "nic/objects/fields.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/rail.h"

// Every queue pair carries the algorithm's state behind it, also without congestion control.
static const sim_field_t none_rows[] = {NIC_CC_FIELDS(STATE, STATE, UNTIL)};
static const sim_fields_t none_table =
    SIM_FIELDS("congestion control", sizeof(nic_cc_t), none_rows);

static const char *refuse_nic(const nic_t *nic)
{
    const nic_host_t *const host = nic->host;
    return nic->planes != NULL                                          ? "planes"
           : nic->detailed || host->steps != NULL                       ? "nic.model"
           : nic->loopback != NULL                                      ? "loopback"
           : nic->loop != NULL || !nic->ring                            ? "nic.scheduler"
           : nic->bound || nic->refuses || nic->contents || nic->gated  ? "host"
           : host->cores != NULL                                        ? "host"
           : nic->srqs != NULL                                          ? "nic.transport"
           : nic->listeners != NULL                                     ? "observers"
           : nic->cnp_slots != NULL                                     ? "nic.cnp-scope"
           : host->config->repath != NIC_REPATH_OFF                     ? "nic.repath"
           : nic->cc_ops->fields == NULL && nic->cc_ops != &nic_cc_none ? "congestion-control"
           : !nic->draws                                                ? "network.draws"
                                                                        : NULL;
}

typedef struct lister {
    sim_state_t *state;
    sim_time_t *rest_ps;
    nic_span_t span;
} lister_t;

static void list_qp(const nic_qp_t *qp, void *ctx)
{
    const lister_t *const lister = ctx;
    const nic_cc_t *const cc = nic__cc_const(qp);
    const sim_fields_t *const table = qp->nic->cc_ops->fields;
    if (qp->ops->fields == NULL || qp->srq != NULL || (qp->flags & NIC_QP_UNRELIABLE) != 0) {
        lister->state->refused = "nic.transport";
        return;
    }
    if (qp->read_count != 0 || qp->atomics != NULL ||
        (lister->span == NIC_SPAN_FROM_REST &&
         (qp->sq_posted != qp->sq_done || sim_timer_armed(&qp->retry_timer) ||
          sim_timer_armed(&qp->pace_timer)))) {
        lister->state->refused = "queue pair at work";
    }
    if (cc->base_rtt_ps > *lister->rest_ps) {
        *lister->rest_ps = cc->base_rtt_ps;
    }
    sim_state_add(lister->state,
                  lister->span == NIC_SPAN_MESSAGES ? &nic__qp_fields_at_work : &nic__qp_fields,
                  (void *)(uintptr_t)qp);
    sim_state_add(lister->state, table != NULL ? table : &none_table, (void *)(uintptr_t)cc);
    sim_state_add(lister->state, qp->ops->fields, nic_transport_of((nic_qp_t *)(uintptr_t)qp));
}

void nic_state_list(const net_t *net, sim_state_t *state, sim_time_t *rest_ps, nic_span_t span)
{
    lister_t lister = {state, rest_ps, span};
    net_state_list(net, state, span != NIC_SPAN_FROM_REST, span == NIC_SPAN_CALLS);
    for (size_t i = 0; i < net_node_count(net); i++) {
        net_node_t *const node = net_node_at(net, i);
        if (node->kind != NET_NODE_HOST) {
            continue;
        }
        const nic_host_t *const host = nic__host_of(node);
        for (uint32_t n = 0; n < host->nic_count; n++) {
            nic_t *const nic = &host->nics[n];
            if (span == NIC_SPAN_MESSAGES && nic__rail_follows(nic)) {
                continue;
            }
            const char *const refused = refuse_nic(nic);
            state->refused = refused != NULL ? refused : state->refused;
            sim_state_add(state, &nic__nic_fields, nic);
            for (nic_cq_t *cq = nic->cqs; cq != NULL; cq = cq->next) {
                state->refused = cq->count != 0 && span != NIC_SPAN_MESSAGES
                                     ? "completions that nobody took"
                                     : state->refused;
                sim_state_add(state, &nic__cq_fields, cq);
            }
            for (struct nic_transport_share *share = nic->shares; share != NULL;
                 share = share->next) {
                if (share->ops->share_fields != NULL) {
                    sim_state_add(state, share->ops->share_fields, share->state);
                }
            }
            nic_for_each_qp(nic, list_qp, &lister);
        }
    }
}

uint64_t nic_frames_sent(const net_t *net)
{
    return net_frames_sent(net);
}

// -- posted receives

typedef struct places {
    nic_qp_t *qp;
    uint32_t done;
    uint32_t count;
    size_t first; // in entries
} places_t;

struct nic_posted_receives {
    places_t *qps;
    size_t count;
    size_t capacity;
    nic_recv_wqe_t *entries;
    size_t entry_count;
    size_t entry_capacity;
};

static nic_recv_wqe_t *place_of(const nic_qp_t *qp, uint32_t index)
{
    return &qp->rq[index & (qp->rq_capacity - 1)];
}

static void take_qp(const nic_qp_t *qp, void *ctx)
{
    nic_posted_receives_t *const taken = ctx;
    if (qp->rq_posted == qp->rq_done) {
        return;
    }
    SIM_GROW(taken->qps, taken->count, &taken->capacity);
    taken->qps[taken->count++] = (places_t){.qp = (nic_qp_t *)(uintptr_t)qp,
                                            .done = qp->rq_done,
                                            .count = qp->rq_posted - qp->rq_done,
                                            .first = taken->entry_count};
    for (uint32_t at = qp->rq_done; at != qp->rq_posted; at++) {
        SIM_APPEND(taken->entries, taken->entry_count, taken->entry_capacity, *place_of(qp, at));
    }
}

nic_posted_receives_t *nic_take_receives(const net_t *net)
{
    nic_posted_receives_t *const taken = sim_alloc(sizeof(*taken));
    for (size_t i = 0; i < net_node_count(net); i++) {
        net_node_t *const node = net_node_at(net, i);
        for (uint32_t n = 0; node->kind == NET_NODE_HOST && n < nic_count(node); n++) {
            nic_for_each_qp(nic_at(node, n), take_qp, taken);
        }
    }
    return taken;
}

void nic_put_receives(nic_posted_receives_t *taken)
{
    for (size_t i = 0; i < taken->count; i++) {
        const places_t *const places = &taken->qps[i];
        SIM_CHECK(places->qp->rq_posted - places->qp->rq_done == places->count);
        for (uint32_t e = 0; e < places->count; e++) {
            *place_of(places->qp, places->qp->rq_done + e) = taken->entries[places->first + e];
        }
    }
    SIM_FREE_ALL(taken->qps, taken->entries, taken);
}
