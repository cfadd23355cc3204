// SPDX-License-Identifier: Apache-2.0
// net/routes_internal.h - the routes of a forwarding node: which ports lead to each leaf.
#ifndef NET_ROUTES_INTERNAL_H
#define NET_ROUTES_INTERNAL_H

#include "net/node.h"

// The equal-cost ports towards one leaf: a range of net_routes.ports. count 0: unreachable.
typedef struct net_hop {
    uint32_t first;
    uint16_t count;
    uint16_t base; // first port if the ports are consecutive; else HOP_SCATTERED
} net_hop_t;
#define NET_HOP_SCATTERED UINT16_MAX

// The entries of a node for NET_HOPS_OF_A_PAGE leaves. Nodes with equal entries share the page: in
// a fat-tree few pages differ, whatever its size.
#define NET_HOPS_OF_A_PAGE 64u
typedef struct net_hop_page {
    uint32_t users;
    net_hop_t hops[NET_HOPS_OF_A_PAGE];
} net_hop_page_t;

// Routes of one forwarding node, for one state of the links.
struct net_routes {
    net_hop_page_t **pages; // by leaf / NET_HOPS_OF_A_PAGE
    bool shares_pages;      // the array is that of a node before this one
    bool shares_ports;      // the array of ports is that of a node before this one
    uint32_t *ports;        // ranges of ports, each in the order that net_config_t.routes defines
    size_t port_count;
    size_t port_capacity;
    net_hop_t *sets; // distinct ranges so far; only while routes are computed
    size_t set_count;
    size_t set_capacity;
};

// net/route/entries.c: create makes routes without entries for all forwarding nodes, by node index;
// finish frees the memory that only adding entries needs.
net_routes_t *net__routes_create(const net_t *net);
void net__routes_finish(const net_t *net, net_routes_t *routes);
void net__routes_free(const net_t *net, net_routes_t *routes);
// Returns the range that holds these ports, adding it if no recent range is equal.
net_hop_t net__routes_intern(net_routes_t *routes, const uint32_t *ports, uint32_t count);
// Drops one user of a page and frees it after the last.
void net__hop_page_release(net_hop_page_t *page);
static inline net_hop_t net__hop(net_hop_page_t *const *pages, uint32_t leaf)
{
    return pages[leaf / NET_HOPS_OF_A_PAGE]->hops[leaf % NET_HOPS_OF_A_PAGE];
}
// Sets a node's entry for a leaf; the node gets a page of its own if it shared it.
void net__routes_put(net_routes_t *routes, uint32_t leaf, net_hop_t hop);

#endif // NET_ROUTES_INTERNAL_H
