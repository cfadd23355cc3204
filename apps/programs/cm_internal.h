// SPDX-License-Identifier: Apache-2.0
// apps/programs/cm_internal.h - the identifiers of a connection manager, and its QPs 1.
#ifndef APPS_PROGRAMS_CM_INTERNAL_H
#define APPS_PROGRAMS_CM_INTERNAL_H

#include "apps/channel/gsi.h"
#include "apps/programs/cm.h"
#include "apps/programs/guest.h"

// States of an identifier, after those of IBA volume 1, 12.9.7.
typedef enum app__cma_state {
    APP__CMA_IDLE,
    APP__CMA_RESOLVES, // no host has the address; an event says so when the time is over
    APP__CMA_LISTENS,
    APP__CMA_REQ_SENT,
    APP__CMA_REQ_RECEIVED,
    APP__CMA_REP_SENT,
    APP__CMA_REP_RECEIVED,
    APP__CMA_ESTABLISHED,
    APP__CMA_DREQ_SENT,
    APP__CMA_DREQ_RECEIVED,
    APP__CMA_TIMEWAIT,
    APP__CMA_SIDR_SENT,
    APP__CMA_SIDR_RECEIVED,
} app__cma_state_t;

// The kinds of events, in the order of enum rdma_cm_event_type.
typedef enum app__cma_event {
    APP__CMA_ADDR_RESOLVED,
    APP__CMA_ADDR_ERROR,
    APP__CMA_ROUTE_RESOLVED,
    APP__CMA_CONNECT_REQUEST = 4,
    APP__CMA_CONNECT_RESPONSE,
    APP__CMA_UNREACHABLE = 7,
    APP__CMA_REJECTED,
    APP__CMA_CONNECTED,
    APP__CMA_DISCONNECTED,
    APP__CMA_JOINED = 12,
    APP__CMA_TIMEWAIT_EXIT = 15,
} app__cma_event_t;

typedef struct app__cma_id {
    app__cma_t *manager;
    app__program_t *program;
    app__process_t *process; // gets its events
    uint32_t number;         // on its host: the handle, and the local communication ID
    app__cma_state_t state;
    uint32_t port_space;
    bool datagrams;
    bool bound; // own.port belongs to this identifier
    bool reuses;
    bool resolved;   // peer_interface is known
    bool active;     // it has sent the request
    bool connected;  // it has been established
    uint32_t device; // PROGRAM_NO_DEVICE: none
    program_name_t own;
    program_name_t peer;
    uint32_t peer_interface;
    uint32_t remote_id;
    uint64_t transaction;
    uint32_t backlog; // LISTENS: requests that may wait
    uint32_t waiting; // requests that were not taken

    // the connection, as in app__mad_t
    uint32_t qp_num;
    uint32_t psn;
    uint32_t remote_qp_num;
    uint32_t remote_psn;
    uint32_t responder_resources;
    uint32_t initiator_depth;
    uint32_t retry_count;
    uint32_t rnr_retry_count;
    uint32_t traffic_class;
    uint32_t service_level;
    uint32_t path_mtu;
    uint32_t ack_timeout;
    uint32_t response_timeout;
    uint32_t cm_retries;

    uint8_t sent[APP__MAD_BYTES]; // the message that waits for an answer
    sim_timer_t timer;
    sim_time_t again_ps; // time until it is sent again
    uint32_t resends;    // that are left

    program_cm_t *events; // that the process has not taken
    size_t event_count;
    size_t event_capacity;
} app__cma_id_t;

// The manager's part of a NIC.
typedef struct app__cma_port {
    app__cma_t *manager;
    app__endpoint_t *endpoint;
    app__gsi_listener_t listener;
    bool opened;      // the manager listens at its QP 1
    uint64_t address; // of memory for datagrams
} app__cma_port_t;

struct app__cma {
    net_t *net;
    net_node_t *node;
    app__cma_port_t *ports; // by NIC of the host
    uint32_t first_number;
    app__cma_id_t **ids; // by number - first_number; NULL: destroyed
    size_t id_count;
    size_t id_capacity;
    sim_map_t requests; // of the sender's interface and number, to index in ids
    uint32_t next_free; // of ports that nobody asked for
    bool refused_own;   // a program read that its host's NIC does not reach itself
};

// -- cm_host.c

app__cma_id_t *app__cma_new(app__cma_t *manager, app__program_t *program);
// Lets a request that comes once more be a new one.
void app__cma_forget_request(const app__cma_id_t *id);
// Frees an identifier, without a message to anybody.
void app__cma_free(app__cma_id_t *id);
// Returns the identifier of a number, or NULL.
app__cma_id_t *app__cma_find(const app__cma_t *manager, uint64_t number);
// Sends a datagram from a NIC of the host. It may be lost.
void app__cma_send(app__cma_t *manager, uint32_t device, uint32_t interface,
                   const uint8_t bytes[APP__MAD_BYTES]);
// Gives a name to an identifier. A port of 0 becomes a free one. EADDRINUSE, EADDRNOTAVAIL
int app__cma_bind(app__cma_id_t *id, const program_name_t *own);
// Binds an identifier to a NIC.
void app__cma_set_device(app__cma_id_t *id, uint32_t device);
bool app__cma_is_any(const uint8_t address[16]);

// -- cm_messages.c

// Takes a message that came to a port (app__cma_port_t). Returns true: others got it before.
bool app__cma_take(void *ctx, const app__mad_t *mad, uint32_t interface);
void app__cma_time_is_over(sim_node_t *node, sim_timer_t *timer);
void app__cma_push(app__cma_id_t *id, app__cma_event_t event, int status);
void app__cma_push_joined(app__cma_id_t *id, const program_name_t *group);
// Each sends a message and changes the state. `cm` has the process's parameters.
void app__cma_request(app__cma_id_t *id, const program_cm_t *cm);
void app__cma_reply(app__cma_id_t *id, const program_cm_t *cm);
void app__cma_ready(app__cma_id_t *id);
void app__cma_reject(app__cma_id_t *id, const program_cm_t *cm, uint32_t reason);
void app__cma_leave(app__cma_id_t *id);
// Establishes a connection that was accepted: its peer is ready. Returns an errno value.
int app__cma_communicates(app__cma_id_t *id);
// Destroys an identifier as the state of its connection asks for.
void app__cma_destroy(app__cma_id_t *id);

#endif // APPS_PROGRAMS_CM_INTERNAL_H
