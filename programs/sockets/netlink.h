// SPDX-License-Identifier: Apache-2.0
// programs/sockets/netlink.h - the kernel's messages about routes (AF_NETLINK).
#ifndef PROGRAMS_SOCKETS_NETLINK_H
#define PROGRAMS_SOCKETS_NETLINK_H

#include "programs/sockets/endpoint.h"

// Opens a socket of NETLINK_ROUTE. Returns -1 with errno if there is no descriptor.
int netlink_open(void);

// Answers the requests that the program has sent: RTM_GETROUTE for all routes gets those of the
// host's interfaces, and all others get EOPNOTSUPP.
void netlink_answer(const endpoint_t *socket);

#endif // PROGRAMS_SOCKETS_NETLINK_H
