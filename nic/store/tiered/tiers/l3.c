// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/l3.c - slots of pages in host memory, taken and given back
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/tiers/l3.h"

#include <string.h>

void nic_l3_init(nic_l3_t *l3, nic_token_type_t type)
{
    *l3 = (nic_l3_t){.context_bytes = nic_context_bytes(type)};
}

void nic_l3_fini(nic_l3_t *l3)
{
    sim_free_each(l3->pages, l3->page_capacity);
    sim_free(l3->pages);
    *l3 = (nic_l3_t){.context_bytes = 0};
}

static nic_page_header_t *header_of(const nic_l3_t *l3, uint32_t page)
{
    return (nic_page_header_t *)(void *)l3->pages[page];
}

static void begin_page(nic_l3_t *l3, uint32_t page)
{
    if (page >= l3->page_capacity) {
        const uint32_t capacity = SIM_MAX(page + 1, l3->page_capacity * 2);
        l3->pages = sim_realloc_array(l3->pages, capacity, sizeof(*l3->pages));
        for (uint32_t i = l3->page_capacity; i < capacity; i++) {
            l3->pages[i] = NULL;
        }
        l3->page_capacity = capacity;
    }
    if (l3->pages[page] == NULL) {
        l3->pages[page] =
            sim_alloc(sizeof(nic_page_header_t) +
                      (size_t)NIC_L3_SLOTS * (l3->context_bytes + sizeof(nic_record_t)));
        *header_of(l3, page) = (nic_page_header_t){.page_id = page};
        l3->pages_used++;
    }
}

void nic_l3_put(nic_l3_t *l3, uint32_t index)
{
    const uint32_t page = index / NIC_L3_SLOTS;
    const uint32_t bit = 1u << index % NIC_L3_SLOTS;
    begin_page(l3, page);
    nic_page_header_t *const header = header_of(l3, page);
    SIM_CHECK((header->slot_bitmap & bit) == 0);
    header->slot_bitmap |= (uint16_t)bit;
    header->used_slots++;
    l3->used_slots++;
    memset(nic_l3_context(l3, index), 0, l3->context_bytes + sizeof(nic_record_t));
}

void nic_l3_remove(nic_l3_t *l3, uint32_t index)
{
    const uint32_t page = index / NIC_L3_SLOTS;
    const uint32_t bit = 1u << index % NIC_L3_SLOTS;
    SIM_CHECK(page < l3->page_capacity && l3->pages[page] != NULL);
    nic_page_header_t *const header = header_of(l3, page);
    SIM_CHECK((header->slot_bitmap & bit) != 0);
    header->slot_bitmap &= (uint16_t)~bit;
    l3->used_slots--;
    if (--header->used_slots == 0) {
        sim_free(l3->pages[page]);
        l3->pages[page] = NULL;
        l3->pages_used--;
    }
}

bool nic_l3_check(const nic_l3_t *l3, uint32_t objects)
{
    uint32_t pages = 0;
    uint32_t slots = 0;
    for (uint32_t page = 0; page < l3->page_capacity; page++) {
        if (l3->pages[page] == NULL) {
            continue;
        }
        const nic_page_header_t *const header = header_of(l3, page);
        const uint32_t bits = (uint32_t)__builtin_popcount(header->slot_bitmap);
        if (header->page_id != page || header->used_slots != bits || bits == 0) {
            return false;
        }
        pages++;
        slots += bits;
    }
    return pages == l3->pages_used && slots == l3->used_slots && slots == objects;
}
