// SPDX-License-Identifier: Apache-2.0
// net/route/entries.c - the routes of forwarding nodes as data: an entry per leaf, in pages that
// nodes with equal entries share, and the ranges of ports that entries name.
#include <string.h>

#include "net/leaves.h"
#include "net/network_internal.h"
#include "net/routes_internal.h"

#define SETS_COMPARED 64u // newest ranges that a new one is compared with

net_hop_t net__routes_intern(net_routes_t *routes, const uint32_t *ports, uint32_t count)
{
    const size_t known = routes->set_count;
    for (size_t i = known; i-- > 0 && known - i <= SETS_COMPARED;) {
        const net_hop_t set = routes->sets[i];
        if (set.count == count &&
            memcmp(routes->ports + set.first, ports, count * sizeof(*ports)) == 0) {
            return set;
        }
    } // older sets are unlikely to match; a repeated set only costs memory
    SIM_CHECK(count > 0 && count <= UINT16_MAX);
    bool consecutive = ports[0] < NET_HOP_SCATTERED;
    for (uint32_t i = 1; i < count; i++) {
        consecutive = consecutive && ports[i] == ports[0] + i;
    }
    const net_hop_t hop = {.first = (uint32_t)routes->port_count,
                           .count = (uint16_t)count,
                           .base = consecutive ? (uint16_t)ports[0] : NET_HOP_SCATTERED};
    for (uint32_t i = 0; i < count; i++) {
        SIM_APPEND(routes->ports, routes->port_count, routes->port_capacity, ports[i]);
    }
    SIM_APPEND(routes->sets, routes->set_count, routes->set_capacity, hop);
    return hop;
}

void net__hop_page_release(net_hop_page_t *page)
{
    if (--page->users == 0) {
        sim_free(page);
    }
}

void net__routes_put(net_routes_t *routes, uint32_t leaf, net_hop_t hop)
{
    net_hop_page_t **const page = &routes->pages[leaf / NET_HOPS_OF_A_PAGE];
    if ((*page)->users > 1) {
        net_hop_page_t *const own = sim_alloc(sizeof(*own));
        memcpy(own->hops, (*page)->hops, sizeof(own->hops));
        own->users = 1;
        net__hop_page_release(*page);
        *page = own;
    }
    (*page)->hops[leaf % NET_HOPS_OF_A_PAGE] = hop;
}

uint32_t net_leaf_count(const net_t *net)
{
    return net->leaf_count;
}

net_node_t *net_leaf_at(const net_t *net, uint32_t leaf)
{
    SIM_CHECK(leaf < net->leaf_count);
    return net->leaves[leaf];
}

void net_routes_set(net_routes_t *routes, const net_node_t *node, uint32_t leaf,
                    const uint32_t *ports, uint32_t count)
{
    net_routes_t *const own = &routes[node->forwarder];
    net__routes_put(own, leaf, net__routes_intern(own, ports, count));
}

static uint32_t page_count(const net_t *net)
{
    return net->leaf_count / NET_HOPS_OF_A_PAGE + 1;
}

net_routes_t *net__routes_create(const net_t *net)
{
    net_routes_t *const routes = sim_alloc_array(net->forwarder_count + 1, sizeof(*routes));
    for (uint32_t i = 0; i < net->forwarder_count; i++) {
        routes[i].pages = sim_alloc_array(page_count(net), sizeof(net_hop_page_t *));
        for (uint32_t page = 0; page < page_count(net); page++) {
            routes[i].pages[page] = net->unreached;
            net->unreached->users++;
        }
    }
    return routes;
}

// Data of a node's routes that nodes may share: the array of its pages, or its ports.
typedef struct array {
    const void *data;
    size_t bytes;
} array_t;

static array_t array_of(const net_t *net, const net_routes_t *routes, bool ports)
{
    return ports ? (array_t){routes->ports, routes->port_count * sizeof(*routes->ports)}
                 : (array_t){routes->pages, page_count(net) * sizeof(net_hop_page_t *)};
}

static uint64_t hash_of(array_t array)
{
    uint64_t hash = array.bytes;
    for (size_t at = 0; at + sizeof(uint64_t) <= array.bytes; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const char *)array.data + at, sizeof(word));
        hash = sim_mix64(hash ^ word);
    }
    return hash;
}

static void share(const net_t *net, net_routes_t *routes, const net_routes_t *owner, bool ports)
{
    if (ports) {
        sim_free(routes->ports);
        routes->ports = owner->ports;
        routes->shares_ports = true;
        return;
    }
    for (uint32_t page = 0; page < page_count(net); page++) {
        net__hop_page_release(routes->pages[page]);
    }
    sim_free(routes->pages);
    routes->pages = owner->pages;
    routes->shares_pages = true;
}

// Lets nodes whose arrays are equal share one: in a fat-tree, all switches of the top.
static void share_arrays(const net_t *net, net_routes_t *routes, bool ports)
{
    size_t slot_count = 16;
    while (slot_count < 2 * (size_t)net->forwarder_count) {
        slot_count *= 2;
    }
    const net_routes_t **const slots =
        sim_alloc_array(slot_count, sizeof(net_routes_t *)); // open addressing
    for (uint32_t i = 0; i < net->forwarder_count; i++) {
        const array_t own = array_of(net, &routes[i], ports);
        size_t at = (size_t)hash_of(own) & (slot_count - 1);
        while (slots[at] != NULL) {
            const array_t other = array_of(net, slots[at], ports);
            if (other.bytes == own.bytes &&
                (own.bytes == 0 || memcmp(other.data, own.data, own.bytes) == 0)) {
                break;
            }
            at = (at + 1) & (slot_count - 1);
        }
        if (slots[at] == NULL) {
            slots[at] = &routes[i];
        } else if (own.bytes > 0) {
            share(net, &routes[i], slots[at], ports);
        }
    }
    sim_free(slots);
}

void net__routes_finish(const net_t *net, net_routes_t *routes)
{
    for (uint32_t i = 0; i < net->forwarder_count; i++) {
        sim_free(routes[i].sets);
        routes[i].sets = NULL;
        if (routes[i].port_capacity > routes[i].port_count) {
            routes[i].ports =
                sim_realloc_array(routes[i].ports, routes[i].port_count, sizeof(*routes[i].ports));
            routes[i].port_capacity = routes[i].port_count;
        }
    }
    share_arrays(net, routes, false);
    share_arrays(net, routes, true);
}

void net__routes_free(const net_t *net, net_routes_t *routes)
{
    for (uint32_t i = 0; routes != NULL && i < net->forwarder_count; i++) {
        for (uint32_t page = 0; !routes[i].shares_pages && page < page_count(net); page++) {
            net__hop_page_release(routes[i].pages[page]);
        }
        if (!routes[i].shares_pages) {
            sim_free(routes[i].pages);
        }
        if (!routes[i].shares_ports) {
            sim_free(routes[i].ports);
        }
    }
    sim_free(routes);
}
