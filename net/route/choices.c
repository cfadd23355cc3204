// SPDX-License-Identifier: Apache-2.0
// net/route/choices.c - where a network has a choice of paths, and whether it reorders packets.
#include "net/network_internal.h"
#include "net/route_choices.h"
#include "net/routes_internal.h"
#include "net/switch_model.h"

void net_routes_choices(const net_t *net, const net_node_t *node, bool *choices)
{
    const net_routes_t *const routes = &net->routes[0][node->forwarder];
    const net_hop_page_t *before = NULL;
    for (uint32_t leaf = 0; leaf < net->leaf_count; leaf += NET_HOPS_OF_A_PAGE) {
        const net_hop_page_t *const page = routes->pages[leaf / NET_HOPS_OF_A_PAGE];
        if (page == before) {
            continue;
        }
        before = page;
        net_hop_t last = {0};
        for (uint32_t i = 0; i < NET_HOPS_OF_A_PAGE; i++) {
            const net_hop_t hop = page->hops[i];
            const bool is_new = hop.first != last.first || hop.count != last.count;
            for (uint32_t p = 0; is_new && hop.count > 1 && p < hop.count; p++) {
                choices[routes->ports[hop.first + p]] = true;
            }
            last = hop;
        }
    }
}

bool net_may_reorder(const net_t *net)
{
    if (net->change_count > 0 || net->fault_count > 0) {
        return true;
    }
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        if (node == NULL) {
            continue; // there is a host of as many planes
        }
        if (node->kind == NET_NODE_FORWARDER || node->planes > 1 ||
            (node->kind == NET_NODE_SWITCH && net_switch_of(node)->balance->spreads_flows)) {
            return true;
        }
    }
    for (size_t i = 0; i < net->link_count; i++) {
        if (net__link_config(net, (uint32_t)i)->reorder_rate.num > 0) {
            return true;
        }
    }
    return false;
}
