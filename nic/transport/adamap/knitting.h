// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/knitting.h - the shared knitting buffer: blocks of a host's memory that hold
// the Adamaps of all queue pairs of a NIC, in chains, and the list of those that are free.
//
// The buffer lies in the host's memory (nic/memory.h), where programs can read it. A block is
// aligned and holds, little-endian:
//
//     0   8      address of the next block of its chain; 0: there is none
//     8   4      low 32 bits of the map's first PSN
//     12  4      packets that the map covers
//     16  4      time of closing, in units of 2^16 ps (65.5 ns), modulo 2^32
//     20  b / 8  bitmap: bit o % 8 of byte o / 8 says that packet o came
//
// The chain is what these bytes say: the NIC decodes a map and the next address from them. Blocks
// are numbered from 1, in order of their addresses. The free list is the owner's own.
// Blocks are free by runs of `run_blocks` adjacent ones. A chain that grows gets the block behind
// its tail, if that one is of the same run and free, else the first of a run that is free as a
// whole; so one read may bring several maps of a chain.
// Invariants: every block is free or used, free_count + used_count == block_count; used_count <=
// claimed_count <= blocks_max, so that a claimed block can always be taken.
// The buffer grows by chunks up to a limit, and gives a chunk back when all of it is free and as
// many blocks again are. O(1) each but for that.
#ifndef NIC_TRANSPORT_ADAMAP_KNITTING_H
#define NIC_TRANSPORT_ADAMAP_KNITTING_H

#include "nic/memory.h"
#include "nic/transport/adamap/handover.h"
#include "nic/transport/adamap/node.h"

// The buffers of a host's NICs begin here, one after the other: above all addresses of programs.
#define NIC_KNITTING_ADDRESS (UINT64_C(1) << 63)
#define NIC_KNITTING_STRIDE (UINT64_C(1) << 40)
#define NIC_KNITTING_RUN_MAX 64u
#define NIC_KNITTING_NEXT_BYTES 8u

// A run of adjacent blocks.
typedef struct nic_knitting_run {
    uint64_t free;   // by block of the run
    uint32_t before; // runs, in the list it is in; NIC_KNITTING_NONE
    uint32_t after;
} nic_knitting_run_t;

typedef struct nic_knitting_config {
    uint32_t bits;
    uint32_t align_bytes;  // power of two, at least 8
    uint32_t chunk_blocks; // a multiple of run_blocks
    uint32_t run_blocks;   // 1 to NIC_KNITTING_RUN_MAX
    uint32_t blocks_max;
    nic_memory_t *memory; // borrowed
    uint64_t address;     // of the first block, aligned
} nic_knitting_config_t;

typedef struct nic_knitting {
    nic_knitting_config_t config;
    uint32_t block_bytes;
    nic_knitting_run_t **chunks; // NULL: given back
    uint32_t *chunk_used;        // blocks in use, by chunk
    uint32_t chunk_count;        // slots
    uint32_t chunk_capacity;
    uint32_t whole_first; // runs that are free as a whole
    uint32_t part_first;  // other runs with free blocks
    uint64_t block_count;
    uint64_t free_count;
    uint64_t used_count;
    uint64_t claimed_count; // used, or promised
    // so far
    uint64_t used_max;
    uint64_t bytes_max; // size of all chunks, at most
    uint64_t grown;     // chunks added
    uint64_t shrunk;    // chunks given back
    uint64_t refused;   // claims without a block
} nic_knitting_t;

uint32_t nic__knitting_block_bytes(uint32_t bits, uint32_t align_bytes);
void nic__knitting_init(nic_knitting_t *knitting, const nic_knitting_config_t *config);
void nic__knitting_fini(nic_knitting_t *knitting);

// Returns true if this number of blocks can be claimed now.
static inline bool nic__knitting_has(const nic_knitting_t *knitting, uint64_t blocks)
{
    return knitting->claimed_count + blocks <= knitting->config.blocks_max;
}
// Claims blocks that will be taken. Returns false if fewer are left, and counts that.
bool nic__knitting_claim(nic_knitting_t *knitting, uint64_t blocks);
// Gives a claim up whose block was not taken.
void nic__knitting_unclaim(nic_knitting_t *knitting);
// Takes a block that was claimed; after: the chain's tail, near which it should be, or
// NIC_KNITTING_NONE.
uint32_t nic__knitting_take(nic_knitting_t *knitting, uint32_t after);
// Gives a block back, and its claim.
void nic__knitting_give(nic_knitting_t *knitting, uint32_t block);
bool nic__knitting_is_used(const nic_knitting_t *knitting, uint32_t block);
// Checks the invariants by walking all blocks, for tests and builds with dear checks.
void nic__knitting_check(const nic_knitting_t *knitting);

// -- contents

// Returns the address of a block; 0 for NIC_KNITTING_NONE.
static inline uint64_t nic__knitting_address(const nic_knitting_t *knitting, uint32_t block)
{
    return block == NIC_KNITTING_NONE
               ? 0
               : knitting->config.address + (uint64_t)(block - 1) * knitting->block_bytes;
}
// Returns how many blocks the run of this one has from it on.
static inline uint32_t nic__knitting_run_rest(const nic_knitting_t *knitting, uint32_t block)
{
    return knitting->config.run_blocks - (block - 1) % knitting->config.run_blocks;
}
// Writes a map into the block, without a next one.
void nic__knitting_write(const nic_knitting_t *knitting, uint32_t block, const nic_adamap_t *map);
// Writes the block's word for the next one.
void nic__knitting_link(const nic_knitting_t *knitting, uint32_t block, uint32_t next);
// Returns the map in a block. near_psn: a PSN within 2^31 of the map's; now_ps: the time, within
// 281 s of the map's.
nic_adamap_t nic__knitting_read(const nic_knitting_t *knitting, uint32_t block, uint64_t near_psn,
                                uint64_t now_ps);
// Returns the next block of the chain, or NIC_KNITTING_NONE. Aborts if the word is no address of a
// used block: a program has written there.
uint32_t nic__knitting_next(const nic_knitting_t *knitting, uint32_t block);

// -- a chain of blocks, by the steps of nic/transport/adamap/handover.h

// Takes a block for the map and links it to the chain's tail: the core's steps. The map was given
// to the chain, and its block is claimed.
void nic__knitting_append(nic_knitting_t *knitting, nic_knitting_chain_t *chain,
                          const nic_adamap_t *map);
// Takes the head's map, moves the head and returns the block at once. The chain's blocks are all
// linked.
nic_adamap_t nic__knitting_pop(nic_knitting_t *knitting, nic_knitting_chain_t *chain,
                               uint64_t near_psn, uint64_t now_ps);

#endif // NIC_TRANSPORT_ADAMAP_KNITTING_H
