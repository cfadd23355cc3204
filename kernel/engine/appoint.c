// SPDX-License-Identifier: Apache-2.0
// kernel/engine/appoint.c - notes when units run next, finds and begins the next window.
//
// A unit that is due within the mail slots has its bit set in the slot's map. One that is due later
// has an appointment, in a heap of its thread.
#include "kernel/engine/appoint.h"
#include "kernel/engine/far.h"
#include "kernel/engine/thread.h"
#include "kernel/engine/unit.h"
#include "kernel/engine/window.h"
#include "kernel/engine_internal.h"
#include "kernel/heap.h"

// Units of one window leave the heap in any order: each only has a bit set.
static bool is_earlier(const void *a, const void *b, const void *ctx)
{
    (void)ctx;
    return ((const sim_appointment_t *)a)->window < ((const sim_appointment_t *)b)->window;
}

static const sim_heap_order_t earliest_first = {sizeof(sim_appointment_t), is_earlier, NULL};

static sim_appointment_t appointment_pop(sim_appointments_t *appointments)
{
    sim_heap_pop(&earliest_first, NULL, appointments->items, appointments->count, 0);
    const sim_appointment_t top = appointments->items[--appointments->count];
    if (top.unit->far_window == top.window) {
        top.unit->far_window = SIM_NO_WINDOW;
    }
    return top;
}

void sim__appoint(sim_thread_t *thread, sim_unit_t *unit, sim_time_t time_ps)
{
    const sim_t *const sim = thread->sim;
    SIM_ASSERT(sim__thread_of(unit->members[0]) == thread);
    if (time_ps == SIM_TIME_NEVER || time_ps >= sim->options.until_ps) {
        return;
    }
    const sim_appointment_t appointment = {sim__window_of(sim, unit, time_ps), unit};
    if (appointment.window - sim->window < SIM_SLOTS) {
        sim__mark_active(thread, (uint32_t)appointment.window & (SIM_SLOTS - 1), unit);
    } else if (appointment.window < unit->far_window) {
        unit->far_window = appointment.window;
        sim_appointments_t *const all = &thread->appointments;
        SIM_APPEND(all->items, all->count, all->capacity, appointment);
        sim_heap_push(&earliest_first, NULL, all->items, all->count);
    }
}

void sim__keep_appointments(sim_thread_t *thread)
{
    const sim_t *const sim = thread->sim;
    while (thread->appointments.count > 0 && thread->appointments.items[0].window <= sim->window) {
        const sim_appointment_t appointment = appointment_pop(&thread->appointments);
        sim__mark_active(thread, thread->worker.slot, appointment.unit);
    }
}

static uint64_t next_slot(const sim_thread_t *thread)
{
    for (uint32_t ahead = 1; ahead < SIM_SLOTS; ahead++) {
        if (thread->worker.slot_used[(thread->worker.slot + ahead) & (SIM_SLOTS - 1)]) {
            return thread->sim->window + ahead;
        }
    }
    return SIM_NO_WINDOW;
}

static sim_time_t unit_next_ps(const sim_unit_t *unit)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (uint32_t i = 0; i < unit->count; i++) {
        const sim_node_t *const node = unit->members[i];
        next_ps = SIM_MIN(node->wake_ps, next_ps);
        next_ps = SIM_MIN(node->timer_ps, next_ps);
        for (size_t c = 0; node->far != NULL && c < node->far->count; c++) {
            const sim_channel_t *const channel = node->far->channels[c];
            const sim_far_ring_t *const ring = sim__far(node->sim, channel);
            if (SIM_RING_COUNT(ring) > 0) {
                next_ps = SIM_MIN(SIM_RING_AT(ring, ring->first).arrive_ps, next_ps);
            }
        }
    }
    return next_ps;
}

// Returns the window in which the unit is due next; SIM_NO_WINDOW: in none before the time limit.
static uint64_t wanted_window(const sim_t *sim, const sim_unit_t *unit)
{
    const sim_time_t next_ps = unit_next_ps(unit);
    return next_ps >= sim->options.until_ps ? SIM_NO_WINDOW : sim__window_of(sim, unit, next_ps);
}

// Returns the first window before `next` in which the thread has an appointment, else `next`. An
// appointment for a timer that was cancelled or moved meanwhile is put off.
static uint64_t next_appointed(sim_thread_t *thread, uint64_t next)
{
    sim_appointments_t *const appointments = &thread->appointments;
    while (appointments->count > 0 && appointments->items[0].window < next) {
        const sim_appointment_t appointment = appointments->items[0];
        const uint64_t window = wanted_window(thread->sim, appointment.unit);
        if (window <= appointment.window) {
            return appointment.window;
        }
        (void)appointment_pop(appointments);
        sim__appoint(thread, appointment.unit, unit_next_ps(appointment.unit));
        next = SIM_MIN(window, next);
    }
    return next;
}

// Returns the first window before `next` that a parcel sent by the thread is for, else `next`.
static uint64_t next_parcel(const sim_thread_t *thread, uint64_t next)
{
    const sim_t *const sim = thread->sim;
    for (unsigned to = 0; to < sim->thread_count; to++) {
        const sim_parcels_t *const parcels = &thread->parcels[to][sim->parity];
        if (parcels->count > 0 && parcels->earliest_ps / sim->window_ps < next) {
            next = parcels->earliest_ps / sim->window_ps;
        }
    }
    return next;
}

void sim__publish_next(sim_thread_t *thread)
{
    const sim_t *const sim = thread->sim;
    uint64_t next = next_slot(thread);
    if (SIM_UNLIKELY(sim->clipped) && thread->worker.slot_used[thread->worker.slot]) {
        next = sim->window; // its second half is still to be run
    }
    thread->next_window = next_parcel(thread, next_appointed(thread, next));
    SIM_CHECK(thread->next_window >= sim->window);
}

void sim__appoint_all(sim_thread_t *thread)
{
    thread->appointments.count = 0;
    for (uint32_t bit = thread->first_bit; bit < thread->end_bit; bit++) {
        sim_unit_t *const unit = thread->seats[bit - thread->first_bit].unit;
        if (unit != NULL) {
            unit->far_window = SIM_NO_WINDOW;
            sim__appoint(thread, unit, unit_next_ps(unit));
        }
    }
}

// Returns the unit that has this bit in the slots' maps.
static sim_unit_t *unit_of(const sim_t *sim, uint32_t bit)
{
    unsigned t = 0;
    while (bit >= sim->threads[t]->end_bit) {
        t++;
    }
    return sim->threads[t]->seats[bit - sim->threads[t]->first_bit].unit;
}

static bool has_mail(const sim_t *sim, const sim_unit_t *unit, uint32_t slot)
{
    for (uint32_t i = 0; i < unit->count; i++) {
        for (unsigned t = 0; t < sim->thread_count; t++) {
            if (sim->threads[t]->worker.boxes[slot][unit->members[i]->index].filled_bytes > 0) {
                return true;
            }
        }
    }
    return false;
}

// Returns whether a unit in this word of a map has something to do, and removes units before it
// that have not.
static bool any_has_something(const sim_t *sim, uint64_t *map, uint32_t word, uint64_t window)
{
    for (uint64_t left = map[word]; left != 0; left &= left - 1) {
        sim_unit_t *const unit = unit_of(sim, word * 64 + (uint32_t)__builtin_ctzll(left));
        if (wanted_window(sim, unit) <= window ||
            has_mail(sim, unit, (uint32_t)window & (SIM_SLOTS - 1))) {
            return true;
        }
        map[word] &= ~(left & -left);
        sim__appoint(sim__thread_of(unit->members[0]), unit, unit_next_ps(unit));
    }
    return false;
}

bool sim__is_empty(const sim_t *sim, uint64_t window)
{
    const uint32_t slot = (uint32_t)window & (SIM_SLOTS - 1);
    const uint32_t words = (sim->threads[sim->thread_count - 1]->end_bit + 63) / 64;
    const uint32_t first = sim->threads[0]->first_bit / 64;
    if (sim__in_one_list(sim) || window == sim->window || window - sim->window >= SIM_SLOTS) {
        return false; // the rest of a clipped window, or an appointment that holds
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_thread_t *const thread = sim->threads[t];
        if (next_parcel(thread, next_appointed(thread, window + 1)) <= window) {
            return false;
        }
        for (uint32_t word = first; thread->worker.slot_used[slot] && word < words; word++) {
            if (any_has_something(sim, thread->worker.active[slot], word, window)) {
                return false;
            }
        }
        thread->worker.slot_used[slot] = false;
    }
    return true;
}

void sim__pass_empty(sim_t *sim, uint64_t window)
{
    sim->window = window;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim->threads[t]->worker.slot = (uint32_t)window & (SIM_SLOTS - 1);
        sim__publish_next(sim->threads[t]);
    }
}

// -- beginning the next window early, in ranks
//
// Most units of a rank are inner ones: no channel joins them with another rank. Their next window
// depends on nothing that other ranks send now. So a rank sends the messages of a window, runs its
// inner units through the next one while messages are on their way, and then takes what has come
// and runs the other units. A rank that is late in one window thus makes nobody wait who has inner
// units left to run.
//
// A window may begin early only if it is certain to be the next one for all ranks, and to be run to
// its end: this rank has something to do in it and has made progress not long ago, so the run goes
// on, and no rank has a sample or the time limit before it. A background timer may end a run
// anywhere, so windows begin in time where such timers are armed. An interruption takes effect one
// window later.

// Marks the unit that this rank runs at one end of a channel as not inner.
static void mark_outer(sim_t *sim, const sim_node_t *node)
{
    if (sim__is_here(sim, node)) {
        sim_thread_t *const thread = sim__thread_of(node);
        const uint32_t bit = node->unit->index - thread->first_bit;
        thread->inner[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
    }
}

void sim_expect_background(sim_t *sim)
{
    SIM_CHECK(!sim->ran);
    sim->expects_background = true;
}

static bool any_background(const sim_t *sim)
{
    if (sim->expects_background) {
        return true;
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        if (sim->threads[t]->worker.background_ps != SIM_TIME_NEVER) {
            return true;
        }
    }
    return false;
}

void sim__early_find(sim_t *sim)
{
    if (sim->ranks == NULL) {
        return;
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_thread_t *const thread = sim->threads[t];
        const uint32_t count = thread->end_bit - thread->first_bit;
        thread->inner = sim_alloc_array(count / 64 + 1, sizeof(*thread->inner));
        for (uint32_t bit = 0; bit < count; bit++) {
            thread->inner[bit / 64] |= UINT64_C(1) << (bit % 64);
        }
    }
    for (size_t i = 0; i < sim->channel_count; i++) {
        const sim_channel_ends_t *const ends = &sim->channel_ends[i];
        const sim_node_t *const from = sim->nodes[ends->from];
        if (!sim__is_here(sim, from) || !sim__is_here(sim, ends->to)) {
            mark_outer(sim, from);
            mark_outer(sim, ends->to);
        }
    }
    sim->may_be_early = !sim__agree_any(sim, any_background(sim));
}

// Returns whether a run that has made no progress since this rank did may stall by then.
static bool may_stall(const sim_t *sim, const sim__seen_t *own, uint64_t next)
{
    const sim_time_t quiet_ps = sim__window_end(sim, next + 2) - own->progress_ps;
    return sim->options.stall_ps != 0 && quiet_ps >= sim->options.stall_ps;
}

bool sim__early_may_begin(const sim_t *sim, const sim__seen_t *own)
{
    const uint64_t next = sim->window + 1;
    const sim__seen_t *const all = &sim->seen; // as of the window before
    return sim->may_be_early && own->next_window == next && !sim->clipped && !own->interrupted &&
           !all->interrupted && own->background_ps == SIM_TIME_NEVER &&
           all->background_ps == SIM_TIME_NEVER && !may_stall(sim, own, next) &&
           all->sample_ps >= sim__window_start(sim, next) &&
           sim__window_end(sim, next) <= sim->options.until_ps;
}

void sim__early_begin(sim_t *sim)
{
    const bool shared = sim->thread_count > 1 && !sim->share.alone;
    sim->window++;
    sim->parity ^= 1;
    if (shared) {
        sim->early = true;
        sim__barrier_meet(&sim->barrier, 0, sim->thread_count);
        sim__run_early(sim->threads[0]);
        sim__barrier_meet(&sim->barrier, 0, sim->thread_count);
        sim->early = false;
    }
    for (unsigned t = 0; t < sim->thread_count && !shared; t++) {
        sim__run_early(sim->threads[t]);
    }
    sim->window--;
    sim->parity ^= 1;
}
