// SPDX-License-Identifier: Apache-2.0
// programs/cm/ids.h - the objects of librdmacm with what the library keeps of them.
//
// Each begins with the public struct, which programs get. The state of connections is the
// simulator's, as it is the kernel's on a machine; the library moves queue pairs and waits.
#ifndef PROGRAMS_CM_IDS_H
#define PROGRAMS_CM_IDS_H

#include "programs/cm/interface.h"

#include "programs/verbs/objects.h"

typedef struct cm_channel {
    struct rdma_event_channel base;
    int events_fd; // the end of the pipe into which identifiers with events are written
} cm_channel_t;

// Rsockets (programs/cm/rsockets.c) read this of devices. Layouts are those of rdma-core's library.
typedef struct cm_limits {
    uint64_t unread[9];
    int max_qp_wr;
} cm_limits_t;

// A multicast group that an identifier has joined, or is about to.
typedef struct cm_group {
    struct cm_group *next;
    program_name_t name;
    void *context;
    bool only_sends;
} cm_group_t;

typedef struct cm_id {
    struct rdma_cm_id base;
    // rsockets read these fields down to `synchronous`
    const cm_limits_t *limits;
    void *connect_data; // in front of the private data of rdma_connect
    size_t connect_bytes;
    int unread[2];
    int synchronous; // 1: calls wait for their event; the channel belongs to the identifier
    uint32_t handle;
    int domain;         // of the addresses that the program has given
    bool destroyed;     // freed with the last event
    uint32_t unacked;   // number of events that the program has and has not acknowledged
    uint32_t resources; // responder resources and initiator depth that the peer asks for
    uint32_t depth;
    struct ibv_qp_init_attr *queue_pairs; // of the requests to a listening end; NULL: none
    struct ibv_sa_path_rec path;
    cm_group_t *groups;
} cm_id_t;

typedef struct cm_event {
    struct rdma_cm_event base;
    cm_id_t *holder; // whose event it is: of a request, the listening identifier
    uint8_t private_data[PROGRAM_CM_PRIVATE_MAX];
} cm_event_t;

// Begins a call of librdmacm. Returns false, with errno, if this process is no program.
bool cm_enter(const char *function);

// Sets errno. Returns 0 if `error` is 0, else -1.
int cm_return(int error);

// Asks the connection manager to do something with an identifier, and takes over the device and the
// addresses that it has then. Returns an errno value.
int cm_call(cm_id_t *id, program_cm_action_t action, program_cm_t *cm);

// Returns the open context of a device, and in *pd (may be NULL) the protection domain that
// identifiers share. NULL: errno says why.
struct ibv_context *cm_context(uint32_t device, struct ibv_pd **pd);

// Creates an identifier for a handle of the connection manager. NULL: no memory.
cm_id_t *cm_id_create(struct rdma_event_channel *channel, uint32_t handle, void *context,
                      enum rdma_port_space port_space, enum ibv_qp_type type);

// Creates an identifier as rdma_create_id, for queue pairs of this type.
int cm_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **made, void *context,
                 enum rdma_port_space port_space, enum ibv_qp_type type);

// Takes over the device and the addresses of an answer.
void cm_id_update(cm_id_t *id, const program_cm_t *cm);

// Reads an address of the program, and notes its family. NULL is any address. Returns an errno
// value.
int cm_read_address(cm_id_t *id, const struct sockaddr *address, program_name_t *name);

// Completes the event of a group that was joined: its parameters, and the queue pair as a member.
void cm_group_joined(cm_id_t *id, struct rdma_cm_event *event, const program_cm_t *cm);

// Forgets all groups of an identifier.
void cm_groups_free(cm_id_t *id);

// Frees an identifier whose events are acknowledged.
void cm_id_free(cm_id_t *id);

// Removes from the channel what waits of an identifier, or moves it to another channel.
void cm_channel_move_events(cm_id_t *id, cm_channel_t *to);

// Waits for the event of a synchronous identifier. Returns 0, or -1 with errno.
int cm_complete(cm_id_t *id);

// Moves the identifier's queue pair to RTR and RTS, or to the error state. Returns an errno value.
int cm_qp_connect(cm_id_t *id, uint32_t resources, uint32_t depth);
void cm_qp_fail(cm_id_t *id);

#endif // PROGRAMS_CM_IDS_H
