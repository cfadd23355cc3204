// SPDX-License-Identifier: Apache-2.0
// kernel/order/fifo_internal.h - what the files of ties by insertion (kernel/order/fifo.h) share.
//
//     fifo.c         places: who takes one, who keeps one until later
//     fifo_mail.c    a message and its place, from the sender to the receiver's list of a window
//     fifo_run.c     the events of a node, or of a unit, in order of (time, place)
//     fifo_number.c  after a window: what number each of its places is
//
// A place is what an event is given when it is scheduled; of two events at one instant the one with
// the lesser place comes first. A number is a place for all nodes and for good. While a window runs
// nobody knows numbers: a place taken in it is (record, minor), where a record is an event run in
// this window that takes places, counted by its thread, and minor counts those it takes. That is
// enough for the node itself: its own places of this window are all after those of earlier windows,
// and it takes them in order. Other nodes see them in later windows, by then as numbers.
#ifndef KERNEL_ORDER_FIFO_INTERNAL_H
#define KERNEL_ORDER_FIFO_INTERNAL_H

#include "kernel/engine_internal.h"
#include "kernel/order/fifo.h"

// A place of this window: HERE | record | minor | armed, from the highest bit to the lowest. armed
// is 1 + an index into `armed` of struct sim_fifo_log for a timer's, else 0.
#define SIM__FIFO_HERE (UINT64_C(1) << 63)
#define SIM__FIFO_RECORD_BITS 26u
#define SIM__FIFO_ARMED_BITS 25u
#define SIM__FIFO_MINORS (1u << SIM__FIFO_MINOR_BITS)
// A place in a message on its way: slot of the window it was taken in | record | minor.
#define SIM__FIFO_SLOT_SHIFT 60u

static_assert(SIM__FIFO_RECORD_BITS + SIM__FIFO_MINOR_BITS + SIM__FIFO_ARMED_BITS == 63,
              "a place is 64 bits");
static_assert(SIM_THREADS_MAX <= 1u << (32 - SIM__FIFO_RECORD_BITS), "an index names the thread");

// A message in a node's list of a window; key as in sim_mail_t.
typedef struct sim_fifo_mail {
    uint64_t key;
    uint64_t place;
    void *message;
} sim_fifo_mail_t;

typedef struct sim_fifo_wake {
    sim_time_t time_ps;
    uint64_t place;
    uint32_t port;
} sim_fifo_wake_t;

// An event that took places.
typedef struct sim_fifo_record {
    uint64_t place;     // its own
    uint32_t within_ps; // of the window
    uint32_t index;     // thread | position in its log
} sim_fifo_record_t;

// What a node has beside what sim_node_next sees of it: its real mail and wakes.
struct sim_fifo_node {
    const sim_fifo_mail_t *mail; // this window's from the next one on; ends in a sentinel
    sim_fifo_wake_t *wakes;      // by (time, place), in [wake_first, wake_end)
    uint32_t wake_first;
    uint32_t wake_end;
    uint32_t wake_capacity;
    uint32_t kept_count;
    uint64_t *kept;       // by port: the place kept for the next wake there; 0: none
    sim_time_t sample_ps; // of the earliest sampler, while the node runs
    // in units of several nodes
    sim_fifo_mail_t *own_mail;
    uint32_t own_count;
    uint32_t own_capacity;
    sim_time_t next_ps; // in the unit's heap: of its next event
    uint64_t next_place;
};

typedef struct sim_fifo_armed {
    sim_node_t *node;
    sim_timer_t *timer; // NULL: disarmed since
} sim_fifo_armed_t;

// Counts by buckets of time, about as many as there are entries to sort.
typedef struct sim_fifo_spread {
    uint32_t *starts;
    size_t capacity;
    uint32_t buckets;
    uint32_t shift; // of the time within the window
} sim_fifo_spread_t;

// A thread's part.
struct sim_fifo_log {
    uint64_t current; // place of the event being run
    bool in_event;
    bool open;      // its record is the last one, with `minor` places taken
    uint32_t minor; // of that record
    uint32_t slot;  // of the window
    uint32_t thread;
    sim_time_t now_ps;
    sim_time_t window_start_ps;
    sim_fifo_record_t *records;
    size_t record_count;
    size_t record_capacity;
    uint32_t *visits; // the record each unit began with
    size_t visit_count;
    size_t visit_capacity;
    sim_fifo_armed_t *armed; // timers armed by the unit being run
    size_t armed_count;
    size_t armed_capacity;
    uint64_t **pending; // places of this window that outlive it, to be made numbers
    size_t pending_count;
    size_t pending_capacity;
    // The ranks of the records of the last windows, by slot: kept as long as messages sent in them
    // may be on their way. A number is (base + rank) | minor.
    uint32_t *ranks[SIM_SLOTS];
    size_t rank_capacity[SIM_SLOTS];
    uint64_t rank_base[SIM_SLOTS];
    sim_fifo_mail_t *stage; // gathered, not yet sorted
    size_t stage_capacity;
    sim_fifo_mail_t *batch; // of the unit being run, when it has one node
    size_t batch_capacity;
    sim_fifo_spread_t spread;
    sim_mail_t view[SIM_MAIL_PAD + 1]; // what sim_node_next sees: one arrival...
    sim_wake_t wake;                   // ...or one wake
};

struct sim_fifo {
    uint64_t next_number; // before the run
    uint64_t next_first;  // before the run, of wakes at time 0: before all others
    uint64_t next_rank;
    sim_fifo_record_t *sorted; // scratch of fifo_number.c
    size_t sorted_capacity;
    sim_fifo_spread_t spread;
    struct sim_fifo_run *runs;
    size_t run_capacity;
};

static inline struct sim_fifo_log *sim__fifo_log(const sim_node_t *node)
{
    return sim__thread_of(node)->fifo;
}

static inline uint64_t sim__fifo_number_of(const struct sim_fifo_log *log,
                                           uint32_t slot,
                                           uint64_t record_minor)
{
    const uint64_t rank =
        log->rank_base[slot] + log->ranks[slot][record_minor >> SIM__FIFO_MINOR_BITS];
    return (rank << SIM__FIFO_MINOR_BITS) | (record_minor & (SIM__FIFO_MINORS - 1));
}

// Of a place of the window run last.
static inline uint64_t sim__fifo_local_number(const struct sim_fifo_log *log, uint64_t place)
{
    return sim__fifo_number_of(log, log->slot, (place & ~SIM__FIFO_HERE) >> SIM__FIFO_ARMED_BITS);
}

// Of a place in a message, sent by the log's thread.
static inline uint64_t sim__fifo_sent_number(const struct sim_fifo_log *log, uint64_t sent)
{
    return sim__fifo_number_of(log,
                               (uint32_t)(sent >> SIM__FIFO_SLOT_SHIFT),
                               sent & ((UINT64_C(1) << SIM__FIFO_SLOT_SHIFT) - 1));
}

// Takes `count` places, 1 or 2, for what the event being run schedules, and returns the first.
#define SIM__FIFO_NEXT_PLACE (UINT64_C(1) << SIM__FIFO_ARMED_BITS)
void sim__fifo_more_records(struct sim_fifo_log *log);
static inline void sim__fifo_open_record(struct sim_fifo_log *log)
{
    SIM_CHECK(log->in_event);
    if (SIM_UNLIKELY(log->record_count == log->record_capacity)) {
        sim__fifo_more_records(log);
    }
    log->records[log->record_count] = (sim_fifo_record_t){
        .place = log->current,
        .within_ps = (uint32_t)(log->now_ps - log->window_start_ps),
        .index = log->thread << SIM__FIFO_RECORD_BITS | (uint32_t)log->record_count,
    };
    log->record_count++;
    log->open = true;
    log->minor = 0;
}

static inline uint64_t sim__fifo_take(struct sim_fifo_log *log, uint32_t count)
{
    if (!log->open || SIM_UNLIKELY(log->minor + count > SIM__FIFO_MINORS)) {
        sim__fifo_open_record(log);
    }
    const uint64_t record = log->record_count - 1;
    const uint64_t place = ((record << SIM__FIFO_MINOR_BITS) | log->minor) << SIM__FIFO_ARMED_BITS;
    log->minor += count;
    return SIM__FIFO_HERE | place;
}

// The place in *place becomes a number once numbers are known; it stays where it is until then.
static inline void sim__fifo_pend(struct sim_fifo_log *log, uint64_t *place)
{
    if (log->pending_count == log->pending_capacity) {
        SIM_GROW(log->pending, log->pending_count, &log->pending_capacity);
    }
    log->pending[log->pending_count++] = place;
}

// The counters, all 0, for `count` times within a window.
uint32_t *sim__fifo_spread(sim_fifo_spread_t *spread, size_t count, sim_time_t window_ps);
// Makes the counts the places where buckets start.
void sim__fifo_spread_sum(sim_fifo_spread_t *spread);

// fifo_mail.c
void sim__fifo_gather(sim_thread_t *thread, sim_node_t *node);

// fifo_run.c
void sim__fifo_heap_lower(sim_unit_t *unit, sim_node_t *node);

#endif // KERNEL_ORDER_FIFO_INTERNAL_H
