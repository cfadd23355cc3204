// SPDX-License-Identifier: Apache-2.0
// kernel/record.c - gathers a window's records per thread and merges them in order.
//
// Each thread appends to memory of its own. After the window, the entries of all threads are sorted
// by (time, node, order written). A node runs on one thread, so the order in which its records were
// written is that of its entries there.
#include "kernel/record.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/engine/streams.h"
#include "kernel/engine/thread.h"
#include "kernel/engine_internal.h"

typedef struct entry {
    sim_time_t time_ps;
    uint64_t place; // the node's index, or as kernel/order/ops.h says if ties go by insertion
    uint32_t node_index;
    uint32_t thread;
    size_t offset; // of the record, growing with the order written
    size_t bytes;
} entry_t;

typedef struct part {
    unsigned char *bytes;
    size_t count;
    size_t capacity;
    entry_t *entries;
    size_t entry_count;
    size_t entry_capacity;
    char pad[SIM_CACHE_LINE];
} part_t;

// An entry by its time and place in one number.
typedef struct keyed {
    uint64_t key;
    size_t index;
} keyed_t;

struct sim_stream {
    sim_record_fn fn;
    void *ctx;
    sim_record_change_fn pack; // NULL: records are carried to rank 0 as they are
    sim_record_change_fn unpack;
    entry_t *merged; // room for twice merged_capacity: the second half is for sorting
    size_t merged_capacity;
    keyed_t *keyed; // twice merged_capacity
    part_t parts[SIM_THREADS_MAX];
};

sim_stream_t *sim_stream_create(sim_t *sim, sim_record_fn fn, void *ctx)
{
    SIM_CHECK(!sim->ran);
    sim_stream_t *const stream = sim_alloc(sizeof(*stream));
    stream->fn = fn;
    stream->ctx = ctx;
    SIM_APPEND(sim->streams, sim->stream_count, sim->stream_capacity, stream);
    return stream;
}

void sim__stream_destroy(sim_stream_t *stream)
{
    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        sim_free(stream->parts[i].bytes);
        sim_free(stream->parts[i].entries);
    }
    SIM_FREE_ALL(stream->merged, stream->keyed, stream);
}

void *sim_stream_put(sim_stream_t *stream, const sim_node_t *node, sim_time_t time_ps,
                     size_t record_bytes)
{
    const sim_thread_t *const thread = sim__thread_of(node);
    SIM_CHECKF(time_ps >= thread->worker.window_start_ps && time_ps < thread->record_end_ps,
               "%s records %" PRIu64 " ps between %" PRIu64 " and %" PRIu64 " ps", node->name,
               time_ps, thread->worker.window_start_ps, thread->record_end_ps);
    part_t *const part = &stream->parts[node->worker->index];
    const size_t aligned = (record_bytes + 15) & ~(size_t)15;
    if (part->count + aligned > part->capacity) {
        SIM_RESERVE(part->bytes, part->count + aligned, &part->capacity);
    }
    SIM_APPEND(part->entries, part->entry_count, part->entry_capacity,
               (entry_t){.time_ps = time_ps,
                         .place = node->sim->order->record_place(node),
                         .node_index = node->index,
                         .thread = node->worker->index,
                         .offset = part->count,
                         .bytes = record_bytes});
    void *const record = part->bytes + part->count;
    part->count += aligned;
    return record;
}

static int compare_entries(const void *a, const void *b)
{
    const entry_t *const x = a;
    const entry_t *const y = b;
    if (x->time_ps != y->time_ps) {
        return x->time_ps < y->time_ps ? -1 : 1;
    }
    if (x->place != y->place) {
        return x->place < y->place ? -1 : 1;
    }
    return (x->offset > y->offset) - (x->offset < y->offset);
}

// Returns whether the entries are sorted already, as they are where all events run from one list.
static bool in_order(const entry_t *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (compare_entries(&entries[i - 1], &entries[i]) > 0) {
            return false;
        }
    }
    return true;
}

#define DIGIT_BITS 8u
#define SORTED_LEAST 32u // fewer entries: qsort is as fast

// Returns how many bits a number has.
static unsigned bits_of(uint64_t number)
{
    return number == 0 ? 0 : 64u - (unsigned)__builtin_clzll(number);
}

// Sorts by key and keeps the order of equal ones: a pass for each digit (radix sort). Returns where
// the result is: in items, or in the same number of items behind them.
static const keyed_t *sort_keyed(keyed_t *items, size_t count, unsigned key_bits)
{
    keyed_t *from = items;
    keyed_t *to = items + count;
    for (unsigned shift = 0; shift < key_bits; shift += DIGIT_BITS) {
        size_t begins[1u << DIGIT_BITS] = {0};
        size_t next = 0;
        for (size_t i = 0; i < count; i++) {
            begins[from[i].key >> shift & (SIM_COUNT_OF(begins) - 1)]++;
        }
        for (size_t d = 0; d < SIM_COUNT_OF(begins); d++) {
            const size_t here = begins[d];
            begins[d] = next;
            next += here;
        }
        for (size_t i = 0; i < count; i++) {
            to[begins[from[i].key >> shift & (SIM_COUNT_OF(begins) - 1)]++] = from[i];
        }
        keyed_t *const sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

// Sorts as compare_entries does. Entries of one time and place stand in the order written, because
// a node runs on one thread.
static void sort_entries(sim_stream_t *stream, size_t count)
{
    entry_t *const entries = stream->merged;
    sim_time_t first_ps = SIM_TIME_NEVER;
    sim_time_t last_ps = 0;
    uint64_t last_place = 0;
    for (size_t i = 0; i < count; i++) {
        first_ps = SIM_MIN(entries[i].time_ps, first_ps);
        last_ps = SIM_MAX(entries[i].time_ps, last_ps);
        last_place = SIM_MAX(entries[i].place, last_place);
    }
    const unsigned place_bits = bits_of(last_place);
    const unsigned key_bits = place_bits + bits_of(last_ps - first_ps);
    if (count < SORTED_LEAST || key_bits > 63) {
        qsort(entries, count, sizeof(entry_t), compare_entries);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const sim_time_t later_ps = entries[i].time_ps - first_ps;
        stream->keyed[i] = (keyed_t){later_ps << place_bits | entries[i].place, i};
    }
    const keyed_t *const sorted = sort_keyed(stream->keyed, count, key_bits);
    entry_t *const to = entries + stream->merged_capacity; // the second half
    for (size_t i = 0; i < count; i++) {
        to[i] = entries[sorted[i].index];
    }
    memcpy(entries, to, count * sizeof(entry_t));
}

// Replaces places that only give their order among each other by ranks.
static void rank_places(const sim_t *sim, entry_t *entries, size_t count)
{
    sim_ranked_t *const items = sim_alloc_array(count, sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        items[i] = (sim_ranked_t){.number = entries[i].place, .owner = &entries[i]};
    }
    sim->order->sort_places(sim, items, count);
    uint64_t place = 0;
    for (size_t i = 0; i < count; i++) {
        place += i > 0 && items[i].number != items[i - 1].number;
        ((entry_t *)items[i].owner)->place = place;
    }
    sim_free(items);
}

// Removes the records of a thread before end_ps; the others keep the order in which they were
// written.
static void keep_later(part_t *part, sim_time_t end_ps)
{
    size_t kept = 0;
    size_t bytes = 0;
    for (size_t i = 0; i < part->entry_count; i++) {
        entry_t entry = part->entries[i];
        if (entry.time_ps >= end_ps) {
            const size_t aligned = (entry.bytes + 15) & ~(size_t)15;
            memmove(part->bytes + bytes, part->bytes + entry.offset, aligned);
            entry.offset = bytes;
            bytes += aligned;
            part->entries[kept++] = entry;
        }
    }
    part->entry_count = kept;
    part->count = bytes;
}

// Gathers the entries of all threads in stream->merged, in their order, and returns their number.
static size_t merge(const sim_t *sim, sim_stream_t *stream)
{
    const unsigned thread_count = sim->thread_count;
    size_t count = 0;
    for (unsigned t = 0; t < thread_count; t++) {
        count += stream->parts[t].entry_count;
    }
    if (count == 0) {
        return 0;
    }
    if (stream->merged_capacity < count) {
        stream->merged_capacity = count * 2;
        stream->merged =
            sim_realloc_array(stream->merged, 2 * stream->merged_capacity, sizeof(entry_t));
        stream->keyed =
            sim_realloc_array(stream->keyed, 2 * stream->merged_capacity, sizeof(keyed_t));
    }
    size_t next = 0;
    for (unsigned t = 0; t < thread_count; t++) {
        part_t *const part = &stream->parts[t];
        if (part->entry_count > 0) {
            memcpy(stream->merged + next, part->entries, part->entry_count * sizeof(entry_t));
        }
        next += part->entry_count;
    }
    if (sim->order->sort_places != NULL) {
        rank_places(sim, stream->merged, count);
    }
    if (!in_order(stream->merged, count)) {
        sort_entries(stream, count);
    }
    return count;
}

static const unsigned char *bytes_of(const sim_stream_t *stream, const entry_t *entry)
{
    return stream->parts[entry->thread].bytes + entry->offset;
}

// Returns how many records were passed on.
static size_t stream_flush(const sim_t *sim, sim_stream_t *stream, sim_time_t end_ps)
{
    const size_t count = merge(sim, stream);
    size_t passed = 0;
    for (; passed < count && stream->merged[passed].time_ps < end_ps; passed++) {
        const entry_t *const entry = &stream->merged[passed];
        stream->fn(entry->time_ps, entry->node_index, bytes_of(stream, entry), entry->bytes,
                   stream->ctx);
    }
    for (unsigned t = 0; t < sim->thread_count && count > 0; t++) {
        keep_later(&stream->parts[t], end_ps);
    }
    return passed;
}

// -- in ranks

void sim_stream_carry(sim_stream_t *stream, sim_record_change_fn pack, sim_record_change_fn unpack)
{
    stream->pack = pack;
    stream->unpack = unpack;
}

// A record on its way to rank 0; its bytes follow, padded to 16.
typedef struct carried {
    sim_time_t time_ps;
    uint32_t node_index;
    uint32_t stream;
    uint64_t bytes;
    uint64_t pad; // keeps the record's first byte aligned to 16 bytes
} carried_t;
static_assert(sizeof(carried_t) % 16 == 0, "records are aligned");

static size_t aligned_size(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

// Moves the records before end_ps into a buffer.
static void leave(const sim_t *sim, uint32_t number, sim_time_t end_ps, sim_buffer_t *buffer)
{
    sim_stream_t *const stream = sim->streams[number];
    const size_t count = merge(sim, stream);
    for (size_t i = 0; i < count && stream->merged[i].time_ps < end_ps; i++) {
        const entry_t *const entry = &stream->merged[i];
        const carried_t head = {.time_ps = entry->time_ps,
                                .node_index = entry->node_index,
                                .stream = number,
                                .bytes = entry->bytes};
        const size_t size = aligned_size(entry->bytes);
        sim_buffer_put(buffer, &head, sizeof(head));
        unsigned char *const copy = sim_buffer_room(buffer, size);
        memset(copy, 0, size);
        memcpy(copy, bytes_of(stream, entry), entry->bytes);
        if (stream->pack != NULL) {
            stream->pack(copy, entry->bytes, stream->ctx);
        }
        buffer->count += size;
    }
    for (unsigned t = 0; t < sim->thread_count && count > 0; t++) {
        keep_later(&stream->parts[t], end_ps);
    }
}

// A record that came to rank 0.
typedef struct arrived {
    const carried_t *head;
    size_t order;
} arrived_t;

typedef struct arrivals {
    unsigned char **blocks; // one per rank
    size_t block_count;
    arrived_t *items;
    size_t count;
    size_t capacity;
} arrivals_t;

static void take_block(unsigned rank, const void *bytes, size_t size, void *ctx)
{
    (void)rank;
    arrivals_t *const arrivals = ctx;
    unsigned char *const block = sim_alloc_lines(size + SIM_CACHE_LINE);
    arrivals->blocks =
        sim_realloc_array(arrivals->blocks, arrivals->block_count + 1, sizeof(*arrivals->blocks));
    arrivals->blocks[arrivals->block_count++] = block;
    if (size > 0) {
        memcpy(block, bytes, size);
    }
    for (size_t at = 0; at < size;) {
        const carried_t *const head = (const carried_t *)(const void *)(block + at);
        SIM_GROW(arrivals->items, arrivals->count, &arrivals->capacity);
        arrivals->items[arrivals->count] = (arrived_t){head, arrivals->count};
        arrivals->count++;
        at += sizeof(*head) + aligned_size(head->bytes);
        SIM_CHECK(at <= size);
    }
}

// Orders by stream, then as compare_entries does. A node's records come from one rank, in order.
static int compare_arrived(const void *a, const void *b)
{
    const arrived_t *const x = a;
    const arrived_t *const y = b;
    if (x->head->stream != y->head->stream) {
        return x->head->stream < y->head->stream ? -1 : 1;
    }
    if (x->head->time_ps != y->head->time_ps) {
        return x->head->time_ps < y->head->time_ps ? -1 : 1;
    }
    if (x->head->node_index != y->head->node_index) {
        return x->head->node_index < y->head->node_index ? -1 : 1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

static void hand_on(const sim_t *sim, const arrivals_t *arrivals)
{
    for (size_t i = 0; i < arrivals->count; i++) {
        const carried_t *const head = arrivals->items[i].head;
        SIM_CHECK(head->stream < sim->stream_count);
        const sim_stream_t *const stream = sim->streams[head->stream];
        void *const record = (void *)(uintptr_t)(head + 1);
        if (stream->unpack != NULL) {
            stream->unpack(record, head->bytes, stream->ctx);
        }
        stream->fn(head->time_ps, head->node_index, record, head->bytes, stream->ctx);
    }
}

// Brings the records of all ranks before end_ps to rank 0 and hands them on there. Returns their
// number, at every rank.
static size_t flush_ranks(sim_t *sim, sim_time_t end_ps)
{
    sim_buffer_t buffer = {0};
    const uint64_t held = sim__agree_sum(sim, sim__streams_held(sim));
    if (held == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < sim->stream_count; i++) {
        leave(sim, i, end_ps, &buffer);
    }
    arrivals_t arrivals = {0};
    sim__ranks_collect(sim, &buffer, take_block, &arrivals);
    sim_free(buffer.bytes);
    if (arrivals.count > 0) {
        qsort(arrivals.items, arrivals.count, sizeof(*arrivals.items), compare_arrived);
        hand_on(sim, &arrivals);
    }
    sim_free_each(arrivals.blocks, arrivals.block_count);
    sim_free(arrivals.blocks);
    sim_free(arrivals.items);
    return (size_t)(held - sim__agree_sum(sim, sim__streams_held(sim)));
}

// -- of all streams

uint64_t sim__streams_held(const sim_t *sim)
{
    uint64_t held = 0;
    for (size_t i = 0; i < sim->stream_count; i++) {
        for (unsigned t = 0; t < sim->thread_count; t++) {
            held += sim->streams[i]->parts[t].entry_count;
        }
    }
    return held;
}

size_t sim__streams_flush(sim_t *sim, sim_time_t end_ps)
{
    if (sim->ranks != NULL) {
        return flush_ranks(sim, end_ps);
    }
    size_t passed = 0;
    for (size_t i = 0; i < sim->stream_count; i++) {
        passed += stream_flush(sim, sim->streams[i], end_ps);
    }
    return passed;
}
