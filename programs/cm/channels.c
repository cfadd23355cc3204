// SPDX-License-Identifier: Apache-2.0
// programs/cm/channels.c - channels of events, and the events.
//
// A channel is a pipe of the handles of identifiers that have an event. So poll() and its like can
// wait for it. The events themselves lie at the simulator until they are taken.

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/cm/ids.h"
#include "programs/parts.h"
#include "programs/process/descriptors.h"
#include "programs/system.h"
#include "programs/trace.h"

#define PIPE_BYTES (1 << 20)

PROGRAM_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
    if (!cm_enter("rdma_create_event_channel")) {
        return NULL;
    }
    cm_channel_t *channel = calloc(1, sizeof *channel);
    int ends[2];
    const int error = channel == NULL ? ENOMEM : verbs_create_pipe(ends);
    if (error != 0) {
        free(channel);
        errno = error;
        return NULL;
    }
    system_call(SYS_fcntl, ends[1], F_SETPIPE_SZ, PIPE_BYTES);
    channel->base.fd = ends[0];
    channel->events_fd = ends[1];
    return &channel->base;
}

PROGRAM_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *base)
{
    system_call(SYS_close, base->fd);
    descriptors_close(((cm_channel_t *)base)->events_fd);
    free(base);
}

void parts_deliver_cm_event(uint32_t handle)
{
    const cm_id_t *id = verbs_find(VERBS_CM_ID, handle);
    if (id != NULL) {
        const verbs_event_t record = {.kind = PROGRAM_EVENT_CM, .handle = handle};
        system_call(SYS_write, ((const cm_channel_t *)(const void *)id->base.channel)->events_fd,
                    &record, sizeof record);
    }
}

void cm_channel_move_events(cm_id_t *id, cm_channel_t *to)
{
    const cm_channel_t *from = (const cm_channel_t *)(const void *)id->base.channel;
    const long flags = system_call(SYS_fcntl, from->base.fd, F_GETFL);
    verbs_event_t record;
    turn_hold();
    system_call(SYS_fcntl, from->base.fd, F_SETFL, flags | O_NONBLOCK);
    // The mark of the end: what lies behind it has been looked at.
    const verbs_event_t mark = {0};
    system_call(SYS_write, from->events_fd, &mark, sizeof mark);
    while (system_call(SYS_read, from->base.fd, &record, sizeof record) == (long)sizeof record &&
           record.kind != mark.kind) {
        const bool its_own = record.handle == id->handle;
        if (!its_own || to != NULL) {
            system_call(SYS_write, its_own ? to->events_fd : from->events_fd, &record,
                        sizeof record);
        }
    }
    system_call(SYS_fcntl, from->base.fd, F_SETFL, flags);
    turn_release();
}

PROGRAM_EXPORT int rdma_migrate_id(struct rdma_cm_id *base, struct rdma_event_channel *channel)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    const bool synchronous = channel == NULL;
    channel = synchronous ? rdma_create_event_channel() : channel;
    if (channel == NULL) {
        return -1;
    }
    if (id->synchronous && base->event != NULL) {
        rdma_ack_cm_event(base->event);
        base->event = NULL;
    }
    cm_channel_move_events(id, (cm_channel_t *)channel);
    if (id->synchronous) {
        rdma_destroy_event_channel(base->channel);
    }
    base->channel = channel;
    id->synchronous = synchronous;
    return 0;
}

// -- events

// Makes the identifier of a request. Returns an errno value.
static int add_request(cm_event_t *event, const program_cm_t *cm)
{
    const cm_id_t *listener = event->holder;
    cm_id_t *id = cm_id_create(listener->base.channel, cm->request, listener->base.context,
                               listener->base.ps, listener->base.qp_type);
    if (id == NULL) {
        return ENOMEM;
    }
    id->domain = listener->domain;
    id->resources = cm->responder_resources;
    id->depth = cm->initiator_depth;
    cm_id_update(id, cm);
    event->base.listen_id = event->base.id;
    event->base.id = &id->base;
    if (listener->synchronous) {
        return rdma_migrate_id(&id->base, NULL) == 0 ? 0 : errno;
    }
    return 0;
}

static void fill_address(const cm_id_t *id, struct ibv_ah_attr *attr)
{
    program_call_t call = {.op = PROGRAM_CM, .handle = id->handle, .qp = {.state = IBV_QPS_RTR}};
    turn_hold();
    turn_shared->cm = (program_cm_t){.action = PROGRAM_CM_ATTRIBUTES};
    (void)turn_call(&call);
    turn_release();
    *attr = (struct ibv_ah_attr){.is_global = 1, .port_num = 1, .grh = {.hop_limit = 64}};
    attr->sl = (uint8_t)call.qp.service_level;
    attr->grh.traffic_class = (uint8_t)call.qp.traffic_class;
    memcpy(attr->grh.dgid.raw, call.qp.gid, sizeof attr->grh.dgid.raw);
}

static void fill(cm_event_t *event, const program_cm_t *cm)
{
    cm_id_t *id = event->holder;
    const bool has_private = cm->private_bytes != 0;
    event->base.id = &id->base;
    event->base.event = (enum rdma_cm_event_type)cm->event;
    event->base.status = cm->status;
    memcpy(event->private_data, cm->private_data, sizeof event->private_data);
    if (id->base.qp_type == IBV_QPT_UD) {
        event->base.param.ud.private_data = has_private ? event->private_data : NULL;
        event->base.param.ud.private_data_len = (uint8_t)cm->private_bytes;
        event->base.param.ud.qp_num = cm->qp_num;
        event->base.param.ud.qkey = cm->qkey;
        if (cm->event == RDMA_CM_EVENT_ESTABLISHED) {
            fill_address(id, &event->base.param.ud.ah_attr);
        }
        return;
    }
    event->base.param.conn = (struct rdma_conn_param){
        .private_data = has_private ? event->private_data : NULL,
        .private_data_len = (uint8_t)cm->private_bytes,
        .responder_resources = (uint8_t)cm->responder_resources,
        .initiator_depth = (uint8_t)cm->initiator_depth,
        .flow_control = (uint8_t)cm->flow_control,
        .retry_count = (uint8_t)cm->retry_count,
        .rnr_retry_count = (uint8_t)cm->rnr_retry_count,
        .srq = (uint8_t)cm->srq,
        .qp_num = cm->qp_num,
    };
}

// Does what the library has to do before the program sees the event.
static void work_on(cm_event_t *event, const program_cm_t *cm)
{
    cm_id_t *id = event->holder;
    program_cm_t answer = {0};
    int error = 0;
    switch (event->base.event) {
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        id->base.route.path_rec = &id->path;
        id->base.route.num_paths = 1;
        break;
    case RDMA_CM_EVENT_CONNECT_REQUEST:
        error = add_request(event, cm);
        event->base.status = -error;
        break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        if (id->base.qp == NULL) {
            break; // the program connects it, and calls rdma_establish
        }
        error = cm_qp_connect(id, RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH);
        if (error == 0) {
            error = cm_call(id, PROGRAM_CM_ESTABLISH, &answer);
        }
        event->base.event = RDMA_CM_EVENT_ESTABLISHED;
        if (error != 0) {
            cm_qp_fail(id);
            (void)cm_call(id, PROGRAM_CM_REJECT, &answer);
            event->base.event = RDMA_CM_EVENT_CONNECT_ERROR;
            event->base.status = -error;
        }
        break;
    case RDMA_CM_EVENT_REJECTED:
        cm_qp_fail(id);
        break;
    case RDMA_CM_EVENT_MULTICAST_JOIN:
        cm_group_joined(id, &event->base, cm);
        break;
    case RDMA_CM_EVENT_ADDR_RESOLVED:
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_ESTABLISHED:
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
    case RDMA_CM_EVENT_MULTICAST_ERROR:
    case RDMA_CM_EVENT_ADDR_CHANGE:
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
        break;
    }
}

PROGRAM_EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel,
                                     struct rdma_cm_event **event)
{
    static turn_idle_t idle;
    if (!cm_enter("rdma_get_cm_event")) {
        return -1;
    }
    for (;;) {
        verbs_event_t record;
        if (verbs_take_event(channel->fd, &idle, &record) != 0) {
            return -1;
        }
        cm_id_t *id = verbs_find(VERBS_CM_ID, record.handle);
        program_cm_t cm = {0};
        if (id == NULL || cm_call(id, PROGRAM_CM_EVENT, &cm) != 0) {
            continue; // of an identifier that was destroyed
        }
        cm_event_t *made = calloc(1, sizeof *made);
        if (made == NULL) {
            return cm_return(ENOMEM);
        }
        made->holder = id;
        id->unacked++;
        fill(made, &cm);
        work_on(made, &cm);
        TRACE("rdma_get_cm_event() = %s, id %u", rdma_event_str(made->base.event), record.handle);
        *event = &made->base;
        return 0;
    }
}

PROGRAM_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *base)
{
    cm_event_t *event = (cm_event_t *)(void *)base;
    if (event == NULL) {
        return cm_return(EINVAL);
    }
    cm_id_t *id = event->holder;
    free(event);
    id->unacked--;
    if (id->destroyed && id->unacked == 0) {
        cm_id_free(id);
    }
    return 0;
}

PROGRAM_EXPORT const char *rdma_event_str(enum rdma_cm_event_type event)
{
#define NAME(name) [RDMA_CM_EVENT_##name] = "RDMA_CM_EVENT_" #name
    static const char *const names[] = {
        NAME(ADDR_RESOLVED),   NAME(ADDR_ERROR),       NAME(ROUTE_RESOLVED), NAME(ROUTE_ERROR),
        NAME(CONNECT_REQUEST), NAME(CONNECT_RESPONSE), NAME(CONNECT_ERROR),  NAME(UNREACHABLE),
        NAME(REJECTED),        NAME(ESTABLISHED),      NAME(DISCONNECTED),   NAME(DEVICE_REMOVAL),
        NAME(MULTICAST_JOIN),  NAME(MULTICAST_ERROR),  NAME(ADDR_CHANGE),    NAME(TIMEWAIT_EXIT),
    };
#undef NAME
    return (size_t)event < sizeof names / sizeof *names ? names[event] : "UNKNOWN EVENT";
}

int cm_complete(cm_id_t *id)
{
    if (!id->synchronous) {
        return 0;
    }
    if (id->base.event != NULL) {
        rdma_ack_cm_event(id->base.event);
        id->base.event = NULL;
    }
    struct rdma_cm_event *event = NULL;
    if (rdma_get_cm_event(id->base.channel, &event) != 0 || event == NULL) {
        return -1;
    }
    id->base.event = event;
    const int status = event->status;
    if (event->event == RDMA_CM_EVENT_REJECTED) {
        return cm_return(ECONNREFUSED);
    }
    return cm_return(status < 0 ? -status : status);
}
