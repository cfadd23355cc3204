// SPDX-License-Identifier: Apache-2.0
// nic/verbs/post.c - posting to a send queue: checks, the ring of work requests, the Doorbell.
//
// Source: IBA vol. 1, 10.8.2, 11.4.1 (post send request).
#include "net/draws.h"
#include "nic/cc/control.h"
#include "nic/host/contents.h"
#include "nic/host/listen.h"
#include "nic/host/packet_contents.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/rail.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/eligible.h"
#include "nic/schedule/loopback.h"
#include "nic/schedule/planes.h"
#include "nic/transport/finish.h"
#include "nic/verbs/life.h"

#define FIRST_SQ_CAPACITY 2u // at least two, a power of it

uint32_t nic_inline_max(const nic_t *nic)
{
    return nic->device->inline_max == NULL ? UINT32_MAX : nic->device->inline_max(nic);
}

static void grow_send_queue(nic_qp_t *qp)
{
    const uint32_t capacity = qp->sq_mask == 0 ? FIRST_SQ_CAPACITY : nic__sq_capacity(qp) * 2;
    nic_wqe_t *const ring =
        sim_lines_take(nic__node(qp->nic)->worker, (size_t)capacity * sizeof(*ring));
    for (uint32_t i = qp->sq_done; i != qp->sq_posted; i++) {
        ring[i & (capacity - 1)] = *nic__wqe(qp, i);
    }
    if (qp->sq_more != NULL) {
        nic__grow_more(qp, capacity);
    }
    nic__send_queue_free(qp);
    qp->sq = ring;
    qp->sq_mask = capacity - 1;
}

// Returns true in the states in which posted work requests complete as flushed (10.3.1, 10.8.2.2).
static inline bool in_error(const nic_qp_t *qp)
{
    return (qp->state == NIC_QPS_ERR || qp->state == NIC_QPS_SQE) && (qp->flags & NIC_QP_DEAD) == 0;
}

static SIM_ALWAYS_INLINE sim_err_t check_send(const nic_qp_t *qp, const nic_send_wr_t *wr,
                                              uint64_t *length_bytes)
{
    if ((qp->flags & NIC_QP_CLOSED) != 0 && !in_error(qp)) {
        return SIM_ERR_STATE;
    }
    uint64_t bytes = wr->sge.length;
    if (SIM_UNLIKELY(wr->num_sge != 0) &&
        !nic__list_length(&wr->sge, wr->sg_list, wr->num_sge, &bytes)) {
        return SIM_ERR_INVALID;
    }
    const bool send = wr->opcode == NIC_WR_SEND || wr->opcode == NIC_WR_SEND_WITH_IMM;
    if (wr->opcode > NIC_WR_ATOMIC_FETCH_AND_ADD || (qp->type == NIC_QPT_UD && !send) ||
        (qp->type == NIC_QPT_UC && wr->opcode >= NIC_WR_RDMA_READ) ||
        (wr->opcode >= NIC_WR_ATOMIC_CMP_AND_SWP && (bytes != 8 || wr->num_sge > 1))) {
        return SIM_ERR_INVALID;
    }
    if (qp->type == NIC_QPT_UD) {
        const nic_t *const nic = qp->nic;
        if (wr->ud.remote_interface >= net_interface_count(nic->host->node.net) ||
            !nic_reaches(nic, wr->ud.remote_interface) || wr->ud.remote_qpn < ROCE_QPN_GSI ||
            wr->ud.remote_qpn > ROCE_QPN_MASK) {
            return SIM_ERR_INVALID;
        }
    }
    if (bytes > NIC_MESSAGE_BYTES_MAX || (qp->type == NIC_QPT_UD && bytes > qp->mtu_bytes)) {
        return SIM_ERR_RANGE;
    }
    if (SIM_UNLIKELY(qp->nic->detailed) && (wr->send_flags & NIC_SEND_INLINE) != 0 &&
        bytes > nic_inline_max(qp->nic)) {
        return SIM_ERR_RANGE;
    }
    *length_bytes = bytes;
    return qp->sq_posted - qp->sq_done < qp->send_wr_max ? SIM_OK : SIM_ERR_FULL;
}

// Informs the NIC of a new WQE.
static inline void nic__doorbell(nic_qp_t *qp, uint32_t count, bool batch)
{
    if (SIM_UNLIKELY(qp->nic->rail != NULL) && nic__rail_follows(qp->nic)) {
        qp->sq_send = qp->sq_posted; // the leading rail sends
        return;
    }
    if (SIM_UNLIKELY((qp->flags & NIC_QP_CLOSED) != 0)) {
        nic__flush_late(qp);
    } else if ((qp->flags & NIC_QP_ACTIVE) == 0) {
        nic__cc_start(qp);
    }
    if (SIM_UNLIKELY(qp->nic->detailed) && qp->nic->device->post != NULL) {
        qp->nic->device->post(qp, count, batch);
        return;
    }
    nic__schedule(qp);
}

static void trace_post(const nic_qp_t *qp, const nic_send_wr_t *wr, uint64_t length_bytes)
{
    const nic_trace_t trace = {
        .point = NIC_TRACE_POST,
        .time_ps = nic__node(qp->nic)->now_ps,
        .nic = qp->nic,
        .qp = qp,
        .value = length_bytes,
        .wr = wr,
    };
    nic__trace_tell(&trace);
}

// Informs the ports of the NIC of a message, by which they number packets after a rest.
static SIM_NOINLINE void nic__draws_post(const nic_qp_t *qp, uint64_t label)
{
    nic_t *const nic = qp->nic;
    const uint32_t planes = nic->planes == NULL ? 1 : nic->planes->count;
    const uint64_t own = ++nic->unlabelled << 32 ^ qp->number;
    for (uint32_t plane = 0; plane < planes; plane++) {
        net_draws_post(&nic->port[plane], label != 0 ? label : own);
    }
}

// Returns the Q_Key that a datagram carries: the QP's own if the high bit is set (IBA vol. 1,
// 10.2.5).
static uint32_t qkey_of(const nic_qp_t *qp, const nic_send_wr_t *wr)
{
    return (wr->ud.remote_qkey & UINT32_C(0x80000000)) != 0 ? qp->qkey : wr->ud.remote_qkey;
}

static SIM_ALWAYS_INLINE sim_err_t append(nic_qp_t *qp, const nic_send_wr_t *wr)
{
    uint64_t length_bytes = 0;
    const sim_err_t error = check_send(qp, wr, &length_bytes);
    if (error != SIM_OK) {
        return error;
    }
    if (qp->sq_posted - qp->sq_done == nic__sq_capacity(qp)) {
        grow_send_queue(qp);
    }
    SIM_ASSERT(qp->sq_posted - qp->sq_done < nic__sq_capacity(qp));
    const nic_sge_t *const sge = SIM_LIKELY(wr->num_sge != 1) ? &wr->sge : wr->sg_list;
    const bool datagram = qp->type == NIC_QPT_UD;
    const bool atomic = nic__is_atomic((uint8_t)wr->opcode);
    if (datagram && wr->ud.remote_interface == qp->nic->interface && nic__may_loop(qp->nic)) {
        nic__loopback_open(qp->nic);
    }
    *nic__wqe(qp, qp->sq_posted) = (nic_wqe_t){
        .wr_id = wr->wr_id,
        .local_address = sge->addr,
        .remote_address = datagram ? (uint64_t)wr->ud.remote_interface << 32 | wr->ud.remote_qpn
                          : atomic ? wr->atomic.remote_addr
                                   : wr->rdma.remote_addr,
        .length = (uint32_t)length_bytes,
        .lkey = sge->lkey,
        .rkey = datagram ? qkey_of(qp, wr) : (atomic ? wr->atomic.rkey : wr->rdma.rkey),
        .immediate = wr->imm_data,
        .opcode = (uint8_t)wr->opcode,
        .flags = (uint8_t)((wr->send_flags & ~(NIC_WQE_HELD | NIC_WQE_LIST)) | qp->wqe_flags),
    };
    if (nic__needs_more(qp, wr)) {
        nic__set_more(qp, qp->sq_posted, wr);
    }
    qp->sq_posted++;
    if (SIM_UNLIKELY(qp->nic->rail != NULL)) {
        nic__rail_posted(qp);
    }
    if (SIM_UNLIKELY(qp->nic->draws) && !nic__rail_follows(qp->nic)) {
        nic__draws_post(qp, wr->label);
    }
    if (nic__traced(qp->nic, NIC_TRACE_POST)) {
        trace_post(qp, wr, length_bytes);
    }
    return SIM_OK;
}

sim_err_t nic_post_send(nic_qp_t *qp, const nic_send_wr_t *wr)
{
    const sim_err_t error = append(qp, wr);
    if (SIM_LIKELY(error == SIM_OK)) {
        nic__doorbell(qp, 1, false);
    }
    return error;
}

sim_err_t nic_post_send_list(nic_qp_t *qp, const nic_send_wr_t *wr, const nic_send_wr_t **bad)
{
    sim_err_t error = SIM_OK;
    uint32_t count = 0;
    while (wr != NULL) {
        error = append(qp, wr);
        if (error != SIM_OK) {
            break;
        }
        count++;
        wr = wr->next;
    }
    if (bad != NULL) {
        *bad = wr;
    }
    if (count != 0) {
        nic__doorbell(qp, count, count > 1);
    }
    return error;
}
