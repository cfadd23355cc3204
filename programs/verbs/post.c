// SPDX-License-Identifier: Apache-2.0
// programs/verbs/post.c - posting work requests: records in the ring that the next call works on.

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "programs/trace.h"
#include "programs/verbs/objects.h"

uint64_t verbs_post_answers;

// -- room in the work queues

bool verbs_count_send(verbs_qp_t *qp, bool signaled)
{
    if (qp->posted - qp->retired >= qp->cap.max_send_wr) {
        return false;
    }
    if (signaled) {
        qp->signaled[(qp->signaled_first + qp->signaled_count) & qp->signaled_mask] = qp->posted;
        qp->signaled_count++;
    }
    qp->posted++;
    verbs_cq_t *cq = (verbs_cq_t *)qp->base.send_cq;
    if (cq->answers != turn_answers) {
        cq->answers = turn_answers;
        cq->sends_before = cq->sends;
    }
    cq->sends++;
    return true;
}

static void retire_until(verbs_qp_t *qp, uint64_t retired)
{
    ((verbs_cq_t *)qp->base.send_cq)->sends -= retired - qp->retired;
    qp->retired = retired;
}

static void retire_send(verbs_qp_t *qp, bool success)
{
    if (success && qp->signaled_count != 0) {
        retire_until(qp, qp->signaled[qp->signaled_first & qp->signaled_mask] + 1);
        qp->signaled_first++;
        qp->signaled_count--;
        return;
    }
    // After an error every work request completes, signaled or not.
    retire_until(qp, qp->retired + (qp->retired < qp->posted));
    while (qp->signaled_count != 0 &&
           qp->signaled[qp->signaled_first & qp->signaled_mask] < qp->retired) {
        qp->signaled_first++;
        qp->signaled_count--;
    }
}

void verbs_retire(const program_completion_t *completion)
{
    verbs_qp_t *qp = verbs_find(VERBS_QP, completion->qp_num);
    if (qp == NULL) {
        return;
    }
    if (completion->status != IBV_WC_SUCCESS && qp->base.qp_type != IBV_QPT_UD) {
        qp->base.state = IBV_QPS_ERR;
    }
    if (completion->is_send != 0) {
        retire_send(qp, completion->status == IBV_WC_SUCCESS);
    } else if (qp->base.srq != NULL) {
        verbs_srq_t *srq = (verbs_srq_t *)qp->base.srq;
        srq->waiting -= srq->waiting != 0;
    } else {
        qp->receives -= qp->receives != 0;
    }
}

// -- the ring

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

// Writes a record and what follows it. Sets its `bytes` and `lead_ps`.
static void put(program_post_t *record, const void *rest, size_t rest_bytes)
{
    const size_t bytes = sizeof *record + padded(rest_bytes);
    uint8_t *place = turn_reserve(bytes);
    record->bytes = (uint32_t)bytes;
    record->lead_ps = turn_shared->lead_ps;
    memcpy(place, record, sizeof *record);
    if (rest_bytes != 0) {
        memcpy(place + sizeof *record, rest, rest_bytes);
    }
}

void verbs_put_record(const program_post_t *record, const void *rest, size_t rest_bytes)
{
    turn_begin_post();
    if (turn_shared->post_ps != PROGRAM_NEVER) {
        turn_charge(turn_shared->post_ps);
    }
    verbs_post_answers = turn_answers;
    if (record->kind == PROGRAM_SEND) {
        turn_forget_foreseen();
    }
    program_post_t head = *record;
    put(&head, rest, rest_bytes);
    if (trace_on) {
        trace_post(record, rest);
    }
    turn_act();
}

void verbs_put_empty_poll(uint32_t cq)
{
    program_post_t record = {.kind = PROGRAM_EMPTY_POLL, .handle = cq};
    put(&record, NULL, 0);
    turn_answer_here();
}

// A post may complete before the next poll: at once in a queue pair that has failed, and without a
// network where nobody acknowledges.
void verbs_expect_completions(const struct ibv_qp *qp)
{
    if (qp->state == IBV_QPS_ERR || qp->qp_type != IBV_QPT_RC || turn_shared->post_ps == 0) {
        turn_shared->quiet = 0;
    }
}

// -- sends

static int check_opcode(const verbs_qp_t *qp, enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
        return 0;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return qp->base.qp_type == IBV_QPT_UD ? EINVAL : 0;
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return qp->base.qp_type == IBV_QPT_RC ? 0 : EINVAL;
    case IBV_WR_LOCAL_INV:
    case IBV_WR_BIND_MW:
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_TSO:
    case IBV_WR_DRIVER1:
    case IBV_WR_ATOMIC_WRITE:
    default:
        return EOPNOTSUPP;
    }
}

// Copies the operands that the opcode has into the record.
static int fill_operands(program_post_t *record, const verbs_qp_t *qp, const struct ibv_send_wr *wr)
{
    record->immediate = be32toh(wr->imm_data);
    if (qp->base.qp_type == IBV_QPT_UD) {
        return verbs_put_peer(record, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
    }
    if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        record->remote_address = wr->wr.atomic.remote_addr;
        record->rkey = wr->wr.atomic.rkey;
        record->compare_add = wr->wr.atomic.compare_add;
        record->swap = wr->wr.atomic.swap;
    } else if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM) {
        record->remote_address = wr->wr.rdma.remote_addr;
        record->rkey = wr->wr.rdma.rkey;
    }
    return 0;
}

// Copies the payload of an inline request. Returns EINVAL if it is too long.
static int gather(const struct ibv_send_wr *wr, uint32_t most, uint8_t *payload, uint32_t *length)
{
    uint32_t total = 0;
    for (int i = 0; i < wr->num_sge; i++) {
        const struct ibv_sge *sge = &wr->sg_list[i];
        if (sge->length > most - total) {
            return EINVAL;
        }
        memcpy(payload + total, (const void *)(uintptr_t)sge->addr, sge->length);
        total += sge->length;
    }
    *length = total;
    return 0;
}

int verbs_check_payload(const verbs_qp_t *qp, uint32_t opcode, uint32_t flags, uint64_t bytes)
{
    const bool atomic =
        opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    const bool fetches = atomic || opcode == IBV_WR_RDMA_READ;
    const uint32_t mtu_bytes = turn_shared->devices[verbs_device_of(qp->base.context)].mtu_bytes;
    return (atomic && bytes < 8) || (fetches && (flags & IBV_SEND_INLINE) != 0) ||
                   (qp->base.qp_type == IBV_QPT_UD && bytes > mtu_bytes)
               ? EINVAL
               : 0;
}

static uint64_t sum_places(const struct ibv_send_wr *wr)
{
    uint64_t bytes = 0;
    for (int i = 0; i < wr->num_sge; i++) {
        bytes += wr->sg_list[i].length;
    }
    return bytes;
}

static int post_one(verbs_qp_t *qp, const struct ibv_send_wr *wr)
{
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge) {
        return EINVAL;
    }
    const bool inlined = (wr->send_flags & IBV_SEND_INLINE) != 0;
    program_post_t record = {.kind = PROGRAM_SEND,
                             .handle = qp->base.handle,
                             .opcode = (uint32_t)wr->opcode,
                             .flags = wr->send_flags,
                             .chained = wr->next != NULL,
                             .wr_id = wr->wr_id};
    uint8_t payload[PROGRAM_INLINE_MAX];
    int error = check_opcode(qp, wr->opcode);
    error =
        error == 0 ? verbs_check_payload(qp, record.opcode, wr->send_flags, sum_places(wr)) : error;
    error = error == 0 ? fill_operands(&record, qp, wr) : error;
    if (error == 0 && inlined) {
        error = gather(wr, qp->cap.max_inline_data, payload, &record.inline_bytes);
    }
    if (error != 0) {
        return error;
    }
    if (!verbs_count_send(qp, qp->signal_all || (wr->send_flags & IBV_SEND_SIGNALED) != 0)) {
        return ENOMEM;
    }
    if (inlined) {
        verbs_put_record(&record, payload, record.inline_bytes);
    } else {
        record.sge_count = (uint32_t)wr->num_sge;
        verbs_put_record(&record, wr->sg_list, record.sge_count * sizeof(program_sge_t));
    }
    return 0;
}

// Both structs have an address, a length and a key of the same sizes.
_Static_assert(sizeof(struct ibv_sge) == sizeof(program_sge_t), "lists of places are copied");

static int post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    verbs_qp_t *qp = (verbs_qp_t *)base;
    if (!turn_enter("ibv_post_send")) {
        *bad = wr;
        return ENODEV;
    }
    int error = base->state < IBV_QPS_RTS ? EINVAL : 0;
    verbs_expect_completions(base);
    while (wr != NULL && error == 0) {
        error = post_one(qp, wr);
        wr = error == 0 ? wr->next : wr;
    }
    if (error != 0) {
        *bad = wr;
    }
    return error;
}

// -- receives

static void put_receive(uint32_t kind, uint32_t handle, const struct ibv_recv_wr *wr)
{
    const program_post_t record = {.kind = kind,
                                   .handle = handle,
                                   .chained = wr->next != NULL,
                                   .sge_count = (uint32_t)wr->num_sge,
                                   .wr_id = wr->wr_id};
    verbs_put_record(&record, wr->sg_list, record.sge_count * sizeof(program_sge_t));
}

static int post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    verbs_qp_t *qp = (verbs_qp_t *)base;
    if (!turn_enter("ibv_post_recv")) {
        *bad = wr;
        return ENODEV;
    }
    int error = base->state == IBV_QPS_RESET || base->srq != NULL ? EINVAL : 0;
    if (base->state == IBV_QPS_ERR) {
        verbs_expect_completions(base);
    }
    for (; wr != NULL && error == 0; wr = error == 0 ? wr->next : wr) {
        if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_recv_sge) {
            error = EINVAL;
        } else if (qp->receives >= qp->cap.max_recv_wr) {
            error = ENOMEM;
        } else {
            qp->receives++;
            ((verbs_cq_t *)base->recv_cq)->receives = true;
            put_receive(PROGRAM_RECV, base->handle, wr);
        }
    }
    if (error != 0) {
        *bad = wr;
    }
    return error;
}

static int post_srq_recv(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    verbs_srq_t *srq = (verbs_srq_t *)base;
    if (!turn_enter("ibv_post_srq_recv")) {
        *bad = wr;
        return ENODEV;
    }
    int error = 0;
    for (; wr != NULL && error == 0; wr = error == 0 ? wr->next : wr) {
        if (wr->num_sge < 0 || (uint32_t)wr->num_sge > srq->attr.max_sge) {
            error = EINVAL;
        } else if (srq->waiting >= srq->attr.max_wr) {
            error = ENOMEM;
        } else {
            srq->waiting++;
            put_receive(PROGRAM_SRQ_RECV, base->handle, wr);
        }
    }
    if (error != 0) {
        *bad = wr;
    }
    return error;
}

// -- what the device does not have

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    (void)pd;
    (void)type;
    errno = EOPNOTSUPP;
    return NULL;
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    (void)qp;
    (void)mw;
    (void)bind;
    return EOPNOTSUPP;
}

static int dealloc_mw(struct ibv_mw *mw)
{
    (void)mw;
    return EOPNOTSUPP;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
    (void)xrcd;
    return EOPNOTSUPP;
}

void verbs_set_post_ops(struct verbs_context *verbs)
{
    struct ibv_context_ops *ops = &verbs->context.ops;
    ops->post_send = post_send;
    ops->post_recv = post_recv;
    ops->post_srq_recv = post_srq_recv;
    ops->alloc_mw = alloc_mw;
    ops->bind_mw = bind_mw;
    ops->dealloc_mw = dealloc_mw;
    verbs->create_qp_ex = verbs_create_qp;
    verbs->close_xrcd = close_xrcd;
}
