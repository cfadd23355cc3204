// SPDX-License-Identifier: Apache-2.0
// apps/programs/cm_messages.c - the messages of connections: what is sent, what comes, and what
// happens if nothing comes (IBA volume 1, 12.9).
#include "apps/programs/cm_internal.h"
#include "apps/programs/process_verbs.h"
#include "apps/programs/turns.h"

#include <errno.h>
#include <string.h>

// Values of Linux for RoCE, as codes: 4.096 us x 2^code.
#define RESPONSE_TIMEOUT 20u // of a message of the connection manager
#define PATH_LIFETIME 16u    // of a packet
#define MRA_TIMEOUT 24u      // that a process may take for its answer
#define RETRIES 15u

static sim_time_t time_of_code(uint32_t code)
{
    return UINT64_C(4096000) << code;
}

// -- events for the process

static void push(app__cma_id_t *id, const program_cm_t *event)
{
    SIM_APPEND(id->events, id->event_count, id->event_capacity, *event);
    app__program_event_of(id->process, id->program, PROGRAM_EVENT_CM, id->number);
}

void app__cma_push(app__cma_id_t *id, app__cma_event_t event, int status)
{
    push(id, &(program_cm_t){.event = (uint32_t)event, .status = status});
}

void app__cma_push_joined(app__cma_id_t *id, const program_name_t *group)
{
    program_cm_t cm = {.event = APP__CMA_JOINED, .qp_num = APP__GROUP_QPN};
    cm.private_bytes = sizeof(*group);
    memcpy(cm.private_data, group, sizeof(*group));
    push(id, &cm);
}

// Pushes an event with the parameters of a message, which are those of its sender.
static void push_message(app__cma_id_t *id, app__cma_event_t event, int status,
                         const app__mad_t *mad, uint32_t private_at)
{
    program_cm_t cm = {
        .event = (uint32_t)event,
        .status = status,
        .qp_num = (uint32_t)mad->qp_num,
        .qkey = (uint32_t)mad->qkey,
        .srq = (uint32_t)mad->srq,
        .responder_resources = (uint32_t)mad->initiator_depth,
        .initiator_depth = (uint32_t)mad->responder_resources,
        .flow_control = (uint32_t)mad->flow_control,
        .retry_count = (uint32_t)mad->retry_count,
        .rnr_retry_count = (uint32_t)mad->rnr_retry_count,
        .private_bytes = app__mad_room(mad->kind) - private_at,
    };
    memcpy(cm.private_data, mad->private_data + private_at, cm.private_bytes);
    push(id, &cm);
}

// -- sending

static void send_once(app__cma_t *manager, uint32_t device, uint32_t interface,
                      const app__mad_t *mad)
{
    uint8_t bytes[APP__MAD_BYTES];
    app__mad_write(mad, bytes);
    app__cma_send(manager, device, interface, bytes);
}

static void arm(app__cma_id_t *id, sim_time_t after_ps)
{
    sim_node_t *const node = &id->manager->node->sim;
    sim_timer_cancel(node, &id->timer);
    sim_timer_arm(node, &id->timer, node->now_ps + after_ps);
}

// Sends a message, and sends it again until something else ends its timer.
static void send_until_answered(app__cma_id_t *id, const app__mad_t *mad, sim_time_t again_ps)
{
    app__mad_write(mad, id->sent);
    app__cma_send(id->manager, id->device, id->peer_interface, id->sent);
    id->again_ps = again_ps;
    id->resends = id->cm_retries;
    arm(id, again_ps);
}

static void stop_timer(app__cma_id_t *id)
{
    sim_timer_cancel(&id->manager->node->sim, &id->timer);
}

// Ends what an identifier was doing. The same request may come again, as a new one.
static void become_idle(app__cma_id_t *id)
{
    stop_timer(id);
    app__cma_forget_request(id);
    id->state = APP__CMA_IDLE;
}

static app__mad_t begin_message(const app__cma_id_t *id, app__mad_kind_t kind)
{
    return (app__mad_t){
        .kind = kind,
        .transaction = id->transaction,
        .local_id = id->number,
        .remote_id = id->remote_id,
    };
}

// Returns a transaction of its own for a request of an identifier.
static uint64_t new_transaction(const app__cma_id_t *id)
{
    return ((uint64_t)id->manager->node->sim.index << 32 | id->number) ^
           (id->active ? 0 : UINT64_C(1) << 63);
}

// Writes the header of annex A11 in front of the private data of a request.
static void write_private(const app__cma_id_t *id, const program_cm_t *cm, uint8_t *to)
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
    const bool v4 = memcmp(id->peer.address, prefix, sizeof(prefix)) == 0;
    const size_t skipped = v4 ? sizeof(prefix) : 0;
    to[1] = v4 ? 4 << 4 : 6 << 4;
    to[2] = (uint8_t)(id->own.port >> 8);
    to[3] = (uint8_t)id->own.port;
    memcpy(to + 4 + skipped, id->own.address + skipped, 16 - skipped);
    memcpy(to + 20 + skipped, id->peer.address + skipped, 16 - skipped);
    memcpy(to + APP__MAD_IP_BYTES, cm->private_data, cm->private_bytes);
}

static void read_name(const uint8_t *from, bool v4, uint64_t port, program_name_t *name)
{
    *name = (program_name_t){.port = (uint16_t)port};
    memcpy(name->address, from, 16);
    if (v4) {
        name->address[10] = name->address[11] = 0xff;
    }
}

// Returns the code of a link's rate in a path record.
static uint64_t rate_code(uint64_t rate_bps)
{
    static const struct {
        uint32_t gbps;
        uint32_t code;
    } rates[] = {{10, 3}, {25, 15}, {40, 7}, {50, 20}, {100, 16}, {200, 17}, {400, 21}, {800, 23}};
    uint64_t code = 2;
    for (size_t i = 0; i < SIM_COUNT_OF(rates); i++) {
        code = rate_bps >= rates[i].gbps * UINT64_C(1000000000) ? rates[i].code : code;
    }
    return code;
}

// Returns the GUID of the identifier's NIC, as its process sees it.
static uint64_t guid_of(const app__cma_id_t *id)
{
    return id->program->process->shared->devices[id->device].guid;
}

void app__cma_request(app__cma_id_t *id, const program_cm_t *cm)
{
    const app__endpoint_t *const endpoint = id->manager->ports[id->device].endpoint;
    id->active = true;
    id->transaction = new_transaction(id);
    id->cm_retries = RETRIES;
    id->response_timeout = RESPONSE_TIMEOUT;
    id->qp_num = cm->qp_num;
    id->responder_resources = cm->responder_resources;
    id->initiator_depth = cm->initiator_depth;
    id->retry_count = cm->retry_count;
    id->rnr_retry_count = cm->rnr_retry_count;
    id->ack_timeout = id->ack_timeout == 0 ? PATH_LIFETIME + 1 : id->ack_timeout;
    for (id->path_mtu = 1; id->path_mtu < 5 && 128u << (id->path_mtu + 1) <=
                                                   nic_get_config(endpoint->nic)->mtu_bytes;) {
        id->path_mtu++;
    }
    app__mad_t mad = begin_message(id, id->datagrams ? APP__MAD_SIDR_REQ : APP__MAD_REQ);
    mad.service_id = (uint64_t)id->port_space << 16 | id->peer.port;
    write_private(id, cm, mad.private_data);
    if (id->datagrams) {
        id->state = APP__CMA_SIDR_SENT;
        send_until_answered(id, &mad, time_of_code(RESPONSE_TIMEOUT));
        return;
    }
    mad.qp_num = cm->qp_num;
    mad.psn = id->psn;
    mad.responder_resources = cm->responder_resources;
    mad.initiator_depth = cm->initiator_depth;
    mad.flow_control = cm->flow_control;
    mad.retry_count = cm->retry_count;
    mad.rnr_retry_count = cm->rnr_retry_count;
    mad.srq = cm->srq;
    mad.response_timeout = RESPONSE_TIMEOUT;
    mad.cm_retries = RETRIES;
    mad.path_mtu = id->path_mtu;
    mad.path_rate = rate_code(nic_rate_bps(endpoint->nic));
    mad.traffic_class = id->traffic_class;
    mad.ack_timeout = id->ack_timeout;
    mad.guid = guid_of(id);
    app__gid_of_interface(id->manager->net, endpoint->interface, mad.own_gid);
    app__gid_of_interface(id->manager->net, id->peer_interface, mad.peer_gid);
    id->state = APP__CMA_REQ_SENT;
    send_until_answered(id, &mad, time_of_code(RESPONSE_TIMEOUT) + 2 * time_of_code(PATH_LIFETIME));
}

void app__cma_reply(app__cma_id_t *id, const program_cm_t *cm)
{
    app__mad_t mad = begin_message(id, id->datagrams ? APP__MAD_SIDR_REP : APP__MAD_REP);
    memcpy(mad.private_data, cm->private_data, cm->private_bytes);
    mad.qp_num = cm->qp_num;
    id->qp_num = cm->qp_num;
    if (id->datagrams) {
        mad.service_id = (uint64_t)id->port_space << 16 | id->own.port;
        mad.qkey = cm->qkey;
        become_idle(id);
        send_once(id->manager, id->device, id->peer_interface, &mad);
        return;
    }
    id->responder_resources = cm->responder_resources;
    id->initiator_depth = cm->initiator_depth;
    mad.guid = guid_of(id);
    mad.psn = id->psn;
    mad.responder_resources = cm->responder_resources;
    mad.initiator_depth = cm->initiator_depth;
    mad.flow_control = cm->flow_control;
    mad.rnr_retry_count = cm->rnr_retry_count;
    mad.srq = cm->srq;
    id->state = APP__CMA_REP_SENT;
    send_until_answered(id, &mad, time_of_code(id->response_timeout));
}

static void send_simple(const app__cma_id_t *id, app__mad_kind_t kind)
{
    const app__mad_t mad = begin_message(id, kind);
    send_once(id->manager, id->device, id->peer_interface, &mad);
}

void app__cma_ready(app__cma_id_t *id)
{
    stop_timer(id);
    id->state = APP__CMA_ESTABLISHED;
    id->connected = true;
    send_simple(id, APP__MAD_RTU);
}

void app__cma_reject(app__cma_id_t *id, const program_cm_t *cm, uint32_t reason)
{
    app__mad_t mad = begin_message(id, id->datagrams ? APP__MAD_SIDR_REP : APP__MAD_REJ);
    mad.reason = reason;
    mad.about = id->active ? APP__MAD_ABOUT_REP : APP__MAD_ABOUT_REQ;
    if (reason == APP__REJ_TIMEOUT) {
        mad.about = APP__MAD_ABOUT_NOTHING;
    }
    if (id->datagrams) {
        mad.status = APP__SIDR_REJECTED;
        mad.service_id = (uint64_t)id->port_space << 16 | id->own.port;
    }
    if (cm != NULL) {
        memcpy(mad.private_data, cm->private_data, cm->private_bytes);
    }
    become_idle(id);
    send_once(id->manager, id->device, id->peer_interface, &mad);
}

// Sends a request for the end of a connection, or the answer to one.
void app__cma_leave(app__cma_id_t *id)
{
    if (id->state == APP__CMA_DREQ_RECEIVED) {
        send_simple(id, APP__MAD_DREP);
        id->state = APP__CMA_TIMEWAIT;
        arm(id, time_of_code(id->ack_timeout));
        return;
    }
    if (id->state == APP__CMA_ESTABLISHED || id->state == APP__CMA_REP_SENT) {
        id->transaction = new_transaction(id) ^ UINT64_C(1) << 62;
        app__mad_t mad = begin_message(id, APP__MAD_DREQ);
        mad.qp_num = id->remote_qp_num;
        id->state = APP__CMA_DREQ_SENT;
        send_until_answered(id, &mad, time_of_code(id->response_timeout));
    }
}

void app__cma_destroy(app__cma_id_t *id)
{
    switch (id->state) {
    case APP__CMA_REQ_SENT:
        app__cma_reject(id, NULL, APP__REJ_TIMEOUT);
        break;
    case APP__CMA_REQ_RECEIVED:
    case APP__CMA_REP_RECEIVED:
    case APP__CMA_SIDR_RECEIVED:
        app__cma_reject(id, NULL, APP__REJ_CONSUMER);
        break;
    case APP__CMA_REP_SENT:
    case APP__CMA_ESTABLISHED:
    case APP__CMA_DREQ_RECEIVED:
        app__cma_leave(id);
        break;
    case APP__CMA_IDLE:
    case APP__CMA_RESOLVES:
    case APP__CMA_LISTENS:
    case APP__CMA_DREQ_SENT:
    case APP__CMA_TIMEWAIT:
    case APP__CMA_SIDR_SENT:
        break;
    }
    for (size_t i = 0; i < id->event_count; i++) { // requests that nobody has seen
        app__cma_id_t *const request = app__cma_find(id->manager, id->events[i].request);
        if (id->events[i].event == APP__CMA_CONNECT_REQUEST && request != NULL) {
            app__cma_destroy(request);
        }
    }
    app__cma_free(id);
}

// -- time

void app__cma_time_is_over(sim_node_t *node, sim_timer_t *timer)
{
    app__cma_id_t *const id = SIM_CONTAINER_OF(timer, app__cma_id_t, timer);
    if (id->state == APP__CMA_TIMEWAIT || id->state == APP__CMA_RESOLVES) {
        const bool resolves = id->state == APP__CMA_RESOLVES;
        id->state = APP__CMA_IDLE;
        app__cma_push(id, resolves ? APP__CMA_ADDR_ERROR : APP__CMA_TIMEWAIT_EXIT,
                      resolves ? -ETIMEDOUT : 0);
        return;
    }
    if (id->resends != 0) {
        id->resends--;
        app__cma_send(id->manager, id->device, id->peer_interface, id->sent);
        sim_timer_arm(node, timer, node->now_ps + id->again_ps);
        return;
    }
    if (id->state == APP__CMA_DREQ_SENT) {
        id->state = APP__CMA_TIMEWAIT;
        arm(id, time_of_code(id->ack_timeout));
        app__cma_push(id, APP__CMA_DISCONNECTED, -ETIMEDOUT);
        return;
    }
    become_idle(id);
    app__cma_push(id, APP__CMA_UNREACHABLE, -ETIMEDOUT);
}

// -- requests that come

typedef struct arrival {
    app__cma_t *manager;
    uint32_t device;
    uint32_t interface; // of the sender
    app__mad_t mad;
} arrival_t;

// Answers a request for which there is no identifier.
static void refuse(const arrival_t *arrival, uint32_t reason)
{
    const app__mad_t *const mad = &arrival->mad;
    const bool datagrams = mad->kind == APP__MAD_SIDR_REQ;
    const app__mad_t answer = {
        .kind = datagrams ? APP__MAD_SIDR_REP : APP__MAD_REJ,
        .transaction = mad->transaction,
        .remote_id = mad->local_id,
        .service_id = mad->service_id,
        .reason = reason,
        .status = reason == APP__REJ_NO_SERVICE ? APP__SIDR_NO_SERVICE : APP__SIDR_REJECTED,
    };
    send_once(arrival->manager, arrival->device, arrival->interface, &answer);
}

static app__cma_id_t *find_listener(const arrival_t *arrival)
{
    const app__cma_t *const manager = arrival->manager;
    uint8_t own[16];
    app__gid_of_interface(manager->net, manager->ports[arrival->device].endpoint->interface, own);
    app__cma_id_t *found = NULL;
    for (size_t i = 0; i < manager->id_count; i++) {
        app__cma_id_t *const id = manager->ids[i];
        if (id == NULL || id->state != APP__CMA_LISTENS ||
            ((uint64_t)id->port_space << 16 | id->own.port) != arrival->mad.service_id ||
            id->datagrams != (arrival->mad.kind == APP__MAD_SIDR_REQ)) {
            continue;
        }
        const bool any = app__cma_is_any(id->own.address);
        if ((any && found == NULL) || memcmp(id->own.address, own, sizeof(own)) == 0) {
            found = id;
        }
    }
    return found;
}

static void note_request(app__cma_id_t *id, const arrival_t *arrival)
{
    const app__mad_t *const mad = &arrival->mad;
    const uint8_t *const header = mad->private_data;
    const bool v4 = header[1] >> 4 == 4;
    id->device = arrival->device;
    id->peer_interface = arrival->interface;
    id->resolved = true;
    id->remote_id = (uint32_t)mad->local_id;
    id->transaction = mad->transaction;
    id->state = id->datagrams ? APP__CMA_SIDR_RECEIVED : APP__CMA_REQ_RECEIVED;
    read_name(header + 4, v4, (uint64_t)header[2] << 8 | header[3], &id->peer);
    read_name(header + 20, v4, mad->service_id & 0xffff, &id->own);
    id->remote_qp_num = (uint32_t)mad->qp_num;
    id->remote_psn = (uint32_t)mad->psn;
    id->responder_resources = (uint32_t)mad->initiator_depth;
    id->initiator_depth = (uint32_t)mad->responder_resources;
    id->retry_count = (uint32_t)mad->retry_count;
    id->rnr_retry_count = (uint32_t)mad->rnr_retry_count;
    id->traffic_class = (uint32_t)mad->traffic_class;
    id->service_level = (uint32_t)mad->service_level;
    id->path_mtu = (uint32_t)mad->path_mtu;
    id->ack_timeout = (uint32_t)mad->ack_timeout;
    id->response_timeout = (uint32_t)mad->response_timeout;
    id->cm_retries = (uint32_t)mad->cm_retries;
}

static void send_mra(const app__cma_id_t *id, uint64_t about)
{
    app__mad_t mad = begin_message(id, APP__MAD_MRA);
    mad.about = about;
    mad.service_timeout = MRA_TIMEOUT;
    send_once(id->manager, id->device, id->peer_interface, &mad);
}

static void take_request(const arrival_t *arrival)
{
    app__cma_t *const manager = arrival->manager;
    const uint64_t key = (uint64_t)arrival->interface << 32 | arrival->mad.local_id;
    const uint64_t index = sim_map_get(&manager->requests, key);
    if (index != SIM_MAP_NONE) {
        if (manager->ids[index]->state == APP__CMA_REQ_RECEIVED) {
            send_mra(manager->ids[index], APP__MAD_ABOUT_REQ);
        } else if (manager->ids[index]->state == APP__CMA_TIMEWAIT) {
            refuse(arrival, APP__REJ_STALE);
        }
        return;
    }
    app__cma_id_t *const listener = find_listener(arrival);
    if (listener == NULL || listener->waiting >= listener->backlog) {
        refuse(arrival, listener == NULL ? APP__REJ_NO_SERVICE : APP__REJ_CONSUMER);
        return;
    }
    app__cma_id_t *const id = app__cma_new(manager, listener->program);
    id->process = listener->process;
    id->port_space = listener->port_space;
    id->datagrams = listener->datagrams;
    note_request(id, arrival);
    sim_map_add(&manager->requests, key, id->number - manager->first_number);
    listener->waiting++;
    push_message(listener, APP__CMA_CONNECT_REQUEST, 0, &arrival->mad, APP__MAD_IP_BYTES);
    listener->events[listener->event_count - 1].request = id->number;
}

// -- answers that come

static void take_reply(app__cma_id_t *id, const app__mad_t *mad)
{
    if (id->state == APP__CMA_REP_RECEIVED) {
        send_mra(id, APP__MAD_ABOUT_REP);
    } else if (id->state == APP__CMA_ESTABLISHED && id->active) {
        send_simple(id, APP__MAD_RTU); // the first one was lost
    } else if (id->state == APP__CMA_REQ_SENT) {
        stop_timer(id);
        id->state = APP__CMA_REP_RECEIVED;
        id->remote_id = (uint32_t)mad->local_id;
        id->remote_qp_num = (uint32_t)mad->qp_num;
        id->remote_psn = (uint32_t)mad->psn;
        id->responder_resources = (uint32_t)mad->initiator_depth;
        id->initiator_depth = (uint32_t)mad->responder_resources;
        id->rnr_retry_count = (uint32_t)mad->rnr_retry_count;
        push_message(id, APP__CMA_CONNECT_RESPONSE, 0, mad, 0);
    }
}

int app__cma_communicates(app__cma_id_t *id)
{
    if (id->state != APP__CMA_REP_SENT) {
        return id->state == APP__CMA_ESTABLISHED ? EISCONN : EINVAL;
    }
    stop_timer(id);
    id->state = APP__CMA_ESTABLISHED;
    id->connected = true;
    app__cma_push(id, APP__CMA_CONNECTED, 0);
    return 0;
}

static void take_refusal(app__cma_id_t *id, const app__mad_t *mad)
{
    if (id->state == APP__CMA_REQ_SENT || id->state == APP__CMA_REQ_RECEIVED ||
        id->state == APP__CMA_REP_SENT || id->state == APP__CMA_REP_RECEIVED) {
        become_idle(id);
        push_message(id, APP__CMA_REJECTED, (int)mad->reason, mad, 0);
    }
}

// Takes a wish for more time: the message that waits for an answer is sent again later.
static void take_delay(app__cma_id_t *id, const app__mad_t *mad)
{
    if ((id->state == APP__CMA_REQ_SENT && mad->about == APP__MAD_ABOUT_REQ) ||
        (id->state == APP__CMA_REP_SENT && mad->about == APP__MAD_ABOUT_REP)) {
        arm(id, time_of_code((uint32_t)mad->service_timeout) + 2 * time_of_code(PATH_LIFETIME));
    }
}

static void take_leave(const arrival_t *arrival, app__cma_id_t *id)
{
    if (id == NULL || id->state == APP__CMA_TIMEWAIT || id->state == APP__CMA_IDLE) {
        const app__mad_t answer = {
            .kind = APP__MAD_DREP,
            .transaction = arrival->mad.transaction,
            .local_id = arrival->mad.remote_id,
            .remote_id = arrival->mad.local_id,
        };
        send_once(arrival->manager, arrival->device, arrival->interface, &answer);
    } else if (id->state == APP__CMA_ESTABLISHED || id->state == APP__CMA_REP_SENT ||
               id->state == APP__CMA_DREQ_SENT) {
        stop_timer(id);
        id->state = APP__CMA_DREQ_RECEIVED;
        id->transaction = arrival->mad.transaction;
        app__cma_push(id, APP__CMA_DISCONNECTED, 0);
    }
}

static void take_left(app__cma_id_t *id)
{
    if (id->state == APP__CMA_DREQ_SENT) {
        id->state = APP__CMA_TIMEWAIT;
        arm(id, time_of_code(id->ack_timeout));
        app__cma_push(id, APP__CMA_DISCONNECTED, 0);
    }
}

static void take_service(app__cma_id_t *id, const app__mad_t *mad)
{
    if (id->state == APP__CMA_SIDR_SENT) {
        become_idle(id);
        id->remote_qp_num = (uint32_t)mad->qp_num;
        push_message(id, mad->status == APP__SIDR_DONE ? APP__CMA_CONNECTED : APP__CMA_UNREACHABLE,
                     (int)mad->status, mad, 0);
    }
}

bool app__cma_take(void *ctx, const app__mad_t *mad, uint32_t interface)
{
    const app__cma_port_t *const port = ctx;
    app__cma_t *const manager = port->manager;
    const arrival_t arrival = {manager, (uint32_t)(port - manager->ports), interface, *mad};
    app__cma_id_t *id = app__cma_find(manager, mad->remote_id);
    if (mad->kind == APP__MAD_REJ && mad->remote_id == 0) { // its sender never got an answer
        const uint64_t index =
            sim_map_get(&manager->requests, (uint64_t)interface << 32 | mad->local_id);
        id = index == SIM_MAP_NONE ? NULL : manager->ids[index];
    }
    if (mad->kind == APP__MAD_REQ || mad->kind == APP__MAD_SIDR_REQ) {
        take_request(&arrival);
        return true;
    }
    id = id != NULL && id->resolved && id->peer_interface == interface ? id : NULL;
    if (mad->kind == APP__MAD_DREQ) {
        take_leave(&arrival, id);
    } else if (id != NULL && id->datagrams == (mad->kind == APP__MAD_SIDR_REP)) {
        switch (mad->kind) {
        case APP__MAD_REP:
            take_reply(id, mad);
            break;
        case APP__MAD_RTU:
            (void)app__cma_communicates(id); // unless a packet of the peer has said it before
            break;
        case APP__MAD_REJ:
            take_refusal(id, mad);
            break;
        case APP__MAD_MRA:
            take_delay(id, mad);
            break;
        case APP__MAD_DREP:
            take_left(id);
            break;
        case APP__MAD_SIDR_REP:
            take_service(id, mad);
            break;
        case APP__MAD_REQ:
        case APP__MAD_DREQ:
        case APP__MAD_SIDR_REQ:
            break;
        }
    }
    return true;
}
