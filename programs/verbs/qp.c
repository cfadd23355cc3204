// SPDX-License-Identifier: Apache-2.0
// programs/verbs/qp.c - queue pairs.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "programs/trace.h"
#include "programs/verbs/objects.h"

// Bytes that a work request may hold inline in any case: programs use what a device grants.
#define INLINE_GRANTED 32u
#define CAP_FLAGS_KNOWN                                               \
    ((uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | \
                IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))

static const program_device_t *device_of(const struct ibv_context *context)
{
    return &turn_shared->devices[((const verbs_device_t *)(const void *)context->device)->index];
}

// Returns 0, or EINVAL if the device does not have what a program asks for.
static int check_cap(const struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
    const program_device_t *truth = device_of(context);
    const bool receives = attr->srq == NULL;
    if (attr->cap.max_send_wr > VERBS_MAX_QP_WR || attr->cap.max_send_sge > PROGRAM_SGES_MAX ||
        (receives &&
         (attr->cap.max_recv_wr > VERBS_MAX_QP_WR || attr->cap.max_recv_sge > PROGRAM_SGES_MAX)) ||
        attr->cap.max_inline_data > truth->inline_max ||
        attr->cap.max_inline_data > PROGRAM_INLINE_MAX || attr->send_cq == NULL ||
        attr->recv_cq == NULL) {
        return EINVAL;
    }
    return 0;
}

static int check_type(const struct ibv_qp_init_attr_ex *attr)
{
    if (attr->qp_type == IBV_QPT_RC || attr->qp_type == IBV_QPT_UC || attr->qp_type == IBV_QPT_UD) {
        return 0;
    }
    return EOPNOTSUPP;
}

static int allocate_queues(verbs_qp_t *qp)
{
    uint32_t size = 1;
    while (size < qp->cap.max_send_wr) {
        size *= 2;
    }
    qp->signaled = calloc(size, sizeof *qp->signaled);
    qp->signaled_mask = size - 1;
    return qp->signaled == NULL ? ENOMEM : 0;
}

static void release(verbs_qp_t *qp)
{
    if (qp != NULL) {
        if (qp->builder != NULL) {
            free(qp->builder->records);
        }
        free(qp->builder);
        free(qp->signaled);
        free(qp);
    }
}

// Asks the simulator for the queue pair, whose attributes were checked.
static int create(verbs_qp_t *qp, struct ibv_pd *pd, const struct ibv_qp_init_attr_ex *attr)
{
    program_call_t call = {.op = PROGRAM_CREATE_QP,
                           .handle = pd->handle,
                           .create = {.type = attr->qp_type,
                                      .send_cq = attr->send_cq->handle,
                                      .recv_cq = attr->recv_cq->handle,
                                      .srq = attr->srq == NULL ? 0 : attr->srq->handle,
                                      .max_send_wr = attr->cap.max_send_wr,
                                      .max_recv_wr = attr->srq == NULL ? attr->cap.max_recv_wr : 0,
                                      .signal_all = attr->sq_sig_all != 0}};
    turn_charge_call();
    int error = turn_call(&call);
    if (error != 0) {
        return error;
    }
    error = verbs_add(VERBS_QP, call.handle, qp);
    qp->base.context = pd->context;
    qp->base.qp_context = attr->qp_context;
    qp->base.pd = pd;
    qp->base.send_cq = attr->send_cq;
    qp->base.recv_cq = attr->recv_cq;
    qp->base.srq = attr->srq;
    if (attr->srq != NULL) {
        ((verbs_cq_t *)attr->recv_cq)->receives = true;
    }
    qp->base.handle = call.handle;
    qp->base.qp_num = call.handle;
    qp->base.qp_type = attr->qp_type;
    qp->base.state = IBV_QPS_RESET;
    pthread_mutex_init(&qp->base.mutex, NULL);
    pthread_cond_init(&qp->base.cond, NULL);
    TRACE("ibv_create_qp(%s, send_cq %u, recv_cq %u, %u sends, %u receives) = qp %u",
          attr->qp_type == IBV_QPT_RC   ? "RC"
          : attr->qp_type == IBV_QPT_UC ? "UC"
                                        : "UD",
          attr->send_cq->handle, attr->recv_cq->handle, attr->cap.max_send_wr,
          attr->cap.max_recv_wr, call.handle);
    return error;
}

struct ibv_qp *verbs_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    if (!turn_enter("ibv_create_qp")) {
        errno = ENODEV;
        return NULL;
    }
    const bool pd_missing = (attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attr->pd == NULL;
    const bool flags =
        (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && attr->create_flags != 0;
    int error = (attr->comp_mask & ~CAP_FLAGS_KNOWN) != 0 || flags ? EOPNOTSUPP
                : pd_missing                                       ? EINVAL
                                                                   : check_type(attr);
    error = error == 0 ? check_cap(context, attr) : error;
    verbs_qp_t *qp = error == 0 ? calloc(1, sizeof *qp) : NULL;
    if (error == 0 && qp == NULL) {
        error = ENOMEM;
    }
    if (error == 0) {
        qp->cap = attr->cap;
        if (qp->cap.max_inline_data < INLINE_GRANTED) {
            const uint32_t most = device_of(context)->inline_max;
            qp->cap.max_inline_data = most < INLINE_GRANTED ? most : INLINE_GRANTED;
        }
        qp->cap.max_send_sge = qp->cap.max_send_sge == 0 ? 1 : qp->cap.max_send_sge;
        qp->cap.max_recv_sge = qp->cap.max_recv_sge == 0 ? 1 : qp->cap.max_recv_sge;
        qp->signal_all = attr->sq_sig_all != 0;
        error = allocate_queues(qp);
    }
    if (error == 0 && (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) {
        qp->ex.comp_mask = attr->send_ops_flags;
        error = verbs_set_wr_ops(qp, attr->qp_type);
    }
    error = error == 0 ? create(qp, attr->pd, attr) : error;
    if (error != 0) {
        release(qp);
        errno = error;
        return NULL;
    }
    attr->cap = qp->cap;
    return &qp->base;
}

PROGRAM_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr_ex all = {.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd};
    memcpy(&all, attr, offsetof(struct ibv_qp_init_attr, sq_sig_all) + sizeof attr->sq_sig_all);
    struct ibv_qp *qp = verbs_create_qp(pd->context, &all);
    if (qp != NULL) {
        attr->cap = all.cap;
    }
    return qp;
}

PROGRAM_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    verbs_qp_t *all = (verbs_qp_t *)qp;
    return all->builder == NULL ? NULL : &all->ex;
}

// -- state

static uint32_t mtu_bytes_of(enum ibv_mtu mtu)
{
    return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

// Keeps what the program set, for ibv_query_qp.
static void note_attr(verbs_qp_t *qp, const struct ibv_qp_attr *attr, int mask)
{
    struct ibv_qp_attr *kept = &qp->attr;
#define NOTE(bit, field)           \
    if ((mask & (bit)) != 0) {     \
        kept->field = attr->field; \
    }
    NOTE(IBV_QP_PATH_MTU, path_mtu)
    NOTE(IBV_QP_PATH_MIG_STATE, path_mig_state)
    NOTE(IBV_QP_QKEY, qkey)
    NOTE(IBV_QP_RQ_PSN, rq_psn)
    NOTE(IBV_QP_SQ_PSN, sq_psn)
    NOTE(IBV_QP_DEST_QPN, dest_qp_num)
    NOTE(IBV_QP_ACCESS_FLAGS, qp_access_flags)
    NOTE(IBV_QP_AV, ah_attr)
    NOTE(IBV_QP_PKEY_INDEX, pkey_index)
    NOTE(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify)
    NOTE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic)
    NOTE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)
    NOTE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer)
    NOTE(IBV_QP_PORT, port_num)
    NOTE(IBV_QP_TIMEOUT, timeout)
    NOTE(IBV_QP_RETRY_CNT, retry_cnt)
    NOTE(IBV_QP_RNR_RETRY, rnr_retry)
#undef NOTE
}

static int check_attr(const struct ibv_qp_attr *attr, int mask)
{
    if ((mask & (IBV_QP_ALT_PATH | IBV_QP_RATE_LIMIT)) != 0) {
        return EOPNOTSUPP;
    }
    if (((mask & IBV_QP_PORT) != 0 && attr->port_num != 1) ||
        ((mask & IBV_QP_PKEY_INDEX) != 0 && attr->pkey_index != 0) ||
        ((mask & IBV_QP_PATH_MTU) != 0 && mtu_bytes_of(attr->path_mtu) == 0)) {
        return EINVAL;
    }
    uint8_t gid[16];
    return (mask & IBV_QP_AV) != 0 ? verbs_resolve_peer(&attr->ah_attr, gid) : 0;
}

static void fill_call(program_qp_t *to, const struct ibv_qp_attr *attr, int mask)
{
    *to = (program_qp_t){
        .mask = (uint32_t)mask,
        .state = (uint32_t)attr->qp_state,
        .path_mtu_bytes = (mask & IBV_QP_PATH_MTU) != 0 ? mtu_bytes_of(attr->path_mtu) : 0,
        .qkey = attr->qkey,
        .rq_psn = attr->rq_psn & 0xffffff,
        .sq_psn = attr->sq_psn & 0xffffff,
        .dest_qp_num = attr->dest_qp_num,
        .access = attr->qp_access_flags,
        .max_rd_atomic = attr->max_rd_atomic,
        .max_dest_rd_atomic = attr->max_dest_rd_atomic,
        .min_rnr_timer = attr->min_rnr_timer,
        .timeout = attr->timeout,
        .retry_cnt = attr->retry_cnt,
        .rnr_retry = attr->rnr_retry,
        .service_level = attr->ah_attr.sl,
        .traffic_class = attr->ah_attr.grh.traffic_class,
        .flow_label = attr->ah_attr.grh.flow_label,
        .draining = (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0 && attr->en_sqd_async_notify != 0,
    };
    if ((mask & IBV_QP_AV) != 0) {
        (void)verbs_resolve_peer(&attr->ah_attr, to->gid);
    }
}

void verbs_reset_queues(verbs_qp_t *qp)
{
    verbs_forget_completions(qp->base.send_cq, qp->base.qp_num);
    verbs_forget_completions(qp->base.recv_cq, qp->base.qp_num);
    ((verbs_cq_t *)qp->base.send_cq)->sends -= qp->posted - qp->retired;
    qp->posted = 0;
    qp->retired = 0;
    qp->signaled_first = 0;
    qp->signaled_count = 0;
    qp->receives = 0;
}

static void trace_modify(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask,
                         int error)
{
    static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
    char peer[32] = "";
    if ((mask & IBV_QP_DEST_QPN) != 0) {
        snprintf(peer, sizeof peer, ", peer's qp %u", attr->dest_qp_num);
    }
    trace_write(
        "ibv_modify_qp(qp %u%s%s%s) = %d", qp->qp_num, (mask & IBV_QP_STATE) != 0 ? ", " : "",
        (mask & IBV_QP_STATE) != 0 && attr->qp_state < IBV_QPS_UNKNOWN ? states[attr->qp_state]
                                                                       : "",
        peer, error);
}

PROGRAM_EXPORT int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
    verbs_qp_t *qp = (verbs_qp_t *)base;
    if (!turn_enter("ibv_modify_qp")) {
        return ENODEV;
    }
    int error = check_attr(attr, mask);
    if (error != 0) {
        return error;
    }
    program_call_t call = {.op = PROGRAM_MODIFY_QP, .handle = base->handle};
    fill_call(&call.qp, attr, mask);
    turn_charge_call();
    error = turn_call(&call);
    if (trace_on) {
        trace_modify(base, attr, mask, error);
    }
    if (error != 0) {
        return error;
    }
    note_attr(qp, attr, mask);
    if ((mask & IBV_QP_STATE) != 0) {
        base->state = attr->qp_state;
        if (attr->qp_state == IBV_QPS_RESET) {
            qp->attr = (struct ibv_qp_attr){0};
            verbs_reset_queues(qp);
        }
    }
    return 0;
}

PROGRAM_EXPORT int ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask,
                                struct ibv_qp_init_attr *init_attr)
{
    verbs_qp_t *qp = (verbs_qp_t *)base;
    (void)mask;
    if (!turn_enter("ibv_query_qp")) {
        return ENODEV;
    }
    program_call_t call = {.op = PROGRAM_QUERY_QP, .handle = base->handle};
    turn_charge_call();
    const int error = turn_call(&call);
    if (error != 0) {
        return error;
    }
    base->state = (enum ibv_qp_state)call.qp.state;
    TRACE("ibv_query_qp(qp %u) = 0", base->qp_num);
    *attr = qp->attr;
    attr->qp_state = base->state;
    attr->cur_qp_state = base->state;
    attr->sq_psn = call.qp.sq_psn;
    attr->rq_psn = call.qp.rq_psn;
    attr->sq_draining = call.qp.draining != 0;
    attr->cap = qp->cap;
    *init_attr = (struct ibv_qp_init_attr){.qp_context = base->qp_context,
                                           .send_cq = base->send_cq,
                                           .recv_cq = base->recv_cq,
                                           .srq = base->srq,
                                           .cap = qp->cap,
                                           .qp_type = base->qp_type,
                                           .sq_sig_all = qp->signal_all};
    return 0;
}

PROGRAM_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode,
                                              uint32_t flags)
{
    (void)qp;
    (void)opcode;
    (void)flags;
    return 0;
}

PROGRAM_EXPORT int ibv_destroy_qp(struct ibv_qp *base)
{
    verbs_qp_t *qp = (verbs_qp_t *)base;
    if (turn_enter("ibv_destroy_qp")) {
        program_call_t call = {.op = PROGRAM_DESTROY_QP, .handle = base->handle};
        turn_charge_call();
        const int error = turn_call(&call);
        if (error != 0) {
            return error;
        }
    }
    TRACE("ibv_destroy_qp(qp %u) = 0", base->qp_num);
    verbs_remove(VERBS_QP, base->handle);
    verbs_forget_completions(base->send_cq, base->qp_num);
    verbs_forget_completions(base->recv_cq, base->qp_num);
    release(qp);
    return 0;
}

static int change_group(struct ibv_qp *qp, const union ibv_gid *gid, uint32_t joins)
{
    program_call_t call = {.op = PROGRAM_GROUP, .handle = qp->handle, .flags = joins};
    if (!turn_enter(joins != 0 ? "ibv_attach_mcast" : "ibv_detach_mcast")) {
        return EOPNOTSUPP;
    }
    memcpy(call.qp.gid, gid->raw, sizeof call.qp.gid);
    turn_charge_call();
    const int error = turn_call(&call);
    TRACE("ibv_%s_mcast(qp %u) = %d", joins != 0 ? "attach" : "detach", qp->qp_num, error);
    return error;
}

PROGRAM_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)lid;
    return change_group(qp, gid, 1);
}

PROGRAM_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)lid;
    return change_group(qp, gid, 0);
}

PROGRAM_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    (void)ece;
    return EOPNOTSUPP;
}

PROGRAM_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    memset(ece, 0, sizeof *ece);
    return 0;
}
