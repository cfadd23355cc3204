// SPDX-License-Identifier: Apache-2.0
// world/names.h - nodes, interfaces and ports of a world by their names.
#ifndef WORLD_NAMES_H
#define WORLD_NAMES_H

#include "world/patterns.h"
#include "world/world.h"

SIM_C_BEGIN

// Returns the name of an interface in results.
const char *world_interface_name(const world_t *world, uint32_t interface);

// Adds ", did you mean 'x'?" with the nearest name of a node of the kind (-1: any).
void world_add_nearest_node(world_error_t *error, const net_t *net, const char *pattern, int kind);

// Finds the ports that the pair matches, in order of nodes and ports. The caller frees *ports with
// sim_free. No port is an error at place, which names what was looked for.
SIM_MUST_CHECK sim_err_t world_find_ports(const world_t *world, const world_pair_t *pair,
                                          const char *pattern, const world_place_t *place,
                                          net_port_t ***ports, size_t *count, world_error_t *error);

SIM_C_END

#endif // WORLD_NAMES_H
