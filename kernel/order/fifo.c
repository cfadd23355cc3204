// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo.c - ties by insertion: who takes a number, and when.
//
// The rules are the same in windows and in one list. The two rows differ in how numbers are
// compared (kernel/order/lineage.h) and in where an event that has a number waits.
#include "kernel/order/fifo.h"

#include "kernel/engine/timers/timers.h"
#include "kernel/engine_internal.h"
#include "kernel/order/order_internal.h"

#define FIRST_NUMBER (UINT64_C(1) << 32)

// -- life

void sim__fifo_create(sim_t *sim)
{
    sim->fifo = sim_alloc(sizeof(*sim->fifo));
    sim->fifo->next_first = 1;
    sim->threads[0]->line.next = FIRST_NUMBER;
}

void sim__fifo_destroy(sim_t *sim)
{
    struct sim_fifo *const fifo = sim->fifo;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim__line_fini(&sim->threads[t]->line);
    }
    for (size_t i = 0; i < fifo->wakes_capacity; i++) {
        sim_free(fifo->wakes[i].wakes);
    }
    SIM_FREE_ALL(fifo->wakes, fifo->keepers, fifo->kept);
    sim_free((void *)fifo->kept_at);
    sim_free((void *)fifo->parents);
    sim_free(fifo->live);
    sim_free(fifo);
}

// Numbers of a node's ports lie together, away from those of others, which another thread may run.
void sim__fifo_seat(sim_t *sim)
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
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim->threads[t]->line.kept_at = fifo->kept_at;
    }
}

// -- numbers

uint64_t sim__fifo_timer_number(const sim_node_t *node)
{
    return sim__line_of(node)->next++;
}

uint64_t sim__fifo_record_place(const sim_node_t *node)
{
    sim_line_t *const line = sim__line_of(node);
    return line->in_event ? line->next++ : node->index;
}

uint64_t sim__fifo_wake_number(const sim_node_t *node, sim_time_t time_ps, uint64_t kept)
{
    sim_line_t *const line = sim__line_of(node);
    if (kept == 0) {
        return time_ps > node->now_ps ? line->next++ : line->current;
    }
    // A wake due now whose own number is already behind the current event comes right after it.
    const bool is_behind =
        time_ps == node->now_ps && sim__lineage_before(node->sim, line, kept, line->current);
    return is_behind ? line->current : kept;
}

uint64_t sim_fifo_reserve(sim_t *sim, uint64_t count)
{
    if (sim->order->by_hash) {
        return 0;
    }
    SIM_CHECK(!sim->ran);
    const uint64_t first = sim->threads[0]->line.next;
    sim->threads[0]->line.next += count;
    return first;
}

void sim_fifo_arm(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps, uint64_t number)
{
    SIM_CHECK(!node->sim->order->by_hash && !sim_timer_armed(timer));
    sim__timer_arm_as(node, timer, time_ps, number);
}

void sim_channel_keeps_number(sim_node_t *node, sim_channel_t *channel, uint32_t port)
{
    if (node->sim->order->by_hash) {
        return;
    }
    SIM_CHECK(!node->sim->ran);
    struct sim_fifo *const fifo = node->sim->fifo;
    SIM_APPEND(fifo->keepers, fifo->keeper_count, fifo->keeper_capacity,
               (sim_keeper_t){node, port, channel->index});
    node->kept_count = port >= node->kept_count ? port + 1 : node->kept_count;
}

bool sim_fifo_passed(const sim_node_t *node, uint32_t port)
{
    const sim_t *const sim = node->sim;
    if (sim->order->by_hash) {
        return false;
    }
    const sim_line_t *const line = sim__line_of(node);
    return !sim__lineage_before(sim, line, line->current, sim__kept_number(node, port));
}

// -- turns

void sim_need_one_list(sim_t *sim)
{
    if (!sim->order->by_hash) {
        SIM_CHECK(!sim->ran || sim->order->one_list);
        sim->fifo->needs_list = true;
    }
}

bool sim_had_one_list(const sim_t *sim)
{
    return sim->order->one_list;
}

void sim_take_turn(sim_node_t *node, sim_turn_fn fn, void *subject, uint64_t value)
{
    const sim_t *const sim = node->sim;
    if (sim->order->take_turn == NULL || !sim->ran) {
        fn(node, subject, value);
    } else {
        sim->order->take_turn(node, fn, subject, value);
    }
}
