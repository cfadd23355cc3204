// SPDX-License-Identifier: Apache-2.0
// kernel/engine/timers/timer.c - a node's timers: a 4-ary heap by (time, arming sequence), and
// a wheel.
//
// Four children per parent halve the depth of a binary heap (kernel/heap.h). An entry's key lies in
// the heap itself, so sifting touches no timer but those it moves.
#include "kernel/timer.h"

#include "kernel/engine/timers/timers.h"
#include "kernel/engine/unit.h"
#include "kernel/engine_internal.h"

static inline bool before(const sim_timer_entry_t *a, const sim_timer_entry_t *b)
{
    return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->sequence < b->sequence);
}

static inline void place(sim_timer_entry_t *heap, uint32_t position, sim_timer_entry_t entry)
{
    heap[position] = entry;
    entry.timer->position = position;
}

static void sift_up(sim_timer_entry_t *heap, uint32_t position, sim_timer_entry_t entry)
{
    while (position > 0) {
        const uint32_t parent = (position - 1) / 4;
        if (!before(&entry, &heap[parent])) {
            break;
        }
        place(heap, position, heap[parent]);
        position = parent;
    }
    place(heap, position, entry);
}

static void sift_down(sim_timer_entry_t *heap, uint32_t count, uint32_t position,
                      sim_timer_entry_t entry)
{
    for (;;) {
        const uint32_t first = position * 4 + 1;
        if (first >= count) {
            break;
        }
        const uint32_t end = SIM_MIN(first + 4, count);
        uint32_t least = first;
        for (uint32_t child = first + 1; child < end; child++) {
            if (before(&heap[child], &heap[least])) {
                least = child;
            }
        }
        if (!before(&heap[least], &entry)) {
            break;
        }
        place(heap, position, heap[least]);
        position = least;
    }
    place(heap, position, entry);
}

static void set_earliest(sim_node_t *node)
{
    if (sim__in_one_list(node->sim)) {
        node->timer_ps = SIM_TIME_NEVER; // set when the timer's turn comes
        return;
    }
    node->timer_ps = node->timer_count > 0 ? node->timers[0].time_ps : SIM_TIME_NEVER;
    if (node->wheel != NULL && node->wheel->earliest != 0) {
        const sim_time_t wheel_ps = node->wheel->entries[node->wheel->earliest].time_ps;
        node->timer_ps = SIM_MIN(wheel_ps, node->timer_ps);
    }
}

// Ends the program if the heap does not hold an armed timer at its place.
static SIM_ALWAYS_INLINE void check_place(const sim_node_t *node, const sim_timer_t *timer)
{
    SIM_CHECKF(timer->position < node->timer_count && node->timers[timer->position].timer == timer,
               "a timer of %s was not made by sim_timer_init, or is armed at another node",
               node->name);
}

static void remove_at(sim_node_t *node, uint32_t position)
{
    node->armed[node->timers[position].timer->kind]--;
    node->timers[position].timer->position = SIM_TIMER_UNARMED;
    const sim_timer_entry_t last = node->timers[--node->timer_count];
    if (position < node->timer_count) {
        if (position > 0 && before(&last, &node->timers[(position - 1) / 4])) {
            sift_up(node->timers, position, last);
        } else {
            sift_down(node->timers, node->timer_count, position, last);
        }
    }
    set_earliest(node);
}

static inline bool in_wheel(const sim_timer_t *timer)
{
    return (timer->position & SIM_TIMER_IN_WHEEL) != 0;
}

static inline sim_time_t wheel_time_ps(const sim_node_t *node, const sim_timer_t *timer)
{
    return node->wheel->entries[timer->position & ~SIM_TIMER_IN_WHEEL].time_ps;
}

// In ranks, windows that began early know of no background timer that comes at short notice.
static void check_notice(const sim_node_t *node, sim_time_t time_ps)
{
    const sim_t *const sim = node->sim;
    SIM_CHECKF(!sim->may_be_early || sim->seen.background_ps != SIM_TIME_NEVER ||
                   time_ps >= node->worker->window_end_ps + sim->window_ps,
               "background timer of %s armed for %" PRIu64 " ps at %" PRIu64
               " ps: sim_expect_background was not called",
               node->name, time_ps, node->now_ps);
}

void sim__timer_arm_as(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps, uint64_t sequence)
{
    SIM_CHECKF(time_ps >= node->now_ps && time_ps != SIM_TIME_NEVER,
               "timer of %s armed for %" PRIu64 " ps at %" PRIu64 " ps", node->name, time_ps,
               node->now_ps);
    const sim_timer_entry_t entry = {time_ps, sequence, timer};
    if (sim_timer_armed(timer)) {
        check_place(node, timer);
        const uint32_t position = timer->position;
        // The new sequence is higher, so at an equal time the timer moves back.
        if (time_ps < node->timers[position].time_ps) {
            sift_up(node->timers, position, entry);
        } else {
            sift_down(node->timers, node->timer_count, position, entry);
        }
    } else {
        if (node->timer_count == node->timer_capacity) {
            SIM_GROW(node->timers, node->timer_count, &node->timer_capacity);
        }
        sift_up(node->timers, node->timer_count++, entry);
        node->armed[timer->kind]++;
    }
    if (timer->kind == SIM_TIMER_BACKGROUND && time_ps < node->worker->background_ps) {
        node->worker->background_ps = time_ps;
        check_notice(node, time_ps);
    }
    set_earliest(node);
    if (SIM_UNLIKELY(sim__in_one_list(node->sim))) {
        node->sim->order->timer_armed(node, time_ps, sequence);
    }
}

// Adds a timer to the wheel. Returns false if it does not fit. The timer must not be armed, and an
// entry must be free.
static SIM_ALWAYS_INLINE bool arm_in_wheel(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps)
{
    sim_wheel_t *const wheel = node->wheel;
    const bool added = sim__wheel_reaches(node->now_ps, time_ps)
                           ? sim__wheel_add(wheel, timer, time_ps, node->timer_sequence)
                           : sim__wheel_add_late(wheel, timer, time_ps, node->timer_sequence);
    if (SIM_UNLIKELY(!added)) {
        return false;
    }
    node->timer_sequence++;
    if (time_ps < node->timer_ps) {
        node->timer_ps = time_ps;
    }
    return true;
}

// Returns whether a timer may be in a wheel: a foreground timer for a later time.
static inline bool may_be_in_wheel(const sim_node_t *node, const sim_timer_t *timer,
                                   sim_time_t time_ps)
{
    return time_ps > node->now_ps && time_ps != SIM_TIME_NEVER &&
           timer->kind == SIM_TIMER_FOREGROUND;
}

// Counts the timers that are armed for the present instant. Ends the program if simulated time
// stands still: a model that arms a timer for now again and again would take all memory.
static void count_instant(sim_node_t *node)
{
    if (node->instant_ps != node->now_ps) {
        node->instant_ps = node->now_ps;
        node->instant_count = 0;
    }
    if (++node->instant_count == SIM_INSTANT_TIMERS_MAX) {
        sim_give_up("%s arms %u timers at %" PRIu64
                    " ps of simulated time, which stands still. This is "
                    "a fault of a model or of a program; please report the scenario",
                    node->name, SIM_INSTANT_TIMERS_MAX, node->now_ps);
    }
}

static SIM_NOINLINE void arm_anywhere(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps)
{
    if (time_ps == node->now_ps) {
        count_instant(node);
        if (node->wheel != NULL && sim_timer_armed(timer) && in_wheel(timer)) {
            sim_timer_cancel(node, timer); // it moves to the heap
        }
    }
    if (node->wheel != NULL && may_be_in_wheel(node, timer, time_ps)) {
        sim_timer_cancel(node, timer);
        if (node->wheel->free == 0) {
            sim__wheel_grow(node->wheel);
        }
        if (arm_in_wheel(node, timer, time_ps)) {
            return;
        }
    }
    const bool by_hash = sim__ties_by_hash(node->sim);
    sim__timer_arm_as(node, timer, time_ps,
                      by_hash ? node->timer_sequence++ : node->sim->order->timer_number(node));
}

// Needs no stack frame in the usual case, a node with a wheel; the rest is a tail call.
void sim_timer_arm(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps)
{
    const sim_wheel_t *const wheel = node->wheel;
    if (wheel == NULL || sim_timer_armed(timer) || wheel->free == 0 ||
        !may_be_in_wheel(node, timer, time_ps) || !arm_in_wheel(node, timer, time_ps)) {
        arm_anywhere(node, timer, time_ps);
    }
}

void sim_timer_cancel(sim_node_t *node, sim_timer_t *timer)
{
    if (!sim_timer_armed(timer)) {
        return;
    }
    if (SIM_UNLIKELY(node->now_ps == SIM_TIME_NEVER)) {
        timer->position = SIM_TIMER_UNARMED; // the node is being destroyed
        return;
    }
    if (in_wheel(timer)) {
        const sim_time_t time_ps = wheel_time_ps(node, timer);
        sim__wheel_remove(node->wheel, timer);
        if (time_ps == node->timer_ps) {
            set_earliest(node);
        }
    } else {
        check_place(node, timer);
        remove_at(node, timer->position);
    }
}

sim_time_t sim_timer_time_ps(const sim_node_t *node, const sim_timer_t *timer)
{
    SIM_CHECK(sim_timer_armed(timer));
    if (in_wheel(timer)) {
        return wheel_time_ps(node, timer);
    }
    return node->timers[timer->position].time_ps;
}

uint64_t sim_next_timer_sequence(const sim_node_t *node)
{
    const sim_wheel_t *const wheel = node->wheel;
    const sim_wheel_entry_t *const soon =
        wheel == NULL || wheel->earliest == 0 ? NULL : &wheel->entries[wheel->earliest];
    SIM_CHECK(soon != NULL || node->timer_count != 0);
    if (node->timer_count == 0) {
        return soon->sequence;
    }
    const sim_timer_entry_t *const late = &node->timers[0];
    if (soon == NULL || late->time_ps < soon->time_ps ||
        (late->time_ps == soon->time_ps && late->sequence < soon->sequence)) {
        return late->sequence;
    }
    return soon->sequence;
}

bool sim_only_background(const sim_node_t *node)
{
    return sim__timers_armed(node) == node->armed[SIM_TIMER_BACKGROUND];
}

bool sim_ties_by_insertion(const sim_node_t *node)
{
    return !node->sim->order->by_hash;
}

void sim_expect_timers(sim_node_t *node)
{
    if (node->wheel == NULL && node->sim->order->by_hash) {
        node->wheel = sim__wheel_create();
    }
}

// Takes the earliest timer if it is in the wheel. NULL: it is in the heap.
static inline sim_timer_t *pop_wheel(sim_node_t *node)
{
    sim_wheel_t *const wheel = node->wheel;
    if (wheel->earliest == 0) {
        return NULL;
    }
    const sim_wheel_entry_t *const entry = &wheel->entries[wheel->earliest];
    const bool alone = node->timer_count == 0;
    const sim_time_t heap_ps = alone ? SIM_TIME_NEVER : node->timers[0].time_ps;
    if (SIM_UNLIKELY(heap_ps <= entry->time_ps) &&
        (heap_ps < entry->time_ps || node->timers[0].sequence < entry->sequence)) {
        return NULL;
    }
    sim_timer_t *const timer = entry->timer;
    sim__wheel_pop(wheel);
    // entries[0] is never due. Prefetches the owner of the next timer.
    const sim_wheel_entry_t *const next = &wheel->entries[wheel->earliest];
    const sim_time_t next_ps = next->time_ps;
    __builtin_prefetch(next->timer);
    node->now_ps = node->timer_ps;
    node->timer_ps = SIM_MIN(next_ps, heap_ps);
    node->events++;
    return timer;
}

static SIM_NOINLINE sim_timer_t *pop_heap(sim_node_t *node)
{
    sim_timer_t *const timer = node->timers[0].timer;
    if (SIM_UNLIKELY(timer->kind == SIM_TIMER_BACKGROUND)) {
        if (node->background_events != node->events + 1) { // the first since the last event
            node->background_events = node->events + 1;
            node->event_ps = node->now_ps;
        }
        node->now_ps = node->timer_ps;
    } else {
        node->now_ps = node->timer_ps;
        node->events++;
    }
    remove_at(node, 0);
    return timer;
}

sim_timer_t *sim__timer_pop(sim_node_t *node)
{
    if (node->wheel != NULL) {
        sim_timer_t *const soon = pop_wheel(node);
        if (SIM_LIKELY(soon != NULL)) {
            return soon;
        }
    }
    return pop_heap(node);
}
