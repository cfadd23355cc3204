// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo_run.c - the events of a node, or of a unit, in order of (time, place).
//
// A node's own order is (time, class, port) and is built into sim_node_next. Here the node is shown
// one event at a time, and nothing else, so that kinds of nodes need not know. Nodes of one unit
// run as one list of events.
#include "kernel/order/fifo_internal.h"

typedef struct next {
    sim_time_t time_ps;
    uint64_t place;
    sim_event_kind_t kind;
} next_t;

static inline bool before(sim_time_t a_ps, uint64_t a_place, sim_time_t b_ps, uint64_t b_place)
{
    return a_ps != b_ps ? a_ps < b_ps : a_place < b_place;
}

// The node's next event; without any, one at or beyond the end of every window.
static inline next_t next_of(const sim_node_t *node)
{
    const struct sim_fifo_node *const own = node->fifo;
    next_t next = {node->window_start_ps + (own->mail->key >> SIM_PORT_BITS),
                   own->mail->place,
                   SIM_EVENT_ARRIVAL};
    if (own->wake_first != own->wake_end) {
        const sim_fifo_wake_t *const wake = &own->wakes[own->wake_first];
        if (before(wake->time_ps, wake->place, next.time_ps, next.place)) {
            next = (next_t){wake->time_ps, wake->place, SIM_EVENT_WAKE};
        }
    }
    if (node->timer_count > 0) {
        const sim_timer_entry_t *const timer = &node->timers[0];
        if (before(timer->time_ps, timer->sequence, next.time_ps, next.place)) {
            next = (next_t){timer->time_ps, timer->sequence, SIM_EVENT_TIMER};
        }
    }
    return next;
}

static sim_time_t next_sample_ps(const sim_node_t *node)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (const sim_sampler_t *s = node->samplers; s != NULL; s = s->next) {
        next_ps = s->next_ps < next_ps ? s->next_ps : next_ps;
    }
    return next_ps;
}

static void sample_before(sim_node_t *node, sim_time_t time_ps)
{
    for (sim_sampler_t *s = node->samplers; s != NULL; s = s->next) {
        while (s->next_ps <= time_ps) {
            s->fn(node, s->next_ps, s->ctx);
            s->next_ps += s->period_ps;
        }
    }
    node->fifo->sample_ps = next_sample_ps(node);
}

static inline void run_event(struct sim_fifo_log *log, sim_node_t *node, const next_t *next)
{
    struct sim_fifo_node *const own = node->fifo;
    if (SIM_UNLIKELY(own->sample_ps <= next->time_ps)) {
        sample_before(node, next->time_ps);
    }
    switch (next->kind) {
    case SIM_EVENT_ARRIVAL:
        log->view[0] = (sim_mail_t){own->mail->key, own->mail->message};
        node->mail = log->view;
        own->mail++;
        __builtin_prefetch(own->mail[4].message);
        break;
    case SIM_EVENT_WAKE:
        log->wake = (sim_wake_t){next->time_ps, own->wakes[own->wake_first].port};
        node->wakes = &log->wake;
        node->wake_end = 1; // of capacity 0: what the node asks for comes to sim__fifo_wake
        node->wake_ps = next->time_ps;
        if (++own->wake_first == own->wake_end) {
            own->wake_first = own->wake_end = 0;
        }
        break;
    case SIM_EVENT_TIMER:
        node->timer_ps = next->time_ps;
        break;
    }
    node->run_end_ps = next->time_ps + 1;
    log->current = next->place;
    log->now_ps = next->time_ps;
    log->open = false;
    log->in_event = true;
    node->ops->run(node);
    log->in_event = false;
}

// -- before and after a node runs

static void enter(sim_thread_t *thread, sim_node_t *node)
{
    sim__fifo_gather(thread, node);
    node->fifo->sample_ps = next_sample_ps(node);
    node->mail = sim__no_mail;
    node->wake_ps = SIM_TIME_NEVER;
    node->timer_ps = SIM_TIME_NEVER;
}

// Shows the others of the engine what the node will do next, and returns when.
static sim_time_t leave(sim_thread_t *thread, sim_node_t *node)
{
    struct sim_fifo_node *const own = node->fifo;
    SIM_CHECK(node->wake_ps == SIM_TIME_NEVER);
    thread->cut |= own->mail->key != UINT64_MAX;
    node->mail = sim__no_mail;
    node->wakes = NULL;
    for (uint32_t i = own->wake_first; i < own->wake_end; i++) {
        if ((own->wakes[i].place & SIM__FIFO_HERE) != 0) {
            sim__fifo_pend(thread->fifo, &own->wakes[i].place);
        }
    }
    if (own->wake_first != own->wake_end) {
        node->wake_ps = own->wakes[own->wake_first].time_ps;
    }
    if (node->timer_count > 0) {
        node->timer_ps = node->timers[0].time_ps;
    }
    return node->wake_ps < node->timer_ps ? node->wake_ps : node->timer_ps;
}

// Timers armed in this window that will fire in a later one.
static void pend_timers(struct sim_fifo_log *log)
{
    for (size_t i = 0; i < log->armed_count; i++) {
        const sim_fifo_armed_t *const armed = &log->armed[i];
        if (armed->timer != NULL) {
            sim__fifo_pend(log, &armed->node->timers[armed->timer->position].sequence);
        }
    }
    log->armed_count = 0;
}

// -- units of several nodes: a binary heap by what each does next

static inline bool node_before(const sim_node_t *a, const sim_node_t *b)
{
    return before(a->fifo->next_ps, a->fifo->next_place, b->fifo->next_ps, b->fifo->next_place);
}

static inline void look_ahead(sim_node_t *node)
{
    const next_t next = next_of(node);
    node->fifo->next_ps = next.time_ps;
    node->fifo->next_place = next.place;
}

static void sift_up(sim_unit_t *unit, uint32_t position, sim_node_t *node)
{
    while (position > 0) {
        sim_node_t *const parent = unit->heap[(position - 1) / 2];
        if (!node_before(node, parent)) {
            break;
        }
        unit->heap[position] = parent;
        parent->unit_position = position;
        position = (position - 1) / 2;
    }
    unit->heap[position] = node;
    node->unit_position = position;
}

static void sift_down(sim_unit_t *unit, uint32_t position, sim_node_t *node)
{
    for (;;) {
        uint32_t child = position * 2 + 1;
        if (child >= unit->heap_count) {
            break;
        }
        if (child + 1 < unit->heap_count && node_before(unit->heap[child + 1], unit->heap[child])) {
            child++;
        }
        if (!node_before(unit->heap[child], node)) {
            break;
        }
        unit->heap[position] = unit->heap[child];
        unit->heap[position]->unit_position = position;
        position = child;
    }
    unit->heap[position] = node;
    node->unit_position = position;
}

void sim__fifo_heap_lower(sim_unit_t *unit, sim_node_t *node)
{
    look_ahead(node);
    sift_up(unit, node->unit_position, node);
}

static sim_time_t run_together(sim_thread_t *thread, sim_unit_t *unit, sim_time_t end_ps)
{
    unit->heap_count = 0;
    for (uint32_t i = 0; i < unit->count; i++) {
        enter(thread, unit->members[i]);
        look_ahead(unit->members[i]);
        sift_up(unit, unit->heap_count++, unit->members[i]);
    }
    for (;;) {
        sim_node_t *const node = unit->heap[0];
        const next_t next = next_of(node);
        if (next.time_ps >= end_ps) {
            break;
        }
        run_event(thread->fifo, node, &next);
        look_ahead(node);
        sift_down(unit, 0, node); // nobody went before it: what it sent comes later
    }
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (uint32_t i = 0; i < unit->count; i++) {
        const sim_time_t node_ps = leave(thread, unit->members[i]);
        next_ps = node_ps < next_ps ? node_ps : next_ps;
    }
    return next_ps;
}

// -- a unit

static sim_time_t run_alone(sim_thread_t *thread, sim_node_t *node, sim_time_t end_ps)
{
    enter(thread, node);
    for (;;) {
        const next_t next = next_of(node);
        if (next.time_ps >= end_ps) {
            break;
        }
        run_event(thread->fifo, node, &next);
    }
    return leave(thread, node);
}

sim_time_t sim__fifo_run_unit(sim_thread_t *thread, sim_unit_t *unit, sim_time_t end_ps)
{
    struct sim_fifo_log *const log = thread->fifo;
    if (SIM_UNLIKELY(log->visit_count == log->visit_capacity)) {
        SIM_GROW(log->visits, log->visit_count, &log->visit_capacity);
    }
    log->visits[log->visit_count++] = (uint32_t)log->record_count;
    const sim_time_t next_ps = unit->count == 1 ? run_alone(thread, unit->members[0], end_ps)
                                                : run_together(thread, unit, end_ps);
    pend_timers(log);
    return next_ps;
}

void sim__fifo_window_begins(sim_thread_t *thread)
{
    struct sim_fifo_log *const log = thread->fifo;
    for (size_t i = 0; i < log->pending_count; i++) {
        *log->pending[i] = sim__fifo_local_number(log, *log->pending[i]);
    }
    log->pending_count = 0;
    log->record_count = 0;
    log->visit_count = 0;
    log->slot = thread->worker.slot;
    log->window_start_ps = thread->worker.window_start_ps;
}
