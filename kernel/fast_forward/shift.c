// SPDX-License-Identifier: Apache-2.0
// kernel/fast_forward/shift.c - splits a window at any time, and moves all that is to come to a
// later one.
//
// A window that is split is run up to that time; its rest is a window of its own. Nodes then have
// no colours (kernel/engine/partition.c), so all of them stand at that time. Colours are dropped
// after a window that was run up to its middle only: there, the other colour's window has ended.
#include "kernel/engine/appoint.h"
#include "kernel/engine/far.h"
#include "kernel/engine/mail.h"
#include "kernel/engine/thread.h"
#include "kernel/engine_internal.h"
#include "kernel/fast_forward_period.h"

void sim_split_window_at(sim_t *sim, sim_time_t time_ps)
{
    SIM_CHECK(sim->options.splits && (!sim->coloured || time_ps == SIM_TIME_NEVER));
    sim->split_ps = time_ps;
}

// Returns the place of a time among the windows that have mailboxes, if by_ps is added.
static uint64_t windows_after(const sim_t *sim, sim_time_t time_ps, sim_time_t base_ps)
{
    return time_ps / sim->window_ps - base_ps / sim->window_ps;
}

bool sim_may_shift(const sim_t *sim, sim_time_t now_ps, sim_time_t by_ps)
{
    for (unsigned t = 0; t < sim->thread_count; t++) {
        for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
            const uint64_t window =
                sim->window + ((slot - (uint32_t)sim->window) & (SIM_SLOTS - 1));
            const sim_time_t end_ps = sim__window_end(sim, window) - 1;
            if (sim->threads[t]->worker.slot_used[slot] &&
                windows_after(sim, end_ps + by_ps, now_ps + by_ps) >= SIM_SLOTS) {
                return false;
            }
        }
    }
    return true;
}

// The mail of one mailbox, taken out of it.
typedef struct taken {
    sim_thread_t *thread;
    const sim_node_t *node;
    sim_time_t time_ps;
    sim_mail_t mail;
} taken_t;

typedef struct haul {
    taken_t *items;
    size_t count;
    size_t capacity;
} haul_t;

// Empties all mailboxes of a thread. Mail of one channel keeps its order.
static void take_mail(const sim_t *sim, sim_thread_t *thread, haul_t *haul)
{
    const uint32_t words = (sim->threads[sim->thread_count - 1]->end_bit + 63) / 64;
    for (uint32_t ahead = 0; ahead < SIM_SLOTS; ahead++) {
        const uint64_t window = sim->window + ahead;
        const uint32_t slot = (uint32_t)window & (SIM_SLOTS - 1);
        thread->worker.slot_used[slot] = false;
        for (size_t n = 0; n < sim->node_count; n++) {
            sim_mailbox_t *const box = &thread->worker.boxes[slot][n];
            for (uint32_t i = 0; i < sim__mailbox_count(box); i++) {
                SIM_APPEND(
                    haul->items, haul->count, haul->capacity,
                    (taken_t){thread, sim->nodes[n],
                              sim__window_start(sim, window) + (box->mail[i].key >> SIM_PORT_BITS),
                              box->mail[i]});
            }
            sim__mailbox_empty(thread, box);
        }
        for (uint32_t word = 0; word < words; word++) {
            thread->worker.active[slot][word] = 0;
        }
    }
}

static void take_all_mail(const sim_t *sim, haul_t *haul)
{
    for (unsigned t = 0; t < sim->thread_count; t++) {
        take_mail(sim, sim->threads[t], haul);
    }
}

// Puts mail into the boxes of its windows, by_ps later. Frees the haul.
static void put_mail(const sim_t *sim, haul_t *haul, sim_time_t by_ps)
{
    for (size_t i = 0; i < haul->count; i++) {
        const taken_t *const taken = &haul->items[i];
        const sim_time_t time_ps = taken->time_ps + by_ps;
        const uint64_t window = sim__window_of(sim, taken->node->unit, time_ps);
        const sim_time_t within_ps = time_ps - sim__window_start(sim, window);
        SIM_CHECK(window >= sim->window && window - sim->window < SIM_SLOTS);
        sim__mailbox_put(taken->thread, (uint32_t)window & (SIM_SLOTS - 1), taken->node->index,
                         (sim_mail_t){within_ps << SIM_PORT_BITS | sim_mail_port(&taken->mail),
                                      taken->mail.message});
    }
    sim_free(haul->items);
}

// Moves messages that arrive beyond the mailboxes.
static void move_far(const sim_t *sim, sim_time_t by_ps)
{
    for (size_t i = 0; i < sim->channel_count; i++) {
        sim_far_ring_t *const far = sim->far[i];
        for (uint32_t l = 0; far != NULL && l < SIM_RING_COUNT(far); l++) {
            SIM_RING_AT(far, far->first + l).arrive_ps += by_ps;
        }
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        for (unsigned p = 0; p < 2 * sim->thread_count; p++) {
            sim_parcels_t *const parcels = &sim->threads[t]->parcels[p / 2][p & 1];
            for (size_t i = 0; i < parcels->count; i++) {
                parcels->items[i].arrive_ps += by_ps;
            }
            parcels->earliest_ps += by_ps;
        }
    }
}

static void move_wakes(sim_node_t *node, sim_time_t by_ps)
{
    for (uint32_t w = node->wake_first; w < node->wake_end; w++) {
        sim_wake_t *const wake = &node->wakes[w];
        wake->time_ps += by_ps;
        wake->rank = sim__wake_rank(node, wake->time_ps, sim_wake_port(wake));
    }
    if (node->wake_ps != SIM_TIME_NEVER) {
        node->wake_ps += by_ps;
    }
}

// Publishes what each thread has to do next, after all that is to come was put in new places.
static void publish(sim_t *sim)
{
    const bool clipped = sim->clipped;
    sim->clipped = true; // the present window may have a rest
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_thread_t *const thread = sim->threads[t];
        thread->worker.slot = (uint32_t)sim->window & (SIM_SLOTS - 1);
        sim__appoint_all(thread);
        sim__publish_next(thread);
    }
    sim->clipped = clipped;
}

void sim_shift(sim_t *sim, sim_time_t now_ps, sim_time_t by_ps)
{
    haul_t haul = {0};
    take_all_mail(sim, &haul);
    sim->window = (now_ps + by_ps) / sim->window_ps;
    sim->stopped_ps = now_ps + by_ps;
    sim->moved = true;
    put_mail(sim, &haul, by_ps);
    move_far(sim, by_ps);
    for (size_t i = 0; i < sim->node_count; i++) {
        move_wakes(sim->nodes[i], by_ps);
    }
    publish(sim);
}

// -- colours

bool sim_level(sim_t *sim)
{
    SIM_CHECK(sim->options.splits);
    sim->level_wanted = sim->coloured;
    sim->colour_wanted = false;
    return !sim->coloured;
}

void sim_colour(sim_t *sim)
{
    sim->level_wanted = false;
    sim->colour_wanted = sim->had_colours && !sim->coloured;
}

void sim__change_colours(sim_t *sim)
{
    haul_t haul = {0};
    if (sim->colour_wanted && sim->clipped) {
        return; // nodes stand within a window
    }
    take_all_mail(sim, &haul);
    // After the first half of a window, and after a window without colours, all nodes stand at the
    // begin of the cell that follows. With colours, its window has then been run up to there.
    sim->window += sim->colour_wanted;
    sim->coloured = sim->colour_wanted;
    sim->had_colours = true;
    sim->levelling = sim->level_wanted = sim->colour_wanted = false;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_worker_t *const worker = &sim->threads[t]->worker;
        worker->stride = sim->coloured ? 2 : 1;
        worker->window_ps = sim->window_ps * worker->stride;
        worker->direct_ps = worker->window_ps;
    }
    put_mail(sim, &haul, 0);
    publish(sim);
}
