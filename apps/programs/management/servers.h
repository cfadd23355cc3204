// SPDX-License-Identifier: Apache-2.0
// apps/programs/management/servers.h - the servers of ssh: one a host, with programs.ssh, so
// that a program can start commands on other hosts.
//
// A server is a program as those of the scenario (programs/remote/sshd.c), which starts when the
// first connection to port 22 of its host comes. It ends with the run.
#ifndef APPS_PROGRAMS_MANAGEMENT_SERVERS_H
#define APPS_PROGRAMS_MANAGEMENT_SERVERS_H

#include "apps/app.h"

#define APP__SERVER_PORT 22u

typedef struct app__program app__program_t;
typedef struct app__servers app__servers_t; // of a network

// Makes the server of a host, which does not run yet.
app__program_t *app__server_create(const app_context_t *context, net_node_t *node);

// Makes those of all hosts.
app__servers_t *app__servers_create(const app_context_t *context);
void app__servers_destroy(app__servers_t *servers);
// Starts a server now, if it has not begun. Returns false if it has ended.
bool app__server_starts(app__program_t *server);

#endif // APPS_PROGRAMS_MANAGEMENT_SERVERS_H
