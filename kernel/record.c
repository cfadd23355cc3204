// SPDX-License-Identifier: Apache-2.0
// kernel/record.c - gathers a window's records per thread and merges them in order.
//
// Each thread appends to memory of its own. After the window, the entries of all threads are sorted
// by (time, node, order written). A node runs on one thread, so the order in which its records were
// written is that of its entries there.
#include "kernel/record.h"

#include <stdlib.h>
#include <string.h>

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

struct sim_stream {
    sim_record_fn fn;
    void *ctx;
    entry_t *merged;
    size_t merged_capacity;
    part_t parts[SIM_THREADS_MAX];
};

sim_stream_t *sim_stream_create(sim_t *sim, sim_record_fn fn, void *ctx)
{
    SIM_CHECK(!sim->ran);
    sim_stream_t *const stream = sim_alloc(sizeof(*stream));
    stream->fn = fn;
    stream->ctx = ctx;
    SIM_GROW(sim->streams, sim->stream_count, &sim->stream_capacity);
    sim->streams[sim->stream_count++] = stream;
    return stream;
}

void sim__stream_destroy(sim_stream_t *stream)
{
    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        sim_free(stream->parts[i].bytes);
        sim_free(stream->parts[i].entries);
    }
    sim_free(stream->merged);
    sim_free(stream);
}

void *sim_stream_put(sim_stream_t *stream,
                     const sim_node_t *node,
                     sim_time_t time_ps,
                     size_t record_bytes)
{
    const sim_thread_t *const thread = sim__thread_of(node);
    SIM_CHECKF(time_ps >= thread->worker.window_start_ps && time_ps < thread->record_end_ps,
               "%s records %" PRIu64 " ps between %" PRIu64 " and %" PRIu64 " ps",
               node->name,
               time_ps,
               thread->worker.window_start_ps,
               thread->record_end_ps);
    part_t *const part = &stream->parts[node->worker->index];
    const size_t aligned = (record_bytes + 15) & ~(size_t)15;
    if (part->count + aligned > part->capacity) {
        part->capacity = (part->capacity + aligned) * 2;
        part->bytes = sim_realloc_array(part->bytes, part->capacity, 1);
    }
    SIM_GROW(part->entries, part->entry_count, &part->entry_capacity);
    part->entries[part->entry_count++] = (entry_t){.time_ps = time_ps,
                                                   .place = node->sim->order->record_place(node),
                                                   .node_index = node->index,
                                                   .thread = node->worker->index,
                                                   .offset = part->count,
                                                   .bytes = record_bytes};
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

// Replaces places that only tell their order to each other by ranks.
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

// Returns how many records were passed on.
static size_t stream_flush(const sim_t *sim, sim_stream_t *stream, sim_time_t end_ps)
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
            sim_realloc_array(stream->merged, stream->merged_capacity, sizeof(entry_t));
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
        qsort(stream->merged, count, sizeof(entry_t), compare_entries);
    }
    size_t passed = 0;
    for (; passed < count && stream->merged[passed].time_ps < end_ps; passed++) {
        const entry_t *const entry = &stream->merged[passed];
        stream->fn(entry->time_ps,
                   entry->node_index,
                   stream->parts[entry->thread].bytes + entry->offset,
                   entry->bytes,
                   stream->ctx);
    }
    for (unsigned t = 0; t < thread_count; t++) {
        keep_later(&stream->parts[t], end_ps);
    }
    return passed;
}

size_t sim__streams_flush(sim_t *sim, sim_time_t end_ps)
{
    size_t passed = 0;
    for (size_t i = 0; i < sim->stream_count; i++) {
        passed += stream_flush(sim, sim->streams[i], end_ps);
    }
    return passed;
}
