// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo_mail.c - a message and its place, from the sender to the receiver's list of a
// window.
//
// In a mailbox a message is followed by an entry whose key is its place, as (slot of the window it
// was sent in, record, minor). By the time the receiver gathers its mail that window has numbers.
#include <stdlib.h>
#include <string.h>

#include "kernel/order/fifo_internal.h"

#define SPREAD_MIN 12u         // fewer are sorted as they are
#define INSERTION_SORT_MAX 48u // of what ties at one instant

// -- sending

// Into the list of a node that runs together with the sender: behind all of that time and before.
static void near_send(sim_node_t *to, sim_fifo_mail_t mail)
{
    struct sim_fifo_node *const own = to->fifo;
    if (own->own_count + SIM_MAIL_PAD + 1 > own->own_capacity) {
        const size_t next = (size_t)(own->mail - own->own_mail);
        own->own_capacity *= 2;
        own->own_mail = sim_realloc_array(own->own_mail, own->own_capacity, sizeof(*own->own_mail));
        own->mail = own->own_mail + next;
    }
    sim_fifo_mail_t *at = own->own_mail + own->own_count++;
    while (at > own->mail && at[-1].key >> SIM_PORT_BITS > mail.key >> SIM_PORT_BITS) {
        *at = at[-1];
        at--;
    }
    *at = mail;
    for (uint32_t i = 0; i < SIM_MAIL_PAD; i++) {
        own->own_mail[own->own_count + i] = (sim_fifo_mail_t){UINT64_MAX, UINT64_MAX, NULL};
    }
    sim__fifo_heap_lower(to->unit, to);
}

static void put(sim_worker_t *worker,
                uint32_t slot,
                const sim_channel_t *channel,
                sim_time_t within_ps,
                void *message,
                uint64_t sent)
{
    sim_mailbox_t *const box = sim__mailbox_at(worker->boxes[slot], channel);
    if (box->filled_bytes == box->room_bytes) {
        sim__mailbox_grow(worker, slot, box, channel, within_ps, message);
    } else {
        *sim__mailbox_next(box) =
            (sim_mail_t){(within_ps << SIM_PORT_BITS) | channel->port, message};
    }
    *sim__mailbox_next(box) = (sim_mail_t){sent, message};
}

void sim__fifo_send(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message)
{
    sim_thread_t *const thread = sim__thread_of(from);
    sim_worker_t *const worker = &thread->worker;
    struct sim_fifo_log *const log = thread->fifo;
    const sim_channel_ends_t *const ends = sim__ends(thread->sim, channel);
    SIM_CHECKF(arrive_ps >= from->now_ps + ends->delay_ps,
               "%s to %s: arrival %" PRIu64 " is less than the delay after %" PRIu64,
               from->name,
               ends->to->name,
               arrive_ps,
               from->now_ps);
    uint64_t place;
    if (ends->keeps_number) {
        uint64_t *const kept = &from->fifo->kept[ends->from_port];
        if ((*kept & SIM__FIFO_HERE) == 0) {
            sim__fifo_pend(log, kept);
        }
        *kept = sim__fifo_take(log, 2);
        place = *kept + SIM__FIFO_NEXT_PLACE;
    } else {
        place = sim__fifo_take(log, 1);
    }
    sim_time_t within_ps = arrive_ps - worker->window_start_ps;
    if (within_ps < worker->window_ps) {
        SIM_CHECK(channel->near);
        near_send(ends->to,
                  (sim_fifo_mail_t){(within_ps << SIM_PORT_BITS) | channel->port, place, message});
        return;
    }
    const uint64_t sent = (uint64_t)log->slot << SIM__FIFO_SLOT_SHIFT |
                          (place & ~SIM__FIFO_HERE) >> SIM__FIFO_ARMED_BITS;
    if (within_ps >= worker->window_ps * SIM_SLOTS) {
        sim__parcel_send(thread, channel, arrive_ps, message, sent);
        return;
    }
    uint32_t slot = worker->slot;
    do {
        within_ps -= worker->window_ps;
        slot++;
    } while (within_ps >= worker->window_ps);
    put(worker, slot & (SIM_SLOTS - 1), channel, within_ps, message, sent);
}

uint64_t sim__fifo_sent_number_of(const sim_thread_t *sender, uint64_t place)
{
    return sim__fifo_sent_number(sender->fifo, place);
}

// -- gathering

static int compare_places(const void *a, const void *b)
{
    const uint64_t x = ((const sim_fifo_mail_t *)a)->place;
    const uint64_t y = ((const sim_fifo_mail_t *)b)->place;
    return (x > y) - (x < y);
}

// Puts mail of one instant into the order of its places.
static void order_group(sim_fifo_mail_t *mail, size_t count)
{
    if (count > INSERTION_SORT_MAX) {
        qsort(mail, count, sizeof(*mail), compare_places);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const sim_fifo_mail_t entry = mail[i];
        size_t j = i;
        while (j > 0 && mail[j - 1].place > entry.place) {
            mail[j] = mail[j - 1];
            j--;
        }
        mail[j] = entry;
    }
}

static inline uint64_t within_of(const sim_fifo_mail_t *mail)
{
    return mail->key >> SIM_PORT_BITS;
}

// By time, entries of one instant in the order they are in.
static void insertion_sort(sim_fifo_mail_t *mail, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint64_t within_ps = within_of(&mail[i]);
        if (within_of(&mail[i - 1]) <= within_ps) {
            continue;
        }
        const sim_fifo_mail_t entry = mail[i];
        size_t j = i;
        do {
            mail[j] = mail[j - 1];
            j--;
        } while (j > 0 && within_of(&mail[j - 1]) > within_ps);
        mail[j] = entry;
    }
}

// Sorts count entries from `from` into `to`.
static void sort_mail(sim_thread_t *thread,
                      const sim_fifo_mail_t *from,
                      size_t count,
                      sim_fifo_mail_t *to)
{
    if (count <= SPREAD_MIN) {
        memcpy(to, from, count * sizeof(*to));
    } else {
        sim_fifo_spread_t *const spread = &thread->fifo->spread;
        uint32_t *const starts = sim__fifo_spread(spread, count, thread->worker.window_ps);
        for (size_t i = 0; i < count; i++) {
            starts[within_of(&from[i]) >> spread->shift]++;
        }
        sim__fifo_spread_sum(spread);
        for (size_t i = 0; i < count; i++) {
            to[starts[within_of(&from[i]) >> spread->shift]++] = from[i];
        }
    }
    insertion_sort(to, count);
    for (size_t i = 1; i < count; i++) {
        if (within_of(&to[i]) != within_of(&to[i - 1])) {
            continue;
        }
        const size_t first = i - 1;
        while (i < count && within_of(&to[i]) == within_of(&to[first])) {
            i++;
        }
        order_group(to + first, i - first);
    }
}

static void stage(struct sim_fifo_log *log, size_t *count, sim_fifo_mail_t mail)
{
    if (*count == log->stage_capacity) {
        SIM_GROW(log->stage, *count, &log->stage_capacity);
    }
    log->stage[(*count)++] = mail;
}

static void stage_far(sim_thread_t *thread, sim_node_t *node, size_t *count)
{
    sim_far_letter_t letter;
    for (size_t i = 0; i < node->far->count; i++) {
        const sim_channel_t *const channel = node->far->channels[i];
        while (sim__far_take(thread, node, channel, &letter)) {
            const sim_time_t within_ps = letter.arrive_ps - thread->worker.window_start_ps;
            const uint64_t key = (within_ps << SIM_PORT_BITS) | channel->port;
            stage(thread->fifo, count, (sim_fifo_mail_t){key, letter.place, letter.message});
        }
    }
}

// As sim__gather_mail does for the thread's batch, or for the node's own list in units of several.
static sim_fifo_mail_t *room_for(struct sim_fifo_log *log, sim_node_t *node, size_t count)
{
    const size_t need = count + SIM_MAIL_PAD + 1;
    if (node->unit->count == 1) {
        if (log->batch_capacity < need) {
            sim_free(log->batch);
            log->batch_capacity = need * 2;
            log->batch = sim_alloc_array(log->batch_capacity, sizeof(*log->batch));
        }
        return log->batch;
    }
    struct sim_fifo_node *const own = node->fifo;
    if (own->own_capacity < need) {
        own->own_capacity = (uint32_t)need * 2;
        own->own_mail = sim_realloc_array(own->own_mail, own->own_capacity, sizeof(*own->own_mail));
    }
    own->own_count = (uint32_t)count;
    return own->own_mail;
}

void sim__fifo_gather(sim_thread_t *thread, sim_node_t *node)
{
    const sim_t *const sim = thread->sim;
    struct sim_fifo_log *const log = thread->fifo;
    const uint32_t slot = thread->worker.slot;
    size_t count = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_mailbox_t *const box = &sim->threads[t]->worker.boxes[slot][node->index];
        const struct sim_fifo_log *const sender = sim->threads[t]->fifo;
        for (uint32_t i = 0; i < sim__mailbox_count(box); i += 2) {
            const uint64_t place = sim__fifo_sent_number(sender, box->mail[i + 1].key);
            stage(log, &count, (sim_fifo_mail_t){box->mail[i].key, place, box->mail[i].message});
        }
        sim__mailbox_recycle(thread, t, box);
    }
    if (node->far != NULL) {
        stage_far(thread, node, &count);
    }
    sim_fifo_mail_t *const mail = room_for(log, node, count);
    if (count > 0) {
        sort_mail(thread, log->stage, count, mail);
    }
    for (uint32_t i = 0; i < SIM_MAIL_PAD; i++) {
        mail[count + i] = (sim_fifo_mail_t){UINT64_MAX, UINT64_MAX, NULL};
    }
    node->fifo->mail = mail;
    node->window_start_ps = thread->worker.window_start_ps;
}
