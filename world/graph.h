// SPDX-License-Identifier: Apache-2.0
// world/graph.h - the nodes and links of the topology `graph`, one by one.
#ifndef WORLD_GRAPH_H
#define WORLD_GRAPH_H

#include "topologies/topology.h"
#include "world/registry.h"

SIM_C_BEGIN

typedef struct world_graph_node {
    const char *name;
    net_node_kind_t kind;
    const world_node_kind_t *own_kind; // of the program, which stands as a switch; NULL: none
    world_place_t place;
} world_graph_node_t;

typedef struct world_graph_link {
    char *a;
    char *b;
    net_link_config_t config;
} world_graph_link_t;

typedef struct world_graph {
    topo_graph_t *topo;
    world_graph_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    world_graph_link_t *links;
    size_t link_count;
    size_t link_capacity;
} world_graph_t;

SIM_C_END

#endif // WORLD_GRAPH_H
