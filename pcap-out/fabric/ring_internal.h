// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/ring_internal.h - the memory of a ring: blocks of entries, and chunks for what
// they say.
#ifndef PCAP_OUT_FABRIC_RING_INTERNAL_H
#define PCAP_OUT_FABRIC_RING_INTERNAL_H

#include <stdatomic.h>

#include "pcap-out/fabric/ring.h"
#include "pcap-out/fabric/ring_blocks.h"

// Something happened around which frames are wanted.
typedef struct ring_moment {
    sim_time_t time_ps;
    const net_log_entry_t *on; // frame; NULL: none
    uint32_t node;
    uint32_t order; // in the node's list
} ring_moment_t;

// The thread of a node writes this part alone.
typedef struct ring_node {
    alignas(SIM_CACHE_LINE) net_log_t log; // first
    struct pcap_out_ring *ring;
    pcap_out_ring_note_fn received;
    void *ctx;
    char *memory; // free memory in the last block's first chunk
    char *memory_end;
    ring_used_t *used; // a queue in an array that is a power of two long
    uint32_t used_mask;
    uint32_t used_first; // counts on; the index is its lower bits
    uint32_t used_end;   // counts on; the index is its lower bits
    uint32_t spare_count;
    ring_block_t **spares;
    size_t spare_capacity;
    ring_chunk_t *spare_chunks;
    ring_moment_t *moments;
    size_t moment_count;
    size_t moment_capacity;
} ring_node_t;

// Returns the description of the node's block with this number, from used_first on.
static inline ring_used_t *ring_used(const ring_node_t *node, uint32_t number)
{
    return &node->used[number & node->used_mask];
}
// Returns how many entries that block has.
static inline size_t ring_entries(const ring_node_t *node, uint32_t number)
{
    return number + 1 == node->used_end
               ? (size_t)(node->log.next - ring_used(node, number)->block->entries)
               : RING_ENTRIES;
}

// Says that the nodes noted `bytes` from from_ps on, up to the next span.
typedef struct ring_span {
    sim_time_t from_ps;
    uint64_t bytes;
} ring_span_t;

struct pcap_out_ring {
    ring_node_t *nodes;
    size_t node_count;
    uint64_t bytes;
    uint32_t snaplen_bytes;
    bool is_hot[UINT8_MAX + 1];  // by opcode: net_frame_is_hot
    atomic_uint_fast64_t blocks; // that nodes filled since the last span
    // Blocks and chunks lie in slabs, which nodes share.
    atomic_flag carving; // guards the rest of this part
    char *slab;          // free memory of the last slab
    char *slab_end;
    char **slabs;
    size_t slab_count;
    size_t slab_capacity;
    // written between windows
    sim_time_t cutoff_ps; // frames before it are not among the last
    sim_time_t span_from_ps;
    ring_span_t *spans; // those that still count, from `first` on
    size_t first;
    size_t count;
    size_t capacity;
    uint64_t span_bytes; // sum of those that count

    const bool *chosen; // NULL: all frames are
    pcap_out_ring_noted_fn noted_bytes;
    void *noted_ctx;
    uint64_t noted_before; // that are in spans

    atomic_bool has_moments; // some node has noted one
    const net_t *net;        // NULL: the last frames are wanted, not those around moments
    pcap_out_moments_t watched;
    uint64_t moment_count;      // that counted
    sim_time_t open_until_ps;   // frames before this time are wanted
    sim_time_t handed_until_ps; // wanted frames before this time were handed on
    uint64_t handed;
    ring_moment_t *moments; // of one window
    size_t moments_capacity;
};

// Returns the packet of an entry that is no comment.
static inline const net_packet_t *ring_packet(const net_log_entry_t *entry)
{
    const net_packet_t *const copy = entry->what;
    const ring_note_t *const note = entry->what;
    return net_log_kind(entry) < NET_LOG_OTHER  ? entry->what
           : net_log_kind(entry) == RING_COPIED ? copy->next
                                                : note->packet;
}

// ring_end.c: hands on frames around moments that lie before window_end_ps.
void pcap_out__ring_look(pcap_out_ring_t *ring, sim_time_t window_end_ps);

// pcap-out/fabric/ring.c: returns memory that lives as long as the node's newest block.
void *pcap_out__ring_memory(ring_node_t *node, size_t bytes);

#endif // PCAP_OUT_FABRIC_RING_INTERNAL_H
