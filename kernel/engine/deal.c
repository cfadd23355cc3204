// SPDX-License-Identifier: Apache-2.0
// kernel/engine/deal.c - which thread runs which of this rank's units.
//
// Threads wait for each other after each window, so each should have equally much to do in it. And
// messages should rarely change threads: such a packet costs the cache lines of its mail, its
// headers and its route, which lie in another core's cache.
//
// Networks are built in tiers, and dealing follows them. Leaves (hosts) are units with few
// neighbours; the tier of a unit is its distance from the nearest leaf. Leaves are dealt in runs,
// in the order of registration, which is rack by rack. Each higher tier is dealt in the order of
// the threads that its neighbours below went to. So a thread gets whole pods of a fat-tree and its
// share of the switches that join them. Every tier is shared evenly, and hence every window,
// whichever tier is busy and whichever colour runs.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel/engine/thread.h"
#include "kernel/engine/unit.h"
#include "kernel/engine_internal.h"

#define NO_TIER UINT32_MAX

// A unit that is being dealt to a thread.
typedef struct card {
    sim_unit_t *unit;
    uint64_t weight;
    uint64_t pull;   // mean index of the threads that its neighbours below went to, times PULL_ONE
    uint32_t degree; // channels from other units
    uint32_t tier;   // distance from the nearest leaf
    uint8_t colour;  // units of one colour run in one window
    unsigned thread;
} card_t;

#define PULL_ONE 65536u

typedef struct table {
    sim_t *sim;
    card_t *cards;    // by number of the unit
    card_t **order;   // by (tier, colour), then as described above
    uint32_t *first;  // by number of the unit: where its neighbours begin; one more at the end
    uint32_t *others; // the neighbours, by number of the unit
    uint32_t *seated; // by thread: how many units it has
} table_t;

static uint32_t number_of(const sim_t *sim, const sim_node_t *node)
{
    return (uint32_t)(node->unit - sim->units);
}

// Returns whether a channel joins two nodes of this rank.
static bool joins_own(const sim_t *sim, const sim_channel_ends_t *ends)
{
    return sim__is_here(sim, sim->nodes[ends->from]) && sim__is_here(sim, ends->to);
}

// Lists the units that send to each unit, and weighs each by the number of its channels.
static void list_neighbours(table_t *table)
{
    const sim_t *const sim = table->sim;
    for (size_t i = 0; i < sim->channel_count; i++) {
        const sim_channel_ends_t *const ends = &sim->channel_ends[i];
        if (!joins_own(sim, ends)) {
            continue;
        }
        card_t *const to = &table->cards[number_of(sim, ends->to)];
        to->weight += 2;
        to->degree += sim->nodes[ends->from]->unit != ends->to->unit;
    }
    for (uint32_t u = 0; u < sim->unit_count; u++) {
        table->first[u + 1] = table->first[u] + table->cards[u].degree;
    }
    for (size_t i = 0; i < sim->channel_count; i++) {
        const sim_channel_ends_t *const ends = &sim->channel_ends[i];
        if (!joins_own(sim, ends)) {
            continue;
        }
        const uint32_t to = number_of(sim, ends->to);
        const uint32_t from = number_of(sim, sim->nodes[ends->from]);
        if (from != to) {
            // Fills backwards: degree counts what is left to fill, and is restored below.
            table->others[table->first[to] + --table->cards[to].degree] = from;
        }
    }
    for (uint32_t u = 0; u < sim->unit_count; u++) {
        table->cards[u].degree = table->first[u + 1] - table->first[u];
    }
}

// Returns whether a unit is a leaf: it has fewer channels than each of its neighbours, and at most
// twice the smallest number that any unit has (hosts may be joined to two switches instead of one).
static bool is_leaf(const table_t *table, uint32_t unit, uint32_t fewest)
{
    const uint32_t degree = table->cards[unit].degree;
    bool leaf = degree <= 2 * fewest;
    for (uint32_t i = table->first[unit]; i < table->first[unit + 1] && leaf; i++) {
        leaf = table->cards[table->others[i]].degree > degree;
    }
    return leaf;
}

// Finds the tier of each unit, breadth first from all leaves. A unit that no leaf reaches counts as
// a leaf.
static void find_tiers(table_t *table)
{
    const uint32_t count = table->sim->unit_count;
    uint32_t *const queue = sim_alloc_array(count + 1, sizeof(*queue));
    uint32_t fewest = UINT32_MAX;
    uint32_t found = 0;
    for (uint32_t u = 0; u < count; u++) {
        const uint32_t degree = table->cards[u].degree;
        fewest = SIM_MIN(degree, fewest);
    }
    for (uint32_t u = 0; u < count; u++) {
        table->cards[u].tier = is_leaf(table, u, fewest) ? 0 : NO_TIER;
        if (table->cards[u].tier == 0) {
            queue[found++] = u;
        }
    }
    for (uint32_t taken = 0; taken < found; taken++) {
        const uint32_t unit = queue[taken];
        for (uint32_t i = table->first[unit]; i < table->first[unit + 1]; i++) {
            card_t *const other = &table->cards[table->others[i]];
            if (other->tier == NO_TIER) {
                other->tier = table->cards[unit].tier + 1;
                queue[found++] = table->others[i];
            }
        }
    }
    for (uint32_t u = 0; u < count; u++) {
        table->cards[u].tier = table->cards[u].tier == NO_TIER ? 0 : table->cards[u].tier;
    }
    sim_free(queue);
}

static int compare_tiers(const void *a, const void *b)
{
    const card_t *const x = *(card_t *const *)a;
    const card_t *const y = *(card_t *const *)b;
    return 4 * SIM_COMPARE(x->tier, y->tier) + 2 * SIM_COMPARE(x->colour, y->colour) +
           SIM_COMPARE(x->unit, y->unit);
}

static int compare_pulls(const void *a, const void *b)
{
    const card_t *const x = *(card_t *const *)a;
    const card_t *const y = *(card_t *const *)b;
    return 2 * SIM_COMPARE(x->pull, y->pull) + SIM_COMPARE(x->unit, y->unit);
}

static uint64_t pull_of(const table_t *table, const card_t *card)
{
    const uint32_t unit = (uint32_t)(card - table->cards);
    uint64_t sum = 0;
    uint64_t count = 0;
    for (uint32_t i = table->first[unit]; i < table->first[unit + 1]; i++) {
        const card_t *const other = &table->cards[table->others[i]];
        if (other->tier < card->tier) {
            sum += other->thread;
            count++;
        }
    }
    return count == 0 ? 0 : sum * PULL_ONE / count;
}

// Deals the cards of one tier and colour in runs. got[] holds the weight that each thread has of
// this colour so far, so that remainders of different tiers go to different threads.
static void deal_tier(table_t *table, card_t **cards, uint32_t count, uint64_t *got)
{
    const unsigned threads = table->sim->thread_count;
    uint64_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        left += cards[i]->weight;
        cards[i]->pull = cards[i]->tier == 0 ? 0 : pull_of(table, cards[i]);
    }
    for (unsigned t = 0; t < threads; t++) {
        left += got[t];
    }
    qsort(cards, count, sizeof(*cards), compare_pulls);
    uint32_t next = 0;
    for (unsigned t = 0; t < threads; t++) {
        const uint64_t share = left / (threads - t);
        while (next < count && (t + 1 == threads || got[t] + cards[next]->weight / 2 < share)) {
            got[t] += cards[next]->weight;
            cards[next]->thread = t;
            table->seated[t]++;
            next++;
        }
        left -= SIM_MIN(got[t], left);
    }
}

static void deal_tiers(table_t *table)
{
    const uint32_t count = table->sim->unit_count;
    const unsigned threads = table->sim->thread_count;
    uint64_t *const got = sim_alloc_array(2 * (size_t)threads, sizeof(*got));
    for (uint32_t u = 0; u < count; u++) {
        table->order[u] = &table->cards[u];
    }
    qsort(table->order, count, sizeof(*table->order), compare_tiers);
    for (uint32_t begin = 0, end = 0; begin < count; begin = end) {
        const card_t *const card = table->order[begin];
        const uint8_t colour = card->colour;
        while (end < count && table->order[end]->tier == card->tier &&
               table->order[end]->colour == colour) {
            end++;
        }
        deal_tier(table, table->order + begin, end - begin, got + (size_t)colour * threads);
    }
    sim_free(got);
}

static void seat_unit(sim_thread_t *thread, sim_unit_t *unit, uint32_t at)
{
    sim_node_t *const node = unit->members[0];
    const bool alone = unit->count == 1;
    thread->seats[at] = (sim_seat_t){unit, node, node->index, alone};
    for (uint32_t m = 0; m < unit->count; m++) {
        unit->members[m]->worker = &thread->worker;
    }
}

#define BOXES_OF_A_LINE (SIM_CACHE_LINE / sizeof(sim_mailbox_t))

size_t sim__mailboxes_bytes(const sim_t *sim)
{
    const size_t row = (sim->node_count / BOXES_OF_A_LINE + 1) * BOXES_OF_A_LINE;
    return SIM_SLOTS * row * sizeof(sim_mailbox_t);
}

// Allocates the mailboxes of all slots in one piece, since each of eight would be rounded up to
// huge pages. In ranks those of other ranks' nodes take no memory, since nobody writes to them.
static void make_mailboxes(const sim_t *sim, sim_worker_t *worker)
{
    const size_t bytes = sim__mailboxes_bytes(sim);
    const size_t row = bytes / SIM_SLOTS / sizeof(sim_mailbox_t);
    sim_mailbox_t *const boxes = sim->seated ? sim_alloc_sparse(bytes) : sim_alloc_lines(bytes);
    if (sim->seated) {
        (void)madvise(boxes, bytes,
                      MADV_HUGEPAGE); // where this rank's nodes are: they lie together
    }
    for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
        worker->boxes[slot] = &boxes[slot * row];
    }
}

// Gives threads the bits of their units. Each thread starts on a word of the activity maps, so that
// no two threads clear bits of one word. Returns the number of bits.
static uint32_t give_bits(table_t *table)
{
    const sim_t *const sim = table->sim;
    uint32_t bit = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_thread_t *const thread = sim->threads[t];
        thread->first_bit = bit;
        thread->end_bit = bit + table->seated[t];
        thread->seats = sim_alloc_array(table->seated[t] + 1, sizeof(*thread->seats));
        thread->agenda = sim_alloc_array(table->seated[t] + 1, sizeof(*thread->agenda));
        bit = (thread->end_bit + 63) / 64 * 64;
        table->seated[t] = 0;
    }
    return bit;
}

static void seat_units(table_t *table)
{
    sim_t *const sim = table->sim;
    const uint32_t bit = give_bits(table);
    sim__ranks_meet(sim);
    for (uint32_t i = 0; i < sim->unit_count; i++) {
        const card_t *const card = table->order[i];
        sim_thread_t *const thread = sim->threads[card->thread];
        const uint32_t at = table->seated[card->thread]++;
        card->unit->index = thread->first_bit + at;
        seat_unit(thread, card->unit, at);
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_worker_t *const worker = &sim->threads[t]->worker;
        SIM_CHECK(table->seated[t] == sim->threads[t]->end_bit - sim->threads[t]->first_bit);
        worker->stride = sim->coloured ? 2 : 1;
        worker->window_ps = sim->window_ps * worker->stride;
        // If messages need numbers, sim_send passes each one to the order's `send`.
        worker->direct_ps = sim__ties_by_hash(sim) ? worker->window_ps : 0;
        worker->box_class = sim_alloc_array(sim->node_count + 1, sizeof(*worker->box_class));
        make_mailboxes(sim, worker);
        for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
            worker->active[slot] = sim_alloc_array(bit / 64 + 1, sizeof(uint64_t));
        }
    }
}

static void deal_samplers(sim_t *sim)
{
    for (size_t i = 0; i < sim->sampler_count; i++) {
        if (!sim__is_here(sim, sim->samplers[i]->node)) {
            continue;
        }
        sim_thread_t *const thread = sim__thread_of(sim->samplers[i]->node);
        thread->samplers =
            sim_realloc_array(thread->samplers, thread->sampler_count + 1, sizeof(sim_sampler_t *));
        thread->samplers[thread->sampler_count++] = sim->samplers[i];
        if (sim->samplers[i]->next_ps < thread->sample_next_ps) {
            thread->sample_next_ps = sim->samplers[i]->next_ps;
        }
    }
}

void sim__deal(sim_t *sim)
{
    table_t table = {
        .sim = sim,
        .cards = sim_alloc_array(sim->unit_count + 1, sizeof(*table.cards)),
        .order = sim_alloc_array(sim->unit_count + 1, sizeof(card_t *)),
        .first = sim_alloc_array(sim->unit_count + 2, sizeof(*table.first)),
        .others = sim_alloc_array(sim->channel_count + 1, sizeof(*table.others)),
        .seated = sim_alloc_array(sim->thread_count, sizeof(*table.seated)),
    };
    for (uint32_t u = 0; u < sim->unit_count; u++) {
        table.cards[u].unit = &sim->units[u];
        table.cards[u].weight = sim->units[u].count;
        table.cards[u].colour = sim->coloured ? sim->units[u].colour : 0;
    }
    if (sim->thread_count > 1) {
        list_neighbours(&table);
        find_tiers(&table);
    }
    deal_tiers(&table);
    seat_units(&table);
    deal_samplers(sim);
    SIM_FREE_ALL(table.cards, table.order, table.first, table.others, table.seated);
}
