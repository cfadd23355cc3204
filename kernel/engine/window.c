// SPDX-License-Identifier: Apache-2.0
// kernel/engine/window.c - runs one thread's share of one window.
//
// For each unit that has something to do, the thread gathers its mail (mail.c), runs the unit, and
// notes when it is due next. Messages land in mailboxes of later windows, so units of one window
// never affect each other, whichever threads run them.
#include <string.h>

#include "kernel/engine/appoint.h"
#include "kernel/engine/far.h"
#include "kernel/engine/jitter.h"
#include "kernel/engine/mail.h"
#include "kernel/engine/thread.h"
#include "kernel/engine/unit.h"
#include "kernel/engine/window.h"
#include "kernel/engine_internal.h"
#include "kernel/heap.h"

// -- wakes

static SIM_NOINLINE void make_room(sim_node_t *node)
{
    const uint32_t count = node->wake_end - node->wake_first;
    if (node->wake_first > 0 && count <= node->wake_capacity / 2) {
        memmove(node->wakes, node->wakes + node->wake_first, count * sizeof(*node->wakes));
    } else {
        const uint32_t capacity = node->wake_capacity == 0 ? 16 : node->wake_capacity * 2;
        sim_wake_t *const wakes = sim_alloc_array(capacity, sizeof(*wakes));
        if (count > 0) {
            memcpy(wakes, node->wakes + node->wake_first, count * sizeof(*wakes));
        }
        sim_free(node->wakes);
        node->wakes = wakes;
        node->wake_capacity = capacity;
    }
    node->wake_first = 0;
    node->wake_end = count;
}

void sim__wake_with_room(sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    make_room(node);
    sim_wake(node, time_ps, port);
}

void sim__wake_slow(sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    node->sim->order->wake(node, time_ps, port);
}

// -- running

static inline void run_events(sim_node_t *node)
{
    if (sim__ties_by_hash(node->sim)) {
        node->ops->run(node);
    } else {
        node->sim->order->run_node(node);
    }
}

// Runs a node up to end_ps, and its samplers at their times between its events.
static void run_node(sim_node_t *node, sim_time_t end_ps)
{
    for (;;) {
        sim_sampler_t *due = NULL;
        for (sim_sampler_t *s = node->samplers; s != NULL; s = s->next) {
            if (s->next_ps < end_ps && (due == NULL || s->next_ps < due->next_ps)) {
                due = s;
            }
        }
        if (due == NULL) {
            break;
        }
        node->run_end_ps = due->next_ps;
        run_events(node);
        if (node->run_end_ps < due->next_ps) {
            return; // an answer from its unit may come first
        }
        if (sim__node_next_ps(node) >= end_ps) {
            break; // sampled later, once it is known that the run goes on that far
        }
        due->fn(node, due->next_ps, due->ctx);
        due->next_ps += due->period_ps;
        if (node->unit->count > 1) {
            return; // its messages may have brought the limit nearer
        }
    }
    node->run_end_ps = end_ps;
    run_events(node);
}

static void heap_sift_up(sim_unit_t *unit, uint32_t position, sim_node_t *node)
{
    const sim_time_t next_ps = sim__node_next_ps(node);
    while (position > 0) {
        sim_node_t *const parent = unit->heap[(position - 1) / 2];
        if (sim__node_next_ps(parent) <= next_ps) {
            break;
        }
        unit->heap[position] = parent;
        parent->unit_position = position;
        position = (position - 1) / 2;
    }
    unit->heap[position] = node;
    node->unit_position = position;
}

static void heap_push(sim_unit_t *unit, sim_node_t *node)
{
    heap_sift_up(unit, unit->heap_count++, node);
}

static sim_node_t *heap_pop(sim_unit_t *unit)
{
    sim_node_t *const top = unit->heap[0];
    top->unit_position = UINT32_MAX;
    sim_node_t *const last = unit->heap[--unit->heap_count];
    if (unit->heap_count == 0) {
        return top;
    }
    const sim_time_t last_ps = sim__node_next_ps(last);
    uint32_t i = 0;
    for (;;) {
        uint32_t child = i * 2 + 1;
        if (child >= unit->heap_count) {
            break;
        }
        sim_time_t child_ps = sim__node_next_ps(unit->heap[child]);
        if (child + 1 < unit->heap_count) {
            const sim_time_t other_ps = sim__node_next_ps(unit->heap[child + 1]);
            if (other_ps < child_ps) {
                child++;
                child_ps = other_ps;
            }
        }
        if (child_ps >= last_ps) {
            break;
        }
        unit->heap[i] = unit->heap[child];
        unit->heap[i]->unit_position = i;
        i = child;
    }
    unit->heap[i] = last;
    last->unit_position = i;
    return top;
}

void sim__heap_lower(sim_unit_t *unit, sim_node_t *node)
{
    if (node->unit_position == UINT32_MAX) {
        heap_push(unit, node);
    } else {
        heap_sift_up(unit, node->unit_position, node);
    }
}

// Runs the nodes of a unit: always the one whose next event is earliest, up to the time at which
// another could affect it. by_instants: for one instant at a time, until an event ends the step.
static void run_together(sim_unit_t *unit, sim_time_t end_ps, bool by_instants)
{
    unit->heap_count = 0;
    for (uint32_t i = 0; i < unit->count; i++) {
        unit->members[i]->unit_position = UINT32_MAX;
    }
    for (uint32_t i = 0; i < unit->count; i++) {
        if (sim__node_next_ps(unit->members[i]) < end_ps) {
            heap_push(unit, unit->members[i]);
        }
    }
    while (unit->heap_count > 0) {
        sim_node_t *const node = heap_pop(unit);
        sim_time_t limit_ps = end_ps;
        if (by_instants) {
            end_ps = SIM_MIN(node->sim->stop_ps, end_ps);
            limit_ps = SIM_MIN(sim__node_next_ps(node) + 1, end_ps);
        } else if (unit->heap_count > 0) {
            const sim_time_t other_ps = sim__node_next_ps(unit->heap[0]);
            if (other_ps + unit->lookahead_ps < limit_ps) {
                limit_ps = other_ps + unit->lookahead_ps;
            }
        }
        run_node(node, limit_ps);
        if (sim__node_next_ps(node) < end_ps) {
            sim__heap_lower(unit, node);
        }
    }
}

// Keeps mail that arrives at or after end_ps for the rest of a clipped window, or drops it at the
// time limit.
static void leave_mail(sim_thread_t *thread, const sim_node_t *node, sim_time_t end_ps)
{
    if (end_ps == thread->sim->options.until_ps) {
        thread->cut = true;
    } else {
        sim__mail_return(thread, node);
        sim__mark_active(thread, thread->worker.slot, node->unit);
    }
}

// Ends the window of a node that is alone in its unit.
static void end_alone(sim_thread_t *thread, sim_node_t *node, sim_time_t end_ps)
{
    if (SIM_UNLIKELY(node->mail->key != UINT64_MAX)) {
        leave_mail(thread, node, end_ps);
    }
    node->mail = sim__no_mail;
    sim__mail_done(thread);
    const sim_time_t next_ps = SIM_MIN(node->wake_ps, node->timer_ps);
    if (next_ps != SIM_TIME_NEVER) {
        sim__appoint(thread, node->unit, next_ps);
    }
}

static void run_alone(sim_thread_t *thread, sim_node_t *node, sim_time_t end_ps)
{
    sim__gather_mail(thread, node);
    run_node(node, end_ps);
    end_alone(thread, node, end_ps);
}

static void end_unit(sim_thread_t *thread, sim_unit_t *unit, sim_time_t end_ps)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (uint32_t i = 0; i < unit->count; i++) {
        const sim_node_t *const node = unit->members[i];
        next_ps = SIM_MIN(node->wake_ps, next_ps);
        next_ps = SIM_MIN(node->timer_ps, next_ps);
        if (SIM_UNLIKELY(node->mail->key != UINT64_MAX)) {
            leave_mail(thread, node, end_ps);
        }
    }
    sim__appoint(thread, unit, next_ps);
}

static void run_unit(sim_thread_t *thread, sim_unit_t *unit, sim_time_t end_ps)
{
    for (uint32_t i = 0; i < unit->count; i++) {
        sim__gather_mail(thread, unit->members[i]);
    }
    run_together(unit, end_ps, false);
    end_unit(thread, unit, end_ps);
}

// -- watched units

static bool is_sooner(const void *a, const void *b, const void *ctx)
{
    (void)ctx;
    return ((const sim_watched_t *)a)->next_ps < ((const sim_watched_t *)b)->next_ps;
}

static const sim_heap_order_t soonest_first = {sizeof(sim_watched_t), is_sooner, NULL};

static sim_time_t next_of_unit(const sim_unit_t *unit)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (uint32_t i = 0; i < unit->count; i++) {
        next_ps = SIM_MIN(sim__node_next_ps(unit->members[i]), next_ps);
    }
    return next_ps;
}

// Moves the units with watched nodes to the beginning of the agenda, and gathers their mail.
// Returns their number.
static size_t gather_watched(sim_thread_t *thread, size_t count)
{
    const sim_seat_t **const agenda = thread->agenda;
    size_t watched = 0;
    for (size_t i = 0; i < count; i++) {
        const sim_seat_t *const seat = agenda[i];
        if (!seat->unit->watched) {
            continue;
        }
        agenda[i] = agenda[watched];
        agenda[watched] = seat;
        for (uint32_t m = 0; m < seat->unit->count; m++) {
            sim__gather_mail(thread, seat->unit->members[m]);
        }
        SIM_RESERVE(thread->watched, watched + 1, &thread->watched_capacity);
        thread->watched[watched++] = (sim_watched_t){next_of_unit(seat->unit), seat};
        sim_heap_push(&soonest_first, NULL, thread->watched, watched);
    }
    return watched;
}

// Runs the watched units of the agenda, which then stand at its beginning: always the one whose
// next event is earliest, for one instant, so that none has passed the event that ends the step.
// Returns their number and lowers *end_ps to the end of the step.
static size_t run_watched(sim_thread_t *thread, size_t count, sim_time_t *end_ps)
{
    sim_t *const sim = thread->sim;
    const size_t watched = gather_watched(thread, count);
    sim_watched_t *const heap = thread->watched;
    for (size_t left = watched; left > 0 && heap->next_ps < *end_ps;) {
        sim_unit_t *const unit = heap->seat->unit;
        if (unit->count == 1) {
            run_node(unit->members[0], heap->next_ps + 1);
        } else {
            run_together(unit, watched == 1 ? *end_ps : heap->next_ps + 1, true);
        }
        *end_ps = SIM_MIN(sim->stop_ps, *end_ps);
        sim_watched_t after = {next_of_unit(unit), heap->seat};
        sim_heap_pop(&soonest_first, NULL, heap, left--, 0);
        if (after.next_ps < *end_ps) {
            heap[left++] = after;
            sim_heap_push(&soonest_first, NULL, heap, left);
        }
    }
    sim->clipped = sim__window_end(sim, sim->window) > *end_ps;
    thread->worker.window_end_ps = *end_ps;
    thread->record_end_ps = *end_ps;
    for (size_t i = 0; i < watched; i++) {
        const sim_seat_t *const seat = thread->agenda[i];
        if (seat->unit->count == 1) {
            end_alone(thread, seat->node, *end_ps);
        } else {
            end_unit(thread, seat->unit, *end_ps);
        }
    }
    return watched;
}

void sim__sample_until(sim_thread_t *thread, sim_time_t bound_ps)
{
    if (thread->sample_next_ps >= bound_ps) {
        return;
    }
    thread->record_end_ps = bound_ps;
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (size_t i = 0; i < thread->sampler_count; i++) {
        sim_sampler_t *const sampler = thread->samplers[i];
        while (sampler->next_ps < bound_ps) {
            const uint64_t count = (bound_ps - 1 - sampler->next_ps) / sampler->period_ps + 1;
            if (sampler->many != NULL &&
                sampler->many(sampler->node, sampler->next_ps, count, sampler->ctx)) {
                sampler->next_ps += count * sampler->period_ps;
                break;
            }
            sampler->fn(sampler->node, sampler->next_ps, sampler->ctx);
            sampler->next_ps += sampler->period_ps;
        }
        next_ps = SIM_MIN(sampler->next_ps, next_ps);
    }
    thread->sample_next_ps = next_ps;
}

// The memory of a unit is prefetched in three steps while units before it run: its mailbox, its
// mail, its messages. Each step reads what the step before has fetched.
#define AHEAD 3u
#define MESSAGES_AHEAD 16u

// Returns the mailbox with what thread t has sent to the unit's first node.
static inline const sim_mailbox_t *box_from(const sim_thread_t *thread, unsigned t,
                                            const sim_seat_t *seat)
{
    return &thread->sim->threads[t]->worker.boxes[thread->worker.slot][seat->node_index];
}

static inline void prefetch_node(const sim_thread_t *thread, const sim_seat_t *seat)
{
    __builtin_prefetch(box_from(thread, thread->worker.index, seat));
    for (uint32_t line = 0; line < 7; line++) {
        __builtin_prefetch((const char *)seat->node + line * SIM_CACHE_LINE);
    }
}

static inline void prefetch_letters(const sim_mailbox_t *box)
{
    for (uint32_t at = 0; at < box->filled_bytes; at += SIM_CACHE_LINE) {
        __builtin_prefetch((const char *)box->mail + at);
    }
}

// Prefetches the first messages of a mailbox and returns how many it holds.
static inline uint32_t prefetch_messages(const sim_mailbox_t *box)
{
    const uint32_t arrivals = sim__mailbox_count(box);
    const uint32_t count = SIM_MIN(arrivals, MESSAGES_AHEAD);
    const sim_mail_t *const end = box->mail + count;
    for (const sim_mail_t *mail = box->mail; mail != end; mail++) {
        __builtin_prefetch(mail->message);
    }
    return arrivals;
}

static inline void warm(const sim_thread_t *thread, const sim_seat_t *seat)
{
    const uint32_t own = prefetch_messages(box_from(thread, thread->worker.index, seat));
    if (seat->node->ops->warm != NULL) {
        seat->node->ops->warm(seat->node, own);
    }
}

// Prefetches, three, two and one unit ahead, what other threads have sent: it lies in other cores'
// caches.
static inline void prefetch_others(const sim_thread_t *thread, const sim_seat_t *const *at,
                                   size_t left)
{
    const sim_t *const sim = thread->sim;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        if (t == thread->worker.index) {
            continue;
        }
        if (left > 1) {
            (void)prefetch_messages(box_from(thread, t, at[1]));
        }
        if (left > 2) {
            prefetch_letters(box_from(thread, t, at[2]));
        }
        if (left > 3) {
            __builtin_prefetch(box_from(thread, t, at[3]));
        }
    }
}

// Fills thread->agenda with the units that have something to do in this window, in order of their
// bits, and returns their number. only: bits of the units that are meant; NULL: all are.
static SIM_ALWAYS_INLINE size_t list_active(sim_thread_t *thread, const uint64_t *only)
{
    const sim_t *const sim = thread->sim;
    const uint32_t slot = thread->worker.slot;
    size_t count = 0;
    for (uint32_t word = thread->first_bit / 64; word * 64 < thread->end_bit; word++) {
        const uint64_t others = only == NULL ? 0 : ~only[word - thread->first_bit / 64];
        uint64_t active = 0;
        for (unsigned t = 0; t < sim->thread_count; t++) {
            uint64_t *const source = &sim->threads[t]->worker.active[slot][word];
            active |= *source & ~others;
            *source &= others;
        }
        const sim_seat_t *const seats = &thread->seats[word * 64 - thread->first_bit];
        while (active != 0) {
            thread->agenda[count++] = &seats[__builtin_ctzll(active)];
            active &= active - 1;
        }
    }
    return count;
}

// Lets messages of ranks make progress after this number of arrivals.
#define POLL_ARRIVALS 128u

static void poll_ranks(const sim_thread_t *thread, const sim_seat_t *seat, uint32_t *arrivals)
{
    *arrivals += 1 + seat->node->mail_count;
    if (*arrivals >= POLL_ARRIVALS) {
        *arrivals = 0;
        sim__ranks_poll(thread->sim);
    }
}

// Runs `count` units of the agenda, from number `first` on, up to end_ps. polls: messages of ranks
// are on their way, and this is the thread that moves them.
static void run_agenda(sim_thread_t *thread, size_t first, size_t count, sim_time_t end_ps,
                       bool polls)
{
    const sim_seat_t *const *const seats = thread->agenda + first;
    const bool shared = polls || (thread->sim->thread_count > 1 && !thread->sim->share.alone);
    uint32_t arrivals = 0;
    for (size_t i = 0; i < AHEAD && i < count; i++) {
        prefetch_node(thread, seats[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            prefetch_node(thread, seats[i + AHEAD]);
        }
        if (i + 2 < count) {
            prefetch_letters(box_from(thread, thread->worker.index, seats[i + 2]));
        }
        if (i + 1 < count) {
            warm(thread, seats[i + 1]);
        }
        if (shared) {
            prefetch_others(thread, &seats[i], count - i);
        }
        if (SIM_LIKELY(seats[i]->alone)) {
            run_alone(thread, seats[i]->node, end_ps);
        } else {
            run_unit(thread, seats[i]->unit, end_ps);
        }
        if (shared) {
            sim__jitter();
            if (polls) {
                poll_ranks(thread, seats[i], &arrivals);
            }
        }
    }
}

void sim__run_units(sim_thread_t *thread, sim_time_t end_ps)
{
    sim__receive_parcels(thread);
    sim__keep_appointments(thread);
    thread->worker.slot_used[thread->worker.slot] = false;
    const size_t count = list_active(thread, NULL);
    const size_t first =
        SIM_UNLIKELY(thread->sim->watching) ? run_watched(thread, count, &end_ps) : 0;
    run_agenda(thread, first, count - first, end_ps, false);
    sim__publish_next(thread);
}

// Prepares a thread for sim->window, and returns up to when the window is run.
static sim_time_t enter_window(sim_thread_t *thread)
{
    sim_t *const sim = thread->sim;
    sim_worker_t *const worker = &thread->worker;
    const sim_time_t start_ps = sim__window_start(sim, sim->window);
    sim_time_t end_ps =
        sim->clipped ? start_ps + sim->window_ps : sim__window_end(sim, sim->window);
    end_ps = SIM_MIN(end_ps, sim->options.until_ps);
    end_ps = SIM_MIN(end_ps, sim->stop_ps);
    end_ps = SIM_MIN(end_ps, sim->split_ps);
    SIM_CHECK(start_ps < end_ps);
    worker->window_start_ps = start_ps;
    worker->window_end_ps = end_ps;
    thread->record_end_ps = end_ps;
    worker->slot = (uint32_t)sim->window & (SIM_SLOTS - 1);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t ahead = 1 + i * worker->stride;
        worker->ahead[i] = (sim_row_t){sim__window_start(sim, sim->window + ahead),
                                       worker->boxes[(worker->slot + ahead) & (SIM_SLOTS - 1)]};
    }
    worker->slot_used[worker->slot] = false;
    return end_ps;
}

void sim__run_window(sim_thread_t *thread)
{
    const sim_time_t end_ps = enter_window(thread);
    thread->sim->order->run_window(thread, end_ps);
}

void sim__run_early(sim_thread_t *thread)
{
    const sim_time_t end_ps = enter_window(thread);
    const bool polls = thread->worker.index == 0;
    sim__receive_parcels(thread);
    sim__keep_appointments(thread);
    run_agenda(thread, 0, list_active(thread, thread->inner), end_ps, polls);
}
