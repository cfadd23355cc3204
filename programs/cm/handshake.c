// SPDX-License-Identifier: Apache-2.0
// programs/cm/handshake.c - connecting, accepting, refusing and ending.

#include <errno.h>
#include <string.h>

#include "programs/cm/ids.h"

#define RETRIES 7u // if the program does not say otherwise

// Returns a value of the program, which may ask for the maximum.
static uint32_t limited(uint32_t wish, uint32_t maximum)
{
    return wish == RDMA_MAX_RESP_RES ? maximum : wish;
}

// Copies private data behind what is there. Returns an errno value.
static int add_private(program_cm_t *cm, const void *data, size_t bytes)
{
    if (bytes > PROGRAM_CM_PRIVATE_MAX - cm->private_bytes) {
        return EINVAL;
    }
    if (bytes != 0) {
        memcpy(cm->private_data + cm->private_bytes, data, bytes);
        cm->private_bytes += (uint32_t)bytes;
    }
    return 0;
}

// Fills in the parameters of a connection. `resources` and `depth` are the maximum, and what is
// asked for without parameters. Returns an errno value.
static int fill(const cm_id_t *id, const struct rdma_conn_param *param, uint32_t resources,
                uint32_t depth, program_cm_t *cm)
{
    const struct ibv_qp *qp = id->base.qp;
    cm->responder_resources = resources;
    cm->initiator_depth = depth;
    cm->retry_count = RETRIES;
    cm->rnr_retry_count = RETRIES;
    cm->qkey = RDMA_UDP_QKEY;
    if (param != NULL) {
        cm->responder_resources = limited(param->responder_resources, resources);
        cm->initiator_depth = limited(param->initiator_depth, depth);
        cm->flow_control = param->flow_control & 1;
        cm->retry_count = param->retry_count & 7;
        cm->rnr_retry_count = param->rnr_retry_count & 7;
        cm->qp_num = param->qp_num;
        cm->srq = param->srq != 0;
    }
    if (qp != NULL) {
        cm->qp_num = qp->qp_num;
        cm->srq = qp->srq != NULL;
    }
    return param == NULL ? 0 : add_private(cm, param->private_data, param->private_data_len);
}

PROGRAM_EXPORT int rdma_connect(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    program_cm_t cm = {0};
    if (!cm_enter("rdma_connect")) {
        return -1;
    }
    if (base->verbs == NULL || (base->qp == NULL && param == NULL)) {
        return cm_return(EINVAL);
    }
    const uint32_t maximum = turn_shared->devices[verbs_device_of(base->verbs)].max_rd_atomic;
    int error = add_private(&cm, id->connect_data, id->connect_bytes);
    error = error != 0 ? error : fill(id, param, maximum, maximum, &cm);
    if (error == 0 && base->qp_type != IBV_QPT_UD &&
        (cm.responder_resources > maximum || cm.initiator_depth > maximum)) {
        error = EINVAL;
    }
    error = error != 0 ? error : cm_call(id, PROGRAM_CM_CONNECT, &cm);
    return error != 0 ? cm_return(error) : cm_complete(id);
}

PROGRAM_EXPORT int rdma_establish(struct rdma_cm_id *base)
{
    program_cm_t cm = {0};
    if (!cm_enter("rdma_establish")) {
        return -1;
    }
    // A queue pair of the identifier is moved before the program gets its event.
    const bool external = base->qp == NULL;
    return cm_return(external ? cm_call((cm_id_t *)(void *)base, PROGRAM_CM_ESTABLISH, &cm)
                              : EINVAL);
}

PROGRAM_EXPORT int rdma_accept(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    program_cm_t cm = {0};
    if (!cm_enter("rdma_accept")) {
        return -1;
    }
    if (base->verbs == NULL) {
        return cm_return(EINVAL);
    }
    const bool datagrams = base->qp_type == IBV_QPT_UD;
    const uint32_t maximum = turn_shared->devices[verbs_device_of(base->verbs)].max_rd_atomic;
    int error = fill(id, param, id->resources < maximum ? id->resources : maximum,
                     id->depth < maximum ? id->depth : maximum, &cm);
    if (error == 0 && !datagrams &&
        (cm.responder_resources > maximum || cm.initiator_depth > maximum)) {
        error = EINVAL;
    }
    if (error == 0 && !datagrams && base->qp != NULL) {
        error = cm_qp_connect(id, cm.responder_resources, cm.initiator_depth);
    }
    if (error == 0) {
        error = cm_call(id, PROGRAM_CM_ACCEPT, &cm);
        if (error != 0 && !datagrams) {
            cm_qp_fail(id);
        }
    }
    return error != 0 || datagrams ? cm_return(error) : cm_complete(id);
}

PROGRAM_EXPORT int rdma_reject(struct rdma_cm_id *base, const void *private_data,
                               uint8_t private_data_len)
{
    program_cm_t cm = {0};
    if (!cm_enter("rdma_reject")) {
        return -1;
    }
    const int error = add_private(&cm, private_data, private_data_len);
    return cm_return(error != 0 ? error : cm_call((cm_id_t *)(void *)base, PROGRAM_CM_REJECT, &cm));
}

PROGRAM_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
                                   uint8_t private_data_len)
{
    return rdma_reject(id, private_data, private_data_len);
}

PROGRAM_EXPORT int rdma_disconnect(struct rdma_cm_id *base)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    program_cm_t cm = {0};
    if (!cm_enter("rdma_disconnect")) {
        return -1;
    }
    cm_qp_fail(id);
    const int error = cm_call(id, PROGRAM_CM_DISCONNECT, &cm);
    return error != 0 ? cm_return(error) : cm_complete(id);
}

PROGRAM_EXPORT int rdma_notify(struct rdma_cm_id *base, enum ibv_event_type event)
{
    program_cm_t cm = {0};
    if (!cm_enter("rdma_notify")) {
        return -1;
    }
    return cm_return(event == IBV_EVENT_COMM_EST
                         ? cm_call((cm_id_t *)(void *)base, PROGRAM_CM_COMMUNICATES, &cm)
                         : EINVAL);
}

// -- enhanced connection establishment, which no device has

PROGRAM_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    (void)id;
    return ece == NULL ? cm_return(EINVAL) : 0;
}

PROGRAM_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    if (id->qp != NULL) {
        return cm_return(EINVAL);
    }
    memset(ece, 0, sizeof *ece);
    return 0;
}
