// SPDX-License-Identifier: Apache-2.0
// programs/cm/groups.c - multicast groups of identifiers.
//
// The group's GID is its IP address, as on RoCE, and joining needs no answer of the network. The
// queue pair of the identifier becomes a member when the program takes the event.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "programs/cm/ids.h"

#define GROUP_QPN 0xffffffu

static cm_group_t **find(cm_id_t *id, const program_name_t *name)
{
    cm_group_t **place = &id->groups;
    while (*place != NULL && memcmp((*place)->name.address, name->address, 16) != 0) {
        place = &(*place)->next;
    }
    return place;
}

static union ibv_gid gid_of(const cm_group_t *group)
{
    union ibv_gid gid;
    memcpy(gid.raw, group->name.address, sizeof gid.raw);
    return gid;
}

static int join(struct rdma_cm_id *base, const struct sockaddr *address, bool only_sends,
                void *context)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    program_cm_t cm = {0};
    if (!cm_enter("rdma_join_multicast")) {
        return -1;
    }
    int error = address == NULL ? EINVAL : cm_read_address(id, address, &cm.peer);
    cm_group_t *group = error != 0 ? NULL : calloc(1, sizeof *group);
    if (group == NULL) {
        return cm_return(error != 0 ? error : ENOMEM);
    }
    *group = (cm_group_t){id->groups, cm.peer, context, only_sends};
    error = cm_call(id, PROGRAM_CM_JOIN, &cm);
    if (error != 0) {
        free(group);
        return cm_return(error);
    }
    id->groups = group;
    return cm_complete(id);
}

PROGRAM_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address,
                                       void *context)
{
    return join(id, address, false, context);
}

PROGRAM_EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id,
                                          struct rdma_cm_join_mc_attr_ex *attr, void *context)
{
    const uint32_t needed = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    if (attr->comp_mask != needed || attr->join_flags > RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER) {
        return cm_return(EINVAL);
    }
    return join(id, attr->addr, attr->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, context);
}

PROGRAM_EXPORT int rdma_leave_multicast(struct rdma_cm_id *base, struct sockaddr *address)
{
    cm_id_t *id = (cm_id_t *)(void *)base;
    program_name_t name;
    if (!cm_enter("rdma_leave_multicast")) {
        return -1;
    }
    const int error = cm_read_address(id, address, &name);
    cm_group_t **place = error != 0 ? NULL : find(id, &name);
    cm_group_t *group = place == NULL ? NULL : *place;
    if (group == NULL) {
        return cm_return(error != 0 ? error : EADDRNOTAVAIL);
    }
    *place = group->next;
    if (base->qp != NULL && !group->only_sends) {
        const union ibv_gid gid = gid_of(group);
        (void)ibv_detach_mcast(base->qp, &gid, 0);
    }
    free(group);
    return 0;
}

void cm_group_joined(cm_id_t *id, struct rdma_cm_event *event, const program_cm_t *cm)
{
    program_name_t name;
    memcpy(&name, cm->private_data, sizeof name);
    const cm_group_t *group = *find(id, &name);
    if (group == NULL) {
        event->status = -EADDRNOTAVAIL; // the program has left it
        event->event = RDMA_CM_EVENT_MULTICAST_ERROR;
        return;
    }
    const union ibv_gid gid = gid_of(group);
    event->param.ud = (struct rdma_ud_param){
        .private_data = group->context,
        .qp_num = GROUP_QPN,
        .qkey = RDMA_UDP_QKEY,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}},
    };
    const int error =
        id->base.qp == NULL || group->only_sends ? 0 : ibv_attach_mcast(id->base.qp, &gid, 0);
    if (error != 0) {
        event->status = -error;
        event->event = RDMA_CM_EVENT_MULTICAST_ERROR;
    }
}

void cm_groups_free(cm_id_t *id)
{
    while (id->groups != NULL) {
        cm_group_t *next = id->groups->next;
        free(id->groups);
        id->groups = next;
    }
}
