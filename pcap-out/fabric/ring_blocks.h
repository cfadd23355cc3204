// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/ring_blocks.h - the blocks of entries and the chunks of memory of a ring.
#ifndef PCAP_OUT_FABRIC_RING_BLOCKS_H
#define PCAP_OUT_FABRIC_RING_BLOCKS_H

#include <stdalign.h>

#include "pcap-out/fabric/note.h"
#include "pcap-out/fabric/ring.h"

#define RING_ENTRIES 64u
// Kinds of entries, besides those of net_log_kind_t.
typedef enum ring_kind {
    RING_COPIED = NET_LOG_OTHER, // what: the hot part, whose `next` is the packet; received
    RING_NOTED_SENT,             // what: ring_note_t
    RING_NOTED_RECEIVED,         // likewise
    RING_NOTED_LOST,             // likewise
    RING_CONTENTS,               // likewise; no frame
    RING_COMMENT,                // what: ring_comment_t
} ring_kind_t;

typedef struct ring_note {
    const net_packet_t *packet; // that it was made of
    uint64_t unused;
    alignas(16) pcap_out_note_t note; // with the packet behind it
} ring_note_t;

typedef struct ring_comment {
    pcap_out_note_t note;
    const net_packet_t *packet;
    const net_log_entry_t *on; // NULL: the packet's next frame
} ring_comment_t;

typedef struct ring_chunk {
    struct ring_chunk *next;
    size_t capacity;
    alignas(SIM_CACHE_LINE) char bytes[];
} ring_chunk_t;

typedef struct ring_block {
    alignas(SIM_CACHE_LINE) net_log_entry_t entries[RING_ENTRIES];
} ring_block_t;

// Describes a block. Descriptions lie side by side: by the time that a node forgets a block, the
// block's own lines have left the cache.
typedef struct ring_used {
    ring_block_t *block;
    sim_time_t end_ps; // entries are before this time; known when the block is full
    ring_chunk_t *chunks;
    ring_chunk_t *last_chunk; // of `chunks`; NULL: some of them have another capacity than usual
} ring_used_t;

#endif // PCAP_OUT_FABRIC_RING_BLOCKS_H
