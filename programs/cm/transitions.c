// SPDX-License-Identifier: Apache-2.0
// programs/cm/transitions.c - the queue pairs of identifiers: the library moves them through their
// states, with attributes that the connection manager has negotiated.

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "programs/cm/ids.h"

// Fills in the attributes for the next state, which qp_state names. Returns an errno value.
static int get_attributes(const cm_id_t *id, struct ibv_qp_attr *attr, int *mask)
{
    program_call_t call = {.op = PROGRAM_CM,
                           .handle = id->handle,
                           .qp = {.state = (uint32_t)attr->qp_state}};
    turn_hold();
    turn_shared->cm = (program_cm_t){.action = PROGRAM_CM_ATTRIBUTES};
    const int error = turn_call(&call);
    turn_release();
    if (error != 0) {
        return error;
    }
    const bool datagrams = id->base.qp_type == IBV_QPT_UD;
    const program_qp_t *qp = &call.qp;
    *mask = IBV_QP_STATE;
    switch (attr->qp_state) {
    case IBV_QPS_INIT:
        *mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | (datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
        attr->port_num = 1;
        attr->pkey_index = 0;
        attr->qkey = RDMA_UDP_QKEY;
        // The simulator's bits are those of enum ibv_access_flags.
        attr->qp_access_flags = qp->access;
        return 0;
    case IBV_QPS_RTR:
        if (datagrams) {
            return 0;
        }
        *mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        attr->ah_attr = (struct ibv_ah_attr){.is_global = 1, .port_num = 1};
        attr->ah_attr.sl = (uint8_t)qp->service_level;
        attr->ah_attr.grh.traffic_class = (uint8_t)qp->traffic_class;
        attr->ah_attr.grh.hop_limit = 64;
        memcpy(attr->ah_attr.grh.dgid.raw, qp->gid, sizeof qp->gid);
        for (attr->path_mtu = IBV_MTU_256; 128u << attr->path_mtu < qp->path_mtu_bytes;) {
            attr->path_mtu++;
        }
        attr->dest_qp_num = qp->dest_qp_num;
        attr->rq_psn = qp->rq_psn;
        attr->max_dest_rd_atomic = (uint8_t)qp->max_dest_rd_atomic;
        attr->min_rnr_timer = 0;
        return 0;
    case IBV_QPS_RTS:
        *mask |= IBV_QP_SQ_PSN;
        attr->sq_psn = qp->sq_psn;
        if (!datagrams) {
            *mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
            attr->timeout = (uint8_t)qp->timeout;
            attr->retry_cnt = (uint8_t)qp->retry_cnt;
            attr->rnr_retry = (uint8_t)qp->rnr_retry;
            attr->max_rd_atomic = (uint8_t)qp->max_rd_atomic;
        }
        return 0;
    case IBV_QPS_RESET:
    case IBV_QPS_SQD:
    case IBV_QPS_SQE:
    case IBV_QPS_ERR:
    case IBV_QPS_UNKNOWN:
    default:
        return EINVAL;
    }
}

PROGRAM_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    if (!cm_enter("rdma_init_qp_attr")) {
        return -1;
    }
    return cm_return(get_attributes((cm_id_t *)(void *)id, attr, mask));
}

static int move(const cm_id_t *id, enum ibv_qp_state state, uint32_t resources, uint32_t depth)
{
    struct ibv_qp_attr attr = {.qp_state = state};
    int mask = 0;
    const int error = get_attributes(id, &attr, &mask);
    if (error != 0) {
        return error;
    }
    if (resources != RDMA_MAX_RESP_RES) {
        attr.max_dest_rd_atomic = (uint8_t)resources;
    }
    if (depth != RDMA_MAX_INIT_DEPTH) {
        attr.max_rd_atomic = (uint8_t)depth;
    }
    return ibv_modify_qp(id->base.qp, &attr, mask);
}

int cm_qp_connect(cm_id_t *id, uint32_t resources, uint32_t depth)
{
    // Again to INIT: what the peer may do is known only now.
    static const enum ibv_qp_state states[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
    int error = 0;
    for (size_t i = 0; i < sizeof states / sizeof *states && error == 0; i++) {
        error = move(id, states[i], resources, depth);
    }
    return error;
}

void cm_qp_fail(cm_id_t *id)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    if (id->base.qp != NULL && id->base.qp_type != IBV_QPT_UD) {
        (void)ibv_modify_qp(id->base.qp, &attr, IBV_QP_STATE);
    }
}

// -- completion queues, where a program gives none

static struct ibv_cq *create_cq(cm_id_t *id, uint32_t entries, struct ibv_comp_channel **channel)
{
    *channel = ibv_create_comp_channel(id->base.verbs);
    return *channel == NULL
               ? NULL
               : ibv_create_cq(id->base.verbs, (int)(entries == 0 ? 1 : entries), id, *channel, 0);
}

static void destroy_cq(struct ibv_cq **cq, struct ibv_comp_channel **channel)
{
    if (*cq != NULL) {
        (void)ibv_destroy_cq(*cq);
    }
    if (*channel != NULL) {
        (void)ibv_destroy_comp_channel(*channel);
    }
    *cq = NULL;
    *channel = NULL;
}

static void destroy_cqs(cm_id_t *id)
{
    destroy_cq(&id->base.recv_cq, &id->base.recv_cq_channel);
    destroy_cq(&id->base.send_cq, &id->base.send_cq_channel);
}

static bool create_cqs(cm_id_t *id, struct ibv_qp_init_attr_ex *attr)
{
    if (attr->recv_cq == NULL) {
        id->base.recv_cq = create_cq(id, attr->cap.max_recv_wr, &id->base.recv_cq_channel);
        attr->recv_cq = id->base.recv_cq;
    }
    if (attr->send_cq == NULL) {
        id->base.send_cq = create_cq(id, attr->cap.max_send_wr, &id->base.send_cq_channel);
        attr->send_cq = id->base.send_cq;
    }
    return attr->recv_cq != NULL && attr->send_cq != NULL;
}

// -- queue pairs

// Moves a new queue pair to INIT; one of datagrams is then ready for everything.
static int prepare(const cm_id_t *id)
{
    int error = move(id, IBV_QPS_INIT, RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH);
    if (error == 0 && id->base.qp_type == IBV_QPT_UD) {
        error = move(id, IBV_QPS_RTR, RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH);
        error = error != 0 ? error : move(id, IBV_QPS_RTS, RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH);
    }
    return error;
}

PROGRAM_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *base, struct ibv_qp_init_attr_ex *attr)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    if (!cm_enter("rdma_create_qp")) {
        return -1;
    }
    if (base->verbs == NULL || base->qp != NULL) {
        return cm_return(EINVAL);
    }
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attr->pd == NULL) {
        attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
        attr->pd = base->pd;
    }
    if (attr->pd == NULL || attr->pd->context != base->verbs) {
        return cm_return(EINVAL);
    }
    attr->srq = attr->srq == NULL ? base->srq : attr->srq;
    int error = create_cqs(id, attr) ? 0 : ENOMEM;
    if (error == 0) {
        base->qp = verbs_create_qp(base->verbs, attr);
        error = base->qp == NULL ? errno : prepare(id);
    }
    if (error != 0) {
        rdma_destroy_qp(base);
        return cm_return(error);
    }
    base->pd = attr->pd;
    return 0;
}

PROGRAM_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
                                  struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr_ex all = {.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd};
    memcpy(&all, attr, offsetof(struct ibv_qp_init_attr, sq_sig_all) + sizeof attr->sq_sig_all);
    const int result = rdma_create_qp_ex(id, &all);
    memcpy(attr, &all, offsetof(struct ibv_qp_init_attr, sq_sig_all) + sizeof attr->sq_sig_all);
    return result;
}

PROGRAM_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
    if (id->qp != NULL) {
        (void)ibv_destroy_qp(id->qp);
        id->qp = NULL;
    }
    destroy_cqs((cm_id_t *)(void *)id);
}

// -- shared receive queues

PROGRAM_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
                                   struct ibv_srq_init_attr *attr)
{
    if (!cm_enter("rdma_create_srq")) {
        return -1;
    }
    pd = pd == NULL ? id->pd : pd;
    if (id->verbs == NULL || pd == NULL || pd->context != id->verbs) {
        return cm_return(EINVAL);
    }
    struct ibv_srq *srq = ibv_create_srq(pd, attr);
    if (srq == NULL) {
        return -1;
    }
    id->srq = srq;
    id->pd = pd;
    return 0;
}

PROGRAM_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 && attr->srq_type != IBV_SRQT_BASIC) {
        return cm_return(EOPNOTSUPP);
    }
    struct ibv_srq_init_attr basic = {.srq_context = attr->srq_context, .attr = attr->attr};
    return rdma_create_srq(id, (attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) != 0 ? attr->pd : NULL,
                           &basic);
}

PROGRAM_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
    if (id->srq != NULL) {
        (void)ibv_destroy_srq(id->srq);
        id->srq = NULL;
    }
}
