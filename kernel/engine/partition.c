// SPDX-License-Identifier: Apache-2.0
// kernel/engine/partition.c - how wide a window is, which nodes run together, which thread runs
// them.
//
// A window may be as wide as the least delay between nodes that run apart. Where the shortest link
// gives a useful window every node is a unit of its own. Otherwise nodes joined by links shorter
// than a window are merged, with the smallest width that is useful: the racks of a network with
// 10 ns cables become units, and a network of nothing but such cables becomes a single one.
// Where every node is a unit and no path leads back to a node over an odd number of links (trees,
// fat-trees, leaf-spines), nodes have two colours, and those of one run while the others stand
// still: each up to a link's delay beyond where the others are, so twice as far as before.
// None of this can change a result (kernel/sim.h), so it may depend on the number of threads.
#include <stdlib.h>
#include <string.h>

#include "kernel/engine_internal.h"

// A narrower window holds too few events per node to be worth the visit.
#define WINDOW_USEFUL_PS (100 * SIM_PS_PER_NS)
// A wider one only spreads a node's mail over more memory.
#define WINDOW_WIDEST_PS (16 * SIM_PS_PER_US)

static uint32_t find_root(uint32_t *parent, uint32_t node)
{
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

// Roots of the components joined by channels shorter than width_ps; the lowest index is the root.
static uint32_t join(const sim_t *sim, sim_time_t width_ps, uint32_t *parent)
{
    uint32_t components = (uint32_t)sim->node_count;
    for (uint32_t i = 0; i < sim->node_count; i++) {
        parent[i] = i;
    }
    for (size_t i = 0; i < sim->channel_count; i++) {
        const sim_channel_ends_t *const ends = &sim->channel_ends[i];
        if (ends->delay_ps >= width_ps) {
            continue;
        }
        const uint32_t a = find_root(parent, ends->from->index);
        const uint32_t b = find_root(parent, ends->to->index);
        if (a != b) {
            parent[a < b ? b : a] = a < b ? a : b;
            components--;
        }
    }
    return components;
}

static int compare_times(const void *a, const void *b)
{
    const sim_time_t x = *(const sim_time_t *)a;
    const sim_time_t y = *(const sim_time_t *)b;
    return (x > y) - (x < y);
}

// Sets sim->window_ps and parent[] (roots of the units); returns the number of units.
static uint32_t choose_width(sim_t *sim, uint32_t *parent)
{
    if (sim->options.one_list) {
        sim->window_ps = WINDOW_WIDEST_PS;
        memset(parent, 0, sim->node_count * sizeof(*parent));
        return sim->node_count > 0 ? 1 : 0;
    }
    sim_time_t *const delays = sim_alloc_array(sim->channel_count + 1, sizeof(*delays));
    for (size_t i = 0; i < sim->channel_count; i++) {
        delays[i] = sim->channel_ends[i].delay_ps;
    }
    qsort(delays, sim->channel_count, sizeof(*delays), compare_times);
    uint32_t units = 0;
    for (size_t i = 0; i < sim->channel_count && units == 0; i++) {
        if ((delays[i] < WINDOW_USEFUL_PS && !sim->apart) ||
            (i > 0 && delays[i] == delays[i - 1])) {
            continue;
        }
        sim->window_ps = delays[i];
        const uint32_t components = join(sim, delays[i], parent);
        units = components > 1 ? components : 0;
    }
    if (units == 0) {
        // Nothing to run apart: one unit for all that is connected, in windows of any width.
        sim->window_ps = WINDOW_WIDEST_PS;
        units = join(sim, WINDOW_WIDEST_PS, parent);
    }
    if (sim->window_ps > WINDOW_WIDEST_PS) {
        sim->window_ps = WINDOW_WIDEST_PS;
    }
    sim_free(delays);
    return units;
}

// Units in order of their first node, with their members in order.
static void make_units(sim_t *sim, uint32_t *parent)
{
    uint32_t *const unit_of = sim_alloc_array(sim->node_count, sizeof(*unit_of));
    sim->units = sim_alloc_array(sim->unit_count, sizeof(*sim->units));
    uint32_t next = 0;
    for (uint32_t i = 0; i < sim->node_count; i++) {
        const uint32_t root = find_root(parent, i);
        if (root == i) {
            unit_of[i] = next++;
        }
        sim->units[unit_of[root]].count++;
    }
    SIM_CHECK(next == sim->unit_count);
    for (uint32_t i = 0; i < sim->unit_count; i++) {
        sim_unit_t *const unit = &sim->units[i];
        unit->members = sim_alloc_array(unit->count, sizeof(sim_node_t *));
        unit->heap = sim_alloc_array(unit->count, sizeof(sim_node_t *));
        unit->count = 0;
        unit->far_window = SIM_NO_WINDOW;
        unit->lookahead_ps = SIM_TIME_NEVER;
    }
    for (uint32_t i = 0; i < sim->node_count; i++) {
        sim_unit_t *const unit = &sim->units[unit_of[find_root(parent, i)]];
        sim->nodes[i]->unit = unit;
        unit->members[unit->count++] = sim->nodes[i];
    }
    for (uint32_t i = 0; i < sim->node_count; i++) {
        sim->nodes[i]->alone = sim->nodes[i]->unit->count == 1 && sim->fifo == NULL;
    }
    sim_free(unit_of);
}

#define UNCOLOURED 2u

// By node: where the list of those it sends to begins. Lists of them, one after the other.
static uint32_t *list_others(const sim_t *sim, uint32_t *first)
{
    uint32_t *const others = sim_alloc_array(sim->channel_count + 1, sizeof(*others));
    for (size_t i = 0; i < sim->channel_count; i++) {
        first[sim->channel_ends[i].from->index + 2]++;
    }
    for (size_t i = 2; i < sim->node_count + 2; i++) {
        first[i] += first[i - 1];
    }
    for (size_t i = 0; i < sim->channel_count; i++) {
        const sim_channel_ends_t *const ends = &sim->channel_ends[i];
        others[first[ends->from->index + 1]++] = ends->to->index;
    }
    return others;
}

// Gives units two colours so that each channel leads from one to the other; false: there is an odd
// cycle. Each node is a unit.
static bool colour_units(sim_t *sim)
{
    uint32_t *const first = sim_alloc_array(sim->node_count + 2, sizeof(*first));
    uint32_t *const others = list_others(sim, first);
    uint32_t *const queue = sim_alloc_array(sim->node_count + 1, sizeof(*queue));
    bool even = true;
    for (size_t i = 0; i < sim->node_count; i++) {
        sim->nodes[i]->unit->colour = UNCOLOURED;
    }
    for (uint32_t root = 0; root < sim->node_count; root++) {
        uint32_t taken = 0;
        uint32_t found = 0;
        if (sim->nodes[root]->unit->colour == UNCOLOURED) {
            sim->nodes[root]->unit->colour = 0;
            queue[found++] = root;
        }
        while (taken < found) {
            const uint32_t node = queue[taken++];
            const uint8_t colour = sim->nodes[node]->unit->colour;
            for (uint32_t c = first[node]; c < first[node + 1]; c++) {
                sim_unit_t *const other = sim->nodes[others[c]]->unit;
                if (other->colour == UNCOLOURED) {
                    other->colour = colour == 0 ? 1 : 0;
                    queue[found++] = others[c];
                }
                even = even && other->colour != colour;
            }
        }
    }
    sim_free(first);
    sim_free(others);
    sim_free(queue);
    return even;
}

static void seat_unit(sim_thread_t *thread, sim_unit_t *unit, uint32_t at)
{
    sim_node_t *const node = unit->members[0];
    const bool alone = unit->count == 1 && thread->sim->fifo == NULL;
    unit->index = thread->first_bit + at;
    thread->seats[at] = (sim_seat_t){unit, node, node->index, alone};
    for (uint32_t m = 0; m < unit->count; m++) {
        unit->members[m]->worker = &thread->worker;
    }
}

// Units in the order in which they are dealt: those of one colour after those of the other. Returns
// how many come first, to be dealt apart: the threads then have about the same to do in each window
// and not only in all of them. All, where there are too few for each thread to get one of both.
static uint32_t order_units(const sim_t *sim, sim_unit_t **order)
{
    uint32_t count[2] = {0, 0};
    for (uint32_t i = 0; i < sim->unit_count; i++) {
        count[sim->coloured ? sim->units[i].colour : 0]++;
    }
    const bool apart = count[0] >= sim->thread_count && count[1] >= sim->thread_count;
    uint32_t at[2] = {0, count[0]};
    for (uint32_t i = 0; i < sim->unit_count; i++) {
        order[apart ? at[sim->units[i].colour]++ : i] = &sim->units[i];
    }
    return apart ? count[0] : sim->unit_count;
}

// Deals each thread a run of units of about the same number of channels: dealt[i] is the thread of
// order[i]; `seated` grows by how many each gets.
static void deal_run(sim_t *sim,
                     sim_unit_t *const *order,
                     uint32_t count,
                     const uint64_t *weight,
                     unsigned *dealt,
                     uint32_t *seated)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        left += weight[order[i] - sim->units];
    }
    uint32_t next = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        const uint64_t share = left / (sim->thread_count - t);
        const uint32_t units_after = sim->thread_count - t - 1; // each must get one
        const uint32_t first = next;
        uint64_t taken = 0;
        while (next < count - units_after &&
               (next == first || units_after == 0 ||
                taken + weight[order[next] - sim->units] / 2 <= share)) {
            taken += weight[order[next] - sim->units];
            dealt[next++] = t;
            seated[t]++;
        }
        left -= taken;
    }
    SIM_CHECK(next == count);
}

// Each starts on a word of the activity maps, so that no two threads clear bits of one word.
static void deal_units(sim_t *sim)
{
    uint64_t *const weight = sim_alloc_array(sim->unit_count, sizeof(*weight));
    sim_unit_t **const order = sim_alloc_array(sim->unit_count, sizeof(sim_unit_t *));
    unsigned *const dealt = sim_alloc_array(sim->unit_count, sizeof(*dealt));
    uint32_t *const seated = sim_alloc_array(sim->thread_count, sizeof(*seated));
    for (uint32_t i = 0; i < sim->node_count; i++) {
        weight[sim->nodes[i]->unit - sim->units] += 1;
    }
    for (size_t i = 0; i < sim->channel_count; i++) {
        weight[sim->channel_ends[i].to->unit - sim->units] += 2;
    }
    const uint32_t first = order_units(sim, order);
    deal_run(sim, order, first, weight, dealt, seated);
    if (first < sim->unit_count) {
        deal_run(sim, order + first, sim->unit_count - first, weight, dealt + first, seated);
    }
    uint32_t bit = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_thread_t *const thread = sim->threads[t];
        thread->first_bit = bit;
        thread->seats = sim_alloc_array(seated[t] + 1, sizeof(*thread->seats));
        thread->agenda = sim_alloc_array(seated[t] + 1, sizeof(*thread->agenda));
        thread->end_bit = bit + seated[t];
        bit = (thread->end_bit + 63) / 64 * 64;
        seated[t] = 0;
    }
    for (uint32_t i = 0; i < sim->unit_count; i++) {
        seat_unit(sim->threads[dealt[i]], order[i], seated[dealt[i]]++);
    }
    sim_free(order);
    sim_free(dealt);
    sim_free(seated);
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_worker_t *const worker = &sim->threads[t]->worker;
        worker->stride = sim->coloured ? 2 : 1;
        worker->window_ps = sim->window_ps * worker->stride;
        // Ties by insertion: all messages take the slow way, which gives them places.
        worker->direct_ps = sim->fifo == NULL ? worker->window_ps : 0;
        worker->box_class = sim_alloc_array(sim->node_count + 1, sizeof(*worker->box_class));
        for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
            worker->boxes[slot] = sim_alloc_lines((sim->node_count + 1) * sizeof(sim_mailbox_t));
            worker->active[slot] = sim_alloc_array(bit / 64 + 1, sizeof(uint64_t));
        }
    }
    sim_free(weight);
}

static void deal_samplers(sim_t *sim)
{
    for (size_t i = 0; i < sim->sampler_count; i++) {
        sim_thread_t *const thread = sim__thread_of(sim->samplers[i]->node);
        thread->samplers =
            sim_realloc_array(thread->samplers, thread->sampler_count + 1, sizeof(sim_sampler_t *));
        thread->samplers[thread->sampler_count++] = sim->samplers[i];
        if (sim->samplers[i]->next_ps < thread->sample_next_ps) {
            thread->sample_next_ps = sim->samplers[i]->next_ps;
        }
    }
}

// Two colours have windows twice as wide, in which a background timer that is due after all else
// is over would still fire, and act.
static bool any_background(const sim_t *sim)
{
    for (size_t i = 0; i < sim->node_count; i++) {
        if (sim->nodes[i]->background_armed > 0) {
            return true;
        }
    }
    return false;
}

// Mail from a single channel comes in its order.
static void find_single_sources(sim_t *sim)
{
    uint8_t *const sources = sim_alloc_array(sim->node_count + 1, 1);
    for (size_t i = 0; i < sim->channel_count; i++) {
        uint8_t *const of_node = &sources[sim->channel_ends[i].to->index];
        *of_node = *of_node == 0 ? 1 : 2;
    }
    for (size_t i = 0; i < sim->node_count; i++) {
        sim->nodes[i]->one_source = sources[i] < 2;
    }
    sim_free(sources);
}

void sim__partition(sim_t *sim)
{
    uint32_t *const parent = sim_alloc_array(sim->node_count + 1, sizeof(*parent));
    sim->unit_count = choose_width(sim, parent);
    make_units(sim, parent);
    sim_free(parent);
    // Nodes that are kept apart stay within one window: all records of it are seen before the next.
    if (sim->fifo == NULL && !sim->apart && sim->unit_count == sim->node_count &&
        !any_background(sim)) {
        sim->coloured = colour_units(sim);
    }
    if (sim->coloured && sim->window_ps > WINDOW_WIDEST_PS / 2) {
        sim->window_ps = WINDOW_WIDEST_PS / 2;
    }
    unsigned threads = sim->options.threads;
    if (threads > sim->unit_count) {
        threads = sim->unit_count > 0 ? sim->unit_count : 1;
    }
    while (sim->thread_count < threads) {
        sim->threads[sim->thread_count] = sim__thread_create(sim, sim->thread_count);
        sim->thread_count++;
    }
    deal_units(sim);
    deal_samplers(sim);
    find_single_sources(sim);
    for (size_t i = 0; i < sim->channel_count; i++) {
        const sim_channel_ends_t *const ends = &sim->channel_ends[i];
        sim_channel_t *const channel =
            &sim->channel_blocks[i / SIM_CHANNEL_BLOCK][i % SIM_CHANNEL_BLOCK];
        sim_unit_t *const unit = ends->to->unit;
        channel->unit_index = unit->index;
        channel->near = ends->from->unit == unit;
        if (channel->near && sim->fifo == NULL) {
            channel->box_bytes = (uint32_t)(sim->node_count * sizeof(sim_mailbox_t)); // nobody's
        }
        if (channel->near && ends->delay_ps < unit->lookahead_ps) {
            unit->lookahead_ps = ends->delay_ps;
        }
    }
}
