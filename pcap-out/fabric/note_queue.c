// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/note_queue.c - the queue of noted frames that a ring or a trigger holds.
#include "pcap-out/fabric/note_queue.h"

#include <string.h>

#define BLOCK_BYTES ((size_t)1 << 15)

struct pcap_out_block {
    struct pcap_out_block *next;
    size_t from; // of the first item
    size_t to;   // behind the last one
    size_t capacity;
    uint64_t count;      // items
    uint64_t file_bytes; // bytes of the items in the file
    alignas(16) char bytes[];
};

static struct pcap_out_block *block_for(pcap_out_held_t *held, size_t bytes)
{
    struct pcap_out_block *block = held->spare;
    if (block != NULL && block->capacity >= bytes) {
        held->spare = NULL;
    } else {
        const size_t capacity = SIM_MAX(bytes, BLOCK_BYTES);
        block = sim_alloc(sizeof(*block) + capacity);
        block->capacity = capacity;
    }
    block->next = NULL;
    block->from = 0;
    block->to = 0;
    block->count = 0;
    block->file_bytes = 0;
    if (held->last != NULL) {
        held->last->next = block;
    } else {
        held->first = block;
    }
    held->last = block;
    return block;
}

// Returns room for an item of at most `bytes` at the end. It joins by pcap_out_held_end, before
// anything else is done with the queue.
static pcap_out_item_t *begin_item(pcap_out_held_t *held, size_t bytes)
{
    struct pcap_out_block *block = held->last;
    if (block == NULL || block->capacity - block->to < bytes) {
        block = block_for(held, bytes);
    }
    return (pcap_out_item_t *)(void *)(block->bytes + block->to);
}

void pcap_out_held_end(pcap_out_held_t *held, const pcap_out_item_t *item)
{
    struct pcap_out_block *const block = held->last;
    block->to += pcap_out_item_bytes(item);
    SIM_CHECK(block->to <= block->capacity);
    block->count++;
    block->file_bytes += item->file_bytes;
    held->count++;
    held->file_bytes += item->file_bytes;
}

void pcap_out_held_push(pcap_out_held_t *held, const pcap_out_item_t *item)
{
    const size_t bytes = pcap_out_item_bytes(item);
    pcap_out_item_t *const copy = begin_item(held, bytes);
    memcpy(copy, item, bytes);
    pcap_out_held_end(held, copy);
}

// Takes the first block, which holds nothing that is needed, out of the queue.
static void release_first(pcap_out_held_t *held)
{
    struct pcap_out_block *const block = held->first;
    held->first = block->next;
    held->last = held->first == NULL ? NULL : held->last;
    sim_free(held->spare);
    held->spare = block;
}

const pcap_out_item_t *pcap_out_held_first(const pcap_out_held_t *held)
{
    return held->count == 0
               ? NULL
               : (const pcap_out_item_t *)(const void *)(held->first->bytes + held->first->from);
}

void pcap_out_held_pop(pcap_out_held_t *held)
{
    const pcap_out_item_t *const item = pcap_out_held_first(held);
    struct pcap_out_block *const block = held->first;
    SIM_CHECK(item != NULL);
    held->count--;
    held->file_bytes -= item->file_bytes;
    block->count--;
    block->file_bytes -= item->file_bytes;
    block->from += pcap_out_item_bytes(item);
    if (block->from < block->to) {
        return;
    }
    release_first(held);
}

void pcap_out_held_fini(pcap_out_held_t *held)
{
    while (held->first != NULL) {
        struct pcap_out_block *const next = held->first->next;
        sim_free(held->first);
        held->first = next;
    }
    sim_free(held->spare);
    *held = (pcap_out_held_t){0};
}
