// SPDX-License-Identifier: Apache-2.0
// studio/server/network/network.h - the nodes and links of a network, and a drawing of them that
// stays small.
//
// The drawing of a large network has folds in the place of most nodes. A fold is a set of nodes
// that belong together: a pod, a rack, hosts of one switch. It is opened by its path, such as
// "3.12": fold 12 of what fold 3 contains. Equal networks have equal paths.
#ifndef STUDIO_SERVER_NETWORK_NETWORK_H
#define STUDIO_SERVER_NETWORK_NETWORK_H

#include "net/network.h"

#include <jansson.h>

// Texts are positions in studio_network_t.texts.
typedef struct studio_network_node {
    uint32_t name;
    uint32_t is_host;
} studio_network_node_t;

typedef struct studio_network_link {
    uint32_t a; // index of a node
    uint32_t b;
    uint32_t a_port;
    uint32_t b_port;
    uint64_t rate_bps;
    uint64_t delay_ps;
} studio_network_link_t;

typedef struct studio_network {
    studio_network_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    studio_network_link_t *links;
    size_t link_count;
    size_t link_capacity;
    char *texts; // each ends with a 0
    size_t text_bytes;
    size_t text_capacity;
} studio_network_t;

// Fill in a network, which the caller finishes: of a world, without the names of ports; of
// topology.json, without links whose ends are unknown; of a file that studio_network_save wrote.
void studio_network_of_net(const net_t *net, studio_network_t *network);
void studio_network_of_json(const json_t *topology, studio_network_t *network);
SIM_MUST_CHECK bool studio_network_open(const char *path, studio_network_t *network);
SIM_MUST_CHECK bool studio_network_save(const studio_network_t *network, const char *path);
// Keeps the links with a port that is a key of `ports`, and the nodes at their ends.
void studio_network_keep(studio_network_t *network, const json_t *ports);
json_t *studio_network_json(const studio_network_t *network); // {nodes, links}
void studio_network_fini(studio_network_t *network);

// -- the drawing

// Returns whether a network has too many nodes to be drawn one by one.
bool studio_network_is_large(size_t node_count);

typedef struct studio_drawing {
    json_t *json;      // {nodes, links, hosts, switches, folded: true}
    uint32_t *node_of; // by node of the network: its number in json's nodes
    uint32_t *link_of; // by link of the network: twice its number in json's links, plus 1 if its
                       // ends are exchanged there; UINT32_MAX: it is inside a fold
} studio_drawing_t;

// Folds a network. open: paths of opened folds, separated by commas, NULL: none. find: the name of
// a node whose folds are opened, or NULL.
void studio_drawing_init(studio_drawing_t *drawing, const studio_network_t *network,
                         const char *open, const char *find);
void studio_drawing_fini(studio_drawing_t *drawing);

#endif // STUDIO_SERVER_NETWORK_NETWORK_H
