// SPDX-License-Identifier: Apache-2.0
// kernel/engine/mail.c - carries messages from their senders to a node's sorted mail of a window.
//
// sim_send (kernel/event.h) puts most messages into a mailbox itself. This file has the rare cases
// of sending (a full mailbox, arrivals beyond the slots or within a unit) and the receiving end: it
// gathers a node's messages of a window from all senders, in the order of (time, tie rank).
#include <string.h>

#include "kernel/engine/appoint.h"
#include "kernel/engine/far.h"
#include "kernel/engine/mail.h"
#include "kernel/engine/sort.h"
#include "kernel/engine/thread.h"
#include "kernel/engine/unit.h"
#include "kernel/engine/window.h"
#include "kernel/engine_internal.h"

#define PORT_MASK ((1u << SIM_PORT_BITS) - 1)

// -- mailboxes

// Returns the class of the smallest mailbox that holds `count` messages: it holds
// SIM_MAIL_FIRST << class.
static inline uint32_t class_of(uint32_t count)
{
    return count <= SIM_MAIL_FIRST ? 0 : 30 - (uint32_t)__builtin_clz(count - 1);
}

static void put_free(sim_thread_t *thread, sim_mail_t *mail, uint32_t class)
{
    mail->message = thread->free_mail[class];
    thread->free_mail[class] = mail;
}

// Takes back mailboxes that other threads have read, up to the window before this one.
static void collect_returned(sim_thread_t *thread)
{
    const sim_t *const sim = thread->sim;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_mail_t **const list = &sim->threads[t]->returned[thread->worker.index][sim->parity ^ 1];
        while (*list != NULL) {
            sim_mail_t *const mail = *list;
            *list = mail->message;
            put_free(thread, mail, (uint32_t)mail->key);
        }
    }
}

static sim_mail_t *take_mailbox(sim_thread_t *thread, uint32_t class)
{
    if (SIM_UNLIKELY(thread->free_mail[class] == NULL)) {
        collect_returned(thread);
    }
    sim_mail_t *const mail = thread->free_mail[class];
    if (mail == NULL) {
        return sim_lines_take(&thread->worker, sim__mailbox_bytes(class));
    }
    thread->free_mail[class] = mail->message;
    return mail;
}

static void give_mailbox(sim_thread_t *thread, sim_mail_t *mail, uint32_t room_bytes)
{
    put_free(thread, mail, class_of(room_bytes / (uint32_t)sizeof(*mail)));
}

// Gives the mailbox new memory and puts `message` behind those it holds.
static inline void furnish(sim_worker_t *worker, uint32_t slot, sim_mailbox_t *box,
                           sim_mail_t *mail, uint32_t class, const sim_channel_t *channel,
                           sim_mail_t message)
{
    box->mail = mail;
    box->room_bytes = (SIM_MAIL_FIRST << class) * (uint32_t)sizeof(sim_mail_t);
    *sim__mailbox_next(box) = message;
    worker->active[slot][channel->unit_index >> 6] |= UINT64_C(1) << (channel->unit_index & 63);
    worker->slot_used[slot] = true;
}

void sim__mailbox_grow(sim_worker_t *worker, uint32_t slot, sim_mailbox_t *box,
                       const sim_channel_t *channel, sim_time_t within_ps, void *message)
{
    sim_thread_t *const thread = (sim_thread_t *)(void *)worker;
    uint8_t *const usual = &worker->box_class[box - worker->boxes[slot]];
    uint32_t class = *usual;
    if (box->filled_bytes > 0) {
        class = class_of(sim__mailbox_count(box)) + 1;
        SIM_CHECK(class < SIM_MAIL_CLASSES);
        *usual = (uint8_t) class;
    }
    sim_mail_t *const mail = take_mailbox(thread, class);
    if (box->filled_bytes > 0) {
        memcpy(mail, box->mail, box->filled_bytes);
        give_mailbox(thread, box->mail, box->room_bytes);
    }
    const sim_mail_t entry = {(within_ps << SIM_PORT_BITS) | channel->port, message};
    furnish(worker, slot, box, mail, class, channel, entry);
}

void sim__mailbox_put(sim_thread_t *thread, uint32_t slot, uint32_t node, sim_mail_t mail)
{
    sim_mailbox_t *const box = &thread->worker.boxes[slot][node];
    if (box->filled_bytes == box->room_bytes) {
        const uint32_t count = sim__mailbox_count(box);
        const uint32_t class = count == 0 ? thread->worker.box_class[node] : class_of(count) + 1;
        SIM_CHECK(class < SIM_MAIL_CLASSES);
        sim_mail_t *const larger = take_mailbox(thread, class);
        if (count > 0) {
            memcpy(larger, box->mail, box->filled_bytes);
            give_mailbox(thread, box->mail, box->room_bytes);
        }
        box->mail = larger;
        box->room_bytes = (SIM_MAIL_FIRST << class) * (uint32_t)sizeof(sim_mail_t);
        sim__mark_active(thread, slot, thread->sim->nodes[node]->unit);
    }
    *sim__mailbox_next(box) = mail;
}

void sim__mailbox_empty(sim_thread_t *thread, sim_mailbox_t *box)
{
    if (box->mail != NULL) {
        give_mailbox(thread, box->mail, box->room_bytes);
        *box = (sim_mailbox_t){NULL, 0, 0};
    }
}

// -- the slow ways to send

void sim__parcel_send(sim_thread_t *thread, sim_channel_t *channel, sim_time_t arrive_ps,
                      void *message)
{
    const unsigned to = sim__ends(thread->sim, channel)->to->worker->index;
    sim_parcels_t *const parcels = &thread->parcels[to][thread->sim->parity];
    SIM_GROW(parcels->items, parcels->count, &parcels->capacity);
    if (parcels->count == 0 || arrive_ps < parcels->earliest_ps) {
        parcels->earliest_ps = arrive_ps;
    }
    parcels->items[parcels->count++] = (sim_parcel_t){channel, arrive_ps, message};
}

// Returns whether key a comes after key b, by (time, tie rank), in the node's current window.
static bool comes_after(const sim_node_t *node, uint64_t a, uint64_t b)
{
    if (((a ^ b) >> SIM_PORT_BITS) != 0) {
        return a > b;
    }
    const sim_time_t time_ps = node->window_start_ps + (a >> SIM_PORT_BITS);
    const uint64_t instant = time_ps & node->tie_time_mask;
    return sim__tie_rank(node->tie_key, instant, (uint32_t)a & PORT_MASK) >
           sim__tie_rank(node->tie_key, instant, (uint32_t)b & PORT_MASK);
}

// Inserts a message into the mail of a node of the same unit, within the current window.
static void near_send(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message)
{
    sim_node_t *const to = sim__ends(from->sim, channel)->to;
    sim_unit_t *const unit = to->unit;
    const uint64_t key = ((arrive_ps - to->window_start_ps) << SIM_PORT_BITS) | channel->port;
    if (to->own_count + SIM_MAIL_PAD + 1 > to->own_capacity) {
        const size_t next = (size_t)(to->mail - to->own_mail);
        to->own_capacity *= 2;
        to->own_mail = sim_realloc_array(to->own_mail, to->own_capacity, sizeof(sim_mail_t));
        to->mail = to->own_mail + next;
    }
    sim_mail_t *mail = to->own_mail + to->own_count;
    while (mail > to->mail && comes_after(to, mail[-1].key, key)) {
        *mail = mail[-1];
        mail--;
    }
    *mail = (sim_mail_t){key, message};
    to->own_count++;
    to->own_mail[to->own_count] = (sim_mail_t){UINT64_MAX, NULL};
    sim__heap_lower(unit, to);
    // The receiver may answer, and the sender must not run past the earliest answer.
    if (from->run_end_ps > arrive_ps + unit->lookahead_ps) {
        from->run_end_ps = arrive_ps + unit->lookahead_ps;
    }
}

static void check_send(const sim_node_t *from, const sim_channel_t *channel, sim_time_t arrive_ps)
{
    const sim_channel_ends_t *const ends = sim__ends(from->sim, channel);
    SIM_CHECKF(arrive_ps >= from->now_ps + sim__delay_ps(from->sim, ends),
               "%s to %s: arrival %" PRIu64 " is less than the delay after %" PRIu64, from->name,
               ends->to->name, arrive_ps, from->now_ps);
}

#ifdef SIM_DEAR_CHECKS
void sim__check_send(const sim_node_t *from, const sim_channel_t *channel, sim_time_t arrive_ps)
{
    check_send(from, channel, arrive_ps);
}
#endif

void sim__send_by_slots(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps,
                        void *message)
{
    sim_thread_t *const thread = sim__thread_of(from);
    sim_worker_t *const worker = &thread->worker;
    SIM_CHECKF(thread->sim->ran, "%s sends before the run", from->name);
    if (SIM_UNLIKELY(channel->away)) {
        sim__ranks_send(from, channel, arrive_ps, message);
        return;
    }
    check_send(from, channel, arrive_ps);
    if (arrive_ps < worker->ahead[0].start_ps) {
        SIM_CHECK(channel->near);
        near_send(from, channel, arrive_ps, message);
        return;
    }
    const sim_time_t ahead_ps = arrive_ps - worker->ahead[0].start_ps;
    const uint64_t windows_ahead = 1 + ahead_ps / worker->window_ps * worker->stride;
    if (windows_ahead >= SIM_SLOTS) {
        sim__parcel_send(thread, channel, arrive_ps, message);
        return;
    }
    const uint32_t slot = (worker->slot + (uint32_t)windows_ahead) & (SIM_SLOTS - 1);
    const sim_node_t *const to = sim__ends(thread->sim, channel)->to;
    sim_mailbox_t *const box = &worker->boxes[slot][to->index];
    const sim_time_t within_ps = ahead_ps % worker->window_ps;
    if (box->filled_bytes == box->room_bytes) {
        sim__mailbox_grow(worker, slot, box, channel, within_ps, message);
        return;
    }
    *sim__mailbox_next(box) = (sim_mail_t){(within_ps << SIM_PORT_BITS) | channel->port, message};
}

void sim__send_slow(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message)
{
    from->sim->order->send(from, channel, arrive_ps, message);
}

void sim__send_first(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message)
{
    sim_worker_t *const worker = from->worker;
    if (SIM_UNLIKELY(channel->near)) {
        sim__send_slow(from, channel, arrive_ps, message);
        return;
    }
    const uint32_t over = arrive_ps >= worker->ahead[1].start_ps;
    const uint32_t slot = (worker->slot + 1 + over * worker->stride) & (SIM_SLOTS - 1);
    sim_mailbox_t *const box = sim__mailbox_at(worker->boxes[slot], channel);
    const sim_time_t within_ps = arrive_ps - worker->ahead[over].start_ps;
    sim_thread_t *const thread = (sim_thread_t *)(void *)worker;
    const uint32_t class = worker->box_class[channel->box_bytes / sizeof(*box)];
    sim_mail_t *const mail = thread->free_mail[class];
    // This is mostly the first message, and memory of the last mailbox's class is free.
    if (SIM_LIKELY(mail != NULL && box->filled_bytes == 0)) {
        const sim_mail_t entry = {(within_ps << SIM_PORT_BITS) | channel->port, message};
        thread->free_mail[class] = mail->message;
        furnish(worker, slot, box, mail, class, channel, entry);
        return;
    }
    sim__mailbox_grow(worker, slot, box, channel, within_ps, message);
}

// Moves a parcel into its channel's ring, from which the node takes it when its window comes.
static void parcel_receive(sim_thread_t *thread, const sim_parcel_t *parcel)
{
    sim_channel_t *const channel = parcel->channel;
    sim_node_t *const node = sim__ends(thread->sim, channel)->to;
    sim_far_ring_t **const far = &thread->sim->far[channel->index];
    if (*far == NULL) {
        *far = sim_alloc(sizeof(**far));
        if (node->far == NULL) {
            node->far = sim_alloc(sizeof(*node->far));
        }
        SIM_APPEND(node->far->channels, node->far->count, node->far->capacity, channel);
    }
    sim_far_ring_t *const ring = *far;
    if (SIM_RING_COUNT(ring) == 0) {
        sim__appoint(thread, node->unit, parcel->arrive_ps);
    }
    thread->cut |= parcel->arrive_ps >= thread->sim->options.until_ps;
    SIM_RING_PUSH(ring, (sim_far_letter_t){parcel->arrive_ps, parcel->message});
}

void sim__receive_parcels(sim_thread_t *thread)
{
    sim_t *const sim = thread->sim;
    for (unsigned i = 0; i < sim->thread_count; i++) {
        sim_parcels_t *const parcels =
            &sim->threads[i]->parcels[thread->worker.index][sim->parity ^ 1];
        for (size_t p = 0; p < parcels->count; p++) {
            parcel_receive(thread, &parcels->items[p]);
        }
        parcels->count = 0;
    }
}

// -- gathering a node's mail

static void stage_one(sim_thread_t *thread, size_t *count, sim_mail_t mail)
{
    SIM_GROW(thread->stage, *count, &thread->stage_capacity);
    thread->stage[(*count)++] = mail;
}

bool sim__far_take(sim_thread_t *thread, const sim_node_t *node, const sim_channel_t *channel,
                   sim_far_letter_t *letter)
{
    sim_far_ring_t *const ring = sim__far(thread->sim, channel);
    if (SIM_RING_COUNT(ring) == 0) {
        return false;
    }
    *letter = SIM_RING_AT(ring, ring->first);
    if (letter->arrive_ps >= thread->worker.window_start_ps + thread->worker.window_ps) {
        sim__appoint(thread, node->unit, letter->arrive_ps);
        return false;
    }
    SIM_CHECK(letter->arrive_ps >= thread->worker.window_start_ps);
    ring->first++;
    return true;
}

static void stage_far(sim_thread_t *thread, sim_node_t *node, size_t *count)
{
    sim_far_letter_t letter;
    for (size_t i = 0; i < node->far->count; i++) {
        const sim_channel_t *const channel = node->far->channels[i];
        while (sim__far_take(thread, node, channel, &letter)) {
            const sim_time_t within_ps = letter.arrive_ps - thread->worker.window_start_ps;
            const uint64_t key = (within_ps << SIM_PORT_BITS) | channel->port;
            stage_one(thread, count, (sim_mail_t){key, letter.message});
        }
    }
}

// Returns room for count entries and the padding: in the thread's batch or, for nodes that take
// turns with others and so have mail at the same time, in the node's own mail.
static sim_mail_t *room_for(sim_thread_t *thread, sim_node_t *node, size_t count)
{
    const size_t need = count + SIM_MAIL_PAD + 1;
    if (node->alone) {
        if (thread->batch_capacity < need) {
            sim_free(thread->batch);
            thread->batch_capacity = need * 2;
            thread->batch = sim_alloc_lines(thread->batch_capacity * sizeof(sim_mail_t));
        }
        return thread->batch;
    }
    if (node->own_capacity < need) {
        node->own_capacity = (uint32_t)need * 2;
        node->own_mail = sim_realloc_array(node->own_mail, node->own_capacity, sizeof(sim_mail_t));
    }
    node->own_count = (uint32_t)count;
    return node->own_mail;
}

// Frees a mailbox of the current slot, which nobody writes to. The next mailbox that fills reuses
// its memory, so that a few lines stay in the cache. Memory of another thread goes back to that
// thread: otherwise one that reads more than it sends would collect it all.
static inline void recycle(sim_thread_t *thread, unsigned owner, sim_mailbox_t *box)
{
    if (box->mail == NULL) {
        return;
    }
    if (SIM_LIKELY(owner == thread->worker.index)) {
        give_mailbox(thread, box->mail, box->room_bytes);
    } else {
        sim_mail_t **const list = &thread->returned[owner][thread->sim->parity];
        box->mail->key = class_of(box->room_bytes / (uint32_t)sizeof(*box->mail));
        box->mail->message = *list;
        *list = box->mail;
    }
    *box = (sim_mailbox_t){NULL, 0, 0};
}

void sim__mail_done(sim_thread_t *thread)
{
    if (thread->lent != NULL) {
        recycle(thread, thread->lent_by, thread->lent);
        thread->lent = NULL;
    }
}

void sim__mail_return(sim_thread_t *thread, const sim_node_t *node)
{
    sim_mailbox_t *const box = &thread->worker.boxes[thread->worker.slot][node->index];
    uint32_t count = 0;
    while (node->mail[count].key != UINT64_MAX) {
        count++;
    }
    const uint32_t class = class_of(count);
    sim_mail_t *const mail = take_mailbox(thread, class);
    memcpy(mail, node->mail, count * sizeof(*mail));
    sim__mail_done(thread);
    SIM_CHECK(box->mail == NULL);
    box->mail = mail;
    box->room_bytes = (SIM_MAIL_FIRST << class) * (uint32_t)sizeof(*mail);
    box->filled_bytes = count * (uint32_t)sizeof(*mail);
}

// Adds the node's messages from every thread's mailbox to those of far rings in thread->stage, and
// returns the count. For one channel, far messages are always older than near ones, and one thread
// sends both, so order is preserved.
static size_t stage_all(sim_thread_t *thread, const sim_node_t *node, size_t count)
{
    const sim_t *const sim = thread->sim;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_mailbox_t *const box = &sim->threads[t]->worker.boxes[thread->worker.slot][node->index];
        for (uint32_t i = 0; i < sim__mailbox_count(box); i++) {
            stage_one(thread, &count, box->mail[i]);
        }
        recycle(thread, t, box);
    }
    return count;
}

// Returns the mailbox that holds all of the node's mail of this window, but for that of far rings,
// and sets *owner to its thread; NULL: the mail is in several places.
static sim_mailbox_t *only_box(sim_thread_t *thread, const sim_node_t *node, unsigned *owner)
{
    const sim_t *const sim = thread->sim;
    const uint32_t slot = thread->worker.slot;
    sim_mailbox_t *only = &thread->worker.boxes[slot][node->index];
    *owner = thread->worker.index;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_mailbox_t *const box = &sim->threads[t]->worker.boxes[slot][node->index];
        if (box != only && box->filled_bytes > 0) {
            if (only->filled_bytes > 0) {
                return NULL;
            }
            only = box;
            *owner = t;
        }
    }
    return only;
}

// Makes the node read the mailbox in place, until sim__mail_done.
static inline void lend(sim_thread_t *thread, sim_node_t *node, unsigned owner, sim_mailbox_t *box)
{
    const uint32_t count = sim__mailbox_count(box);
    thread->worker.box_class[node->index] = (uint8_t)class_of(count);
    box->mail[count].key = UINT64_MAX;
    node->mail = box->mail;
    node->mail_count = count;
    thread->lent = box;
    thread->lent_by = owner;
}

// Returns true if each message is later than the one before it.
static bool is_in_order(const sim_mail_t *mail, size_t count)
{
    size_t i = 1;
    while (i < count && mail[i - 1].key >> SIM_PORT_BITS < mail[i].key >> SIM_PORT_BITS) {
        i++;
    }
    return i >= count;
}

// Gathers the node's mail from one mailbox of thread `owner` or, if box is NULL, from several
// places and the `far_count` messages in thread->stage.
static void gather_from(sim_thread_t *thread, sim_node_t *node, unsigned owner, sim_mailbox_t *box,
                        size_t far_count)
{
    const sim_mail_t *source = NULL;
    size_t count = 0;
    if (SIM_LIKELY(box != NULL)) {
        source = box->mail;
        count = sim__mailbox_count(box);
        if (count > 0 && node->alone && (node->one_source || is_in_order(source, count))) {
            lend(thread, node, owner, box);
            return;
        }
        if (count > 0) {
            thread->worker.box_class[node->index] = (uint8_t)class_of((uint32_t)count);
        }
    } else {
        count = stage_all(thread, node, far_count);
        source = thread->stage;
    }
    sim_mail_t *const mail = room_for(thread, node, count);
    sim__sort_mail(thread, node, source, count, mail);
    mail[count].key = UINT64_MAX;
    node->mail = mail;
    node->mail_count = (uint32_t)count;
    if (box != NULL) {
        recycle(thread, owner, box);
    }
}

static SIM_NOINLINE void gather(sim_thread_t *thread, sim_node_t *node)
{
    size_t far_count = 0;
    if (SIM_UNLIKELY(node->far != NULL)) {
        stage_far(thread, node, &far_count);
    }
    unsigned owner = 0;
    sim_mailbox_t *const box = far_count == 0 ? only_box(thread, node, &owner) : NULL;
    gather_from(thread, node, owner, box, far_count);
}

// Needs no stack frame in the usual case, one thread whose mail is read in place; the rest is a
// tail call.
void sim__gather_mail(sim_thread_t *thread, sim_node_t *node)
{
    node->window_start_ps = thread->worker.window_start_ps;
    if (node->one_source && node->alone && thread->sim->thread_count == 1 && node->far == NULL) {
        sim_mailbox_t *const box = &thread->worker.boxes[thread->worker.slot][node->index];
        if (box->filled_bytes > 0) {
            lend(thread, node, thread->worker.index, box);
            return;
        }
    }
    gather(thread, node);
}
