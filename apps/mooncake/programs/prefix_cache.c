// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/prefix_cache.c - a prefix cache: the blocks of prompts that a store of
// bounded size holds (docs/models/mooncake.md).
//
// A heap orders the blocks by eviction: first by uses (not counted for LRU), then by a tie-break.
// Each use is a step of a clock, so no two blocks are equal. A table with open addressing finds
// blocks by id.
#include "apps/mooncake/programs/prefix_cache.h"

typedef struct block {
    uint64_t id;
    uint64_t uses;
    uint64_t rank; // tie-break: of equal uses the lowest rank is evicted
    uint64_t clock;
    uint64_t slot;
    uint32_t heap; // position in the heap
} block_t;

struct app__mooncake_prefix {
    uint32_t policy;
    uint64_t capacity;
    uint64_t clock;
    uint64_t evictions;
    uint32_t words;  // words of a block's bits
    uint64_t *holds; // by slot: a bit per place
    size_t holds_capacity;
    block_t *blocks; // by slot
    size_t count;
    size_t slots;         // slots handed out
    uint32_t *free_slots; // of blocks that were lost with their last copy
    size_t free_count;
    size_t free_capacity;
    size_t capacity_now;
    uint32_t *heap; // slots in heap order
    size_t heap_capacity;
    uint32_t *table; // slot + 1; 0: empty
    size_t table_size;
};

app__mooncake_prefix_t *app__mooncake_prefix_create(uint32_t policy, uint64_t capacity_blocks,
                                                    uint32_t places)
{
    app__mooncake_prefix_t *const prefix = sim_alloc(sizeof(*prefix));
    prefix->policy = policy;
    prefix->capacity = capacity_blocks;
    prefix->words = (places + 63) / 64;
    prefix->table_size = 1024;
    prefix->table = sim_alloc_array(prefix->table_size, sizeof(uint32_t));
    return prefix;
}

void app__mooncake_prefix_destroy(app__mooncake_prefix_t *prefix)
{
    if (prefix != NULL) {
        SIM_FREE_ALL(prefix->free_slots, prefix->holds, prefix->blocks, prefix->heap, prefix->table,
                     prefix);
    }
}

// -- the table

static size_t home_of(const app__mooncake_prefix_t *prefix, uint64_t id)
{
    return (size_t)sim_mix64(id + 1) & (prefix->table_size - 1);
}

// Returns the place of an id, or the empty place where it would be inserted.
static size_t place_of(const app__mooncake_prefix_t *prefix, uint64_t id)
{
    size_t at = home_of(prefix, id);
    while (prefix->table[at] != 0 && prefix->blocks[prefix->table[at] - 1].id != id) {
        at = (at + 1) & (prefix->table_size - 1);
    }
    return at;
}

static void table_remove(app__mooncake_prefix_t *prefix, uint64_t id)
{
    const size_t mask = prefix->table_size - 1;
    size_t hole = place_of(prefix, id);
    SIM_CHECK(prefix->table[hole] != 0);
    // Later entries move up, unless they would then stand before their home.
    for (size_t at = (hole + 1) & mask; prefix->table[at] != 0; at = (at + 1) & mask) {
        const size_t home = home_of(prefix, prefix->blocks[prefix->table[at] - 1].id);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            prefix->table[hole] = prefix->table[at];
            hole = at;
        }
    }
    prefix->table[hole] = 0;
}

static void table_grow(app__mooncake_prefix_t *prefix)
{
    sim_free(prefix->table);
    prefix->table_size *= 2;
    prefix->table = sim_alloc_array(prefix->table_size, sizeof(uint32_t));
    for (size_t i = 0; i < prefix->count; i++) {
        const uint32_t slot = prefix->heap[i];
        prefix->table[place_of(prefix, prefix->blocks[slot].id)] = slot + 1;
    }
}

// -- the heap

static bool before(const app__mooncake_prefix_t *prefix, uint32_t a, uint32_t b)
{
    const block_t *const x = &prefix->blocks[a];
    const block_t *const y = &prefix->blocks[b];
    if (x->uses != y->uses) {
        return x->uses < y->uses;
    }
    return x->rank != y->rank ? x->rank < y->rank : x->clock < y->clock;
}

static void put(app__mooncake_prefix_t *prefix, size_t at, uint32_t slot)
{
    prefix->heap[at] = slot;
    prefix->blocks[slot].heap = (uint32_t)at;
}

static void sift_up(app__mooncake_prefix_t *prefix, size_t at)
{
    const uint32_t slot = prefix->heap[at];
    while (at > 0 && before(prefix, slot, prefix->heap[(at - 1) / 2])) {
        put(prefix, at, prefix->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(prefix, at, slot);
}

static void sift_down(app__mooncake_prefix_t *prefix, size_t at)
{
    const uint32_t slot = prefix->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= prefix->count) {
            break;
        }
        if (child + 1 < prefix->count &&
            before(prefix, prefix->heap[child + 1], prefix->heap[child])) {
            child++;
        }
        if (!before(prefix, prefix->heap[child], slot)) {
            break;
        }
        put(prefix, at, prefix->heap[child]);
        at = child;
    }
    put(prefix, at, slot);
}

// -- blocks

static void use(app__mooncake_prefix_t *prefix, block_t *block, size_t depth)
{
    block->clock = ++prefix->clock;
    block->uses += prefix->policy != APP__MOONCAKE_LRU;
    block->rank = prefix->policy == APP__MOONCAKE_LENGTH ? UINT64_MAX - depth : block->clock;
}

static uint32_t evict(app__mooncake_prefix_t *prefix)
{
    const uint32_t slot = prefix->heap[0];
    table_remove(prefix, prefix->blocks[slot].id);
    prefix->count--;
    prefix->evictions++;
    if (prefix->count > 0) {
        put(prefix, 0, prefix->heap[prefix->count]);
        sift_down(prefix, 0);
    }
    return slot;
}

// Clears the bits of a slot: no place has a copy of its new block.
static void clear_holds(app__mooncake_prefix_t *prefix, uint32_t slot)
{
    for (uint32_t w = 0; w < prefix->words; w++) {
        prefix->holds[(size_t)slot * prefix->words + w] = 0;
    }
}

static void hold(app__mooncake_prefix_t *prefix, uint64_t slot, uint32_t place)
{
    SIM_CHECK(place / 64 < prefix->words);
    prefix->holds[slot * prefix->words + place / 64] |= UINT64_C(1) << place % 64;
}

static void add(app__mooncake_prefix_t *prefix, uint64_t id, size_t depth, uint32_t place)
{
    if (prefix->capacity == 0) {
        return;
    }
    uint32_t slot = 0;
    if (prefix->count == prefix->capacity) {
        slot = evict(prefix);
    } else if (prefix->free_count > 0) {
        slot = prefix->free_slots[--prefix->free_count];
    } else {
        SIM_CHECK(prefix->slots < UINT32_MAX - 1);
        SIM_GROW(prefix->blocks, prefix->slots, &prefix->capacity_now);
        SIM_GROW(prefix->heap, prefix->slots, &prefix->heap_capacity);
        slot = (uint32_t)prefix->slots++;
        while (prefix->holds_capacity < prefix->slots * prefix->words) {
            SIM_GROW(prefix->holds, prefix->holds_capacity, &prefix->holds_capacity);
        }
    }
    clear_holds(prefix, slot);
    if (2 * (prefix->count + 1) > prefix->table_size) {
        table_grow(prefix);
    }
    prefix->blocks[slot] = (block_t){.id = id, .slot = slot};
    hold(prefix, slot, place);
    use(prefix, &prefix->blocks[slot], depth);
    prefix->table[place_of(prefix, id)] = slot + 1;
    put(prefix, prefix->count++, slot);
    sift_up(prefix, prefix->count - 1);
}

size_t app__mooncake_prefix_match(const app__mooncake_prefix_t *prefix, const uint64_t *ids,
                                  size_t count)
{
    size_t found = 0;
    while (found < count && prefix->table[place_of(prefix, ids[found])] != 0) {
        found++;
    }
    return found;
}

void app__mooncake_prefix_insert(app__mooncake_prefix_t *prefix, const uint64_t *ids, size_t count,
                                 uint32_t place)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t entry = prefix->table[place_of(prefix, ids[i])];
        if (entry == 0) {
            add(prefix, ids[i], i, place);
        } else {
            block_t *const block = &prefix->blocks[entry - 1];
            use(prefix, block, i);
            hold(prefix, block->slot, place);
            sift_up(prefix, block->heap);
            sift_down(prefix, block->heap);
        }
    }
}

bool app__mooncake_prefix_slot(const app__mooncake_prefix_t *prefix, uint64_t id, uint64_t *slot)
{
    const uint32_t entry = prefix->table[place_of(prefix, id)];
    if (entry == 0) {
        return false;
    }
    *slot = prefix->blocks[entry - 1].slot;
    return true;
}

bool app__mooncake_prefix_has(const app__mooncake_prefix_t *prefix, uint64_t slot, uint32_t place)
{
    return prefix->holds[slot * prefix->words + place / 64] >> place % 64 & 1;
}

static bool is_held(const app__mooncake_prefix_t *prefix, uint32_t slot)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < prefix->words; w++) {
        any |= prefix->holds[(size_t)slot * prefix->words + w];
    }
    return any != 0;
}

// Takes the block at a position of the heap out of the store.
static void lose(app__mooncake_prefix_t *prefix, size_t at)
{
    const uint32_t slot = prefix->heap[at];
    table_remove(prefix, prefix->blocks[slot].id);
    prefix->count--;
    if (at < prefix->count) {
        const uint32_t moved = prefix->heap[prefix->count];
        put(prefix, at, moved);
        sift_up(prefix, at);
        sift_down(prefix, prefix->blocks[moved].heap);
    }
    SIM_APPEND(prefix->free_slots, prefix->free_count, prefix->free_capacity, slot);
}

uint64_t app__mooncake_prefix_drop(app__mooncake_prefix_t *prefix, uint32_t place)
{
    uint64_t lost = 0;
    for (uint32_t slot = 0; slot < prefix->slots; slot++) {
        const block_t *const block = &prefix->blocks[slot];
        if (block->heap >= prefix->count || prefix->heap[block->heap] != slot) {
            continue; // a free slot
        }
        prefix->holds[(size_t)slot * prefix->words + place / 64] &= ~(UINT64_C(1) << place % 64);
        if (!is_held(prefix, slot)) {
            lose(prefix, block->heap);
            lost++;
        }
    }
    return lost;
}

void app__mooncake_prefix_carry(app__mooncake_prefix_t *prefix, sim_carry_t *carry)
{
    SIM_CARRY(carry, prefix->evictions);
}

uint64_t app__mooncake_prefix_evictions(const app__mooncake_prefix_t *prefix)
{
    return prefix->evictions;
}
