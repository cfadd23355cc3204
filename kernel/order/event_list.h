// SPDX-License-Identifier: Apache-2.0
// kernel/order/event_list.h - the pending events of all nodes in one list, by (time, number).
//
// A calendar queue (Brown, Communications of the ACM 31(10), 1988). A bucket is 1.024 ns, so narrow
// that what is added to one mostly comes behind all that is in it; its events are linked in their
// order. What is due beyond a turn of the buckets, 4.2 us, waits in a heap. Adding and taking cost
// O(1), of the heap O(log n).
//
// Numbers are below 2^54; of events of one instant with one number those added first come first.
// The functions are inline because kernel/order/fifo.c is their one caller, for each event.
#ifndef KERNEL_ORDER_EVENT_LIST_H
#define KERNEL_ORDER_EVENT_LIST_H

#include "kernel/base.h"

SIM_C_BEGIN

#define SIM_LIST_BUCKET_BITS 10u // of picoseconds
#define SIM_LIST_NUMBER_BITS (64u - SIM_LIST_BUCKET_BITS)
#define SIM_LIST_BUCKETS 4096u

typedef struct sim_list_what {
    void *message; // not NULL: it is fetched ahead, and a prefetch of NULL would stall
    uint32_t node;
    uint16_t port;
    uint16_t kind;
} sim_list_what_t;

typedef struct sim_list_event {
    uint64_t order; // time within the bucket | number
    sim_list_what_t what;
    uint32_t next;     // in the bucket; 0: none
    uint32_t previous; // in the bucket; 0: none
} sim_list_event_t;
static_assert(sizeof(sim_list_event_t) == 32, "two to a cache line");

typedef struct sim_list_late {
    sim_time_t time_ps;
    uint64_t order;
    sim_list_what_t what;
} sim_list_late_t;

typedef struct sim_event_list {
    uint64_t bucket;          // that time has come to, counted from time 0
    uint64_t soonest;         // of the next event, unless that is late_bucket; UINT64_MAX: of none
    sim_list_event_t *events; // [0]: none, with order 0
    uint32_t free;            // linked by next; 0: none
    uint32_t event_count;
    size_t event_capacity;
    sim_list_late_t *late; // a heap by (time, number)
    size_t late_count;
    size_t late_capacity;
    uint64_t late_bucket; // of the earliest; UINT64_MAX: none
    uint64_t words;       // a bit for each of `occupied` that has one
    uint64_t occupied[SIM_LIST_BUCKETS / 64];
    uint32_t first[SIM_LIST_BUCKETS]; // 0: none
    uint32_t last[SIM_LIST_BUCKETS];
} sim_event_list_t;

sim_event_list_t *sim__list_create(void);
void sim__list_destroy(sim_event_list_t *list); // NULL is allowed

// Where sim__list_add has no free event, or no bucket for that time.
void sim__list_add_slow(sim_event_list_t *list,
                        sim_time_t time_ps,
                        uint64_t order,
                        sim_list_what_t what);
// Moves the events of late_bucket, which is not after `soonest`, to the others.
void sim__list_recall(sim_event_list_t *list);

static inline uint32_t sim__list_index(uint64_t bucket)
{
    return (uint32_t)(bucket % SIM_LIST_BUCKETS);
}

// Links events[added] into its bucket: behind all that come before it or have its number.
static inline void sim__list_link(sim_event_list_t *list, uint32_t bucket, uint32_t added)
{
    sim_list_event_t *const events = list->events;
    uint32_t after = list->last[bucket];
    uint32_t next = 0;
    if (after == 0) {
        list->occupied[bucket / 64] |= UINT64_C(1) << (bucket % 64);
        list->words |= UINT64_C(1) << (bucket / 64);
    }
    while (SIM_UNLIKELY(events[after].order > events[added].order)) { // [0] is before all
        next = after;
        after = events[after].previous;
    }
    events[added].next = next;
    events[added].previous = after;
    *(after == 0 ? &list->first[bucket] : &events[after].next) = added;
    *(next == 0 ? &list->last[bucket] : &events[next].previous) = added;
}

// time_ps is not before the event taken last.
static inline void sim__list_add(sim_event_list_t *list,
                                 sim_time_t time_ps,
                                 uint64_t number,
                                 sim_list_what_t what)
{
    const uint64_t bucket = time_ps >> SIM_LIST_BUCKET_BITS;
    const uint64_t order = time_ps << SIM_LIST_NUMBER_BITS | number;
    const uint32_t added = list->free;
    if (SIM_UNLIKELY(bucket - list->bucket >= SIM_LIST_BUCKETS || added == 0)) {
        sim__list_add_slow(list, time_ps, order, what);
        return;
    }
    sim_list_event_t *const event = &list->events[added];
    list->free = event->next;
    event->order = order;
    event->what = what;
    sim__list_link(list, sim__list_index(bucket), added);
    list->soonest = bucket < list->soonest ? bucket : list->soonest;
}

// The next bucket with something in it, from this one on; UINT64_MAX: none has.
static inline uint64_t sim__list_next_bucket(const sim_event_list_t *list, uint64_t bucket)
{
    const uint32_t from = sim__list_index(bucket);
    const uint64_t here = list->occupied[from / 64] >> (from % 64);
    if (SIM_LIKELY(here != 0)) {
        return bucket + (uint32_t)__builtin_ctzll(here);
    }
    if (list->words == 0) {
        return UINT64_MAX;
    }
    // Words behind this one first; a word of lower number is of the next turn.
    const uint64_t behind = list->words & (~UINT64_C(1) << (from / 64));
    const uint32_t word = (uint32_t)__builtin_ctzll(behind != 0 ? behind : list->words);
    const uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(list->occupied[word]);
    return bucket + (found - from) % SIM_LIST_BUCKETS;
}

// The earliest event, valid until one is added or taken; NULL: there is none.
static inline const sim_list_event_t *sim__list_first(sim_event_list_t *list)
{
    if (SIM_UNLIKELY(list->late_bucket <= list->soonest)) {
        if (list->late_bucket == UINT64_MAX) {
            return NULL;
        }
        sim__list_recall(list);
    }
    return &list->events[list->first[sim__list_index(list->soonest)]];
}

// It leaves.
static inline void sim__list_take(sim_event_list_t *list)
{
    const uint32_t bucket = sim__list_index(list->soonest);
    const uint32_t taken = list->first[bucket];
    const uint32_t next = list->events[taken].next;
    list->bucket = list->soonest;
    list->first[bucket] = next;
    list->events[next].previous = 0; // [0]'s means nothing
    list->events[taken].next = list->free;
    list->free = taken;
    if (next == 0) {
        list->last[bucket] = 0;
        list->occupied[bucket / 64] &= ~(UINT64_C(1) << (bucket % 64));
        if (list->occupied[bucket / 64] == 0) {
            list->words &= ~(UINT64_C(1) << (bucket / 64));
        }
        list->soonest = sim__list_next_bucket(list, list->soonest);
    }
}

// To be fetched ahead: of the event behind the one taken last, as far as that is known.
static inline const void *sim__list_next_message(const sim_event_list_t *list)
{
    return list->events[list->first[sim__list_index(list->soonest)]].what.message;
}

// Of the earliest event.
static inline sim_time_t sim__list_time_ps(const sim_event_list_t *list,
                                           const sim_list_event_t *event)
{
    return (list->soonest << SIM_LIST_BUCKET_BITS) | event->order >> SIM_LIST_NUMBER_BITS;
}

static inline uint64_t sim__list_number(const sim_list_event_t *event)
{
    return event->order & ((UINT64_C(1) << SIM_LIST_NUMBER_BITS) - 1);
}

SIM_C_END

#endif // KERNEL_ORDER_EVENT_LIST_H
