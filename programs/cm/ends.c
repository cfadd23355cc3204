// SPDX-License-Identifier: Apache-2.0
// programs/cm/ends.c - rdma_getaddrinfo, and the calls that do several steps at once.

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "programs/cm/ids.h"

#define RESOLVE_MS 2000

// -- addresses

PROGRAM_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *list)
{
    while (list != NULL) {
        struct rdma_addrinfo *next = list->ai_next;
        free(list->ai_src_addr);
        free(list->ai_dst_addr);
        free(list->ai_src_canonname);
        free(list->ai_dst_canonname);
        free(list->ai_route);
        free(list->ai_connect);
        free(list);
        list = next;
    }
}

static bool copy(const struct sockaddr *from, socklen_t length, struct sockaddr **to,
                 socklen_t *to_length)
{
    if (from == NULL || length == 0) {
        return true;
    }
    *to = malloc(length);
    if (*to != NULL) {
        memcpy(*to, from, length);
        *to_length = length;
    }
    return *to != NULL;
}

// Sets the port space and the type of queue pairs. Each says the other, if it is missing.
static void set_service(const struct rdma_addrinfo *hints, struct rdma_addrinfo *entry)
{
    entry->ai_port_space = hints->ai_port_space;
    entry->ai_qp_type = hints->ai_qp_type;
    if (entry->ai_port_space == 0) {
        entry->ai_port_space = hints->ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
    }
    if (entry->ai_qp_type == 0) {
        entry->ai_qp_type =
            entry->ai_port_space == RDMA_PS_UDP || entry->ai_port_space == RDMA_PS_IPOIB
                ? IBV_QPT_UD
                : IBV_QPT_RC;
    }
}

PROGRAM_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
                                    const struct rdma_addrinfo *hints, struct rdma_addrinfo **list)
{
    static const struct rdma_addrinfo none = {0};
    struct addrinfo *found = NULL;
    if (!cm_enter("rdma_getaddrinfo")) {
        return -1;
    }
    if (node == NULL && service == NULL && hints == NULL) {
        return cm_return(EINVAL);
    }
    hints = hints == NULL ? &none : hints;
    const bool passive = (hints->ai_flags & RAI_PASSIVE) != 0;
    if (node != NULL || service != NULL) {
        const struct addrinfo wish = {
            .ai_family = hints->ai_family == AF_INET || hints->ai_family == AF_INET6
                             ? hints->ai_family
                             : AF_UNSPEC,
            .ai_socktype = SOCK_STREAM,
            .ai_flags = (passive ? AI_PASSIVE : 0) |
                        ((hints->ai_flags & RAI_NUMERICHOST) != 0 ? AI_NUMERICHOST : 0),
        };
        const int error = getaddrinfo(node, service, &wish, &found);
        if (error != 0) {
            return error;
        }
    }
    struct rdma_addrinfo *entry = calloc(1, sizeof *entry);
    bool good = entry != NULL;
    if (good) {
        entry->ai_flags = hints->ai_flags;
        entry->ai_family = found != NULL ? found->ai_family : hints->ai_family;
        set_service(hints, entry);
        const struct sockaddr *address = found == NULL ? NULL : found->ai_addr;
        const socklen_t length = found == NULL ? 0 : found->ai_addrlen;
        const bool source = passive && address != NULL;
        const bool destination = !passive && address != NULL;
        good =
            copy(source ? address : hints->ai_src_addr, source ? length : hints->ai_src_len,
                 &entry->ai_src_addr, &entry->ai_src_len) &&
            copy(destination ? address : hints->ai_dst_addr,
                 destination ? length : hints->ai_dst_len, &entry->ai_dst_addr, &entry->ai_dst_len);
    }
    if (found != NULL) {
        freeaddrinfo(found);
    }
    if (!good) {
        rdma_freeaddrinfo(entry);
        return cm_return(ENOMEM);
    }
    *list = entry;
    return 0;
}

// -- ends of connections

// Keeps what a listening end makes queue pairs of. Returns an errno value.
static int keep_attributes(cm_id_t *id, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr,
                           enum ibv_qp_type type)
{
    if (attr == NULL) {
        return 0;
    }
    id->queue_pairs = malloc(sizeof *id->queue_pairs);
    if (id->queue_pairs == NULL) {
        return ENOMEM;
    }
    *id->queue_pairs = *attr;
    id->queue_pairs->qp_type = type;
    if (pd != NULL) {
        id->base.pd = pd;
    }
    return 0;
}

static int keep_connect_data(cm_id_t *id, const struct rdma_addrinfo *entry)
{
    if (entry->ai_connect_len == 0) {
        return 0;
    }
    id->connect_data = malloc(entry->ai_connect_len);
    if (id->connect_data == NULL) {
        return ENOMEM;
    }
    memcpy(id->connect_data, entry->ai_connect, entry->ai_connect_len);
    id->connect_bytes = entry->ai_connect_len;
    return 0;
}

PROGRAM_EXPORT int rdma_create_ep(struct rdma_cm_id **made, struct rdma_addrinfo *entry,
                                  struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct rdma_cm_id *base = NULL;
    const enum ibv_qp_type type = (enum ibv_qp_type)entry->ai_qp_type;
    if (cm_create_id(NULL, &base, NULL, (enum rdma_port_space)entry->ai_port_space, type) != 0) {
        return -1;
    }
    cm_id_t *id = (cm_id_t *)(void *)base;
    int result = 0;
    if ((entry->ai_flags & RAI_PASSIVE) != 0) {
        result = rdma_bind_addr(base, entry->ai_src_addr);
        result = result != 0 ? result : cm_return(keep_attributes(id, pd, attr, type));
    } else {
        result = rdma_resolve_addr(base, entry->ai_src_addr, entry->ai_dst_addr, RESOLVE_MS);
        result = result != 0 ? result : rdma_resolve_route(base, RESOLVE_MS);
        if (result == 0 && attr != NULL) {
            attr->qp_type = type;
            result = rdma_create_qp(base, pd, attr);
        }
        result = result != 0 ? result : cm_return(keep_connect_data(id, entry));
    }
    if (result != 0) {
        const int error = errno;
        rdma_destroy_ep(base);
        return cm_return(error);
    }
    *made = base;
    return 0;
}

PROGRAM_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
    if (id->qp != NULL) {
        rdma_destroy_qp(id);
    }
    rdma_destroy_srq(id);
    (void)rdma_destroy_id(id);
}

PROGRAM_EXPORT int rdma_get_request(struct rdma_cm_id *listener, struct rdma_cm_id **id)
{
    cm_id_t *end = (cm_id_t *)(void *)listener;
    struct rdma_cm_event *event = NULL;
    if (!end->synchronous) {
        return cm_return(EINVAL);
    }
    if (listener->event != NULL) {
        rdma_ack_cm_event(listener->event);
        listener->event = NULL;
    }
    if (rdma_get_cm_event(listener->channel, &event) != 0) {
        return -1;
    }
    int error = event->status < 0                               ? -event->status
                : event->event != RDMA_CM_EVENT_CONNECT_REQUEST ? EINVAL
                                                                : 0;
    if (error == 0 && end->queue_pairs != NULL) {
        struct ibv_qp_init_attr attr = *end->queue_pairs;
        error = rdma_create_qp(event->id, listener->pd, &attr) == 0 ? 0 : errno;
        if (error != 0) {
            (void)rdma_reject(event->id, NULL, 0);
        }
    }
    if (error != 0) {
        rdma_ack_cm_event(event);
        return cm_return(error);
    }
    *id = event->id;
    (*id)->event = event;
    return 0;
}
