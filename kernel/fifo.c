// SPDX-License-Identifier: Apache-2.0
// kernel/fifo.c - the event list of a simulation whose ties go by insertion.
//
// A wheel of buckets of 1024 ps, each a list in order of (time, number), takes what is near; a heap
// takes the rest. Numbers rise, so what is added is mostly the last of its bucket. Nodes are handed
// their events one by one through the fields the other engine uses, so that they need not know.
#include "kernel/fifo.h"

#include "kernel/engine_internal.h"

#define BUCKET_BITS 10u
#define WHEEL_BITS 14u
#define WHEEL_BUCKETS (1u << WHEEL_BITS)
#define WHEEL_WORDS (WHEEL_BUCKETS / 64)
#define EVENTS_PER_CHUNK 1024u

typedef struct fifo_event {
    struct fifo_event *next;
    sim_time_t time_ps;
    uint64_t number;
    sim_node_t *node;
    void *message; // arrivals
    uint32_t port; // arrivals, wakes
    uint32_t kind; // sim_event_kind_t
} fifo_event_t;

typedef struct fifo_bucket {
    fifo_event_t *first;
    fifo_event_t *last;
} fifo_bucket_t;

typedef struct fifo_far {
    sim_time_t time_ps;
    uint64_t number;
    fifo_event_t *event;
} fifo_far_t;

struct sim_fifo {
    uint64_t next_number;
    uint64_t current_number; // of the event being run
    uint64_t cursor;         // bucket, counted from time 0, that the present is in
    uint64_t near_count;
    uint64_t busy_count; // arrivals and wakes in the list
    fifo_bucket_t buckets[WHEEL_BUCKETS];
    uint64_t used[WHEEL_WORDS];
    fifo_far_t *far; // binary heap
    size_t far_count;
    size_t far_capacity;
    fifo_event_t *free_events;
    fifo_event_t **chunks;
    size_t chunk_count;
    size_t chunk_capacity;
    uint64_t **kept; // [node][port]: the number kept for the next wake there
    uint32_t *kept_ports;
    size_t kept_nodes;
    sim_mail_t mail[SIM_MAIL_PAD + 1]; // what the node being run sees
    sim_wake_t wake;
};

struct sim_fifo *sim__fifo_create(void)
{
    struct sim_fifo *const fifo = sim_alloc_lines(sizeof(*fifo));
    fifo->next_number = 1;
    for (uint32_t i = 0; i <= SIM_MAIL_PAD; i++) {
        fifo->mail[i] = (sim_mail_t){UINT64_MAX, NULL};
    }
    return fifo;
}

void sim__fifo_destroy(struct sim_fifo *fifo)
{
    if (fifo == NULL) {
        return;
    }
    for (size_t i = 0; i < fifo->chunk_count; i++) {
        sim_free(fifo->chunks[i]);
    }
    for (size_t i = 0; i < fifo->kept_nodes; i++) {
        sim_free(fifo->kept[i]);
    }
    sim_free(fifo->chunks);
    sim_free(fifo->kept);
    sim_free(fifo->kept_ports);
    sim_free(fifo->far);
    sim_free(fifo);
}

// -- numbers kept for the end of a transmission

void sim_channel_keeps_number(const sim_node_t *from, const sim_channel_t *channel, uint32_t port)
{
    struct sim_fifo *const fifo = from->sim->fifo;
    if (fifo == NULL) {
        return;
    }
    SIM_CHECK(!from->sim->ran);
    sim_channel_ends_t *const ends = sim__ends(from->sim, channel);
    const size_t node = from->index;
    if (node >= fifo->kept_nodes) {
        const size_t count = from->sim->node_count;
        fifo->kept = sim_realloc_array(fifo->kept, count, sizeof(*fifo->kept));
        fifo->kept_ports = sim_realloc_array(fifo->kept_ports, count, sizeof(*fifo->kept_ports));
        for (size_t i = fifo->kept_nodes; i < count; i++) {
            fifo->kept[i] = NULL;
            fifo->kept_ports[i] = 0;
        }
        fifo->kept_nodes = count;
    }
    if (port >= fifo->kept_ports[node]) {
        fifo->kept[node] = sim_realloc_array(fifo->kept[node], port + 1, sizeof(uint64_t));
        for (uint32_t p = fifo->kept_ports[node]; p <= port; p++) {
            fifo->kept[node][p] = 0;
        }
        fifo->kept_ports[node] = port + 1;
    }
    ends->from_port = port;
    ends->keeps_number = true;
}

static uint64_t kept_number(const struct sim_fifo *fifo, const sim_node_t *node, uint32_t port)
{
    const bool keeps = node->index < fifo->kept_nodes && port < fifo->kept_ports[node->index];
    return keeps ? fifo->kept[node->index][port] : 0;
}

bool sim_fifo_ties(const sim_node_t *node)
{
    return node->sim->fifo != NULL;
}

bool sim_fifo_passed(const sim_node_t *node, uint32_t port)
{
    const struct sim_fifo *const fifo = node->sim->fifo;
    return fifo != NULL && kept_number(fifo, node, port) <= fifo->current_number;
}

uint64_t sim_fifo_reserve(sim_t *sim, uint64_t count)
{
    if (sim->fifo == NULL) {
        return 0;
    }
    const uint64_t first = sim->fifo->next_number;
    sim->fifo->next_number += count;
    return first;
}

// -- the list

static inline bool before(sim_time_t a_ps, uint64_t a_number, sim_time_t b_ps, uint64_t b_number)
{
    return a_ps != b_ps ? a_ps < b_ps : a_number < b_number;
}

static fifo_event_t *new_event(struct sim_fifo *fifo)
{
    if (fifo->free_events == NULL) {
        fifo_event_t *const chunk = sim_alloc_array(EVENTS_PER_CHUNK, sizeof(*chunk));
        SIM_GROW(fifo->chunks, fifo->chunk_count, &fifo->chunk_capacity);
        fifo->chunks[fifo->chunk_count++] = chunk;
        for (uint32_t i = 0; i < EVENTS_PER_CHUNK; i++) {
            chunk[i].next = fifo->free_events;
            fifo->free_events = &chunk[i];
        }
    }
    fifo_event_t *const event = fifo->free_events;
    fifo->free_events = event->next;
    return event;
}

static void add_far(struct sim_fifo *fifo, fifo_event_t *event)
{
    SIM_GROW(fifo->far, fifo->far_count, &fifo->far_capacity);
    fifo_far_t *const heap = fifo->far;
    size_t i = fifo->far_count++;
    while (i > 0 && before(event->time_ps,
                           event->number,
                           heap[(i - 1) / 2].time_ps,
                           heap[(i - 1) / 2].number)) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = (fifo_far_t){event->time_ps, event->number, event};
}

static fifo_event_t *take_far(struct sim_fifo *fifo)
{
    fifo_far_t *const heap = fifo->far;
    fifo_event_t *const event = heap[0].event;
    const fifo_far_t last = heap[--fifo->far_count];
    size_t i = 0;
    for (;;) {
        size_t child = i * 2 + 1;
        if (child >= fifo->far_count) {
            break;
        }
        if (child + 1 < fifo->far_count && before(heap[child + 1].time_ps,
                                                  heap[child + 1].number,
                                                  heap[child].time_ps,
                                                  heap[child].number)) {
            child++;
        }
        if (!before(heap[child].time_ps, heap[child].number, last.time_ps, last.number)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return event;
}

// Behind everything of the same time whose number is not higher.
static void add_near(fifo_bucket_t *bucket, fifo_event_t *event)
{
    event->next = NULL;
    if (bucket->first == NULL) {
        bucket->first = bucket->last = event;
        return;
    }
    const fifo_event_t *const last = bucket->last;
    if (!before(event->time_ps, event->number, last->time_ps, last->number)) {
        bucket->last->next = event;
        bucket->last = event;
        return;
    }
    fifo_event_t **link = &bucket->first;
    while (!before(event->time_ps, event->number, (*link)->time_ps, (*link)->number)) {
        link = &(*link)->next;
    }
    event->next = *link;
    *link = event;
}

static void add(struct sim_fifo *fifo, fifo_event_t event)
{
    fifo_event_t *const kept = new_event(fifo);
    *kept = event;
    fifo->busy_count += event.kind != SIM_EVENT_TIMER;
    const uint64_t bucket = event.time_ps >> BUCKET_BITS;
    if (bucket - fifo->cursor >= WHEEL_BUCKETS) {
        add_far(fifo, kept);
        return;
    }
    const uint32_t index = (uint32_t)bucket & (WHEEL_BUCKETS - 1);
    add_near(&fifo->buckets[index], kept);
    fifo->used[index / 64] |= UINT64_C(1) << (index & 63);
    fifo->near_count++;
}

// The bucket of the first event of the wheel, counted from time 0; near_count > 0.
static uint64_t first_bucket(const struct sim_fifo *fifo)
{
    const uint32_t index = (uint32_t)fifo->cursor & (WHEEL_BUCKETS - 1);
    uint64_t word = fifo->used[index / 64] & (UINT64_MAX << (index & 63));
    uint32_t at = index / 64;
    for (uint32_t words = 0; word == 0; words++) {
        SIM_CHECK(words <= WHEEL_WORDS);
        at = (at + 1) & (WHEEL_WORDS - 1);
        word = fifo->used[at];
    }
    const uint32_t found = at * 64 + (uint32_t)__builtin_ctzll(word);
    return fifo->cursor + ((found - index) & (WHEEL_BUCKETS - 1));
}

// The next event; it stays in the list. NULL: none.
static const fifo_event_t *peek(const struct sim_fifo *fifo, uint64_t *bucket)
{
    const fifo_event_t *event = NULL;
    if (fifo->near_count > 0) {
        *bucket = first_bucket(fifo);
        event = fifo->buckets[*bucket & (WHEEL_BUCKETS - 1)].first;
    }
    if (fifo->far_count > 0 &&
        (event == NULL ||
         before(fifo->far[0].time_ps, fifo->far[0].number, event->time_ps, event->number))) {
        *bucket = UINT64_MAX;
        event = fifo->far[0].event;
    }
    return event;
}

// Events of one bucket are of different nodes, seldom used lately: what the next ones need is
// fetched while this one runs, as far as it can be named.
static inline void prefetch_next(const fifo_event_t *next)
{
    if (next == NULL) {
        return;
    }
    __builtin_prefetch(next->message);
    for (uint32_t line = 0; line < 4; line++) {
        __builtin_prefetch((const char *)next->node + line * SIM_CACHE_LINE);
    }
    if (next->next != NULL) {
        __builtin_prefetch(next->next->next);
        __builtin_prefetch(next->next->message);
        __builtin_prefetch(next->next->node);
    }
}

// Takes what peek returned.
static fifo_event_t take(struct sim_fifo *fifo, uint64_t bucket)
{
    fifo_event_t *event;
    if (bucket == UINT64_MAX) {
        event = take_far(fifo);
    } else {
        const uint32_t index = (uint32_t)bucket & (WHEEL_BUCKETS - 1);
        fifo_bucket_t *const from = &fifo->buckets[index];
        event = from->first;
        from->first = event->next;
        prefetch_next(event->next);
        if (from->first == NULL) {
            fifo->used[index / 64] &= ~(UINT64_C(1) << (index & 63));
        }
        fifo->near_count--;
    }
    const fifo_event_t copy = *event;
    fifo->busy_count -= copy.kind != SIM_EVENT_TIMER;
    event->next = fifo->free_events;
    fifo->free_events = event;
    fifo->cursor = copy.time_ps >> BUCKET_BITS;
    return copy;
}

// -- what nodes ask for

void sim__fifo_send(sim_t *sim, const sim_channel_t *channel, sim_time_t arrive_ps, void *message)
{
    struct sim_fifo *const fifo = sim->fifo;
    const sim_channel_ends_t *const ends = sim__ends(sim, channel);
    if (ends->keeps_number) {
        fifo->kept[ends->from->index][ends->from_port] = fifo->next_number++;
    }
    add(fifo,
        (fifo_event_t){.time_ps = arrive_ps,
                       .number = fifo->next_number++,
                       .node = ends->to,
                       .message = message,
                       .port = channel->port,
                       .kind = SIM_EVENT_ARRIVAL});
}

void sim__fifo_wake(sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    struct sim_fifo *const fifo = node->sim->fifo;
    uint64_t number = kept_number(fifo, node, port);
    if (number == 0) {
        number = time_ps > node->now_ps ? fifo->next_number++ : fifo->current_number;
    } else if (time_ps == node->now_ps && number < fifo->current_number) {
        number = fifo->current_number; // the place is behind: at once
    }
    add(fifo,
        (fifo_event_t){.time_ps = time_ps,
                       .number = number,
                       .node = node,
                       .port = port,
                       .kind = SIM_EVENT_WAKE});
}

uint64_t sim__fifo_number(sim_node_t *node)
{
    return node->sim->fifo->next_number++;
}

// The earliest timer of the node may be another one now. One that was announced before and is no
// longer the earliest is recognised when its turn comes.
void sim__fifo_timers_changed(sim_node_t *node)
{
    node->timer_ps = SIM_TIME_NEVER;
    if (node->timer_count == 0 || node->timers[0].sequence == node->timer_announced) {
        return;
    }
    node->timer_announced = node->timers[0].sequence;
    add(node->sim->fifo,
        (fifo_event_t){.time_ps = node->timers[0].time_ps,
                       .number = node->timers[0].sequence,
                       .node = node,
                       .kind = SIM_EVENT_TIMER});
}

// -- running

// Shows the node one event, and nothing else, and lets it run. False: a timer that was moved.
static bool run_event(struct sim_fifo *fifo, const fifo_event_t *event)
{
    sim_node_t *const node = event->node;
    node->run_end_ps = event->time_ps + 1;
    switch ((sim_event_kind_t)event->kind) {
    case SIM_EVENT_ARRIVAL:
        node->window_start_ps = event->time_ps;
        fifo->mail[0] = (sim_mail_t){event->port, event->message};
        node->mail = fifo->mail;
        node->mail_count = 1;
        break;
    case SIM_EVENT_WAKE:
        fifo->wake = (sim_wake_t){event->time_ps, event->port};
        node->wakes = &fifo->wake;
        node->wake_end = 1; // of capacity 0: what the node asks for comes to sim__fifo_wake
        node->wake_ps = event->time_ps;
        break;
    case SIM_EVENT_TIMER:
        if (node->timer_count == 0 || node->timers[0].sequence != event->number ||
            node->timers[0].time_ps != event->time_ps) {
            return false;
        }
        node->timer_announced = UINT64_MAX;
        node->timer_ps = event->time_ps;
        break;
    }
    node->ops->run(node);
    node->mail = sim__no_mail;
    node->mail_count = 0;
    node->wakes = NULL;
    node->wake_first = node->wake_end = 0;
    SIM_CHECK(node->wake_ps == SIM_TIME_NEVER);
    return true;
}

static void sample_before(sim_node_t *node, sim_time_t time_ps)
{
    for (sim_sampler_t *s = node->samplers; s != NULL; s = s->next) {
        while (s->next_ps <= time_ps) {
            s->fn(node, s->next_ps, s->ctx);
            s->next_ps += s->period_ps;
        }
    }
}

sim_time_t sim__fifo_run(struct sim_fifo *fifo, sim_time_t end_ps)
{
    uint64_t bucket = 0;
    for (;;) {
        const fifo_event_t *const next = peek(fifo, &bucket);
        if (next == NULL || next->time_ps >= end_ps) {
            return next == NULL ? SIM_TIME_NEVER : next->time_ps;
        }
        const fifo_event_t event = take(fifo, bucket);
        fifo->current_number = event.number;
        if (event.node->samplers != NULL) {
            sample_before(event.node, event.time_ps);
        }
        (void)run_event(fifo, &event);
    }
}

sim_time_t sim__fifo_next_ps(const struct sim_fifo *fifo)
{
    uint64_t bucket = 0;
    const fifo_event_t *const next = peek(fifo, &bucket);
    return next == NULL ? SIM_TIME_NEVER : next->time_ps;
}

bool sim__fifo_busy(const struct sim_fifo *fifo)
{
    return fifo->busy_count > 0;
}
