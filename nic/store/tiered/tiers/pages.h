// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/pages.h - L2: pages of compressed tokens (docs/models/tiered-cache.md).
//
// A page is a header and `slots` slots of one token type; what is not compressed takes a run of
// slots. A token lies anywhere: pages with room are filled before another is begun, so that n
// tokens take ceil(n / slots) pages as long as what leaves is followed by what comes. Where it lies
// is page_id x slots + slot, the directory's token_offset. The directory also says what lies in a
// page; a header that differs from it is corrupt, and is made anew from the directory.
// put and remove cost O(1) for tokens.
#ifndef NIC_STORE_TIERED_TIERS_PAGES_H
#define NIC_STORE_TIERED_TIERS_PAGES_H

#include "nic/store/tiered/token.h"

SIM_C_BEGIN

#define NIC_PAGE_SLOTS_MAX 16u // bits of the bitmap
#define NIC_PAGE_NONE UINT32_MAX

typedef struct nic_page {
    nic_page_header_t header;
    uint32_t next; // with room; NIC_PAGE_NONE: none
    uint32_t previous;
} nic_page_t;

typedef struct nic_pages {
    nic_page_t *pages; // begun so far
    uint8_t *bytes;    // of their slots
    uint32_t *owner;   // handle in each slot
    uint32_t slots;    // of a page, 1..16
    uint32_t slot_bytes;
    uint32_t page_limit;
    uint32_t page_count;    // begun so far
    uint32_t page_capacity; // allocated
    uint32_t room;          // first page of those with a free slot
    uint32_t pages_used;    // with a used slot
    uint32_t pages_used_max;
    uint32_t used_slots;
    uint32_t used_slots_max;
    uint64_t repaired; // headers that were corrupt
} nic_pages_t;

// Initialises an allocator of pages with `slots` slots of slot_bytes each, in limit_bytes of
// memory.
void nic_pages_init(nic_pages_t *pages, uint64_t limit_bytes, uint32_t slots, uint32_t slot_bytes);
void nic_pages_fini(nic_pages_t *pages);
static inline uint32_t nic_pages_page_bytes(const nic_pages_t *pages)
{
    return (uint32_t)sizeof(nic_page_header_t) + pages->slots * pages->slot_bytes;
}
bool nic_pages_has_room(nic_pages_t *pages, uint32_t slots);
// Compares the header of a page with the directory, and makes it anew if they differ.
void nic_pages_check_header(nic_pages_t *pages, uint32_t page);
// Puts an object of 1..slots slots in; NIC_PAGE_NONE: there is no room.
uint32_t nic_pages_put(nic_pages_t *pages, uint32_t owner, uint32_t slots, const uint8_t *bytes,
                       uint32_t size_bytes);
void nic_pages_remove(nic_pages_t *pages, uint32_t offset, uint32_t slots);
// Returns the bytes of the slot at an offset. They stay there until the next nic_pages_put.
static inline uint8_t *nic_pages_at(const nic_pages_t *pages, uint32_t offset)
{
    return &pages->bytes[(size_t)offset * pages->slot_bytes];
}
// Returns whether bitmaps, counts and the list of pages with room agree.
bool nic_pages_check(const nic_pages_t *pages);

SIM_C_END

#endif // NIC_STORE_TIERED_TIERS_PAGES_H
