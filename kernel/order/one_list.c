// SPDX-License-Identifier: Apache-2.0
// kernel/order/one_list.c - ties by insertion: the row that runs all events from one list.
//
// Events run one by one in the order of (time, number). A kind of node that has only a loop over
// sim_node_next, which sorts by another order, is shown one event at a time.
//
// A timer that is cancelled or moved stays in the list. It is skipped there if its number is not
// that of the node's earliest timer.
#include "kernel/engine_internal.h"
#include "kernel/order/event_list.h"
#include "kernel/order/order_internal.h"

// The facts about a node that the loop reads before it touches the node.
typedef struct seat {
    sim_node_t *node;
    const sim_node_ops_t *ops; // NULL: it is shown events
} seat_t;

struct sim_one_list {
    sim_event_list_t *list;
    seat_t *seats;                     // by node
    size_t waiting;                    // arrivals and wakes in the list
    sim_mail_t view[SIM_MAIL_PAD + 1]; // what sim_node_next sees: one arrival...
    sim_wake_t wake;                   // ...or one wake
};

static inline struct sim_one_list *list_of(const sim_node_t *node)
{
    return node->sim->fifo->list;
}

// -- scheduling

static void send(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message)
{
    struct sim_one_list *const list = list_of(from);
    sim_line_t *const line = sim__line_of(from);
    SIM_CHECK(arrive_ps > from->now_ps && line->in_event);
    list->waiting++;
    sim__list_add(list->list, arrive_ps, sim__number_message(line, channel),
                  (sim_list_what_t){.message = message,
                                    .node = channel->box_bytes / (uint32_t)sizeof(sim_mailbox_t),
                                    .port = channel->port,
                                    .kind = SIM_EVENT_ARRIVAL});
}

static void add_wake(sim_node_t *node, sim_time_t time_ps, uint32_t port, uint64_t number)
{
    struct sim_one_list *const list = list_of(node);
    list->waiting++;
    sim__list_add(list->list, time_ps, number,
                  (sim_list_what_t){.message = node,
                                    .node = node->index,
                                    .port = (uint16_t)port,
                                    .kind = SIM_EVENT_WAKE});
}

static void wake(sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    const uint64_t kept = sim__kept_number(node, port);
    add_wake(node, time_ps, port, sim__fifo_wake_number(node, time_ps, kept));
}

static void add_timer(sim_node_t *node, sim_time_t time_ps, uint64_t number)
{
    sim__list_add(list_of(node)->list, time_ps, number,
                  (sim_list_what_t){.message = node, .node = node->index, .kind = SIM_EVENT_TIMER});
}

static bool waiting(const sim_t *sim)
{
    return sim->fifo->list->waiting > 0;
}

// -- life

// Adds the wakes and timers that a node has asked for before the run.
static void add_first(const sim_t *sim, sim_node_t *node)
{
    sim_wake_queue_t *const queue = &sim->fifo->wakes[node->index];
    for (; queue->first < queue->end; queue->first++) {
        const sim_numbered_wake_t *const wake = &queue->wakes[queue->first];
        add_wake(node, wake->time_ps, wake->port, wake->number);
    }
    for (uint32_t i = 0; i < node->timer_count; i++) {
        add_timer(node, node->timers[i].time_ps, node->timers[i].sequence);
    }
    node->wake_ps = SIM_TIME_NEVER; // until it is its turn
    node->timer_ps = SIM_TIME_NEVER;
}

static void seat(sim_t *sim)
{
    sim__fifo_seat(sim);
    struct sim_one_list *const list = sim_alloc_lines(sizeof(*list));
    sim->fifo->list = list;
    list->list = sim__list_create();
    list->seats = sim_alloc_lines((sim->node_count + 1) * sizeof(*list->seats));
    for (uint32_t i = 0; i <= SIM_MAIL_PAD; i++) {
        list->view[i] = (sim_mail_t){UINT64_MAX, NULL};
    }
    for (size_t i = 0; i < sim->node_count; i++) {
        sim_node_t *const node = sim->nodes[i];
        list->seats[i] = (seat_t){node, node->ops->arrive != NULL ? node->ops : NULL};
        add_first(sim, node);
    }
}

static void destroy(sim_t *sim)
{
    sim__list_destroy(sim->fifo->list->list);
    sim_free(sim->fifo->list->seats);
    sim_free(sim->fifo->list);
    sim__fifo_destroy(sim);
}

// -- running

// Returns whether the event is of a timer that was cancelled or moved.
static inline bool is_stale(const void *ctx, const sim_list_event_t *event)
{
    if (SIM_LIKELY(event->what.kind != SIM_EVENT_TIMER)) {
        return false;
    }
    const sim_t *const sim = ctx;
    const sim_node_t *const node = sim->nodes[event->what.node];
    return node->timer_count == 0 || node->timers[0].sequence != sim__list_number(event);
}

static sim_time_t next_event_ps(const sim_t *sim)
{
    return sim__list_next_ps(sim->fifo->list->list, is_stale, sim);
}

// Runs node->ops->run with one event and nothing else to take.
static void show(struct sim_one_list *list, sim_node_t *node, sim_list_what_t what,
                 sim_time_t time_ps)
{
    node->window_start_ps = time_ps;
    switch ((sim_event_kind_t)what.kind) {
    case SIM_EVENT_ARRIVAL:
        list->view[0] = (sim_mail_t){what.port, what.message};
        node->mail = list->view;
        break;
    case SIM_EVENT_WAKE:
        list->wake = (sim_wake_t){time_ps, what.port};
        node->wakes = &list->wake;
        node->wake_end = 1; // of capacity 0: what the node asks for comes to `wake`
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
    node->wakes = NULL;
}

// Runs all samplers due before the node's next event (its state cannot change until then) and sets
// run_end_ps to the next sample time.
static void sample(sim_line_t *line, sim_node_t *node, sim_time_t time_ps)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    line->in_event = false;
    for (sim_sampler_t *s = node->samplers; s != NULL; s = s->next) {
        for (; s->next_ps <= time_ps; s->next_ps += s->period_ps) {
            s->fn(node, s->next_ps, s->ctx);
        }
        next_ps = SIM_MIN(s->next_ps, next_ps);
    }
    line->in_event = true;
    node->run_end_ps = next_ps;
}

// Hands an arrival or a wake to its node.
static inline void hand_over(seat_t seat, const sim_list_what_t *what, sim_time_t time_ps)
{
    sim_node_t *const node = seat.node;
    node->now_ps = time_ps;
    node->events++;
    if (what->kind == SIM_EVENT_ARRIVAL) {
        node->digest = sim__digest_arrival(node->digest, time_ps, what->port);
        seat.ops->arrive(node, what->port, what->message);
    } else {
        const sim_event_t event = {.kind = SIM_EVENT_WAKE, .port = what->port};
        seat.ops->take(node, &event);
    }
}

static SIM_NOINLINE void hand_over_timer(seat_t seat, sim_time_t time_ps)
{
    seat.node->timer_ps = time_ps;
    const sim_event_t event = {.kind = SIM_EVENT_TIMER, .timer = sim__timer_pop(seat.node)};
    seat.ops->take(seat.node, &event);
}

static void run_window(sim_thread_t *thread, sim_time_t end_ps)
{
    const sim_t *const sim = thread->sim;
    sim_line_t *const line = &thread->line;
    struct sim_one_list *const one = sim->fifo->list;
    sim_event_list_t *const list = one->list;
    const sim_list_event_t *event;
    sim_time_t time_ps;
    line->in_event = true;
    while ((event = sim__list_first(list, end_ps, &time_ps)) != NULL) {
        const sim_list_what_t what = event->what; // events move as others are added
        const seat_t seat = one->seats[what.node];
        if (SIM_UNLIKELY(is_stale(sim, event))) {
            sim__list_take(list);
            continue;
        }
        line->current = sim__list_number(event);
        sim__list_take(list);
        if (SIM_UNLIKELY(time_ps >= seat.node->run_end_ps)) {
            sample(line, seat.node, time_ps);
        }
        SIM_ASSERT(one->waiting > 0 || what.kind == SIM_EVENT_TIMER);
        one->waiting -= what.kind != SIM_EVENT_TIMER;
        if (SIM_UNLIKELY(seat.ops == NULL)) {
            show(one, seat.node, what, time_ps);
        } else if (SIM_UNLIKELY(what.kind == SIM_EVENT_TIMER)) {
            hand_over_timer(seat, time_ps);
        } else {
            hand_over(seat, &what, time_ps);
        }
    }
    line->in_event = false;
    const sim_time_t next_ps = next_event_ps(sim);
    thread->next_window =
        next_ps >= sim->options.until_ps ? SIM_NO_WINDOW : next_ps / sim->window_ps;
}

const sim_order_ops_t sim__order_in_one_list = {
    .one_list = true,
    .destroy = destroy,
    .seat = seat,
    .send = send,
    .wake = wake,
    .timer_number = sim__fifo_timer_number,
    .timer_armed = add_timer,
    .run_window = run_window,
    .waiting = waiting,
    .next_ps = next_event_ps,
    .record_place = sim__fifo_record_place,
};
