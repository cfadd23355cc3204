// SPDX-License-Identifier: Apache-2.0
// world/parts.h - which rank of a run gets which nodes of a network (kernel/ranks.h).
#ifndef WORLD_PARTS_H
#define WORLD_PARTS_H

#include "kernel/ranks.h"
#include "net/node.h"

SIM_C_BEGIN

typedef enum world_parts_way {
    WORLD_PARTS_PODS,   // whole pods: what stays together without the switches of the top tiers
    WORLD_PARTS_LEAVES, // hosts with all their leaf switches
    WORLD_PARTS_HOSTS,  // single hosts: too few leaf switches for so many ranks
    WORLD_PARTS_METIS,  // by the library METIS, over expected traffic
} world_parts_way_t;

typedef struct world_parts {
    uint16_t *rank_of; // by node
    world_parts_way_t way;
    uint32_t rank_count;
    uint64_t link_count;
    uint64_t cut_count; // links between ranks
    double busiest;     // share of the expected work of the rank with most of it, times rank_count
} world_parts_t;

// Divides the nodes of a network among ranks, when it has all its nodes and links. `irregular`: no
// builder made it, so METIS divides it if this build has METIS. The result depends on nothing but
// the arguments, so all ranks find the same. Free it with world_parts_destroy.
world_parts_t *world_parts_create(const net_t *net, uint32_t rank_count, bool irregular);
void world_parts_destroy(world_parts_t *parts);

// Returns the word for a way: "pods".
const char *world_parts_way_name(world_parts_way_t way);
// Returns whether this build has METIS.
bool world_parts_has_metis(void);

SIM_C_END

#endif // WORLD_PARTS_H
