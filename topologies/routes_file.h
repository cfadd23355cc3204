// SPDX-License-Identifier: Apache-2.0
// topologies/routes_file.h - next hops written down beside a topology file of the HPCC family.
//
//     node host n  next:interface  next:interface ...     n of them, in the order of choice
//
// Numbers are those of the topology file; interface k of a node is its k-th link there, from 1.
// Rows of hosts are checked and say nothing new: a host has one link. docs/formats/peers.md
#ifndef TOPOLOGIES_ROUTES_FILE_H
#define TOPOLOGIES_ROUTES_FILE_H

#include "topologies/topology_file.h"

SIM_C_BEGIN

typedef struct topo_route {
    uint32_t node;  // index in the topology; a switch
    uint32_t host;  // index in the topology
    uint32_t first; // its ports are ports[first] .. ports[first + count - 1]
    uint32_t count; // > 0
    uint32_t line;  // of the row
    uint32_t column;
} topo_route_t;

typedef struct topo_routes {
    topo_route_t *rows; // by node, then host
    size_t count;
    size_t capacity;
    uint32_t *ports; // from 0, of the node of the row
    size_t port_count;
    size_t port_capacity;
} topo_routes_t;

// Reads size_bytes of text about a topology whose nodes have their index as number. On failure
// message begins with "NAME:LINE:COLUMN: ". Free with topo_routes_fini, also on failure.
SIM_MUST_CHECK sim_err_t topo_routes_parse(const topo_file_t *topology,
                                           const char *name,
                                           const char *text,
                                           size_t size_bytes,
                                           topo_routes_t *routes,
                                           sim_message_t *message);
void topo_routes_fini(topo_routes_t *routes);

SIM_C_END

#endif // TOPOLOGIES_ROUTES_FILE_H
