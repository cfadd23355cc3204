// SPDX-License-Identifier: Apache-2.0
// programs/sockets/names.h - addresses and the names of hosts.
#ifndef PROGRAMS_SOCKETS_NAMES_H
#define PROGRAMS_SOCKETS_NAMES_H

#include <stdbool.h>
#include <sys/socket.h>

#include "programs/protocol.h"

// Reads an address of AF_INET or AF_INET6. Returns false if it is neither.
bool names_read(const struct sockaddr *address, socklen_t length, program_name_t *name);

// Writes an address and returns its length.
socklen_t names_write(int domain, const program_name_t *name, struct sockaddr_storage *address);

// Writes an address into room for *length bytes, as far as there is room, and its length.
void names_put(int domain, const program_name_t *name, struct sockaddr *address, socklen_t *length);

// Returns true if a host of the scenario has this address.
bool names_is_host(const uint8_t address[16]);

#endif // PROGRAMS_SOCKETS_NAMES_H
