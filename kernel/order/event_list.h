// SPDX-License-Identifier: Apache-2.0
// kernel/order/event_list.h - the pending events of all nodes in one list, by (time, number).
//
// This is a calendar queue (Brown, Communications of the ACM 31(10), 1988) with buckets of 1.024 ns
// that are sorted late. An event is appended to its bucket. When the bucket's turn comes, its
// events are copied to one array and sorted. They mostly are already: numbers rise as events are
// added, and few instants fall into one bucket. Buckets with few events share a turn. Events are
// taken from the array in memory order; an event added to these buckets meanwhile is inserted into
// the array. An event due later than a turn of all buckets, 4.2 us, waits in a heap. Adding and
// taking cost O(1), for the heap O(log n).
//
// Numbers are below 2^50. Events of equal time and number keep the order in which they were added.
// Functions are inline because kernel/order/one_list.c is their only caller, for each event.
#ifndef KERNEL_ORDER_EVENT_LIST_H
#define KERNEL_ORDER_EVENT_LIST_H

#include "kernel/base.h"

SIM_C_BEGIN

#define SIM_LIST_BUCKET_BITS 10u // width of a bucket: 2^10 ps
#define SIM_LIST_BLOCK_BITS 14u  // of a block: buckets of one block may share a turn
#define SIM_LIST_NUMBER_BITS (64u - SIM_LIST_BLOCK_BITS)
#define SIM_LIST_BUCKETS 4096u

// The payload of an event.
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

// Part of a bucket. All chunks of a bucket but the last are full; the last points at the first.
#define SIM_LIST_CHUNK_EVENTS 10u
typedef struct sim_list_chunk {
    sim_list_event_t events[SIM_LIST_CHUNK_EVENTS];
    struct sim_list_chunk *next; // in the last chunk: the first one
    uint64_t unused;
} sim_list_chunk_t;
#define SIM_LIST_CHUNK_BYTES 256u
static_assert(sizeof(sim_list_chunk_t) == SIM_LIST_CHUNK_BYTES, "aligned to its size");
// The offset, in its chunk, of the address behind the last event of a full chunk.
#define SIM_LIST_CHUNK_FULL (SIM_LIST_CHUNK_EVENTS * sizeof(sim_list_event_t))

// An event that waits in the heap.
typedef struct sim_list_late {
    sim_time_t time_ps;
    uint64_t order;
    sim_list_what_t what;
} sim_list_late_t;

typedef struct sim_event_list {
    uint64_t bucket;       // the last bucket, from time 0, that had its turn; UINT64_MAX: none yet
    sim_time_t block_ps;   // start of the block of the events in `now`
    sim_list_event_t *now; // events of the buckets in turn, sorted; those before `taken` are gone
    size_t taken;
    size_t now_count;
    size_t now_capacity;
    sim_list_chunk_t *free; // unused chunks, linked by next
    void **slabs;           // memory of chunks
    size_t slab_count;
    size_t slab_capacity;
    sim_list_late_t *late; // a heap by (time, number)
    size_t late_count;
    size_t late_capacity;
    uint64_t late_bucket; // bucket of the heap's earliest event; UINT64_MAX: there is none
    uint64_t words;       // a bit for each word of `occupied` that is not 0
    uint64_t occupied[SIM_LIST_BUCKETS / 64]; // a bit for each bucket that has events
    // By bucket, the address behind its last event; SIM_LIST_CHUNK_FULL: it has no events.
    uintptr_t ends[SIM_LIST_BUCKETS];
} sim_event_list_t;

sim_event_list_t *sim__list_create(void);
void sim__list_destroy(sim_event_list_t *list); // NULL is allowed

// Adds an event for which sim__list_add has no room at hand, or which goes to the heap or to `now`.
void sim__list_add_slow(sim_event_list_t *list, sim_time_t time_ps, uint64_t number,
                        sim_list_what_t what);
// Fills `now`, when all its events are taken, from the next buckets that begin before end_ps.
// False: there are none.
bool sim__list_turn(sim_event_list_t *list, sim_time_t end_ps);
// Returns the time of the earliest event for which is_stale is false; SIM_TIME_NEVER: there is
// none. An event that is stale must stay so. Costs O(events of a bucket).
sim_time_t sim__list_next_ps(sim_event_list_t *list,
                             bool (*is_stale)(const void *ctx, const sim_list_event_t *event),
                             const void *ctx);

// Returns the sort key of an event within its block.
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

// Adds an event. time_ps must not be before the last event taken, nor before the end_ps last given
// to sim__list_first.
static inline void sim__list_add(sim_event_list_t *list, sim_time_t time_ps, uint64_t number,
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

// Returns the earliest event due before end_ps and sets *time_ps; valid until an event is added.
// NULL: there is none.
static inline const sim_list_event_t *sim__list_first(sim_event_list_t *list, sim_time_t end_ps,
                                                      sim_time_t *time_ps)
{
    if (list->taken == list->now_count && !sim__list_turn(list, end_ps)) {
        return NULL;
    }
    const sim_list_event_t *const event = &list->now[list->taken];
    *time_ps = sim__list_time_ps(list->block_ps, event);
    return SIM_LIKELY(*time_ps < end_ps) ? event : NULL;
}

// Removes the earliest event.
static inline void sim__list_take(sim_event_list_t *list)
{
    list->taken++;
}

SIM_C_END

#endif // KERNEL_ORDER_EVENT_LIST_H
