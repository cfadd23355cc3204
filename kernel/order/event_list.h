// SPDX-License-Identifier: Apache-2.0
// kernel/order/event_list.h - the pending events of all nodes in one list, by (time, number).
//
// A calendar queue (Brown, Communications of the ACM 31(10), 1988) whose buckets are not kept in
// order: what is added is put behind what is there. A bucket is 1.024 ns. When its turn comes its
// events are copied to one array and sorted, which they mostly are already: numbers rise as events
// are added, and few instants fall into one bucket. Several that hold few events have their turn at
// once. Events are taken from that array, one behind the other in memory; what is added to these
// buckets now goes to its place in the array. What is due beyond a turn of all buckets, 4.2 us,
// waits in a heap. Adding and taking cost O(1), of the heap O(log n).
//
// Numbers are below 2^50; of events of one instant with one number those added first come first.
// The functions are inline because kernel/order/one_list.c is their one caller, for each event.
#ifndef KERNEL_ORDER_EVENT_LIST_H
#define KERNEL_ORDER_EVENT_LIST_H

#include "kernel/base.h"

SIM_C_BEGIN

#define SIM_LIST_BUCKET_BITS 10u // of picoseconds
#define SIM_LIST_BLOCK_BITS 14u  // likewise: buckets of one such block may have their turn at once
#define SIM_LIST_NUMBER_BITS (64u - SIM_LIST_BLOCK_BITS)
#define SIM_LIST_BUCKETS 4096u

typedef struct sim_list_what {
    void *message;
    uint32_t node;
    uint16_t port;
    uint16_t kind;
} sim_list_what_t;

typedef struct sim_list_event {
    uint64_t order; // time within the block | number
    sim_list_what_t what;
} sim_list_event_t;

// What a bucket holds is in chunks, each of which but the last is full; the last knows the first.
#define SIM_LIST_CHUNK_EVENTS 10u
typedef struct sim_list_chunk {
    sim_list_event_t events[SIM_LIST_CHUNK_EVENTS];
    struct sim_list_chunk *next; // of the last one: the first
    uint64_t unused;
} sim_list_chunk_t;
#define SIM_LIST_CHUNK_BYTES 256u
static_assert(sizeof(sim_list_chunk_t) == SIM_LIST_CHUNK_BYTES, "aligned to its size");
// Of an address: where in its chunk it is. At the end of the events: the chunk is full.
#define SIM_LIST_CHUNK_FULL (SIM_LIST_CHUNK_EVENTS * sizeof(sim_list_event_t))

typedef struct sim_list_late {
    sim_time_t time_ps;
    uint64_t order;
    sim_list_what_t what;
} sim_list_late_t;

typedef struct sim_event_list {
    uint64_t bucket;       // the last whose events are in `now`, from time 0; UINT64_MAX: none yet
    sim_time_t block_ps;   // where the block of the events in `now` begins
    sim_list_event_t *now; // sorted; those before `taken` are gone
    size_t taken;
    size_t now_count;
    size_t now_capacity;
    sim_list_chunk_t *free; // linked by next
    void **slabs;           // the memory of chunks
    size_t slab_count;
    size_t slab_capacity;
    sim_list_late_t *late; // a heap by (time, number)
    size_t late_count;
    size_t late_capacity;
    uint64_t late_bucket; // of the earliest; UINT64_MAX: none
    uint64_t words;       // a bit for each of `occupied` that has one
    uint64_t occupied[SIM_LIST_BUCKETS / 64];
    // By bucket, the address behind its last event; SIM_LIST_CHUNK_FULL: it has none.
    uintptr_t ends[SIM_LIST_BUCKETS];
} sim_event_list_t;

sim_event_list_t *sim__list_create(void);
void sim__list_destroy(sim_event_list_t *list); // NULL is allowed

// Where sim__list_add has no room at hand, or the event is for the heap or for `now`.
void sim__list_add_slow(sim_event_list_t *list,
                        sim_time_t time_ps,
                        uint64_t number,
                        sim_list_what_t what);
// Where all of `now` is taken: the turn of the next buckets that begin before end_ps. False: none
// does.
bool sim__list_turn(sim_event_list_t *list, sim_time_t end_ps);
// The time of the earliest event but those that is_stale, which will never be anything else.
// SIM_TIME_NEVER: there is none. Costs O(events of a bucket).
sim_time_t sim__list_next_ps(sim_event_list_t *list,
                             bool (*is_stale)(const void *ctx, const sim_list_event_t *event),
                             const void *ctx);

static inline uint64_t sim__list_order(sim_time_t time_ps, uint64_t number)
{
    return time_ps << SIM_LIST_NUMBER_BITS | number;
}

static inline uint64_t sim__list_number(const sim_list_event_t *event)
{
    return event->order & ((UINT64_C(1) << SIM_LIST_NUMBER_BITS) - 1);
}

static inline sim_time_t sim__list_time_ps(sim_time_t block_ps, const sim_list_event_t *event)
{
    return block_ps | event->order >> SIM_LIST_NUMBER_BITS;
}

// time_ps is neither before the event taken last nor before the end_ps that sim__list_first was
// given last.
static inline void sim__list_add(sim_event_list_t *list,
                                 sim_time_t time_ps,
                                 uint64_t number,
                                 sim_list_what_t what)
{
    const uint64_t bucket = time_ps >> SIM_LIST_BUCKET_BITS;
    uintptr_t *const end = &list->ends[bucket % SIM_LIST_BUCKETS];
    if (SIM_UNLIKELY(bucket - list->bucket - 1 >= SIM_LIST_BUCKETS - 1 ||
                     *end % SIM_LIST_CHUNK_BYTES == SIM_LIST_CHUNK_FULL)) {
        sim__list_add_slow(list, time_ps, number, what);
        return;
    }
    *(sim_list_event_t *)*end = (sim_list_event_t){sim__list_order(time_ps, number), what};
    *end += sizeof(sim_list_event_t);
}

// The earliest event that is due before end_ps, and when; valid until one is added. NULL: there
// is none.
static inline const sim_list_event_t *sim__list_first(sim_event_list_t *list,
                                                      sim_time_t end_ps,
                                                      sim_time_t *time_ps)
{
    if (list->taken == list->now_count && !sim__list_turn(list, end_ps)) {
        return NULL;
    }
    const sim_list_event_t *const event = &list->now[list->taken];
    *time_ps = sim__list_time_ps(list->block_ps, event);
    return SIM_LIKELY(*time_ps < end_ps) ? event : NULL;
}

// The earliest event leaves.
static inline void sim__list_take(sim_event_list_t *list)
{
    list->taken++;
}

SIM_C_END

#endif // KERNEL_ORDER_EVENT_LIST_H
