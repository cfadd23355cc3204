// SPDX-License-Identifier: Apache-2.0
// kernel/order/lineage.c - ties by insertion in windows: comparing numbers, running a node in their
// order, and what is done between windows.
#include "kernel/order/lineage.h"

#include <string.h>

#include "kernel/order/order_internal.h"

// -- a thread's memory of events

static uint64_t first_number(const sim_thread_t *thread)
{
    return SIM_MADE_IN_RUN | (uint64_t)thread->worker.index << SIM_LINE_THREAD_SHIFT;
}

static uint64_t parents_of(const sim_line_t *line)
{
    return line->next << (64 - SIM_LINE_THREAD_SHIFT) >>
           (64 - SIM_LINE_THREAD_SHIFT + SIM_LINE_PARENT_SHIFT);
}

static void open_block(sim_line_t *line, uint64_t block)
{
    SIM_CHECK(block < SIM_LINE_BLOCKS);
    if (line->blocks[block] == NULL) {
        line->blocks[block] = sim_alloc_array(SIM_LINE_BLOCK, sizeof(sim_parent_t));
    }
    line->parent = line->blocks[block];
    line->block_end = line->parent + SIM_LINE_BLOCK;
}

static void start_over(sim_thread_t *thread)
{
    thread->line.next = first_number(thread);
    open_block(&thread->line, 0);
    memset(thread->line.memory, 0, SIM_REMEMBERED * sizeof(*thread->line.memory));
}

void sim__line_fini(sim_line_t *line)
{
    for (size_t i = 0; line->blocks != NULL && i < SIM_LINE_BLOCKS; i++) {
        sim_free(line->blocks[i]);
    }
    sim_free(line->memory);
    sim_free(line->turns);
}

// How much there is between two replacements. A replacement looks at all places where a number can
// be, and sorts the numbers it finds.
#define PARENTS_LEAST 8192u
#define PARENTS_MOST (UINT64_C(1) << 25) // 512 MB; a window more must fit, too
static uint64_t parents_until_next(const sim_t *sim, size_t live)
{
    const uint64_t wanted =
        PARENTS_LEAST + 64 * (sim->node_count + sim->channel_count) + 32 * (uint64_t)live;
    return wanted < PARENTS_MOST ? wanted : PARENTS_MOST;
}

void sim__lineage_seat(sim_t *sim)
{
    struct sim_fifo *const fifo = sim->fifo;
    fifo->next_plain = sim->threads[0]->line.next;
    fifo->parents = sim_alloc_array(SIM_LINE_BLOCKS_ALL, sizeof(*fifo->parents));
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim->threads[t]->line.blocks = &fifo->parents[t * SIM_LINE_BLOCKS];
        sim->threads[t]->line.memory = sim_alloc_array(SIM_REMEMBERED, sizeof(sim_remembered_t));
        sim->threads[t]->line.kept_at = fifo->kept_at;
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

// Whether a number says all there is to ask: it was taken before the run, or b by the same event.
static inline bool are_plain(uint64_t a, uint64_t b)
{
    return (a & b & SIM_MADE_IN_RUN) == 0 || (a ^ b) <= SIM_LINE_CALLS;
}

// Flows that go in step are told apart by how they began, many events ago, and so is each of their
// packets. So what was found in the end is remembered for pairs of numbers on a long way back: it
// is the same for all. The next packets' way soon meets this one, so few pairs are enough: those of
// steps 0, 1, 2, 4, 8...
#define WAY_BACK_MAX 33u

static __attribute__((noinline)) bool before_long_ago(const sim_t *sim,
                                                      sim_remembered_t *memory,
                                                      uint64_t a,
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
            before = a < b; // of one node, one behind the other in the memory of its thread
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

static inline bool ranked_before(const sorter_t *sorter,
                                 const sim_ranked_t *a,
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

// Spreads items over buckets of time, about two to each, and sorts these.
static void bucket_sort(const sorter_t *sorter, sim_ranked_t *items, size_t count)
{
    sim_time_t first_ps = SIM_TIME_NEVER;
    sim_time_t last_ps = 0;
    for (size_t i = 0; i < count; i++) {
        first_ps = items[i].time_ps < first_ps ? items[i].time_ps : first_ps;
        last_ps = items[i].time_ps > last_ps ? items[i].time_ps : last_ps;
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

// Of the event that took the number; 0: it was taken before the run.
static inline sim_time_t taken_ps(const sim_t *sim, uint64_t number)
{
    return (number & SIM_MADE_IN_RUN) == 0 ? 0 : parent_of(sim, number)->time_ps;
}

// Most of what ties is told apart by two times, which are looked up one item after the other, each
// not waiting for the one before it.
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

static inline uint64_t stamp_of(const sim_mail_t *mail)
{
    return *(const sim_stamp_t *)mail->message;
}

#define FEW_MAIL 16u

void sim__lineage_sort_mail(const sim_node_t *node, sim_mail_t *mail, size_t count)
{
    const sim_t *const sim = node->sim;
    const sim_line_t *const line = &sim__thread_of(node)->line;
    if (count <= FEW_MAIL) {
        for (size_t i = 1; i < count; i++) {
            const sim_mail_t one = mail[i];
            size_t to = i;
            const uint64_t number = stamp_of(&one);
            for (; to > 0 && sim__lineage_before(sim, line, number, stamp_of(&mail[to - 1]));
                 to--) {
                mail[to] = mail[to - 1];
            }
            mail[to] = one;
        }
        return;
    }
    sim_mail_t *const sorted = sim_alloc_array(count, sizeof(*sorted));
    sim_ranked_t *const items = sim_alloc_array(count, sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        items[i] = (sim_ranked_t){.number = stamp_of(&mail[i]), .owner = &mail[i]};
    }
    sim__lineage_sort(sim, line, items, count);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = *(const sim_mail_t *)items[i].owner;
    }
    memcpy(mail, sorted, count * sizeof(*mail));
    sim_free(items);
    sim_free(sorted);
}

// -- running a node

static inline void begin_event(sim_line_t *line,
                               sim_parent_t *parent,
                               sim_time_t time_ps,
                               uint64_t number)
{
    line->current = number;
    *parent = (sim_parent_t){time_ps, number};
}

// If it has scheduled nothing, nobody has it for a parent. Returns where the next one goes.
static inline sim_parent_t *end_event(sim_line_t *line, sim_parent_t *parent)
{
    if ((line->next & SIM_LINE_CALLS) == 0) {
        return parent;
    }
    line->next = (line->next | SIM_LINE_CALLS) + 1;
    if (SIM_UNLIKELY(parent + 1 == line->block_end)) {
        open_block(line, parents_of(line) / SIM_LINE_BLOCK);
        return line->parent;
    }
    return parent + 1;
}

static void run_wake(sim_node_t *node,
                     sim_line_t *line,
                     sim_parent_t *parent,
                     sim_wake_queue_t *queue)
{
    const sim_numbered_wake_t wake = queue->wakes[queue->first++];
    if (queue->first == queue->end) {
        queue->first = queue->end = 0;
        node->wake_ps = SIM_TIME_NEVER;
    } else {
        node->wake_ps = queue->wakes[queue->first].time_ps;
    }
    node->now_ps = wake.time_ps;
    node->events++;
    begin_event(line, parent, wake.time_ps, wake.number);
    const sim_event_t event = {.kind = SIM_EVENT_WAKE, .port = wake.port};
    node->ops->take(node, &event);
}

static void run_timer(sim_node_t *node, sim_line_t *line, sim_parent_t *parent)
{
    begin_event(line, parent, node->timer_ps, node->timers[0].sequence);
    const sim_event_t event = {.kind = SIM_EVENT_TIMER, .timer = sim__timer_pop(node)};
    node->ops->take(node, &event);
}

static inline void run_arrival(sim_node_t *node,
                               sim_line_t *line,
                               sim_parent_t *parent,
                               sim_time_t time_ps)
{
    begin_event(line, parent, time_ps, stamp_of(node->mail));
    const sim_mail_t *const mail = sim__take_mail(node, time_ps);
    node->ops->arrive(node, sim_mail_port(mail), mail->message);
}

// Which of those that are due then is first.
static __attribute__((noinline)) sim_event_kind_t choose(const sim_node_t *node,
                                                         const sim_line_t *line,
                                                         const sim_wake_queue_t *queue,
                                                         sim_time_t time_ps)
{
    sim_event_kind_t kind = SIM_EVENT_TIMER;
    uint64_t number = 0;
    bool found = node->timer_ps == time_ps;
    if (found) {
        number = node->timers[0].sequence;
    }
    if (node->wake_ps == time_ps) {
        const uint64_t other = queue->wakes[queue->first].number;
        if (!found || sim__lineage_before(node->sim, line, other, number)) {
            kind = SIM_EVENT_WAKE;
            number = other;
        }
        found = true;
    }
    if (sim__mail_time(node) == time_ps) {
        if (!found || sim__lineage_before(node->sim, line, stamp_of(node->mail), number)) {
            kind = SIM_EVENT_ARRIVAL;
        }
    }
    return kind;
}

void sim__lineage_run(sim_node_t *node)
{
    sim_line_t *const line = &sim__thread_of(node)->line;
    sim_wake_queue_t *const queue = &node->sim->fifo->wakes[node->index];
    const sim_time_t end_ps = node->run_end_ps;
    sim_parent_t *parent = line->parent;
    line->in_event = true;
    for (;;) {
        const sim_time_t mail_ps = sim__mail_time(node);
        const sim_time_t own_ps = node->wake_ps < node->timer_ps ? node->wake_ps : node->timer_ps;
        if (SIM_LIKELY(mail_ps < own_ps)) {
            if (mail_ps >= end_ps) {
                break;
            }
            run_arrival(node, line, parent, mail_ps);
        } else if (own_ps >= end_ps) {
            break;
        } else {
            const bool ties = mail_ps == own_ps || node->wake_ps == node->timer_ps;
            const sim_event_kind_t own = node->wake_ps == own_ps ? SIM_EVENT_WAKE : SIM_EVENT_TIMER;
            switch (ties ? choose(node, line, queue, own_ps) : own) {
            case SIM_EVENT_ARRIVAL:
                run_arrival(node, line, parent, own_ps);
                break;
            case SIM_EVENT_WAKE:
                run_wake(node, line, parent, queue);
                break;
            case SIM_EVENT_TIMER:
                run_timer(node, line, parent);
                break;
            }
        }
        parent = end_event(line, parent);
    }
    line->parent = parent;
    line->in_event = false;
}

// -- between windows

void sim__lineage_turns(sim_t *sim)
{
    size_t count = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        count += sim->threads[t]->line.turn_count;
    }
    if (count == 0) {
        return;
    }
    sim_ranked_t *const items = sim_alloc_array(count, sizeof(*items));
    size_t next = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_line_t *const line = &sim->threads[t]->line;
        for (size_t i = 0; i < line->turn_count; i++) {
            items[next++] =
                (sim_ranked_t){.number = line->turns[i].place, .owner = &line->turns[i]};
        }
        line->turn_count = 0;
    }
    sim__lineage_sort(sim, &sim->threads[0]->line, items, count);
    for (size_t i = 0; i < count; i++) {
        const sim_turn_t *const turn = items[i].owner;
        const sim_time_t now_ps = turn->node->now_ps;
        turn->node->now_ps = turn->time_ps;
        turn->fn(turn->node, turn->subject, turn->value);
        turn->node->now_ps = now_ps;
    }
    sim_free(items);
}

typedef struct census {
    const sim_t *sim;
    sim_ranked_t *items;
    size_t count;
    size_t capacity;
} census_t;

static inline void count_in(census_t *census, void *where)
{
    const uint64_t number = *(const sim_stamp_t *)where;
    if ((number & SIM_MADE_IN_RUN) != 0) {
        SIM_GROW(census->items, census->count, &census->capacity);
        census->items[census->count++] = (sim_ranked_t){.number = number, .owner = where};
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
        const struct sim_far_fifo *const far = sim__ends(census->sim, node->far->channels[c])->far;
        for (size_t i = 0; i < far->count; i++) {
            count_in(census, far->letters[(far->first + i) & (far->capacity - 1)].message);
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
        parents += parents_of(&sim->threads[t]->line);
    }
    if (parents >= sim->fifo->replace_at || sim->fifo->replace_always) {
        replace(sim);
    }
}
