// SPDX-License-Identifier: Apache-2.0
// pcap-out/held.c - the queue of noted frames that a ring or a trigger holds.
#include "pcap-out/held.h"

#include <string.h>

#define BLOCK_BYTES ((size_t)1 << 18)

struct pcap_out_block {
    struct pcap_out_block *next;
    size_t from; // of the first item
    size_t to;   // behind the last one
    size_t capacity;
    alignas(16) char bytes[];
};

static struct pcap_out_block *block_for(pcap_out_held_t *held, size_t bytes)
{
    struct pcap_out_block *block = held->spare;
    if (block != NULL && block->capacity >= bytes) {
        held->spare = NULL;
    } else {
        const size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = sim_alloc(sizeof(*block) + capacity);
        block->capacity = capacity;
    }
    block->next = NULL;
    block->from = 0;
    block->to = 0;
    if (held->last != NULL) {
        held->last->next = block;
    } else {
        held->first = block;
    }
    held->last = block;
    return block;
}

void pcap_out_held_push(pcap_out_held_t *held, const pcap_out_item_t *item)
{
    const size_t bytes = pcap_out_item_bytes(item);
    struct pcap_out_block *block = held->last;
    if (block == NULL || block->capacity - block->to < bytes) {
        block = block_for(held, bytes);
    }
    memcpy(block->bytes + block->to, item, bytes);
    block->to += bytes;
    held->count++;
    held->file_bytes += item->file_bytes;
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
    block->from += pcap_out_item_bytes(item);
    if (block->from < block->to) {
        return;
    }
    held->first = block->next;
    held->last = held->first == NULL ? NULL : held->last;
    sim_free(held->spare);
    held->spare = block;
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
