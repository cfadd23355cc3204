// SPDX-License-Identifier: Apache-2.0
// kernel/order/windows.c - ties by insertion where nodes run apart: the row for windows.
//
// A node's events of one instant run in the order of their numbers (kernel/order/lineage.h), and so
// do, between windows, the turns that events of different nodes have asked for. Wakes wait in a
// queue of their own at each node, since those of struct sim_node have no numbers.
#include <string.h>

#include "kernel/engine/mail.h"
#include "kernel/engine/window.h"
#include "kernel/engine_internal.h"
#include "kernel/order/order_internal.h"

// -- sending

static void send(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message)
{
    sim_thread_t *const thread = sim__thread_of(from);
    SIM_CHECKF(thread->line.parent != NULL, "%s sends before the run", from->name);
    *(sim_stamp_t *)message = sim__number_message(&thread->line, channel);
    sim__send_ahead(from, channel, arrive_ps, message, thread->worker.window_ps,
                    sim__send_by_slots);
}

// -- wakes

// Gives queues to the first `count` nodes, at least.
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

// Inserts `wake` into the node's queue, sorted by (time, number); equal keys keep insertion order.
static SIM_NOINLINE void keep_in_order(sim_node_t *node, sim_numbered_wake_t wake)
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
             !sim__lineage_before(sim, sim__line_of(node), wake.number, other->number))) {
            break;
        }
        wakes[i] = *other;
    }
    wakes[i] = wake;
    node->wake_ps = queue->wakes[queue->first].time_ps;
}

// Inserts a wake into the node's queue; mostly it is later than all others.
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

// Numbers and inserts a wake whose port keeps no number that is still to come.
static SIM_NOINLINE void wake_otherwise(sim_node_t *node, sim_time_t time_ps, uint32_t port,
                                        uint64_t kept)
{
    const sim_t *const sim = node->sim;
    uint64_t number;
    if (sim->ran) {
        number = sim__fifo_wake_number(node, time_ps, kept);
    } else {
        number = time_ps > 0 ? sim__line_of(node)->next++ : sim->fifo->next_first++;
        give_queues(sim->fifo, node->index + 1);
    }
    keep_wake(node, time_ps, port, number);
}

static void wake(sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    const uint64_t kept = sim__kept_number(node, port);
    if (SIM_LIKELY(kept != 0 && time_ps > node->now_ps)) {
        keep_wake(node, time_ps, port, kept);
    } else {
        wake_otherwise(node, time_ps, port, kept);
    }
}

// -- mail of one instant

// Returns the number of a message that is in flight.
static inline uint64_t stamp_of(const sim_mail_t *mail)
{
    return *(const sim_stamp_t *)mail->message;
}

#define FEW_MAIL 16u

// Sorts messages of one instant, all for the node, by number.
static void sort_ties(sim_node_t *node, sim_mail_t *mail, size_t count)
{
    const sim_t *const sim = node->sim;
    const sim_line_t *const line = sim__line_of(node);
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

// Notes that the current event has this number; it may become a parent.
static inline void begin_event(sim_line_t *line, sim_parent_t *parent, sim_time_t time_ps,
                               uint64_t number)
{
    line->current = number;
    *parent = (sim_parent_t){time_ps, number};
}

// Keeps the current event if it has scheduled something, and returns where the next event goes.
static inline sim_parent_t *end_event(sim_line_t *line, sim_parent_t *parent)
{
    if ((line->next & SIM_LINE_CALLS) == 0) {
        return parent;
    }
    line->next = (line->next | SIM_LINE_CALLS) + 1;
    if (SIM_UNLIKELY(parent + 1 == line->block_end)) {
        sim__line_open_block(line);
        return line->parent;
    }
    return parent + 1;
}

static void run_wake(sim_node_t *node, sim_line_t *line, sim_parent_t *parent,
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

static inline void run_arrival(sim_node_t *node, sim_line_t *line, sim_parent_t *parent,
                               sim_time_t time_ps)
{
    begin_event(line, parent, time_ps, stamp_of(node->mail));
    const sim_mail_t *const mail = sim__take_mail(node, time_ps);
    node->ops->arrive(node, sim_mail_port(mail), mail->message);
}

// Returns the kind of the first event of those that the node has at time_ps.
static SIM_NOINLINE sim_event_kind_t choose(const sim_node_t *node, const sim_line_t *line,
                                            const sim_wake_queue_t *queue, sim_time_t time_ps)
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

static void run_node(sim_node_t *node)
{
    sim_line_t *const line = sim__line_of(node);
    sim_wake_queue_t *const queue = &node->sim->fifo->wakes[node->index];
    const sim_time_t end_ps = node->run_end_ps;
    sim_parent_t *parent = line->parent;
    line->in_event = true;
    for (;;) {
        const sim_time_t mail_ps = sim__mail_time(node);
        const sim_time_t own_ps = SIM_MIN(node->wake_ps, node->timer_ps);
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

// -- turns

static void take_turn(sim_node_t *node, sim_turn_fn fn, void *subject, uint64_t value)
{
    sim_line_t *const line = sim__line_of(node);
    SIM_CHECK(line->in_event);
    SIM_APPEND(line->turns, line->turn_count, line->turn_capacity,
               (sim_turn_t){line->next++, node, node->now_ps, fn, subject, value});
}

// Calls the functions that wait for their turn (sim_take_turn), in the order of their numbers.
static void take_turns(sim_t *sim)
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

// -- life

// Moves on to one list if a program needs it, a kind of node runs only its own loop, or nodes are
// nearer to each other than a window.
static void settle(sim_t *sim)
{
    bool needed = sim->fifo->needs_list || sim->unit_count < sim->node_count;
    for (size_t i = 0; i < sim->node_count; i++) {
        needed = needed || sim->nodes[i]->ops->arrive == NULL;
    }
    give_queues(sim->fifo, sim->node_count);
    if (needed) {
        sim->order = &sim__order_in_one_list;
    }
}

static void seat(sim_t *sim)
{
    sim__fifo_seat(sim);
    sim__lineage_seat(sim);
}

static void sort_places(const sim_t *sim, sim_ranked_t *items, size_t count)
{
    sim__lineage_sort(sim, &sim->threads[0]->line, items, count);
}

const sim_order_ops_t sim__order_by_insertion = {
    .create = sim__fifo_create,
    .destroy = sim__fifo_destroy,
    .settle = settle,
    .seat = seat,
    .send = send,
    .wake = wake,
    .timer_number = sim__fifo_timer_number,
    .take_turn = take_turn,
    .run_window = sim__run_units,
    .run_node = run_node,
    .sort_ties = sort_ties,
    .end_window = take_turns,
    .begin_window = sim__lineage_renumber,
    .record_place = sim__fifo_record_place,
    .sort_places = sort_places,
};
