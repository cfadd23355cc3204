// SPDX-License-Identifier: Apache-2.0
// topologies/routes_file.h - next hops given in a file beside a topology file of the HPCC family.
//
//     node host n  next:interface  next:interface ...     n next hops, in the order of choice
//
// Numbers are those of the topology file; interface k of a node is its k-th link there, from 1.
// Rows whose node is a host are checked and ignored, because a host has one link. Format:
// docs/formats/peers.md.
#ifndef TOPOLOGIES_ROUTES_FILE_H
#define TOPOLOGIES_ROUTES_FILE_H

#include "topologies/topology_file.h"

SIM_C_BEGIN

typedef struct topo_route {
    uint32_t node;  // index in the topology, of a switch
    uint32_t host;  // index in the topology
    uint32_t first; // the route's ports are ports[first] .. ports[first + count - 1]
    uint32_t count; // > 0
    uint32_t line;  // place of the row in the file
    uint32_t column;
} topo_route_t;

typedef struct topo_routes {
    topo_route_t *rows; // ordered by node, then by host
    size_t count;
    size_t capacity;
    uint32_t *ports; // port numbers of the row's node, from 0
    size_t port_count;
    size_t port_capacity;
} topo_routes_t;

// Reads size_bytes of text about a topology in which each node's number is its index. On failure
// message begins with "NAME:LINE:COLUMN: ". The caller frees *routes with topo_routes_fini, also
// after a failure.
SIM_MUST_CHECK sim_err_t topo_routes_parse(const topo_file_t *topology, const char *name,
                                           const char *text, size_t size_bytes,
                                           topo_routes_t *routes, sim_message_t *message);
void topo_routes_fini(topo_routes_t *routes);

SIM_C_END

#endif // TOPOLOGIES_ROUTES_FILE_H
