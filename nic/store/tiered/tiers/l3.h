// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/l3.h - L3: pages of whole contexts in host memory, which the driver keeps
// (docs/models/tiered-cache.md).
//
// An object has a slot from its creation to its end, whatever tier owns its token. The slot has the
// encoded context and behind it the driver's record. The object's index in the pool of its type is
// its place: page = index / slots, slot = index % slots. A page is allocated with its first slot
// and freed with its last one. Bytes do not move. put, remove and look-ups cost O(1).
#ifndef NIC_STORE_TIERED_TIERS_L3_H
#define NIC_STORE_TIERED_TIERS_L3_H

#include "nic/store/tiered/token.h"

SIM_C_BEGIN

#define NIC_L3_SLOTS 16u // of a page

typedef struct nic_l3 {
    uint8_t **pages; // each begins with its nic_page_header_t; NULL: no slot is used
    uint32_t page_capacity;
    uint32_t pages_used;
    uint32_t used_slots;
    uint32_t context_bytes;
} nic_l3_t;

// Initialises the pages of a type. There is always room.
void nic_l3_init(nic_l3_t *l3, nic_token_type_t type);
void nic_l3_fini(nic_l3_t *l3);
// Takes the slot of an index, which must be free, and fills it with zeros.
void nic_l3_put(nic_l3_t *l3, uint32_t index);
void nic_l3_remove(nic_l3_t *l3, uint32_t index);
// Returns whether bitmaps and counts agree, and `objects` slots are used.
bool nic_l3_check(const nic_l3_t *l3, uint32_t objects);

// Returns the context in the slot of an index.
static inline uint8_t *nic_l3_context(const nic_l3_t *l3, uint32_t index)
{
    SIM_ASSERT(index / NIC_L3_SLOTS < l3->page_capacity);
    return l3->pages[index / NIC_L3_SLOTS] + sizeof(nic_page_header_t) +
           index % NIC_L3_SLOTS * (l3->context_bytes + sizeof(nic_record_t));
}
// Returns the record in the slot of an index.
static inline nic_record_t *nic_l3_record(const nic_l3_t *l3, uint32_t index)
{
    return (nic_record_t *)(void *)(nic_l3_context(l3, index) + l3->context_bytes);
}

SIM_C_END

#endif // NIC_STORE_TIERED_TIERS_L3_H
