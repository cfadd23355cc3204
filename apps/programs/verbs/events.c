// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/events.c - asynchronous events of queue pairs and ports.
//
// Which error raises which event: IBA vol. 1, 11.6.3. A requester's error stands in a completion
// and raises none. A responder that refuses a request for good has no completion for it, so it
// raises an event, unless the receive of the request has completed with an error.
#include "apps/programs/verbs/events.h"

#include "apps/programs/process_verbs.h"
#include "apps/programs/turns.h"
#include "apps/programs/verbs/queue_pairs.h"

#define POINTS                                                                      \
    (NIC_TRACE_POST | NIC_TRACE_COMPLETION | NIC_TRACE_STATE | NIC_TRACE_NAK_SENT | \
     NIC_TRACE_ANSWER | NIC_TRACE_REFUSED)

// Returns the process that has made an object.
static app__process_t *owner_of(app__program_t *program, app__pr_event_type_t type, uint32_t handle)
{
    if (type == APP__PR_CQ_ERR) {
        return program->cqs[handle - 1]->owner->process;
    }
    if (type == APP__PR_SRQ_LIMIT_REACHED) {
        return program->pds[program->srqs[handle - 1]->pd - 1].process;
    }
    const app__pr_qp_t *const qp = app__program_qp(program, handle);
    return qp == NULL ? program->first_process : program->pds[qp->pd - 1].process;
}

void app__program_async(app__program_t *program, app__pr_event_type_t type, uint32_t handle)
{
    const bool of_port = type == APP__PR_PORT_ACTIVE || type == APP__PR_PORT_ERR;
    app__process_t *process = of_port ? program->first_process : owner_of(program, type, handle);
    for (; process != NULL; process = of_port ? process->next : NULL) {
        if (!process->ended) {
            app__program_event_of(process, program, 1u + type, handle);
        }
    }
}

static void note_failure(app__program_t *program, const app__pr_qp_t *qp)
{
    const uint32_t number = nic_qp_num(qp->qp);
    if (qp->refused == ROCE_NAK_REMOTE_ACCESS) {
        app__program_async(program, APP__PR_QP_ACCESS_ERR, number);
    } else if (qp->refused == ROCE_NAK_INVALID_REQUEST) {
        app__program_async(program, APP__PR_QP_REQ_ERR, number);
    } else if (qp->refused == ROCE_NAK_REMOTE_OPERATION) {
        app__program_async(program, APP__PR_QP_FATAL, number);
    }
    if (qp->srq != 0) {
        app__program_async(program, APP__PR_QP_LAST_WQE_REACHED, number);
    }
}

void app__program_communicates(app__pr_qp_t *qp)
{
    if (nic_qp_state(qp->qp) == NIC_QPS_RTR && !qp->communicates) {
        qp->communicates = true;
        app__program_async(qp->program, APP__PR_COMM_EST, nic_qp_num(qp->qp));
    }
}

void app__program_drained(app__pr_qp_t *qp)
{
    if (qp->notes_drain && nic_qp_drained(qp->qp)) {
        qp->notes_drain = false;
        app__program_async(qp->program, APP__PR_SQ_DRAINED, nic_qp_num(qp->qp));
    }
}

static void note_event(app__program_t *program, app__pr_qp_t *qp, const nic_trace_t *trace)
{
    const nic_wc_t *const wc = trace->wc;
    if (trace->point == NIC_TRACE_NAK_SENT && (trace->value & 0x60) == ROCE_SYNDROME_NAK &&
        (trace->value & 0x1f) != ROCE_NAK_PSN_SEQUENCE) {
        qp->refused = (uint8_t)(trace->value & 0x1f);
    } else if (trace->point == NIC_TRACE_COMPLETION && wc != NULL && wc->opcode >= NIC_WC_RECV &&
               wc->status != NIC_WC_SUCCESS) {
        qp->refused = 0; // the receive reports it
    } else if (trace->point == NIC_TRACE_STATE && trace->value == NIC_QPS_ERR) {
        note_failure(program, qp);
    } else if (trace->point == NIC_TRACE_STATE && trace->value == NIC_QPS_RESET) {
        qp->refused = 0;
    } else if (trace->point == NIC_TRACE_REFUSED) {
        app__program_async(program, APP__PR_QP_FATAL, nic_qp_num(trace->qp));
    }
}

static void note_qp(const nic_trace_t *trace, void *ctx)
{
    app__program_t *const program = ctx;
    app__pr_qp_t *const qp = trace->qp == NULL || program->qp_count == 0
                                 ? NULL
                                 : app__program_qp(program, nic_qp_num(trace->qp));
    if (qp == NULL || qp->qp != trace->qp) {
        return; // of another application, or on another NIC
    }
    const bool receives = trace->point == NIC_TRACE_COMPLETION && trace->wc != NULL &&
                          trace->wc->opcode >= NIC_WC_RECV;
    if (!receives) {
        app__pr_flows_note(&program->flows, qp, trace);
    }
    if (trace->point == NIC_TRACE_COMPLETION && trace->wc != NULL) {
        const uint32_t handle = receives ? qp->recv_cq : qp->send_cq;
        app__program_note_time(program->cqs[handle - 1], trace->time_ps);
    }
    if (receives || trace->point == NIC_TRACE_ANSWER) {
        app__program_communicates(qp);
    } else if (trace->point == NIC_TRACE_COMPLETION) {
        app__program_drained(qp);
    }
    note_event(program, qp, trace);
}

static void note_port(const net_trace_t *trace, void *ctx)
{
    app__program_t *const program = ctx;
    for (uint32_t i = 0; program->state == APP__PR_RUNS && i < nic_count(program->node); i++) {
        const uint32_t interface = nic_interface(nic_at(program->node, i));
        if (net_interface_port(program->app.net, interface) == trace->port) {
            app__program_async(program, trace->detail == 1 ? APP__PR_PORT_ACTIVE : APP__PR_PORT_ERR,
                               i);
        }
    }
}

void app__program_listen(app__program_t *program)
{
    for (uint32_t i = 0; i < nic_count(program->node); i++) {
        nic_t *const nic = nic_at(program->node, i);
        nic_listen(nic, POINTS, note_qp, program);
        net_port_listen_late(net_interface_port(program->app.net, nic_interface(nic)),
                             NET_TRACE_LINK, note_port, program);
    }
}
