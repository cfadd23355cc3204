// SPDX-License-Identifier: Apache-2.0
// nic/fast_forward/state.c - how a span of time that is repeated changes NICs and queue pairs.
#include "nic/fast_forward.h"

#include "net/fast_forward.h"
#include "nic/cc/none.h"
#include "nic/host/steps.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"

// clang-format off
#define COUNTER(member_) SIM_FIELD(nic_t, counters.member_, COUNT)
#define NIC(member_, kind_) SIM_FIELD(nic_t, member_, kind_)
static const sim_field_t nic_fields[] = {
    COUNTER(tx_packets), COUNTER(rx_packets), COUNTER(tx_data_bytes), COUNTER(rx_data_bytes),
    COUNTER(rx_restarted_bytes), COUNTER(np_cnp_sent), COUNTER(np_ecn_marked_roce_packets),
    COUNTER(rp_cnp_handled), COUNTER(rp_cnp_ignored), COUNTER(retransmitted_packets),
    COUNTER(out_of_sequence), COUNTER(duplicate_request), COUNTER(packet_seq_err),
    COUNTER(implied_nak_seq_err), COUNTER(local_ack_timeout_err), COUNTER(late_answers),
    NIC(latest, IGNORE), NIC(latest_numbers, IGNORE), NIC(ready, STATE),
    {offsetof(nic_t, queue_pushed), 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_pushed) + 8, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_pushed) + 16, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_pushed) + 24, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_pushed) + 32, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_pushed) + 40, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_pushed) + 48, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_pushed) + 56, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_popped), 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_popped) + 8, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_popped) + 16, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_popped) + 24, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_popped) + 32, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_popped) + 40, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_popped) + 48, 8, SIM_REPEAT_COUNT},
    {offsetof(nic_t, queue_popped) + 56, 8, SIM_REPEAT_COUNT},
    NIC(cnp_next_ps, UNTIL), NIC(arrived_ps, UNTIL), NIC(unlabelled, COUNT),
    NIC(checked_index, IGNORE),
};
static_assert(NET_PRIORITIES == 8, "a row for each");
static const sim_fields_t nic_type = SIM_FIELDS("NIC", sizeof(nic_t), nic_fields);

#define QP(member_, kind_) SIM_FIELD(nic_qp_t, member_, kind_)
static const sim_field_t qp_fields[] = {
    QP(ready_next, IGNORE), QP(ready_previous, IGNORE), // no queue pair is ready at rest
    QP(next_psn, COUNT), QP(una_psn, COUNT), QP(max_psn, COUNT), QP(expected_psn, COUNT),
    QP(sq_send, COUNT), QP(sq_posted, COUNT), QP(sq_done, COUNT), QP(rq_posted, COUNT),
    QP(rq_done, COUNT), QP(msn, COUNT), QP(retransmitted_packets, COUNT),
    QP(window_bytes, STATE), QP(send_offset, STATE), QP(una_offset, STATE), QP(flags, STATE),
    QP(ack_countdown, STATE), QP(queued_ack, IGNORE), QP(queued_ack_number, IGNORE),
    QP(queued_ack_class, IGNORE), QP(retry_base_ps, UNTIL), QP(cnp_next_ps, UNTIL),
    QP(rx_left_bytes, STATE), QP(rx_bytes, STATE), QP(rx_kind, STATE), QP(rx_flags, STATE),
    QP(next_send_ps, UNTIL), QP(pace_remainder, LAST), QP(pace_bps, LAST),
    QP(pace_timer, IGNORE), QP(retry_timer, IGNORE), QP(rx_address, STATE),
    QP(held_psn, LAST), QP(held_aeth, LAST), QP(held_sent_ps, UNTIL), QP(traced_rate_bps, LAST),
};
static const sim_fields_t qp_type = SIM_FIELDS("queue pair", sizeof(nic_qp_t), qp_fields);

// A queue pair at work. Positions within messages grow; messages neither begin nor end.
static const sim_field_t busy_fields[] = {
    QP(ready_next, IGNORE), QP(ready_previous, IGNORE), // nic/fast_forward/period.c compares these
    QP(next_psn, COUNT), QP(una_psn, COUNT), QP(max_psn, COUNT), QP(expected_psn, COUNT),
    QP(retransmitted_packets, COUNT), QP(send_offset, COUNT), QP(una_offset, COUNT),
    QP(rx_left_bytes, COUNT), QP(rx_bytes, COUNT), QP(queued_ack, IGNORE),
    QP(queued_ack_number, IGNORE), QP(queued_ack_class, IGNORE), QP(retry_base_ps, UNTIL),
    QP(cnp_next_ps, UNTIL), QP(next_send_ps, UNTIL), QP(pace_timer, IGNORE),
    QP(retry_timer, IGNORE), QP(held_sent_ps, UNTIL),
};
static const sim_fields_t busy_type =
    SIM_FIELDS("queue pair at work", sizeof(nic_qp_t), busy_fields);

#define CQ(member_, kind_) SIM_FIELD(nic_cq_t, member_, kind_)
static const sim_field_t cq_fields[] = {
    CQ(first, IGNORE), CQ(last_seen_ps, UNTIL),
};
static const sim_fields_t cq_type =
    SIM_FIELDS("completion queue", sizeof(nic_cq_t), cq_fields);
// clang-format on

// Every queue pair carries the algorithm's state behind it, also without congestion control.
static const sim_field_t none_fields[] = {NIC_CC_FIELDS};
static const sim_fields_t none_type =
    SIM_FIELDS("congestion control", sizeof(nic_cc_t), none_fields);

static const char *refuse_nic(const nic_t *nic)
{
    const nic_host_t *const host = nic->host;
    return nic->planes != NULL                                          ? "planes"
           : nic->detailed || host->steps != NULL                       ? "nic.model"
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
    sim_state_t *list;
    sim_time_t *rest_ps;
    bool at_work; // queue pairs may be
} lister_t;

static void list_qp(const nic_qp_t *qp, void *ctx)
{
    const lister_t *const lister = ctx;
    const nic_cc_t *const cc = nic__cc_const(qp);
    const sim_fields_t *const type = qp->nic->cc_ops->fields;
    if (qp->ops->fields == NULL || qp->srq != NULL || (qp->flags & NIC_QP_UNRELIABLE) != 0) {
        lister->list->refused = "nic.transport";
        return;
    }
    if (qp->read_count != 0 || qp->atomics != NULL ||
        (!lister->at_work && (qp->sq_posted != qp->sq_done || sim_timer_armed(&qp->retry_timer) ||
                              sim_timer_armed(&qp->pace_timer)))) {
        lister->list->refused = "queue pair at work";
    }
    if (cc->base_rtt_ps > *lister->rest_ps) {
        *lister->rest_ps = cc->base_rtt_ps;
    }
    sim_state_add(lister->list, lister->at_work ? &busy_type : &qp_type, (void *)(uintptr_t)qp);
    sim_state_add(lister->list, type != NULL ? type : &none_type, (void *)(uintptr_t)cc);
    sim_state_add(lister->list, qp->ops->fields, nic_transport_of((nic_qp_t *)(uintptr_t)qp));
}

void nic_state_list(const net_t *net, sim_state_t *list, sim_time_t *rest_ps, bool at_work)
{
    lister_t lister = {list, rest_ps, at_work};
    net_state_list(net, list);
    for (size_t i = 0; i < net_node_count(net); i++) {
        net_node_t *const node = net_node_at(net, i);
        if (node->kind != NET_NODE_HOST) {
            continue;
        }
        const nic_host_t *const host = nic__host_of(node);
        for (uint32_t n = 0; n < host->nic_count; n++) {
            nic_t *const nic = &host->nics[n];
            const char *const refused = refuse_nic(nic);
            list->refused = refused != NULL ? refused : list->refused;
            sim_state_add(list, &nic_type, nic);
            for (nic_cq_t *cq = nic->cqs; cq != NULL; cq = cq->next) {
                list->refused =
                    cq->count != 0 && !at_work ? "completions that nobody took" : list->refused;
                sim_state_add(list, &cq_type, cq);
            }
            for (struct nic_transport_share *share = nic->shares; share != NULL;
                 share = share->next) {
                if (share->ops->share_fields != NULL) {
                    sim_state_add(list, share->ops->share_fields, share->state);
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
        SIM_GROW(taken->entries, taken->entry_count, &taken->entry_capacity);
        taken->entries[taken->entry_count++] = *place_of(qp, at);
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
    sim_free(taken->qps);
    sim_free(taken->entries);
    sim_free(taken);
}
