// SPDX-License-Identifier: Apache-2.0
// apps/programs/cm_calls.c - what a process asks its host's connection manager for.
#include "apps/programs/cm_internal.h"
#include "apps/programs/process_verbs.h"

#include <errno.h>
#include <string.h>

#define BACKLOG_MAX 1024u
#define IDS_MAX (1u << 20) // of a host
#define TIMEOUT_MS_MAX 3600000u

static uint32_t device_of_interface(const net_node_t *host, uint32_t interface)
{
    for (uint32_t i = 0; i < nic_count(host); i++) {
        if (nic_interface(nic_at(host, i)) == interface) {
            return i;
        }
    }
    return PROGRAM_NO_DEVICE;
}

// Binds an identifier to the NIC with the number that the peer's NIC has on its host, as networks
// with rails need it, or to NIC 0. A NIC is not its own peer.
static void choose_device(app__cma_id_t *id)
{
    const app__cma_t *const manager = id->manager;
    const uint32_t count = nic_count(manager->node);
    const net_node_t *const host = net_interface_node(manager->net, id->peer_interface);
    uint32_t device = device_of_interface(host, id->peer_interface);
    SIM_CHECK(count != 0);
    app__cma_set_device(id, device < count ? device : 0);
}

static int resolve(app__cma_id_t *id, const program_cm_t *cm)
{
    app__cma_t *const manager = id->manager;
    if (id->state != APP__CMA_IDLE || id->active) {
        return EINVAL;
    }
    const int error = id->bound ? 0 : app__cma_bind(id, &cm->own);
    if (error != 0) {
        return error;
    }
    id->peer = cm->peer;
    id->peer_interface = app__is_loopback(cm->peer.address)
                             ? manager->ports[0].endpoint->interface
                             : app__interface_of_gid(manager->net, cm->peer.address);
    id->resolved = id->peer_interface != UINT32_MAX;
    if (app__is_group(cm->peer.address)) { // the program joins it; connecting fails
        app__cma_set_device(id, id->device == PROGRAM_NO_DEVICE ? 0 : id->device);
        app__cma_push(id, APP__CMA_ADDR_RESOLVED, 0);
        return 0;
    }
    if (!id->resolved) {
        sim_node_t *const node = &manager->node->sim;
        id->peer_interface = 0;
        id->state = APP__CMA_RESOLVES;
        sim_timer_arm(node, &id->timer,
                      node->now_ps +
                          SIM_MIN(cm->timeout_ms, TIMEOUT_MS_MAX) * (SIM_PS_PER_S / 1000));
        return 0;
    }
    if (id->device == PROGRAM_NO_DEVICE) {
        choose_device(id);
    }
    id->resolved = nic_reaches(nic_at(manager->node, id->device), id->peer_interface);
    if (!id->resolved && !manager->refused_own) {
        manager->refused_own = true;
        (void)dprintf(id->process->err,
                      "rocesim: rdma_resolve_addr: the address is that of the NIC itself, and no "
                      "switch sends its packets back: only NICs with one port, the transport "
                      "gbn and a scheduler without a loop of its own send to themselves\n");
    }
    app__cma_push(id, id->resolved ? APP__CMA_ADDR_RESOLVED : APP__CMA_ADDR_ERROR,
                  id->resolved ? 0 : -EHOSTUNREACH);
    return 0;
}

static int join(app__cma_id_t *id, const program_cm_t *cm)
{
    if (!id->datagrams || id->device == PROGRAM_NO_DEVICE || !app__is_group(cm->peer.address)) {
        return EINVAL;
    }
    app__cma_push_joined(id, &cm->peer);
    return 0;
}

static int listen(app__cma_id_t *id, const program_cm_t *cm)
{
    if (id->state == APP__CMA_LISTENS) {
        return EINVAL;
    }
    const program_name_t any = {0};
    const int error = id->bound ? 0 : app__cma_bind(id, &any);
    if (error == 0) {
        id->state = APP__CMA_LISTENS;
        id->backlog = cm->backlog == 0 || cm->backlog > BACKLOG_MAX ? BACKLOG_MAX : cm->backlog;
    }
    return error;
}

// Returns whether a message has room for the process's private data.
static bool has_room(const program_cm_t *cm, app__mad_kind_t kind, uint32_t before_bytes)
{
    return cm->private_bytes <= app__mad_room(kind) - before_bytes;
}

static int connect(app__cma_id_t *id, const program_cm_t *cm)
{
    if (id->state != APP__CMA_IDLE || !id->resolved || id->active || id->remote_id != 0 ||
        !has_room(cm, id->datagrams ? APP__MAD_SIDR_REQ : APP__MAD_REQ, APP__MAD_IP_BYTES)) {
        return EINVAL;
    }
    app__cma_request(id, cm);
    return 0;
}

static int accept(app__cma_id_t *id, const program_cm_t *cm)
{
    const bool datagrams = id->state == APP__CMA_SIDR_RECEIVED;
    if ((!datagrams && id->state != APP__CMA_REQ_RECEIVED) ||
        !has_room(cm, datagrams ? APP__MAD_SIDR_REP : APP__MAD_REP, 0)) {
        return EINVAL;
    }
    app__cma_reply(id, cm);
    return 0;
}

static int reject(app__cma_id_t *id, const program_cm_t *cm)
{
    const bool datagrams = id->state == APP__CMA_SIDR_RECEIVED;
    if ((!datagrams && id->state != APP__CMA_REQ_RECEIVED && id->state != APP__CMA_REP_SENT &&
         id->state != APP__CMA_REP_RECEIVED) ||
        !has_room(cm, datagrams ? APP__MAD_SIDR_REP : APP__MAD_REJ, 0)) {
        return EINVAL;
    }
    app__cma_reject(id, cm, APP__REJ_CONSUMER);
    return 0;
}

static int disconnect(app__cma_id_t *id)
{
    if (id->datagrams ||
        (!id->connected && id->state != APP__CMA_REP_SENT && id->state != APP__CMA_DREQ_RECEIVED)) {
        return EINVAL;
    }
    app__cma_leave(id); // does nothing if the connection has ended
    return 0;
}

static int set_option(app__cma_id_t *id, const program_cm_t *cm)
{
    switch (cm->option) {
    case PROGRAM_CM_TOS:
        id->traffic_class = cm->value;
        return 0;
    case PROGRAM_CM_REUSE:
        id->reuses = cm->value != 0;
        return id->bound ? EINVAL : 0;
    case PROGRAM_CM_ACK_TIMEOUT:
        id->ack_timeout = cm->value & 31;
        return 0;
    default: // PROGRAM_CM_FAMILY_ONLY: addresses of both families are equal here
        return 0;
    }
}

// Reports the attributes of a queue pair for its next state.
static int get_attributes(const app__cma_id_t *id, program_call_t *call)
{
    const uint32_t state = call->qp.state;
    const bool peer_known = id->state == APP__CMA_REQ_RECEIVED || id->state == APP__CMA_REP_SENT ||
                            id->state == APP__CMA_REP_RECEIVED || id->state == APP__CMA_ESTABLISHED;
    if (id->device == PROGRAM_NO_DEVICE || (state > 1 && !id->datagrams && !peer_known)) {
        return EINVAL;
    }
    call->qp = (program_qp_t){
        .state = state,
        .path_mtu_bytes = 128u << id->path_mtu,
        .rq_psn = id->remote_psn,
        .sq_psn = id->psn,
        .dest_qp_num = id->remote_qp_num,
        .max_rd_atomic = id->initiator_depth,
        .max_dest_rd_atomic = id->responder_resources,
        .timeout = id->ack_timeout,
        .retry_cnt = id->retry_count,
        .rnr_retry = id->rnr_retry_count,
        .service_level = id->service_level,
        .traffic_class = id->traffic_class,
        // A peer may write in any case, and read if the connection allows it.
        .access = !peer_known ? 0
                              : NIC_ACCESS_REMOTE_WRITE |
                                    (id->responder_resources == 0
                                         ? 0
                                         : NIC_ACCESS_REMOTE_READ | NIC_ACCESS_REMOTE_ATOMIC),
    };
    if (id->resolved) {
        app__gid_of_interface(id->manager->net, id->peer_interface, call->qp.gid);
    }
    return 0;
}

static int take_event(app__cma_id_t *id, program_cm_t *cm)
{
    if (id->event_count == 0) {
        return ENOENT;
    }
    *cm = id->events[0];
    id->event_count--;
    memmove(id->events, id->events + 1, id->event_count * sizeof(*id->events));
    id->waiting -= cm->event == APP__CMA_CONNECT_REQUEST;
    return 0;
}

static int create(app__program_t *program, program_call_t *call, const program_cm_t *cm)
{
    if (program->manager->id_count >= IDS_MAX) {
        return ENOMEM;
    }
    app__cma_id_t *const id = app__cma_new(program->manager, program);
    id->port_space = cm->port_space;
    id->datagrams = cm->datagrams != 0;
    call->handle = id->number;
    return 0;
}

static int act(app__program_t *program, app__cma_id_t *id, program_call_t *call, program_cm_t *cm)
{
    switch ((program_cm_action_t)cm->action) {
    case PROGRAM_CM_CREATE:
        return create(program, call, cm);
    case PROGRAM_CM_DESTROY:
        app__cma_destroy(id);
        return 0;
    case PROGRAM_CM_BIND:
        return id->bound || id->state != APP__CMA_IDLE ? EINVAL : app__cma_bind(id, &cm->own);
    case PROGRAM_CM_RESOLVE:
        return resolve(id, cm);
    case PROGRAM_CM_ROUTE:
        if (!id->resolved || id->state != APP__CMA_IDLE || id->active) {
            return EINVAL;
        }
        app__cma_push(id, APP__CMA_ROUTE_RESOLVED, 0);
        return 0;
    case PROGRAM_CM_LISTEN:
        return listen(id, cm);
    case PROGRAM_CM_CONNECT:
        return connect(id, cm);
    case PROGRAM_CM_ACCEPT:
        return accept(id, cm);
    case PROGRAM_CM_REJECT:
        return reject(id, cm);
    case PROGRAM_CM_ESTABLISH:
        if (id->state != APP__CMA_REP_RECEIVED) {
            return EINVAL;
        }
        app__cma_ready(id);
        return 0;
    case PROGRAM_CM_DISCONNECT:
        return disconnect(id);
    case PROGRAM_CM_COMMUNICATES:
        return app__cma_communicates(id);
    case PROGRAM_CM_OPTION:
        return set_option(id, cm);
    case PROGRAM_CM_JOIN:
        return join(id, cm);
    case PROGRAM_CM_ATTRIBUTES:
        return get_attributes(id, call);
    case PROGRAM_CM_EVENT:
        return take_event(id, cm);
    default:
        return ENOSYS;
    }
}

int app__cma_call(app__program_t *program, program_call_t *call)
{
    // The process could change what lies in shared memory.
    program_cm_t cm = program->process->shared->cm;
    const app__cma_t *const manager = program->manager;
    app__cma_id_t *id = app__cma_find(manager, call->handle);
    id = id != NULL && id->program == program ? id : NULL;
    if ((id == NULL && cm.action != PROGRAM_CM_CREATE) ||
        cm.private_bytes > PROGRAM_CM_PRIVATE_MAX) {
        return EINVAL;
    }
    cm.request = 0;
    const int error = act(program, id, call, &cm);
    // The identifier that the answer is about: of a request, the new one.
    id = app__cma_find(manager, cm.request != 0 ? cm.request : call->handle);
    if (id != NULL) {
        cm.device = id->device;
        cm.own = id->own;
        cm.peer = id->peer;
    }
    program->process->shared->cm = cm;
    return error;
}

void app__cma_end(app__program_t *program)
{
    app__cma_t *const manager = program->manager;
    for (size_t i = 0; i < manager->id_count; i++) {
        app__cma_id_t *const id = manager->ids[i];
        if (id != NULL && id->program == program) {
            app__cma_destroy(id);
        }
    }
}
