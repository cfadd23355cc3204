// SPDX-License-Identifier: Apache-2.0
// pcap-out/ring.c - queues of frames by node, and the time before which they are forgotten.
#include "pcap-out/ring.h"

#include <stdlib.h>
#include <string.h>

#define COMMENTS_MAX 8u // of a frame, as in pcap-out/ng_file.h
#define TICK_FRAMES 64u // frames of a node between two words to the stream

// What one node's thread writes.
typedef struct node_ring {
    alignas(SIM_CACHE_LINE) pcap_out_held_t held;
    pcap_out_item_t *pending; // the frame that was begun last; NULL: none
    uint64_t noted;
    uint64_t tick_bytes;
    uint32_t tick_frames;
    sim_time_t tick_from_ps;
} node_ring_t;

// Says that a node noted `bytes` from from_ps on.
typedef struct tick {
    uint64_t bytes;
    sim_time_t from_ps;
} tick_t;

struct pcap_out_ring {
    node_ring_t *nodes;
    size_t node_count;
    uint64_t bytes;
    sim_time_t cutoff_ps; // written between windows; frames before it are not among the last
    sim_stream_t *stream;
    tick_t *ticks; // those that still count, from `first` on
    size_t first;
    size_t count;
    size_t capacity;
    uint64_t tick_bytes; // sum of those that count
};

// Moves the cutoff: frames before the earliest of ticks that fill the ring are not needed.
static void take_tick(sim_time_t time_ps,
                      uint32_t node_index,
                      const void *record,
                      size_t record_bytes,
                      void *ctx)
{
    (void)time_ps;
    (void)node_index;
    (void)record_bytes;
    pcap_out_ring_t *const ring = ctx;
    const tick_t *const tick = record;
    if (tick->from_ps < ring->cutoff_ps) {
        return;
    }
    if (ring->first > 4096 && 2 * ring->first > ring->count) {
        ring->count -= ring->first;
        memmove(ring->ticks, ring->ticks + ring->first, ring->count * sizeof(tick_t));
        ring->first = 0;
    }
    SIM_GROW(ring->ticks, ring->count, &ring->capacity);
    ring->ticks[ring->count++] = *tick;
    ring->tick_bytes += tick->bytes;
    bool moved = false;
    while (ring->tick_bytes - ring->ticks[ring->first].bytes > ring->bytes) {
        ring->tick_bytes -= ring->ticks[ring->first++].bytes;
        moved = true;
    }
    if (!moved) {
        return;
    }
    sim_time_t cutoff_ps = SIM_TIME_NEVER;
    for (size_t i = ring->first; i < ring->count; i++) {
        cutoff_ps = ring->ticks[i].from_ps < cutoff_ps ? ring->ticks[i].from_ps : cutoff_ps;
    }
    ring->cutoff_ps = cutoff_ps > ring->cutoff_ps ? cutoff_ps : ring->cutoff_ps;
}

pcap_out_ring_t *pcap_out_ring_create(sim_t *sim, size_t node_count, uint64_t bytes)
{
    pcap_out_ring_t *const ring = sim_alloc(sizeof(*ring));
    const size_t size = (node_count + 1) * sizeof(node_ring_t);
    *ring =
        (pcap_out_ring_t){.node_count = node_count, .bytes = bytes, .nodes = sim_alloc_lines(size)};
    memset(ring->nodes, 0, size);
    ring->stream = sim_stream_create(sim, take_tick, ring);
    return ring;
}

void pcap_out_ring_destroy(pcap_out_ring_t *ring)
{
    if (ring == NULL) {
        return;
    }
    for (size_t i = 0; i < ring->node_count; i++) {
        pcap_out_held_fini(&ring->nodes[i].held);
    }
    sim_free(ring->nodes);
    sim_free(ring->ticks);
    sim_free(ring);
}

// -- in the node's thread

// Lets the frame that was begun last join its queue: no further comment comes.
static void end_pending(const pcap_out_ring_t *ring, node_ring_t *node)
{
    if (node->pending != NULL) {
        pcap_out_held_end(&node->held, node->pending);
        node->pending = NULL;
        pcap_out_held_forget(&node->held, ring->cutoff_ps);
    }
}

void *pcap_out_ring_frame(pcap_out_ring_t *ring,
                          const sim_node_t *node,
                          uint32_t note_bytes,
                          uint32_t file_bytes)
{
    node_ring_t *const own = &ring->nodes[node->index];
    end_pending(ring, own);
    if (own->tick_frames == TICK_FRAMES) {
        tick_t *const tick = sim_stream_put(ring->stream, node, node->now_ps, sizeof(*tick));
        *tick = (tick_t){own->tick_bytes, own->tick_from_ps};
        own->tick_frames = 0;
        own->tick_bytes = 0;
    }
    if (own->tick_frames++ == 0) {
        own->tick_from_ps = node->now_ps;
    }
    own->tick_bytes += file_bytes;
    own->noted++;
    const size_t size = sizeof(pcap_out_item_t) + note_bytes;
    own->pending =
        pcap_out_held_begin(&own->held, size + COMMENTS_MAX * sizeof(pcap_out_note_t) + 16);
    *own->pending = (pcap_out_item_t){.time_ps = node->now_ps,
                                      .file_bytes = file_bytes,
                                      .note_bytes = note_bytes};
    return own->pending + 1;
}

void pcap_out_ring_comment(pcap_out_ring_t *ring,
                           const sim_node_t *node,
                           const pcap_out_note_t *comment,
                           uint32_t file_bytes)
{
    node_ring_t *const own = &ring->nodes[node->index];
    pcap_out_item_t *const item = own->pending;
    SIM_CHECK(item != NULL);
    if (item->comment_count == COMMENTS_MAX) {
        return; // the file has room for so many
    }
    pcap_out_note_t *const comments = (pcap_out_note_t *)(uintptr_t)pcap_out_item_comments(item);
    comments[item->comment_count++] = *comment;
    item->file_bytes += file_bytes;
    own->tick_bytes += file_bytes;
}

// -- after the run

// The first frame that a node still has, in a heap by (time, node).
typedef struct head {
    sim_time_t time_ps;
    uint32_t node;
} head_t;

static bool is_earlier(const head_t *a, const head_t *b)
{
    return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->node < b->node);
}

static void sift(head_t *heap, size_t count, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            least = is_earlier(&heap[child], &heap[least]) ? child : least;
        }
        if (least == at) {
            return;
        }
        const head_t other = heap[at];
        heap[at] = heap[least];
        heap[least] = other;
        at = least;
    }
}

uint64_t pcap_out_ring_take(pcap_out_ring_t *ring, pcap_out_ring_fn fn, void *ctx)
{
    head_t *const heap = sim_alloc_array(ring->node_count + 1, sizeof(*heap));
    size_t count = 0;
    uint64_t left_bytes = 0;
    uint64_t skipped = 0;
    for (uint32_t i = 0; i < ring->node_count; i++) {
        node_ring_t *const node = &ring->nodes[i];
        end_pending(ring, node);
        left_bytes += node->held.file_bytes;
        skipped += node->noted;
        if (node->held.count > 0) {
            heap[count++] = (head_t){pcap_out_held_first(&node->held)->time_ps, i};
        }
    }
    for (size_t i = count; i-- > 0;) {
        sift(heap, count, i);
    }
    while (count > 0) {
        pcap_out_held_t *const held = &ring->nodes[heap[0].node].held;
        const pcap_out_item_t *const item = pcap_out_held_first(held);
        const uint64_t item_bytes = item->file_bytes;
        if (left_bytes <= ring->bytes) {
            fn(item, ctx);
            skipped--;
        }
        left_bytes -= item_bytes;
        pcap_out_held_pop(held);
        if (held->count > 0) {
            heap[0].time_ps = pcap_out_held_first(held)->time_ps;
        } else {
            heap[0] = heap[--count];
        }
        sift(heap, count, 0);
    }
    sim_free(heap);
    return skipped;
}
