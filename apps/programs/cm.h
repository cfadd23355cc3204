// SPDX-License-Identifier: Apache-2.0
// apps/programs/cm.h - the connection manager of a host: what the kernel of a machine does for the
// librdmacm of its programs (docs/models/programs.md).
//
// The managers of two hosts exchange management datagrams between the QPs 1 of their NICs. The
// network may lose them: requests are sent again, as often as IBA volume 1, 12.9 says, and in the
// end an event says that nobody answered. A QP 1 is made when the first datagram is sent or
// arrives, so most hosts have none.
#ifndef APPS_PROGRAMS_CM_H
#define APPS_PROGRAMS_CM_H

#include "nic/verbs.h"
#include "programs/protocol.h"

typedef struct app__program app__program_t;
typedef struct app_runtime app_runtime_t;
typedef struct app__cma app__cma_t;   // of a host
typedef struct app__cmas app__cmas_t; // of a network

// Makes the managers of all hosts of a network: one without programs refuses, as the kernel of an
// idle machine does. Before the run.
app__cmas_t *app__cmas_create(net_t *net, app_runtime_t *runtime);
void app__cmas_destroy(app__cmas_t *managers);
app__cma_t *app__cmas_of(const app__cmas_t *managers, const net_node_t *host);
// Returns the QP 1 of a NIC of the host, which it makes if there is none.
nic_qp_t *app__cma_qp(app__cma_t *manager, const nic_t *nic);

// Does a call of a process (PROGRAM_CM). Returns an errno value.
int app__cma_call(app__program_t *program, program_call_t *call);
// Destroys all identifiers of a program that has ended: its peers get to know.
void app__cma_end(app__program_t *program);

#endif // APPS_PROGRAMS_CM_H
