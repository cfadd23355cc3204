// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/layout.c - finds the nodes and rails of ranks and groups.
//
// A node is what NVLink connects: the ranks of a host; or, where a rank is a host with NICs of
// unequal rates, the hosts whose fastest NICs lead to one switch (SimAI's topologies).
#include "apps/workload/collective/collectives.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

#include <stdlib.h>

// A rank and what its node has: the switch of the fastest NIC, or the host.
typedef struct site {
    uintptr_t key;
    uint32_t rank;
} site_t;

static int compare_sites(const void *a, const void *b)
{
    const site_t *const one = a;
    const site_t *const two = b;
    return 2 * SIM_COMPARE(one->key, two->key) + SIM_COMPARE(one->rank, two->rank);
}

// Numbers what ranks share, by their first rank; also gives the place of each rank among them.
static uint32_t number_sites(site_t *sites, uint32_t ranks, uint32_t *number, uint32_t *place)
{
    uint32_t *const first = sim_alloc_array((size_t)ranks + 1, sizeof(*first));
    uint32_t count = 0;
    qsort(sites, ranks, sizeof(*sites), compare_sites);
    for (uint32_t i = 0, begin = 0; i < ranks; i++) {
        begin = i > 0 && sites[i].key == sites[i - 1].key ? begin : i;
        first[sites[i].rank] = sites[begin].rank;
        place[sites[i].rank] = i - begin;
    }
    for (uint32_t r = 0; r < ranks; r++) {
        number[r] = first[r] == r ? count++ : number[first[r]];
    }
    sim_free(first);
    return count;
}

static void find_hosts(app__collectives_t *all)
{
    const uint32_t ranks = all->workload->schedule->rank_count;
    uint32_t *const number = sim_alloc_array((size_t)ranks + 1, sizeof(*number));
    uint32_t *const place = sim_alloc_array((size_t)ranks + 1, sizeof(*place));
    site_t *const hosts = sim_alloc_array((size_t)ranks + 1, sizeof(*hosts));
    site_t *const nodes = sim_alloc_array((size_t)ranks + 1, sizeof(*nodes));
    for (uint32_t r = 0; r < ranks; r++) {
        const app__rank_t *const rank = &all->workload->ranks[r];
        hosts[r] =
            (site_t){(uintptr_t)nic_node(all->workload->ports[rank->port_first].endpoint->nic), r};
        nodes[r] = rank->domain != NULL ? (site_t){(uintptr_t)rank->domain, r} : hosts[r];
    }
    all->host_count = number_sites(hosts, ranks, number, place);
    all->hosts = sim_alloc_array((size_t)all->host_count + 1, sizeof(*all->hosts));
    for (uint32_t r = 0; r < ranks; r++) {
        all->ranks[r].host = &all->hosts[number[r]];
    }
    (void)number_sites(nodes, ranks, number, place);
    for (uint32_t r = 0; r < ranks; r++) {
        all->ranks[r].node = number[r];
        all->ranks[r].rail = place[r];
    }
    SIM_FREE_ALL(nodes, hosts, number, place);
}

// -- groups

static int compare_pairs(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t two = *(const uint64_t *)b;
    return one < two ? -1 : one > two;
}

// Fills the order of a group's ranks by node, and the nodes' numbers by first appearance.
static void order_ranks(const app__collectives_t *all, const app__group_t *group,
                        app__layout_t *layout)
{
    uint64_t *const pairs = sim_alloc_array((size_t)group->count + 1, sizeof(*pairs));
    uint32_t *const leader = sim_alloc_array((size_t)group->count + 1, sizeof(*leader));
    for (uint32_t i = 0; i < group->count; i++) {
        pairs[i] = (uint64_t)all->ranks[group->ranks[i]].node << 32 | i;
    }
    qsort(pairs, group->count, sizeof(*pairs), compare_pairs);
    for (uint32_t i = 0, first = 0; i < group->count; i++) { // a node's first rank leads it
        first = i > 0 && pairs[i] >> 32 == pairs[i - 1] >> 32 ? first : (uint32_t)pairs[i];
        leader[(uint32_t)pairs[i]] = first;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        layout->node[i] = leader[i] == i ? layout->nodes++ : layout->node[leader[i]];
        pairs[i] = (uint64_t)layout->node[i] << 32 | i;
    }
    qsort(pairs, group->count, sizeof(*pairs), compare_pairs);
    for (uint32_t i = 0; i < group->count; i++) {
        layout->order[i] = (uint32_t)pairs[i];
    }
    sim_free(leader);
    sim_free(pairs);
}

static void fill_layout(const app__collectives_t *all, const app__group_t *group,
                        app__layout_t *layout)
{
    const size_t room = (size_t)group->count + 1;
    *layout = (app__layout_t){
        .ranks = group->count,
        .node = sim_alloc_array(room, sizeof(uint32_t)),
        .local = sim_alloc_array(room, sizeof(uint32_t)),
        .rail = sim_alloc_array(room, sizeof(uint32_t)),
        .order = sim_alloc_array(room, sizeof(uint32_t)),
        .node_first = sim_alloc_array(room, sizeof(uint32_t)),
    };
    order_ranks(all, group, layout);
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t rank = layout->order[i];
        const uint32_t node = layout->node[rank];
        if (i == 0 || node != layout->node[layout->order[i - 1]]) {
            layout->node_first[node] = i;
        }
        layout->local[rank] = i - layout->node_first[node];
        layout->rail[rank] = all->ranks[group->ranks[rank]].rail;
    }
    layout->node_first[layout->nodes] = group->count;
    layout->per_node = layout->nodes > 0 ? group->count / layout->nodes : 0;
    for (uint32_t i = 0; i < layout->nodes; i++) {
        if (layout->node_first[i + 1] - layout->node_first[i] != layout->per_node) {
            layout->per_node = 0;
            break;
        }
    }
}

// Returns whether all ranks of a group are on one host.
static bool is_inside(const app__collectives_t *all, const app__group_t *group)
{
    for (uint32_t i = 1; i < group->count; i++) {
        if (all->ranks[group->ranks[i]].host != all->ranks[group->ranks[0]].host) {
            return false;
        }
    }
    return true;
}

void app__coll_layouts(app__collectives_t *all)
{
    const app__schedule_t *const schedule = all->workload->schedule;
    find_hosts(all);
    for (size_t i = 0; i < schedule->group_count; i++) {
        fill_layout(all, &schedule->groups[i], &all->groups[i].layout);
        all->groups[i].inside = is_inside(all, &schedule->groups[i]);
    }
}
