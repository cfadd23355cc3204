// SPDX-License-Identifier: Apache-2.0
// programs/verbs/srq.c - shared receive queues.

#include <errno.h>
#include <stdlib.h>

#include "programs/verbs/objects.h"

PROGRAM_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    if (!turn_enter("ibv_create_srq")) {
        errno = ENODEV;
        return NULL;
    }
    if (attr->attr.max_wr == 0 || attr->attr.max_wr > VERBS_MAX_SRQ_WR ||
        attr->attr.max_sge > PROGRAM_SGES_MAX) {
        errno = EINVAL;
        return NULL;
    }
    verbs_srq_t *srq = calloc(1, sizeof *srq);
    program_call_t call = {.op = PROGRAM_CREATE_SRQ,
                           .handle = pd->handle,
                           .count = attr->attr.max_wr};
    turn_charge_call();
    int error = srq == NULL ? ENOMEM : turn_call(&call);
    error = error == 0 ? verbs_add(VERBS_SRQ, call.handle, srq) : error;
    if (error != 0) {
        free(srq);
        errno = error;
        return NULL;
    }
    attr->attr.max_sge = attr->attr.max_sge == 0 ? 1 : attr->attr.max_sge;
    srq->attr = attr->attr;
    srq->base.context = pd->context;
    srq->base.srq_context = attr->srq_context;
    srq->base.pd = pd;
    srq->base.handle = call.handle;
    pthread_mutex_init(&srq->base.mutex, NULL);
    pthread_cond_init(&srq->base.cond, NULL);
    return &srq->base;
}

PROGRAM_EXPORT int ibv_modify_srq(struct ibv_srq *base, struct ibv_srq_attr *attr, int mask)
{
    verbs_srq_t *srq = (verbs_srq_t *)base;
    if (!turn_enter("ibv_modify_srq")) {
        return ENODEV;
    }
    if ((mask & IBV_SRQ_MAX_WR) != 0) {
        return EOPNOTSUPP;
    }
    if ((mask & IBV_SRQ_LIMIT) == 0) {
        return mask == 0 ? 0 : EINVAL;
    }
    if (attr->srq_limit > srq->attr.max_wr) {
        return EINVAL;
    }
    program_call_t call = {.op = PROGRAM_MODIFY_SRQ,
                           .handle = base->handle,
                           .count = attr->srq_limit};
    turn_charge_call();
    return turn_call(&call);
}

PROGRAM_EXPORT int ibv_query_srq(struct ibv_srq *base, struct ibv_srq_attr *attr)
{
    if (!turn_enter("ibv_query_srq")) {
        return ENODEV;
    }
    program_call_t call = {.op = PROGRAM_QUERY_SRQ, .handle = base->handle};
    turn_charge_call();
    const int error = turn_call(&call);
    *attr = ((verbs_srq_t *)base)->attr;
    attr->srq_limit = call.count;
    return error;
}

PROGRAM_EXPORT int ibv_destroy_srq(struct ibv_srq *base)
{
    if (turn_enter("ibv_destroy_srq")) {
        program_call_t call = {.op = PROGRAM_DESTROY_SRQ, .handle = base->handle};
        turn_charge_call();
        const int error = turn_call(&call);
        if (error != 0) {
            return error;
        }
    }
    verbs_remove(VERBS_SRQ, base->handle);
    free(base);
    return 0;
}
