// SPDX-License-Identifier: Apache-2.0
// programs/sockets/netlink.h - the kernel's messages about interfaces and routes (AF_NETLINK).
#ifndef PROGRAMS_SOCKETS_NETLINK_H
#define PROGRAMS_SOCKETS_NETLINK_H

#include <sys/socket.h>

#include "programs/sockets/endpoint.h"

// Opens a socket of NETLINK_ROUTE. Returns -1 with errno if there is no descriptor.
int netlink_open(void);

// Answers the requests that the program has sent: lists of all interfaces, addresses and routes,
// and one interface. All others get EOPNOTSUPP.
void netlink_answer(const endpoint_t *socket);

bool netlink_has(int descriptor);
// Writes the name of a socket of this process, or of the kernel (0), if there is room.
void netlink_name(uint32_t process, struct sockaddr *address, socklen_t *bytes);

#endif // PROGRAMS_SOCKETS_NETLINK_H
