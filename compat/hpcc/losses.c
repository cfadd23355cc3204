// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/losses.c - losses that are drawn in the order of the HPCC project's simulator: that
// of arrivals, over all links that share a rate.
//
// Where nodes run apart for a window, frames are noted as they are sent, and all that arrive in a
// window are known before it runs. So their draws are made between windows, and a frame brings what
// was drawn. Most windows draw no loss: only where one does is it looked up whose number that was,
// by the time of arrival, and of one instant by who was sent first. Where events come one by one
// (ties: list), the draw is made as the frame arrives.
#include <stdlib.h>
#include <string.h>

#include "compat/hpcc/hpcc_internal.h"
#include "kernel/record.h"

#define LOSS_STREAM 50 // a constant there

// Links that take turns with one stream of numbers.
typedef struct turns {
    struct compat_losses *losses;
    compat_draws_stream_t *stream; // NULL: no such links
    double chance;
    size_t arrivals;         // of the window looked at
    struct turns *next_busy; // another one that has some
} turns_t;

// A frame on its way whose draw is to come.
typedef struct pending {
    sim_time_t arrive_ps;
    uint64_t number; // counts those noted, in the order they were sent
    turns_t *turns;
    net_packet_t *packet;
} pending_t;

typedef struct pendings {
    pending_t *items;
    size_t count;
    size_t capacity;
} pendings_t;

typedef struct compat_losses {
    sim_t *sim;
    turns_t *turns; // of all links without a rate of their own; by link
    size_t turns_count;
    sim_stream_t *notes; // NULL: draws are made at once
    sim_time_t near_end_ps;
    pendings_t near; // arrives before near_end_ps, as noted
    pendings_t far;  // later: a heap by (arrive_ps, number)
    pendings_t now;  // of the window looked at
    uint64_t next_number;
} compat_losses_t;

#define NEAR_WINDOWS 4

static bool draw(const turns_t *turns)
{
    return compat_draws_stream_next(turns->stream) < turns->chance;
}

// -- at once

static bool is_lost_now(const net_port_t *port, const net_packet_t *packet)
{
    (void)packet;
    return draw(port->arrival_loss_ctx);
}

static const net_arrival_loss_t at_once = {.is_lost = is_lost_now};

// -- between windows

static bool is_before(const pending_t *a, const pending_t *b)
{
    return a->arrive_ps != b->arrive_ps ? a->arrive_ps < b->arrive_ps : a->number < b->number;
}

static void add(pendings_t *list, pending_t entry)
{
    SIM_GROW(list->items, list->count, &list->capacity);
    list->items[list->count++] = entry;
}

static void push(pendings_t *far, pending_t entry)
{
    add(far, entry);
    pending_t *const heap = far->items;
    size_t i = far->count - 1;
    while (i > 0 && is_before(&entry, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = entry;
}

static pending_t pop(pendings_t *far)
{
    pending_t *const heap = far->items;
    const pending_t top = heap[0];
    const pending_t last = heap[--far->count];
    const size_t count = far->count;
    size_t i = 0;
    for (size_t child = 1; child < count; child = i * 2 + 1) {
        child += child + 1 < count && is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &last)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

static void note(const net_port_t *port, net_packet_t *packet, sim_time_t arrive_ps)
{
    const sim_node_t *const node = &port->node->sim;
    turns_t *const turns = port->arrival_loss_ctx;
    const pending_t entry = {.arrive_ps = arrive_ps, .turns = turns, .packet = packet};
    memcpy(sim_stream_put(turns->losses->notes, node, node->now_ps, sizeof(entry)),
           &entry,
           sizeof(entry));
}

static void take_note(sim_time_t time_ps,
                      uint32_t node_index,
                      const void *record,
                      size_t record_bytes,
                      void *ctx)
{
    (void)time_ps;
    (void)node_index;
    compat_losses_t *const losses = ctx;
    pending_t entry;
    SIM_CHECK(record_bytes == sizeof(entry));
    memcpy(&entry, record, sizeof(entry));
    entry.number = losses->next_number++;
    if (entry.arrive_ps < losses->near_end_ps) {
        add(&losses->near, entry);
    } else {
        push(&losses->far, entry);
    }
}

// What arrives before end_ps, from `near` into `now`, and counted. Returns the turns it takes.
static turns_t *collect(compat_losses_t *losses, sim_time_t end_ps)
{
    turns_t *busy = NULL;
    pendings_t *const near = &losses->near;
    size_t kept = 0;
    losses->now.count = 0;
    for (size_t i = 0; i < near->count; i++) {
        if (near->items[i].arrive_ps < end_ps) {
            turns_t *const turns = near->items[i].turns;
            if (turns->arrivals++ == 0) {
                turns->next_busy = busy;
                busy = turns;
            }
            add(&losses->now, near->items[i]);
        } else {
            near->items[kept++] = near->items[i];
        }
    }
    near->count = kept;
    return busy;
}

static int compare(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : 1; // numbers differ
}

// The arrival of `now` whose turn it was to have the draw numbered `at` of its window is lost.
static void lose(compat_losses_t *losses, turns_t *turns, size_t at, bool *sorted)
{
    if (!*sorted) {
        qsort(losses->now.items, losses->now.count, sizeof(*losses->now.items), compare);
        *sorted = true;
    }
    for (size_t i = 0; i < losses->now.count; i++) {
        const pending_t *const entry = &losses->now.items[i];
        if (entry->turns == turns && at-- == 0) {
            entry->packet->lost = true;
            return;
        }
    }
    SIM_CHECK(false);
}

// What arrives in the window that begins now was sent before it: nodes are kept apart.
static void before_window(sim_time_t start_ps, void *ctx)
{
    compat_losses_t *const losses = ctx;
    const sim_time_t window_ps = sim_window_ps(losses->sim);
    losses->near_end_ps = start_ps + NEAR_WINDOWS * window_ps;
    while (losses->far.count > 0 && losses->far.items[0].arrive_ps < losses->near_end_ps) {
        add(&losses->near, pop(&losses->far));
    }
    bool sorted = false;
    for (turns_t *turns = collect(losses, start_ps + window_ps); turns != NULL;
         turns = turns->next_busy) {
        for (size_t i = 0; i < turns->arrivals; i++) {
            if (draw(turns)) {
                lose(losses, turns, i, &sorted);
            }
        }
        turns->arrivals = 0;
    }
}

static bool was_lost(const net_port_t *port, const net_packet_t *packet)
{
    (void)port;
    return packet->lost;
}

static const net_arrival_loss_t between_windows = {.sent = note, .is_lost = was_lost};

// -- set-up

static void set_up_link(compat_hpcc_t *rules, size_t index, const net_arrival_loss_t *how)
{
    compat_losses_t *const losses = rules->losses;
    const net_link_t *const link = net_link_at(rules->net, index);
    const sim_ratio_t rate = link->config->loss_rate;
    turns_t *const turns = &losses->turns[link->config->loss_own ? index + 1 : 0];
    if (turns->stream == NULL) {
        turns->losses = losses;
        turns->stream = compat_draws_stream_create(sim_options(losses->sim)->seed, LOSS_STREAM);
        turns->chance = (double)rate.num / (double)rate.den;
    }
    net_port_t *const ends[2] = {&link->a->ports[link->a_port], &link->b->ports[link->b_port]};
    for (int e = 0; e < 2; e++) {
        ends[e]->arrival_loss = how;
        ends[e]->arrival_loss_ctx = turns;
    }
}

static compat_losses_t *losses_create(const compat_hpcc_t *rules)
{
    compat_losses_t *const losses = sim_alloc(sizeof(*losses));
    losses->sim = net_sim(rules->net);
    losses->turns_count = net_link_count(rules->net) + 1;
    losses->turns = sim_alloc_array(losses->turns_count, sizeof(*losses->turns));
    if (compat__draws_at_once(rules) == NULL) {
        losses->notes = sim_stream_create(losses->sim, take_note, losses);
        sim_on_window(losses->sim, before_window, losses);
    }
    return losses;
}

// A stream for the links that share a rate, and one for each that has its own; all are equal.
void compat__losses_prepare(compat_hpcc_t *rules)
{
    if (rules->draws == NULL) {
        return;
    }
    for (size_t i = 0; i < net_link_count(rules->net); i++) {
        if (net_link_at(rules->net, i)->config->loss_rate.num == 0) {
            continue;
        }
        if (rules->losses == NULL) {
            rules->losses = losses_create(rules);
        }
        set_up_link(rules, i, rules->losses->notes == NULL ? &at_once : &between_windows);
    }
}

void compat__losses_free(compat_hpcc_t *rules)
{
    compat_losses_t *const losses = rules->losses;
    if (losses == NULL) {
        return;
    }
    for (size_t i = 0; i < losses->turns_count; i++) {
        compat_draws_stream_destroy(losses->turns[i].stream);
    }
    sim_free(losses->turns);
    sim_free(losses->near.items);
    sim_free(losses->far.items);
    sim_free(losses->now.items);
    sim_free(losses);
}
