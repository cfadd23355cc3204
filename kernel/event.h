// SPDX-License-Identifier: Apache-2.0
// kernel/event.h - how a node takes its next event, sends, wakes itself and counts work.
//
// This is the per-event path, so the node and the worker are visible and the functions inline.
// A kind of node is a struct that starts with a sim_node_t, and one loop:
//
//     static void my_run(sim_node_t *node)
//     {
//         sim_event_t event;
//         while (sim_node_next(node, &event)) {
//             switch (event.kind) {
//             case SIM_EVENT_ARRIVAL: ...event.port, event.message...
//             case SIM_EVENT_WAKE:    ...event.port...
//             case SIM_EVENT_TIMER:   event.timer->fn(node, event.timer);
//
// Cost: next and wake O(1) (wakes come nearly in order), send O(1), timers O(log timers).
#ifndef KERNEL_EVENT_H
#define KERNEL_EVENT_H

#include "kernel/sim.h"
#include "kernel/timer.h"

SIM_C_BEGIN

// Windows, the current one included, that have mailboxes of their own; later arrivals take the far
// path. A power of two.
#define SIM_SLOTS 8u
#define SIM_PORT_BITS 16u
// A node, a port or a NIC rests when nothing that counts has happened to it for this long. Orders
// and draws that do not depend on absolute time begin anew after a rest.
#define SIM_REST_PS (10 * SIM_PS_PER_US)
// Entries behind a batch of mail that may be read, so that prefetching ahead needs no test.
#define SIM_MAIL_PAD 6u

// One message on its way: key = (time within its window << SIM_PORT_BITS) | port.
typedef struct sim_mail {
    uint64_t key;
    void *message;
} sim_mail_t;

static inline uint32_t sim_mail_port(const sim_mail_t *mail)
{
    return (uint32_t)mail->key & ((1u << SIM_PORT_BITS) - 1);
}

// A growing array of messages for one node and one window. Sizes are in bytes, so that adding a
// message takes one addition.
typedef struct sim_mailbox {
    sim_mail_t *mail;
    uint32_t filled_bytes;
    uint32_t room_bytes;
} sim_mailbox_t;

static inline uint32_t sim__mailbox_count(const sim_mailbox_t *box)
{
    return box->filled_bytes / (uint32_t)sizeof(sim_mail_t);
}

// Returns the place of the next message in a mailbox that has room for it.
static SIM_ALWAYS_INLINE sim_mail_t *sim__mailbox_next(sim_mailbox_t *box)
{
    const uint32_t at = box->filled_bytes;
    box->filled_bytes = at + (uint32_t)sizeof(sim_mail_t);
    return (sim_mail_t *)(void *)((char *)box->mail + at);
}

typedef struct sim_wake {
    sim_time_t time_ps;
    uint64_t rank; // among wakes of that time; its low bits are the port
} sim_wake_t;

static inline uint32_t sim_wake_port(const sim_wake_t *wake)
{
    return (uint32_t)wake->rank & ((1u << SIM_PORT_BITS) - 1);
}

typedef struct sim_worker sim_worker_t;
typedef struct sim_unit sim_unit_t;

struct sim_node {
    // what comes next
    const sim_mail_t *mail; // arrivals of this window that are still to come; ends in a sentinel
    sim_time_t window_start_ps;
    sim_time_t run_end_ps; // events at or after this time must wait
    sim_time_t wake_ps;    // when wakes[wake_first] is due; NEVER: there is none
    sim_time_t timer_ps;   // when the earliest timer is due; NEVER: there is none
    sim_time_t now_ps;     // time of the event being run
    uint64_t digest;       // of arrivals
    uint64_t events;       // run so far, background timers left out

    uint64_t tie_key; // hash of (tie seed, node)
    const sim_node_ops_t *ops;
    sim_worker_t *worker; // the thread of execution that runs this node
    sim_t *sim;
    sim_wake_t *wakes; // sorted by (time, tie rank), in [wake_first, wake_end)
    uint32_t wake_first;
    uint32_t wake_end;
    uint32_t wake_capacity;
    uint32_t timer_count;      // entries of `timers`
    sim_timer_entry_t *timers; // 4-ary heap by (time, sequence)
    uint64_t timer_sequence;
    struct sim_wheel *wheel; // timers due soon, of a node that expects many; else NULL

    // what it is
    char *name;
    sim_unit_t *unit;
    uint32_t index; // order of registration
    uint32_t timer_capacity;
    uint32_t mail_count;          // how many arrivals this window brought
    uint32_t kept_count;          // entries of `kept`
    struct sim_far *far;          // messages on long channels; NULL without any
    struct sim_sampler *samplers; // in order of registration

    // used by units of several nodes only
    sim_mail_t *own_mail;
    uint32_t own_count;
    uint32_t own_capacity;
    uint32_t unit_position;
    bool alone;      // the only node of its unit, which reads its mail in place
    bool watched;    // its events may end a step (sim_watch)
    bool one_source; // at most one channel leads here, so mail comes in order
    uint16_t rank;   // process that runs it, if sim_seat was called

    uint64_t *kept; // ties by insertion: by port, the number kept for its next wake

    // background timers (kernel/timer.h)
    uint32_t armed[SIM_TIMER_KINDS]; // timers in the heap, by kind
    uint64_t background_events;      // 1 + events when the last background timer fired
    sim_time_t event_ps;             // time of the last event before it
    uint64_t happened;               // sum of the values given to sim_happened
    sim_time_t instant_ps;  // time of the last timer that was armed for the present instant
    uint32_t instant_count; // number of such timers at that time
    bool ties_watched;      // kernel/fast_forward_notes.h
    bool ties_matter;       // the order of a watched tie may matter
    bool ties_kept;         // ties are watched during the whole run
    bool ties_mattered;     // of one the order changed more than how full a queue has been
    bool ties_anew;         // the count of ties began at 0 since

    // ties by rotor (kernel/order/rotor.c)
    uint64_t tie_time_mask; // 0: the order of wakes that tie does not depend on the time
    uint64_t ties;          // since the node's last rest, modulo 16
    sim_time_t tied_ps;     // time of the last tie
};

// The start of a window and its mailboxes, by node.
typedef struct sim_row {
    sim_time_t start_ps;
    sim_mailbox_t *boxes;
} sim_row_t;

// The part of a thread of execution that sending needs; the rest is in engine_internal.h.
struct sim_worker {
    sim_row_t ahead[2];              // the next window and the one after it
    sim_time_t direct_ps;            // their width; 0: every message takes sim__send_slow
    sim_time_t window_start_ps;      // start of the current window
    sim_time_t window_ps;            // width of every window
    sim_time_t window_end_ps;        // up to which the current one is run
    uint32_t slot;                   // mail slot of the current window
    uint32_t stride;                 // from one window of a node to its next: 1, or 2 with colours
    uint32_t index;                  // of this worker, from 0
    sim_mailbox_t *boxes[SIM_SLOTS]; // by slot and node; those of one slot lie together
    uint64_t *active[SIM_SLOTS];     // by slot: a bit for each unit that has something to do
    bool slot_used[SIM_SLOTS];
    uint8_t *box_class;       // by node: the size class of its latest mailbox
    uint64_t progress;        // calls of sim_progress
    sim_time_t progress_ps;   // the latest time of one
    int64_t work_count;       // work begun less work finished, by nodes of this worker
    sim_time_t background_ps; // background timers armed here are due then or later
    uint64_t upkeep;          // calls of sim_upkeep
};

// The part of a channel that sending reads, four to a cache line; the rest is in engine_internal.h.
struct sim_channel {
    uint32_t box_bytes;  // offset of the receiver's mailbox in a row; near: of one always full
    uint16_t port;       // where messages arrive
    uint16_t near : 1;   // both ends run in one unit, or it is away
    uint16_t away : 1;   // another rank runs the receiver
    uint16_t place : 14; // away: of that rank among this one's neighbours
    uint32_t unit_index; // of the receiver's unit; away: of the receiver
    uint32_t index;      // of this channel, from 0
};
static_assert(sizeof(struct sim_channel) == 16, "four channels to a cache line");

// Returns the mailbox of the channel's receiver in a row of mailboxes.
static SIM_ALWAYS_INLINE sim_mailbox_t *sim__mailbox_at(sim_mailbox_t *row,
                                                        const sim_channel_t *channel)
{
    return (sim_mailbox_t *)(void *)((char *)row + channel->box_bytes);
}

// Returns the rank of a port among those that tie at one instant of a node; lower ranks go first.
// The order is random and new for every instant: each port is first or last equally often. Only
// the low 16 bits hold the port, so two ports never have one rank.
static inline uint64_t sim__tie_rank(uint64_t tie_key, sim_time_t time_ps, uint32_t port)
{
    const uint64_t hash = sim_mix64((time_ps ^ tie_key) + port * UINT64_C(0x9e3779b97f4a7c15));
    return (hash & ~(uint64_t)((1u << SIM_PORT_BITS) - 1)) | port;
}

// Returns the rank of a wake of a port among those that tie at one instant.
static inline uint64_t sim__wake_rank(const sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    return sim__tie_rank(node->tie_key, time_ps & node->tie_time_mask, port);
}

#ifdef SIM_DEAR_CHECKS
void sim__check_send(const sim_node_t *from, const sim_channel_t *channel, sim_time_t arrive_ps);
#endif
// Sends a message that arrives after the next two windows or within the current one, or needs a
// number. Kept out of line, as a tail call: sim_send then needs no stack frame.
void sim__send_slow(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message);
// Sends into a mailbox of the next two windows that is full. Every mailbox counts as full before
// its first message, which also marks the receiver's unit as active.
void sim__send_first(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message);
// Takes the node's earliest timer, moves now_ps to its time and counts the event.
sim_timer_t *sim__timer_pop(sim_node_t *node);
// Adds a wake for which wakes[] has no room, as it never has where ties go by insertion.
void sim__wake_slow(sim_node_t *node, sim_time_t time_ps, uint32_t port);

// Sends into a mailbox of the next two windows, of width_ps each, or else through `otherwise`.
static SIM_ALWAYS_INLINE void sim__send_ahead(
    sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps, void *message,
    sim_time_t width_ps,
    void (*otherwise)(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps,
                      void *message))
{
    // The choice between the two windows is as unpredictable as a coin, so no branch distinguishes
    // them. An arrival within the current window, which only near channels have, wraps to a large
    // value.
    const sim_worker_t *const worker = from->worker;
    const sim_row_t *const row = &worker->ahead[arrive_ps >= worker->ahead[1].start_ps];
    const sim_time_t within_ps = arrive_ps - row->start_ps;
    if (SIM_UNLIKELY(within_ps >= width_ps)) {
        otherwise(from, channel, arrive_ps, message);
        return;
    }
    sim_mailbox_t *const box = sim__mailbox_at(row->boxes, channel);
    if (SIM_UNLIKELY(box->filled_bytes == box->room_bytes)) {
        sim__send_first(from, channel, arrive_ps, message);
        return;
    }
    sim_mail_t *const mail = sim__mailbox_next(box);
    mail->key = (within_ps << SIM_PORT_BITS) | channel->port;
    mail->message = message;
}

// Sends message so that it arrives at arrive_ps: at least the channel's delay from now, and not
// before any message sent earlier on this channel. The receiver owns the message from here on.
static SIM_ALWAYS_INLINE void sim_send(sim_node_t *from, sim_channel_t *channel,
                                       sim_time_t arrive_ps, void *message)
{
#ifdef SIM_DEAR_CHECKS
    sim__check_send(from, channel, arrive_ps);
#endif
    sim__send_ahead(from, channel, arrive_ps, message, from->worker->direct_ps, sim__send_slow);
}

// Schedules a wake event of this node at `port` for time_ps >= now. Wakes cannot be cancelled.
static inline void sim_wake(sim_node_t *node, sim_time_t time_ps, uint32_t port)
{
    SIM_ASSERT(time_ps >= node->now_ps);
    if (SIM_UNLIKELY(node->wake_end == node->wake_capacity)) {
        sim__wake_slow(node, time_ps, port);
        return;
    }
    sim_wake_t *const wakes = node->wakes;
    const uint64_t rank = sim__wake_rank(node, time_ps, port);
    uint32_t i = node->wake_end++;
    while (i > node->wake_first &&
           (wakes[i - 1].time_ps > time_ps ||
            (wakes[i - 1].time_ps == time_ps && wakes[i - 1].rank > rank))) {
        wakes[i] = wakes[i - 1];
        i--;
    }
    wakes[i] = (sim_wake_t){time_ps, rank};
    node->wake_ps = wakes[node->wake_first].time_ps;
}

// Schedules the only wake of a node that never has two at a time and knows its port by itself. The
// node takes it with sim_take_only_wake.
static inline void sim_wake_only(sim_node_t *node, sim_time_t time_ps)
{
    node->wake_ps = time_ps;
}
// Takes the node's only wake, by whichever function it was scheduled; its time is now.
static inline void sim_take_only_wake(sim_node_t *node)
{
    node->now_ps = node->wake_ps;
    node->wake_ps = SIM_TIME_NEVER;
    node->wake_first = node->wake_end = 0;
    node->events++;
}

typedef enum sim_event_kind { SIM_EVENT_ARRIVAL, SIM_EVENT_WAKE, SIM_EVENT_TIMER } sim_event_kind_t;

struct sim_event {
    sim_event_kind_t kind;
    uint32_t port; // arrival, wake
    union {
        void *message;      // arrival
        sim_timer_t *timer; // timer; already disarmed
    };
};

// Returns the digest of a node after one more arrival. A node's digest covers where and when
// messages arrived, in order, and, as a sum, what the node decided and finished (sim_happened). How
// many wakes and timers that took, and the order of ports within it, cannot show.
static inline uint64_t sim__digest_arrival(uint64_t digest, sim_time_t time_ps, uint32_t port)
{
    return (digest + (time_ps << SIM_PORT_BITS) + port) * UINT64_C(0xd6e8feb86659fd93);
}

// Returns the digest after an arrival given by its key in a window that begins at start_ps.
static inline uint64_t sim__digest_key(uint64_t digest, sim_time_t start_ps, uint64_t key)
{
    return (digest + (start_ps << SIM_PORT_BITS) + key) * UINT64_C(0xd6e8feb86659fd93);
}

// Adds to the digest of the run that this node decided or finished something: its kind (a letter
// that the calling room chose), its time and its value.
static inline void sim_happened(sim_node_t *node, char kind, sim_time_t time_ps, uint64_t what)
{
    node->happened += sim_mix64(sim_mix64(time_ps ^ ((uint64_t)(unsigned char)kind << 56)) ^ what);
}

// Returns when the node's next arrival of this window is due; far in the future: there is none.
static inline sim_time_t sim__mail_time(const sim_node_t *node)
{
    return node->window_start_ps + (node->mail->key >> SIM_PORT_BITS);
}

// Takes the node's next arrival, which is due at mail_ps; prefetches the message of a later one.
static inline const sim_mail_t *sim__take_mail(sim_node_t *node, sim_time_t mail_ps)
{
    const sim_mail_t *const mail = node->mail++;
    __builtin_prefetch(mail[5].message);
    node->now_ps = mail_ps;
    node->digest = sim__digest_arrival(node->digest, mail_ps, sim_mail_port(mail));
    node->events++;
    return mail;
}

// Takes the next event of the node and sets node->now_ps to its time. False: there is none before
// run_end_ps.
static inline bool sim_node_next(sim_node_t *node, sim_event_t *event)
{
    const sim_time_t mail_ps = sim__mail_time(node);
    if (mail_ps <= node->wake_ps && mail_ps <= node->timer_ps) {
        if (mail_ps >= node->run_end_ps) {
            return false;
        }
        const sim_mail_t *const mail = sim__take_mail(node, mail_ps);
        event->kind = SIM_EVENT_ARRIVAL;
        event->port = sim_mail_port(mail);
        event->message = mail->message;
        return true;
    }
    if (node->wake_ps <= node->timer_ps) {
        if (node->wake_ps >= node->run_end_ps) {
            return false;
        }
        const sim_wake_t *const wake = &node->wakes[node->wake_first++];
        node->now_ps = wake->time_ps;
        event->kind = SIM_EVENT_WAKE;
        event->port = sim_wake_port(wake);
        node->events++;
        if (node->wake_first == node->wake_end) {
            node->wake_first = node->wake_end = 0;
            node->wake_ps = SIM_TIME_NEVER;
        } else {
            node->wake_ps = node->wakes[node->wake_first].time_ps;
        }
        return true;
    }
    if (node->timer_ps >= node->run_end_ps) {
        return false;
    }
    event->kind = SIM_EVENT_TIMER;
    event->port = 0;
    event->timer = sim__timer_pop(node);
    return true;
}

// Returns whether another arrival is due at this very instant.
static inline bool sim_node_arrivals_tie(const sim_node_t *node)
{
    return sim__mail_time(node) == node->now_ps;
}

// Count `count` pieces of work that a program on this node begins or finishes. A run that ends with
// work outstanding has stalled.
static inline void sim_work_begin(sim_node_t *node, uint32_t count)
{
    node->worker->work_count += count;
}
static inline void sim_work_end(sim_node_t *node, uint32_t count)
{
    node->worker->work_count -= count;
}

// Restarts the stall detector: something useful happened (new data delivered, work finished). It
// counts from the latest such time, which need not be the last call's: nodes run one by one.
static inline void sim_progress(sim_node_t *node)
{
    sim_worker_t *const worker = node->worker;
    worker->progress++;
    worker->progress_ps = SIM_MAX(node->now_ps, worker->progress_ps);
}

// Declares that the event being run only keeps a state in force (kernel/timer.h): a pause that is
// repeated, a peer that learns of it again. Call it once in an event.
static inline void sim_upkeep(sim_node_t *node)
{
    node->worker->upkeep++;
}

SIM_C_END

#endif // KERNEL_EVENT_H
