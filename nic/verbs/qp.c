// SPDX-License-Identifier: Apache-2.0
// nic/verbs/qp.c - queue pairs: their life, and queries.
//
// A QP destroyed during an event of its host keeps its memory until the event is over, so that the
// code that called the application can look at it.
#include "nic/objects/qp.h"

#include <string.h>

#include "nic/host/contents.h"
#include "nic/host/listen.h"
#include "nic/host/packet_contents.h"
#include "nic/objects/calls.h"
#include "nic/objects/numbers.h"
#include "nic/objects/objects.h"
#include "nic/objects/queues.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"
#include "nic/path/repath.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"
#include "nic/transport/finish.h"
#include "nic/verbs/life.h"

// -- life

static const nic_transport_ops_t *transport_of(const nic_t *nic, const nic_qp_init_attr_t *attr)
{
    if (attr->qp_type == NIC_QPT_RC) {
        const nic_transport_ops_t *const ops =
            attr->transport != NULL ? attr->transport : nic->transport;
        // Ranks know from the NICs' configurations what packets carry.
        SIM_CHECKF(ops == nic->transport || sim_ranks(nic__node(nic)->sim) == NULL,
                   "a QP with transport %s at a NIC with %s, in ranks", ops->name,
                   nic->transport->name);
        return ops == &nic_transport_gbn && nic->host->config->ooo == NIC_OOO_PLACE
                   ? &nic__transport_gbn_place
                   : ops;
    }
    if (attr->qp_type == NIC_QPT_UC) {
        return &nic__transport_uc;
    }
    return nic->transport->wire == ROCE_UET ? &nic__transport_uud : &nic__transport_ud;
}

sim_err_t nic_qp_create(nic_pd_t *pd, const nic_qp_init_attr_t *attr, nic_qp_t **qp)
{
    nic_t *const nic = pd->nic;
    SIM_CHECK(attr->send_cq != NULL && attr->recv_cq != NULL && attr->max_send_wr >= 1);
    SIM_CHECK(attr->send_cq->nic == nic && attr->recv_cq->nic == nic);
    uint32_t number = attr->qp_num;
    if (number == 0) {
        number = nic__qp_next_number(nic);
        if (number == 0) {
            return SIM_ERR_FULL;
        }
    } else if (number > ROCE_QPN_MASK ||
               (number < ROCE_QPN_FIRST &&
                (number != ROCE_QPN_GSI || attr->qp_type != NIC_QPT_UD))) {
        return SIM_ERR_RANGE;
    } else if (nic__find_qp(nic, number) != NULL) {
        return SIM_ERR_EXISTS;
    }
    const nic_transport_ops_t *const ops = transport_of(nic, attr);
    const size_t before_bytes = nic__repath_bytes(nic) + nic__bytes_before_qp(nic);
    char *const memory =
        sim_lines_take(nic__node(nic)->worker, before_bytes + nic__transport_qp_bytes(nic, ops));
    nic_qp_t *const made = (nic_qp_t *)(void *)(memory + before_bytes);
    made->ops = ops;
    made->nic = nic;
    made->number = number;
    made->type = (uint8_t)attr->qp_type;
    made->state = NIC_QPS_RESET;
    made->transport = NIC_NO_TRANSPORT;
    made->flags = NIC_QP_CLOSED | (attr->qp_type == NIC_QPT_RC ? 0 : NIC_QP_UNRELIABLE);
    made->pd = pd;
    made->send_cq = attr->send_cq;
    made->recv_cq = attr->recv_cq;
    made->send_wr_max = attr->max_send_wr;
    made->recv_wr_max = attr->max_recv_wr;
    made->wqe_flags = attr->sq_sig_all ? NIC_SEND_SIGNALED : 0;
    made->rx_flags = attr->grh ? NIC_RX_GRH : 0;
    made->srq = attr->srq;
    if (attr->srq != NULL) {
        SIM_CHECK(attr->srq->pd->nic == nic);
        made->recv_wr_max = 1; // the one a message is taking
    }
    made->ctx = attr->ctx;
    sim_timer_init(&made->pace_timer, nic__pace_fired);
    sim_timer_init(&made->retry_timer, nic__retry_fired);
    nic__cc(made)->ops = nic->cc_ops;
    *nic__qp_slot(nic, number) = made;
    NIC_DEVICE(nic, qp_created, made);
    nic->counters.qps_created++;
    nic->counters.qps_live++;
    if (nic->counters.qps_live > nic->counters.qps_peak) {
        nic->counters.qps_peak = nic->counters.qps_live;
    }
    nic__trace(nic, made, NIC_TRACE_LIFE, 1, 0);
    *qp = made;
    return SIM_OK;
}

void nic__qp_free(nic_qp_t *qp)
{
    nic__free_more(qp);
    nic__send_queue_free(qp);
    nic__free_receives(qp->rq, qp->rq_capacity);
    sim_free(qp->reads);
    sim_free(qp->atomics);
    nic_t *const nic = qp->nic;
    const size_t before_bytes = nic__repath_bytes(nic) + nic__bytes_before_qp(nic);
    sim_lines_give(nic__node(nic)->worker, (char *)qp - before_bytes,
                   before_bytes + nic__transport_qp_bytes(nic, qp->ops));
}

void nic__free_dead(nic_host_t *host)
{
    while (host->dead != NULL) {
        nic_qp_t *const qp = host->dead;
        host->dead = qp->ready_next;
        nic__qp_free(qp);
    }
}

void nic_qp_destroy(nic_qp_t *qp)
{
    nic_t *const nic = qp->nic;
    SIM_CHECK((qp->flags & NIC_QP_DEAD) == 0);
    nic__silence(qp);
    NIC_DEVICE(nic, qp_destroyed, qp, qp->sq_posted - qp->sq_done);
    nic__qp_forget_number(nic, qp->number);
    nic->counters.qps_live--;
    nic__trace(nic, qp, NIC_TRACE_LIFE, 0, 0);
    if (nic->listeners != NULL) {
        nic__trace_forget(nic, qp);
    }
    qp->flags |= NIC_QP_DEAD;
    qp->transport = NIC_NO_TRANSPORT;
    if (nic->host->in_event) {
        qp->ready_next = nic->host->dead;
        nic->host->dead = qp;
        nic->host->unsettled = true;
    } else {
        nic__qp_free(qp);
    }
}

// -- asking

uint32_t nic_qp_destination(const nic_qp_t *qp)
{
    return qp->state == NIC_QPS_RESET ? NET_INTERFACES_MAX : qp->path.destination;
}

uint16_t nic_qp_udp_source_port(const nic_qp_t *qp)
{
    return qp->state == NIC_QPS_RESET ? 0 : qp->path.udp_source_port;
}

uint32_t nic_qp_num(const nic_qp_t *qp)
{
    return qp->number;
}

nic_qp_state_t nic_qp_state(const nic_qp_t *qp)
{
    return (nic_qp_state_t)qp->state;
}

void *nic_qp_ctx(const nic_qp_t *qp)
{
    return qp->ctx;
}

nic_t *nic_qp_nic(const nic_qp_t *qp)
{
    return qp->nic;
}

uint32_t nic_qp_flow_hash(const nic_qp_t *qp)
{
    return qp->path.flow_hash;
}

void nic_qp_on_write(nic_qp_t *qp, nic_write_fn fn, void *ctx)
{
    qp->on_write = fn;
    qp->on_write_ctx = ctx;
}

uint32_t nic_qp_rq_psn(const nic_qp_t *qp)
{
    return (uint32_t)qp->expected_psn & ROCE_PSN_MASK;
}

uint64_t nic_qp_una_psn(const nic_qp_t *qp)
{
    return qp->una_psn;
}

uint64_t nic_qp_retransmitted_packets(const nic_qp_t *qp)
{
    return qp->retransmitted_packets;
}

bool nic_qp_quiet(const nic_qp_t *qp)
{
    return qp->sq_done == qp->sq_posted && qp->read_count == 0 &&
           (qp->rx_flags & NIC_RX_HELD) == 0 && !nic__ack_still_queued(qp);
}

uint32_t nic_qp_sends_done(const nic_qp_t *qp)
{
    return qp->sq_done - qp->sq_failed;
}

size_t nic_qp_memory_bytes(const nic_qp_t *qp)
{
    return nic__repath_bytes(qp->nic) + nic__bytes_before_qp(qp->nic) +
           nic__transport_qp_bytes(qp->nic, qp->ops) + nic__sq_capacity(qp) * sizeof(nic_wqe_t) +
           qp->rq_capacity * sizeof(nic_recv_wqe_t) + qp->read_capacity * sizeof(nic_read_t);
}

uint64_t nic__qp_stream(const nic_qp_t *qp)
{
    const uint64_t ends = (uint64_t)qp->nic->interface << 32 | qp->path.destination;
    const uint64_t choice = (uint64_t)qp->first_psn << 16 | qp->path.udp_source_port;
    return sim_mix64(ends ^ sim_mix64(choice));
}
