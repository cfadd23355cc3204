// SPDX-License-Identifier: Apache-2.0
// kernel/order/event_list.c - the rare cases of the event list: memory, turns of buckets, the heap.
#include "kernel/order/event_list.h"

#include <string.h>

static_assert(SIM_LIST_BUCKETS / 64 == 64, "a word has a bit for each word");

#define SLAB_BYTES 65536u

static inline void make_room(sim_event_list_t *list, size_t count)
{
    while (SIM_UNLIKELY(list->now_capacity - list->now_count < count)) {
        SIM_GROW(list->now, list->now_capacity, &list->now_capacity);
    }
}

sim_event_list_t *sim__list_create(void)
{
    sim_event_list_t *const list = sim_alloc_lines(sizeof(*list));
    list->bucket = UINT64_MAX;
    list->late_bucket = UINT64_MAX;
    for (uint32_t i = 0; i < SIM_LIST_BUCKETS; i++) {
        list->ends[i] = SIM_LIST_CHUNK_FULL;
    }
    make_room(list, SIM_LIST_CHUNK_EVENTS);
    return list;
}

void sim__list_destroy(sim_event_list_t *list)
{
    if (list != NULL) {
        sim_free_each(list->slabs, list->slab_count);
        SIM_FREE_ALL(list->slabs, list->now, list->late, list);
    }
}

// -- the heap of events due later than a turn
//
// With kernel/heap.h, events of one time and number would leave in another order, and results would
// change.

static inline bool is_before(const sim_list_late_t *a, const sim_list_late_t *b)
{
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->order < b->order;
}

static void note_earliest(sim_event_list_t *list)
{
    list->late_bucket =
        list->late_count == 0 ? UINT64_MAX : list->late[0].time_ps >> SIM_LIST_BUCKET_BITS;
}

static void add_late(sim_event_list_t *list, const sim_list_late_t *late)
{
    SIM_GROW(list->late, list->late_count, &list->late_capacity);
    sim_list_late_t *const heap = list->late;
    size_t i = list->late_count++;
    while (i > 0 && is_before(late, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = *late;
    note_earliest(list);
}

static void remove_late(sim_event_list_t *list)
{
    sim_list_late_t *const heap = list->late;
    const sim_list_late_t last = heap[--list->late_count];
    const size_t count = list->late_count;
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
    note_earliest(list);
}

// -- adding

static inline sim_list_chunk_t *chunk_of(uintptr_t address)
{
    return (sim_list_chunk_t *)(address - address % SIM_LIST_CHUNK_BYTES);
}

static sim_list_chunk_t *take_chunk(sim_event_list_t *list)
{
    if (list->free == NULL) {
        SIM_GROW(list->slabs, list->slab_count, &list->slab_capacity);
        void *const slab = sim_alloc_lines(SLAB_BYTES);
        list->slabs[list->slab_count++] = slab;
        sim_list_chunk_t *const chunks = chunk_of((uintptr_t)slab + SIM_LIST_CHUNK_BYTES - 1);
        for (uint32_t i = SLAB_BYTES / SIM_LIST_CHUNK_BYTES - 1; i-- > 0;) {
            chunks[i].next = list->free;
            list->free = &chunks[i];
        }
    }
    sim_list_chunk_t *const chunk = list->free;
    list->free = chunk->next;
    return chunk;
}

// Appends an event to its bucket, in a new chunk if need be.
static void append(sim_event_list_t *list, uint32_t bucket, const sim_list_event_t *event)
{
    uintptr_t end = list->ends[bucket];
    if (end % SIM_LIST_CHUNK_BYTES == SIM_LIST_CHUNK_FULL) {
        sim_list_chunk_t *const last = chunk_of(end);
        sim_list_chunk_t *const chunk = take_chunk(list);
        if (last != NULL) {
            chunk->next = last->next;
            last->next = chunk;
        } else {
            chunk->next = chunk;
            list->occupied[bucket / 64] |= UINT64_C(1) << (bucket % 64);
            list->words |= UINT64_C(1) << (bucket / 64);
        }
        end = (uintptr_t)chunk;
    }
    *(sim_list_event_t *)end = *event;
    list->ends[bucket] = end + sizeof(*event);
}

// Inserts an event into the sorted events in [first, end), behind those of lower or equal order.
static inline void insert(const sim_list_event_t *first, sim_list_event_t *end,
                          sim_list_event_t event)
{
    for (; end > first && end[-1].order > event.order; end--) {
        *end = end[-1];
    }
    *end = event;
}

void sim__list_add_slow(sim_event_list_t *list, sim_time_t time_ps, uint64_t number,
                        sim_list_what_t what)
{
    const uint64_t bucket = time_ps >> SIM_LIST_BUCKET_BITS;
    const sim_list_event_t event = {sim__list_order(time_ps, number), what};
    if (SIM_LIKELY(bucket - list->bucket - 1 < SIM_LIST_BUCKETS - 1)) {
        append(list, (uint32_t)(bucket % SIM_LIST_BUCKETS), &event);
        return;
    }
    if (list->bucket != UINT64_MAX && bucket <= list->bucket) {
        SIM_CHECK(time_ps >= list->block_ps);
        make_room(list, 1);
        insert(list->now + list->taken, list->now + list->now_count++, event);
    } else {
        add_late(list, &(sim_list_late_t){time_ps, event.order, what});
    }
}

// -- taking

// Returns the next bucket after this one that is not empty; UINT64_MAX: all are.
static uint64_t next_bucket(const sim_event_list_t *list, uint64_t bucket)
{
    const uint32_t from = (uint32_t)((bucket + 1) % SIM_LIST_BUCKETS);
    const uint64_t here = list->occupied[from / 64] >> (from % 64);
    if (SIM_LIKELY(here != 0)) {
        return bucket + 1 + (uint32_t)__builtin_ctzll(here);
    }
    if (list->words == 0) {
        return UINT64_MAX;
    }
    // Words behind this one come first; a word of lower index belongs to the next turn.
    const uint64_t behind = list->words & (~UINT64_C(1) << (from / 64));
    const uint32_t word = (uint32_t)__builtin_ctzll(behind != 0 ? behind : list->words);
    const uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(list->occupied[word]);
    return bucket + 1 + (found - from) % SIM_LIST_BUCKETS;
}

static inline sim_time_t block_of(uint64_t bucket)
{
    return bucket << SIM_LIST_BUCKET_BITS >> SIM_LIST_BLOCK_BITS << SIM_LIST_BLOCK_BITS;
}

// Moves the earliest event of the heap to its bucket.
static void recall(sim_event_list_t *list, uint32_t bucket)
{
    const sim_list_late_t late = list->late[0];
    remove_late(list);
    append(list, bucket, &(sim_list_event_t){late.order, late.what});
}

// Copies the events of the bucket that ends at `end` behind those in `now`, and sorts them.
static void gather(sim_event_list_t *list, uintptr_t end)
{
    const sim_list_chunk_t *const last = chunk_of(end);
    const sim_list_chunk_t *chunk = last;
    const size_t first = list->now_count;
    do {
        chunk = chunk->next;
        make_room(list, SIM_LIST_CHUNK_EVENTS);
        const sim_list_event_t *const behind =
            chunk == last ? (const sim_list_event_t *)end : &chunk->events[SIM_LIST_CHUNK_EVENTS];
        sim_list_event_t *to = list->now + list->now_count;
        for (const sim_list_event_t *event = chunk->events; event < behind; event++) {
            __builtin_prefetch(event->what.message);
            insert(list->now + first, to++, *event);
        }
        list->now_count = (size_t)(to - list->now);
    } while (chunk != last);
}

static void empty(sim_event_list_t *list, uint32_t bucket)
{
    sim_list_chunk_t *const last = chunk_of(list->ends[bucket]);
    sim_list_chunk_t *const first = last->next;
    last->next = list->free;
    list->free = first;
    list->ends[bucket] = SIM_LIST_CHUNK_FULL;
    list->occupied[bucket / 64] &= ~(UINT64_C(1) << (bucket % 64));
    if (list->occupied[bucket / 64] == 0) {
        list->words &= ~(UINT64_C(1) << (bucket / 64));
    }
}

// Returns the next bucket that is not empty or has events in the heap; UINT64_MAX: there is none.
static inline uint64_t next_of_all(const sim_event_list_t *list)
{
    const uint64_t bucket = next_bucket(list, list->bucket);
    return SIM_MIN(list->late_bucket, bucket);
}

// The number of events from which a turn pays for itself: prefetching messages, filling the array.
#define ENOUGH 8

bool sim__list_turn(sim_event_list_t *list, sim_time_t end_ps)
{
    uint64_t bucket = next_of_all(list);
    if (bucket == UINT64_MAX || bucket << SIM_LIST_BUCKET_BITS >= end_ps) {
        return false;
    }
    list->block_ps = block_of(bucket);
    list->taken = 0;
    list->now_count = 0;
    do {
        const uint32_t index = (uint32_t)(bucket % SIM_LIST_BUCKETS);
        while (SIM_UNLIKELY(list->late_bucket == bucket)) {
            recall(list, index);
        }
        gather(list, list->ends[index]);
        empty(list, index);
        list->bucket = bucket;
        bucket = list->now_count < ENOUGH ? next_of_all(list) : UINT64_MAX;
    } while (bucket != UINT64_MAX && block_of(bucket) == list->block_ps &&
             bucket << SIM_LIST_BUCKET_BITS < end_ps);
    return true;
}

// -- looking ahead

typedef struct look {
    bool (*is_stale)(const void *ctx, const sim_list_event_t *event);
    const void *ctx;
    sim_time_t block_ps; // of the events looked at
    sim_time_t next_ps;  // found so far
} look_t;

static void look_at(look_t *look, const sim_list_event_t *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const sim_time_t time_ps = sim__list_time_ps(look->block_ps, &events[i]);
        if (time_ps < look->next_ps && !look->is_stale(look->ctx, &events[i])) {
            look->next_ps = time_ps;
        }
    }
}

static void look_into(look_t *look, const sim_event_list_t *list, uint64_t bucket)
{
    const uintptr_t end = list->ends[bucket % SIM_LIST_BUCKETS];
    look->block_ps = block_of(bucket);
    const sim_list_chunk_t *const last = chunk_of(end);
    for (const sim_list_chunk_t *chunk = last->next; chunk != last; chunk = chunk->next) {
        look_at(look, chunk->events, SIM_LIST_CHUNK_EVENTS);
    }
    look_at(look, last->events, (end % SIM_LIST_CHUNK_BYTES) / sizeof(*last->events));
}

sim_time_t sim__list_next_ps(sim_event_list_t *list,
                             bool (*is_stale)(const void *ctx, const sim_list_event_t *event),
                             const void *ctx)
{
    look_t look = {is_stale, ctx, list->block_ps, SIM_TIME_NEVER};
    look_at(&look, list->now + list->taken, list->now_count - list->taken);
    for (uint64_t bucket = list->bucket; look.next_ps == SIM_TIME_NEVER;) {
        bucket = next_bucket(list, bucket);
        if (bucket == UINT64_MAX || bucket - list->bucket >= SIM_LIST_BUCKETS) {
            break; // none, or once round
        }
        look_into(&look, list, bucket);
    }
    while (list->late_count > 0 && list->late[0].time_ps < look.next_ps) {
        const sim_list_late_t late = list->late[0];
        if (!is_stale(ctx, &(sim_list_event_t){late.order, late.what})) {
            return late.time_ps;
        }
        remove_late(list);
    }
    return look.next_ps;
}
