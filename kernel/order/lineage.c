// SPDX-License-Identifier: Apache-2.0
// kernel/order/lineage.c - ties by insertion in windows: comparing, sorting and replacing numbers.
#include "kernel/order/lineage.h"

#include <string.h>

#include "kernel/engine_internal.h"
#include "kernel/order/order_internal.h"

// -- a thread's memory of events

static uint64_t first_number(const sim_thread_t *thread)
{
    return SIM_MADE_IN_RUN | (uint64_t)thread->worker.index << SIM_LINE_THREAD_SHIFT;
}

void sim__line_open_block(sim_line_t *line)
{
    const uint64_t block = sim__line_parents(line) / SIM_LINE_BLOCK;
    SIM_CHECK(block < SIM_LINE_BLOCKS);
    if (line->blocks[block] == NULL) {
        line->blocks[block] = sim_alloc_array(SIM_LINE_BLOCK, sizeof(sim_parent_t));
    }
    line->parent = line->blocks[block];
    line->block_end = line->parent + SIM_LINE_BLOCK;
}

// Forgets all events that the thread has run: no number refers to them any more.
static void start_over(sim_thread_t *thread)
{
    thread->line.next = first_number(thread);
    sim__line_open_block(&thread->line);
    memset(thread->line.memory, 0, SIM_REMEMBERED * sizeof(*thread->line.memory));
}

void sim__line_fini(sim_line_t *line)
{
    sim_free_each(line->blocks, SIM_LINE_BLOCKS);
    sim_free(line->memory);
    sim_free(line->turns);
}

// Returns how many parents there are to be before numbers are replaced again, where `live` were
// replaced now. A replacement looks at all places where a number can be and sorts what it finds.
#define PARENTS_LEAST 8192u
#define PARENTS_MOST (UINT64_C(1) << 25) // 512 MB; one more window must fit, too
static uint64_t parents_until_next(const sim_t *sim, size_t live)
{
    const uint64_t wanted =
        PARENTS_LEAST + 64 * (sim->node_count + sim->channel_count) + 32 * (uint64_t)live;
    return SIM_MIN(wanted, PARENTS_MOST);
}

void sim__lineage_seat(sim_t *sim)
{
    struct sim_fifo *const fifo = sim->fifo;
    fifo->next_plain = sim->threads[0]->line.next;
    fifo->parents = sim_alloc_array(SIM_LINE_BLOCKS_ALL, sizeof(*fifo->parents));
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim->threads[t]->line.blocks = &fifo->parents[t * SIM_LINE_BLOCKS];
        sim->threads[t]->line.memory = sim_alloc_array(SIM_REMEMBERED, sizeof(sim_remembered_t));
        start_over(sim->threads[t]);
    }
    fifo->replace_at = parents_until_next(sim, 0);
}

// -- comparing

static inline const sim_parent_t *parent_of(const sim_t *sim, uint64_t number)
{
    const uint64_t block = number >> SIM_LINE_BLOCK_SHIFT & (SIM_LINE_BLOCKS_ALL - 1);
    return &sim->fifo->parents[block][number >> SIM_LINE_PARENT_SHIFT & (SIM_LINE_BLOCK - 1)];
}

// Returns whether a and b can be compared as integers: one of them was taken before the run, or the
// same event took both.
static inline bool are_plain(uint64_t a, uint64_t b)
{
    return (a & b & SIM_MADE_IN_RUN) == 0 || (a ^ b) <= SIM_LINE_CALLS;
}

// Compares numbers whose ancestors tie for many events, as those of flows that go in step do: only
// their beginning distinguishes them. All pairs on the way back compare alike, so their result is
// remembered. The next packets' way soon meets this one, so the pairs of steps 0, 1, 2, 4, 8... are
// enough.
#define WAY_BACK_MAX 33u

static SIM_NOINLINE bool before_long_ago(const sim_t *sim, sim_remembered_t *memory, uint64_t a,
                                         uint64_t b)
{
    sim_remembered_t *way[WAY_BACK_MAX];
    uint32_t kept = 0;
    bool before;
    for (uint32_t step = 0;; step++) {
        if (are_plain(a, b)) {
            before = a < b;
            break;
        }
        const sim_parent_t *const of_a = parent_of(sim, a);
        const sim_parent_t *const of_b = parent_of(sim, b);
        if (of_a->time_ps != of_b->time_ps) {
            before = of_a->time_ps < of_b->time_ps;
            break;
        }
        sim_remembered_t *const known = &memory[sim_mix64(a ^ (b << 7 | b >> 57)) % SIM_REMEMBERED];
        if (known->a == a && known->b == b) {
            before = known->before;
            break;
        }
        if ((step & (step - 1)) == 0) {
            *known = (sim_remembered_t){a, b, false};
            way[kept++] = known;
        }
        if (of_a->number == of_b->number) {
            before = a < b; // both parents are of one node, in order in its thread's memory
            break;
        }
        a = of_a->number;
        b = of_b->number;
    }
    while (kept > 0) {
        way[--kept]->before = before;
    }
    return before;
}

#define SHORT_WAY 4u

bool sim__lineage_before(const sim_t *sim, const sim_line_t *line, uint64_t a, uint64_t b)
{
    for (uint32_t steps = 0; !are_plain(a, b); steps++) {
        const sim_parent_t *const of_a = parent_of(sim, a);
        const sim_parent_t *const of_b = parent_of(sim, b);
        if (of_a->time_ps != of_b->time_ps) {
            return of_a->time_ps < of_b->time_ps;
        }
        if (of_a->number == of_b->number) {
            break;
        }
        a = of_a->number;
        b = of_b->number;
        if (steps == SHORT_WAY) {
            return before_long_ago(sim, line->memory, a, b);
        }
    }
    return a < b;
}

typedef struct sorter {
    const sim_t *sim;
    const sim_line_t *line;
    sim_ranked_t *scratch; // as much as there is to sort
} sorter_t;

static inline bool ranked_before(const sorter_t *sorter, const sim_ranked_t *a,
                                 const sim_ranked_t *b)
{
    if (a->time_ps != b->time_ps) {
        return a->time_ps < b->time_ps;
    }
    if (are_plain(a->number, b->number)) {
        return a->number < b->number;
    }
    if (a->earlier_ps != b->earlier_ps) {
        return a->earlier_ps < b->earlier_ps;
    }
    return sim__lineage_before(sorter->sim, sorter->line, a->number, b->number);
}

#define INSERTION_MAX 8u

static void merge_sort(const sorter_t *sorter, sim_ranked_t *items, size_t count)
{
    if (count <= INSERTION_MAX) {
        for (size_t i = 1; i < count; i++) {
            const sim_ranked_t item = items[i];
            size_t to = i;
            for (; to > 0 && ranked_before(sorter, &item, &items[to - 1]); to--) {
                items[to] = items[to - 1];
            }
            items[to] = item;
        }
        return;
    }
    const size_t half = count / 2;
    merge_sort(sorter, items, half);
    merge_sort(sorter, items + half, count - half);
    memcpy(sorter->scratch, items, half * sizeof(*items));
    const sim_ranked_t *left = sorter->scratch;
    const sim_ranked_t *right = items + half;
    for (sim_ranked_t *to = items; left < sorter->scratch + half; to++) {
        const bool from_left = right == items + count || !ranked_before(sorter, right, left);
        *to = from_left ? *left++ : *right++;
    }
}

// Spreads items over buckets of time, about two items to a bucket, and sorts each bucket.
static void bucket_sort(const sorter_t *sorter, sim_ranked_t *items, size_t count)
{
    sim_time_t first_ps = SIM_TIME_NEVER;
    sim_time_t last_ps = 0;
    for (size_t i = 0; i < count; i++) {
        first_ps = SIM_MIN(items[i].time_ps, first_ps);
        last_ps = SIM_MAX(items[i].time_ps, last_ps);
    }
    unsigned shift = 0;
    while ((last_ps - first_ps) >> shift >= count / 2) {
        shift++;
    }
    const size_t buckets = ((last_ps - first_ps) >> shift) + 1;
    size_t *const ends = sim_alloc_array(buckets + 1, sizeof(*ends));
    for (size_t i = 0; i < count; i++) {
        ends[((items[i].time_ps - first_ps) >> shift) + 1]++;
    }
    for (size_t b = 1; b < buckets; b++) {
        ends[b] += ends[b - 1];
    }
    memcpy(sorter->scratch, items, count * sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        const sim_ranked_t *const item = &sorter->scratch[i];
        items[ends[(item->time_ps - first_ps) >> shift]++] = *item;
    }
    for (size_t b = 0, begin = 0; b < buckets; begin = ends[b++]) {
        merge_sort(sorter, items + begin, ends[b] - begin);
    }
    sim_free(ends);
}

// Returns the time of the event that took the number; 0: it was taken before the run.
static inline sim_time_t taken_ps(const sim_t *sim, uint64_t number)
{
    return (number & SIM_MADE_IN_RUN) == 0 ? 0 : parent_of(sim, number)->time_ps;
}

// Looks up the two times that distinguish most items. A loop of its own lets these cache misses
// overlap.
static void look_up_times(const sim_t *sim, sim_ranked_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        items[i].time_ps = taken_ps(sim, items[i].number);
        items[i].earlier_ps = (items[i].number & SIM_MADE_IN_RUN) == 0
                                  ? 0
                                  : taken_ps(sim, parent_of(sim, items[i].number)->number);
    }
}

void sim__lineage_sort(const sim_t *sim, const sim_line_t *line, sim_ranked_t *items, size_t count)
{
    look_up_times(sim, items, count);
    const sorter_t sorter = {sim, line, sim_alloc_array(count + 1, sizeof(*items))};
    if (count <= INSERTION_MAX) {
        merge_sort(&sorter, items, count);
    } else {
        bucket_sort(&sorter, items, count);
    }
    sim_free(sorter.scratch);
}

// -- replacing

// All places that hold a number taken in the run.
typedef struct census {
    const sim_t *sim;
    sim_ranked_t *items;
    size_t count;
    size_t capacity;
} census_t;

// Adds the number at `where` to the census if it was taken in the run.
static inline void count_in(census_t *census, void *where)
{
    const uint64_t number = *(const sim_stamp_t *)where;
    if ((number & SIM_MADE_IN_RUN) != 0) {
        SIM_APPEND(census->items, census->count, census->capacity,
                   (sim_ranked_t){.number = number, .owner = where});
    }
}

static void count_mail(census_t *census, const sim_thread_t *thread)
{
    for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
        for (size_t n = 0; n < census->sim->node_count; n++) {
            const sim_mailbox_t *const box = &thread->worker.boxes[slot][n];
            for (uint32_t i = 0; i < sim__mailbox_count(box); i++) {
                count_in(census, box->mail[i].message);
            }
        }
    }
    for (unsigned to = 0; to < census->sim->thread_count; to++) {
        for (unsigned parity = 0; parity < 2; parity++) {
            const sim_parcels_t *const parcels = &thread->parcels[to][parity];
            for (size_t p = 0; p < parcels->count; p++) {
                count_in(census, parcels->items[p].message);
            }
        }
    }
}

static void count_node(census_t *census, const sim_node_t *node)
{
    for (size_t c = 0; node->far != NULL && c < node->far->count; c++) {
        const sim_far_ring_t *const far = sim__far(census->sim, node->far->channels[c]);
        for (uint32_t i = far->first; i != far->end; i++) {
            count_in(census, SIM_RING_AT(far, i).message);
        }
    }
    for (uint32_t i = 0; i < node->timer_count; i++) {
        count_in(census, &node->timers[i].sequence);
    }
    const sim_wake_queue_t *const queue = &census->sim->fifo->wakes[node->index];
    for (uint32_t i = queue->first; i < queue->end; i++) {
        count_in(census, &queue->wakes[i].number);
    }
    for (uint32_t i = 0; i < node->kept_count; i++) {
        count_in(census, &node->kept[i]);
    }
}

// Gives every number of the census a plain one, in order, so that no event need be remembered.
static void replace(sim_t *sim)
{
    struct sim_fifo *const fifo = sim->fifo;
    census_t census = {.sim = sim, .items = fifo->live, .capacity = fifo->live_capacity};
    for (unsigned t = 0; t < sim->thread_count; t++) {
        count_mail(&census, sim->threads[t]);
    }
    for (size_t i = 0; i < sim->node_count; i++) {
        count_node(&census, sim->nodes[i]);
    }
    sim__lineage_sort(sim, &sim->threads[0]->line, census.items, census.count);
    for (size_t i = 0; i < census.count; i++) {
        fifo->next_plain += i == 0 || census.items[i].number != census.items[i - 1].number;
        *(sim_stamp_t *)census.items[i].owner = fifo->next_plain;
    }
    SIM_CHECK(fifo->next_plain < SIM_MADE_IN_RUN);
    fifo->live = census.items;
    fifo->live_capacity = census.capacity;
    fifo->replace_at = parents_until_next(sim, census.count);
    for (unsigned t = 0; t < sim->thread_count; t++) {
        start_over(sim->threads[t]);
    }
}

void sim__lineage_renumber(sim_t *sim)
{
    uint64_t parents = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        parents += sim__line_parents(&sim->threads[t]->line);
    }
    if (parents >= sim->fifo->replace_at || sim->fifo->replace_always) {
        replace(sim);
    }
}
