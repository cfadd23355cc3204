// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo.c - ties by insertion: who takes a number, and the loop over one list.
//
// Nodes take events one by one as their turn comes, all in the order of (time, number). A kind that
// only has a loop over sim_node_next, which knows another order, is shown one event at a time and
// nothing else, so that it need not know.
//
// A timer that is cancelled or moved stays in the list and is passed over there: its node knows by
// the number of its earliest one.
#include "kernel/order/fifo.h"

#include "kernel/engine_internal.h"
#include "kernel/order/event_list.h"

// What the loop needs of a node before it touches it.
typedef struct seat {
    sim_node_t *node;
    void (*take)(sim_node_t *node, const sim_event_t *event); // NULL: it is shown events
} seat_t;

struct sim_fifo {
    sim_event_list_t *list;
    seat_t *seats; // by node
    uint64_t next_number;
    uint64_t next_first; // before the run, of wakes at time 0: before all others
    uint64_t current;    // number of the event being run
    bool in_event;
    size_t waiting;                    // arrivals and wakes in the list
    sim_mail_t view[SIM_MAIL_PAD + 1]; // what sim_node_next sees: one arrival...
    sim_wake_t wake;                   // ...or one wake
};

#define FIRST_NUMBER (UINT64_C(1) << 32)

// -- life

struct sim_fifo *sim__fifo_create(void)
{
    struct sim_fifo *const fifo = sim_alloc_lines(sizeof(*fifo));
    fifo->list = sim__list_create();
    fifo->next_first = 1;
    fifo->next_number = FIRST_NUMBER;
    for (uint32_t i = 0; i <= SIM_MAIL_PAD; i++) {
        fifo->view[i] = (sim_mail_t){UINT64_MAX, NULL};
    }
    return fifo;
}

void sim__fifo_destroy(struct sim_fifo *fifo)
{
    if (fifo != NULL) {
        sim__list_destroy(fifo->list);
        sim_free(fifo->seats);
        sim_free(fifo);
    }
}

// -- numbers

uint64_t sim__fifo_stream_place(const sim_node_t *node)
{
    struct sim_fifo *const fifo = node->sim->fifo;
    return fifo->in_event ? fifo->next_number++ : node->index;
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

void sim_channel_keeps_number(sim_node_t *node, sim_channel_t *channel, uint32_t port)
{
    if (node->sim->fifo == NULL) {
        return;
    }
    SIM_CHECK(!node->sim->ran);
    if (port >= node->keeper_count) {
        node->keepers = sim_realloc_array((void *)node->keepers, port + 1, sizeof(*node->keepers));
        for (; node->keeper_count <= port; node->keeper_count++) {
            node->keepers[node->keeper_count] = NULL;
        }
    }
    node->keepers[port] = channel;
}

static inline uint64_t kept_number(const sim_node_t *node, uint32_t port)
{
    return port < node->keeper_count && node->keepers[port] != NULL ? node->keepers[port]->kept : 0;
}

bool sim_fifo_passed(const sim_node_t *node, uint32_t port)
{
    const struct sim_fifo *const fifo = node->sim->fifo;
    return fifo != NULL && kept_number(node, port) <= fifo->current;
}

// -- what is scheduled

void sim__fifo_send(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message)
{
    struct sim_fifo *const fifo = from->sim->fifo;
    SIM_CHECK(arrive_ps > from->now_ps && fifo->in_event);
    const uint64_t number = fifo->next_number;
    fifo->next_number = number + 2;
    fifo->waiting++;
    channel->kept = number;
    sim__list_add(fifo->list,
                  arrive_ps,
                  number + 1,
                  (sim_list_what_t){.message = message,
                                    .node = channel->box_bytes / (uint32_t)sizeof(sim_mailbox_t),
                                    .port = channel->port,
                                    .kind = SIM_EVENT_ARRIVAL});
}

void sim__fifo_wake(sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    struct sim_fifo *const fifo = node->sim->fifo;
    uint64_t number = kept_number(node, port);
    if (SIM_UNLIKELY(!node->sim->ran)) {
        number = time_ps > 0 ? fifo->next_number++ : fifo->next_first++;
    } else if (number == 0) {
        number = time_ps > node->now_ps ? fifo->next_number++ : fifo->current;
    } else if (time_ps == node->now_ps && number < fifo->current) {
        number = fifo->current; // its own is behind: at once
    }
    fifo->waiting++;
    sim__list_add(fifo->list,
                  time_ps,
                  number,
                  (sim_list_what_t){.message = node,
                                    .node = node->index,
                                    .port = (uint16_t)port,
                                    .kind = SIM_EVENT_WAKE});
}

uint64_t sim__fifo_take_number(const sim_t *sim)
{
    return sim->fifo->next_number++;
}

void sim__fifo_timer(sim_node_t *node, sim_time_t time_ps, uint64_t number)
{
    sim__list_add(node->sim->fifo->list,
                  time_ps,
                  number,
                  (sim_list_what_t){.message = node, .node = node->index, .kind = SIM_EVENT_TIMER});
}

bool sim__fifo_waiting(const sim_t *sim)
{
    return sim->fifo->waiting > 0;
}

// -- running

void sim__fifo_seat(const sim_t *sim)
{
    seat_t *const seats = sim_alloc_lines((sim->node_count + 1) * sizeof(*seats));
    for (size_t i = 0; i < sim->node_count; i++) {
        seats[i] = (seat_t){sim->nodes[i], sim->nodes[i]->ops->take};
    }
    sim->fifo->seats = seats;
}

// Its timer was cancelled or moved.
static inline bool is_stale(const void *ctx, const sim_list_event_t *event)
{
    if (SIM_LIKELY(event->what.kind != SIM_EVENT_TIMER)) {
        return false;
    }
    const sim_t *const sim = ctx;
    const sim_node_t *const node = sim->nodes[event->what.node];
    return node->timer_count == 0 || node->timers[0].sequence != sim__list_number(event);
}

sim_time_t sim__fifo_next_ps(const sim_t *sim)
{
    return sim__list_next_ps(sim->fifo->list, is_stale, sim);
}

// Shows the node one event, and nothing else.
static void show(struct sim_fifo *fifo, sim_node_t *node, sim_list_what_t what, sim_time_t time_ps)
{
    node->window_start_ps = time_ps;
    switch ((sim_event_kind_t)what.kind) {
    case SIM_EVENT_ARRIVAL:
        fifo->view[0] = (sim_mail_t){what.port, what.message};
        node->mail = fifo->view;
        break;
    case SIM_EVENT_WAKE:
        fifo->wake = (sim_wake_t){time_ps, what.port};
        node->wakes = &fifo->wake;
        node->wake_end = 1; // of capacity 0: what the node asks for comes to sim__fifo_wake
        node->wake_ps = time_ps;
        break;
    case SIM_EVENT_TIMER:
        node->timer_ps = time_ps;
        break;
    }
    const sim_time_t sample_ps = node->run_end_ps;
    node->run_end_ps = time_ps + 1;
    node->ops->run(node);
    node->run_end_ps = sample_ps;
}

// What is due up to an event of the node: it looks until then as it does now. It is looked at again
// when its events reach run_end_ps.
static void sample(struct sim_fifo *fifo, sim_node_t *node, sim_time_t time_ps)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    fifo->in_event = false;
    for (sim_sampler_t *s = node->samplers; s != NULL; s = s->next) {
        for (; s->next_ps <= time_ps; s->next_ps += s->period_ps) {
            s->fn(node, s->next_ps, s->ctx);
        }
        next_ps = s->next_ps < next_ps ? s->next_ps : next_ps;
    }
    fifo->in_event = true;
    node->run_end_ps = next_ps;
}

// Hands an arrival or a wake over.
static inline void hand_over(seat_t seat, const sim_list_what_t *what, sim_time_t time_ps)
{
    sim_node_t *const node = seat.node;
    sim_event_t event;
    event.kind = (sim_event_kind_t)what->kind;
    event.port = what->port;
    event.message = what->message;
    node->now_ps = time_ps;
    node->events++;
    if (what->kind == SIM_EVENT_ARRIVAL) {
        node->digest = sim__digest_arrival(node->digest, time_ps, what->port);
    }
    seat.take(node, &event);
}

static __attribute__((noinline)) void hand_over_timer(seat_t seat, sim_time_t time_ps)
{
    seat.node->timer_ps = time_ps;
    const sim_event_t event = {.kind = SIM_EVENT_TIMER, .timer = sim__timer_pop(seat.node)};
    seat.take(seat.node, &event);
}

void sim__fifo_run_window(sim_thread_t *thread, sim_time_t end_ps)
{
    const sim_t *const sim = thread->sim;
    struct sim_fifo *const fifo = sim->fifo;
    sim_event_list_t *const list = fifo->list;
    const sim_list_event_t *event;
    sim_time_t time_ps;
    fifo->in_event = true;
    while ((event = sim__list_first(list, end_ps, &time_ps)) != NULL) {
        const sim_list_what_t what = event->what; // events move as others are added
        const seat_t seat = fifo->seats[what.node];
        if (SIM_UNLIKELY(is_stale(sim, event))) {
            sim__list_take(list);
            continue;
        }
        fifo->current = sim__list_number(event);
        sim__list_take(list);
        if (SIM_UNLIKELY(time_ps >= seat.node->run_end_ps)) {
            sample(fifo, seat.node, time_ps);
        }
        fifo->waiting -= what.kind != SIM_EVENT_TIMER;
        if (SIM_UNLIKELY(seat.take == NULL)) {
            show(fifo, seat.node, what, time_ps);
        } else if (SIM_UNLIKELY(what.kind == SIM_EVENT_TIMER)) {
            hand_over_timer(seat, time_ps);
        } else {
            hand_over(seat, &what, time_ps);
        }
    }
    fifo->in_event = false;
    const sim_time_t next_ps = sim__fifo_next_ps(sim);
    thread->next_window =
        next_ps >= sim->options.until_ps ? SIM_NO_WINDOW : next_ps / sim->window_ps;
}
