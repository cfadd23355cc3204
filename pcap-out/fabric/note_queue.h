// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/note_queue.h - a queue of noted frames with their comments, in blocks of memory.
//
// Items join at the end and leave at the front, each O(1). Blocks that run empty are used again.
#ifndef PCAP_OUT_FABRIC_NOTE_QUEUE_H
#define PCAP_OUT_FABRIC_NOTE_QUEUE_H

#include "pcap-out/fabric/note.h"

SIM_C_BEGIN

// A frame: behind it lie its note, note_bytes long, and comment_count heads of comments.
typedef struct pcap_out_item {
    sim_time_t time_ps;
    uint64_t file_bytes; // in the capture's file
    uint32_t note_bytes; // a multiple of 16
    uint32_t comment_count;
} pcap_out_item_t;

static inline const pcap_out_note_t *pcap_out_item_note(const pcap_out_item_t *item)
{
    return (const pcap_out_note_t *)(const void *)(item + 1);
}
static inline const pcap_out_note_t *pcap_out_item_comments(const pcap_out_item_t *item)
{
    return (const pcap_out_note_t *)(const void *)((const char *)(item + 1) + item->note_bytes);
}
static inline size_t pcap_out_item_bytes(const pcap_out_item_t *item)
{
    return (sizeof(*item) + item->note_bytes + item->comment_count * sizeof(pcap_out_note_t) + 15) &
           ~(size_t)15;
}

typedef struct pcap_out_held {
    struct pcap_out_block *first;
    struct pcap_out_block *last;
    struct pcap_out_block *spare;
    uint64_t count;
    uint64_t file_bytes; // sum over the items
} pcap_out_held_t;

// Copies an item to the end.
void pcap_out_held_push(pcap_out_held_t *held, const pcap_out_item_t *item);
void pcap_out_held_end(pcap_out_held_t *held, const pcap_out_item_t *item);
// Returns the first item, valid until it is popped; NULL: there is none.
const pcap_out_item_t *pcap_out_held_first(const pcap_out_held_t *held);
void pcap_out_held_pop(pcap_out_held_t *held);
void pcap_out_held_fini(pcap_out_held_t *held);

SIM_C_END

#endif // PCAP_OUT_FABRIC_NOTE_QUEUE_H
