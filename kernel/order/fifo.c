// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo.c - places: who takes one when something is scheduled, who keeps one until
// later.
//
// Before the run a place is a number at once; in the run it becomes one after the window.
#include <string.h>

#include "kernel/order/fifo_internal.h"

// -- life

struct sim_fifo *sim__fifo_create(void)
{
    struct sim_fifo *const fifo = sim_alloc(sizeof(*fifo));
    fifo->next_first = 1;
    fifo->next_number = UINT64_C(1) << 32;
    return fifo;
}

void sim__fifo_destroy(struct sim_fifo *fifo)
{
    if (fifo != NULL) {
        sim_free(fifo->sorted);
        sim_free(fifo->spread.starts);
        sim_free(fifo->runs);
        sim_free(fifo);
    }
}

struct sim_fifo_log *sim__fifo_log_create(unsigned thread)
{
    struct sim_fifo_log *const log = sim_alloc_lines(sizeof(*log));
    log->thread = thread;
    for (uint32_t i = 0; i <= SIM_MAIL_PAD; i++) {
        log->view[i] = (sim_mail_t){UINT64_MAX, NULL};
    }
    return log;
}

void sim__fifo_log_destroy(struct sim_fifo_log *log)
{
    if (log == NULL) {
        return;
    }
    for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
        sim_free(log->ranks[slot]);
    }
    sim_free(log->records);
    sim_free(log->visits);
    sim_free(log->armed);
    sim_free(log->pending);
    sim_free(log->stage);
    sim_free(log->batch);
    sim_free(log->spread.starts);
    sim_free(log);
}

struct sim_fifo_node *sim__fifo_node_create(void)
{
    return sim_alloc_lines(sizeof(struct sim_fifo_node));
}

void sim__fifo_node_destroy(struct sim_fifo_node *own)
{
    if (own != NULL) {
        sim_free(own->wakes);
        sim_free(own->kept);
        sim_free(own->own_mail);
        sim_free(own);
    }
}

// -- sorting by time

#define SPREAD_BITS_MIN 4u
#define SPREAD_BITS_MAX 16u

uint32_t *sim__fifo_spread(sim_fifo_spread_t *spread, size_t count, sim_time_t window_ps)
{
    const uint32_t window_bits = 64 - (uint32_t)__builtin_clzll(window_ps);
    uint32_t bits = SPREAD_BITS_MIN;
    while ((size_t)1 << bits < count && bits < SPREAD_BITS_MAX) {
        bits++;
    }
    spread->shift = window_bits > bits ? window_bits - bits : 0;
    spread->buckets = (uint32_t)((window_ps - 1) >> spread->shift) + 1;
    if (spread->capacity < spread->buckets) {
        spread->capacity = spread->buckets;
        spread->starts =
            sim_realloc_array(spread->starts, spread->capacity, sizeof(*spread->starts));
    }
    memset(spread->starts, 0, spread->buckets * sizeof(*spread->starts));
    return spread->starts;
}

void sim__fifo_spread_sum(sim_fifo_spread_t *spread)
{
    uint32_t sum = 0;
    for (uint32_t b = 0; b < spread->buckets; b++) {
        const uint32_t in_bucket = spread->starts[b];
        spread->starts[b] = sum;
        sum += in_bucket;
    }
}

// -- places

void sim__fifo_more_records(struct sim_fifo_log *log)
{
    SIM_CHECKF(log->record_count < 1u << (SIM__FIFO_RECORD_BITS - 1),
               "%zu events in a window",
               log->record_count);
    SIM_GROW(log->records, log->record_count, &log->record_capacity);
}

uint64_t sim__fifo_stream_place(const sim_node_t *node)
{
    struct sim_fifo_log *const log = sim__fifo_log(node);
    return log->in_event ? sim__fifo_take(log, 1) : node->index;
}

uint64_t sim__fifo_stream_number(const sim_thread_t *thread, uint64_t place)
{
    return (place & SIM__FIFO_HERE) != 0 ? sim__fifo_local_number(thread->fifo, place) : place;
}

uint64_t sim_fifo_reserve(sim_t *sim, uint64_t count)
{
    if (sim->fifo == NULL) {
        return 0;
    }
    SIM_CHECK(!sim->ran);
    const uint64_t first = sim->fifo->next_number;
    sim->fifo->next_number += count;
    return first;
}

// -- places kept for the end of a transmission

void sim_channel_keeps_number(const sim_node_t *from, const sim_channel_t *channel, uint32_t port)
{
    struct sim_fifo_node *const own = from->fifo;
    if (own == NULL) {
        return;
    }
    SIM_CHECK(!from->sim->ran);
    if (port >= own->kept_count) {
        own->kept = sim_realloc_array(own->kept, port + 1, sizeof(*own->kept));
        for (; own->kept_count <= port; own->kept_count++) {
            own->kept[own->kept_count] = 0;
        }
    }
    sim_channel_ends_t *const ends = sim__ends(from->sim, channel);
    ends->from_port = port;
    ends->keeps_number = true;
}

static inline uint64_t kept_place(const struct sim_fifo_node *own, uint32_t port)
{
    return port < own->kept_count ? own->kept[port] : 0;
}

bool sim_fifo_passed(const sim_node_t *node, uint32_t port)
{
    return node->fifo != NULL && kept_place(node->fifo, port) <= sim__fifo_log(node)->current;
}

// -- wakes

// Room for one more wake at the end.
static void make_room(struct sim_fifo_node *own)
{
    const uint32_t count = own->wake_end - own->wake_first;
    if (own->wake_first <= count) {
        size_t capacity = own->wake_capacity;
        SIM_GROW(own->wakes, own->wake_end, &capacity);
        own->wake_capacity = (uint32_t)capacity;
    }
    memmove(own->wakes, own->wakes + own->wake_first, count * sizeof(*own->wakes));
    own->wake_first = 0;
    own->wake_end = count;
}

static inline void add_wake(struct sim_fifo_node *own,
                            sim_time_t time_ps,
                            uint64_t place,
                            uint32_t port)
{
    if (SIM_UNLIKELY(own->wake_end == own->wake_capacity)) {
        make_room(own);
    }
    sim_fifo_wake_t *wake = &own->wakes[own->wake_end++];
    const sim_fifo_wake_t *const first = &own->wakes[own->wake_first];
    while (wake > first && (wake[-1].time_ps > time_ps ||
                            (wake[-1].time_ps == time_ps && wake[-1].place > place))) {
        *wake = wake[-1];
        wake--;
    }
    wake->time_ps = time_ps;
    wake->place = place;
    wake->port = port;
}

void sim__fifo_wake(sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    struct sim_fifo_node *const own = node->fifo;
    if (SIM_UNLIKELY(!node->sim->ran)) {
        struct sim_fifo *const fifo = node->sim->fifo;
        const uint64_t number = time_ps > 0 ? fifo->next_number++ : fifo->next_first++;
        add_wake(own, time_ps, number, port);
        node->wake_ps = own->wakes[own->wake_first].time_ps;
        return;
    }
    struct sim_fifo_log *const log = sim__fifo_log(node);
    uint64_t place = kept_place(own, port);
    if (place == 0) {
        place = time_ps > node->now_ps ? sim__fifo_take(log, 1) : log->current;
    } else if (time_ps == node->now_ps && place < log->current) {
        place = log->current; // the place is behind: at once
    }
    add_wake(own, time_ps, place, port);
}

void sim__fifo_warm(const sim_node_t *node)
{
    const struct sim_fifo_node *const own = node->fifo;
    __builtin_prefetch(own->wakes);
    __builtin_prefetch(own->kept);
    __builtin_prefetch(node->timers);
}

// -- timers

uint64_t sim__fifo_timer_place(sim_node_t *node, sim_timer_t *timer)
{
    if (!node->sim->ran) {
        return node->sim->fifo->next_number++;
    }
    struct sim_fifo_log *const log = sim__fifo_log(node);
    const uint64_t place = sim__fifo_take(log, 1);
    if (SIM_UNLIKELY(log->armed_count == log->armed_capacity)) {
        SIM_CHECKF(log->armed_count < 1u << (SIM__FIFO_ARMED_BITS - 1),
                   "%zu timers armed in a window",
                   log->armed_count);
        SIM_GROW(log->armed, log->armed_count, &log->armed_capacity);
    }
    log->armed[log->armed_count++] = (sim_fifo_armed_t){node, timer};
    return place | log->armed_count;
}

// While its unit runs, sim_node_next sees a timer when it is its turn only.
void sim__fifo_timers_changed(sim_node_t *node, uint64_t gone)
{
    if (!node->sim->ran) {
        node->timer_ps = node->timer_count > 0 ? node->timers[0].time_ps : SIM_TIME_NEVER;
        return;
    }
    node->timer_ps = SIM_TIME_NEVER;
    if ((gone & SIM__FIFO_HERE) != 0) {
        const uint64_t armed = gone & ((1u << SIM__FIFO_ARMED_BITS) - 1);
        sim__fifo_log(node)->armed[armed - 1].timer = NULL;
    }
}
