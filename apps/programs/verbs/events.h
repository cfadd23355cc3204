// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/events.h - asynchronous events of a program: what NICs and ports report.
#ifndef APPS_PROGRAMS_VERBS_EVENTS_H
#define APPS_PROGRAMS_VERBS_EVENTS_H

#include "apps/programs/guest.h"

// Values of enum ibv_event_type, which the tree does not need for itself.
typedef enum app__pr_event_type {
    APP__PR_CQ_ERR = 0,
    APP__PR_QP_FATAL = 1,
    APP__PR_QP_REQ_ERR = 2,
    APP__PR_QP_ACCESS_ERR = 3,
    APP__PR_COMM_EST = 4,
    APP__PR_SQ_DRAINED = 5,
    APP__PR_PORT_ACTIVE = 9,
    APP__PR_PORT_ERR = 10,
    APP__PR_SRQ_LIMIT_REACHED = 15,
    APP__PR_QP_LAST_WQE_REACHED = 16,
} app__pr_event_type_t;

// Adds an asynchronous event. `handle` is that of the object; for a port, of the device.
void app__program_async(app__program_t *program, app__pr_event_type_t type, uint32_t handle);
// Notes that a packet came for a queue pair. The first one of a queue pair that cannot send yet
// raises an event.
void app__program_communicates(app__pr_qp_t *qp);
// Raises an event if a queue pair in the state SQD has done all that it had begun, and the process
// wants to know that.
void app__program_drained(app__pr_qp_t *qp);
// Listens to all NICs of the program's host and their ports. To be called before the run.
void app__program_listen(app__program_t *program);

#endif // APPS_PROGRAMS_VERBS_EVENTS_H
