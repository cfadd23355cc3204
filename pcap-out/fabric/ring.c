// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/ring.c - the logs of nodes, and the time before which they are forgotten.
#include "pcap-out/fabric/ring.h"

#include <string.h>

#include "net/frame_opcodes.h"
#include "pcap-out/fabric/ring_internal.h"

#define CHUNK_BYTES ((size_t)2048 - sizeof(ring_chunk_t))
// Prefetched lines of a block that begins. The processor can have about ten cache lines in flight;
// more would only wait.
#define PREFETCHED_BYTES (8 * SIM_CACHE_LINE)
#define SLAB_BYTES ((size_t)1 << 16)
#define LARGE_NODES 32u // from so many on, a slab is a large page
#define LARGE_SLAB_BYTES ((size_t)1 << 21)
#define LEAST_BYTES 40u // in the file, of an entry on average, comments and contents included

// -- between windows

// Counts what nodes noted in the meantime, and moves the cutoff: frames before it are not needed,
// as later ones fill the ring. A pass over all nodes is worth it only after some full blocks.
static void on_window(sim_time_t window_end_ps, void *ctx)
{
    pcap_out_ring_t *const ring = ctx;
    if (ring->net != NULL) {
        pcap_out__ring_look(ring, window_end_ps);
        return;
    }
    const uint64_t blocks = atomic_load_explicit(&ring->blocks, memory_order_relaxed);
    // It takes longer where ports are asked what they noted.
    if (blocks <= (ring->chosen != NULL ? 2 * ring->node_count : ring->node_count / 8)) {
        return;
    }
    atomic_store_explicit(&ring->blocks, 0, memory_order_relaxed);
    uint64_t bytes = 0;
    for (size_t i = 0; i < ring->node_count; i++) {
        bytes += ring->nodes[i].log.bytes;
        ring->nodes[i].log.bytes = 0;
    }
    if (ring->chosen != NULL) {
        const uint64_t all = ring->noted_bytes(ring->noted_ctx);
        bytes = all - ring->noted_before;
        ring->noted_before = all;
    } else if (ring->snaplen_bytes != 0) {
        bytes = blocks * RING_ENTRIES * LEAST_BYTES;
    }
    SIM_APPEND(ring->spans, ring->count, ring->capacity, (ring_span_t){ring->span_from_ps, bytes});
    ring->span_from_ps = window_end_ps;
    ring->span_bytes += bytes;
    while (ring->span_bytes - ring->spans[ring->first].bytes > ring->bytes) {
        ring->span_bytes -= ring->spans[ring->first++].bytes;
    }
    ring->cutoff_ps = ring->spans[ring->first].from_ps;
    if (ring->first > 64 && 2 * ring->first > ring->count) {
        ring->count -= ring->first;
        memmove(ring->spans, ring->spans + ring->first, ring->count * sizeof(ring_span_t));
        ring->first = 0;
    }
}

// -- memory

// Returns memory that lives as long as the ring, in lines of the cache. Nodes share slabs, each of
// them on one large page where the system has some: alone, their blocks would lie on many pages.
static void *carve(pcap_out_ring_t *ring, size_t bytes)
{
    bytes = (bytes + SIM_CACHE_LINE - 1) & ~(size_t)(SIM_CACHE_LINE - 1);
    while (atomic_flag_test_and_set_explicit(&ring->carving, memory_order_acquire)) {
        // Another thread carves: a few instructions, or the allocation of a slab.
    }
    if ((size_t)(ring->slab_end - ring->slab) < bytes) {
        const size_t size = ring->node_count < LARGE_NODES ? SLAB_BYTES : LARGE_SLAB_BYTES;
        SIM_GROW(ring->slabs, ring->slab_count, &ring->slab_capacity);
        ring->slab = sim_alloc_lines(size);
        ring->slab_end = ring->slab + size;
        ring->slabs[ring->slab_count++] = ring->slab;
    }
    void *const memory = ring->slab;
    ring->slab += bytes;
    atomic_flag_clear_explicit(&ring->carving, memory_order_release);
    return memory;
}

// Takes chunks back: those of the usual size for the node's next blocks.
static SIM_NOINLINE void sort_out_chunks(ring_node_t *node, ring_chunk_t *chunk)
{
    while (chunk != NULL) {
        ring_chunk_t *const next = chunk->next;
        if (chunk->capacity == CHUNK_BYTES) {
            chunk->next = node->spare_chunks;
            node->spare_chunks = chunk;
        } else {
            sim_free(chunk);
        }
        chunk = next;
    }
}

static void release_chunks(ring_node_t *node, const ring_used_t *used)
{
    if (SIM_LIKELY(used->last_chunk != NULL)) {
        used->last_chunk->next = node->spare_chunks;
        node->spare_chunks = used->chunks;
    } else {
        sort_out_chunks(node, used->chunks);
    }
}

static void forget(ring_node_t *node, sim_time_t cutoff_ps)
{
    while (node->used_first + 1 < node->used_end &&
           ring_used(node, node->used_first)->end_ps <= cutoff_ps) {
        const ring_used_t *const used = ring_used(node, node->used_first++);
        if (used->chunks != NULL) {
            release_chunks(node, used);
        }
        SIM_APPEND(node->spares, node->spare_count, node->spare_capacity, used->block);
    }
}

static SIM_NOINLINE void grow_used(ring_node_t *node)
{
    const uint32_t count = node->used_end - node->used_first;
    const uint32_t mask = node->used_mask * 2 + 1;
    ring_used_t *const used = sim_alloc_array(mask + 1, sizeof(*used));
    for (uint32_t number = node->used_first; number != node->used_end; number++) {
        used[number & mask] = *ring_used(node, number);
    }
    SIM_CHECK(count <= mask);
    sim_free(node->used);
    node->used = used;
    node->used_mask = mask;
}

static void add_block(ring_node_t *node)
{
    if (node->used == NULL || node->used_end - node->used_first > node->used_mask) {
        grow_used(node);
    }
    ring_block_t *const block = node->spare_count > 0 ? node->spares[--node->spare_count]
                                                      : carve(node->ring, sizeof(*block));
    for (size_t at = 0; at < PREFETCHED_BYTES; at += SIM_CACHE_LINE) {
        __builtin_prefetch((char *)block + at, 1);
    }
    *ring_used(node, node->used_end++) = (ring_used_t){.block = block};
    node->memory = node->memory_end = NULL;
    node->log.next = block->entries;
    node->log.end = block->entries + RING_ENTRIES;
}

// Begins a chunk that has room for `bytes`.
static SIM_NOINLINE void add_chunk(ring_node_t *node, size_t bytes)
{
    ring_used_t *const used = ring_used(node, node->used_end - 1);
    ring_chunk_t *chunk = node->spare_chunks;
    if (bytes <= CHUNK_BYTES && chunk != NULL) {
        node->spare_chunks = chunk->next;
        __builtin_prefetch(chunk->next, 1);
    } else {
        chunk = bytes > CHUNK_BYTES ? sim_alloc_lines(sizeof(*chunk) + bytes)
                                    : carve(node->ring, sizeof(*chunk) + CHUNK_BYTES);
        chunk->capacity = SIM_MAX(bytes, CHUNK_BYTES);
    }
    if (chunk->capacity != CHUNK_BYTES) {
        used->last_chunk = NULL;
    } else if (used->chunks == NULL) {
        used->last_chunk = chunk;
    }
    chunk->next = used->chunks;
    used->chunks = chunk;
    node->memory = chunk->bytes;
    node->memory_end = chunk->bytes + chunk->capacity;
}

static inline void *take_memory(ring_node_t *node, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (SIM_UNLIKELY((size_t)(node->memory_end - node->memory) < bytes)) {
        add_chunk(node, bytes);
    }
    void *const memory = node->memory;
    node->memory += bytes;
    return memory;
}

void *pcap_out__ring_memory(ring_node_t *node, size_t bytes)
{
    return take_memory(node, bytes);
}

pcap_out_ring_t *pcap_out_ring_create(sim_t *sim, size_t node_count, uint64_t bytes,
                                      uint32_t snaplen_bytes)
{
    pcap_out_ring_t *const ring = sim_alloc(sizeof(*ring));
    const size_t size = (node_count + 1) * sizeof(ring_node_t);
    *ring = (pcap_out_ring_t){.node_count = node_count,
                              .bytes = bytes,
                              .snaplen_bytes = snaplen_bytes,
                              .nodes = sim_alloc_lines(size)};
    memset(ring->nodes, 0, size);
    for (size_t i = 0; i < node_count; i++) {
        ring->nodes[i].ring = ring;
    }
    for (uint32_t opcode = 0; opcode <= UINT8_MAX; opcode++) {
        ring->is_hot[opcode] = net_frame_is_hot((uint8_t)opcode);
    }
    sim_on_window(sim, on_window, ring);
    return ring;
}

void pcap_out_ring_destroy(pcap_out_ring_t *ring)
{
    if (ring == NULL) {
        return;
    }
    for (size_t i = 0; i < ring->node_count; i++) {
        ring_node_t *const node = &ring->nodes[i];
        while (node->used_first != node->used_end) {
            sort_out_chunks(node, ring_used(node, node->used_first++)->chunks);
        }
        SIM_FREE_ALL(node->spares, node->used, node->moments);
    }
    sim_free_each(ring->slabs, ring->slab_count);
    SIM_FREE_ALL(ring->slabs, ring->moments, ring->nodes, ring->spans, ring);
}

// -- in the node's thread

// Ends the node's block, which is full, and begins another.
static void turn(net_log_t *log, const sim_node_t *sim_node)
{
    ring_node_t *const node = (ring_node_t *)(void *)log;
    pcap_out_ring_t *const ring = node->ring;
    if (node->used_end != node->used_first) {
        ring_used(node, node->used_end - 1)->end_ps = sim_node->run_end_ps;
        // Threads may lose each other's counts: the cutoff then comes later.
        const uint64_t blocks = atomic_load_explicit(&ring->blocks, memory_order_relaxed);
        atomic_store_explicit(&ring->blocks, blocks + 1, memory_order_relaxed);
        forget(node, ring->cutoff_ps);
    }
    add_block(node);
}

static ring_node_t *node_of(pcap_out_ring_t *ring, const sim_node_t *node)
{
    ring_node_t *const own = &ring->nodes[node->index];
    own->log.turn = turn;
    return own;
}

// Notes a packet that arrived: a switch sends it on, so it costs no copy; of most others the hot
// part says everything.
static void received(net_log_t *log, const net_port_t *port, const net_packet_t *packet)
{
    ring_node_t *const node = (ring_node_t *)(void *)log;
    const sim_time_t now_ps = port->node->sim.now_ps;
    if (packet->kind != NET_PACKET_ROCE || !net_log_takes(packet->marks)) {
        node->received(log, port, packet);
    } else if (port->node->kind == NET_NODE_SWITCH) {
        (void)net_log_received(log, port, now_ps, packet);
    } else if (node->ring->is_hot[packet->opcode] && !packet->addressed && !packet->contents) {
        if (log->next == log->end) {
            turn(log, &port->node->sim);
        }
        net_packet_t *const copy = take_memory(node, sizeof(*copy));
        __builtin_prefetch(copy + 2, 1);
        *copy = *packet;
        copy->next = (net_packet_t *)(uintptr_t)packet;
        log->bytes += packet->frame_bytes + NET_LOG_FRAME_BYTES;
        (void)net_log_put(log, port, now_ps, copy, 0, RING_COPIED, 0);
    } else {
        node->received(log, port, packet);
    }
}

void pcap_out_ring_attach(pcap_out_ring_t *ring, net_node_t *node,
                          pcap_out_ring_note_fn received_fn, pcap_out_ring_note_fn sent,
                          pcap_out_ring_note_fn again, void *ctx)
{
    ring_node_t *const own = node_of(ring, &node->sim);
    own->log.received = received;
    own->log.sent = sent;
    own->log.again = node->kind == NET_NODE_HOST ? again : NULL;
    own->received = received_fn;
    own->ctx = ctx;
    net_log_attach(node, &own->log);
}

void pcap_out_ring_watch(pcap_out_ring_t *ring, const net_t *net, const pcap_out_moments_t *moments)
{
    ring->net = net;
    ring->watched = *moments;
}

void pcap_out_ring_choose(pcap_out_ring_t *ring, const bool *chosen,
                          pcap_out_ring_noted_fn noted_bytes, void *ctx)
{
    ring->chosen = chosen;
    ring->noted_bytes = noted_bytes;
    ring->noted_ctx = ctx;
}

void pcap_out_ring_moment(pcap_out_ring_t *ring, const net_port_t *port, const net_log_entry_t *on)
{
    const sim_node_t *const sim = &port->node->sim;
    ring_node_t *const node = &ring->nodes[sim->index];
    if (node->moment_count > 0 && on != NULL && node->moments[node->moment_count - 1].on == on &&
        node->moments[node->moment_count - 1].time_ps == sim->now_ps) {
        return; // another comment on this frame
    }
    SIM_GROW(node->moments, node->moment_count, &node->moment_capacity);
    node->moments[node->moment_count] = (ring_moment_t){.time_ps = sim->now_ps,
                                                        .on = on,
                                                        .node = sim->index,
                                                        .order = (uint32_t)node->moment_count};
    node->moment_count++;
    atomic_store_explicit(&ring->has_moments, true, memory_order_relaxed);
}

void *pcap_out_ring_ctx(const net_log_t *log)
{
    return ((const ring_node_t *)(const void *)log)->ctx;
}

// Notes something in memory that lives as long as its entry. Returns the memory.
static void *put(pcap_out_ring_t *ring, const net_port_t *port, ring_kind_t kind, size_t bytes)
{
    const sim_node_t *const node = &port->node->sim;
    ring_node_t *const own = node_of(ring, node);
    if (own->log.next == own->log.end) {
        turn(&own->log, node);
    }
    void *const memory = take_memory(own, bytes);
    (void)net_log_put(&own->log, port, node->now_ps, memory, 0, kind, 0);
    return memory;
}

static pcap_out_note_t *put_note(pcap_out_ring_t *ring, const net_port_t *port,
                                 const net_packet_t *packet, ring_kind_t kind, size_t note_bytes)
{
    ring_note_t *const noted =
        put(ring, port, kind, sizeof(*noted) - sizeof(noted->note) + note_bytes);
    noted->packet = packet;
    return &noted->note;
}

pcap_out_note_t *pcap_out_ring_frame(pcap_out_ring_t *ring, const net_port_t *port,
                                     const net_packet_t *packet, pcap_out_place_t place,
                                     size_t note_bytes)
{
    const ring_kind_t kind = place == PCAP_OUT_SENT       ? RING_NOTED_SENT
                             : place == PCAP_OUT_RECEIVED ? RING_NOTED_RECEIVED
                                                          : RING_NOTED_LOST;
    pcap_out_note_t *const note = put_note(ring, port, packet, kind, note_bytes);
    ring->nodes[port->node->sim.index].log.bytes += packet->frame_bytes + NET_LOG_FRAME_BYTES;
    return note;
}

// Returns the frame of an entry that is one; of a packet that was passed on, the sent one.
static pcap_out_last_t frame_of(const net_log_entry_t *entry)
{
    const uint32_t kind = net_log_kind(entry);
    return (pcap_out_last_t){
        .entry = entry,
        .packet = ring_packet(entry),
        .time_ps = net_log_time(entry),
        .port = kind == NET_LOG_PASSED ? net_log_port_out(entry) : net_log_port(entry),
        .place = kind == NET_LOG_SENT || kind == NET_LOG_PASSED || kind == RING_NOTED_SENT
                     ? PCAP_OUT_SENT
                 : kind == RING_NOTED_LOST ? PCAP_OUT_LOST
                                           : PCAP_OUT_RECEIVED,
    };
}

pcap_out_last_t pcap_out_ring_last(const pcap_out_ring_t *ring, const net_node_t *node)
{
    const ring_node_t *const own = &ring->nodes[node->sim.index];
    for (uint32_t number = own->used_end; number-- != own->used_first;) {
        const net_log_entry_t *const first = ring_used(own, number)->block->entries;
        for (size_t i = ring_entries(own, number); i-- > 0;) {
            const net_log_entry_t *const at = &first[i];
            if (net_log_kind(at) >= RING_CONTENTS || net_log_is_late(at)) {
                continue;
            }
            const pcap_out_last_t last = frame_of(at);
            if (ring->chosen == NULL || ring->chosen[node->ports[last.port].uid * 3 + last.place]) {
                return last;
            }
            if (last.time_ps != node->sim.now_ps) {
                return (pcap_out_last_t){0};
            }
        }
    }
    return (pcap_out_last_t){0};
}

void pcap_out_ring_comment(pcap_out_ring_t *ring, const net_port_t *port,
                           const net_packet_t *packet, const pcap_out_note_t *comment,
                           const net_log_entry_t *on)
{
    ring_comment_t *const noted = put(ring, port, RING_COMMENT, sizeof(*noted));
    *noted = (ring_comment_t){.note = *comment, .packet = packet, .on = on};
}

void pcap_out_ring_contents(pcap_out_ring_t *ring, const net_port_t *port,
                            const net_packet_t *packet)
{
    const size_t bytes = sizeof(pcap_out_note_t) + pcap_out_note_packet_bytes(port, packet);
    pcap_out_note_t *const note = put_note(ring, port, packet, RING_CONTENTS, bytes);
    *note = (pcap_out_note_t){.port = port->uid};
    pcap_out_note_put_packet(note, port, packet);
}
