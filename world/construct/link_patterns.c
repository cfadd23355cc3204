// SPDX-License-Identifier: Apache-2.0
// world/construct/link_patterns.c - which links the patterns of a scenario mean.
//
// An end is meant by its node's name or by that of its NIC ("host3/nic1"): a host's ports are its
// NICs, in order.
#include "world/construct/link_patterns.h"
#include "world/patterns.h"

static char *nic_name_at(const net_node_t *node, uint32_t port)
{
    return node->kind == NET_NODE_HOST ? sim_format("%s/nic%u", node->sim.name, port) : NULL;
}

// Returns how many of the first `before` links join the two nodes.
static uint32_t links_between(const net_t *net, size_t before, const net_node_t *a,
                              const net_node_t *b)
{
    uint32_t count = 0;
    for (size_t i = 0; i < before; i++) {
        const net_link_t link = net_link_at(net, i);
        count += (link.a == a && link.b == b) || (link.a == b && link.b == a);
    }
    return count;
}

typedef struct ends {
    const net_node_t *a;
    const net_node_t *b;
    uint32_t a_port;
    uint32_t b_port;
} ends_t;

// Returns whether the names mean the link with these ends; the network has `before` earlier links.
static bool are_meant(const net_t *net, const world_pair_t *names, const ends_t *ends,
                      size_t before)
{
    const uint32_t member =
        world_link_is_numbered(names) ? 1 + links_between(net, before, ends->a, ends->b) : 0;
    char *const a_nic = nic_name_at(ends->a, ends->a_port);
    char *const b_nic = nic_name_at(ends->b, ends->b_port);
    const world_link_end_t a = {ends->a->sim.name, a_nic};
    const world_link_end_t b = {ends->b->sim.name, b_nic};
    const bool matches = world_link_match(names, &a, &b, member);
    sim_free(a_nic);
    sim_free(b_nic);
    return matches;
}

bool world__link_meant(const world_t *world, const world_pair_t *names, size_t l)
{
    const net_link_t link = net_link_at(world->net, l);
    const ends_t ends = {link.a, link.b, link.a_port, link.b_port};
    return are_meant(world->net, names, &ends, l);
}

bool world__next_link_meant(const world_t *world, const world_pair_t *names, const net_node_t *a,
                            const net_node_t *b)
{
    const ends_t ends = {a, b, a->port_count, b->port_count};
    return are_meant(world->net, names, &ends, net_link_count(world->net));
}

bool world__end_meant(const world_pair_t *names, const net_node_t *node, uint32_t port)
{
    char *const nic = nic_name_at(node, port);
    const world_link_end_t end = {node->sim.name, nic};
    const bool matches = world_left_match(names, &end);
    sim_free(nic);
    return matches;
}
