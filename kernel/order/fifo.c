// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo.c - ties by insertion: who takes a number.
//
// The rules are the same for events in windows and in one list; these differ in what a number is
// (kernel/order/lineage.h), and in where an event waits that has one.
#include "kernel/order/fifo.h"

#include "kernel/order/order_internal.h"

#define FIRST_NUMBER (UINT64_C(1) << 32)

// -- life

struct sim_fifo *sim__fifo_create(sim_t *sim)
{
    struct sim_fifo *const fifo = sim_alloc(sizeof(*fifo));
    fifo->next_first = 1;
    sim->threads[0]->line.next = FIRST_NUMBER;
    return fifo;
}

void sim__fifo_destroy(struct sim_fifo *fifo)
{
    if (fifo == NULL) {
        return;
    }
    sim__one_list_destroy(fifo->list);
    for (size_t i = 0; i < fifo->wakes_capacity; i++) {
        sim_free(fifo->wakes[i].wakes);
    }
    sim_free(fifo->wakes);
    sim_free(fifo->keepers);
    sim_free(fifo->kept);
    sim_free((void *)fifo->kept_at);
    sim_free((void *)fifo->parents);
    sim_free(fifo->live);
    sim_free(fifo);
}

// -- numbers

static inline sim_line_t *line_of(const sim_node_t *node)
{
    return &sim__thread_of(node)->line;
}

uint64_t sim__fifo_take_number(const sim_node_t *node)
{
    return line_of(node)->next++;
}

uint64_t sim__fifo_stream_place(const sim_node_t *node)
{
    return line_of(node)->in_event ? line_of(node)->next++ : node->index;
}

uint64_t sim_fifo_reserve(sim_t *sim, uint64_t count)
{
    if (sim->fifo == NULL) {
        return 0;
    }
    SIM_CHECK(!sim->ran);
    const uint64_t first = sim->threads[0]->line.next;
    sim->threads[0]->line.next += count;
    return first;
}

void sim_channel_keeps_number(sim_node_t *node, sim_channel_t *channel, uint32_t port)
{
    struct sim_fifo *const fifo = node->sim->fifo;
    if (fifo == NULL) {
        return;
    }
    SIM_CHECK(!node->sim->ran);
    SIM_GROW(fifo->keepers, fifo->keeper_count, &fifo->keeper_capacity);
    fifo->keepers[fifo->keeper_count++] = (sim_keeper_t){node, port, channel->index};
    node->kept_count = port >= node->kept_count ? port + 1 : node->kept_count;
}

static inline uint64_t kept_number(const sim_node_t *node, uint32_t port)
{
    return node->kept != NULL && port < node->kept_count ? node->kept[port] : 0;
}

bool sim_fifo_passed(const sim_node_t *node, uint32_t port)
{
    const sim_t *const sim = node->sim;
    if (sim->fifo == NULL) {
        return false;
    }
    const sim_line_t *const line = line_of(node);
    return !sim__lineage_before(sim, line, line->current, kept_number(node, port));
}

// -- wakes

// To so many nodes, at least.
static void give_queues(struct sim_fifo *fifo, size_t count)
{
    if (count <= fifo->wakes_capacity) {
        return;
    }
    const size_t capacity = count * 2;
    fifo->wakes = sim_realloc_array(fifo->wakes, capacity, sizeof(*fifo->wakes));
    while (fifo->wakes_capacity < capacity) {
        fifo->wakes[fifo->wakes_capacity++] = (sim_wake_queue_t){0};
    }
}

static void make_room(sim_wake_queue_t *queue)
{
    const uint32_t count = queue->end - queue->first;
    for (uint32_t i = 0; i < count; i++) {
        queue->wakes[i] = queue->wakes[queue->first + i];
    }
    queue->first = 0;
    queue->end = count;
    if (count > queue->capacity / 2 || queue->capacity == 0) {
        size_t capacity = queue->capacity;
        SIM_GROW(queue->wakes, capacity, &capacity);
        queue->capacity = (uint32_t)capacity;
    }
}

// Of those of one instant and number that asked for first comes first.
static __attribute__((noinline)) void keep_in_order(sim_node_t *node, sim_numbered_wake_t wake)
{
    const sim_t *const sim = node->sim;
    sim_wake_queue_t *const queue = &sim->fifo->wakes[node->index];
    if (queue->end == queue->capacity) {
        make_room(queue);
    }
    sim_numbered_wake_t *const wakes = queue->wakes;
    uint32_t i = queue->end++;
    for (; i > queue->first; i--) {
        const sim_numbered_wake_t *const other = &wakes[i - 1];
        if (other->time_ps < wake.time_ps ||
            (other->time_ps == wake.time_ps &&
             !sim__lineage_before(sim, line_of(node), wake.number, other->number))) {
            break;
        }
        wakes[i] = *other;
    }
    wakes[i] = wake;
    node->wake_ps = queue->wakes[queue->first].time_ps;
}

// Mostly it is the latest of its node's.
static inline void keep_wake(sim_node_t *node, sim_time_t time_ps, uint32_t port, uint64_t number)
{
    sim_wake_queue_t *const queue = &node->sim->fifo->wakes[node->index];
    const sim_numbered_wake_t wake = {time_ps, number, port};
    const uint32_t end = queue->end;
    if (SIM_UNLIKELY(end == queue->capacity) ||
        (end > queue->first && queue->wakes[end - 1].time_ps >= time_ps)) {
        keep_in_order(node, wake);
        return;
    }
    node->wake_ps = end == queue->first ? time_ps : node->wake_ps;
    queue->wakes[end] = wake;
    queue->end = end + 1;
}

// The number of a wake that has none of its own to come, or would have been before.
static __attribute__((noinline)) void wake_otherwise(sim_node_t *node,
                                                     sim_time_t time_ps,
                                                     uint32_t port,
                                                     uint64_t kept)
{
    const sim_t *const sim = node->sim;
    sim_line_t *const line = line_of(node);
    uint64_t number = kept;
    if (!sim->ran) {
        number = time_ps > 0 ? line->next++ : sim->fifo->next_first++;
        give_queues(sim->fifo, node->index + 1);
    } else if (kept == 0) {
        number = time_ps > node->now_ps ? line->next++ : line->current;
    } else if (time_ps == node->now_ps && sim__lineage_before(sim, line, kept, line->current)) {
        number = line->current; // its own is behind: at once
    }
    if (sim->ran && sim->listed) {
        sim__one_list_wake(node, time_ps, port, number);
    } else {
        keep_wake(node, time_ps, port, number);
    }
}

void sim__fifo_wake(sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    const uint64_t kept = kept_number(node, port);
    if (SIM_LIKELY(kept != 0 && time_ps > node->now_ps && !node->sim->listed)) {
        keep_wake(node, time_ps, port, kept);
    } else {
        wake_otherwise(node, time_ps, port, kept);
    }
}

// -- turns

void sim_need_one_list(sim_t *sim)
{
    if (sim->fifo != NULL) {
        SIM_CHECK(!sim->ran || sim->listed);
        sim->fifo->needs_list = true;
    }
}

bool sim_had_one_list(const sim_t *sim)
{
    return sim->listed;
}

void sim_take_turn(sim_node_t *node, sim_turn_fn fn, void *subject, uint64_t value)
{
    sim_line_t *const line = line_of(node);
    if (line->parent == NULL) {
        fn(node, subject, value);
        return;
    }
    SIM_CHECK(line->in_event);
    SIM_GROW(line->turns, line->turn_count, &line->turn_capacity);
    line->turns[line->turn_count++] =
        (sim_turn_t){line->next++, node, node->now_ps, fn, subject, value};
}

// -- before the run

bool sim__fifo_needs_list(const sim_t *sim)
{
    bool needed = sim->fifo->needs_list || sim->unit_count < sim->node_count;
    for (size_t i = 0; i < sim->node_count; i++) {
        needed = needed || sim->nodes[i]->ops->arrive == NULL;
    }
    return needed;
}

// Numbers of a node's ports lie together, away from those of others, which another thread may run.
static void seat_keepers(sim_t *sim)
{
    struct sim_fifo *const fifo = sim->fifo;
    size_t count = 0;
    for (size_t i = 0; i < sim->node_count; i++) {
        count += sim->nodes[i]->kept_count;
    }
    fifo->kept = sim_alloc_array(count + 1, sizeof(*fifo->kept));
    fifo->kept_at = sim_alloc_array(sim->channel_count + 1, sizeof(*fifo->kept_at));
    uint64_t *next = fifo->kept;
    for (size_t i = 0; i < sim->node_count; i++) {
        sim->nodes[i]->kept = next;
        next += sim->nodes[i]->kept_count;
    }
    for (size_t i = 0; i < fifo->keeper_count; i++) {
        const sim_keeper_t *const keeper = &fifo->keepers[i];
        fifo->kept_at[keeper->channel] = &keeper->node->kept[keeper->port];
    }
}

void sim__fifo_seat(sim_t *sim)
{
    struct sim_fifo *const fifo = sim->fifo;
    give_queues(fifo, sim->node_count);
    seat_keepers(sim);
    if (sim->listed) {
        sim__one_list_seat(sim);
    } else {
        sim__lineage_seat(sim);
    }
}
