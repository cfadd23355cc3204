// SPDX-License-Identifier: Apache-2.0
// nic/host/contents.c - the pages of nic/memory.h: a hash table by page number, and a bit for each
// line of a page that was written. A page begins with what the fill of its area says. Areas whose
// bytes belong to another owner have no pages.
#include <string.h>

#include "nic/host/contents.h"

#define PAGE_BITS 12
#define PAGE_BYTES (UINT64_C(1) << PAGE_BITS)
#define LINE_BITS 6 // 64 lines a page: as many as bits in a word
#define FIRST_SLOTS 16u

typedef struct nic_page {
    uint64_t lines; // with something in them
    uint8_t bytes[];
} nic_page_t;

// A page that was removed and is kept for the next one: malloc would take longer than its use.
struct nic_spare_page {
    nic_spare_page_t *next;
    uint64_t count; // of this page and those behind it
};

#define SPARE_PAGES_MAX 64u

struct nic_page_slot {
    uint64_t number;
    nic_page_t *page; // NULL: free
};

// An area of another owner.
struct nic_map {
    uint64_t address;
    uint64_t length_bytes;
    uint8_t *bytes;
};

struct nic_fill {
    nic_fill_t *next;
    uint64_t address;
    uint64_t length_bytes;
    uint64_t stride_bytes;
    nic_memory_fill_fn fn;
    const void *ctx;
};

static_assert(PAGE_BYTES >> LINE_BITS == 64, "a page's lines are the bits of a word");

// A part: the bytes of a range that lie in one page.
typedef struct part {
    uint64_t number; // of the page
    uint32_t offset;
    uint32_t count; // bytes
} part_t;

static part_t first_part(uint64_t address, uint64_t length_bytes)
{
    const uint64_t offset = address & (PAGE_BYTES - 1);
    const uint64_t here = PAGE_BYTES - offset;
    return (part_t){
        .number = address >> PAGE_BITS,
        .offset = (uint32_t)offset,
        .count = (uint32_t)SIM_MIN(length_bytes, here),
    };
}

// Returns the bits of the lines [first, end).
static uint64_t lines_between(uint32_t first, uint32_t end)
{
    const uint64_t below_end = end >= 64 ? UINT64_MAX : (UINT64_C(1) << end) - 1;
    return first >= end ? 0 : below_end & ~((UINT64_C(1) << first) - 1);
}

static uint64_t lines_touched(part_t part)
{
    return lines_between(part.offset >> LINE_BITS,
                         (part.offset + part.count + (1u << LINE_BITS) - 1) >> LINE_BITS);
}

static uint64_t lines_covered(part_t part)
{
    return lines_between((part.offset + (1u << LINE_BITS) - 1) >> LINE_BITS,
                         (part.offset + part.count) >> LINE_BITS);
}

// -- fills

static const nic_fill_t *fill_of(const nic_memory_t *memory, uint64_t address)
{
    const nic_fill_t *fill = memory->fills;
    while (fill != NULL && address - fill->address >= fill->length_bytes) {
        fill = fill->next;
    }
    return fill;
}

// Returns the address of the fill's first word at or after `address`.
static uint64_t next_word(const nic_fill_t *fill, uint64_t address)
{
    return (address + fill->stride_bytes - 1) & ~(fill->stride_bytes - 1);
}

// Puts into bytes (NULL: nowhere), which stand for [address, address + count) of one page, what the
// fill has there. Returns whether it has something.
static bool fill_in(const nic_memory_t *memory, uint64_t address, uint8_t *bytes, uint32_t count)
{
    const nic_fill_t *const fill = fill_of(memory, address);
    if (fill == NULL) {
        return false;
    }
    // The first word may begin before the range.
    uint64_t at = next_word(fill, address & ~UINT64_C(7));
    const bool any = at < address + count;
    for (; bytes != NULL && at < address + count; at += fill->stride_bytes) {
        const uint64_t word = fill->fn(at, fill->ctx);
        for (uint32_t i = 0; i < 8; i++) {
            if (at + i >= address && at + i < address + count) {
                bytes[at + i - address] = (uint8_t)(word >> (8 * i));
            }
        }
    }
    return any;
}

// Returns the bits of the page's lines that hold words of a fill.
static uint64_t filled_lines(const nic_memory_t *memory, uint64_t number)
{
    const uint64_t address = number << PAGE_BITS;
    const nic_fill_t *const fill = fill_of(memory, address);
    uint64_t lines = 0;
    if (fill != NULL) {
        uint64_t at = next_word(fill, address);
        for (; at - address < PAGE_BYTES; at += fill->stride_bytes) {
            lines |= UINT64_C(1) << ((at - address) >> LINE_BITS);
        }
    }
    return lines;
}

void nic_memory_set_fill(nic_memory_t *memory, uint64_t address, uint64_t length_bytes,
                         uint64_t stride_bytes, nic_memory_fill_fn fn, const void *ctx)
{
    SIM_CHECK(stride_bytes >= 8 && (stride_bytes & (stride_bytes - 1)) == 0);
    SIM_CHECK(length_bytes > 0 && (address | length_bytes) % PAGE_BYTES == 0);
    SIM_CHECK(address + (length_bytes - 1) >= address);
    nic_fill_t *const fill = sim_alloc(sizeof(*fill));
    *fill = (nic_fill_t){memory->fills, address, length_bytes, stride_bytes, fn, ctx};
    memory->fills = fill;
    nic__note_contents(memory);
}

void nic_memory_end_fill(nic_memory_t *memory, uint64_t address)
{
    nic_fill_t **at = &memory->fills;
    while (*at != NULL && (*at)->address != address) {
        at = &(*at)->next;
    }
    SIM_CHECKF(*at != NULL, "no fill at 0x%" PRIx64, address);
    nic_fill_t *const fill = *at;
    *at = fill->next;
    sim_free(fill);
}

// -- pages

static nic_page_slot_t *find_slot(nic_page_slot_t *slots, uint64_t slot_count, uint64_t number)
{
    uint64_t i = sim_mix64(number) & (slot_count - 1);
    while (slots[i].page != NULL && slots[i].number != number) {
        i = (i + 1) & (slot_count - 1);
    }
    return &slots[i];
}

// Finds a page by its number. Returns NULL if nobody wrote to it.
static nic_page_t *find_page(const nic_memory_t *memory, uint64_t number)
{
    return memory->page_count == 0 ? NULL
                                   : find_slot(memory->slots, memory->slot_count, number)->page;
}

static void grow(nic_memory_t *memory)
{
    const uint64_t slot_count = memory->slot_count == 0 ? FIRST_SLOTS : memory->slot_count * 2;
    nic_page_slot_t *const slots = sim_alloc_array(slot_count, sizeof(*slots));
    for (uint64_t i = 0; i < memory->slot_count; i++) {
        if (memory->slots[i].page != NULL) {
            *find_slot(slots, slot_count, memory->slots[i].number) = memory->slots[i];
        }
    }
    sim_free(memory->slots);
    memory->slots = slots;
    memory->slot_count = slot_count;
}

static void add_page(nic_memory_t *memory, uint64_t number, nic_page_t *page)
{
    if (memory->page_count == 0) {
        nic__note_contents(memory);
    }
    if (memory->page_count * 2 >= memory->slot_count) {
        grow(memory);
    }
    *find_slot(memory->slots, memory->slot_count, number) = (nic_page_slot_t){number, page};
    memory->page_count++;
}

static uint64_t spare_count(const nic_memory_t *memory)
{
    return memory->spare == NULL ? 0 : memory->spare->count;
}

// Returns memory for a page, with undefined bytes.
static nic_page_t *take_page(nic_memory_t *memory)
{
    nic_spare_page_t *const spare = memory->spare;
    if (spare == NULL) {
        return sim_realloc_array(NULL, 1, sizeof(nic_page_t) + PAGE_BYTES);
    }
    memory->spare = spare->next;
    return (nic_page_t *)(void *)spare;
}

static void give_page(nic_memory_t *memory, nic_page_t *page)
{
    const uint64_t count = spare_count(memory);
    if (count == SPARE_PAGES_MAX) {
        sim_free(page);
        return;
    }
    nic_spare_page_t *const spare = (nic_spare_page_t *)(void *)page;
    *spare = (nic_spare_page_t){memory->spare, count + 1};
    memory->spare = spare;
}

// Returns the page of a part that the caller will write. The bytes of a new page are undefined if
// the part is the whole page.
static nic_page_t *make_page(nic_memory_t *memory, part_t part)
{
    const uint64_t number = part.number;
    nic_page_t *const known = find_page(memory, number);
    if (SIM_LIKELY(known != NULL)) {
        return known;
    }
    nic_page_t *const page = take_page(memory);
    page->lines = 0;
    if (part.count < PAGE_BYTES) {
        memset(page->bytes, 0, PAGE_BYTES);
        if (fill_in(memory, number << PAGE_BITS, page->bytes, PAGE_BYTES)) {
            page->lines = filled_lines(memory, number);
        }
    }
    add_page(memory, number, page);
    return page;
}

static void remove_page(nic_memory_t *memory, uint64_t number)
{
    nic_page_slot_t *const slots = memory->slots;
    const uint64_t mask = memory->slot_count - 1;
    uint64_t hole = (uint64_t)(find_slot(slots, memory->slot_count, number) - slots);
    SIM_CHECK(slots[hole].page != NULL);
    give_page(memory, slots[hole].page);
    // Entries behind the hole that would no longer be found move up (Knuth, 6.4, algorithm R).
    for (uint64_t i = (hole + 1) & mask; slots[i].page != NULL; i = (i + 1) & mask) {
        const uint64_t home = sim_mix64(slots[i].number) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole].page = NULL;
    memory->page_count--;
}

// -- areas of other owners

// Returns the index of the first area that ends behind an address, or their number.
static size_t first_map(const nic_memory_t *memory, uint64_t address)
{
    size_t first = 0;
    for (size_t end = memory->map_count; first < end;) {
        const size_t middle = first + (end - first) / 2;
        const nic_map_t *const map = &memory->maps[middle];
        if (map->address + (map->length_bytes - 1) < address) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

// Returns how many bytes of a range lie in the area at its beginning, and where they are; 0: there
// is none. Most calls are for the area of the call before.
static size_t find_mapped(const nic_memory_t *memory, uint64_t address, uint64_t length_bytes,
                          uint8_t **at)
{
    if (memory->map_count == 0) {
        return 0;
    }
    const nic_map_t *map = &memory->maps[memory->map_recent];
    if (SIM_UNLIKELY(address - map->address >= map->length_bytes)) {
        const size_t index = first_map(memory, address);
        map = &memory->maps[index];
        if (index == memory->map_count || map->address > address) {
            return 0;
        }
        ((nic_memory_t *)(uintptr_t)memory)->map_recent = index;
    }
    const uint64_t offset = address - map->address;
    const uint64_t here = map->length_bytes - offset;
    *at = map->bytes + offset;
    return SIM_MIN(length_bytes, here);
}

uint8_t *nic__memory_at(const nic_memory_t *memory, uint64_t address, uint64_t length_bytes)
{
    uint8_t *at = NULL;
    const size_t here = find_mapped(memory, address, length_bytes, &at);
    return here != 0 && here == length_bytes ? at : NULL;
}

// Returns whether an area and a range share bytes. The area ends behind the range's beginning.
static bool overlaps(const nic_map_t *map, uint64_t address, uint64_t length_bytes)
{
    return map->address <= address ? length_bytes != 0 : map->address - address < length_bytes;
}

static void clear_mapped(nic_memory_t *memory, uint64_t address, uint64_t length_bytes)
{
    for (size_t i = first_map(memory, address);
         i < memory->map_count && overlaps(&memory->maps[i], address, length_bytes); i++) {
        const nic_map_t *const map = &memory->maps[i];
        const uint64_t from = SIM_MAX(address, map->address);
        const uint64_t wished = length_bytes - (from - address);
        const uint64_t here = map->length_bytes - (from - map->address);
        memset(map->bytes + (from - map->address), 0, SIM_MIN(wished, here));
    }
}

static void insert_map(nic_memory_t *memory, size_t index, nic_map_t map)
{
    SIM_APPEND(memory->maps, memory->map_count, memory->map_capacity, map);
    nic_map_t *const at = &memory->maps[index];
    memmove(at + 1, at, (memory->map_count - 1 - index) * sizeof(*at));
    *at = map;
}

void nic_memory_map(nic_memory_t *memory, uint64_t address, uint64_t length_bytes, void *bytes)
{
    nic_memory_unmap(memory, address, length_bytes);
    if (length_bytes != 0) {
        const nic_map_t map = {address, length_bytes, bytes};
        insert_map(memory, first_map(memory, address), map);
        nic__note_contents(memory);
    }
}

void nic_memory_unmap(nic_memory_t *memory, uint64_t address, uint64_t length_bytes)
{
    SIM_CHECK((address | length_bytes) % PAGE_BYTES == 0 && address + length_bytes >= address);
    for (uint64_t done = 0; done < length_bytes && memory->page_count != 0; done += PAGE_BYTES) {
        if (find_page(memory, (address + done) >> PAGE_BITS) != NULL) {
            remove_page(memory, (address + done) >> PAGE_BITS);
        }
    }
    const uint64_t end = address + length_bytes;
    size_t i = first_map(memory, address);
    while (i < memory->map_count && overlaps(&memory->maps[i], address, length_bytes)) {
        nic_map_t *const map = &memory->maps[i];
        const uint64_t map_end = map->address + map->length_bytes;
        const uint64_t after = map_end > end ? map_end - end : 0;
        const nic_map_t rest = {end, after, map->bytes + (map->length_bytes - after)};
        if (map->address < address) {
            map->length_bytes = address - map->address;
            i++;
        } else {
            memory->map_count--;
            memmove(map, map + 1, (memory->map_count - i) * sizeof(*map));
        }
        if (after != 0) {
            insert_map(memory, i++, rest);
        }
    }
    memory->map_recent = 0;
}

void nic__memory_fini(nic_memory_t *memory)
{
    while (memory->fills != NULL) {
        nic_fill_t *const fill = memory->fills;
        memory->fills = fill->next;
        sim_free(fill);
    }
    for (uint64_t i = 0; i < memory->slot_count; i++) {
        sim_free(memory->slots[i].page);
    }
    while (memory->spare != NULL) {
        sim_free(take_page(memory));
    }
    sim_free(memory->slots);
    sim_free(memory->maps);
}

size_t nic_memory_bytes(const nic_memory_t *memory)
{
    return (size_t)(memory->slot_count * sizeof(nic_page_slot_t) +
                    memory->page_count * (sizeof(nic_page_t) + PAGE_BYTES) +
                    memory->map_capacity * sizeof(nic_map_t));
}

// -- contents

static void check_range(uint64_t address, uint64_t length_bytes)
{
    SIM_CHECKF(length_bytes == 0 || address + (length_bytes - 1) >= address,
               "%" PRIu64 " bytes at 0x%" PRIx64, length_bytes, address);
}

void nic_memory_write(nic_memory_t *memory, uint64_t address, const void *bytes,
                      size_t length_bytes)
{
    check_range(address, length_bytes);
    const uint8_t *from = bytes;
    while (length_bytes != 0) {
        uint8_t *at = NULL;
        size_t count = find_mapped(memory, address, length_bytes, &at);
        if (count == 0) {
            const part_t part = first_part(address, length_bytes);
            nic_page_t *const page = make_page(memory, part);
            page->lines |= lines_touched(part);
            at = page->bytes + part.offset;
            count = part.count;
        }
        count =
            SIM_MIN(count, PAGE_BYTES); // so that the copy is inlined, which takes 0.9 of the time
        memcpy(at, from, count);
        from += count;
        address += count;
        length_bytes -= count;
    }
}

void nic_memory_read(const nic_memory_t *memory, uint64_t address, void *bytes, size_t length_bytes)
{
    check_range(address, length_bytes);
    uint8_t *to = bytes;
    while (length_bytes != 0) {
        uint8_t *at = NULL;
        size_t count = find_mapped(memory, address, length_bytes, &at);
        if (count == 0) {
            const part_t part = first_part(address, length_bytes);
            nic_page_t *const page = find_page(memory, part.number);
            at = page == NULL ? NULL : page->bytes + part.offset;
            count = part.count;
        }
        count = SIM_MIN(count, PAGE_BYTES); // as above
        if (at != NULL) {
            memcpy(to, at, count);
        } else {
            memset(to, 0, count);
            (void)fill_in(memory, address, to, (uint32_t)count);
        }
        to += count;
        address += count;
        length_bytes -= count;
    }
}

bool nic_memory_equals(const nic_memory_t *memory, uint64_t address, const void *bytes,
                       size_t length_bytes)
{
    check_range(address, length_bytes);
    const uint8_t *other = bytes;
    while (length_bytes != 0) {
        uint8_t own[PAGE_BYTES];
        uint8_t *at = own;
        size_t count = find_mapped(memory, address, length_bytes, &at);
        if (count == 0) {
            count = SIM_MIN(length_bytes, sizeof(own));
            nic_memory_read(memory, address, own, count);
        }
        if (memcmp(at, other, count) != 0) {
            return false;
        }
        other += count;
        address += count;
        length_bytes -= count;
    }
    return true;
}

// Forgets a line that has only zeros after it was cleared in part.
static void forget_if_zero(nic_page_t *page, uint32_t line)
{
    static const uint8_t zeros[1u << LINE_BITS];
    if (memcmp(page->bytes + ((size_t)line << LINE_BITS), zeros, sizeof(zeros)) == 0) {
        page->lines &= ~(UINT64_C(1) << line);
    }
}

static void clear_part(const nic_memory_t *memory, nic_page_t *page, part_t part)
{
    const uint64_t address = (part.number << PAGE_BITS) + part.offset;
    memset(page->bytes + part.offset, 0, part.count);
    page->lines &= ~lines_covered(part);
    forget_if_zero(page, part.offset >> LINE_BITS);
    forget_if_zero(page, (part.offset + part.count - 1) >> LINE_BITS);
    if (fill_in(memory, address, page->bytes + part.offset, part.count)) {
        page->lines |= filled_lines(memory, part.number) & lines_touched(part);
    }
}

// Returns whether scanning all pages is faster than looking up each page of a range.
static bool is_wide(const nic_memory_t *memory, uint64_t length_bytes)
{
    return length_bytes >> PAGE_BITS >= memory->slot_count;
}

// Returns the part of a range that lies in a page. Its count is 0 if there is none.
static part_t part_in(uint64_t number, uint64_t address, uint64_t length_bytes)
{
    const uint64_t start = number << PAGE_BITS;
    const uint64_t from = SIM_MAX(address, start);
    const uint64_t last = address + (length_bytes - 1);
    const uint64_t page_last = start | (PAGE_BYTES - 1);
    const uint64_t to = SIM_MIN(page_last, last);
    return (part_t){
        .number = number,
        .offset = (uint32_t)(from & (PAGE_BYTES - 1)),
        .count = from <= to ? (uint32_t)(to - from + 1) : 0,
    };
}

void nic_memory_clear(nic_memory_t *memory, uint64_t address, uint64_t length_bytes)
{
    check_range(address, length_bytes);
    clear_mapped(memory, address, length_bytes);
    if (memory->page_count != 0 && is_wide(memory, length_bytes)) {
        for (uint64_t i = 0; i < memory->slot_count; i++) {
            const nic_page_slot_t *const slot = &memory->slots[i];
            const part_t part = part_in(slot->number, address, length_bytes);
            if (slot->page != NULL && part.count != 0) {
                clear_part(memory, slot->page, part);
            }
        }
        return;
    }
    while (memory->page_count != 0 && length_bytes != 0) {
        const part_t part = first_part(address, length_bytes);
        nic_page_t *const page = find_page(memory, part.number);
        if (page != NULL) {
            clear_part(memory, page, part);
        }
        address += part.count;
        length_bytes -= part.count;
    }
}

// Returns whether a page that was cleared in part holds only its fill. Bytes beside the cleared
// part may share a line with the fill and differ from it.
static bool has_nothing_else(const nic_memory_t *memory, uint64_t number, const nic_page_t *page,
                             uint64_t cleared_bytes)
{
    const uint64_t filled = filled_lines(memory, number);
    if (page->lines != filled || filled == 0 || cleared_bytes == PAGE_BYTES) {
        return page->lines == filled;
    }
    uint8_t fresh[PAGE_BYTES] = {0};
    (void)fill_in(memory, number << PAGE_BITS, fresh, PAGE_BYTES);
    return memcmp(page->bytes, fresh, PAGE_BYTES) == 0;
}

static void forget_wide(nic_memory_t *memory, uint64_t address, uint64_t length_bytes)
{
    for (uint64_t i = 0; i < memory->slot_count; i++) {
        const nic_page_slot_t *const slot = &memory->slots[i];
        while (slot->page != NULL) {
            const part_t part = part_in(slot->number, address, length_bytes);
            if (part.count == 0 ||
                !has_nothing_else(memory, slot->number, slot->page, part.count)) {
                break;
            }
            remove_page(memory, slot->number); // another may have moved here
        }
    }
}

void nic_memory_forget(nic_memory_t *memory, uint64_t address, uint64_t length_bytes)
{
    check_range(address, length_bytes);
    if (memory->page_count != 0 && length_bytes != 0 && is_wide(memory, length_bytes)) {
        nic_memory_clear(memory, address, length_bytes);
        forget_wide(memory, address, length_bytes);
        return;
    }
    clear_mapped(memory, address, length_bytes);
    while (memory->page_count != 0 && length_bytes != 0) {
        const part_t part = first_part(address, length_bytes);
        nic_page_t *const page = find_page(memory, part.number);
        if (page != NULL && part.count < PAGE_BYTES) {
            clear_part(memory, page, part);
        }
        if (page != NULL &&
            (part.count == PAGE_BYTES || has_nothing_else(memory, part.number, page, part.count))) {
            remove_page(memory, part.number);
        }
        address += part.count;
        length_bytes -= part.count;
    }
}

static bool has_wide(const nic_memory_t *memory, uint64_t address, uint64_t length_bytes)
{
    for (uint64_t i = 0; i < memory->slot_count; i++) {
        const nic_page_slot_t *const slot = &memory->slots[i];
        const part_t part = part_in(slot->number, address, length_bytes);
        if (slot->page != NULL && part.count != 0 &&
            (slot->page->lines & lines_touched(part)) != 0) {
            return true;
        }
    }
    return false;
}

bool nic_memory_has(const nic_memory_t *memory, uint64_t address, uint64_t length_bytes)
{
    check_range(address, length_bytes);
    uint8_t *at = NULL;
    if (find_mapped(memory, address, length_bytes, &at) != 0) {
        return true;
    }
    const size_t map = first_map(memory, address);
    if (map < memory->map_count && overlaps(&memory->maps[map], address, length_bytes)) {
        return true;
    }
    // Pages that nobody wrote may still be filled in: the scan of written pages misses them.
    if (memory->page_count != 0 && memory->fills == NULL && is_wide(memory, length_bytes)) {
        return has_wide(memory, address, length_bytes);
    }
    while ((memory->page_count != 0 || memory->fills != NULL) && length_bytes != 0) {
        const part_t part = first_part(address, length_bytes);
        const nic_page_t *const page = find_page(memory, part.number);
        if ((page != NULL && (page->lines & lines_touched(part)) != 0) ||
            (page == NULL && fill_in(memory, address, NULL, part.count))) {
            return true;
        }
        address += part.count;
        length_bytes -= part.count;
    }
    return false;
}
