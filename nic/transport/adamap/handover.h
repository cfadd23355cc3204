// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/handover.h - a chain of blocks that the NIC and a core of its host share,
// and the order of their writes.
//
// One fifo of entries leads from the NIC to the core: a map to be inserted, a block that is done
// with. The core links maps at the tail and keeps the free list; the NIC moves the head. They share
// no more than a block's word for the next one, which the core writes once and the NIC reads, and
// the head, which the core writes only while the NIC has none. So nothing is locked:
//
//     NIC                                           core, for each entry of the fifo
//     given++, entry "insert map"                   insert: take a free block, write the map and
//     read the head's map and its next word           "no next" (write), then link it: the tail's
//     advance: if more were given than taken, and     next word, or the head if there is no tail
//       the word says none, read it again later;    return: if it is the tail, there is none any
//       else the head is what it says, and the        more; the block is free
//       entry "return block" follows
//
// The NIC may trust a word that says "none" only if it gave nothing that it has not taken: then no
// insertion is under way, and the return is in the fifo before the next one. Blocks are freed by
// the core alone. test_adamap_handover.c goes through all orders of these steps.
#ifndef NIC_TRANSPORT_ADAMAP_HANDOVER_H
#define NIC_TRANSPORT_ADAMAP_HANDOVER_H

#include "kernel/base.h"

#define NIC_KNITTING_NONE 0u

typedef struct nic_knitting_chain {
    uint32_t head;  // block, the NIC's; NIC_KNITTING_NONE: it has come to the end
    uint32_t tail;  // block, the core's; NIC_KNITTING_NONE: there is none
    uint32_t given; // maps that the NIC gave; given and taken run freely
    uint32_t taken; // maps that the NIC took back
} nic_knitting_chain_t;

// Returns the number of maps in the chain, or on their way into it.
static inline uint32_t nic__chain_count(const nic_knitting_chain_t *chain)
{
    return chain->given - chain->taken;
}

static inline void nic__chain_give(nic_knitting_chain_t *chain)
{
    chain->given++;
}

// Links a block with its map and without a next one: the core's step. tail_next: the tail's word,
// if there is a tail.
static inline void nic__chain_link(nic_knitting_chain_t *chain, uint32_t *tail_next, uint32_t block)
{
    if (chain->tail == NIC_KNITTING_NONE) {
        chain->head = block;
    } else {
        *tail_next = block;
    }
    chain->tail = block;
}

// Takes the head's map: the NIC's step. next is what the head's word said. Returns false if the
// word must be read again, because an insertion is in flight.
static inline bool nic__chain_advance(nic_knitting_chain_t *chain, uint32_t next)
{
    SIM_ASSERT(chain->head != NIC_KNITTING_NONE && nic__chain_count(chain) > 0);
    if (next == NIC_KNITTING_NONE && nic__chain_count(chain) > 1) {
        return false;
    }
    chain->head = next;
    chain->taken++;
    return true;
}

// Frees a block that the NIC returned: the core's step.
static inline void nic__chain_returned(nic_knitting_chain_t *chain, uint32_t block)
{
    if (chain->tail == block) {
        chain->tail = NIC_KNITTING_NONE;
    }
}

#endif // NIC_TRANSPORT_ADAMAP_HANDOVER_H
