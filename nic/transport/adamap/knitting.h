// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/knitting.h - the shared knitting buffer: blocks of a host's memory that hold
// the Adamaps of all queue pairs of a NIC, in chains, and the list of those that are free.
//
// A block is an Adamap and the 8-byte physical address of the next block, aligned. A chain has a
// head that the NIC reads and moves, and a tail that only the CPU knows. Blocks are numbered from
// 1; a block's address is its number x block_bytes.
// Invariant: every block is on the free list or in use, by a chain, a table or in between;
// free_count + used_count == block_count.
// The buffer grows by chunks up to a limit, and gives a chunk back when all of it is free and as
// many blocks again are. O(1) each but for that.
#ifndef NIC_TRANSPORT_ADAMAP_KNITTING_H
#define NIC_TRANSPORT_ADAMAP_KNITTING_H

#include "nic/transport/adamap/handover.h"
#include "nic/transport/adamap/node.h"

typedef struct nic_knitting_block {
    nic_adamap_t map;
    uint64_t linked_ps; // when the CPU has inserted it: the NIC cannot read it before
    uint32_t next;      // block, in its chain or in the free list; NIC_KNITTING_NONE
    bool used;
} nic_knitting_block_t;

typedef struct nic_knitting_config {
    uint32_t bits;
    uint32_t align_bytes; // power of two
    uint32_t chunk_blocks;
    uint32_t blocks_max;
} nic_knitting_config_t;

typedef struct nic_knitting {
    nic_knitting_config_t config;
    uint32_t block_bytes;
    nic_knitting_block_t **chunks; // NULL: given back
    uint32_t *chunk_used;          // blocks in use, by chunk
    uint32_t chunk_count;          // slots
    uint32_t chunk_capacity;
    uint32_t free_first;
    uint64_t block_count;
    uint64_t free_count;
    uint64_t used_count;
    // so far
    uint64_t used_max;
    uint64_t bytes_max; // size of all chunks, at most
    uint64_t grown;     // chunks added
    uint64_t shrunk;
    uint64_t refused; // allocations without a block
} nic_knitting_t;

uint32_t nic__knitting_block_bytes(uint32_t bits, uint32_t align_bytes);
void nic__knitting_init(nic_knitting_t *knitting, const nic_knitting_config_t *config);
void nic__knitting_fini(nic_knitting_t *knitting);

// Returns a free block; NIC_KNITTING_NONE: none is left and the buffer may not grow.
uint32_t nic__knitting_take(nic_knitting_t *knitting);
void nic__knitting_give(nic_knitting_t *knitting, uint32_t block);
static inline bool nic__knitting_can_take(const nic_knitting_t *knitting, uint64_t blocks)
{
    return knitting->used_count + blocks <= knitting->config.blocks_max;
}
nic_knitting_block_t *nic__knitting_at(const nic_knitting_t *knitting, uint32_t block);
// Checks the invariant by walking all blocks, for tests and builds with dear checks.
void nic__knitting_check(const nic_knitting_t *knitting);

// -- a chain of blocks, by the steps of nic/transport/adamap/handover.h: here core and NIC each do
// all of their steps at once, and the steps take time (linked_ps).

// Makes the CPU write the map into a free block and link it to the tail. Returns false if there was
// no block.
bool nic__knitting_append(nic_knitting_t *knitting,
                          nic_knitting_chain_t *chain,
                          const nic_adamap_t *map,
                          uint64_t linked_ps);
// Makes the NIC take the head's map, move the head and return the block. The chain is not empty.
nic_adamap_t nic__knitting_pop(nic_knitting_t *knitting, nic_knitting_chain_t *chain);
void nic__knitting_drop(nic_knitting_t *knitting, nic_knitting_chain_t *chain);

#endif // NIC_TRANSPORT_ADAMAP_KNITTING_H
