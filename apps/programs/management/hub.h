// SPDX-License-Identifier: Apache-2.0
// apps/programs/management/hub.h - the management network of the hosts with programs: one node, the
// hub, which passes messages on.
//
// A message takes half of the latency from its host to the hub, and the other half from there to
// the other host, whatever its size. Messages of one host arrive in the order in which they left.
#ifndef APPS_PROGRAMS_MANAGEMENT_HUB_H
#define APPS_PROGRAMS_MANAGEMENT_HUB_H

#include "nic/host.h"
#include "programs/protocol.h"

typedef enum app__message_kind {
    APP__MESSAGE_OPEN,   // asks a host for a connection
    APP__MESSAGE_OPENED, // grants it
    APP__MESSAGE_REFUSED,
    APP__MESSAGE_DATA,
    APP__MESSAGE_READ,  // so many bytes have left the inbox of this side
    APP__MESSAGE_RESET, // this side reads no more
    APP__MESSAGE_END,   // no more bytes come from this side
    APP__MESSAGE_DATAGRAM,
    APP__MESSAGE_JOINS,  // a queue pair is a member of a group
    APP__MESSAGE_LEAVES, // it is none any more
} app__message_kind_t;

// Sockets are numbered by their hosts, and hosts in the order of joining.
typedef struct app__message {
    uint64_t engine; // used by the engine while the message is in flight
    app__message_kind_t kind;
    uint32_t from_host;
    uint32_t to_host; // of JOINS and LEAVES: the sender, for all other hosts
    uint32_t from_id; // of the socket
    uint32_t to_id;
    program_name_t from_name;
    program_name_t to_name;
    uint32_t bytes;
    uint8_t payload[];
} app__message_t;

typedef struct app__hub app__hub_t;

// Makes the hub of a network, which destroys it with its nodes.
app__hub_t *app__hub_create(net_t *net, sim_time_t latency_ps);
// Joins a host, before the run, and returns its number. `take` gets each message for it, with
// `ctx`, and owns that (sim_free).
uint32_t app__hub_join(app__hub_t *hub, net_node_t *host,
                       void (*take)(net_node_t *host, uint32_t port, void *message, void *ctx),
                       void *ctx);
// Sends a message of message->from_host, which leaves at `now_ps`, or after the host's last one.
// The hub owns it. A host that has not joined refuses it, as a host on which nobody listens.
void app__hub_send(app__hub_t *hub, app__message_t *message, sim_time_t now_ps);

#endif // APPS_PROGRAMS_MANAGEMENT_HUB_H
