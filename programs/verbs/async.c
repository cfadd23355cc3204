// SPDX-License-Identifier: Apache-2.0
// programs/verbs/async.c - asynchronous events.

#include <errno.h>
#include <string.h>

#include "programs/trace.h"
#include "programs/verbs/objects.h"

// Returns the kind of object that an event is about; 0: a port.
static verbs_kind_t kind_of(enum ibv_event_type type)
{
    switch (type) {
    case IBV_EVENT_CQ_ERR:
        return VERBS_CQ;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        return VERBS_SRQ;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        return VERBS_QP;
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_WQ_FATAL:
    default:
        return 0;
    }
}

PROGRAM_EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    static turn_idle_t idle;
    if (!turn_enter("ibv_get_async_event")) {
        errno = ENODEV;
        return -1;
    }
    for (;;) {
        verbs_event_t record;
        if (verbs_take_event(context->async_fd, &idle, &record) != 0) {
            return -1;
        }
        memset(event, 0, sizeof *event);
        event->event_type = (enum ibv_event_type)(record.kind - 1);
        TRACE("ibv_get_async_event() = %s", ibv_event_type_str(event->event_type));
        const verbs_kind_t kind = kind_of(event->event_type);
        void *object = kind == 0 ? NULL : verbs_find(kind, record.handle);
        if (kind == 0) {
            event->element.port_num = 1;
            return 0;
        }
        if (object != NULL) { // events of objects that were destroyed are passed over
            if (kind == VERBS_QP) {
                event->element.qp = object;
            } else if (kind == VERBS_SRQ) {
                event->element.srq = object;
            } else {
                event->element.cq = object;
            }
            return 0;
        }
    }
}

PROGRAM_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
    const verbs_kind_t kind = kind_of(event->event_type);
    if (kind == VERBS_CQ) {
        event->element.cq->async_events_completed++;
    } else if (kind == VERBS_QP) {
        event->element.qp->events_completed++;
    } else if (kind == VERBS_SRQ) {
        event->element.srq->events_completed++;
    }
}
