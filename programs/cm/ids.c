// SPDX-License-Identifier: Apache-2.0
// programs/cm/ids.c - identifiers: their life, their addresses, and the devices they are bound to.

#include "programs/cm/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "programs/sockets/names.h"
#include "programs/trace.h"

bool cm_enter(const char *function)
{
    if (!turn_enter(function)) {
        errno = ENODEV;
        return false;
    }
    if (strcmp(function, "rdma_get_cm_event") != 0) { // its line has the event
        TRACE("%s()", function);
    }
    return true;
}

int cm_return(int error)
{
    if (error != 0) {
        errno = error;
    }
    return error == 0 ? 0 : -1;
}

// -- devices

struct ibv_context *cm_context(uint32_t device, struct ibv_pd **pd)
{
    static struct ibv_context *contexts[PROGRAM_DEVICES_MAX];
    static struct ibv_pd *pds[PROGRAM_DEVICES_MAX];
    if (device >= turn_shared->device_count) {
        errno = ENODEV;
        return NULL;
    }
    if (contexts[device] == NULL) {
        struct ibv_device **list = ibv_get_device_list(NULL);
        contexts[device] = list == NULL ? NULL : ibv_open_device(list[device]);
        if (list != NULL) {
            ibv_free_device_list(list);
        }
    }
    if (contexts[device] != NULL && pd != NULL) {
        pds[device] = pds[device] == NULL ? ibv_alloc_pd(contexts[device]) : pds[device];
        *pd = pds[device];
    }
    return contexts[device];
}

PROGRAM_EXPORT struct ibv_context **rdma_get_devices(int *count)
{
    if (!cm_enter("rdma_get_devices")) {
        return NULL;
    }
    struct ibv_context **list = calloc(turn_shared->device_count + 1, sizeof(struct ibv_context *));
    for (uint32_t i = 0; i < turn_shared->device_count && list != NULL; i++) {
        list[i] = cm_context(i, NULL);
    }
    if (count != NULL) {
        *count = list == NULL ? 0 : (int)turn_shared->device_count;
    }
    return list;
}

PROGRAM_EXPORT void rdma_free_devices(struct ibv_context **list)
{
    free((void *)list);
}

// -- calls

static void write_address(const cm_id_t *id, const program_name_t *name,
                          struct sockaddr_storage *address)
{
    static const uint8_t any[16];
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    const bool is_v4 = memcmp(name->address, v4, sizeof v4) == 0;
    const bool is_any = memcmp(name->address, any, sizeof any) == 0;
    (void)names_write(is_v4 ? AF_INET : is_any ? id->domain : AF_INET6, name, address);
}

static void fill_path(cm_id_t *id)
{
    const program_device_t *device = &turn_shared->devices[verbs_device_of(id->base.verbs)];
    id->path = (struct ibv_sa_path_rec){.hop_limit = 64, .reversible = 1, .numb_path = 1};
    id->path.pkey = 0xffff;
    id->path.mtu_selector = 2;
    id->path.packet_life_time_selector = 2;
    id->path.packet_life_time = 16;
    for (id->path.mtu = IBV_MTU_256; 128u << (id->path.mtu + 1) <= device->mtu_bytes;) {
        id->path.mtu++;
    }
    memcpy(id->path.sgid.raw, device->gid, sizeof device->gid);
}

void cm_id_update(cm_id_t *id, const program_cm_t *cm)
{
    static const program_name_t none = {0};
    if (memcmp(&cm->own, &none, sizeof none) != 0) {
        write_address(id, &cm->own, &id->base.route.addr.src_storage);
    }
    if (memcmp(&cm->peer, &none, sizeof none) != 0) {
        write_address(id, &cm->peer, &id->base.route.addr.dst_storage);
    }
    if (cm->device != PROGRAM_NO_DEVICE && id->base.verbs == NULL) {
        id->base.verbs = cm_context(cm->device, &id->base.pd);
        id->base.port_num = 1;
    }
    if (id->base.verbs != NULL) {
        struct rdma_ib_addr *address = &id->base.route.addr.addr.ibaddr;
        fill_path(id);
        memcpy(id->path.dgid.raw, cm->peer.address, sizeof id->path.dgid.raw);
        address->sgid = id->path.sgid;
        address->dgid = id->path.dgid;
        address->pkey = 0xffff;
    }
}

int cm_call(cm_id_t *id, program_cm_action_t action, program_cm_t *cm)
{
    program_call_t call = {.op = PROGRAM_CM, .handle = id->handle};
    turn_charge_call();
    cm->action = action;
    turn_hold(); // no handler of a signal makes another call between
    turn_shared->cm = *cm;
    const int error = turn_call(&call);
    *cm = turn_shared->cm;
    turn_release();
    if (error == 0 && action != PROGRAM_CM_DESTROY && cm->request == 0) {
        cm_id_update(id, cm);
    }
    return error;
}

// -- life

cm_id_t *cm_id_create(struct rdma_event_channel *channel, uint32_t handle, void *context,
                      enum rdma_port_space port_space, enum ibv_qp_type type)
{
    static const cm_limits_t limits = {.max_qp_wr = VERBS_MAX_QP_WR};
    cm_id_t *id = calloc(1, sizeof *id);
    if (id == NULL || verbs_add(VERBS_CM_ID, handle, id) != 0) {
        free(id);
        return NULL;
    }
    id->handle = handle;
    id->limits = &limits;
    id->domain = AF_INET;
    id->base.channel = channel;
    id->base.context = context;
    id->base.ps = port_space;
    id->base.qp_type = type;
    return id;
}

void cm_id_free(cm_id_t *id)
{
    cm_groups_free(id);
    free(id->queue_pairs);
    free(id->connect_data);
    free(id);
}

int cm_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **made, void *context,
                 enum rdma_port_space port_space, enum ibv_qp_type type)
{
    const bool synchronous = channel == NULL;
    if (!cm_enter("rdma_create_id")) {
        return -1;
    }
    program_call_t call = {.op = PROGRAM_CM};
    turn_charge_call();
    turn_hold();
    turn_shared->cm = (program_cm_t){.action = PROGRAM_CM_CREATE,
                                     .port_space = (uint32_t)port_space,
                                     .datagrams = type == IBV_QPT_UD};
    const int error = turn_call(&call);
    turn_release();
    if (error != 0) {
        return cm_return(error);
    }
    channel = synchronous ? rdma_create_event_channel() : channel;
    cm_id_t *id =
        channel == NULL ? NULL : cm_id_create(channel, call.handle, context, port_space, type);
    if (id == NULL) {
        return cm_return(ENOMEM);
    }
    id->synchronous = synchronous;
    *made = &id->base;
    return 0;
}

PROGRAM_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
                                  void *context, enum rdma_port_space port_space)
{
    const bool datagrams = port_space == RDMA_PS_UDP || port_space == RDMA_PS_IPOIB;
    return cm_create_id(channel, id, context, port_space, datagrams ? IBV_QPT_UD : IBV_QPT_RC);
}

PROGRAM_EXPORT int rdma_destroy_id(struct rdma_cm_id *base)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    program_cm_t cm = {0};
    if (!cm_enter("rdma_destroy_id")) {
        return -1;
    }
    (void)cm_call(id, PROGRAM_CM_DESTROY, &cm);
    verbs_remove(VERBS_CM_ID, id->handle);
    if (base->event != NULL) {
        rdma_ack_cm_event(base->event);
        base->event = NULL;
    }
    if (id->synchronous) {
        rdma_destroy_event_channel(base->channel);
    } else {
        cm_channel_move_events(id, NULL);
    }
    // A real library waits for other threads to acknowledge events. Here the last one frees it.
    id->destroyed = true;
    if (id->unacked == 0) {
        cm_id_free(id);
    }
    return 0;
}

// -- addresses

int cm_read_address(cm_id_t *id, const struct sockaddr *address, program_name_t *name)
{
    *name = (program_name_t){0};
    if (address == NULL) {
        return 0;
    }
    const socklen_t length =
        address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    if (!names_read(address, length, name)) {
        return EAFNOSUPPORT;
    }
    id->domain = address->sa_family;
    return 0;
}

PROGRAM_EXPORT int rdma_bind_addr(struct rdma_cm_id *base, struct sockaddr *address)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    program_cm_t cm = {0};
    if (!cm_enter("rdma_bind_addr")) {
        return -1;
    }
    const int error = cm_read_address(id, address, &cm.own);
    return cm_return(error != 0 ? error : cm_call(id, PROGRAM_CM_BIND, &cm));
}

PROGRAM_EXPORT int rdma_resolve_addr(struct rdma_cm_id *base, struct sockaddr *source,
                                     struct sockaddr *destination, int timeout_ms)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    program_cm_t cm = {.timeout_ms = (uint32_t)timeout_ms};
    if (!cm_enter("rdma_resolve_addr")) {
        return -1;
    }
    int error = destination == NULL ? EINVAL : cm_read_address(id, source, &cm.own);
    error = error != 0 ? error : cm_read_address(id, destination, &cm.peer);
    error = error != 0 ? error : cm_call(id, PROGRAM_CM_RESOLVE, &cm);
    return error != 0 ? cm_return(error) : cm_complete(id);
}

PROGRAM_EXPORT int rdma_resolve_route(struct rdma_cm_id *base, int timeout_ms)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    program_cm_t cm = {.timeout_ms = (uint32_t)timeout_ms};
    if (!cm_enter("rdma_resolve_route")) {
        return -1;
    }
    const int error = cm_call(id, PROGRAM_CM_ROUTE, &cm);
    return error != 0 ? cm_return(error) : cm_complete(id);
}

PROGRAM_EXPORT int rdma_listen(struct rdma_cm_id *base, int backlog)
{
    program_cm_t cm = {.backlog = backlog < 0 ? 0 : (uint32_t)backlog};
    if (!cm_enter("rdma_listen")) {
        return -1;
    }
    return cm_return(cm_call((cm_id_t *)(void *)base, PROGRAM_CM_LISTEN, &cm));
}

static __be16 port_of(const struct sockaddr *address)
{
    struct sockaddr_in name; // the port lies at one place in all families
    memcpy(&name, address, sizeof name);
    return address->sa_family == AF_INET || address->sa_family == AF_INET6 ? name.sin_port : 0;
}

PROGRAM_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
    return port_of(&id->route.addr.src_addr);
}

PROGRAM_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
    return port_of(&id->route.addr.dst_addr);
}

PROGRAM_EXPORT int rdma_set_option(struct rdma_cm_id *base, int level, int name, void *value,
                                   size_t length)
{
    program_cm_t cm = {0};
    int whole = 0;
    uint8_t byte = 0;
    if (!cm_enter("rdma_set_option")) {
        return -1;
    }
    const bool is_byte = name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT;
    if (level != RDMA_OPTION_ID || name < RDMA_OPTION_ID_TOS || name > RDMA_OPTION_ID_ACK_TIMEOUT) {
        return cm_return(ENOSYS);
    }
    if (length != (is_byte ? sizeof byte : sizeof whole)) {
        return cm_return(EINVAL);
    }
    memcpy(is_byte ? (void *)&byte : (void *)&whole, value, length);
    cm.option = (uint32_t)name; // the numbers are those of PROGRAM_CM_TOS and its like
    cm.value = is_byte ? byte : (uint32_t)whole;
    return cm_return(cm_call((cm_id_t *)(void *)base, PROGRAM_CM_OPTION, &cm));
}
