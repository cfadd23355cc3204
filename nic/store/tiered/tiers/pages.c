// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/pages.c - slots of pages, taken and given back
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/tiers/pages.h"

#include <string.h>

void nic_pages_init(nic_pages_t *pages, uint64_t limit_bytes, uint32_t slots, uint32_t slot_bytes)
{
    SIM_CHECK(slots >= 1 && slots <= NIC_PAGE_SLOTS_MAX && slot_bytes >= 1);
    *pages = (nic_pages_t){.slots = slots, .slot_bytes = slot_bytes, .room = NIC_PAGE_NONE};
    const uint64_t limit = limit_bytes / nic_pages_page_bytes(pages);
    const uint64_t most = UINT32_MAX / slots - 1; // offsets have 32 bits
    pages->page_limit = (uint32_t)SIM_MIN(limit, most);
}

void nic_pages_fini(nic_pages_t *pages)
{
    SIM_FREE_ALL(pages->pages, pages->bytes, pages->owner);
    *pages = (nic_pages_t){.room = NIC_PAGE_NONE};
}

static inline uint16_t full_bitmap(const nic_pages_t *pages)
{
    return (uint16_t)((1u << pages->slots) - 1);
}

void nic_pages_check_header(nic_pages_t *pages, uint32_t index)
{
    uint32_t bitmap = 0;
    for (uint32_t slot = 0; slot < pages->slots; slot++) {
        const bool used = pages->owner[(size_t)index * pages->slots + slot] != NIC_HANDLE_NONE;
        bitmap |= (uint32_t)used << slot;
    }
    const nic_page_header_t right = {
        .page_id = index,
        .used_slots = (uint16_t)__builtin_popcount(bitmap),
        .slot_bitmap = (uint16_t)bitmap,
    };
    nic_page_header_t *const header = &pages->pages[index].header;
    if (memcmp(header, &right, sizeof(right)) != 0) {
        *header = right;
        pages->repaired++;
    }
}

// Returns the first slot of a run of `slots` free slots, or pages->slots if there is none.
static uint32_t find_run(const nic_pages_t *pages, const nic_page_t *page, uint32_t slots)
{
    const uint32_t wanted = (1u << slots) - 1;
    for (uint32_t slot = 0; slot + slots <= pages->slots; slot++) {
        if ((page->header.slot_bitmap & wanted << slot) == 0) {
            return slot;
        }
    }
    return pages->slots;
}

static void link_page(nic_pages_t *pages, uint32_t index)
{
    nic_page_t *const page = &pages->pages[index];
    page->next = pages->room;
    page->previous = NIC_PAGE_NONE;
    if (pages->room != NIC_PAGE_NONE) {
        pages->pages[pages->room].previous = index;
    }
    pages->room = index;
}

static void unlink_page(nic_pages_t *pages, uint32_t index)
{
    const nic_page_t *const page = &pages->pages[index];
    if (page->previous == NIC_PAGE_NONE) {
        pages->room = page->next;
    } else {
        pages->pages[page->previous].next = page->next;
    }
    if (page->next != NIC_PAGE_NONE) {
        pages->pages[page->next].previous = page->previous;
    }
}

static void grow(nic_pages_t *pages)
{
    const uint32_t capacity = pages->page_capacity == 0 ? 16 : pages->page_capacity * 2;
    const size_t slots = (size_t)capacity * pages->slots;
    pages->pages = sim_realloc_array(pages->pages, capacity, sizeof(*pages->pages));
    pages->bytes = sim_realloc_array(pages->bytes, slots, pages->slot_bytes);
    pages->owner = sim_realloc_array(pages->owner, slots, sizeof(*pages->owner));
    pages->page_capacity = capacity;
}

static uint32_t begin_page(nic_pages_t *pages)
{
    const uint32_t index = pages->page_count;
    if (index == pages->page_capacity) {
        grow(pages);
    }
    pages->page_count++;
    pages->pages[index] = (nic_page_t){.header = {.page_id = index}};
    const size_t first = (size_t)index * pages->slots;
    memset(&pages->bytes[first * pages->slot_bytes], 0, (size_t)pages->slots * pages->slot_bytes);
    for (uint32_t i = 0; i < pages->slots; i++) {
        pages->owner[first + i] = NIC_HANDLE_NONE;
    }
    link_page(pages, index);
    return index;
}

// Returns a page with room for a run, partly used pages first. NIC_PAGE_NONE: only pages that are
// not begun yet have room.
static uint32_t find_page(nic_pages_t *pages, uint32_t slots)
{
    uint32_t empty = NIC_PAGE_NONE;
    for (uint32_t i = pages->room; i != NIC_PAGE_NONE; i = pages->pages[i].next) {
        nic_pages_check_header(pages, i);
        if (find_run(pages, &pages->pages[i], slots) < pages->slots) {
            if (pages->pages[i].header.used_slots != 0) {
                return i;
            }
            empty = empty == NIC_PAGE_NONE ? i : empty;
        }
    }
    return empty;
}

bool nic_pages_has_room(nic_pages_t *pages, uint32_t slots)
{
    SIM_CHECK(slots >= 1);
    return slots <= pages->slots &&
           (pages->page_count < pages->page_limit || find_page(pages, slots) != NIC_PAGE_NONE);
}

uint32_t nic_pages_put(nic_pages_t *pages, uint32_t owner, uint32_t slots, const uint8_t *bytes,
                       uint32_t size_bytes)
{
    SIM_CHECK(slots >= 1 && slots <= pages->slots && size_bytes <= slots * pages->slot_bytes);
    uint32_t index = find_page(pages, slots);
    if (index == NIC_PAGE_NONE) {
        if (pages->page_count == pages->page_limit) {
            return NIC_PAGE_NONE;
        }
        index = begin_page(pages);
    }
    nic_page_t *const page = &pages->pages[index];
    const uint32_t slot = find_run(pages, page, slots);
    SIM_CHECK(slot < pages->slots);
    pages->pages_used += page->header.used_slots == 0;
    page->header.slot_bitmap |= (uint16_t)(((1u << slots) - 1) << slot);
    page->header.used_slots = (uint16_t)(page->header.used_slots + slots);
    if (page->header.slot_bitmap == full_bitmap(pages)) {
        unlink_page(pages, index);
    }
    const uint32_t offset = index * pages->slots + slot;
    for (uint32_t i = 0; i < slots; i++) {
        pages->owner[offset + i] = owner;
    }
    memcpy(nic_pages_at(pages, offset), bytes, size_bytes);
    pages->used_slots += slots;
    pages->used_slots_max = SIM_MAX(pages->used_slots, pages->used_slots_max);
    pages->pages_used_max = SIM_MAX(pages->pages_used, pages->pages_used_max);
    return offset;
}

void nic_pages_remove(nic_pages_t *pages, uint32_t offset, uint32_t slots)
{
    const uint32_t index = offset / pages->slots;
    const uint32_t slot = offset % pages->slots;
    SIM_CHECK(index < pages->page_count && slot + slots <= pages->slots);
    nic_pages_check_header(pages, index);
    nic_page_t *const page = &pages->pages[index];
    const uint16_t bits = (uint16_t)(((1u << slots) - 1) << slot);
    SIM_CHECK((page->header.slot_bitmap & bits) == bits);
    if (page->header.slot_bitmap == full_bitmap(pages)) {
        link_page(pages, index);
    }
    page->header.slot_bitmap &= (uint16_t)~bits;
    page->header.used_slots = (uint16_t)(page->header.used_slots - slots);
    pages->pages_used -= page->header.used_slots == 0;
    pages->used_slots -= slots;
    for (uint32_t i = 0; i < slots; i++) {
        pages->owner[offset + i] = NIC_HANDLE_NONE;
    }
}

bool nic_pages_check(const nic_pages_t *pages)
{
    uint32_t used = 0;
    uint32_t used_pages = 0;
    uint32_t with_room = 0;
    for (uint32_t i = 0; i < pages->page_count; i++) {
        const nic_page_header_t *const header = &pages->pages[i].header;
        const uint32_t bits = (uint32_t)__builtin_popcount(header->slot_bitmap);
        if (header->page_id != i || header->used_slots != bits || bits > pages->slots) {
            return false;
        }
        for (uint32_t slot = 0; slot < pages->slots; slot++) {
            const bool owned = pages->owner[i * pages->slots + slot] != NIC_HANDLE_NONE;
            if (owned != ((header->slot_bitmap >> slot & 1) != 0)) {
                return false;
            }
        }
        used += bits;
        used_pages += bits != 0;
        with_room += bits < pages->slots;
    }
    for (uint32_t i = pages->room; i != NIC_PAGE_NONE; i = pages->pages[i].next) {
        with_room--;
    }
    return with_room == 0 && used == pages->used_slots && used_pages == pages->pages_used &&
           pages->page_count <= pages->page_limit;
}
