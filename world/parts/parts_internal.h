// SPDX-License-Identifier: Apache-2.0
// world/parts/parts_internal.h - the network as the ways of dividing it see it: nodes that stay
// together are groups, and links join groups.
#ifndef WORLD_PARTS_PARTS_INTERNAL_H
#define WORLD_PARTS_PARTS_INTERNAL_H

#include "world/parts.h"

#define PARTS__NO_TIER UINT32_MAX

typedef struct parts {
    const net_t *net;
    uint32_t node_count;
    uint32_t rank_count;
    const uint32_t *unit_of; // lowest node of those that one rank must run together
    uint32_t *first;         // by node, one more at the end: where its neighbours begin
    uint32_t *others;        // neighbours of all nodes
    uint32_t *tier;          // distance from the nearest switch with hosts; hosts have 0, too
    uint32_t top;            // the largest tier
    uint64_t *work;          // expected work of each node, in packets of some scale
    uint32_t *group_of;      // by node: the lowest node of its group
    uint16_t *rank_of;       // by node; the result
} parts_t;

// Sets group_of: units together with hosts and their leaf switches if `leaves`, and all nodes of
// tiers below `tier` that are linked to each other.
void parts__make_groups(parts_t *parts, bool leaves, uint32_t tier);

// traffic.c: sets work to the packets that each node would handle if every host sent equally much
// to all others over shortest paths, and traffic, by link, to those that each link would carry.
void parts__expect_traffic(parts_t *parts, uint64_t *traffic);

#endif // WORLD_PARTS_PARTS_INTERNAL_H
