// SPDX-License-Identifier: Apache-2.0
// kernel/fast_forward/notes.c - notes of a moment: values that must repeat, numbers that grow,
// rings that move, and timers.
#include "kernel/fast_forward_notes.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/engine/sort.h"
#include "kernel/engine/thread.h"
#include "kernel/engine/timers/timers.h"
#include "kernel/engine_internal.h"
#include "kernel/fast_forward.h"
#include "kernel/fast_forward/value.h"

// -- taking

static int compare_timers(const void *left, const void *right)
{
    const sim_noted_timer_t *const a = left;
    const sim_noted_timer_t *const b = right;
    return a->node->index != b->node->index ? (a->node->index < b->node->index ? -1 : 1)
           : a->time_ps != b->time_ps       ? (a->time_ps < b->time_ps ? -1 : 1)
           : a->sequence != b->sequence     ? (a->sequence < b->sequence ? -1 : 1)
                                            : 0;
}

static void add_timer(sim_notes_t *notes, sim_node_t *node, sim_timer_t *timer)
{
    SIM_APPEND(notes->timers, notes->timer_count, notes->timer_capacity,
               (sim_noted_timer_t){.node = node,
                                   .timer = timer,
                                   .name = (uint64_t)(uintptr_t)timer,
                                   .time_ps = sim_timer_time_ps(node, timer),
                                   .sequence = sim_timer_number(node, timer)});
}

void sim_notes_init(sim_notes_t *notes, sim_t *sim, sim_time_t now_ps)
{
    *notes = (sim_notes_t){.sim = sim, .now_ps = now_ps};
    for (uint32_t n = 0; n < sim->node_count; n++) {
        sim_node_t *const node = sim->nodes[n];
        for (uint32_t i = 0; i < node->timer_count; i++) {
            add_timer(notes, node, node->timers[i].timer);
        }
        for (uint32_t b = 0; node->wheel != NULL && b <= SIM_WHEEL_LATE; b++) {
            const sim_wheel_entry_t *const entries = node->wheel->entries;
            for (uint32_t i = node->wheel->first[b]; i != 0; i = entries[i].next) {
                add_timer(notes, node, entries[i].timer);
            }
        }
    }
    if (notes->timer_count > 0) {
        qsort(notes->timers, notes->timer_count, sizeof(*notes->timers), compare_timers);
    }
    for (size_t i = 0; i < notes->timer_count; i++) {
        sim_map_add(&notes->places, notes->timers[i].name, i);
    }
}

void sim_notes_fini(sim_notes_t *notes)
{
    sim_map_fini(&notes->places);
    SIM_FREE_ALL(notes->values, notes->steps, notes->rings, notes->timers, notes->ties);
    *notes = (sim_notes_t){0};
}

void sim_note(sim_notes_t *notes, uint64_t value)
{
    SIM_APPEND(notes->values, notes->value_count, notes->value_capacity, value);
}

void sim_note_step(sim_notes_t *notes, void *at, uint16_t bytes, uint64_t mask)
{
    SIM_APPEND(notes->steps, notes->step_count, notes->step_capacity,
               (sim_noted_step_t){at, mask, sim__field_value(at, bytes) & mask, bytes});
}

void sim_note_time(sim_notes_t *notes, sim_time_t *at)
{
    sim_note(notes, notes->now_ps - *at);
    sim_note_step(notes, at, sizeof(*at), UINT64_MAX);
}

void sim_note_ring(sim_notes_t *notes, sim_noted_ring_t ring)
{
    sim_note(notes, ring.count);
    SIM_APPEND(notes->rings, notes->ring_count, notes->ring_capacity, ring);
}

void sim_note_timer(sim_notes_t *notes, const sim_timer_t *timer)
{
    const uint64_t at = sim_map_get(&notes->places, (uint64_t)(uintptr_t)timer);
    sim_note(notes, at != SIM_MAP_NONE);
    if (at != SIM_MAP_NONE) {
        // No timer lies at such an address.
        notes->timers[at].name = 2 * ++notes->named + 1;
    }
}

void sim_watch_ties(sim_t *sim, bool watch)
{
    for (uint32_t n = 0; n < sim->node_count; n++) {
        sim->nodes[n]->ties_watched = watch || sim->nodes[n]->ties_kept;
        sim->nodes[n]->ties_matter = false;
        sim->nodes[n]->ties_anew = false;
    }
}

void sim_note_ties(sim_notes_t *notes, sim_node_t *node, bool matter)
{
    SIM_APPEND(notes->ties, notes->tie_count, notes->tie_capacity,
               (sim_noted_ties_t){node, node->ties, matter || node->ties_matter, node->ties_anew});
}

// -- comparing

static bool same_timer(const sim_noted_timer_t *a, const sim_noted_timer_t *b)
{
    return a->node == b->node && a->name == b->name;
}

// Finds the timers that two moments have alike: armed once, for one time. All others must have
// moved along with the period, in the same order.
static bool timers_repeat(const sim_notes_t *first, const sim_notes_t *second)
{
    const sim_time_t period_ps = second->now_ps - first->now_ps;
    size_t a = 0;
    size_t b = 0;
    for (size_t i = 0; i < first->timer_count; i++) {
        first->timers[i].stays = false;
    }
    for (size_t i = 0; i < second->timer_count; i++) {
        second->timers[i].stays = false;
    }
    while (a < first->timer_count && b < second->timer_count) {
        sim_noted_timer_t *const left = &first->timers[a];
        sim_noted_timer_t *const right = &second->timers[b];
        const int order = compare_timers(left, right);
        left->stays = right->stays = order == 0 && same_timer(left, right);
        a += order <= 0;
        b += order >= 0;
    }
    for (a = 0, b = 0; a < first->timer_count || b < second->timer_count;) {
        if (a < first->timer_count && first->timers[a].stays) {
            a++;
        } else if (b < second->timer_count && second->timers[b].stays) {
            b++;
        } else if (a == first->timer_count || b == second->timer_count ||
                   !same_timer(&first->timers[a], &second->timers[b]) ||
                   second->timers[b].time_ps - first->timers[a].time_ps != period_ps ||
                   second->timers[b].timer->kind != SIM_TIMER_FOREGROUND) {
            return false;
        } else {
            a++;
            b++;
        }
    }
    return true;
}

static bool ties_repeat(const sim_notes_t *first, const sim_notes_t *second)
{
    for (size_t i = 0; i < second->tie_count; i++) {
        if (second->ties[i].matter && first->ties[i].ties != second->ties[i].ties) {
            return false;
        }
    }
    return true;
}

bool sim_notes_repeat(const sim_notes_t *first, const sim_notes_t *second, const char **why)
{
    *why = first->value_count != second->value_count || first->step_count != second->step_count ||
                   first->ring_count != second->ring_count ||
                   memcmp(first->values, second->values,
                          first->value_count * sizeof(*first->values)) != 0
               ? "programs"
           : !timers_repeat(first, second) ? "timers"
           : !ties_repeat(first, second)   ? "ties of a node"
                                           : NULL;
    return *why == NULL;
}

sim_time_t sim_notes_until_ps(const sim_notes_t *second)
{
    sim_time_t least_ps = SIM_TIME_NEVER;
    for (size_t i = 0; i < second->timer_count; i++) {
        if (second->timers[i].stays && second->timers[i].time_ps < least_ps) {
            least_ps = second->timers[i].time_ps;
        }
    }
    return least_ps;
}

// -- jumping

static void add_step(const sim_noted_step_t *a, const sim_noted_step_t *b, uint64_t count)
{
    const uint64_t value = sim__field_value(b->at, b->bytes);
    const uint64_t grown = (value & b->mask) + count * (b->value - a->value);
    sim__field_set(b->at, b->bytes, (value & ~b->mask) | (grown & b->mask));
}

void sim_notes_take(const sim_notes_t *first, const sim_notes_t *second, uint64_t count)
{
    for (size_t i = 0; i < second->step_count; i++) {
        add_step(&first->steps[i], &second->steps[i], count);
    }
    for (size_t i = 0; i < second->ring_count; i++) {
        sim_noted_ring_t *const ring = &second->rings[i];
        ring->taken = sim_alloc_array((size_t)ring->count + 1, ring->bytes);
        for (uint32_t e = 0; e < ring->count; e++) {
            memcpy(ring->taken + e * ring->bytes,
                   ring->base + ((*ring->first + e) & (ring->capacity - 1)) * ring->bytes,
                   ring->bytes);
        }
    }
}

void sim_notes_put(const sim_notes_t *first, const sim_notes_t *second, uint64_t count)
{
    const sim_time_t by_ps = count * (second->now_ps - first->now_ps);
    for (size_t i = 0; i < second->ring_count; i++) {
        sim_noted_ring_t *const ring = &second->rings[i];
        for (uint32_t e = 0; e < ring->count; e++) {
            memcpy(ring->base + ((*ring->first + e) & (ring->capacity - 1)) * ring->bytes,
                   ring->taken + e * ring->bytes, ring->bytes);
        }
        sim_free(ring->taken);
        ring->taken = NULL;
    }
    for (size_t i = 0; i < second->tie_count; i++) {
        const uint64_t step = second->ties[i].anew ? 0 : second->ties[i].ties - first->ties[i].ties;
        sim__add_ties(second->ties[i].node, count * step);
    }
    for (size_t i = 0; i < second->timer_count; i++) {
        const sim_noted_timer_t *const timer = &second->timers[i];
        if (!timer->stays) {
            sim_timer_cancel(timer->node, timer->timer);
        }
    }
    for (size_t i = 0; i < second->timer_count; i++) {
        const sim_noted_timer_t *const timer = &second->timers[i];
        if (!timer->stays) {
            sim_timer_arm(timer->node, timer->timer, timer->time_ps + by_ps);
        }
    }
    for (unsigned t = 0; t < second->sim->thread_count; t++) {
        sim_worker_t *const worker = &second->sim->threads[t]->worker;
        worker->progress_ps += worker->progress_ps > first->now_ps ? by_ps : 0;
    }
}
