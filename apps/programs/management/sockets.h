// SPDX-License-Identifier: Apache-2.0
// apps/programs/management/sockets.h - the stream sockets by which programs find each other.
//
// A process holds one end of a pair of local sockets, the simulator the other. What the process
// writes arrives at the peer's process after programs.socket-latency, whatever its size: these
// sockets stand for a management network without a rate. A writer waits if it is too far ahead of
// the reader. All is deterministic: bytes move in events, at times that do not depend on this
// machine.
//
// All connections run over the hub (hub.h).
#ifndef APPS_PROGRAMS_MANAGEMENT_SOCKETS_H
#define APPS_PROGRAMS_MANAGEMENT_SOCKETS_H

#include "apps/programs/management/groups.h"
#include "nic/host.h"
#include "programs/protocol.h"

typedef struct app__program app__program_t;
typedef struct app__socket app__socket_t;
typedef struct app__sockets app__sockets_t; // of a network

// The sockets of a program that are not closed, in the order of their handles. They belong to their
// hosts.
typedef struct app__socket_list {
    app__socket_t **sockets;
    size_t count;
    size_t capacity;
    uint32_t handles; // so far
} app__socket_list_t;

// Makes the hub of a network.
app__sockets_t *app__sockets_create(net_t *net, sim_time_t latency_ps);
void app__sockets_destroy(app__sockets_t *sockets);
// Joins a host to the hub, if it has not joined. Before the run.
void app__sockets_join(app__sockets_t *sockets, net_node_t *host);
// Returns the number of a new program among those of its host, which has joined.
uint32_t app__sockets_number(app__sockets_t *sockets, const net_node_t *host);

// Lets a server of the host, which has joined, start when the first connection for it comes.
void app__sockets_serve(app__sockets_t *sockets, const net_node_t *host, app__program_t *server);

// Returns true if an address names the host itself: 127.0.0.0/8 and ::1.
bool app__is_loopback(const uint8_t address[16]);
// Does a call of a process. Returns an errno value; EINPROGRESS: PROGRAM_CONNECT waits. *descriptor
// goes with the answer, and is closed when it was sent.
int app__socket_call(app__program_t *program, program_call_t *call, int *descriptor);
// Returns the result of a PROGRAM_CONNECT; EINPROGRESS: there is none yet.
int app__socket_connected(app__program_t *program, program_call_t *call);
// Sends what the process has written to its sockets, and sees which it has closed.
void app__sockets_look(app__program_t *program);
// Closes all sockets of a program that has ended, after what it has written.
void app__sockets_close_all(app__program_t *program);
// Does PROGRAM_GROUP for a queue pair of the program: it joins a group, or leaves it, and all hosts
// with programs hear of that. Returns an errno value.
int app__sockets_change_group(app__program_t *program, const app__member_t *member, bool joins);
// Lets a queue pair that is destroyed leave its groups.
void app__sockets_leave_groups(app__program_t *program, uint32_t interface, uint32_t qp_num);
// Returns the members of a group that the program's host knows, and their number.
const app__member_t *app__sockets_group(const app__program_t *program, const uint8_t group[16],
                                        size_t *count);

#endif // APPS_PROGRAMS_MANAGEMENT_SOCKETS_H
