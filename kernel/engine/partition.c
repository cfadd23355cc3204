// SPDX-License-Identifier: Apache-2.0
// kernel/engine/partition.c - how wide a window is, and which nodes run together.
//
// A window may be as wide as the least delay between nodes that run apart. If the shortest link
// gives a useful window, every node is a unit of its own. Otherwise nodes joined by links shorter
// than the smallest useful window are merged: the racks of a network with 10 ns cables become
// units, and a network of nothing but such cables becomes a single one. If every node is a unit and
// no cycle has an odd number of links (trees, fat-trees, leaf-spines), nodes get two colours. One
// colour runs while the other stands still: up to one link delay beyond where the other stands, so
// twice as far as without colours. None of this changes a result (kernel/sim.h), so it may depend
// on the number of threads.
#include <string.h>

#include "kernel/engine/thread.h"
#include "kernel/engine/unit.h"
#include "kernel/engine_internal.h"

// A narrower window holds too few events per node to be worth the visit.
#define WINDOW_USEFUL_PS (100 * SIM_PS_PER_NS)
// A wider one only spreads a node's mail over more memory.
#define WINDOW_WIDEST_PS (16 * SIM_PS_PER_US)

// -- links: those that a program named, or else the channels

static size_t link_count(const sim_t *sim)
{
    return sim->links != NULL ? sim->link_count : sim->channel_count;
}

static sim_network_link_t link_at(const sim_t *sim, size_t i)
{
    sim_network_link_t link;
    if (sim->links != NULL) {
        sim->links(sim->links_ctx, i, &link);
    } else {
        const sim_channel_ends_t *const ends = &sim->channel_ends[i];
        link = (sim_network_link_t){ends->from, ends->to->index, sim__delay_ps(sim, ends)};
    }
    return link;
}

// -- units

static uint32_t find_root(uint32_t *parent, uint32_t node)
{
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

// Finds the components joined by links shorter than width_ps, and returns their number. The root
// of a component, in parent[], is its node of lowest index.
static uint32_t join(const sim_t *sim, sim_time_t width_ps, uint32_t *parent)
{
    uint32_t components = (uint32_t)sim->node_count;
    for (uint32_t i = 0; i < sim->node_count; i++) {
        parent[i] = i;
    }
    for (size_t i = 0; i < link_count(sim); i++) {
        const sim_network_link_t link = link_at(sim, i);
        if (link.delay_ps >= width_ps) {
            continue;
        }
        const uint32_t a = find_root(parent, link.a);
        const uint32_t b = find_root(parent, link.b);
        if (a != b) {
            parent[SIM_MAX(b, a)] = SIM_MIN(a, b);
            components--;
        }
    }
    return components;
}

// Returns the least delay that is not below bound_ps; SIM_TIME_NEVER: there is none.
static sim_time_t least_delay(const sim_t *sim, sim_time_t bound_ps)
{
    sim_time_t least_ps = SIM_TIME_NEVER;
    for (size_t i = 0; i < link_count(sim); i++) {
        const sim_time_t delay_ps = link_at(sim, i).delay_ps;
        least_ps = delay_ps >= bound_ps && delay_ps < least_ps ? delay_ps : least_ps;
    }
    return least_ps;
}

// Sets sim->window_ps and parent[] (roots of the units); returns the number of units.
static uint32_t choose_width(sim_t *sim, uint32_t *parent)
{
    uint32_t units = 0;
    sim_time_t width_ps = least_delay(sim, WINDOW_USEFUL_PS);
    while (units == 0 && width_ps != SIM_TIME_NEVER) {
        const uint32_t components = join(sim, width_ps, parent);
        sim->window_ps = width_ps;
        units = components > 1 ? components : 0;
        width_ps = least_delay(sim, width_ps + 1);
    }
    if (units == 0) {
        // Nothing to run apart: one unit for all that is connected, in windows of any width.
        sim->window_ps = WINDOW_WIDEST_PS;
        units = join(sim, WINDOW_WIDEST_PS, parent);
    }
    if (sim->window_ps > WINDOW_WIDEST_PS) {
        sim->window_ps = WINDOW_WIDEST_PS;
    }
    return units;
}

void sim_find_units(sim_t *sim, uint32_t *unit_of)
{
    (void)choose_width(sim, unit_of);
    for (uint32_t i = 0; i < sim->node_count; i++) {
        unit_of[i] = find_root(unit_of, i);
    }
}

// Numbers the units of this rank in the order of their first nodes. number_of[] holds them by root.
static void number_units(sim_t *sim, uint32_t *parent, uint32_t *number_of)
{
    memset(number_of, 0xff, (sim->node_count + 1) * sizeof(*number_of));
    sim->unit_count = 0;
    for (uint32_t i = 0; i < sim->node_count; i++) {
        uint32_t *const number = &number_of[find_root(parent, i)];
        if (sim__is_here(sim, sim->nodes[i]) && *number == UINT32_MAX) {
            *number = sim->unit_count++;
        }
    }
}

// Creates the units of this rank, with their members in order.
static void make_units(sim_t *sim, uint32_t *parent)
{
    uint32_t *const number_of = sim_alloc_array(sim->node_count + 1, sizeof(*number_of));
    number_units(sim, parent, number_of);
    sim->units = sim_alloc_array(sim->unit_count + 1, sizeof(*sim->units));
    for (uint32_t i = 0; i < sim->node_count; i++) {
        const uint32_t number = number_of[find_root(parent, i)];
        const bool here = sim__is_here(sim, sim->nodes[i]);
        SIM_CHECKF(here == (number != UINT32_MAX), "node %u: its unit is apart", i);
        if (here) {
            sim->units[number].count++;
        }
    }
    for (uint32_t i = 0; i < sim->unit_count; i++) {
        sim_unit_t *const unit = &sim->units[i];
        unit->members = sim_alloc_array(unit->count, sizeof(sim_node_t *));
        unit->heap = sim_alloc_array(unit->count, sizeof(sim_node_t *));
        unit->count = 0;
        unit->far_window = SIM_NO_WINDOW;
        unit->lookahead_ps = SIM_TIME_NEVER;
    }
    for (uint32_t i = 0; i < sim->node_count; i++) {
        sim_node_t *const node = sim->nodes[i];
        if (sim__is_here(sim, node)) {
            node->unit = &sim->units[number_of[find_root(parent, i)]];
            node->unit->members[node->unit->count++] = node;
        }
    }
    for (uint32_t i = 0; i < sim->unit_count; i++) {
        sim_unit_t *const unit = &sim->units[i];
        for (uint32_t m = 0; m < unit->count; m++) {
            unit->members[m]->alone = unit->count == 1;
        }
    }
    sim_free(number_of);
}

#define UNCOLOURED 2u

// Returns the lists of the nodes that each node sends to, one list after the other; first[i] is
// where the list of node i begins.
static uint32_t *list_others(const sim_t *sim, uint32_t *first)
{
    const bool both = sim->links != NULL;
    uint32_t *const others = sim_alloc_array(link_count(sim) * (both ? 2 : 1) + 1, sizeof(*others));
    for (size_t i = 0; i < link_count(sim); i++) {
        const sim_network_link_t link = link_at(sim, i);
        first[link.a + 2]++;
        first[link.b + 2] += both;
    }
    for (size_t i = 2; i < sim->node_count + 2; i++) {
        first[i] += first[i - 1];
    }
    for (size_t i = 0; i < link_count(sim); i++) {
        const sim_network_link_t link = link_at(sim, i);
        others[first[link.a + 1]++] = link.b;
        if (both) {
            others[first[link.b + 1]++] = link.a;
        }
    }
    return others;
}

// Gives nodes two colours such that each link leads from one to the other. Returns false if there
// is an odd cycle.
static bool colour_nodes(const sim_t *sim, uint8_t *colours)
{
    uint32_t *const first = sim_alloc_array(sim->node_count + 2, sizeof(*first));
    uint32_t *const others = list_others(sim, first);
    uint32_t *const queue = sim_alloc_array(sim->node_count + 1, sizeof(*queue));
    bool even = true;
    memset(colours, UNCOLOURED, sim->node_count);
    for (uint32_t root = 0; root < sim->node_count; root++) {
        uint32_t taken = 0;
        uint32_t found = 0;
        if (colours[root] == UNCOLOURED) {
            colours[root] = 0;
            queue[found++] = root;
        }
        while (taken < found) {
            const uint32_t node = queue[taken++];
            for (uint32_t c = first[node]; c < first[node + 1]; c++) {
                uint8_t *const other = &colours[others[c]];
                if (*other == UNCOLOURED) {
                    *other = colours[node] == 0 ? 1 : 0;
                    queue[found++] = others[c];
                }
                even = even && *other != colours[node];
            }
        }
    }
    SIM_FREE_ALL(first, others, queue);
    return even;
}

// Gives units two colours if every node is one and the network has no odd cycle. Returns false
// otherwise.
static bool colour_units(sim_t *sim)
{
    uint8_t *const colours = sim_alloc_array(sim->node_count + 1, sizeof(*colours));
    const bool even = colour_nodes(sim, colours);
    for (uint32_t i = 0; i < sim->unit_count; i++) {
        sim->units[i].colour = colours[sim->units[i].members[0]->index];
    }
    sim_free(colours);
    return even;
}

// Returns whether any node has a background timer armed. Those due within one window width all
// fire, or none does (run.c), so the width must then not depend on colours.
static bool any_background(const sim_t *sim)
{
    for (size_t i = 0; i < sim->node_count; i++) {
        if (sim->nodes[i] != NULL && sim->nodes[i]->armed[SIM_TIMER_BACKGROUND] > 0) {
            return true;
        }
    }
    return false;
}

// Finds the nodes with at most one incoming channel, whose mail needs no sorting.
static void find_single_sources(sim_t *sim)
{
    uint8_t *const sources = sim_alloc_array(sim->node_count + 1, 1);
    for (size_t i = 0; i < sim->channel_count; i++) {
        uint8_t *const of_node = &sources[sim->channel_ends[i].to->index];
        *of_node = *of_node == 0 ? 1 : 2;
    }
    for (size_t i = 0; i < sim->node_count; i++) {
        if (sim->nodes[i] != NULL) {
            sim->nodes[i]->one_source = sources[i] < 2;
        }
    }
    sim_free(sources);
}

void sim__partition(sim_t *sim)
{
    uint32_t *const parent = sim_alloc_array(sim->node_count + 1, sizeof(*parent));
    const uint32_t units = choose_width(sim, parent);
    SIM_CHECK(sim->window_ps >= 1 && units <= sim->node_count);
    sim__ranks_seat(sim, parent);
    make_units(sim, parent);
    sim_free(parent);
    const bool halved = sim->window_ps > WINDOW_WIDEST_PS / 2;
    if (sim__ties_by_hash(sim) && units == sim->node_count &&
        !(halved && sim__agree_any(sim, any_background(sim)))) {
        sim->coloured = !sim->options.steps && colour_units(sim);
    }
    if (sim->coloured && halved) {
        sim->window_ps = WINDOW_WIDEST_PS / 2;
    }
    if (sim->order->settle != NULL) {
        sim->order->settle(sim);
    }
    unsigned threads = sim__in_one_list(sim) ? 1 : sim->options.threads;
    if (threads > sim->unit_count) {
        threads = sim->unit_count > 0 ? sim->unit_count : 1;
    }
    while (sim->thread_count < threads) {
        sim->threads[sim->thread_count] = sim__thread_create(sim, sim->thread_count);
        sim->thread_count++;
    }
    sim__deal(sim);
    sim->far = sim_alloc_sparse(sim__far_bytes(sim));
    if (sim->order->seat != NULL) {
        sim->order->seat(sim);
    }
    if (sim__in_one_list(sim)) {
        return;
    }
    find_single_sources(sim);
    for (size_t i = 0; i < sim->channel_count; i++) {
        const sim_channel_ends_t *const ends = &sim->channel_ends[i];
        sim_channel_t *const channel =
            &sim->channel_blocks[i / SIM_CHANNEL_BLOCK][i % SIM_CHANNEL_BLOCK];
        sim_unit_t *const unit = ends->to->unit;
        const bool within = unit != NULL && sim->nodes[ends->from]->unit == unit;
        if (unit == NULL) {
            channel->away = 1;
            channel->place = sim__ranks_place(sim, ends->to) & 0x3fff;
            channel->unit_index = ends->to->index;
        } else {
            channel->unit_index = unit->index;
        }
        channel->near = within || unit == NULL;
        if (channel->near) {
            channel->box_bytes = (uint32_t)(sim->node_count * sizeof(sim_mailbox_t)); // nobody's
        }
        if (within && sim__delay_ps(sim, ends) < unit->lookahead_ps) {
            unit->lookahead_ps = sim__delay_ps(sim, ends);
        }
    }
}
