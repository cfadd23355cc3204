// SPDX-License-Identifier: Apache-2.0
// world/parts/divide.c - divides a network among ranks, by pods and planes, never through a leaf.
//
// Ranks wait for each other after each window, so each should get as much work as the others; and a
// message between ranks costs more than one within. Builders register nodes pod by pod. So groups
// of hosts and switches that stay together are dealt in runs, in the order of registration. The
// switches above them follow tier by tier, each near the ranks of its neighbours below. A group is
// a whole pod if pods are as many that ranks get equal shares; else a leaf switch with its hosts.
#include "world/parts/metis.h"
#include "world/parts/parts_internal.h"

#include "kernel/ranks.h"
#include "net/nodes.h"
#include "net/scale_up.h"

#include <stdlib.h>
#include <string.h>

// Shares of the busiest rank, relative to the mean, up to which a way of dividing is taken.
#define EVEN_PODS 1.10
#define EVEN_LEAVES 1.25

#define PULL_ONE 65536u

// Nodes that go to one rank.
typedef struct card {
    uint32_t group; // its lowest node
    uint32_t tier;
    uint64_t work;
    uint64_t pull; // mean rank of the neighbours in lower tiers, times PULL_ONE
} card_t;

// -- groups

// Follows the entries of group_of to the root of a node's group, and shortens the way.
static uint32_t find_root(uint32_t *group_of, uint32_t node)
{
    while (group_of[node] != node) {
        group_of[node] = group_of[group_of[node]];
        node = group_of[node];
    }
    return node;
}

static void join(uint32_t *group_of, uint32_t a, uint32_t b)
{
    const uint32_t x = find_root(group_of, a);
    const uint32_t y = find_root(group_of, b);
    group_of[SIM_MAX(y, x)] = SIM_MIN(x, y);
}

static bool is_host(const parts_t *parts, uint32_t node)
{
    return net_kind_of(parts->net, node) == NET_NODE_HOST;
}

// Puts a host into one group with its accelerators and their switches, which exchange pointers.
static void join_accelerators(parts_t *parts, const net_node_t *host)
{
    const uint32_t count = net_accelerator_count(host);
    const uint64_t switches = count > 0 ? net_scale_up_switches(net_scale_up_config(host)) : 0;
    for (uint32_t i = 0; i < count; i++) {
        join(parts->group_of, host->sim.index, net_accelerator(host, i)->sim.index);
    }
    for (uint32_t i = 0; i < switches; i++) {
        join(parts->group_of, host->sim.index, net_scale_up_switch(host, i)->sim.index);
    }
}

void parts__make_groups(parts_t *parts, bool leaves, uint32_t tier)
{
    for (uint32_t i = 0; i < parts->node_count; i++) {
        parts->group_of[i] = i;
    }
    for (uint32_t i = 0; i < parts->node_count; i++) {
        join(parts->group_of, i, parts->unit_of[i]);
    }
    for (uint32_t i = 0; i < parts->node_count; i++) {
        join_accelerators(parts, net_node_at(parts->net, i));
    }
    for (size_t i = 0; leaves && i < net_link_count(parts->net); i++) {
        const net_link_ends_t link = net_link_ends(parts->net, i);
        const uint32_t a = link.a;
        const uint32_t b = link.b;
        const bool of_host = is_host(parts, a) != is_host(parts, b);
        const bool below = parts->tier[a] < tier && parts->tier[b] < tier;
        if (of_host || below) {
            join(parts->group_of, a, b);
        }
    }
    for (uint32_t i = 0; i < parts->node_count; i++) {
        parts->group_of[i] = find_root(parts->group_of, i);
    }
}

static void list_neighbours(parts_t *parts)
{
    const size_t links = net_link_count(parts->net);
    parts->first = sim_alloc_array(parts->node_count + 2, sizeof(*parts->first));
    parts->others = sim_alloc_array(2 * links + 1, sizeof(*parts->others));
    for (size_t i = 0; i < links; i++) {
        const net_link_ends_t link = net_link_ends(parts->net, i);
        parts->first[link.a + 2]++;
        parts->first[link.b + 2]++;
    }
    for (uint32_t i = 2; i < parts->node_count + 2; i++) {
        parts->first[i] += parts->first[i - 1];
    }
    for (size_t i = 0; i < links; i++) {
        const net_link_ends_t link = net_link_ends(parts->net, i);
        parts->others[parts->first[link.a + 1]++] = link.b;
        parts->others[parts->first[link.b + 1]++] = link.a;
    }
}

// Finds the tier of each node, breadth first from the switches with hosts.
static void find_tiers(parts_t *parts)
{
    uint32_t *const queue = sim_alloc_array(parts->node_count + 1, sizeof(*queue));
    uint32_t found = 0;
    for (uint32_t i = 0; i < parts->node_count; i++) {
        bool low = is_host(parts, i);
        for (uint32_t n = parts->first[i]; n < parts->first[i + 1] && !low; n++) {
            low = is_host(parts, parts->others[n]);
        }
        parts->tier[i] = low ? 0 : PARTS__NO_TIER;
        if (low) {
            queue[found++] = i;
        }
    }
    for (uint32_t taken = 0; taken < found; taken++) {
        const uint32_t node = queue[taken];
        for (uint32_t n = parts->first[node]; n < parts->first[node + 1]; n++) {
            const uint32_t other = parts->others[n];
            if (parts->tier[other] == PARTS__NO_TIER) {
                parts->tier[other] = parts->tier[node] + 1;
                queue[found++] = other;
            }
        }
    }
    for (uint32_t i = 0; i < parts->node_count; i++) {
        parts->tier[i] = parts->tier[i] == PARTS__NO_TIER ? 0 : parts->tier[i];
        parts->top = SIM_MAX(parts->tier[i], parts->top);
    }
    sim_free(queue);
}

// -- dealing

static int compare_cards(const void *a, const void *b)
{
    const card_t *const x = a;
    const card_t *const y = b;
    return 4 * SIM_COMPARE(x->tier, y->tier) + 2 * SIM_COMPARE(x->pull, y->pull) +
           SIM_COMPARE(x->group, y->group);
}

// Returns the groups as cards; *count is their number. The tier of a group is its lowest.
static card_t *make_cards(const parts_t *parts, uint32_t *count)
{
    uint32_t *const card_of = sim_alloc_array(parts->node_count + 1, sizeof(*card_of));
    *count = 0;
    for (uint32_t i = 0; i < parts->node_count; i++) {
        if (parts->group_of[i] == i) {
            card_of[i] = (*count)++;
        }
    }
    card_t *const cards = sim_alloc_array(*count + 1, sizeof(*cards));
    for (uint32_t i = 0; i < parts->node_count; i++) {
        card_t *const card = &cards[card_of[parts->group_of[i]]];
        const bool is_first = parts->group_of[i] == i;
        card->group = is_first ? i : card->group;
        card->tier = is_first || parts->tier[i] < card->tier ? parts->tier[i] : card->tier;
        card->work += parts->work[i];
    }
    sim_free(card_of);
    return cards;
}

// Sets the pull of the cards of one tier, each a single node if the tier is not 0.
static void set_pulls(const parts_t *parts, card_t *cards, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = cards[i].group;
        uint64_t sum = 0;
        uint64_t below = 0;
        for (uint32_t n = parts->first[node]; n < parts->first[node + 1]; n++) {
            if (parts->tier[parts->others[n]] < cards[i].tier) {
                sum += parts->rank_of[parts->others[n]];
                below++;
            }
        }
        cards[i].pull = below == 0 ? 0 : sum * PULL_ONE / below;
    }
}

// Deals the cards of one tier in runs. got[] is the work that each rank has so far, so that what
// one tier leaves over the next one evens out.
static void deal_tier(parts_t *parts, card_t *cards, uint32_t count, uint64_t *got)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        left += cards[i].work;
    }
    for (uint32_t r = 0; r < parts->rank_count; r++) {
        left += got[r];
    }
    set_pulls(parts, cards, cards[0].tier == 0 ? 0 : count);
    qsort(cards, count, sizeof(*cards), compare_cards);
    uint32_t next = 0;
    for (uint32_t r = 0; r < parts->rank_count; r++) {
        const uint64_t share = left / (parts->rank_count - r);
        const bool last = r + 1 == parts->rank_count;
        while (next < count && (last || got[r] + cards[next].work / 2 < share)) {
            got[r] += cards[next].work;
            parts->rank_of[cards[next++].group] = (uint16_t)r;
        }
        left -= SIM_MIN(got[r], left);
    }
}

static void spread_ranks(const parts_t *parts)
{
    for (uint32_t i = 0; i < parts->node_count; i++) {
        parts->rank_of[i] = parts->rank_of[parts->group_of[i]];
    }
}

// Returns the share of the rank with the largest work, relative to the mean.
static double busiest_of(const parts_t *parts)
{
    uint64_t *const got = sim_alloc_array(parts->rank_count, sizeof(*got));
    uint64_t all = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < parts->node_count; i++) {
        got[parts->rank_of[i]] += parts->work[i];
        all += parts->work[i];
    }
    for (uint32_t r = 0; r < parts->rank_count; r++) {
        most = SIM_MAX(got[r], most);
    }
    sim_free(got);
    return all == 0 ? 1.0 : (double)most * parts->rank_count / (double)all;
}

// Deals all groups, and returns the share of the rank with the largest work.
static double deal(parts_t *parts)
{
    uint32_t count = 0;
    card_t *const cards = make_cards(parts, &count);
    uint64_t *const got = sim_alloc_array(parts->rank_count, sizeof(*got));
    qsort(cards, count, sizeof(*cards), compare_cards);
    for (uint32_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && cards[end].tier == cards[begin].tier) {
            end++;
        }
        deal_tier(parts, cards + begin, end - begin, got);
        spread_ranks(parts);
    }
    sim_free(got);
    sim_free(cards);
    return busiest_of(parts);
}

// Divides a network that a builder made.
static world_parts_way_t by_rule(parts_t *parts, double *busiest)
{
    for (uint32_t tier = parts->top; tier > 0; tier--) {
        parts__make_groups(parts, true, tier);
        *busiest = deal(parts);
        if (*busiest <= EVEN_PODS) {
            return tier > 1 ? WORLD_PARTS_PODS : WORLD_PARTS_LEAVES;
        }
    }
    parts__make_groups(parts, true, 0);
    *busiest = deal(parts);
    if (*busiest <= EVEN_LEAVES) {
        return WORLD_PARTS_LEAVES;
    }
    parts__make_groups(parts, false, 0);
    *busiest = deal(parts);
    return WORLD_PARTS_HOSTS;
}

static uint64_t count_cut(const parts_t *parts)
{
    uint64_t cut = 0;
    for (size_t i = 0; i < net_link_count(parts->net); i++) {
        const net_link_ends_t link = net_link_ends(parts->net, i);
        cut += parts->rank_of[link.a] != parts->rank_of[link.b];
    }
    return cut;
}

// Expects as much work of a node as it has links: builders' networks are used evenly.
static void expect_evenly(parts_t *parts)
{
    for (uint32_t i = 0; i < parts->node_count; i++) {
        parts->work[i] = 1 + net_ports_of(parts->net, i);
    }
}

world_parts_t *world_parts_create(const net_t *net, uint32_t rank_count, bool irregular)
{
    const size_t count = net_node_count(net);
    uint32_t *const unit_of = sim_alloc_array(count + 1, sizeof(*unit_of));
    sim_find_units(net_sim(net), unit_of);
    parts_t parts = {
        .net = net,
        .node_count = (uint32_t)count,
        .rank_count = rank_count,
        .unit_of = unit_of,
        .tier = sim_alloc_array(count + 1, sizeof(*parts.tier)),
        .work = sim_alloc_array(count + 1, sizeof(*parts.work)),
        .group_of = sim_alloc_array(count + 1, sizeof(*parts.group_of)),
        .rank_of = sim_alloc_array(count + 1, sizeof(*parts.rank_of)),
    };
    world_parts_t *const made = sim_alloc(sizeof(*made));
    list_neighbours(&parts);
    find_tiers(&parts);
    expect_evenly(&parts);
    made->way = WORLD_PARTS_METIS;
    made->busiest = irregular && parts__by_metis(&parts) ? busiest_of(&parts) : rank_count;
    if (made->busiest > EVEN_LEAVES) {
        made->way = by_rule(&parts, &made->busiest);
    }
    made->rank_of = parts.rank_of;
    made->rank_count = rank_count;
    made->link_count = net_link_count(net);
    made->cut_count = count_cut(&parts);
    SIM_FREE_ALL(unit_of, parts.first, parts.others, parts.tier, parts.work, parts.group_of);
    return made;
}

void world_parts_destroy(world_parts_t *parts)
{
    if (parts != NULL) {
        sim_free(parts->rank_of);
        sim_free(parts);
    }
}

const char *world_parts_way_name(world_parts_way_t way)
{
    static const char *const names[] = {"pods", "leaf switches", "hosts", "METIS"};
    return names[way];
}
